"""Conclusions by hand, where the laws of `test_findings_laws` are also satisfied by fewer."""

from dataclasses import replace

import pytest

from crosslens.report.findings import conclusions, describe, effects, headline
from crosslens.results.record import Results
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


@pytest.mark.parametrize(
    ("most_frequent", "kinds"), [(0, ["lowest spare"]), (74, ["lowest spare"]), (76, ["no transfer"])]
)
def test_a_reference_that_has_nothing_to_lose_shows_nothing(most_frequent, kinds):
    """A zero-shot score of 80 that the baseline nearly reaches cannot fall by much, whatever is re-initialised."""
    tags = {"most_frequent_gold": most_frequent} if most_frequent else {}
    records = [replace(record, n=100, tags=tags) for record in made_up({"1-2": 1.0, "1-4": 1.0})]
    (effect,) = effects(Results.of(records))
    claims = conclusions(effect)
    assert [claim.kind for claim in claims] == kinds
    if kinds == ["no transfer"]:
        assert claims[0].text == headline(effect) == describe(effect)[-1]
        assert "(80.0) is less than 5 points above" in claims[0].text
        assert "most frequent label (76.0), so nothing can be concluded" in claims[0].text


def test_a_reference_near_zero_shows_nothing_and_one_seed_claims_nothing():
    low = [replace(record, value=record.value - 76.0) for record in made_up({"1-2": 1.0, "1-4": 1.0})]
    (effect,) = effects(Results.of(low))
    (claim,) = conclusions(effect)
    assert claim.kind == "no transfer"
    assert "(4.0) is less than 5 points above 0, so" in claim.text
    (effect,) = effects(Results.of(low).filter(seed=1))
    assert conclusions(effect) == []


@pytest.mark.parametrize(("more", "rests"), [({}, True), ({"1-2": 2.0}, True), ({"1-2": 20.0}, False)])
def test_transfer_rests_on_the_embeddings_only_if_no_layers_above_them_cost_it(more, rests):
    (effect,) = effects(made_up({"1-12": 2.0, "0-12": 30.0, **more}))
    assert any(claim.kind == "in embeddings" for claim in conclusions(effect)) is rests


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 1, 2), (2, 3, 1)])
def test_sets_of_layers_are_compared_within_seeds_whatever_the_order_of_their_records(order):
    """Each seed loses 8 points more with layers 1-2 than with 3-4, and seeds differ from one another by far more."""
    noise = {1: 0.0, 2: 8.0, 3: -7.0}
    parts = [made_up({}, depth=4)] + [
        made_up({condition: loss + noise[seed]}, seeds=(seed,), depth=4).filter(condition=condition)
        for condition, loss, seeds in (("1-2", 30.0, (1, 2, 3)), ("3-4", 22.0, order))
        for seed in seeds
    ]
    (effect,) = effects(sum(parts))
    assert [claim.sets[0] for claim in conclusions(effect) if claim.kind == "costs most"] == [(1, 2)]


@pytest.mark.parametrize(
    ("losses", "most"),
    [
        ({"1-2": 18.0, "3-4": 3.0}, [((1, 2), (3, 4))]),  # two sets are enough
        ({"1-2": 18.0}, []),
        ({"1-2": 4.0, "3-4": 1.0, "5-6": 1.0}, []),  # more than others for certain, but not much
        ({"1-2": 18.0, "3-4": 18.0}, []),
        ({"1": 9.0, "2": 2.0, "1-2": 18.0, "3-4": 1.0}, [((1,), (2,)), ((1, 2), (3, 4))]),  # each size by itself
    ],
)
def test_what_costs_most_costs_much_and_more_than_each_set_of_its_size(losses, most):
    (effect,) = effects(made_up(losses))
    claims = [claim for claim in conclusions(effect) if claim.kind == "costs most"]
    assert [claim.sets for claim in claims] == most


def test_several_single_layers_are_layers():
    (effect,) = effects(made_up({"1": 18.0, "2": 16.0, "3": 1.0}))
    text = next(claim.text for claim in conclusions(effect) if claim.kind == "loses transfer")
    assert text.startswith("Re-initialising layers 1 or 2 lowers")
    (alone,) = effects(made_up({"1": 18.0, "3": 1.0}))
    text = next(claim.text for claim in conclusions(alone) if claim.kind == "loses transfer")
    assert text.startswith("Re-initialising layer 1 lowers")


@pytest.mark.parametrize(("before", "kinds"), [(80.0, ["lowest spare"]), (16.0, [])])
def test_transfer_does_not_depend_on_layers_only_where_most_of_it_is_left(before, kinds):
    """A zero-shot score of 16 that falls to 6 as the source score does cannot have fallen by much more than it."""
    records = [
        replace(each, value=each.value - (80.0 - before) * (each.target != "en"))
        for each in made_up({"1-2": 10.0}, source={"1-2": 10.0})
    ]
    (effect,) = effects(Results.of(records))
    assert [claim.kind for claim in conclusions(effect)] == kinds


def test_a_set_of_which_little_can_be_lost_is_not_spared():
    """The zero-shot score of the reference is 8, of which 4.5 are lost."""
    low = [replace(each, value=each.value - 72.0 * (each.target != "en")) for each in made_up({"1-2": 4.5})]
    (effect,) = effects(Results.of(low))
    assert conclusions(effect) == []


def test_layers_above_the_embeddings_without_which_the_task_is_not_learnt_show_nothing_of_transfer():
    (effect,) = effects(made_up({"1-12": 2.0, "0-12": 40.0}, source={"1-12": 30.0, "0-12": 30.0}))
    assert [claim.kind for claim in conclusions(effect)] == ["loses transfer", "loses source"]
