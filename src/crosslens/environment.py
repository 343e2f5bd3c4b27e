"""Environment variables that crosslens reads."""

import os

_FALSE = {"", "0", "no", "off", "false"}


def offline() -> bool:
    """Whether CROSSLENS_OFFLINE or HF_HUB_OFFLINE forbids network access; 0, no, off and false allow it."""
    return any(os.environ.get(name, "").lower() not in _FALSE for name in ("CROSSLENS_OFFLINE", "HF_HUB_OFFLINE"))
