"""The baselines of an alignment, by name."""

import pytest

from crosslens.alignment.baselines import BASELINES, choose_baselines
from crosslens.errors import RequestError


def test_without_a_mapping_nothing_is_shuffled_and_unknown_baselines_are_refused():
    assert choose_baselines(BASELINES, mapping="identity") == ("untrained",)
    assert choose_baselines(("identity", "untrained"), mapping="procrustes") == ("untrained", "identity")
    with pytest.raises(RequestError, match="there is no baseline 'shuffle'") as refused:
        choose_baselines(("shuffle",), mapping="procrustes")
    assert "'shuffled'" in str(refused.value.hint)
