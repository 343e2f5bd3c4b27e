"""Short names of encoders for display: results hold what was passed to a command, which can be a path."""

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

FOLDERS = {
    "best",
    "checkpoint",
    "checkpoints",
    "encoder",
    "encoders",
    "final",
    "last",
    "model",
    "models",
    "out",
    "output",
    "runs",
}
"""Names of folders that say nothing about what is in them."""


def short_name(name: str) -> str:
    """Shorten a path to the part that identifies the encoder; keep names of the hub and of collections.

    >>> short_name("runs/pos-1-2-seed1/model"), short_name("/data/encoders/e5-small"), short_name("google/mt5-small")
    ('pos-1-2-seed1', 'e5-small', 'google/mt5-small')
    >>> short_name("study/runs/7b39fe0b48780766/encoder")  # a run of a store
    'run 7b39fe0b'
    >>> short_name("/cache/hub/models--google--mt5-small/snapshots/0a1b2c3d4e5f")
    'google/mt5-small'
    """
    parts = PurePosixPath(name.replace("\\", "/")).parts
    cached = next((part for part in parts if part.startswith("models--")), None)
    if cached:
        return "/".join(cached.split("--")[1:])
    run = re.search(r"/runs/([0-9a-f]{8})[0-9a-f]{8}(/|$)", f"/{'/'.join(parts)}")
    if run:
        return f"run {run[1]}"
    is_path = len(parts) > 2 or name.startswith((".", "/", "~")) or not FOLDERS.isdisjoint(parts)
    telling = [part for part in parts if part not in FOLDERS and part.strip("./~\\")]
    return telling[-1] if is_path and telling else name


def short_names(names: Iterable[str], digests: Mapping[str, set[str]]) -> dict[str, str]:
    """Shorten names where that does not give two encoders one name.

    Args:
        names: Names of encoders.
        digests: Name -> digests of its encoders. Encoders with digests may share a short name, because their digests
            distinguish them.

    Returns:
        Name -> short name, or the name itself.
    """
    shared: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        shared.setdefault(short_name(name), []).append(name)
    short = {}
    for shortened, alike in shared.items():
        known = [digests.get(name, set()) for name in alike]
        apart = len(alike) == 1 or (all(known) and len(set.union(*known)) == sum(map(len, known)))
        short |= {name: shortened if apart else name for name in alike}
    return short
