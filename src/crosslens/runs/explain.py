"""Compare a run with the finished runs of a store."""

from collections.abc import Mapping
from typing import Any


def flat(identity: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Flatten nested values to dotted names.

    >>> flat({"seed": 1, "recipe": {"batch": 16}})
    {'seed': 1, 'recipe.batch': 16}
    """
    leaves: dict[str, Any] = {}
    for name, value in identity.items():
        leaves |= flat(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {f"{prefix}{name}": value}
    return leaves


def differences(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the differences of two identities: dotted name -> (value in ``a``, value in ``b``).

    >>> differences({"seed": 1, "recipe": {"batch": 16}}, {"seed": 2, "recipe": {"batch": 16}})
    {'seed': (1, 2)}
    """
    x, y = flat(a), flat(b)
    return {name: (x.get(name), y.get(name)) for name in {**x, **y} if x.get(name) != y.get(name)}


KINDS = {"task": "fine-tuning", "adaptation": "adaptation to raw text", "pretraining": "pretraining"}
"""Key that only identities of one kind of run have -> the kind."""


def kind_of(identity: Mapping[str, Any]) -> str:
    """What a run does.

    >>> kind_of({"encoder": "0123", "condition": {}, "seed": 1})
    'evaluation of an encoder'
    """
    return next((kind for key, kind in KINDS.items() if key in identity), "evaluation of an encoder")


def nearest(
    identity: Mapping[str, Any], finished: Mapping[str, Mapping[str, Any]], *, besides: str | None = None
) -> tuple[str, dict[str, tuple[Any, Any]]] | None:
    """Find the finished run of the same kind with the fewest differences to a run.

    Args:
        identity: identity of the run to explain.
        finished: run id -> identity of each finished run (`crosslens.runs.store.Store.identities`).
        besides: run id to skip.

    Returns:
        The id of the nearest run, and dotted name -> (value of the explained run, value of the nearest run); None
        without finished runs of the kind.
    """
    kind = kind_of(identity)
    alike = {run: other for run, other in finished.items() if run != besides and kind_of(other) == kind}
    different = {run: differences(identity, other) for run, other in alike.items()}
    return min(different.items(), key=lambda neighbour: (len(neighbour[1]), neighbour[0]), default=None)
