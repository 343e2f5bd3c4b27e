"""Headline, key numbers and layer profile of a table of scores."""

import pytest

from crosslens.report.blocks import score_blocks
from crosslens.report.findings import effects
from crosslens.report.overview import overviews
from crosslens.results.record import Results
from made_records import PLAIN, made_up, score


def overview(results):
    (block,) = score_blocks(results)
    names = {(record["target"], record["corpus"], None): record["target"] for record in results.records.to_pylist()}
    (made,) = overviews(block, names=names, correlated=[])
    return made


def test_the_numbers_are_those_of_the_effects():
    results = made_up({"1-2": 20.0, "11-12": 1.0, "0-12": 60.0}, source={"1-2": 2.0}, noise=0.5)
    made, (effect,) = overview(results), effects(results)
    assert made["same"]["mean"] == pytest.approx(effect.same.mean)
    assert made["cross"]["half"] == pytest.approx(effect.cross.half_width, abs=1e-4)
    assert [change["layers"] for change in made["profile"]] == ["1-2", "11-12", "0-12"]
    assert [change["cross"]["mean"] for change in made["profile"]] == [
        pytest.approx(change.cross.mean, abs=1e-4) for change in effect.changes
    ]
    for change in made["profile"]:  # the zero-shot mean is the mean of the single targets
        assert sum(change["targets"].values()) / 2 == pytest.approx(change["cross"]["mean"], abs=1e-3)


def test_the_largest_loss_keeps_part_of_the_encoder():
    losses = {"1-2": 20.0, "11-12": 1.0, "1-12": 55.0, "0-12": 60.0}
    assert overview(made_up(losses, noise=0.1))["loss"]["layers"] == "1-2"
    assert overview(made_up({"1-2": -1.0, "0-12": 60.0}))["loss"] is None


def test_the_headline_is_a_conclusion_only_where_there_are_seeds_for_one():
    lowest = {"1-4": 20.0, "5-8": 1.0, "9-12": 0.5}
    assert overview(made_up(lowest, noise=0.1))["headline"].startswith("The lowest layers (1-4) carry")
    headline = overview(made_up(lowest, seeds=(1,)))["headline"]
    assert headline.startswith("Re-initialising layers 1-4 lowers zero-shot accuracy by 20.0 points")
    assert "carry" not in headline
    assert overview(made_up({}))["headline"].startswith("POS tagging: 95.0 accuracy in the source language (en)")


def test_a_target_without_a_score_is_absent_from_the_profile():
    results = Results.of(
        [record for record in PLAIN if (record.target, record.condition) != ("de", PLAIN[-1].condition)]
    )
    assert overview(Results.of([*PLAIN]))["profile"][0]["targets"] == {"fr": -20.0, "de": -20.0}
    made = overview(results)
    assert made["profile"] == []
    assert made["missing"] == ["1-2 has no score for 1 corpus and is excluded from conclusions."]


def test_there_is_no_overview_without_a_same_language_score():
    (block,) = score_blocks(Results.of([score("fr", 80.0)]))
    assert overviews(block, names={}, correlated=[]) == []
