"""Figures of models trained on several languages say which numbers are whose."""

from dataclasses import replace

from crosslens.report.charts.figures import layer_profiles, layers_by_target
from crosslens.results.record import Results
from made_records import score


def in_language(**scores):
    """Scores of models with and without layers 1 and 2, each tested on one language of its training data."""
    return Results.of(
        replace(score(source[-2:], value - lost, condition=condition), source=source.replace("_", "+"))
        for source, value in scores.items()
        for condition, lost in (("none", 0.0), ("1-2", 5.0))
    )


def titles(chart):
    return [panel["title"] for panel in chart.to_dict()["concat"]]


def test_layer_profiles_of_two_languages_name_them():
    panels = titles(layer_profiles(in_language(wo=80.0, ug=90.0)))
    assert [panel["text"] for panel in panels] == [
        "POS tagging, accuracy, source wo",
        "POS tagging, accuracy, source ug",
    ]


def test_a_model_of_joined_corpora_does_not_stand_in_place_of_one_of_the_language_alone():
    chart = layers_by_target(in_language(wo=80.0, en_wo=90.0))
    assert titles(chart) == ["POS tagging, accuracy, in-language", "POS tagging, accuracy, source en+wo"]
    alone, joined = ({row["value"] for row in rows} for rows in chart.to_dict()["datasets"].values())
    assert (alone, joined) == ({80.0, 75.0}, {90.0, 85.0})


def test_the_mean_of_one_language_does_not_stand_in_place_of_that_of_another():
    """Each of two languages has two corpora."""
    first = in_language(wo=80.0, ug=90.0)
    chart = layers_by_target(first + first.with_columns(corpus="another"))
    assert titles(chart) == ["POS tagging, accuracy, source wo", "POS tagging, accuracy, source ug"]
    for value, rows in zip((80.0, 90.0), chart.to_dict()["datasets"].values(), strict=True):
        assert {row["value"] for row in rows if "mean" in row["row"]} == {value, value - 5.0}
