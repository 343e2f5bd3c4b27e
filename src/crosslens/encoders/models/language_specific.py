"""Encoder with language-specific parameters (Conneau, Wu et al. 2020, section 4.3).

The embeddings (positions included) and any layers can be language-specific; all other parameters are shared. The model
has one list of layers, so every operation on encoders applies to it.
"""

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from transformers import AutoConfig, AutoModel, BertConfig, BertModel, PreTrainedModel
from transformers.modeling_outputs import MaskedLMOutput
from transformers.models.bert.modeling_bert import (
    BertEmbeddings,
    BertLayer,
    BertPredictionHeadTransform,
    BertPreTrainedModel,
)

from crosslens.errors import EncoderError


class RoutedBertConfig(BertConfig):
    """Configuration of a BERT with language-specific layers.

    Args:
        vocabularies: language -> vocabulary size; equal for all languages if the embeddings are shared.
        separate: language-specific layers; 0 is the embeddings.
        **settings: settings of `BertConfig`.
    """

    model_type = "routed-bert"

    def __init__(
        self, vocabularies: Mapping[str, int] | None = None, separate: tuple[int, ...] = (), **settings: Any
    ) -> None:
        self.vocabularies = dict(vocabularies or {})
        self.separate = list(separate)
        if self.vocabularies:
            settings.setdefault("vocab_size", max(self.vocabularies.values()))
        super().__init__(**settings)


class _CurrentLanguage:
    """Language of the current input, shared by all language-specific modules of a model."""

    language: str = ""


class PerLanguage(nn.Module):
    """A module with separate parameters for each language.

    Args:
        parts: language -> module.
        switch: holds the current language.
    """

    def __init__(self, parts: Mapping[str, nn.Module], switch: _CurrentLanguage) -> None:
        super().__init__()
        self.parts = nn.ModuleDict(parts)
        self._switch = switch

    @property
    def part(self) -> nn.Module:
        """The module of the current language."""
        return self.parts[self._switch.language]

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Apply the module of the current language."""
        return self.part(*args, **kwargs)


def _embeddings(config: RoutedBertConfig, size: int) -> nn.Module:
    resized = copy.copy(config)
    resized.vocab_size = size
    return BertEmbeddings(resized)


class RoutedBertModel(BertModel):
    """BERT with language-specific embeddings and layers."""

    config_class = RoutedBertConfig

    def __init__(self, config: RoutedBertConfig, add_pooling_layer: bool = False) -> None:
        super().__init__(config, add_pooling_layer=add_pooling_layer)
        self._switch = _CurrentLanguage()
        self._switch.language = next(iter(config.vocabularies))

        def per_language(make: Any) -> PerLanguage:
            return PerLanguage({language: make(size) for language, size in config.vocabularies.items()}, self._switch)

        if 0 in config.separate:
            self.embeddings = per_language(lambda size: _embeddings(config, size))  # pyright: ignore
        stack = self.encoder.layer
        for number in config.separate:
            if number:
                stack[number - 1] = per_language(lambda _, index=number - 1: BertLayer(config, layer_idx=index))
        self.post_init()

    def get_input_embeddings(self) -> nn.Embedding:
        """Return the word embeddings, those of the current language if they are language-specific."""
        embeddings = self.embeddings
        return (embeddings.part if isinstance(embeddings, PerLanguage) else embeddings).word_embeddings  # pyright: ignore

    def set_language(self, language: str | None) -> None:
        """Set the language of the inputs that follow.

        Raises:
            EncoderError: for an unsupported language, or None.
        """
        if language is None or language not in self.config.vocabularies:
            supported = ", ".join(self.config.vocabularies)
            what = f"no parameters for {language!r}" if language else "separate parameters for each language"
            raise EncoderError(
                f"the encoder has {what}", hint=f"it supports {supported}; give the language of a file as fr=FILE"
            )
        self._switch.language = language

    def forward(self, *args: Any, language: str | None = None, **kwargs: Any) -> Any:
        """Apply BERT with the parameters of a language; see `set_language`."""
        self.set_language(language)
        return super().forward(*args, **kwargs)


class RoutedBertForMaskedLM(BertPreTrainedModel):
    """Masked language model; the output layer is tied to the embeddings, and language-specific if they are."""

    config_class = RoutedBertConfig

    def __init__(self, config: RoutedBertConfig) -> None:
        super().__init__(config)
        self.bert = RoutedBertModel(config)
        self.transform = BertPredictionHeadTransform(config)
        sizes = config.vocabularies if 0 in config.separate else {"all": config.vocab_size}
        self.bias = nn.ParameterDict({language: nn.Parameter(torch.zeros(size)) for language, size in sizes.items()})
        self.post_init()

    def forward(self, input_ids: torch.Tensor, *, language: str | None) -> MaskedLMOutput:
        """Compute logits for every position, in one language."""
        return MaskedLMOutput(logits=self.cls(self.bert(input_ids=input_ids, language=language).last_hidden_state))  # pyright: ignore

    def cls(self, states: torch.Tensor) -> torch.Tensor:
        """Map states ``(…, width)`` to logits ``(…, vocabulary)`` of the last input language."""
        language = self.bert._switch.language if 0 in self.config.separate else "all"
        table = self.bert.get_input_embeddings().get_parameter("weight")
        return functional.linear(self.transform(states), table, self.bias[language])


def language_parts(model: nn.Module) -> Iterator[nn.Parameter]:
    """Yield all language-specific parameters."""
    for module in model.modules():
        if isinstance(module, PerLanguage):
            yield from module.parameters()


def subword_tables(model: PreTrainedModel) -> list[nn.Module]:
    """The subword embeddings of a model: one table, or that of each language, whichever is the current one."""
    embeddings = getattr(model, "embeddings", None)
    if isinstance(embeddings, PerLanguage):
        return [part.get_submodule("word_embeddings") for part in embeddings.parts.values()]
    return [model.get_input_embeddings()]


AutoConfig.register(RoutedBertConfig.model_type, RoutedBertConfig)
AutoModel.register(RoutedBertConfig, RoutedBertModel)
