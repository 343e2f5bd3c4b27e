"""Probes by name, and their settings."""

import pytest

from crosslens.errors import RequestError
from crosslens.probes import find_probe


def test_names_and_settings():
    with pytest.raises(RequestError, match=r"no probe 'langd'.*did you mean 'langid'"):
        find_probe("langd")
    assert find_probe("langid", {"pooling": "cls"}).pooling == "cls"
    with pytest.raises(RequestError, match="pooling=middle"):
        find_probe("langid", {"pooling": "middle"})
