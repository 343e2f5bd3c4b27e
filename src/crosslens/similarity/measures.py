"""Similarity measures by name, with the properties that each guarantees; tests check every one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, get_args

from crosslens.encoders.options import Pooling
from crosslens.errors import RequestError, suggest
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
    """A measure of how alike two representations of the same sentences are; higher is more alike.

    Attributes:
        compute: of two prepared sides.
        invariant: what may be done to either side alone without changing the value: ``rotation``, ``scaling``,
            ``translation``.
        low: its smallest value.
        high: its largest value.
        bounded: whether no value lies beyond them; an unbiased estimate may.
        equal: its value for X and X; None: it depends on X.
        symmetric: whether the sides may change places.
        ordered: whether the order of the sentences counts.
        same_width: whether both sides must have vectors of one width.
        pooling: the pooling that it is defined on; None: any.
        null_of: the measure whose value for unrelated sentences this is.
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
    null_of: str | None = None

    @property
    def about(self) -> str:
        """One-line description."""
        return (self.compute.__doc__ or "").splitlines()[0]


_ALL: dict[str, Measure] = {
    "cka": Measure(linear_cka),
    "cka_debiased": Measure(debiased_cka, low=-1.0, bounded=False),
    "cka_shuffled": Measure(shuffled_cka, equal=None, null_of="cka"),
    "cka_length_matched": Measure(length_matched_cka, equal=None, symmetric=False, ordered=True, null_of="cka"),
    "cka_rbf": Measure(rbf_cka),
    "cka=muller2021-code": Measure(muller2021_code_cka, ordered=True, pooling="muller2021-code"),
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
"""Name -> measure: the built-in ones, and those of the entry points ``crosslens.measures``."""

DEFAULT_MEASURES = ("cka", "cka_debiased", "cka_shuffled", "cka_length_matched")
"""Default measures: CKA as in the papers, debiased CKA, and the two baselines of CKA."""

CKA = ("cka", "cka_debiased", "cka_rbf", "cka=muller2021-code")
"""The kinds of CKA, without their nulls."""

NULLS = {"shuffled": shuffled, "length_matched": length_matched}
"""Ending of a measure's name -> what it would be for unrelated sentences; where it has no closed form, by sampling."""


Null = Literal["shuffled", "length-matched", "untrained"]
"""Baselines of a measure: unrelated sentences, unrelated sentences of similar length, or an untrained encoder."""


def choose_measures(measures: Sequence[str] | None = None, nulls: Sequence[Null] = ()) -> dict[str, Measure]:
    """The measures of a comparison by their names, the nulls of each behind all of them.

    Args:
        measures: names; None: the default ones.
        nulls: which nulls; ``untrained`` is another encoder, not a measure.

    Raises:
        RequestError: for an unknown measure or null.
    """
    for null in nulls:
        if null not in get_args(Null):
            raise RequestError(f"there is no baseline {null!r}", hint=suggest(null, get_args(Null)))
    names = measures or (("cka", "cka_debiased") if nulls else DEFAULT_MEASURES)
    chosen = {name: find_measure(name) for name in names}
    endings = [null.replace("-", "_") for null in nulls if null != "untrained"]
    sampled = [f"{name}_{end}" for name, measure in chosen.items() if measure.null_of is None for end in endings]
    return chosen | {name: find_measure(name) for name in sampled}


def find_measure(name: str) -> Measure:
    """A measure by its name; with ``_shuffled`` or ``_length_matched`` behind it, its null.

    Raises:
        RequestError: when there is none.
    """
    if name in MEASURES:
        return MEASURES[name]
    for ending, sample in NULLS.items():
        measure = MEASURES.get(name.removesuffix(f"_{ending}"))
        if measure is not None and measure.null_of is None:
            return replace(
                measure,
                compute=partial(sample, measure.compute),
                equal=None,
                symmetric=False,
                ordered=True,
                null_of=name.removesuffix(f"_{ending}"),
            )
    raise RequestError(f"there is no measure {name!r}", hint=suggest(name, MEASURES))
