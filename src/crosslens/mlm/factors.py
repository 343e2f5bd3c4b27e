"""Pretraining factors of multilinguality: the rows of Table 1 of Conneau, Wu et al. (2020)."""

from collections.abc import Mapping
from typing import Any

from crosslens.errors import require_known

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
"""Factor -> dotted setting of `Pretraining` -> value that replaces the default. The paper's factor "domain" is missing:
a study defines it by naming other text (`Study.factors`)."""


def find_factor(name: str, own: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """Look up the settings that a factor changes; a study's ``own`` factors take precedence.

    >>> find_factor("no-anchors", {})
    {'vocabulary.anchors': 'none'}

    Raises:
        RequestError: for an unknown factor.
    """
    known = {**FACTORS, **own}
    require_known(name, known, "there is no factor")
    return known[name]
