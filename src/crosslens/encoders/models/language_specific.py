"""An encoder with parts of its own for each language (Conneau, Wu et al. 2020, section 4.3).

Embeddings, positions included, and any layers may be separate: there is one part a language, and what is read goes
through the part of its language. All else is shared. It is one model with one list of layers, so whatever works on an
encoder works on it.
"""

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from transformers import AutoConfig, AutoModel, BertConfig, BertModel
from transformers.modeling_outputs import MaskedLMOutput
from transformers.models.bert.modeling_bert import (
    BertEmbeddings,
    BertLayer,
    BertPredictionHeadTransform,
    BertPreTrainedModel,
)

from crosslens.errors import EncoderError


class RoutedBertConfig(BertConfig):
    """A BERT's configuration, and what is separate in it.

    Args:
        vocabularies: language -> subwords of its vocabulary; one number for all where the embeddings are shared.
        separate: the layers of which each language has its own; 0 is the embeddings.
        **usual: a BERT's settings.
    """

    model_type = "routed-bert"

    def __init__(
        self, vocabularies: Mapping[str, int] | None = None, separate: tuple[int, ...] = (), **usual: Any
    ) -> None:
        self.vocabularies = dict(vocabularies or {})
        self.separate = list(separate)
        if self.vocabularies:
            usual.setdefault("vocab_size", max(self.vocabularies.values()))
        super().__init__(**usual)


class _Switch:
    """Which language is read now; all routed parts of a model share one."""

    language: str = ""


class Routed(nn.Module):
    """A part of a network, once for each language.

    Args:
        parts: language -> its part.
        switch: says which is used.
    """

    def __init__(self, parts: Mapping[str, nn.Module], switch: _Switch) -> None:
        super().__init__()
        self.parts = nn.ModuleDict(parts)
        self._switch = switch

    @property
    def part(self) -> nn.Module:
        """The part of the language that is read now."""
        return self.parts[self._switch.language]

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What that part gives."""
        return self.part(*args, **kwargs)


def _embeddings(config: RoutedBertConfig, size: int) -> nn.Module:
    its = copy.copy(config)
    its.vocab_size = size
    return BertEmbeddings(its)


class RoutedBertModel(BertModel):
    """A BERT whose separate parts are those of the language that is read."""

    config_class = RoutedBertConfig

    def __init__(self, config: RoutedBertConfig, add_pooling_layer: bool = False) -> None:
        super().__init__(config, add_pooling_layer=add_pooling_layer)
        self._switch = _Switch()
        self._switch.language = next(iter(config.vocabularies))

        def apart(make: Any) -> Routed:
            return Routed({language: make(size) for language, size in config.vocabularies.items()}, self._switch)

        if 0 in config.separate:
            self.embeddings = apart(lambda size: _embeddings(config, size))  # pyright: ignore
        stack = self.encoder.layer
        for number in config.separate:
            if number:
                stack[number - 1] = apart(lambda _, index=number - 1: BertLayer(config, layer_idx=index))
        self.post_init()

    def get_input_embeddings(self) -> nn.Embedding:
        """The table of word embeddings; where each language has one, that of the language read last."""
        embeddings = self.embeddings
        return (embeddings.part if isinstance(embeddings, Routed) else embeddings).word_embeddings  # pyright: ignore

    def set_language(self, language: str | None) -> None:
        """Read this language from here on.

        Raises:
            EncoderError: for a language that has no parts, or none.
        """
        if language is None or language not in self.config.vocabularies:
            there = ", ".join(self.config.vocabularies)
            what = f"no parameters for {language!r}" if language else "separate parameters for each language"
            raise EncoderError(
                f"the encoder has {what}", hint=f"it supports {there}; give the language of a file as fr=FILE"
            )
        self._switch.language = language

    def forward(self, *args: Any, language: str | None = None, **kwargs: Any) -> Any:
        """As a BERT, in a language; see `speak`."""
        self.set_language(language)
        return super().forward(*args, **kwargs)


class RoutedBertForMaskedLM(BertPreTrainedModel):
    """With the output that predicts subwords: tied to the embeddings, so separate where they are."""

    config_class = RoutedBertConfig

    def __init__(self, config: RoutedBertConfig) -> None:
        super().__init__(config)
        self.bert = RoutedBertModel(config)
        self.transform = BertPredictionHeadTransform(config)
        sizes = config.vocabularies if 0 in config.separate else {"all": config.vocab_size}
        self.bias = nn.ParameterDict({language: nn.Parameter(torch.zeros(size)) for language, size in sizes.items()})
        self.post_init()

    def forward(self, input_ids: torch.Tensor, *, language: str | None) -> MaskedLMOutput:
        """Logits of every place, in a language."""
        return MaskedLMOutput(logits=self.cls(self.bert(input_ids=input_ids, language=language).last_hidden_state))  # pyright: ignore

    def cls(self, states: torch.Tensor) -> torch.Tensor:
        """``(…, width)`` to ``(…, subwords of the language read last)`` logits."""
        language = self.bert._switch.language if 0 in self.config.separate else "all"
        table = self.bert.get_input_embeddings().get_parameter("weight")
        return functional.linear(self.transform(states), table, self.bias[language])


def language_parts(model: nn.Module) -> Iterator[nn.Parameter]:
    """The parameters that belong to one language alone."""
    for module in model.modules():
        if isinstance(module, Routed):
            yield from module.parameters()


AutoConfig.register(RoutedBertConfig.model_type, RoutedBertConfig)
AutoModel.register(RoutedBertConfig, RoutedBertModel)
