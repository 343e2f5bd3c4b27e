"""Pretraining settings, as in a settings file, with every factor of Conneau, Wu et al. (2020)."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, field_validator, model_validator

from crosslens.encoders.interventions.intervention import Layers
from crosslens.encoders.layers import parse_layers
from crosslens.encoders.options import Precision
from crosslens.errors import EncoderError, RequestError, require_known, suggest
from crosslens.settings import Count, Positive, Seed, Share, Strict, problems_of

Anchors = Literal["joint", "default", "none"]
"""Subwords that languages share (Conneau, Wu et al. 2020, section 4.2); see `Vocabulary`."""


class Vocabulary(Strict):
    """Settings of the subword vocabulary.

    Attributes:
        kind: ``bpe``, ``wordpiece``, or ``words`` for words separated by spaces.
        size: number of subwords, special tokens included, divided equally between separate vocabularies.
        anchors: ``joint``: one vocabulary for all languages; ``default``: one vocabulary per language, with identical
            strings sharing an embedding; ``none``: one vocabulary per language, with nothing shared.
    """

    kind: Literal["bpe", "wordpiece", "words"] = "bpe"
    size: Annotated[int, Field(ge=50)] = 8000
    anchors: Anchors = "joint"


class ExtraAnchors(Strict):
    """Code-switching: words replaced by their translations (Conneau, Wu et al. 2020, section 4.2).

    Attributes:
        probability: probability that a word in a dictionary is replaced.
        most: maximum fraction of replaced words in a batch.
    """

    probability: Annotated[float, Field(gt=0, le=1)] = 0.3
    most: Annotated[float, Field(gt=0, le=1)] = 0.15


class Validation(Strict):
    """Validation on held-out text, model selection and early stopping.

    Attributes:
        lines: number of lines held out at the end of each language's text.
        every: steps between two evaluations.
        select: language whose perplexity selects the best weights, or ``mean`` over languages; None: keep the last
            weights.
        patience: evaluations without improvement after which training stops; None: no early stopping.
    """

    lines: Count = 200
    every: Count = 200
    select: str | None = None
    patience: Count | None = None

    @model_validator(mode="after")
    def _patience_needs_a_choice(self) -> "Validation":
        if self.patience and not self.select:
            raise ValueError("patience needs select: a language, or mean")
        return self


class Shape(Strict):
    """Size and initialisation of the encoder.

    Attributes:
        layers: number of layers.
        width: hidden size.
        heads: number of attention heads; must divide the width.
        feedforward: feed-forward size; None: four times the width.
        positions: maximum sequence length in subwords.
        dropout: dropout in pretraining; the checkpoint passes it on to fine-tuning. Decoders have dropout of attention
            weights only.
        embedding_range: standard deviation of initial word embeddings; None: that of all weights.
        initializer_range: standard deviation of initial weights; None: 0.55 / sqrt(width). BERT's 0.02 suits width 768;
            with it, a narrow encoder trains slowly, and its re-initialised layers compute next to nothing.
    """

    layers: Count = 4
    width: Count = 128
    heads: Count = 4
    feedforward: Count | None = None
    positions: Annotated[int, Field(ge=8)] = 128
    dropout: Share = 0.0
    initializer_range: Positive | None = None
    embedding_range: Positive | None = None

    @model_validator(mode="after")
    def _heads_share_the_width(self) -> "Shape":
        if self.width % self.heads:
            raise ValueError(f"a width of {self.width} is not divisible by {self.heads} heads")
        return self


class Masking(Strict):
    """How subwords are masked (Devlin et al. 2019).

    Attributes:
        share: fraction of the subwords to predict.
        masked: fraction of those replaced by the mask token.
        replaced: fraction of those replaced by a random subword; the remaining ones are unchanged.
    """

    share: Annotated[float, Field(gt=0, lt=1)] = 0.15
    masked: Annotated[float, Field(ge=0, le=1)] = 0.8
    replaced: Annotated[float, Field(ge=0, le=1)] = 0.1

    @model_validator(mode="after")
    def _no_more_than_all(self) -> "Masking":
        if self.masked + self.replaced > 1:
            raise ValueError("masked and replaced add up to more than 1")
        return self


class Pretraining(Strict):
    """Settings of `pretrain`, as in a settings file.

    Attributes:
        corpora: language -> text file relative to the settings file, or a name such as ``raw/en`` or ``lab/src``.
        separate: language-specific layers, such as ``0-3``; None: all layers are shared. Layer 0 is the embeddings;
            with it, vocabulary and output layer are language-specific too.
        dictionaries: language pair -> dictionary name or file, such as ``{en-fr: muse/en-fr}``, for both directions.
        extra_anchors: code-switching with these dictionaries; None: none.
        validation: validation on held-out text; None: none.
        objective: ``masked``: an encoder (BERT) predicts masked subwords; ``causal``: a decoder (Llama) predicts the
            next subword, and `masking` is not used.
        exponent: with ``streams``, exponent of language sampling: 1 samples by corpus size, 0 uniformly. With
            ``lines``, every line is read once in each pass, whatever its language.
        vocabulary: settings of the subword vocabulary.
        shape: size of the encoder.
        steps: number of optimiser steps.
        checkpoints: steps whose weights are kept too, in ``FOLDER/checkpoints/STEP``; a number is every so many steps;
            0 is the initial weights. The learning rate has not decayed at a checkpoint, which is therefore not the end
            of a shorter training.
        reading: ``streams``: each language's text is concatenated and cut into sequences of maximum length, and a step
            reads one language; ``lines``: each line is a sequence, and a step reads lines of equal length.
        mix: with ``lines``, whether a step reads ``all`` languages or ``one``; always one with ``separate``.
        batch: sequences per step; with ``lines``, as many lines as fill that many sequences of maximum length.
        micro_batch: sequences per forward pass, to save memory; None: the whole batch. Without dropout (the default)
            the result is the same up to rounding; with dropout the masks differ.
        precision: number format of training; perplexities are measured in float32.
        masking: how subwords are masked.
        learning_rate: peak learning rate.
        embedding_learning_rate: peak learning rate of the word embeddings; None: the same.
        warmup: fraction of the steps in which the learning rate rises.
        schedule: after the warm-up, ``linear`` decay to 0, or decay with the ``inverse-sqrt`` of the step.
        betas: decay rates of AdamW's moment estimates.
        weight_decay: decoupled weight decay of matrices.
        clip: maximum norm of a step's gradient; None: no clipping.
        seed: random seed for initialisation, language sampling, order, masking, code-switching and dropout.
    """

    corpora: Annotated[dict[str, str], Field(min_length=1)]
    separate: Layers | None = None
    dictionaries: dict[str, str] = Field(default_factory=dict)
    extra_anchors: ExtraAnchors | None = None
    validation: Validation | None = None
    objective: Literal["masked", "causal"] = "masked"
    exponent: Annotated[float, Field(ge=0, le=1)] = 0.7
    vocabulary: Vocabulary = Vocabulary()
    shape: Shape = Shape()
    steps: Count = 2000
    checkpoints: tuple[Annotated[int, Field(ge=0)], ...] | Count = ()
    reading: Literal["streams", "lines"] = "streams"
    mix: Literal["all", "one"] = "all"
    batch: Count = 16
    micro_batch: Count | None = None
    precision: Precision = "float32"
    masking: Masking = Masking()
    learning_rate: Positive = 1e-3
    embedding_learning_rate: Positive | None = None
    warmup: Share = 0.05
    schedule: Literal["linear", "inverse-sqrt"] = "linear"
    betas: tuple[Share, Share] = (0.9, 0.98)
    weight_decay: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.01
    clip: Positive | None = 1.0
    seed: Seed = 1

    @property
    def kept_steps(self) -> tuple[int, ...]:
        """Steps of the checkpoints, ascending."""
        if isinstance(self.checkpoints, int):
            return (*range(0, self.steps, self.checkpoints), self.steps)
        return self.checkpoints

    @field_validator("checkpoints")
    @classmethod
    def _ascending(cls, value: tuple[int, ...] | int) -> tuple[int, ...] | int:
        return value if isinstance(value, int) else tuple(sorted(set(value)))

    @property
    def separate_layers(self) -> tuple[int, ...]:
        """Numbers of the language-specific layers."""
        return parse_layers(self.separate, self.shape.layers) if self.separate else ()

    def between(self, *languages: str) -> "Pretraining":
        """The same settings for these languages only.

        Raises:
            RequestError: for a language without text.
        """
        for language in languages:
            require_known(language, self.corpora, "there is no text of")
        kept = {pair: name for pair, name in self.dictionaries.items() if set(self.sides(pair)) <= set(languages)}
        corpora = {language: self.corpora[language] for language in languages}
        return replaced(self, {"corpora": corpora, "dictionaries": kept})

    def sides(self, pair: str) -> tuple[str, ...]:
        """The two languages of a pair such as ``en-fr``; empty when it is not a pair of these languages."""
        known = [(a, b) for a in self.corpora for b in self.corpora if a != b and f"{a}-{b}" == pair]
        return known[0] if known else ()

    @model_validator(mode="after")
    def _fits(self) -> "Pretraining":
        try:
            layers = self.separate_layers
        except EncoderError as error:
            raise ValueError(f"separate: {error}") from None
        if layers and len(self.corpora) < 2:
            raise ValueError("separate needs at least two languages")
        if layers and self.objective == "causal":
            raise ValueError("separate needs objective=masked: a decoder has no language-specific layers")
        if self.vocabulary.anchors != "joint" and len(self.corpora) < 2:
            raise ValueError(f"vocabulary.anchors={self.vocabulary.anchors} needs at least two languages")
        wrong = [language for language in self.corpora if not re.fullmatch(r"[A-Za-z0-9-]+", language)]
        if wrong:
            raise ValueError(f"corpora: {wrong[0]!r} is not a language tag")
        chosen = self.validation.select if self.validation else None
        if chosen not in (None, "mean", *self.corpora):
            raise ValueError(
                f"validation.select: there is no language {chosen!r} ({suggest(str(chosen), self.corpora)})"
            )
        for pair in self.dictionaries:
            if not self.sides(pair):
                raise ValueError(f"dictionaries: {pair!r} is not a pair of these languages, such as en-fr")
        if self.kept_steps and self.kept_steps[-1] > self.steps:
            raise ValueError(f"checkpoints: step {self.kept_steps[-1]} is beyond the {self.steps} steps of training")
        if self.extra_anchors and not self.dictionaries:
            raise ValueError("extra_anchors needs dictionaries")
        return self


def replaced(settings: Pretraining, changes: Mapping[str, Any]) -> Pretraining:
    """Replace settings by dotted names, and validate the result.

    >>> replaced(Pretraining(corpora={"en": "en.txt"}), {"shape.layers": 6}).shape.layers
    6

    Raises:
        RequestError: naming every invalid setting.
    """
    whole = settings.model_dump(mode="json")
    for name, value in changes.items():
        *parents, last = name.split(".")
        place = whole
        for parent in parents:
            place[parent] = dict(place.get(parent) or {})
            place = place[parent]
        place[last] = value
    try:
        return Pretraining.model_validate(whole)
    except ValidationError as error:
        reasons = "; ".join(map(str, problems_of(error, Pretraining)))
        raise RequestError(f"invalid pretraining settings: {reasons}") from None


def find_text(name: str, base: str | Path) -> str:
    """Resolve a file relative to ``base``; keep names that begin with ``raw/``, ``lab/`` or ``muse/``."""
    path = Path(base) / name
    return str(path) if path.is_file() or not name.startswith(("raw/", "lab/", "muse/")) else name
