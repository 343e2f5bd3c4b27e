"""Figures that need records of several encoders, tasks or layers: what they share, and that none is left out."""

import json

import pytest

from crosslens.report.charts.figures import all_figures
from crosslens.results.record import Results
from made_records import made_up, score, similarity

pytest.importorskip("altair")


def test_profiles_of_two_encoders_are_drawn_over_one_another():
    losses = {"1-2": 20.0, "11-12": 1.0}
    both = made_up(losses) + made_up(losses).with_columns(encoder="f")
    assert "encoders" in all_figures(both)
    assert "encoders" not in all_figures(made_up(losses))


def test_maps_of_two_tasks_share_the_colours_of_the_widest_difference():
    """What is much in one task is pale beside the other."""
    little = made_up({"1-2": 6.0}).with_columns(task="ner", metric="f1")
    chart = json.loads(all_figures(made_up({"1-2": 30.0}) + little)["layers-by-target"].to_json())
    domains = {tuple(each["layer"][0]["encoding"]["color"]["scale"]["domain"]) for each in chart["concat"]}
    assert len(chart["concat"]) == 2
    assert domains == {(-30, 30)}


def test_the_correlation_by_layer_has_a_point_for_each_layer():
    languages = ("de", "fi", "fr", "hi", "ru", "zh")
    records = [score("en", 95.0)]
    for place, language in enumerate(languages):
        records.append(score(language, 90.0 - 5 * place))
        records += [similarity("cka", 0.9 - 0.1 * place, layer=layer, target=language) for layer in (0, 1, 2)]
    chart = json.loads(all_figures(Results.of(records))["correlation-by-layer"].to_json())
    points = [row for rows in chart["datasets"].values() for row in rows if "layer" in row]
    assert {row["layer"] for row in points} >= {0, 1, 2}
