import pytest

from file_server import serving


@pytest.fixture
def server(monkeypatch):
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.delenv("CROSSLENS_OFFLINE", raising=False)
    monkeypatch.setenv("NO_PROXY", "*")
    with serving() as made:
        yield made
