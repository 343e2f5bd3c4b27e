"""Content digests and random seeds that are the same on every machine."""

import hashlib
import json
from collections.abc import Iterable
from operator import index
from pathlib import Path
from typing import Any

from crosslens.errors import RequestError, require_integer


def canonical_json(value: Any) -> bytes:
    """Serialise a plain value (dict, list, str, int, float, bool, None) as canonical JSON; numpy's integers are plain.

    >>> canonical_json({"b": 1, "a": [None, "é"]}).decode()
    '{"a":[null,"é"],"b":1}'

    Raises:
        ValueError: for NaN and infinities, which JSON does not have.
    """
    return _CANONICAL.encode(value).encode("utf-8", "surrogatepass")


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=index)


def digest(value: Any) -> str:
    """Compute the SHA-256 of a plain value's canonical JSON, in hexadecimal; the order of keys does not matter.

    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    return hashlib.sha256(canonical_json(value)).hexdigest()


def order_of(languages: Iterable[str]) -> dict[str, list[str]]:
    """Describe the order of languages, which determines weights, for a digest; nothing if it is the sorted one.

    >>> order_of(["en", "fr"]), order_of(["fr", "en"])
    ({}, {'order': ['fr', 'en']})
    """
    order = list(languages)
    return {} if order == sorted(order) else {"order": order}


def digest_chunks(chunks: Iterable[bytes | memoryview]) -> str:
    """Compute the SHA-256 of chunks of bytes, or of flat arrays, in hexadecimal.

    >>> digest_chunks([b"cross", b"lens"]) == digest_chunks([b"crosslens"])
    True
    """
    state = hashlib.sha256()
    for chunk in chunks:
        state.update(chunk)
    return state.hexdigest()


def short_digest(text: str) -> int:
    """Compute a digest of 64 bits, for large sets of texts.

    >>> short_digest("cross") == short_digest("lens")
    False
    """
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def digest_file(path: str | Path) -> str:
    """Compute the SHA-256 of a file, in hexadecimal."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def stream_seed(*path: str | int) -> int:
    """Derive a 63-bit seed for one named stream of random numbers.

    Every use of randomness has its own stream, such as ``stream_seed(seed, "head")`` or
    ``stream_seed(seed, "init", "layer 3")``, so that draws from one stream never shift another.

    >>> stream_seed(1, "head") == stream_seed(1, "head")
    True
    >>> stream_seed(1, "head") == stream_seed(1, "order")
    False
    """
    return int(digest(list(path))[:16], 16) >> 1


def require_seed(seed: object, name: str = "seed") -> int:
    """Return a random seed as an integer of Python.

    Raises:
        RequestError: unless it is an integer from 0 to 2^63 - 1, the largest that records can hold.
    """
    return require_integer(seed, name, least=0, most=2**63 - 1)


def require_seeds(seeds: Any, name: str) -> list[int]:
    """Return random seeds as a list; see `require_seed`."""
    if isinstance(seeds, str) or not isinstance(seeds, Iterable):
        raise RequestError(f"{name}={seeds!r:.60} is not a list of seeds", hint=f"for example {name}=[1, 2, 3]")
    return [require_seed(seed, name) for seed in seeds]
