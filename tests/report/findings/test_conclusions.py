"""Conclusions by hand, where the laws of `test_findings_laws` are also satisfied by fewer."""

import pytest

from crosslens.report.findings import conclusions, effects
from made_records import made_up

PAIRS = {f"{low}-{low + 1}": 18.0 if low == 1 else 1.0 for low in range(1, 12, 2)}


@pytest.mark.parametrize(
    ("more", "carried"), [({}, True), ({"1-4": 28.0}, True), ({"1-4": 2.0}, False), ({"1": 2.0}, True)]
)
def test_the_lowest_layers_carry_transfer_only_if_more_of_them_cost_it_too(more, carried):
    (effect,) = effects(made_up({**PAIRS, **more}))
    assert any(claim.kind == "lowest carry" for claim in conclusions(effect)) is carried


@pytest.mark.parametrize(("cross", "claim"), [(40.0, "loses transfer"), (27.0, "loses source")])
def test_transfer_is_judged_where_it_falls_further_than_a_source_score_that_falls_far(cross, claim):
    """Of a source score that falls by 25 points, either transfer is lost or nothing can be concluded, not both."""
    (effect,) = effects(made_up({"1-2": cross}, source={"1-2": 25.0}))
    assert [conclusion.kind for conclusion in conclusions(effect)] == [claim]


@pytest.mark.parametrize(("more", "rests"), [({}, True), ({"1-2": 2.0}, True), ({"1-2": 20.0}, False)])
def test_transfer_rests_on_the_embeddings_only_if_no_layers_above_them_cost_it(more, rests):
    (effect,) = effects(made_up({"1-12": 2.0, "0-12": 30.0, **more}))
    assert any(claim.kind == "in embeddings" for claim in conclusions(effect)) is rests
