"""Figures by layer: they draw the numbers of the tables by layer."""

import pytest

from crosslens.errors import RequestError
from crosslens.report.by_layer import Line, similarity_lines
from crosslens.report.layer_figures import MEASURED, curves, layer_figures, similarity_by_pair
from crosslens.results.cells import Cell
from crosslens.results.record import Results
from made_records import PLAIN, score, similarity

MEASUREMENT = Line("en–fr", "e and f", {0: Cell({None: 90.0}), 1: Cell({None: 40.0})})
BASELINE = Line("en–fr", "e and f", {0: Cell({1: 70.0, 2: 60.0}), 1: Cell({})}, "untrained")


def drawn(chart):
    """The rows of all panels, in order."""
    return [row for panel in panels(chart) for row in panel["rows"]]


def panels(chart):
    described = chart.to_dict()
    shown = []
    for panel in described["concat"]:
        first = panel["layer"][0] if "layer" in panel else panel
        data = panel.get("data") or first.get("data") or described["data"]
        rows = data["values"] if "values" in data else described["datasets"][data["name"]]
        title = panel.get("title") or first["title"]
        shown.append({"title": title, "rows": [tuple(row.values()) for row in rows], "y": first["encoding"]["y"]})
    return shown


def test_curves_are_the_lines_with_baselines_in_another_style():
    other = Line("en–de", "e and g", {0: Cell({None: 10.0})})
    chart = curves([MEASUREMENT, BASELINE, other], title="precision, percent")
    assert drawn(chart) == [
        ("e and f", MEASURED, 0, 90.0),
        ("e and f", MEASURED, 1, 40.0),
        ("e and f", "untrained", 0, 65.0),
        ("e and g", MEASURED, 0, 10.0),
    ]
    assert [panel["title"] for panel in panels(chart)] == ["en–fr", "en–de"]
    assert {tuple(panel["y"]["scale"]["domain"]) for panel in panels(chart)} == {(0, 90.0)}


def test_static_vectors_have_no_layer_to_stand_at():
    assert drawn(curves([MEASUREMENT, Line("en–fr", "a.vec", {None: Cell({None: 50.0})})], title="")) == [
        ("e and f", MEASURED, 0, 90.0),
        ("e and f", MEASURED, 1, 40.0),
    ]


def test_the_heat_map_has_a_map_for_each_state_and_no_baseline():
    records = [
        similarity("cka", 0.5),
        similarity("cka", 0.3, target="de"),
        similarity("cka_shuffled", 0.1),
        similarity("cka", 0.2, state="untrained", seed=1),
    ]
    chart = similarity_by_pair(similarity_lines(Results.of(records), "cka"))
    assert [panel["title"] for panel in panels(chart)] == ["pretrained", "untrained"]
    assert drawn(chart) == [("en–fr", 0, 0.5), ("en–de", 0, 0.3), ("en–fr", 0, 0.2)]


def test_baselines_alone_are_no_heat_map():
    with pytest.raises(RequestError, match="no similarity of translations"):
        similarity_by_pair(similarity_lines(Results.of([similarity("cka_shuffled", 0.1)]), "cka"))


def test_each_figure_is_made_of_the_records_that_fill_it():
    records = [
        *PLAIN,
        score("fr", 60.0, condition={"tower": 0}),
        similarity("cka", 0.5),
    ]
    assert set(layer_figures(Results.of(records))) == {"transfer-by-layer-pos", "similarity-by-pair"}
    assert layer_figures(Results.of(PLAIN)) == {}
