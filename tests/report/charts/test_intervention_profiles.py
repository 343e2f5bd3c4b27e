"""The figure of interventions draws the numbers of the table of interventions, a panel for each."""

import pytest

from crosslens.errors import RequestError
from crosslens.report.charts.figures import all_figures
from crosslens.report.charts.intervention_profiles import intervention_profiles
from crosslens.results.record import Results
from made_records import score

CONDITIONS = [{}, {"layers": "1-2"}, {"layers": "3-4"}, {"zero": "1-2"}, {"zero": "3-4"}]
TRAINED = {"en": [90, 89, 88, 50, 85], "fr": [70, 60, 69, 30, 60], "de": [60, 30, 61, 30, 52]}


def results(conditions=tuple(range(5))):
    return Results.of(
        score(target, TRAINED[target][number] + seed, seed=seed, condition=CONDITIONS[number] or "none")
        for number in conditions
        for target in TRAINED
        for seed in (1, 3)
    )


def points(chart):
    """Panel title -> rows of its marks: line, layers, value, lowest and highest seed."""
    described = chart.to_dict()
    (tasks,) = described["vconcat"]
    drawn = {}
    for panel in tasks["concat"]:
        data = panel["layer"][1]["data"]
        rows = data["values"] if "values" in data else described["datasets"][data["name"]]
        drawn[panel["title"]["text"]] = [tuple(row.values()) for row in rows]
    return drawn


def test_a_panel_shows_the_changes_of_the_source_and_of_the_mean_of_the_targets():
    assert points(intervention_profiles(results())) == {
        "re-initialised": [
            ("same language", "1–2", -1.0, -1.0, -1.0),
            ("same language", "3–4", -2.0, -2.0, -2.0),
            ("zero-shot, mean", "1–2", -20.0, -20.0, -20.0),
            ("zero-shot, mean", "3–4", 0.0, 0.0, 0.0),
        ],
        "zero": [
            ("same language", "1–2", -40.0, -40.0, -40.0),
            ("same language", "3–4", -5.0, -5.0, -5.0),
            ("zero-shot, mean", "1–2", -35.0, -35.0, -35.0),
            ("zero-shot, mean", "3–4", -9.0, -9.0, -9.0),
        ],
    }


def test_bars_reach_from_the_lowest_to_the_highest_seed():
    lower = score("fr", TRAINED["fr"][3] + 3 - 8, seed=3, condition={"zero": "1-2"})
    others = (row for row in results() if (row.target, row.seed, row.condition) != ("fr", 3, lower.condition))
    zero = points(intervention_profiles(Results.of([*others, lower])))["zero"]
    assert zero[2] == ("zero-shot, mean", "1–2", -37.0, -39.0, -35.0)


def test_the_legend_lists_the_lines_that_there_are():
    for lines, shown in (
        (["same language", "zero-shot, mean"], results()),
        (["zero-shot, mean"], results().filter(target=["fr", "de"])),
        (["same language"], results().filter(target="en")),
    ):
        panel = intervention_profiles(shown).to_dict()["vconcat"][0]["concat"][0]
        assert panel["layer"][1]["encoding"]["color"]["scale"]["domain"] == lines


def test_rings_of_the_legend_are_not_dashed():
    """A scale of line styles would share the legend of colours."""
    layers = intervention_profiles(results()).to_dict()["vconcat"][0]["concat"][0]["layer"]
    assert not any("strokeDash" in layer["encoding"] for layer in layers)
    dashes = [layer["mark"]["strokeDash"] for layer in layers if layer["mark"]["type"] == "line"]
    assert dashes == [[4, 3], [1, 0]]


def test_each_line_has_a_style_of_its_own_and_layers_stand_in_their_order():
    """The source is dashed. Layers 10-11 stand behind 2-3, though their text begins with a lower digit."""
    conditions = ("none", {"zero": "2-3"}, {"zero": "10-11"})
    shown = Results.of(
        score(target, 90.0 - 5 * place, condition=condition)
        for place, condition in enumerate(conditions)
        for target in ("en", "fr")
    )
    layers = intervention_profiles(shown).to_dict()["vconcat"][0]["concat"][0]["layer"]
    lines = [layer for layer in layers if layer["mark"]["type"] == "line"]
    styles = {layer["transform"][0]["filter"]: layer["mark"]["strokeDash"] for layer in lines}
    assert styles == {"(datum.line === 'same language')": [4, 3], "(datum.line === 'zero-shot, mean')": [1, 0]}
    assert [layer["encoding"]["x"]["sort"] for layer in lines] == [["2–3", "10–11"]] * 2


def test_bars_of_two_lines_at_one_layer_stand_beside_each_other_and_those_of_one_line_at_their_layer():
    def shifts(shown):
        layers = intervention_profiles(shown).to_dict()["vconcat"][0]["concat"][0]["layer"]
        drawn = [layer for layer in layers if layer["mark"]["type"] in ("rule", "point") and "x" in layer["encoding"]]
        return [layer["encoding"]["xOffset"]["value"] for layer in drawn]

    assert shifts(results()) == [-3, 3, -3, 3]
    assert shifts(results().filter(target="en")) == [0, 0]


def test_results_without_a_changed_model_or_without_a_reference_draw_nothing():
    for conditions in ((0, 1, 2), (3, 4)):
        with pytest.raises(RequestError, match="no changed model"):
            intervention_profiles(results(conditions))


def test_the_profile_of_layers_is_that_of_the_models_trained_so():
    figures, plain = all_figures(results()), all_figures(results((0, 1, 2)))
    assert "interventions" in figures
    assert "interventions" not in plain
    assert figures["layer-profile"].to_dict() == plain["layer-profile"].to_dict()
