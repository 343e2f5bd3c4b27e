"""Registry of similarity measures, with the properties that each guarantees and tests check."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, get_args

from crosslens.encoders.options import Pooling
from crosslens.errors import RequestError, require_known, suggest
from crosslens.plugins import Registry
from crosslens.similarity.cca import pwcca, svcca
from crosslens.similarity.cka import Centred, debiased_cka, length_matched_cka, linear_cka, shuffled_cka
from crosslens.similarity.neurons import anc
from crosslens.similarity.procrustes import procrustes
from crosslens.similarity.rbf import muller2021_code_cka, rbf_cka
from crosslens.similarity.retrieval import cosine, mexa, retrieval, retrieval_csls
from crosslens.similarity.rsa import rsa
from crosslens.similarity.sampling import length_matched, shuffled

ALL = frozenset({"rotation", "scaling", "translation"})


@dataclass(frozen=True, slots=True)
class Measure:
    """Similarity measure of two representations of the same sentences; higher means more similar.

    Attributes:
        compute: function of two centred representations, ``(n, d)`` and ``(n, e)``, with one row per sentence in the
            same order. It refuses different numbers of rows.
        invariant: transformations of one side that leave the value unchanged: ``rotation``, ``scaling``,
            ``translation``.
        low: smallest value.
        high: largest value.
        bounded: whether all values lie within these limits; an unbiased estimate may exceed them.
        equal: value for identical sides; None if it depends on them.
        symmetric: whether swapping the sides leaves the value unchanged.
        ordered: whether the value depends on the order of the sentences.
        same_width: whether both sides must have the same width.
        pooling: required pooling; None for any.
        fewest: minimum number of items; any two sets of two items are equal up to rotation and scaling.
        baseline_of: measure for which this is the baseline; None if it is not a baseline.
    """

    compute: Callable[[Centred, Centred], float]
    invariant: frozenset[str] = ALL
    low: float = 0.0
    high: float = 1.0
    bounded: bool = True
    equal: float | None = 1.0
    symmetric: bool = True
    ordered: bool = False
    same_width: bool = False
    pooling: Pooling | None = None
    fewest: int = 3
    baseline_of: str | None = None

    @property
    def about(self) -> str:
        """One-line description."""
        return (self.compute.__doc__ or "").splitlines()[0]


_ALL: dict[str, Measure] = {
    "cka": Measure(linear_cka),
    "cka_debiased": Measure(debiased_cka, low=-1.0, bounded=False, fewest=4),
    "cka_shuffled": Measure(shuffled_cka, equal=None, baseline_of="cka"),
    "cka_length_matched": Measure(length_matched_cka, equal=None, symmetric=False, ordered=True, baseline_of="cka"),
    "cka_rbf": Measure(rbf_cka),
    "cka=muller2021-code": Measure(muller2021_code_cka, ordered=True, pooling="muller2021-code", fewest=8),
    "procrustes": Measure(procrustes),
    "svcca": Measure(svcca),
    "pwcca": Measure(pwcca, frozenset({"scaling", "translation"}), symmetric=False),
    "rsa": Measure(rsa, low=-1.0),
    "retrieval": Measure(retrieval, frozenset({"scaling", "translation"}), same_width=True),
    "retrieval_csls": Measure(retrieval_csls, frozenset({"scaling", "translation"}), equal=None, same_width=True),
    "mexa": Measure(mexa, frozenset({"scaling"}), same_width=True),
    "cosine": Measure(cosine, frozenset({"scaling"}), low=-2.0, high=2.0, equal=None, same_width=True),
    "anc": Measure(anc, frozenset({"scaling", "translation"}), low=-1.0, same_width=True),
}
MEASURES: Registry[Measure] = Registry("measure", _ALL, contracts=(Measure,))
"""Measures by name: built-in ones and plug-ins from the entry points ``crosslens.measures``."""

DEFAULT_MEASURES = ("cka", "cka_debiased", "cka_shuffled", "cka_length_matched")
"""Default measures: CKA as in the papers, debiased CKA, and the two baselines of CKA."""

BASELINES = {"shuffled": shuffled, "length_matched": length_matched}
"""Suffix of a measure's name -> baseline by sampling, for measures without a closed form."""

Baseline = Literal["shuffled", "length-matched", "untrained"]
"""Baselines of a measure: unrelated sentences, unrelated sentences of similar length, or an untrained encoder."""


def choose_measures(
    measures: str | Sequence[str] | None = None, baselines: Baseline | Sequence[Baseline] = ()
) -> dict[str, Measure]:
    """Choose measures by name, followed by their baselines.

    Args:
        measures: names; None for the default measures.
        baselines: baselines; ``untrained`` adds no measure, because it is another encoder.

    Returns:
        Name -> measure.

    Raises:
        RequestError: for an unknown measure or baseline.
    """
    measures = [measures] if isinstance(measures, str) else measures
    baselines = [baselines] if isinstance(baselines, str) else baselines
    for baseline in baselines:
        require_known(baseline, get_args(Baseline), "there is no baseline")
    names = measures or (("cka", "cka_debiased") if baselines else DEFAULT_MEASURES)
    chosen = {name: find_measure(name) for name in names}
    suffixes = [baseline.replace("-", "_") for baseline in baselines if baseline != "untrained"]
    suffixed = [
        f"{name}_{suffix}" for name, measure in chosen.items() if measure.baseline_of is None for suffix in suffixes
    ]
    return chosen | {name: find_measure(name) for name in suffixed}


def find_measure(name: str) -> Measure:
    """Find a measure by name; the suffix ``_shuffled`` or ``_length_matched`` gives its baseline.

    Raises:
        RequestError: for an unknown name.
    """
    if name in MEASURES:
        return MEASURES[name]
    for suffix, sample in BASELINES.items():
        measure = MEASURES.get(name.removesuffix(f"_{suffix}"))
        if measure is not None and measure.baseline_of is None:
            return replace(
                measure,
                compute=partial(sample, measure.compute),
                equal=None,
                symmetric=False,
                ordered=True,
                baseline_of=name.removesuffix(f"_{suffix}"),
            )
    raise RequestError(f"there is no measure {name!r}", hint=suggest(name, MEASURES))
