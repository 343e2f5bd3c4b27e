"""An encoder: a Hugging Face model, its tokenizer, and where its layers are."""

import inspect
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from crosslens.data.subwords import word_prefix
from crosslens.digests import canonical_json, digest_chunks
from crosslens.encoders.condition import Condition
from crosslens.encoders.families import Family
from crosslens.encoders.interventions.change import Change
from crosslens.encoders.matmul import computed_in
from crosslens.encoders.options import Precision
from crosslens.encoders.readouts.readout import Readout
from crosslens.errors import EncoderError

DEFAULT_CAPACITY = 512
"""Subwords read at once where neither the configuration nor the tokenizer sets a limit."""


@dataclass(frozen=True, eq=False)
class Encoder:
    """What `load_encoder` returns. It is never changed: `random_init` and `freeze` return copies.

    Attributes:
        model: the encoder alone, in float32 and evaluation mode.
        tokenizer: pads on the right.
        family: where the layers are.
        name: the hub name or folder it was loaded from.
        changes: what was done to it since.
        origin: the digest that it had before the first of them, and before training; None: neither was done.
        readout: a network on the states of its layers, which tasks read instead of the last ones (`as_features`).
        tokenizers: language -> its tokenizer, where each language has a vocabulary of its own.
        language: the language that it reads now, where it matters.
    """

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    family: Family
    name: str
    changes: tuple[Change, ...] = ()
    readout: Readout | None = None
    tokenizers: Mapping[str, PreTrainedTokenizerBase] = field(default_factory=dict)
    language: str | None = None
    origin: str | None = None

    def changed(self, change: Change, *, since: "Encoder") -> "Encoder":
        """The encoder with a change noted that makes it of another one."""
        return replace(self, changes=(*since.changes, change), origin=since.loaded_digest)

    def for_language(self, language: str | None) -> "Encoder":
        """The encoder as it reads a language: with that one's vocabulary and parts. Most read all alike.

        Raises:
            EncoderError: where each language has its own, and this one has none.
        """
        if not self.tokenizers or language == self.language:
            return self
        if language is None or language not in self.tokenizers:
            what = f"no vocabulary for {language!r}" if language else "a separate vocabulary for each language"
            hint = f"it supports {', '.join(self.tokenizers)}; give the language of a file as fr=FILE"
            raise EncoderError(f"{self.name} has {what}", hint=hint)
        return replace(self, tokenizer=self.tokenizers[language], language=language)

    @cached_property
    def layers(self) -> list[nn.Module]:
        """The layers, the lowest first. For XLM, which has four lists, each is the four parts of one layer."""
        lists = [self.model.get_submodule(path) for path in self.family.layers]
        if len(lists) == 1:
            return list(lists[0])  # pyright: ignore[reportArgumentType]
        rows = zip(*lists, strict=True)  # pyright: ignore[reportArgumentType]
        return [nn.ModuleDict(dict(zip(self.family.layers, row, strict=True))) for row in rows]

    @cached_property
    def embeddings(self) -> list[nn.Module]:
        """The modules of layer 0. An ELECTRA has a projection among them only where its embeddings are narrower."""
        there = dict(self.model.named_modules())
        return [there[path] for path in self.family.embeddings if path in there]

    @cached_property
    def shared(self) -> dict[str, nn.Parameter]:
        """The parameters that several layers use, by name: they belong to none of them, wherever they lie."""
        starts = tuple(f"{path}." for path in self.family.shared)
        return {name: parameter for name, parameter in self.model.named_parameters() if name.startswith(starts)}

    def own(self, layer: int) -> dict[str, nn.Parameter]:
        """The parameters of one layer, counted from 1, by their names in it; without what it shares with others."""
        shared = {id(parameter) for parameter in self.shared.values()}
        own = self.layers[layer - 1].named_parameters()
        return {name: parameter for name, parameter in own if id(parameter) not in shared}

    def shared_names(self, layers: Iterable[int]) -> tuple[str, ...]:
        """Names of the parameters that these layers share with others; the embeddings (0) share none."""
        return tuple(self.shared) if any(layers) else ()

    def outside(self, *, everything: bool) -> dict[str, nn.Parameter]:
        """Parameters of the embeddings; with ``everything``, of all that is in no layer."""
        inside = {id(parameter) for layer in range(self.depth) for parameter in self.own(layer + 1).values()}
        starts = tuple(f"{path}." for path in self.family.embeddings)
        return {
            name: parameter
            for name, parameter in self.model.named_parameters()
            if name.startswith(starts) or (everything and id(parameter) not in inside)
        }

    @property
    def depth(self) -> int:
        """How many layers there are."""
        return len(self.layers)

    @property
    def width(self) -> int:
        """The size of a layer's state."""
        return self.model.config.hidden_size

    @property
    def output_width(self) -> int:
        """The size of the states that tasks read: of the last layer, or of the network on its layers."""
        return self.width if self.readout is None else self.readout.width

    @property
    def trained(self) -> nn.Module:
        """Everything of it that training may change, as one module."""
        return self.model if self.readout is None else nn.ModuleList([self.model, self.readout])

    @property
    def device(self) -> torch.device:
        """Where the parameters are."""
        return self.model.device

    @property
    def padding(self) -> int:
        """The id that fills a batch up."""
        identifier = self.tokenizer.pad_token_id
        return identifier if isinstance(identifier, int) else 0

    @property
    def condition(self) -> Condition:
        """What was done to it since it was loaded."""
        return Condition.of(tuple(change.intervention for change in self.changes))

    @property
    def loaded_digest(self) -> str:
        """The digest that it had before anything was done to it, and before any training."""
        return self.origin or self.digest

    @property
    def columns(self) -> dict[str, Any]:
        """What records say of it: columns of `crosslens.results.record.Record`."""
        condition = self.condition
        state = "untrained" if condition.is_untrained(self.depth) else "pretrained"
        return {
            **condition.columns,
            "encoder": self.name,
            "encoder_digest": self.loaded_digest,
            "depth": self.depth,
            "state": state,
        }

    @cached_property
    def capacity(self) -> int:
        """Most subwords that can be read at once, special tokens included."""
        config = self.model.config
        limits = [getattr(config, "max_position_embeddings", None), self.tokenizer.model_max_length]
        if self.family.padded_positions and limits[0]:
            limits[0] -= config.pad_token_id + 1
        # A tokenizer without a limit says 10**30, and XLNet -1.
        known = [limit for limit in limits if limit and 0 < limit < 10**6]
        return min(known, default=DEFAULT_CAPACITY)

    @cached_property
    def digest(self) -> str:
        """sha256 of all that determines what it computes: parameters, configuration and tokenizers, without names."""
        facts = {
            "config": _described(self.model.config.to_dict()),
            "capacity": self.capacity,
            "tokenizers": [_tokenizing(tokenizer) for tokenizer in self.tokenizers.values() or [self.tokenizer]],
        }
        if self.family.shared:  # interventions depend on what the layers share
            facts["shared"] = self.family.shared
        return digest_chunks(chain(_bytes_of(self.trained.named_parameters()), [canonical_json(facts)]))

    @cached_property
    def body_digest(self) -> str:
        """sha256 of the parameters without the embeddings of subwords: the same before and after trimming these."""
        subwords = {id(parameter) for parameter in self.model.get_input_embeddings().parameters()}
        parameters = ((name, p) for name, p in self.model.named_parameters() if id(p) not in subwords)
        return digest_chunks(_bytes_of(parameters))

    def states(
        self,
        ids: torch.Tensor,
        mask: torch.Tensor,
        segments: torch.Tensor | None = None,
        *,
        precision: Precision = "float32",
    ) -> torch.Tensor:
        """The last hidden states, ``(windows, length, width)`` float32: what a task's head reads.

        Args:
            ids: ``(windows, length)`` int64.
            mask: ``(windows, length)`` int64, 1 where there is a subword.
            segments: ``(windows, length)`` int64, 1 in a pair's second segment; None: there are no pairs.
            precision: what is computed in; parameters are float32 either way.
        """
        if self.readout is None:
            return self._last_states(ids, mask, segments, precision)
        read = layer_outputs(self, ids, mask, segments, precision=precision, highest=max(self.readout.layers))
        return self.read_out(self.readout.select(read), mask)

    def read_out(self, layers: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """What the network on the layers gives: see `Readout`. It is small, and always computed in float32."""
        assert self.readout is not None
        with computed_in("float32", self.device):
            return self.readout(layers, mask)

    def _last_states(
        self, ids: torch.Tensor, mask: torch.Tensor, segments: torch.Tensor | None, precision: Precision
    ) -> torch.Tensor:
        arguments = dict(self._arguments) if segments is None else {**self._arguments, "token_type_ids": segments}
        with computed_in(precision, self.device):
            return self.model(input_ids=ids, attention_mask=mask, **arguments).last_hidden_state.float()

    @cached_property
    def has_segments(self) -> bool:
        """Whether it tells the two segments of a pair apart by an embedding, as BERT does and RoBERTa does not."""
        accepted = inspect.signature(self.model.forward).parameters
        return "token_type_ids" in accepted and (getattr(self.model.config, "type_vocab_size", None) or 0) > 1

    @cached_property
    def _arguments(self) -> dict[str, Any]:
        accepted = inspect.signature(self.model.forward).parameters
        if "language" in accepted:
            return {"language": self.language}
        return {"use_cache": False} if self.family.decoder or "use_cache" in accepted else {}


def default_device() -> str:
    """A GPU where there is one."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def layer_outputs(
    encoder: Encoder,
    ids: torch.Tensor,
    mask: torch.Tensor,
    segments: torch.Tensor | None = None,
    *,
    precision: Precision = "float32",
    highest: int | None = None,
) -> list[torch.Tensor]:
    """The raw output of the embeddings and of every layer, ``layers + 1`` times ``(windows, length, width)``.

    Read off the layers themselves: what `transformers` calls the last hidden state has been through a final
    normalisation in many architectures, and would not compare with the layers below it.

    Args:
        encoder: put into the mode, training or evaluation, that the caller wants.
        ids: as of `Encoder.states`.
        mask: likewise.
        segments: likewise.
        precision: likewise.
        highest: the highest layer that is wanted, and the last of the result: those above it do no work; None: all.
    """
    outputs: list[torch.Tensor] = []
    with _listening(encoder, outputs, highest), suppress(_Enough):
        encoder._last_states(ids, mask, segments, precision)
    return outputs


class _Enough(Exception):
    """Raised inside a forward pass that need not go on."""


@contextmanager
def _listening(encoder: Encoder, outputs: list[torch.Tensor], highest: int | None) -> Iterator[None]:
    def keep(states: torch.Tensor) -> None:
        outputs.append(states.transpose(0, 1) if encoder.family.time_first else states)
        if len(outputs) - 1 == highest:
            raise _Enough

    def entering(module: nn.Module, args: tuple, kwargs: dict) -> None:
        keep(args[0] if args else kwargs["hidden_states"])

    def leaving(module: nn.Module, args: tuple, output: Any) -> None:
        keep(output if isinstance(output, torch.Tensor) else output[0])

    def parts(layer: nn.Module) -> list[nn.Module]:
        return list(layer.values()) if isinstance(layer, nn.ModuleDict) else [layer]

    first = parts(encoder.layers[0])[0]
    hooks = [first.register_forward_pre_hook(entering, with_kwargs=True)]
    hooks += [parts(layer)[-1].register_forward_hook(leaving) for layer in encoder.layers]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


NAMES = frozenset(
    {
        "_name_or_path",
        "architectures",
        "transformers_version",
        "dtype",
        "torch_dtype",
        "id2label",
        "label2id",
        "num_labels",
        "problem_type",
        "finetuning_task",
        "task_specific_params",
        "classifier_dropout",
        "use_cache",
        "output_hidden_states",
        "output_attentions",
        "return_dict",
        "tie_word_embeddings",
        "auto_map",
    }
)
"""Settings of a configuration that change nothing in what the encoder computes: names, versions, heads, output."""


def _described(config: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration as plain values, without `NAMES`."""
    kept = {str(key): value for key, value in config.items() if key not in NAMES and not str(key).startswith("_")}
    return {key: _described(value) if isinstance(value, Mapping) else _plain(value) for key, value in kept.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def _tokenizing(tokenizer: PreTrainedTokenizerBase) -> Any:
    """All of a tokenizer that decides which subwords a text has; how the last batch was cut and padded does not."""
    if tokenizer.is_fast:
        backend: Any = tokenizer.backend_tokenizer
        whole = json.loads(backend.to_str())
        facts = {key: value for key, value in whole.items() if key not in ("truncation", "padding")}
    else:
        facts = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    prefix = word_prefix(tokenizer)
    return {"tokenizer": facts, "word_prefix": prefix} if prefix else facts


def _bytes_of(parameters: Iterable[tuple[str, nn.Parameter]]) -> Iterator[bytes]:
    for name, parameter in sorted(parameters, key=itemgetter(0)):
        yield canonical_json([name, list(parameter.shape)])
        yield parameter.detach().cpu().contiguous().numpy().tobytes()
