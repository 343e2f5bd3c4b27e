"""Scatter plots: the values that were correlated, with coefficients in words."""

import dataclasses

import pytest

from crosslens.errors import RequestError
from crosslens.report.charts.figures import correlation_by_layer
from crosslens.report.charts.scatter import gap_against_similarity, score_against_overlap
from crosslens.results.record import Record, Results
from crosslens.similarity.correlate import correlate
from made_records import score, similarity

SCORES = {"en": 96.0, "fr": 88.0, "sv": 80.0, "de": 84.0}
SHARED = {"fr": 40.0, "sv": 25.0, "de": 33.0}


def scores(values, *, encoder="e"):
    records = (score(target, value, split="test") for target, value in values.items())
    return Results.of(dataclasses.replace(record, encoder=encoder) for record in records)


def overlaps(values, measure="overlap_types"):
    return Results.of(
        Record(encoder="e", source="en", target=target, measure=measure, metric="overlap", value=value, split="test")
        for target, value in values.items()
    )


def panels(chart):
    """Title -> (subtitle, marks, points, names)."""
    described = chart.to_dict()
    shown = {}
    for panel in described["concat"]:
        data = [layer.get("data", panel.get("data")) for layer in panel["layer"]]
        data = [each["values"] if "values" in each else described["datasets"][each["name"]] for each in data]
        marks = [layer["mark"]["type"] for layer in panel["layer"]]
        points = {row["language"]: (row["similarity"], row["outcome"]) for row in data[marks.index("point")]}
        names = [row["language"] for row in data[marks.index("text")]]
        shown[panel["title"]["text"]] = (panel["title"]["subtitle"], marks, points, names)
    return shown


def test_overlap_is_drawn_against_the_score_with_types_beside_tokens():
    tokens = overlaps({target: 90.0 - value for target, value in SHARED.items()}, "overlap_tokens")
    drawn = panels(score_against_overlap(scores(SCORES) + overlaps(SHARED) + tokens))
    assert list(drawn) == ["POS tagging, source en, types", "POS tagging, source en, tokens"]
    subtitle, marks, points, names = drawn["POS tagging, source en, types"]
    by_hand = correlate({t: SCORES[t] for t in SHARED}, SHARED, coefficient="pearson")
    assert subtitle == [
        f"r {by_hand.value:.2f}, p {by_hand.p:.3f}, 3 languages",
        "dashed: least-squares line",
        "3 languages are too few to say anything",
    ]
    assert marks == ["line", "point", "text"]
    assert points == {target: (value, SCORES[target]) for target, value in SHARED.items()}
    assert sorted(names) == sorted(SHARED)


def test_scores_need_no_score_in_the_source_language():
    zero_shot = {target: SCORES[target] for target in SHARED}
    (_, _, points, _) = panels(score_against_overlap(scores(zero_shot) + overlaps(SHARED)))[
        "POS tagging, source en, types"
    ]
    assert points == {target: (SHARED[target], value) for target, value in zero_shot.items()}
    with pytest.raises(RequestError, match="no pos scores of en models in another language"):
        score_against_overlap(scores({"en": 96.0}) + overlaps(SHARED))


def test_gaps_are_drawn_against_similarity_for_each_source_and_encoder():
    alike = {"fr": 0.8, "sv": 0.5, "de": 0.6}
    results = Results.of([])
    for encoder in ("e", "f"):
        results += scores(SCORES, encoder=encoder)
        results += Results.of(similarity("cka", value, target=t, encoder=encoder) for t, value in alike.items())
    drawn = panels(gap_against_similarity(results))
    assert list(drawn) == ["POS tagging, source en, e, pretrained", "POS tagging, source en, f, pretrained"]
    for subtitle, _, points, _ in drawn.values():
        assert subtitle[0].startswith("ρ −1.00, p ")
        assert points == {target: (value, 96.0 - SCORES[target]) for target, value in alike.items()}


@pytest.mark.parametrize(
    ("values", "shared", "reason"),
    [
        (dict.fromkeys(SCORES, 80.0), SHARED, "all scores are equal"),
        (SCORES, dict.fromkeys(SHARED, 30.0), "all overlaps are equal"),
        (dict.fromkeys(SCORES, 80.0), dict.fromkeys(SHARED, 30.0), "all scores and all overlaps are equal"),
    ],
)
def test_a_constant_side_has_a_reason_and_neither_coefficient_nor_line(values, shared, reason):
    ((subtitle, marks, _, _),) = panels(score_against_overlap(scores(values) + overlaps(shared))).values()
    assert subtitle[:2] == [f"no coefficient: {reason}", "3 languages are too few to say anything"]
    assert marks == ["point", "text"]


def test_languages_without_room_for_a_name_are_counted():
    crowd = {f"a long name {number}": 50.0 + number % 2 for number in range(30)}
    ((subtitle, _, points, names),) = panels(score_against_overlap(scores(crowd) + overlaps(crowd))).values()
    assert len(points) == 30
    assert subtitle[-1] == f"{30 - len(names)} of 30 languages not named, for lack of room"


def test_the_name_of_a_language_stands_at_its_point():
    """Names are placed in pixels from the top left, points by their values."""
    described = score_against_overlap(scores(SCORES) + overlaps(SHARED)).to_dict()
    (panel,) = described["concat"]
    *_, text = panel["layer"]
    names = {row["language"]: row for row in described["datasets"][text["data"]["name"]]}
    assert names.keys() == SHARED.keys()
    for channel, values, length in (("x", SHARED, panel["width"]), ("y", SCORES, panel["height"])):
        low, high = panel["layer"][1]["encoding"][channel]["scale"]["domain"]
        for target, row in names.items():
            share = (values[target] - low) / (high - low)
            at = length * (share if channel == "x" else 1 - share)
            assert row[channel] == pytest.approx(at, abs=15)  # beside the point, or above or below it


def test_coefficients_by_layer_are_drawn_with_both_ends_of_their_interval():
    gaps = {"fr": 88.0, "sv": 80.0, "de": 84.0, "ru": 70.0, "zh": 60.0, "ar": 65.0}
    alike = {
        0: dict(zip(gaps, (0.8, 0.5, 0.6, 0.55, 0.3, 0.2), strict=True)),
        1: dict(zip(gaps, range(6), strict=True)),
    }
    results = scores({"en": 96.0, **gaps}) + Results.of(
        similarity("cka", value, layer=layer, target=target)
        for layer in alike
        for target, value in alike[layer].items()
    )
    (rows,) = correlation_by_layer(results).to_dict()["datasets"].values()
    assert [row["layer"] for row in rows] == [0, 1]
    for row in rows:
        by_hand = correlate({target: 96.0 - value for target, value in gaps.items()}, alike[row["layer"]])
        assert (row["value"], row["low"], row["high"]) == pytest.approx((by_hand.value, by_hand.low, by_hand.high))
        assert row["low"] < row["value"] < row["high"]
