"""Environment variables that crosslens reads."""

import os

_FALSE = {"", "0", "no", "off", "false"}


def switch(name: str) -> bool | None:
    """Value of a variable that is on or off; None if it is not set. 0, no, off and false are off."""
    text = os.environ.get(name)
    return None if text is None else text.lower() not in _FALSE


OFFLINE = ("CROSSLENS_OFFLINE", "HF_HUB_OFFLINE")
"""Variables that switch network access off."""


def offline() -> bool:
    """Whether CROSSLENS_OFFLINE or HF_HUB_OFFLINE forbids network access; 0, no, off and false allow it."""
    return any(switch(name) for name in OFFLINE)


def to_go_online() -> str:
    """How to allow network access that `offline` forbids, for error messages."""
    return f"unset {' and '.join(name for name in OFFLINE if switch(name))}"
