"""The measures of similarity by name, and what each promises: tests hold every one of them to it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from crosslens.similarity.cca import pwcca, svcca
from crosslens.similarity.cka import Centred, debiased_cka, length_matched_cka, linear_cka, shuffled_cka
from crosslens.similarity.neurons import anc
from crosslens.similarity.procrustes import procrustes
from crosslens.similarity.rbf import rbf_cka
from crosslens.similarity.retrieval import cosine, mexa, retrieval, retrieval_csls
from crosslens.similarity.rsa import rsa

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
        null_of: the measure whose value for unrelated sentences this is.
    """

    compute: Callable[[Centred, Centred], float]
    invariant: frozenset[str] = ALL
    low: float = 0.0
    high: float = 1.0
    equal: float | None = 1.0
    symmetric: bool = True
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
    "procrustes": Measure(procrustes),
    "svcca": Measure(svcca),
    "pwcca": Measure(pwcca, frozenset({"scaling", "translation"}), symmetric=False),
    "rsa": Measure(rsa, low=-1.0),
    "retrieval": Measure(retrieval, frozenset({"scaling", "translation"})),
    "retrieval_csls": Measure(retrieval_csls, frozenset({"scaling", "translation"}), equal=None),
    "mexa": Measure(mexa, frozenset({"scaling"})),
    "cosine": Measure(cosine, frozenset({"scaling"}), low=-2.0, high=2.0, equal=None),
    "anc": Measure(anc, frozenset({"scaling", "translation"}), low=-1.0),
}

USUAL = ("cka", "cka_debiased", "cka_shuffled", "cka_length_matched")
"""What is computed where nothing else is asked for: the papers' measure, without its bias, and its nulls."""
