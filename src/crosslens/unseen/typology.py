"""Classification of unseen languages as easy, intermediate or hard (Muller 2022).

A language is easy if the encoder beats a network without pretraining, intermediate if it does so only after adaptation
to raw text, and hard if neither holds. The slides compare means. Here, comparisons are tested over seeds and sentences,
and the language is undecided if a decisive test is not significant. A single seed allows no test, and no class.
"""

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal

import langcodes
import numpy as np

from crosslens.data.language_families import bare_language, known_language
from crosslens.scores.intervals import LEVEL, Estimate, q_values
from crosslens.scores.unpaired import sample_of

if TYPE_CHECKING:
    import pandas

Class = Literal["easy", "intermediate", "hard", "undecided"]

BySeed = Mapping[int, Any]
"""Seed -> ``(sentences,)`` contributions in points (`crosslens.scores.intervals.linearised`), or the score alone
(`crosslens.scores.unpaired.Unpaired`)."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Task and data of a measurement.

    Attributes:
        corpus: test data.
    """

    task: str
    train: str
    corpus: str


@dataclass(frozen=True, slots=True, eq=False)
class Measurements:
    """Scores of one cell.

    Attributes:
        encoder: encoder fine-tuned without adaptation.
        adapted: encoder fine-tuned after adaptation to raw text; None: not measured.
        baseline: network without pretraining, trained on the same data.
        scratch: monolingual encoder pretrained on the same raw text; None: not measured. It does not affect the class.
    """

    encoder: BySeed
    adapted: BySeed | None
    baseline: BySeed
    scratch: BySeed | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """A language as described in the slides.

    Attributes:
        code: its ISO code in the slides.
        script: main script.
        sentences: number of sentences of raw text: ``297K``.
        published: class that the slides name, or "".
    """

    name: str
    code: str
    script: str
    family: str
    sentences: str
    published: str


@cache
def known_languages() -> dict[str, Known]:
    """The languages of the slides, by their tags. The slides say 17 languages and list 15."""
    file = resources.files("crosslens.unseen") / "languages.csv"
    lines = [line for line in file.read_text("utf-8").splitlines() if not line.startswith("#")]
    return {row.pop("tag"): Known(row.pop("name"), published=row.pop("class"), **row) for row in csv.DictReader(lines)}


def language_name(tag: str) -> str:
    """Name of a language as the slides call it, or else its English name; of an unknown one, its tag.

    >>> language_name("ug-Latn"), language_name("sme"), language_name("a language of mine")
    ('Uyghur', 'Northern Sami', 'a language of mine')
    """
    valid = bool(tag) and langcodes.tag_is_valid(tag)
    known = (known_languages().get(bare_language(tag)) if valid else None) or known_language(tag)
    return known.name if known else tag


def difference(scores: BySeed, baseline: BySeed) -> Estimate | None:
    """Estimate the difference to the baseline, paired by seed, and by sentence where sentences are known; None without
    a common seed.
    """
    seeds = sorted(scores.keys() & baseline.keys())
    if not seeds:
        return None
    sample = sample_of([scores[seed] - baseline[seed] for seed in seeds])
    if math.isnan(sample.variance):  # nothing is known of the variation over sentences, so there is no test
        mean, unknown = float(sample.scores.mean()), math.nan
        return Estimate(mean, unknown, unknown, unknown, unknown, len(seeds))
    return sample.estimate()


def classify(as_it_is: tuple[float, float], adapted: tuple[float, float] | None) -> Class | None:
    """Classify a language; None without a test.

    Args:
        as_it_is: difference of the encoder to the baseline in points, and its p-value; NaN: no test.
        adapted: the same for the adapted encoder; None: not measured.

    >>> classify((12.0, 0.001), None), classify((-3.0, 0.01), (4.0, 0.02)), classify((1.0, 0.4), None)
    ('easy', 'intermediate', 'undecided')
    """
    better, p = as_it_is
    if math.isnan(p):
        return None
    if p >= LEVEL:
        return "undecided"
    if better > 0:
        return "easy"
    if adapted is None or not adapted[1] < LEVEL:
        return "undecided"
    return "intermediate" if adapted[0] > 0 else "hard"


def typology(cells: Mapping[Cell, Measurements]) -> "pandas.DataFrame":
    """Tabulate cells: means in points over common seeds, differences to the baseline with q-values, and the class.

    ``class`` uses tests corrected over the table (`crosslens.scores.intervals.q_values`). ``by means`` is the slides'
    rule, undecided only where the encoder is not better and no adapted one was measured. With fewer than two common
    seeds, both are empty. ``other seeds`` names the models whose means are over other seeds than those of the encoder,
    with the number of theirs.
    """
    import pandas as pd

    tests = [
        (difference(each.encoder, each.baseline), difference(each.adapted, each.baseline) if each.adapted else None)
        for each in cells.values()
    ]
    q = iter(q_values(np.array([test.p if test else math.nan for pair in tests for test in pair])))
    rows = []
    for (cell, scores), (as_it_is, adapted) in zip(cells.items(), tests, strict=True):
        q_as_it_is, q_adapted = float(next(q)), float(next(q))
        first = (as_it_is.mean, q_as_it_is) if as_it_is else (math.nan, math.nan)
        second = (adapted.mean, q_adapted) if adapted else None
        rows.append(
            {
                "task": cell.task,
                "train": cell.train,
                "corpus": cell.corpus,
                "encoder": _mean(scores.encoder, scores.baseline),
                "adapted": _mean(scores.adapted, scores.baseline),
                "from scratch": _mean(scores.scratch),
                "BiLSTM": _mean(scores.baseline, scores.encoder),
                "encoder - BiLSTM": first[0],
                "q": q_as_it_is,
                "adapted - BiLSTM": second and second[0],
                "q adapted": q_adapted,
                "seeds": as_it_is.seeds if as_it_is else 0,
                "other seeds": _other_seeds(scores),
                "class": classify(first, second),
                "by means": classify(_untested(first), _untested(second) if second else None),
            }
        )
    return pd.DataFrame(rows)


def _untested(tested: tuple[float, float]) -> tuple[float, float]:
    """A difference as if it were certain; without a test it stays without one."""
    mean, q = tested
    return mean, q if math.isnan(q) else 0.0


def _mean(scores: BySeed | None, compared: BySeed | None = None) -> float | None:
    """Mean over the seeds that both have; over all without ``compared``, or without a common seed."""
    if not scores:
        return None
    return float(np.mean([scores[seed].mean() for seed in _averaged(scores, compared)]))


def _averaged(scores: BySeed, compared: BySeed | None) -> list[int]:
    """The seeds of `_mean`."""
    return [seed for seed in scores if compared is None or seed in compared] or list(scores)


def _other_seeds(scores: Measurements) -> str:
    """The models whose means are over other seeds than those of the encoder: ``adapted 2, from scratch 1``."""
    others = {
        "adapted": scores.adapted and _averaged(scores.adapted, scores.baseline),
        "from scratch": scores.scratch and _averaged(scores.scratch, None),
        "BiLSTM": _averaged(scores.baseline, scores.encoder),
    }
    own = set(_averaged(scores.encoder, scores.baseline))
    return ", ".join(f"{name} {len(seeds)}" for name, seeds in others.items() if seeds and set(seeds) != own)
