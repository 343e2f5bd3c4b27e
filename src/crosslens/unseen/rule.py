"""What transfer may be expected of a text, by a rule that is fitted to transfer that was measured.

A ridge regression (Hoerl & Kennard 1970) of zero-shot accuracy on what an encoder makes of the text. A text in another
script is another text, so one rule says both what to expect of a language as it is written and of it transliterated.
Its error is that of languages that it was not fitted on: each is left out in turn, in all its scripts and corpora.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path

import numpy as np

from crosslens.errors import DataError
from crosslens.unseen.evidence import FEATURES

PENALTY = 1.0
"""On standardised features; of so few, it hardly matters."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Transfer that was measured.

    Attributes:
        language: of the target, without its script: all that is of one language is left out together.
        corpus: that was evaluated on.
        scheme: how it was transliterated; "" where it was not.
        source: the language trained on.
        score: in points.
        features: `FEATURES` of the corpus and the source.
        adapted: the score after the encoder was adapted to raw text of the language; None: not measured.
    """

    language: str
    corpus: str
    scheme: str
    source: str
    score: float
    features: tuple[float, ...]
    adapted: float | None = None


@dataclass(frozen=True, eq=False)
class Rule:
    """A rule, and how wrong it is.

    Attributes:
        measured: what it is fitted to, what was transferred from the usual source first.
        about: what was measured, in a few words.
    """

    measured: tuple[Measured, ...]
    about: str = ""

    @cached_property
    def _weights(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return _fit(self.measured)

    def expected(self, features: Sequence[float] | np.ndarray) -> float:
        """The score to expect, in points, between 0 and 100."""
        return _expected(self._weights, np.asarray(features))

    @cached_property
    def held_out(self) -> tuple[float, ...]:
        """What is expected of each measured transfer by a rule that was fitted to other languages alone."""
        weights = {
            language: _fit([its for its in self.measured if its.language != language])
            for language in {its.language for its in self.measured}
        }
        return tuple(_expected(weights[its.language], np.asarray(its.features)) for its in self.measured)

    @property
    def error(self) -> float:
        """Mean absolute error on languages left out, in points."""
        return float(np.mean([abs(its.score - e) for its, e in zip(self.measured, self.held_out, strict=True)]))

    @property
    def spread(self) -> float:
        """The same of a rule that expects the mean of the other languages whatever the text."""
        languages = {its.language for its in self.measured}
        means = {left: np.mean([its.score for its in self.measured if its.language != left]) for left in languages}
        return float(np.mean([abs(its.score - means[its.language]) for its in self.measured]))

    @cached_property
    def choices(self) -> tuple[tuple[Measured, Measured, Measured], ...]:
        """For each corpus that was measured several ways: what is chosen when the language is left out, what was best,
        and how it is usually done: as it is written, from the source of the first row."""
        found = []
        by_corpus: dict[str, list[tuple[Measured, float]]] = {}
        for its, expected in zip(self.measured, self.held_out, strict=True):
            by_corpus.setdefault(its.corpus, []).append((its, expected))
        for ways in by_corpus.values():
            if len(ways) > 1 and (ways[0][0].scheme, ways[0][0].source) == ("", self.measured[0].source):
                chosen = ways[self.choose([expected for _, expected in ways])][0]
                best = max((its for its, _ in ways), key=lambda its: its.score)
                found.append((chosen, best, ways[0][0]))
        return tuple(found)

    def choose(self, expected: Sequence[float]) -> int:
        """Which way to take: the best expected one, where it is clearly above the usual one, which is the first.

        Clearly: by more than the rule's error.
        """
        best = int(np.argmax(expected))
        return best if expected[best] - expected[0] > self.error else 0

    @property
    def regret(self) -> float:
        """Points that its choice of source and script is below the best one, on languages left out."""
        return float(np.mean([best.score - chosen.score for chosen, best, _ in self.choices])) if self.choices else 0.0

    @property
    def regret_by_default(self) -> float:
        """The same of taking every text as it is written, and the first source."""
        return float(np.mean([best.score - usual.score for _, best, usual in self.choices])) if self.choices else 0.0

    @property
    def gains(self) -> tuple[tuple[str, float, float], ...]:
        """Languages whose raw text the encoder was adapted to, the score before, and after."""
        return tuple((its.language, its.score, its.adapted) for its in self.measured if its.adapted is not None)


def _fit(measured: Sequence[Measured]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean and scale of the features, and the weights behind the intercept."""
    x = np.asarray([its.features for its in measured], float)
    y = np.asarray([its.score for its in measured], float)
    mean, scale = x.mean(0), np.where(x.std(0) > 0, x.std(0), 1.0)
    z = (x - mean) / scale
    slopes = np.linalg.solve(z.T @ z + PENALTY * np.eye(x.shape[1]), z.T @ (y - y.mean()))
    return mean, scale, np.concatenate([[y.mean()], slopes])


def _expected(weights: tuple[np.ndarray, np.ndarray, np.ndarray], features: np.ndarray) -> float:
    mean, scale, its = weights
    return float(np.clip(its[0] + (features - mean) / scale @ its[1:], 0.0, 100.0))


COLUMNS = ("language", "corpus", "scheme", "source", "score", "adapted", *FEATURES)


def read_rule(path: str | Path | None = None) -> Rule:
    """A rule from a file of measured transfer, or the one that is shipped.

    Raises:
        DataError: for a file that is missing, or that is none of that.
    """
    file = Path(str(resources.files("crosslens.unseen") / "measured.csv")) if path is None else Path(path)
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read: {error}", file=str(file)) from None
    about = lines[0].removeprefix("# ") if lines and lines[0].startswith("# ") else ""
    rows = csv.DictReader(line for line in lines if not line.startswith("# "))
    if rows.fieldnames is None or tuple(rows.fieldnames) != COLUMNS:
        raise DataError("has not the columns of measured transfer", file=str(file), hint=", ".join(COLUMNS))
    measured = []
    for row in rows:
        try:
            features = tuple(float(row[name]) for name in FEATURES)
            adapted = float(row["adapted"]) if row["adapted"] else None
            its = (row["language"], row["corpus"], row["scheme"], row["source"])
            measured.append(Measured(*its, float(row["score"]), features, adapted))
        except ValueError as error:
            raise DataError(f"is no measured transfer: {error}", file=str(file), line=rows.line_num) from None
    if len({its.language for its in measured}) < 3:
        raise DataError("has fewer than three languages, and a rule leaves one out", file=str(file))
    return Rule(tuple(measured), about)


def write_rule(rule: Rule, path: str | Path) -> None:
    """Write what a rule is fitted to, so that `read_rule` reads it."""
    with open(path, "w", encoding="utf-8", newline="") as stream:
        if rule.about:
            stream.write(f"# {rule.about}\n")
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        for its in rule.measured:
            adapted = "" if its.adapted is None else round(its.adapted, 2)
            features = (round(value, 4) for value in its.features)
            writer.writerow([its.language, its.corpus, its.scheme, its.source, round(its.score, 2), adapted, *features])
