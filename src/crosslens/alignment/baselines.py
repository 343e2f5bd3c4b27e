"""Baselines for alignment: untrained encoders, a mapping learnt from shuffled pairs, and no mapping."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from crosslens.alignment.rotation import Rotation, fit_rotation
from crosslens.digests import stream_seed
from crosslens.encoders.interventions.one_layer import OnOneLayer
from crosslens.errors import require_known
from crosslens.results.cells import Row, condition_of

Mapping = Literal["procrustes", "identity"]
"""Orthogonal mapping between two spaces, or none (``identity``)."""

Baseline = Literal["untrained", "shuffled", "identity"]
"""Re-initialised encoders, a mapping learnt from shuffled pairs, or no mapping."""

BASELINES: tuple[Baseline, ...] = get_args(Baseline)

SHUFFLED = "procrustes_shuffled"
"""Name of a mapping learnt from shuffled pairs."""

LEVELS = ("words", "sentences")
"""Retrieved units; the first word of a measure's name."""

_MAPPINGS = {f"{level} {name}": name for level in LEVELS for name in ("procrustes", SHUFFLED, "identity")}


@dataclass(frozen=True, slots=True, eq=False)
class NamedRotation:
    """A rotation and its name in records.

    Attributes:
        name: ``procrustes``, ``procrustes_shuffled`` or ``identity``.
        seed: random seed of shuffled pairs; None: no randomness.
        rotation: rotation of the first space into the second.
    """

    name: str
    seed: int | None
    rotation: Rotation


def choose_baselines(names: str | Sequence[str], *, mapping: Mapping) -> tuple[Baseline, ...]:
    """Select the baselines that apply to a mapping, in the order of `BASELINES`.

    Without a mapping, only ``untrained`` applies.

    Raises:
        RequestError: for an unknown baseline or mapping.

    >>> choose_baselines(["identity", "untrained"], mapping="procrustes")
    ('untrained', 'identity')
    >>> choose_baselines(["identity", "untrained"], mapping="identity")
    ('untrained',)
    """
    require_known(mapping, get_args(Mapping), "unknown mapping")
    names = [names] if isinstance(names, str) else names
    for name in names:
        require_known(name, BASELINES, "there is no baseline")
    return tuple(name for name in BASELINES if name in names and (mapping == "procrustes" or name == "untrained"))


def fit_rotations(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    mapping: Mapping = "procrustes",
    baselines: Sequence[Baseline] = (),
    seeds: Sequence[int] = (1,),
) -> list[NamedRotation]:
    """Fit a rotation and the rotations of its baselines.

    Args:
        X: ``(n, width)`` rows of the first space.
        Y: ``(n, width)`` corresponding rows of the second space.
        mapping: ``procrustes``, or ``identity`` to normalise both spaces without a rotation.
        baselines: from `choose_baselines`; ``untrained`` needs other encoders and is ignored here.
        seeds: random seeds, each of which shuffles the pairs once.

    Returns:
        The rotation, followed by those of the baselines.

    Raises:
        RequestError: see `fit_rotation`.
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
    """Random permutation of row numbers, the same in every layer."""
    return np.random.default_rng(stream_seed(seed, "shuffled pairs", count)).permutation(count)


def baseline_of(record: Row, *, mapping: Mapping = "procrustes") -> Baseline | None:
    """Identify the baseline that a record belongs to; None: the measurement itself.

    Args:
        record: record of word translation, sentence retrieval or transfer.
    """
    condition = condition_of(record["condition"])
    if record["depth"] is not None and condition.is_untrained(record["depth"]):
        return "untrained"
    change = condition.find(OnOneLayer)
    name = change.mapped_by if change else _MAPPINGS.get(record["measure"])
    if name == SHUFFLED:
        return "shuffled"
    return "identity" if name == "identity" != mapping else None
