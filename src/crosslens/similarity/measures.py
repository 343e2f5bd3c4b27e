"""The measures of similarity by name, and what each promises: tests hold every one of them to it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from crosslens.encoders.pooling import Pooling
from crosslens.errors import RequestError, suggest
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
        equal: its value for X and X; None: it depends on X.
        symmetric: whether the sides may change places.
        same_width: whether both sides must have vectors of one width.
        pooling: the pooling that it is defined on; None: any.
        null_of: the measure whose value for unrelated sentences this is.
    """

    compute: Callable[[Centred, Centred], float]
    invariant: frozenset[str] = ALL
    low: float = 0.0
    high: float = 1.0
    equal: float | None = 1.0
    symmetric: bool = True
    same_width: bool = False
    pooling: Pooling | None = None
    null_of: str | None = None

    @property
    def about(self) -> str:
        """It in a line."""
        return (self.compute.__doc__ or "").splitlines()[0]


MEASURES: Mapping[str, Measure] = {
    "cka": Measure(linear_cka),
    "cka_debiased": Measure(debiased_cka, low=-1.0),
    "cka_shuffled": Measure(shuffled_cka, equal=None, null_of="cka"),
    "cka_length_matched": Measure(length_matched_cka, equal=None, symmetric=False, null_of="cka"),
    "cka_rbf": Measure(rbf_cka),
    "cka=muller2021-code": Measure(muller2021_code_cka, pooling="muller2021-code"),
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

USUAL = ("cka", "cka_debiased", "cka_shuffled", "cka_length_matched")
"""What is computed where nothing else is asked for: the papers' measure, without its bias, and its nulls."""

CKA = ("cka", "cka_debiased", "cka_rbf", "cka=muller2021-code")
"""The kinds of CKA, without their nulls."""

NULLS = {"shuffled": shuffled, "length_matched": length_matched}
"""Ending of a measure's name -> what it would be for unrelated sentences; where it has no closed form, by sampling."""


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
                measure, compute=partial(sample, measure.compute), equal=None, symmetric=False,
                null_of=name.removesuffix(f"_{ending}"),
            )  # fmt: skip
    raise RequestError(f"there is no measure {name!r}", hint=suggest(name, MEASURES))
