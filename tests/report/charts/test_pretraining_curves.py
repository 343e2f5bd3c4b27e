"""Lines along pretraining, from made-up records: shares of the change, and what is left out."""

from dataclasses import replace

import pytest

from crosslens.encoders.condition import Condition
from crosslens.errors import RequestError
from crosslens.report.charts.figures import all_figures
from crosslens.report.charts.pretraining_curves import pretraining_curves
from crosslens.results.cells import condition_of
from crosslens.results.record import Results
from made_records import along_pretraining, score

pytest.importorskip("altair")


def rows(chart):
    described = chart.to_dict()
    (panel,) = described["concat"]
    data = panel["layer"][2]["data"]
    return described["datasets"][data["name"]] if "name" in data else data["values"]


def test_each_quantity_goes_from_0_to_100_percent_of_its_change():
    drawn = {}
    for row in rows(pretraining_curves(along_pretraining())):
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
    assert "pretraining-steps" in all_figures(along_pretraining())
    without = Results.of([score("en", 90.0), score("fr", 80.0)])
    assert "pretraining-steps" not in all_figures(without)
    with pytest.raises(RequestError, match="nothing that changed"):
        pretraining_curves(without)


def test_baselines_and_scores_in_the_source_language_are_left_out_though_they_change():
    changing = Results.of(
        replace(each, value=each.value + condition_of(each.condition).checkpoint.step / 1000)
        if each.measure == "cka_shuffled" or each.target == "en"
        else each
        for each in along_pretraining()
    )
    assert {row["what"] for row in rows(pretraining_curves(changing))} == {
        row["what"] for row in rows(pretraining_curves(along_pretraining()))
    }


def test_a_panel_says_how_many_quantities_it_leaves_out_because_their_change_may_be_chance():
    def subtitle(results):
        return pretraining_curves(results).to_dict()["concat"][0]["layer"][2]["title"]["subtitle"]

    unchanged = Results.of(
        replace(each, value=80.0) if each.metric == "accuracy" and each.target != "en" else each
        for each in along_pretraining()
    )
    assert subtitle(unchanged)[-1] == "not drawn, because the change may be chance: 1"
    assert not any("not drawn" in line for line in subtitle(along_pretraining()))


def test_steps_on_the_axis_are_measured_ones_and_not_close_to_one_another():
    steps = {0: 100, 100: 110, 300: 300}
    later = Results.of(
        replace(each, **Condition.model_validate({"checkpoint": steps[step]}).columns)
        for each in along_pretraining()
        for step in [condition_of(each.condition).checkpoint.step]
    )
    (panel,) = pretraining_curves(later).to_dict()["concat"]
    assert panel["layer"][2]["encoding"]["x"]["axis"]["values"] == [100, 300]
