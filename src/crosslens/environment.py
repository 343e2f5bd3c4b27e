"""What the user's environment asks of crosslens."""

import os

_NO = {"", "0", "no", "off", "false"}


def offline() -> bool:
    """Whether the network is switched off: CROSSLENS_OFFLINE or HF_HUB_OFFLINE is set, and to none of 0, no, off."""
    return any(os.environ.get(name, "").lower() not in _NO for name in ("CROSSLENS_OFFLINE", "HF_HUB_OFFLINE"))
