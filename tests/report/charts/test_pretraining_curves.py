"""Lines along pretraining, from made-up records: shares of the change, and what is left out."""

from dataclasses import replace

import pytest

from crosslens.errors import RequestError
from crosslens.report.charts.figures import all_figures
from crosslens.report.charts.pretraining_curves import pretraining_curves
from crosslens.results.cells import condition_of
from crosslens.results.record import Results
from made_records import score, similarity

pytest.importorskip("altair")


def made(seeds=(1, 2)):
    return Results.of(
        record
        for seed in seeds
        for step, cka, zero_shot in ((0, 0.2, 40.0), (100, 0.6, 40.0 + seed), (300, 1.0, 50.0))
        for record in (
            similarity("cka", cka, seed=seed, layer=1, condition=f'{{"checkpoint": "{step}"}}'),
            similarity("cka_shuffled", 0.1, seed=seed, layer=1, condition=f'{{"checkpoint": "{step}"}}'),
            score("en", 90.0, seed=seed, condition={"checkpoint": step}),
            score("fr", zero_shot, seed=seed, condition={"checkpoint": step}),
        )
    )


def rows(chart):
    described = chart.to_dict()
    (panel,) = described["concat"]
    data = panel["layer"][2]["data"]
    return described["datasets"][data["name"]] if "name" in data else data["values"]


def test_each_quantity_goes_from_0_to_100_percent_of_its_change():
    drawn = {}
    for row in rows(pretraining_curves(made())):
        drawn.setdefault(row["what"], {})[row["step"]] = (row["low"], row["share"], row["high"], row["of"])
    similar, transferred = drawn  # neither the baseline nor the score that does not change
    assert similar.startswith("CKA")
    assert drawn[similar] == {
        0: (0.0, 0.0, 0.0, "other"),
        100: (pytest.approx(50), pytest.approx(50), pytest.approx(50), "other"),
        300: (100.0, 100.0, 100.0, "other"),
    }
    assert transferred.startswith("zero-shot POS tagging")
    assert drawn[transferred][100] == (pytest.approx(10), pytest.approx(15), pytest.approx(20), "zero-shot scores")


def test_it_is_drawn_where_steps_are_and_nowhere_else():
    assert "pretraining-steps" in all_figures(made())
    without = Results.of([score("en", 90.0), score("fr", 80.0)])
    assert "pretraining-steps" not in all_figures(without)
    with pytest.raises(RequestError, match="nothing that changed"):
        pretraining_curves(without)


def test_baselines_and_scores_in_the_source_language_are_left_out_though_they_change():
    changing = Results.of(
        replace(each, value=each.value + condition_of(each.condition).checkpoint.step / 1000)
        if each.measure == "cka_shuffled" or each.target == "en"
        else each
        for each in made()
    )
    assert {row["what"] for row in rows(pretraining_curves(changing))} == {
        row["what"] for row in rows(pretraining_curves(made()))
    }
