"""The classes of languages, read from a store."""

import pytest

from crosslens.errors import RequestError
from crosslens.runs.store import Store
from crosslens.studies.typology import read_typology


def test_a_store_without_a_baseline_has_no_typology(folder):
    with pytest.raises(RequestError, match="no language on which an encoder and a BiLSTM"):
        read_typology(Store(folder / "runs"))
