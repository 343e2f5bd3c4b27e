"""Pretraining factors of multilinguality: the rows of Table 1 of Conneau, Wu et al. (2020)."""

from collections.abc import Mapping
from typing import Any

from crosslens.errors import RequestError, suggest

FACTORS: dict[str, dict[str, Any]] = {
    "default-anchors": {"vocabulary.anchors": "default"},
    "no-anchors": {"vocabulary.anchors": "none"},
    "extra-anchors": {"extra_anchors": {}},
    "sep-emb": {"vocabulary.anchors": "default", "separate": "0"},
    "sep-emb-1-3": {"vocabulary.anchors": "default", "separate": "0-3"},
    "sep-emb-1-6": {"vocabulary.anchors": "default", "separate": "0-6"},
    "sep-1-3": {"vocabulary.anchors": "default", "separate": "1-3"},
    "sep-1-6": {"vocabulary.anchors": "default", "separate": "1-6"},
}
"""Factor -> dotted setting of `Pretraining` -> its value; the rest is as in the default. "domain" is missing:
it is another text, which the study names (`Study.factors`)."""


def find_factor(name: str, own: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """Settings changed by a named factor; ``own`` factors of a study take precedence.

    >>> find_factor("no-anchors", {})
    {'vocabulary.anchors': 'none'}

    Raises:
        RequestError: when there is no such factor.
    """
    known = {**FACTORS, **own}
    if name not in known:
        raise RequestError(f"there is no factor {name!r}", hint=suggest(name, known))
    return known[name]
