"""Short names of encoders for display, each different from the others."""

from collections.abc import Iterable, Mapping

from crosslens.formatting import short_name


def short_names(names: Iterable[str], digests: Mapping[str, set[str]]) -> dict[str, str]:
    """Shorten names where that does not give two encoders one name.

    Args:
        digests: Name -> digests of its encoders. Encoders with digests may share a short name: digests tell different
            encoders apart, and two paths to one encoder are one.

    Returns:
        Name -> short name, or the name itself.
    """
    shared: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        shared.setdefault(short_name(name), []).append(name)
    short = {}
    for shortened, alike in shared.items():
        known = [digests.get(name, set()) for name in alike]
        apart = len(alike) == 1 or all(known)
        short |= {name: shortened if apart else name for name in alike}
    return short
