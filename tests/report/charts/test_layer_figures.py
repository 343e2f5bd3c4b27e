"""Figures by layer: they draw the numbers of the tables by layer."""

import pytest

from crosslens.errors import RequestError
from crosslens.report.charts import layer_figures as module
from crosslens.report.charts.layer_figures import (
    MEASURED,
    curves,
    layer_figures,
    similarity_by_language,
    similarity_by_pair,
)
from crosslens.report.layers.by_layer import Line, similarity_lines
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
    chart = curves([MEASUREMENT, BASELINE, other], axis="precision, percent")
    assert drawn(chart) == [
        ("e and f", MEASURED, 0, 90.0),
        ("e and f", MEASURED, 1, 40.0),
        ("e and f", "untrained", 0, 65.0),
        ("e and g", MEASURED, 0, 10.0),
    ]
    assert [panel["title"] for panel in panels(chart)] == ["en–fr", "en–de"]
    assert {tuple(panel["y"]["scale"]["domain"]) for panel in panels(chart)} == {(0, 90.0)}


def test_static_vectors_have_no_layer_to_stand_at():
    assert drawn(curves([MEASUREMENT, Line("en–fr", "a.vec", {None: Cell({None: 50.0})})], axis="")) == [
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


def test_the_heat_map_has_a_row_for_each_pair_of_each_encoder():
    records = [similarity("cka", value, encoder=encoder) for encoder, value in (("e", 0.5), ("f", 0.3))]
    chart = similarity_by_pair(similarity_lines(Results.of(records), "cka"))
    assert drawn(chart) == [("en–fr, e", 0, 0.5), ("en–fr, f", 0, 0.3)]


def test_baselines_alone_are_no_heat_map():
    with pytest.raises(RequestError, match="no similarity of translations"):
        similarity_by_pair(similarity_lines(Results.of([similarity("cka_shuffled", 0.1)]), "cka"))


def by_language(*records):
    return similarity_by_language(similarity_lines(Results.of(records), "cka"))


def test_each_language_has_a_panel_with_a_line_for_each_state():
    records = [
        similarity("cka", 0.5),
        similarity("cka", 0.3, target="de"),
        similarity("cka_shuffled", 0.1),
        similarity("cka_length_matched", 0.2),
        similarity("cka", 0.4, state="untrained", seed=1),
        similarity("cka", 1.0, target="en"),
    ]
    chart = by_language(*records)
    assert [panel["title"] for panel in panels(chart)] == [["fr"], ["de"]]  # en–en is not drawn
    assert chart.to_dict()["title"] == "CKA of translations from en by layer (0: embeddings)"
    assert {panel["y"]["title"] for panel in panels(chart)} == {None}  # the title of the figure names the axes
    assert drawn(chart) == [
        ("pretrained", "translations", 0, 0.5),
        ("pretrained", "unrelated, length-matched", 0, 0.2),
        ("untrained", "translations", 0, 0.4),
        ("pretrained", "translations", 0, 0.3),
    ]
    assert {tuple(panel["y"]["scale"]["domain"]) for panel in panels(chart)} == {(0, 0.5)}


def test_panels_of_several_sources_name_the_pair():
    chart = by_language(similarity("cka", 0.5), similarity("cka", 0.3, source="de"))
    assert [panel["title"] for panel in panels(chart)] == [["en–fr"], ["de–fr"]]
    with pytest.raises(RequestError, match="between two languages"):
        by_language(similarity("cka", 1.0, target="en"))


@pytest.mark.parametrize(("languages", "across"), [(1, 1), (5, 5), (6, 6), (7, 4), (18, 6), (30, 6)])
def test_panels_fill_the_page_evenly(languages, across):
    chart = by_language(*(similarity("cka", 0.5, target=f"l{number}") for number in range(languages)))
    assert chart.to_dict()["columns"] == across


def test_many_pairs_are_a_figure_for_each_source_language(monkeypatch):
    monkeypatch.setattr(module, "MOST", 6)  # of 60 pairs, which take seconds to draw

    def figures(sources, targets):
        pairs = [(f"s{source}", f"t{target}") for source in range(sources) for target in range(targets)]
        records = [similarity("cka", 0.5, source=source, target=target) for source, target in pairs]
        charts = layer_figures(Results.of(records))
        return {name: len(panels(chart)) for name, chart in charts.items() if name != "similarity-by-pair"}

    assert figures(2, 3) == {"similarity-by-language": 6}
    assert figures(2, 4) == {"similarity-by-language-s0": 4, "similarity-by-language-s1": 4}
    assert figures(1, 7) == {"similarity-by-language": 7}


def test_long_titles_break_between_words_and_right_to_left_ones_do_not():
    long, arabic = "Northern Sotho in Latin script", "العربية الفصحى الحديثة في العالم"
    chart = by_language(similarity("cka", 0.5, target=long), similarity("cka", 0.3, target=arabic))
    assert [panel["title"] for panel in panels(chart)] == [["Northern Sotho in Latin", "script"], [arabic]]


def test_each_figure_is_made_of_the_records_that_fill_it():
    records = [
        *PLAIN,
        score("fr", 60.0, condition={"tower": 0}),
        similarity("cka", 0.5),
    ]
    assert set(layer_figures(Results.of(records))) == {
        "transfer-by-layer-pos",
        "similarity-by-pair",
        "similarity-by-language",
    }
    assert layer_figures(Results.of(PLAIN)) == {}


def test_the_legend_explains_the_lines_that_are_drawn():
    for lines, kinds in (([MEASUREMENT, BASELINE], [MEASURED, "untrained"]), ([MEASUREMENT], [MEASURED])):
        (panel,) = curves(lines, axis="").to_dict()["concat"]
        assert panel["layer"][0]["encoding"]["strokeDash"]["scale"]["domain"] == kinds


def test_a_measurement_of_a_single_layer_is_a_point():
    chart = curves([MEASUREMENT, Line("en–fr", "e5", {0: Cell({None: 70.0})})], axis="")
    (panel,) = chart.to_dict()["concat"]
    assert [layer["mark"]["type"] for layer in panel["layer"]] == ["line", "point"]
    assert drawn(chart)[-1] == ("e5", MEASURED, 0, 70.0)


@pytest.mark.parametrize("names", [("e and f", "e and f"), ("e and f", "e and g")])
def test_panels_of_the_same_encoders_have_one_legend(names):
    lines = [Line(pair, name, {0: Cell({None: 9.0})}) for pair, name in zip(("en–fr", "en–de"), names, strict=True)]
    resolved = curves(lines, axis="").to_dict()["resolve"]["scale"]["color"]
    assert resolved == ("shared" if len(set(names)) == 1 else "independent")


def test_what_has_no_layer_has_no_panel():
    static = Line("en–de", "a.vec", {None: Cell({None: 95.0})})
    (panel,) = panels(curves([MEASUREMENT, static], axis=""))
    assert (panel["title"], panel["y"]["scale"]["domain"]) == ("en–fr", [0, 90.0])
    with pytest.raises(RequestError, match="no value of a layer"):
        curves([static], axis="")


def test_a_similarity_below_0_stands_within_the_panels():
    lines = similarity_lines(Results.of([similarity("cka", 0.3), similarity("cka", -0.1, layer=1)]), "cka")
    (panel,) = panels(similarity_by_language(lines))
    assert panel["y"]["scale"]["domain"] == [-0.1, 0.3]
