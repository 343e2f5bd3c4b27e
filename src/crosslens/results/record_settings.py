"""Settings of a record, ``name=value`` separated by blanks, and among them the second encoder of a comparison."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from crosslens.encoders.condition import REFERENCE

SECOND_ENCODER = ("against", "against_digest", "against_condition", "against_task", "against_run")
"""Settings that describe the encoder of the second language: its name, ``encoder_digest`` and condition; if it is
fine-tuned, its task and run."""

_SETTING = re.compile(r"(\w+)=(.*?)(?= \w+=|$)")


def settings_of(text: str | None) -> dict[str, str]:
    """The settings of a record by name; values can contain blanks."""
    return dict(_SETTING.findall(text or ""))


def settings_text(settings: Mapping[str, Any]) -> str | None:
    """Settings as a record has them; None without any."""
    return " ".join(f"{name}={value}" for name, value in settings.items()) or None


def settings_apart(texts: Sequence[str | None]) -> list[str]:
    """The settings of each text that not all of them have.

    >>> settings_apart(["limit=50 batch=4", "limit=90 batch=4", "batch=4"])
    ['limit=50', 'limit=90', '']
    """
    settings = [settings_of(text).items() for text in texts]
    common = set.intersection(*map(set, settings))
    return [settings_text(dict(pair for pair in each if pair not in common)) or "" for each in settings]


def second_encoder(columns: Mapping[str, Any]) -> dict[str, str]:
    """Settings that describe the encoder of the second language.

    Args:
        columns: of the encoder, see `crosslens.encoders.encoder.Encoder.columns`; static vectors have only a name.
    """
    settings = {"against": columns["encoder"]}
    if columns.get("encoder_digest") is not None:
        settings["against_digest"] = columns["encoder_digest"]
    if columns.get("condition", REFERENCE) != REFERENCE:
        settings["against_condition"] = columns["condition"]
    if columns.get("task") is not None:
        settings["against_task"] = columns["task"]
    return settings
