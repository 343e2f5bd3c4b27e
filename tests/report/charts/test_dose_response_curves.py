"""Curves of scores over similarity, from made-up records."""

import pytest

from crosslens.encoders.condition import Condition
from crosslens.errors import RequestError
from crosslens.report.charts.dose_response_curves import dose_response_curves
from crosslens.report.charts.figures import all_figures
from crosslens.results.record import Results
from made_records import score, similarity


def doses():
    """Noise costs other languages 20 points per unit of CKA and the source 10; means are moved with CKA as it is."""
    records = []
    changes = {
        "none": (0.7, 0.0, 0.0),
        '{"noise": "6.output", "noise_dose": 2}': (0.4, -3.0, -6.0),
        '{"noise": "6.output", "noise_dose": 1}': (0.6, -1.0, -2.0),
        '{"erase": "6.output", "erase_dose": -1}': (0.7, 0.0, -4.0),
        '{"erase": "6.output"}': (0.7, 0.0, 4.0),
    }
    for text, (cka, same, cross) in changes.items():
        condition = Condition.parse(text) if text != "none" else Condition()
        at = {"state": "fine-tuned", "task": "pos", "source": "en", "depth": 12, "seed": 1, **condition.columns}
        records.append(similarity("cka", cka, layer=6, target="fr", **at))
        records += [score("en", 95.0 + same, condition=condition), score("fr", 80.0 + cross, condition=condition)]
    return Results.of(records)


def points():
    drawn = dose_response_curves(doses()).to_dict()
    (panel,) = drawn["concat"]
    assert {layer["title"] for layer in panel["layer"]} == {"POS tagging, accuracy, source en, CKA"}
    ((_, values),) = drawn["datasets"].items()
    return values


def test_a_point_for_each_dose_and_score():
    at = {(point["dose"], point["score"]): (point["similarity"], point["change"]) for point in points()}
    assert at["noise=1", "zero-shot, mean"] == pytest.approx((0.6, -2.0))
    assert at["noise=2", "same language"] == pytest.approx((0.4, -3.0))
    assert at["erase", "zero-shot, mean"] == pytest.approx((0.7, 4.0))
    assert len(points()) == 12  # two interventions with three doses, the unchanged model among them; two scores


def test_lines_follow_the_doses_through_the_unchanged_model():
    erased = [point for point in points() if point["intervention"] == "erase 6.output" and "zero" in point["score"]]
    assert [point["dose"] for point in sorted(erased, key=lambda point: point["place"])] == [
        "erase=-1",
        "none",
        "erase",
    ]


def legend(results):
    """The scores that the legend lists."""
    described = dose_response_curves(results).to_dict()
    (encoding,) = [layer["encoding"] for layer in described["concat"][0]["layer"] if "strokeDash" in layer["encoding"]]
    return encoding["strokeDash"]["scale"]["domain"]


def test_the_legend_lists_the_scores_that_there_are():
    assert legend(doses()) == ["zero-shot, mean", "same language"]
    assert legend(doses().filter(target="fr")) == ["zero-shot, mean"]


def test_it_is_among_the_figures_where_similarity_of_changed_models_was_measured():
    assert "dose-response" in all_figures(doses())
    with pytest.raises(RequestError, match="no similarity of changed models"):
        dose_response_curves(doses().filter(measure=None))
