"""Short names of encoders and corpora for display, each different from the others."""

from collections.abc import Mapping

from crosslens.formatting import short_name


def short_names(digests: Mapping[str, set[str]]) -> dict[str, str]:
    """Shorten names where that does not give two encoders one name.

    Args:
        digests: Name -> digests of its encoders; none for corpora. Encoders with digests may share a short name:
            digests tell different encoders apart, and two paths to one encoder are one.

    Returns:
        Name -> short name, or the name itself.
    """
    shared: dict[str, list[str]] = {}
    for name in digests:
        shared.setdefault(short_name(name), []).append(name)
    short = {}
    for shortened, alike in shared.items():
        apart = len(alike) == 1 or all(digests[name] for name in alike)
        short |= {name: shortened if apart else name for name in alike}
    return short
