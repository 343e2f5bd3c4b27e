"""Prediction of zero-shot scores by a rule fitted to measured transfer, with its cross-validated errors.

The rule is a ridge regression (Hoerl & Kennard 1970) of zero-shot scores on `FEATURES`, with a constant per source. It
applies to text in its original script; fitting it to transliterated text as well made it worse. Errors are from
leave-one-language-out cross-validation. Intervals of means resample languages (`bootstrap_interval`). The interval of
an estimate is the quantile of the cross-validated absolute errors, with the finite-sample correction of conformal
prediction (Vovk et al. 2005; from leave-one-out errors as in Barber et al. 2021).
"""

import csv
import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import numpy as np

from crosslens.data.formats.lines import BYTE_ORDER_MARK, read_text
from crosslens.data.language_families import macrolanguage
from crosslens.errors import DataError
from crosslens.scores import bootstrap_interval
from crosslens.unseen.evidence import FEATURES

PENALTY = 10.0
"""Ridge penalty on standardised features."""

LEVEL = 0.9
"""Share of languages whose score the interval of an estimate should cover."""

BEYOND = 0.1
"""How far beyond the fitted range a feature may lie, as a share of that range."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One measured transfer.

    Attributes:
        language: target language, without its script.
        corpus: evaluated corpus.
        score: zero-shot score in points.
        features: `FEATURES` of the corpus and the source.
        adapted: score after the encoder was adapted to raw text of the language; None if that was not measured.
    """

    language: str
    corpus: str
    source: str
    score: float
    features: tuple[float, ...]
    adapted: float | None = None


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a rule was fitted.

    Attributes:
        body: `Encoder.body_digest`, by which the encoder is recognised; "" if unknown.
        task: task whose scores were measured.
        training: how the measured models were trained and evaluated, in a few words.
        kept_apart: languages, with blanks between, that were not looked at when the features were chosen.
        vocabulary: number of subwords of the vocabulary that split the text for the features; "" if unknown.
    """

    encoder: str = ""
    body: str = ""
    task: str = ""
    training: str = ""
    kept_apart: str = ""
    vocabulary: str = ""


class Mean(NamedTuple):
    """A mean in points with its 95 % confidence interval over languages."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Choice:
    """The choice of a source for one corpus, made without its language.

    Attributes:
        chosen: transfer from the source with the highest expected score.
        best: transfer from the source with the highest measured score.
        default: transfer from the default source.
    """

    chosen: Measured
    best: Measured
    default: Measured

    @property
    def regret(self) -> float:
        """Points between the best source and the chosen one."""
        return self.best.score - self.chosen.score

    @property
    def default_regret(self) -> float:
        """Points between the best source and the default one."""
        return self.best.score - self.default.score


def choices_among(rows: Sequence[Measured], expected: Iterable[float], *, default: str) -> tuple[Choice, ...]:
    """The choice for each corpus that was measured from several sources, the default one among them."""
    by_corpus: dict[str, list[tuple[Measured, float]]] = {}
    for row, score in zip(rows, expected, strict=True):
        by_corpus.setdefault(row.corpus, []).append((row, score))
    choices = []
    for candidates in by_corpus.values():
        usual = next((row for row, _ in candidates if row.source == default), None)
        if len(candidates) > 1 and usual is not None:
            chosen = max(candidates, key=lambda candidate: candidate[1])[0]
            choices.append(Choice(chosen, max((row for row, _ in candidates), key=lambda row: row.score), usual))
    return tuple(choices)


def constant_guess(measured: Iterable[Measured], row: Measured) -> float:
    """The mean score of other languages from the same source; from any source if there are none."""
    others = [other for other in measured if other.language != row.language]
    alike = [other for other in others if other.source == row.source]
    return float(np.mean([other.score for other in alike or others]))


@dataclass(frozen=True, eq=False)
class Rule:
    """A rule that predicts zero-shot scores, with its provenance and cross-validated errors.

    Attributes:
        measured: transfer that the rule is fitted to; the source of the first row is the default source.
    """

    measured: tuple[Measured, ...]
    provenance: Provenance = Provenance()

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """Languages that the rule is fitted to."""
        return tuple(sorted({row.language for row in self.measured}))

    @cached_property
    def treebanks(self) -> tuple[str, ...]:
        """Corpora that the rule is fitted to."""
        return tuple(sorted({row.corpus for row in self.measured}))

    @property
    def kept_apart(self) -> tuple[str, ...]:
        """Measured languages on which no choice of the rule was based."""
        named = self.provenance.kept_apart.split()
        return tuple(language for language in self.languages if language in named)

    @property
    def about(self) -> str:
        """Where the rule was fitted, as part of a sentence."""
        fitted = self.provenance
        return (
            f"{fitted.task or 'zero-shot'} scores of {fitted.encoder or 'an encoder that it does not name'}"
            f"{f' ({fitted.training})' if fitted.training else ''}: sources {', '.join(self.sources)};"
            f" {len(self.treebanks)} treebanks of {len(self.languages)} languages: {', '.join(self.languages)}"
        )

    def without(self, languages: Collection[str], corpus: str = "") -> "Rule":
        """The rule fitted without languages, and without a corpus in any of its splits.

        ``pes`` leaves out ``fa`` too, its macrolanguage, because a treebank may have either tag.
        """
        bare, left_out = _bare(corpus), set(map(macrolanguage, languages))
        rows = tuple(
            row for row in self.measured if macrolanguage(row.language) not in left_out and _bare(row.corpus) != bare
        )
        return self if len(rows) == len(self.measured) else replace(self, measured=rows)

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """Sources that the rule is fitted to, the default source first."""
        return tuple(dict.fromkeys(row.source for row in self.measured))

    def outside(self, features: Sequence[float] | np.ndarray, source: str) -> list[str]:
        """Describe the features, or the source, that lie outside the fitted range."""
        fitted = np.asarray([row.features for row in self.measured], float)
        low, high = fitted.min(0), fitted.max(0)
        margin = BEYOND * (high - low)
        return [
            *([] if source in self.sources else [f"source {source} (fitted to {', '.join(self.sources)})"]),
            *(
                f"{name} {value:.1f} (fitted from {low[i]:.1f} to {high[i]:.1f})"
                for i, (name, value) in enumerate(zip(FEATURES, features, strict=True))
                if not low[i] - margin[i] <= value <= high[i] + margin[i]
            ),
        ]

    def _fit(self, left_out: str | None = None) -> "_Ridge":
        """Fit the regression without a language."""
        rows = [row for row in self.measured if row.language != left_out]
        return _Ridge.fit(
            np.asarray([self._inputs(row.features, row.source) for row in rows], float),
            np.asarray([row.score for row in rows], float),
        )

    def _inputs(self, features: Sequence[float] | np.ndarray, source: str) -> np.ndarray:
        """Inputs of the regression: features and a one-hot source."""
        return np.asarray([*features, *(source == name for name in self.sources)], float)

    @cached_property
    def _ridge(self) -> "_Ridge":
        return self._fit()

    def expected(self, features: Sequence[float] | np.ndarray, source: str) -> float:
        """Expected score in points, between 0 and 100."""
        return self._ridge.expected(self._inputs(features, source))

    @cached_property
    def held_out(self) -> tuple[float, ...]:
        """Expected score of each measured transfer, by the rule fitted without its language."""
        without = {language: self._fit(language) for language in self.languages}
        return tuple(without[row.language].expected(self._inputs(row.features, row.source)) for row in self.measured)

    @cached_property
    def errors(self) -> np.ndarray:
        """``(measured,)``: absolute error of each expected score on languages left out, in points."""
        return np.abs(np.asarray([row.score for row in self.measured]) - self.held_out)

    @property
    def error(self) -> Mean:
        """Mean absolute error on languages left out."""
        return mean_over_languages(zip(self.measured, self.errors, strict=True))

    @property
    def constant_error(self) -> Mean:
        """Mean absolute error of `constant_guess`."""
        guesses = ((row, constant_guess(self.measured, row)) for row in self.measured)
        return mean_over_languages((row, abs(row.score - guess)) for row, guess in guesses)

    @cached_property
    def half_width(self) -> float:
        """Points on either side of an estimate that cover `LEVEL` of the languages left out, each weighing the same."""
        counts = {language: sum(row.language == language for row in self.measured) for language in self.languages}
        weights = np.asarray([1 / counts[row.language] for row in self.measured])
        order = np.argsort(self.errors)
        reached = np.cumsum(weights[order])
        needed = min(LEVEL * (len(self.languages) + 1), len(self.languages))
        return float(self.errors[order][np.searchsorted(reached, needed - 1e-9)])

    @cached_property
    def choices(self) -> tuple[Choice, ...]:
        """The choices on languages left out."""
        return choices_among(self.measured, self.held_out, default=next(iter(self.sources), ""))

    @property
    def regret(self) -> Mean:
        """Points between the best source and the chosen one, on languages left out."""
        return mean_over_languages((choice.best, choice.regret) for choice in self.choices)

    @property
    def default_regret(self) -> Mean:
        """Points between the best source and the default one."""
        return mean_over_languages((choice.best, choice.default_regret) for choice in self.choices)

    @property
    def choice_gain(self) -> Mean:
        """Points that the chosen source scores above the default one, on languages left out."""
        return mean_over_languages((choice.best, choice.chosen.score - choice.default.score) for choice in self.choices)

    @property
    def can_choose(self) -> bool:
        """Whether choosing gains measurably over the default: the whole interval of `choice_gain` is above 0."""
        return self.choice_gain.low > 0

    @property
    def gains(self) -> tuple[tuple[str, float, float], ...]:
        """Languages with adaptation to raw text, the score before, and after; means over sources and corpora."""
        by_language: dict[str, list[tuple[float, float]]] = {}
        for row in self.measured:
            if row.adapted is not None:
                by_language.setdefault(row.language, []).append((row.score, row.adapted))
        means = {language: np.mean(scores, axis=0) for language, scores in by_language.items()}
        return tuple((language, float(before), float(after)) for language, (before, after) in means.items())


def mean_over_languages(values: Iterable[tuple[Measured, float]]) -> Mean:
    """Mean of values in points, one a row, with a 95 % bootstrap interval that resamples languages; 0 without a row.

    Fewer than two languages have an interval without ends.
    """
    by_language: dict[str, list[float]] = {}
    for row, value in values:
        by_language.setdefault(row.language, []).append(float(value))
    totals = np.asarray([sum(of_one) for of_one in by_language.values()])
    counts = np.asarray([len(of_one) for of_one in by_language.values()])
    low, high = bootstrap_interval(totals / 100, counts) or (-math.inf, math.inf)
    return Mean(float(totals.sum() / max(counts.sum(), 1)), low, high)


def _bare(corpus: str) -> str:
    return corpus.partition(":")[0].partition("[")[0].partition("@")[0]


@dataclass(frozen=True, slots=True, eq=False)
class _Ridge:
    """A ridge regression on standardised inputs."""

    mean: np.ndarray
    scale: np.ndarray
    intercept: float
    slopes: np.ndarray

    @classmethod
    def fit(cls, x: np.ndarray, y: np.ndarray) -> "_Ridge":
        mean, scale = x.mean(0), np.where(x.std(0) > 0, x.std(0), 1.0)
        z = (x - mean) / scale
        slopes = np.linalg.solve(z.T @ z + PENALTY * np.eye(x.shape[1]), z.T @ (y - y.mean()))
        return cls(mean, scale, float(y.mean()), slopes)

    def expected(self, inputs: np.ndarray) -> float:
        return float(np.clip(self.intercept + (inputs - self.mean) / self.scale @ self.slopes, 0.0, 100.0))


COLUMNS = ("language", "corpus", "source", "score", "adapted", *FEATURES)
FORMER_NAMES = {"characters a piece": "characters per subword"}
"""Former name of a column, which files of rules may have -> its name."""


def read_rule(path: str | Path | None = None) -> Rule:
    """Read a rule from a file of measured transfer; None reads the shipped one.

    Raises:
        DataError: for a missing or malformed file, or one with fewer than three languages.
    """
    file = Path(str(resources.files("crosslens.unseen") / "measured.csv")) if path is None else Path(path)
    lines = read_text(file).removeprefix(BYTE_ORDER_MARK).splitlines()
    header = dict(line.removeprefix("# ").split(": ", 1) for line in lines if line.startswith("# ") and ": " in line)
    known = {field.name for field in fields(Provenance)}
    provenance = Provenance(**{name: value for name, value in header.items() if name in known})
    numbers = [number for number, line in enumerate(lines, start=1) if not line.startswith("# ")]
    rows = csv.DictReader(lines[number - 1] for number in numbers)
    rows.fieldnames = [FORMER_NAMES.get(name, name) for name in rows.fieldnames or ()]
    if tuple(rows.fieldnames) != COLUMNS:
        raise DataError("wrong columns for measured transfer", file=str(file), hint=f"expected {', '.join(COLUMNS)}")
    measured = []
    for row in rows:
        try:
            features = tuple(_number(row[name]) for name in FEATURES)
            adapted = _number(row["adapted"]) if row["adapted"] else None
            names = (row["language"], row["corpus"], row["source"])
            measured.append(Measured(*names, _number(row["score"]), features, adapted))
        except (ValueError, TypeError) as error:  # TypeError: a row that ends early
            line = numbers[rows.line_num - 1]
            raise DataError(f"not a row of measured transfer: {error}", file=str(file), line=line) from None
    rule = Rule(tuple(measured), provenance)
    if len(rule.languages) < 3:
        raise DataError("a rule needs at least three languages", file=str(file))
    return rule


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not a finite number")
    return number


def write_rule(rule: Rule, path: str | Path) -> None:
    """Write a rule in the format of `read_rule`: provenance in comment lines, then the measured transfer."""
    with open(path, "w", encoding="utf-8", newline="") as stream:
        for field in fields(Provenance):
            if value := getattr(rule.provenance, field.name):
                stream.write(f"# {field.name}: {value}\n")
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in rule.measured:
            adapted = "" if row.adapted is None else round(row.adapted, 2)
            features = (round(value, 4) for value in row.features)
            writer.writerow([row.language, row.corpus, row.source, round(row.score, 2), adapted, *features])
