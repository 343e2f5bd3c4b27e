"""What a run is, and which of the runs that there are it is closest to."""

from collections.abc import Mapping
from typing import Any

from crosslens.runs.store import Store


def flat(identity: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested values by dotted names: ``{"recipe.batch": 16}``."""
    leaves: dict[str, Any] = {}
    for name, value in identity.items():
        leaves |= flat(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {f"{prefix}{name}": value}
    return leaves


def differences(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Where two identities differ: dotted name -> the two values."""
    x, y = flat(a), flat(b)
    return {name: (x.get(name), y.get(name)) for name in {**x, **y} if x.get(name) != y.get(name)}


def nearest(
    identity: Mapping[str, Any], store: Store, *, besides: str | None = None
) -> tuple[str, dict[str, tuple[Any, Any]]] | None:
    """The finished run whose identity differs least, and where it does.

    Args:
        identity: of the run that is explained.
        store: where finished runs are.
        besides: an id that is left out.

    Returns:
        The id, and dotted name -> (the explained run's value, its value); None in an empty store.
    """
    neighbours = []
    for run in store.ids():
        if run != besides:
            different = differences(identity, store.describe(run)["identity"])
            neighbours.append((len(different), run, different))
    if not neighbours:
        return None
    _, run, different = min(neighbours, key=lambda each: each[:2])
    return run, different
