"""The settings of a pretraining: what a settings file holds, and each factor of Conneau, Wu et al. (2020) is one."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from crosslens.encoders.layers import parse_layers
from crosslens.encoders.options import Precision
from crosslens.errors import EncoderError, RequestError, suggest

Count = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, lt=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]

Anchors = Literal["joint", "default", "none"]
"""What languages share of their vocabularies (Conneau, Wu et al. 2020, section 4.2): they have one, made of all text;
each has one of its own, and identical strings are one subword; each has one, and they share no subword."""


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Vocabulary(_Strict):
    """Which subwords.

    Attributes:
        kind: ``bpe``, ``wordpiece``, or ``words`` for whole words between spaces.
        size: pieces, special tokens included; where each language has a vocabulary of its own, all have equal shares.
        anchors: ``joint``: one vocabulary for all text; ``default``: one a language, and identical strings are one
            subword; ``none``: one a language, and nothing is shared.
    """

    kind: Literal["bpe", "wordpiece", "words"] = "bpe"
    size: Annotated[int, Field(ge=50)] = 8000
    anchors: Anchors = "joint"


class ExtraAnchors(_Strict):
    """Words that are replaced by translations before the text is read (section 4.2).

    Attributes:
        probability: that a word of a dictionary is replaced.
        most: largest share of a batch's words that is.
    """

    probability: Annotated[float, Field(gt=0, le=1)] = 0.3
    most: Annotated[float, Field(gt=0, le=1)] = 0.15


class Validation(_Strict):
    """Text that is held out, and what its perplexity decides.

    Attributes:
        lines: the last so many of each language's; they are not trained on.
        every: steps between two measurements.
        select: the language whose perplexity selects the weights that are kept, or ``mean``; None: the last are kept.
        patience: measurements without a better one after which training ends; None: it goes on.
    """

    lines: Count = 200
    every: Count = 200
    select: str | None = None
    patience: Count | None = None

    @model_validator(mode="after")
    def _patience_needs_a_choice(self) -> "Validation":
        if self.patience and not self.select:
            raise ValueError("patience waits for a better perplexity, and select does not say whose")
        return self


class Shape(_Strict):
    """How large an encoder.

    Attributes:
        layers: how many.
        width: of a state.
        heads: of attention; they share the width.
        feedforward: width inside a layer; None: four times the width.
        positions: longest sequence.
        dropout: in pretraining, and what fine-tuning finds in the checkpoint.
        embedding_range: standard deviation of fresh word embeddings; None: as all weights.
        initializer_range: standard deviation of fresh weights; None: 0.55 / sqrt(width). BERT's 0.02 belongs to width
            768; a narrow encoder that starts so close to nothing trains slowly, and a layer drawn anew is close to no
            layer at all.
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
            raise ValueError(f"a width of {self.width} cannot be shared by {self.heads} heads")
        return self


class Masking(_Strict):
    """What is hidden.

    Attributes:
        share: of the subwords, to be predicted.
        masked: of those, shown as the mask.
        replaced: of those, shown as a random subword; the rest is shown as it is.
    """

    share: Annotated[float, Field(gt=0, lt=1)] = 0.15
    masked: Annotated[float, Field(ge=0, le=1)] = 0.8
    replaced: Annotated[float, Field(ge=0, le=1)] = 0.1

    @model_validator(mode="after")
    def _no_more_than_all(self) -> "Masking":
        if self.masked + self.replaced > 1 + 1e-9:
            raise ValueError("masked and replaced are more than all together")
        return self


class Pretraining(_Strict):
    """The settings of `pretrain`: what a settings file holds.

    Attributes:
        corpora: language -> text file, relative to the settings file; or ``raw/en``, ``lab/src``.
        separate: layers of which each language has its own, ``0-3``; 0 is the embeddings, and then the vocabulary and
            the output are a language's own too. None: all are shared.
        dictionaries: names or files, ``{en-fr: muse/en-fr}``; each serves both directions.
        extra_anchors: how words are replaced by translations from the dictionaries; None: none are.
        validation: text held out; None: none.
        exponent: of language sampling; 1 is by size, 0 all alike.
        vocabulary: which subwords.
        shape: how large an encoder.
        steps: of the optimiser.
        reading: ``streams``: each language's text is one stream, cut into sequences of all positions, and a step reads
            one language; ``lines``: a sequence is a line, and a step reads lines of one length.
        mix: of lines: whether a step reads lines of ``all`` languages or of ``one``; where something is separate, one.
        batch: sequences a step; of lines as many as have that many positions together.
        micro_batch: sequences read at once, to save memory; None: all of a step. Without dropout, as by default, the
            result is the same up to rounding; with dropout the masks are others.
        precision: what is computed in; ``bfloat16`` is for GPUs.
        masking: what is hidden.
        learning_rate: the peak.
        embedding_learning_rate: the peak for word embeddings; None: the same.
        warmup: share of the steps.
        schedule: after it: ``linear`` decay to 0, or by the ``inverse-sqrt`` of the steps.
        betas: AdamW's decay rates.
        weight_decay: on matrices.
        clip: largest norm of a gradient.
        seed: of everything.
    """

    corpora: Annotated[dict[str, str], Field(min_length=1)]
    separate: str | None = None
    dictionaries: dict[str, str] = {}
    extra_anchors: ExtraAnchors | None = None
    validation: Validation | None = None
    exponent: Annotated[float, Field(ge=0, le=1)] = 0.7
    vocabulary: Vocabulary = Vocabulary()
    shape: Shape = Shape()
    steps: Count = 2000
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
    seed: int = 1

    @property
    def separate_layers(self) -> tuple[int, ...]:
        """The layers of which each language has its own."""
        return parse_layers(self.separate, self.shape.layers) if self.separate else ()

    def between(self, *languages: str) -> "Pretraining":
        """The same of these languages alone.

        Raises:
            RequestError: for a language that there is no text of.
        """
        for language in languages:
            if language not in self.corpora:
                raise RequestError(f"there is no text of {language!r}", hint=suggest(language, self.corpora))
        kept = {pair: name for pair, name in self.dictionaries.items() if set(self.sides(pair)) <= set(languages)}
        corpora = {language: self.corpora[language] for language in languages}
        return replaced(self, {"corpora": corpora, "dictionaries": kept})

    def sides(self, pair: str) -> tuple[str, ...]:
        """The two languages of a dictionary's name, ``en-fr``; none where they are not two of these."""
        known = [(a, b) for a in self.corpora for b in self.corpora if a != b and f"{a}-{b}" == pair]
        return known[0] if known else ()

    @model_validator(mode="after")
    def _fits(self) -> "Pretraining":
        try:
            layers = self.separate_layers
        except EncoderError as error:
            raise ValueError(f"separate: {error}") from None
        if layers and len(self.corpora) < 2:
            raise ValueError("separate parts are a language's own, and there is one language")
        if self.vocabulary.anchors != "joint" and len(self.corpora) < 2:
            raise ValueError(
                f"vocabulary.anchors={self.vocabulary.anchors} is about several languages, and there is one"
            )
        wrong = [language for language in self.corpora if not re.fullmatch(r"[A-Za-z0-9-]+", language)]
        if wrong:
            raise ValueError(f"{wrong[0]!r} is no language tag")
        chosen = self.validation.select if self.validation else None
        if chosen not in (None, "mean", *self.corpora):
            raise ValueError(
                f"validation.select: there is no language {chosen!r} ({suggest(str(chosen), self.corpora)})"
            )
        for pair in self.dictionaries:
            if not self.sides(pair):
                raise ValueError(f"dictionaries: {pair!r} is no pair of the languages, such as en-fr")
        if self.extra_anchors and not self.dictionaries:
            raise ValueError("extra_anchors are words of dictionaries, and there is none")
        return self


def replaced(settings: Pretraining, changes: Mapping[str, Any]) -> Pretraining:
    """Settings with some of them replaced, by dotted names, and validated anew.

    Raises:
        RequestError: when they do not fit.
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
        reasons = (f"{'.'.join(map(str, its['loc']))}: {its['msg']}".removeprefix(": ") for its in error.errors())
        raise RequestError(f"a pretraining of these settings cannot be: {'; '.join(reasons)}") from None
