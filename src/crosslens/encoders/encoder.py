"""Encoders: a Hugging Face model with its tokenizer and the location of its layers."""

import inspect
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from operator import itemgetter
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from crosslens.data.subwords import word_prefix
from crosslens.digests import canonical_json, digest_chunks
from crosslens.encoders.condition import Condition
from crosslens.encoders.entering import entering
from crosslens.encoders.families import Family
from crosslens.encoders.interventions.causal_mask import bidirectional
from crosslens.encoders.interventions.change import Change
from crosslens.encoders.interventions.reading import Reading
from crosslens.encoders.layers import parse_layers
from crosslens.encoders.matmul import computed_in
from crosslens.encoders.models.language_specific import subword_tables
from crosslens.encoders.options import LastLayer, Precision
from crosslens.encoders.readouts.readout import Readout
from crosslens.errors import EncoderError, RequestError
from crosslens.lab.presets import given_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosslens.data.corpus import Corpus
    from crosslens.data.windows import Window
    from crosslens.encoders.states.corpus_states import CorpusStates
    from crosslens.encoders.states.state_intervention import Edit

DEFAULT_CAPACITY = 512
"""Maximum subwords of an input if neither the configuration nor the tokenizer sets a limit."""


_FLAT_MASKS = ("deberta", "deberta-v2", "xlnet")
"""Families that compute with the attention mask as it is given."""


@dataclass(frozen=True, eq=False, repr=False)
class Encoder:
    """A pretrained encoder, from `load_encoder`. It is never modified: `random_init` and `freeze` return copies.

    Attributes:
        model: model without a head, in evaluation mode and float32, but for weights that are held in bfloat16 or eight
            bits (`crosslens.encoders.models.held_weights`).
        tokenizer: tokenizer that pads on the right.
        family: location of the layers.
        name: hub name or folder that the encoder was loaded from.
        changes: interventions applied since loading.
        readout: network on the layers' states, read by task heads in place of the last layer (see `as_features`).
        tokenizers: language -> tokenizer, if vocabularies are language-specific.
        language: current input language, if vocabularies are language-specific.
        origin: digest before the first change and before training; None if the encoder is neither changed nor trained.
        edits: interventions on states, prepared for a corpus; see `prepared`.
        task: task that the encoder was fine-tuned for; None if it was not.
        trained_since: whether it was fine-tuned after `origin`, so that `origin` and `changes` do not determine its
            weights, as in the encoder of a fine-tuned model.
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
    edits: "tuple[Edit, ...]" = ()
    task: str | None = None
    trained_since: bool = False

    def __repr__(self) -> str:
        return "\n  ".join((f"Encoder {self.given_name}", *self.described))

    @property
    def described(self) -> tuple[str, ...]:
        """Facts in at most three lines: architecture, vocabulary, and what was changed since loading."""
        trained = [f"fine-tuned for {self.task}"] if self.task else []
        parts = "; ".join([*(change.described for change in self.changes), *trained])
        vocabularies = f", for each of {', '.join(self.tokenizers)}" if self.tokenizers else ""
        return (
            f"{self.family.name}, {self.depth} layers × {self.width} dimensions, on {self.device}",
            f"vocabulary of {len(self.tokenizer):,} subwords{vocabularies}; inputs of up to {self.capacity}",
            *([parts] if parts else []),
        )

    def changed(self, change: Change, *, since: "Encoder") -> "Encoder":
        """Return this encoder with a change that was applied to ``since`` added to the changes.

        Where it changed weights, interventions on states use the states that this encoder has of their corpus.

        Raises:
            EncoderError: for a second change of what an encoder has only one of.
        """
        once = change.intervention.once
        for present in since.changes if once else ():
            if present.intervention.once == once:
                raise EncoderError(
                    f"{self.name} has {present.intervention.label} already", hint=f"an encoder has only one {once}"
                )
        before = tuple(each.refitted(self) for each in since.changes) if change.tensors else since.changes
        return replace(self, changes=(*before, change), origin=since.loaded_digest)

    @property
    def edited(self) -> tuple[Change, ...]:
        """Interventions that replace states in each forward pass."""
        return tuple(change for change in self.changes if change.intervention.edits_states)

    def refuse_edited(self) -> None:
        """Refuse to save interventions on states.

        Raises:
            RequestError: if there are such interventions.
        """
        if self.edited:
            label = self.edited[0].intervention.label
            raise RequestError(
                f"cannot save an encoder whose states are replaced ({label})", hint="save it without interventions"
            )

    def prepared(
        self, windows: "Sequence[Window]", corpus: "Corpus | None" = None, *, clean: "CorpusStates | None" = None
    ) -> "Encoder":
        """Prepare interventions on states for a corpus; an encoder without any is returned as it is.

        Args:
            corpus: the corpus; None: unknown, for interventions that need only the windows.
            clean: states of the corpus without interventions, if several encoders share them.
        """
        if not self.edited:
            return self
        if clean is None:
            from crosslens.encoders.states.corpus_states import CorpusStates

            clean = CorpusStates(self.unedited, windows, corpus)
        edits = [
            (change.fitted or change.intervention).prepare(clean, seed=change.seed)  # pyright: ignore
            for change in self.edited
        ]
        return replace(self, edits=tuple(edits))

    @property
    def unedited(self) -> "Encoder":
        """This encoder without interventions on states."""
        kept = tuple(change for change in self.changes if not change.intervention.edits_states)
        return replace(self, changes=kept, edits=())

    def for_language(self, language: str | None) -> "Encoder":
        """Select the vocabulary and parameters of a language; most encoders are returned unchanged.

        Raises:
            EncoderError: if vocabularies are language-specific and there is none for this language.
        """
        if not self.tokenizers or language == self.language:
            return self
        if language is None or language not in self.tokenizers:
            what = f"no vocabulary for {language!r}" if language else "a separate vocabulary for each language"
            hint = f"it supports {', '.join(self.tokenizers)}; give the language of a file as fr=FILE"
            raise EncoderError(f"{self.name} has {what}", hint=hint)
        return replace(self, tokenizer=self.tokenizers[language], language=language)

    @property
    def language_specific(self) -> bool:
        """Whether it has a vocabulary or parameters for each language, so that results depend on a text's language."""
        return bool(self.tokenizers)

    @cached_property
    def layers(self) -> list[nn.Module]:
        """The layers from the lowest up. A layer of XLM, which has four lists, combines one part of each list."""
        lists = [self.model.get_submodule(path) for path in self.family.layers]
        if len(lists) == 1:
            return list(lists[0])  # pyright: ignore[reportArgumentType]
        rows = zip(*lists, strict=True)  # pyright: ignore[reportArgumentType]
        return [nn.ModuleDict(dict(zip(self.family.layers, row, strict=True))) for row in rows]

    @cached_property
    def embeddings(self) -> list[nn.Module]:
        """The modules of layer 0. ELECTRA has a projection only if its embeddings are narrower than its layers."""
        modules = dict(self.model.named_modules())
        return [modules[path] for path in self.family.embeddings if path in modules]

    @cached_property
    def shared(self) -> dict[str, nn.Parameter]:
        """Parameters that several layers use, by name; they belong to no layer, even if they are inside one."""
        prefixes = tuple(f"{path}." for path in self.family.shared)
        return {name: parameter for name, parameter in self.model.named_parameters() if name.startswith(prefixes)}

    def own(self, layer: int) -> dict[str, nn.Parameter]:
        """Parameters of one layer (from 1), by their names inside it, without those shared between layers."""
        shared = {id(parameter) for parameter in self.shared.values()}
        parameters = self.layers[layer - 1].named_parameters()
        return {name: parameter for name, parameter in parameters if id(parameter) not in shared}

    def shared_names(self, layers: Iterable[int]) -> tuple[str, ...]:
        """Names of the parameters that these layers share with other layers; the embeddings (0) share none."""
        return tuple(self.shared) if any(layers) else ()

    def outside(self, *, everything: bool) -> dict[str, nn.Parameter]:
        """Parameters of the embeddings; with ``everything``, all parameters that belong to no layer."""
        inside = {id(parameter) for layer in range(self.depth) for parameter in self.own(layer + 1).values()}
        prefixes = tuple(f"{path}." for path in self.family.embeddings)
        return {
            name: parameter
            for name, parameter in self.model.named_parameters()
            if name.startswith(prefixes) or (everything and id(parameter) not in inside)
        }

    @property
    def depth(self) -> int:
        """Number of layers, without the embeddings."""
        return len(self.layers)

    @property
    def width(self) -> int:
        """Hidden size of the layers."""
        return self.model.config.hidden_size

    @property
    def output_width(self) -> int:
        """Hidden size of the states that task heads read: of the readout, or else of the last layer."""
        return self.width if self.readout is None else self.readout.width

    @property
    def trained(self) -> nn.Module:
        """All parameters that can be trained, as one module: the model and its readout."""
        return self.model if self.readout is None else nn.ModuleList([self.model, self.readout])

    @property
    def device(self) -> torch.device:
        """Device of the parameters."""
        return self.model.device

    @property
    def padding(self) -> int:
        """Padding id; 0 if the tokenizer has none."""
        padding = self.tokenizer.pad_token_id
        return padding if isinstance(padding, int) else 0

    @property
    def condition(self) -> Condition:
        """Interventions since loading, as one condition."""
        return Condition.of(tuple(change.intervention for change in self.changes))

    @cached_property
    def reading(self) -> Reading:
        """How text is read; most encoders have the defaults."""
        return self.condition.find(Reading) or Reading()

    @cached_property
    def precision(self) -> Precision:
        """Number format of all forward passes."""
        return self.condition.precision

    @property
    def causal(self) -> bool:
        """Whether subwords attend only to preceding ones, as loaded; EmbeddingGemma, for example, has no such mask."""
        config = self.model.config
        two_way = getattr(config, "use_bidirectional_attention", False) or not getattr(config, "is_causal", True)
        return self.family.causal and not two_way

    @property
    def loaded_digest(self) -> str:
        """Digest of the encoder before any change and any training."""
        return self.origin or self.digest

    @property
    def seed(self) -> int | None:
        """Random seed of the last random change since loading; None without any."""
        return next((change.seed for change in reversed(self.changes) if change.seed is not None), None)

    @property
    def given_name(self) -> str:
        """Name in records: ``lab:good`` for the cached encoder of a laboratory, else `name`."""
        return given_name(self.name)

    @property
    def columns(self) -> dict[str, Any]:
        """Columns of `crosslens.results.record.Record` that describe the encoder."""
        condition = self.condition
        untrained = "untrained" if condition.is_untrained(self.depth) else "pretrained"
        return {
            **condition.columns,
            "task": self.task,
            "encoder": self.given_name,
            "encoder_digest": self.loaded_digest,
            "depth": self.depth,
            "state": "fine-tuned" if self.task else untrained,
        }

    @property
    def capacity(self) -> int:
        """Maximum subwords of an input, special tokens included."""
        config = self.model.config
        limits = [getattr(config, "max_position_embeddings", None), self.tokenizer.model_max_length]
        if self.family.padded_positions and limits[0]:
            limits[0] -= config.pad_token_id + 1
        # Without a limit, tokenizers have 10**30, and XLNet has -1.
        known = [limit for limit in limits if limit and 0 < limit < 10**6]
        return min(known, default=DEFAULT_CAPACITY)

    @cached_property
    def digest(self) -> str:
        """sha256 of everything that determines the output: parameters, configuration and tokenizers, without names."""
        facts = {
            "config": _config_facts(self.model.config.to_dict()),
            "capacity": self.capacity,
            "tokenizers": [_tokenizer_facts(tokenizer) for tokenizer in self.tokenizers.values() or [self.tokenizer]],
        }
        if self.family.shared:  # interventions depend on what the layers share
            facts["shared"] = self.family.shared
        return digest_chunks(chain(_bytes_of(self.trained.named_parameters()), [canonical_json(facts)]))

    @cached_property
    def body_digest(self) -> str:
        """sha256 of the parameters without the subword embeddings, so that trimming the vocabulary keeps it."""
        subwords = {id(parameter) for table in subword_tables(self.model) for parameter in table.parameters()}
        parameters = ((name, p) for name, p in self.model.named_parameters() if id(p) not in subwords)
        return digest_chunks(_bytes_of(parameters))

    def states(
        self,
        ids: torch.Tensor,
        mask: torch.Tensor,
        segments: torch.Tensor | None = None,
        *,
        entry: tuple[int, torch.Tensor] | None = None,
    ) -> torch.Tensor:
        """Compute the states that a task head reads, ``(windows, length, output width)`` float32.

        Args:
            ids: ``(windows, length)`` int64 subword ids.
            mask: ``(windows, length)`` int64, 0 for padding.
            segments: ``(windows, length)`` int64, 1 in the second segment of a pair; None without pairs.
            entry: a layer and its output: only the layers above it are computed (`crosslens.encoders.entering`); an
                encoder with a readout computes all.
        """
        if self.readout is None:
            return self._last_states(ids, mask, segments, self._entering(entry))
        outputs = layer_outputs(self, ids, mask, segments, highest=max(self.readout.layers))
        return self.read_out(self.readout.select(outputs), mask)

    def read_out(self, layers: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Apply the readout (see `Readout`), always in float32 because it is small."""
        assert self.readout is not None
        with computed_in("float32", self.device):
            return self.readout(layers, mask)

    def _last_states(
        self,
        ids: torch.Tensor,
        mask: torch.Tensor,
        segments: torch.Tensor | None,
        *inside: AbstractContextManager[None],
    ) -> torch.Tensor:
        """Compute the last hidden states; ``inside`` is entered when interventions have read what they need."""
        arguments = dict(self._arguments) if segments is None else {**self._arguments, "token_type_ids": segments}
        if mask.device.type == "meta" and self.family.name not in _FLAT_MASKS:
            # transformers asks whether there is padding, which that device cannot tell, unless a mask has four axes.
            mask = mask.new_zeros((len(mask), 1, mask.shape[1], mask.shape[1]), dtype=torch.float32)
        with ExitStack() as stack:
            stack.enter_context(ONE_PASS)
            stack.enter_context(self._editing(ids, mask, segments))  # first: it may read other windows, with their mask
            stack.enter_context(bidirectional(self._unmasked, mask))
            for context in (*inside, computed_in(self.precision, self.device)):
                stack.enter_context(context)
            return self.model(input_ids=ids, attention_mask=mask, **arguments).last_hidden_state.float()

    def _entering(self, entry: tuple[int, torch.Tensor] | None) -> AbstractContextManager[None]:
        return nullcontext() if entry is None else entering(self, *entry)

    @cached_property
    def _unmasked(self) -> list[nn.Module]:
        """The layers that lost their causal mask."""
        layers = self.reading.bidirectional
        return [self.layers[layer - 1] for layer in parse_layers(layers, self.depth)] if layers else []

    @contextmanager
    def _editing(self, ids: torch.Tensor, mask: torch.Tensor, segments: torch.Tensor | None) -> Iterator[None]:
        """Replace states inside the block, in the order of the interventions."""
        if len(self.edits) != len(self.edited):
            raise EncoderError("interventions on states need the corpus first", hint="use Encoder.prepared")
        if not self.edits:
            yield
            return
        from crosslens.encoders.states.sites import replacing
        from crosslens.encoders.states.state_intervention import Inputs

        inputs = Inputs(ids, mask, segments)
        # All before the first hook, because some run the encoder without interventions.
        replacements = [edit.replacement(inputs) for edit in self.edits]
        with ExitStack() as stack:
            for edit, replacement in reversed(list(zip(self.edits, replacements, strict=True))):
                stack.enter_context(replacing(edit.places, replacement))
            yield

    @cached_property
    def has_segments(self) -> bool:
        """Whether segment embeddings distinguish the two texts of a pair, as in BERT but not in RoBERTa."""
        accepted = inspect.signature(self.model.forward).parameters
        return "token_type_ids" in accepted and (getattr(self.model.config, "type_vocab_size", None) or 0) > 1

    @cached_property
    def _arguments(self) -> dict[str, Any]:
        accepted = inspect.signature(self.model.forward).parameters
        if "language" in accepted:
            return {"language": self.language}
        return {"use_cache": False} if self.family.decoder or "use_cache" in accepted else {}


def require_encoder(encoder: object) -> Encoder:
    """Refuse what Python programs give in place of an encoder: its name, or a fine-tuned model.

    Raises:
        RequestError: for another object.
    """
    if isinstance(encoder, Encoder):
        return encoder
    what = repr(encoder) if isinstance(encoder, str | Path) else "this"
    raise RequestError(
        f"{what} is a {type(encoder).__name__} and not an encoder",
        hint="xl.load_encoder loads one by name; of a model it is model.encoder",
    )


def find_device(name: str | torch.device | None = None) -> torch.device:
    """Return a device of this machine by name; None: a GPU if available, else the CPU.

    Raises:
        RequestError: for a device that this machine does not have.
    """
    if name is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.zeros(1).to(device).cpu()  # fails on devices that are not there, and on ``meta``, which holds no numbers
    except (RuntimeError, AssertionError, NotImplementedError):
        usable = ["cpu", *(f"cuda:{place}" for place in range(torch.cuda.device_count()))]
        usable += ["mps"] if torch.backends.mps.is_available() else []
        raise RequestError(
            f"there is no device {str(name)!r} on this machine", hint=f"known: {', '.join(usable)}"
        ) from None
    return device


def layer_outputs(
    encoder: Encoder,
    ids: torch.Tensor,
    mask: torch.Tensor,
    segments: torch.Tensor | None = None,
    *,
    highest: int | None = None,
    last_layer: LastLayer = "raw",
    entry: tuple[int, torch.Tensor] | None = None,
) -> list[torch.Tensor]:
    """Compute the raw output of the embeddings and of each layer, ``layers + 1`` times ``(windows, length, width)``.

    Hooks record the outputs of the layers themselves. In many architectures, the last hidden state of `transformers`
    has passed a final normalisation, so that it is not comparable with lower layers.

    Args:
        ids: as in `Encoder.states`.
        mask: as in `Encoder.states`.
        segments: as in `Encoder.states`.
        highest: last layer of the result; layers above it are not computed. None: all layers.
        last_layer: ``normalised``: the last of all layers after the final normalisation.
        entry: as in `Encoder.states`; it also stands for the layers below.
    """
    outputs: list[torch.Tensor] = []
    inside = encoder._entering(entry), _recording(encoder, outputs, highest)
    with suppress(StopForward):
        normalised = encoder._last_states(ids, mask, segments, *inside)
        if last_layer == "normalised":
            outputs[-1] = normalised
    return outputs


def layer_parts(layer: nn.Module) -> list[nn.Module]:
    """The modules of one of `Encoder.layers` in order: one, but for XLM."""
    return list(layer.values()) if isinstance(layer, nn.ModuleDict) else [layer]


ONE_PASS = RLock()
"""Held while hooks are on the modules of an encoder, because a forward pass of another thread would run them, too."""


class StopForward(Exception):
    """Raised to end a forward pass after the highest layer needed."""


@contextmanager
def _recording(encoder: Encoder, outputs: list[torch.Tensor], highest: int | None) -> Iterator[None]:
    """Append the input of the first layer and the output of each layer to ``outputs`` inside the block."""

    def record(states: torch.Tensor) -> None:
        outputs.append(states.transpose(0, 1) if encoder.family.time_first else states)
        if len(outputs) - 1 == highest:
            raise StopForward

    def record_input(module: nn.Module, args: tuple, kwargs: dict) -> None:
        record(args[0] if args else kwargs["hidden_states"])

    def record_output(module: nn.Module, args: tuple, output: Any) -> None:
        record(output if isinstance(output, torch.Tensor) else output[0])

    first = layer_parts(encoder.layers[0])[0]
    with ExitStack() as hooks:
        hooks.enter_context(first.register_forward_pre_hook(record_input, with_kwargs=True))
        for layer in encoder.layers:
            hooks.enter_context(layer_parts(layer)[-1].register_forward_hook(record_output))
        yield


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
"""Configuration settings that do not affect the computed states: names, versions, heads, output format."""


def _config_facts(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration as plain values, without `NAMES`."""
    kept = {str(key): value for key, value in config.items() if key not in NAMES and not str(key).startswith("_")}
    return {key: _config_facts(value) if isinstance(value, Mapping) else _plain(value) for key, value in kept.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def _tokenizer_facts(tokenizer: PreTrainedTokenizerBase) -> Any:
    """Return the settings that determine the subwords of a text, without the last batch's truncation and padding."""
    if tokenizer.is_fast:
        backend: Any = tokenizer.backend_tokenizer
        settings = json.loads(backend.to_str())
        facts = {key: value for key, value in settings.items() if key not in ("truncation", "padding")}
    else:
        facts = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    prefix = word_prefix(tokenizer)
    return {"tokenizer": facts, "word_prefix": prefix} if prefix else facts


def _bytes_of(parameters: Iterable[tuple[str, nn.Parameter]]) -> Iterator[bytes | memoryview]:
    for name, parameter in sorted(parameters, key=itemgetter(0)):
        yield canonical_json([name, list(parameter.shape)])
        values = parameter.detach().cpu().flatten()
        yield (values.float() if values.dtype == torch.bfloat16 else values).numpy().data
