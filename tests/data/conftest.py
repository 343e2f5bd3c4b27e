"""Fixtures: a CoNLL-U file on disk."""

import pytest


@pytest.fixture
def written(tmp_path):
    def make(text, name="x.conllu"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return make
