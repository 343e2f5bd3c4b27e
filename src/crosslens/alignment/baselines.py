"""Baselines of an alignment: how much of it needs no pretraining, no translations, or no mapping."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from crosslens.alignment.rotation import Rotation, fit_rotation
from crosslens.digests import stream_seed
from crosslens.encoders.interventions.one_layer import OnOneLayer
from crosslens.errors import RequestError, suggest
from crosslens.results.cells import Row, condition_of

Mapping = Literal["procrustes", "identity"]
"""How two spaces are brought together: by an orthogonal mapping learnt from pairs, or not at all."""

Baseline = Literal["untrained", "shuffled", "identity"]
"""Re-initialised encoders, a mapping learnt from pairs that are no translations, no mapping."""

BASELINES: tuple[Baseline, ...] = get_args(Baseline)

SHUFFLED = "procrustes_shuffled"
"""The name of a mapping that was learnt from shuffled pairs."""

LEVELS = ("words", "sentences")
"""What is retrieved; the first word of a measure."""

_MAPPINGS = {f"{level} {name}": name for level in LEVELS for name in ("procrustes", SHUFFLED, "identity")}


@dataclass(frozen=True, slots=True, eq=False)
class NamedRotation:
    """A rotation and what records call it.

    Attributes:
        name: ``procrustes``, ``procrustes_shuffled`` or ``identity``.
        seed: random seed of the shuffled pairs; None: nothing was random.
        rotation: of the first space into the second.
    """

    name: str
    seed: int | None
    rotation: Rotation


def choose_baselines(names: Sequence[str], *, mapping: Mapping) -> tuple[Baseline, ...]:
    """The baselines of this mapping, in the order of `BASELINES`.

    Without a mapping there are no pairs to shuffle and nothing to leave out: only ``untrained`` remains.

    Args:
        names: `BASELINES` or some of them.
        mapping: of the measurement itself.

    Raises:
        RequestError: for an unknown baseline.
    """
    for name in names:
        if name not in BASELINES:
            raise RequestError(f"there is no baseline {name!r}", hint=suggest(name, BASELINES))
    return tuple(name for name in BASELINES if name in names and (mapping == "procrustes" or name == "untrained"))


def fit_rotations(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    mapping: Mapping = "procrustes",
    baselines: Sequence[Baseline] = (),
    seeds: Sequence[int] = (1,),
) -> list[NamedRotation]:
    """The rotation that was asked for, and behind it those of its baselines.

    Args:
        X: ``(n, width)``, rows of the first space.
        Y: ``(n, width)``, the rows that they belong to.
        mapping: ``identity``: both sides are normalised, and nothing is rotated.
        baselines: of `choose_baselines`; ``untrained`` is another encoder, and no rotation.
        seeds: each shuffles the pairs once.

    Raises:
        RequestError: as `fit_rotation`.
    """
    fitted = fit_rotation(X, Y)
    identity = NamedRotation("identity", None, replace(fitted, matrix=np.eye(len(fitted.matrix))))
    if mapping == "identity":
        return [identity]
    rotations = [NamedRotation("procrustes", None, fitted)]
    if "shuffled" in baselines:
        rows = np.asarray(X)
        rotations += [
            NamedRotation(SHUFFLED, seed, fit_rotation(rows[_shuffled(len(rows), seed)], Y)) for seed in seeds
        ]
    return [*rotations, identity] if "identity" in baselines else rotations


def _shuffled(count: int, seed: int) -> np.ndarray:
    """An order of so many rows: the same one in every layer."""
    return np.random.default_rng(stream_seed(seed, "shuffled pairs", count)).permutation(count)


def baseline_of(record: Row, *, mapping: Mapping = "procrustes") -> Baseline | None:
    """Which baseline a record is; None: the measurement itself.

    Args:
        record: of words, of sentences, or of transfer.
        mapping: of the measurement.
    """
    condition = condition_of(record["condition"])
    if record["depth"] is not None and condition.is_untrained(record["depth"]):
        return "untrained"
    tower = condition.find(OnOneLayer)
    name = tower.mapped_by if tower else _MAPPINGS.get(record["measure"])
    if name == SHUFFLED:
        return "shuffled"
    return "identity" if name == "identity" != mapping else None
