"""Digests: the same content has the same digest on every machine."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def canonical_json(value: Any) -> bytes:
    """The one way to write a plain value (dict, list, str, int, float, bool, None) as JSON bytes.

    Raises:
        ValueError: for NaN and infinities, which JSON does not have.
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "surrogatepass")


def digest(value: Any) -> str:
    """The sha256, in hexadecimal, of a plain value's canonical JSON."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def digest_chunks(chunks: Iterable[bytes]) -> str:
    """The sha256, in hexadecimal, of bytes that come in pieces."""
    state = hashlib.sha256()
    for chunk in chunks:
        state.update(chunk)
    return state.hexdigest()


def digest_file(path: str | Path) -> str:
    """The sha256, in hexadecimal, of a file."""
    with open(path, "rb") as stream:
        return digest_chunks(iter(lambda: stream.read(1 << 20), b""))


def stream_seed(*path: str | int) -> int:
    """A 63-bit seed for one named stream of random numbers.

    Every use of randomness has its own stream, ``stream_seed(seed, "head")`` or
    ``stream_seed(seed, "init", "layer 3")``, so that drawing from one never moves another.
    """
    return int(digest(list(path))[:16], 16) >> 1
