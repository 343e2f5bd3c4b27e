"""Fixtures: a folder with a study's data."""

import pytest

from toys import SENTENCES


@pytest.fixture
def folder(tmp_path, monkeypatch, treebanks):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CROSSLENS_DATA", str(treebanks))
    (tmp_path / "fr.txt").write_text("\n".join(SENTENCES["fr"] * 20) + "\n", "utf-8")
    return tmp_path
