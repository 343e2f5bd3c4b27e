import json
import re
from dataclasses import replace

import pytest

from crosslens.encoders.condition import Condition
from crosslens.errors import RequestError
from crosslens.report.tables import layer_deltas
from crosslens.results.chart import compared_scores, score_chart
from crosslens.results.layer_profile import (
    DARK,
    LIGHT,
    SAME,
    TARGET,
    ZERO_SHOT,
    profile_chart,
    profiles_by_variant,
)
from crosslens.results.record import Record, Results
from made_records import score

pytest.importorskip("altair")

SCORES = {"en": 96.0, "fr": 88.0, "العربية": 70.0, "中文": 60.0}
LOSSES = {"none": 0.0, "1-2": 10.0, "3-4": 4.0, "5-6": -1.0, "1-6": 20.0, "0-6": 40.0}


def records(seeds=(1, 2), losses=LOSSES, scores=SCORES):
    """Other languages lose twice what English loses, and each seed half a point more than the one before."""
    return Results.of(
        Record(
            task="pos",
            encoder="e",
            source="en",
            target=target,
            metric="accuracy",
            split="test",
            value=score - loss * (1 if target == "en" else 2) - (seed / 2 if loss else 0.0),
            seed=seed,
            **Condition.read(layers).columns,
        )
        for seed in seeds
        for layers, loss in losses.items()
        for target, score in scores.items()
    )


def only_profile(results, *, source):
    (profile,) = profiles_by_variant(results, source=source)
    return profile


def points(profile):
    return {(point["line"], point["layers"]): point for point in profile.points()}


def test_values_are_those_of_the_table():
    profile = only_profile(records(), source="en")
    (table,) = layer_deltas(records())
    ((same, cross),) = table.groups.values()
    for row, line in ((same, SAME), (cross, ZERO_SHOT)):
        shown = {
            head.removeprefix("Δ ").replace("-", "–"): cell.value
            for head, cell in zip(table.head, row.cells, strict=True)
        }
        drawn = {layers: point["value"] for (name, layers), point in points(profile).items() if name == line}
        assert len(drawn) == 5
        assert drawn == {layers: pytest.approx(shown[layers]) for layers in drawn}


def test_layers_stand_from_bottom_to_top_and_wide_sets_behind():
    profile = only_profile(records(), source="en")
    layers = [layers for line, layers in points(profile) if line == SAME]
    assert layers == ["1–2", "3–4", "5–6", "1–6", "0–6"]
    sizes = {layers: point["size"] for (_, layers), point in points(profile).items()}
    assert len({sizes[pair] for pair in ("1–2", "3–4", "5–6")}) == 1  # which one line connects
    assert len(set(sizes.values())) == 3


def test_the_reference_and_every_target_are_named():
    profile = only_profile(records(), source="en")
    assert profile.reference == "same language 96.0 · zero-shot 72.7 (3 languages)"
    assert {line for line, _ in points(profile)} == {SAME, ZERO_SHOT, "fr", "العربية", "中文"}
    joined = only_profile(records().with_columns(source="en+fr"), source="en+fr")
    assert joined.reference.startswith("same language 92.0 (2 languages) · zero-shot 65.0 (2 languages)")
    more = records().with_columns(corpus="a") + records().with_columns(corpus="b")
    assert only_profile(more, source="en").reference == "same language 96.0 (2 corpora) · zero-shot 72.7 (6 scores)"


def test_bars_are_seeds_unless_there_are_intervals():
    two, one = only_profile(records(), source="en"), only_profile(records(seeds=[1]), source="en")
    assert two.bars == "bars: lowest and highest of 2 seeds"
    bar = points(two)[ZERO_SHOT, "1–2"]
    assert (bar["low"], bar["high"]) == (pytest.approx(-21.0), pytest.approx(-20.5))
    assert points(two)["fr", "1–2"]["low"] is None
    assert (one.bars, points(one)[SAME, "1–2"]["low"]) == ("", None)
    known = {(SAME, two.columns[0]): (-12.0, -9.0, "seeds and sentences")}
    (intervals,) = profiles_by_variant(records(), source="en", intervals=known)
    assert intervals.bars == "bars: 95 % intervals over seeds and sentences"
    assert (points(intervals)[SAME, "1–2"]["low"], points(intervals)[ZERO_SHOT, "1–2"]["low"]) == (-12.0, None)


def test_other_interventions_and_missing_references_are_no_profile():
    frozen = Record(task="pos", encoder="e", source="en", target="en", metric="accuracy", value=1.0, seed=1)
    frozen = Results.of([frozen, replace(frozen, **Condition(freeze="0-3").columns)])
    for results in (frozen, records(losses={"1-2": 3.0})):
        with pytest.raises(RequestError, match="no model with re-initialised layers and its reference"):
            only_profile(results, source="en")


@pytest.mark.parametrize("scores", [{"en": 96.0}, {"fr": 80.0, "de": 70.0}, {"en": 96.0, "fr": 80.0}])
def test_it_is_drawn_of_any_part(scores):
    import vl_convert

    chart = profile_chart(profiles_by_variant(records(scores=scores), source="en", title="pos") * 3, ink=DARK)
    texts = re.findall(r">([^<>]+)</text>", vl_convert.vegalite_to_svg(chart.to_json()))
    assert texts.count("pos") == 3
    lowest = {"en": "−10.8", "fr": "−20.8"}
    assert [text for text in texts if text in lowest.values()] == [
        lowest[target] for target in ("fr", "en") if target in scores
    ] * 3


def test_numbers_of_a_profile_are_written_as_in_tables():
    import vl_convert

    chart = profile_chart([only_profile(records(seeds=(0,), losses={"none": 0.0, "1-2": 0.04}), source="en")])
    texts = re.findall(r">([^<>]+)</text>", vl_convert.vegalite_to_svg(chart.to_json()))
    assert "+0.0" in texts  # English loses 0.04, the others 0.08
    assert "−0.1" in texts


def test_models_that_read_text_in_other_ways_have_profiles_of_their_own():
    """Losses of 9 points read from the last subword and of 4 points without the causal mask, by hand."""
    readings = {"subword=last": ({"subword": "last"}, 9.0), "bidirectional all": ({"bidirectional": "all"}, 4.0)}
    results = Results.of(
        score(target, value - loss * bool(layers), condition={**layers, **reading})
        for reading, loss in readings.values()
        for layers in ({}, {"layers": "1-2"})
        for target, value in (("en", 90.0), ("fr", 70.0))
    )
    first, second = profiles_by_variant(results, source="en", title="pos")
    assert [first.title, second.title] == [f"pos, {name}" for name in readings]
    assert [points(profile)[ZERO_SHOT, "1–2"]["value"] for profile in (first, second)] == [-9.0, -4.0]
    panels = results.plot().to_dict()["concat"]
    assert [panel["title"]["text"] for panel in panels] == list(readings)
    maps = compared_scores(results)
    assert [compared.variant for compared in maps] == list(readings)
    assert [compared.differences["fr", compared.columns[1]] for compared in maps] == [-9.0, -4.0]
    assert len(score_chart(results).to_dict()["concat"]) == 2


def test_the_line_of_zero_shot_transfer_is_solid_and_that_of_the_same_language_dashed():
    chart = profile_chart([only_profile(records(), source="en")], ink=DARK).to_dict()
    marks = [layer for layer in _layers_of(chart) if isinstance(layer["mark"], dict) and "strokeDash" in layer["mark"]]
    assert len(marks) == 2
    for layer in marks:
        (line,) = [name for name in (ZERO_SHOT, SAME) if name in json.dumps(layer["transform"])]
        assert layer["mark"]["strokeDash"] == ([1, 0] if line == ZERO_SHOT else [4, 3])


@pytest.mark.parametrize("ink", [LIGHT, DARK])
def test_marks_and_numbers_have_the_colour_of_their_line(ink):
    chart = profile_chart([only_profile(records(), source="en")], ink=ink).to_dict()
    colours = {SAME: ink.same, ZERO_SHOT: ink.zero_shot, TARGET: ink.target}
    numbers = {}
    for layer in _layers_of(chart):
        encoding = layer["encoding"]
        for channel, expected in (("color", colours), ("fill", {**colours, SAME: ink.paper})):
            if channel in encoding:
                scale = encoding[channel]["scale"]
                assert dict(zip(scale["domain"], scale["range"], strict=True)) == expected
                assert encoding[channel]["legend"]["labelColor"] == ink.muted
        if layer["mark"]["type"] == "text":
            (value,) = chart["datasets"][layer["data"]["name"]]
            numbers[value["of"]] = layer["mark"]["color"]
    assert numbers == {SAME: ink.same, ZERO_SHOT: ink.zero_shot}


def _layers_of(chart):
    """All layers with a mark, at any depth."""
    for name in ("layer", "hconcat", "vconcat", "concat"):
        for part in chart.get(name, ()):
            yield from _layers_of(part)
    if "mark" in chart:
        yield chart


def test_bars_of_unequal_numbers_of_seeds_name_both_ends():
    """Four seeds of layers 1-2, three of 1-6 and two of 5-6; of layers 3-4 there is one, which has no bar."""
    seeds = {"none": range(1, 5), "1-2": range(1, 5), "1-6": (1, 2, 3), "5-6": (1, 2), "3-4": (1,)}
    results = Results.of(
        each for layers, chosen in seeds.items() for each in records(seeds=chosen, losses={layers: LOSSES[layers]})
    )
    assert only_profile(results, source="en").bars == "bars: lowest and highest of 2 to 4 seeds"
    of_single_languages = results.filter(target=["en", "fr"]) + results.filter(target="中文", seed=[1, 2])
    assert only_profile(of_single_languages.filter(target=["fr", "中文"]), source="en").bars == (
        "bars: lowest and highest of 2 seeds"
    )


def test_numbers_stand_between_the_axis_and_their_marks():
    """A figure is about half as wide as the font, which has 11 pixels, is high."""
    import vl_convert

    chart = profile_chart([only_profile(records(), source="en")])
    labels = re.findall(
        r"translate\(([-\d.]+),[-\d.]+\)[^<]*>(−[12]0\.8)</text>", vl_convert.vegalite_to_svg(chart.to_json())
    )
    assert {text for _, text in labels} == {"−10.8", "−20.8"}
    assert all(float(right) >= 11 / 2 * len(text) for right, text in labels)


def test_numbers_stand_apart_where_bars_make_the_axis_long():
    """Two points are far apart among changes of 40 points, and close beside bars of 400."""

    losses = {"none": 0.0, "1-2": 3.0, "3-4": 20.0}

    def shifts(**intervals):
        chart = profile_chart(profiles_by_variant(records(losses=losses), source="en", **intervals))
        return [int(shift) for shift in re.findall(r'"dy": (-?\d+)', chart.to_json())]

    (column, *_) = only_profile(records(), source="en").columns
    assert shifts() == [0, 0]
    assert shifts(intervals={(SAME, column): (-200.0, 200.0, "sentences")}) == [6, -6]


@pytest.mark.parametrize(("gain", "shift"), [(0.1, -8), (-0.1, 8)])
def test_a_number_near_zero_stands_off_the_line_of_zero(gain, shift):
    losses = {"none": 0.0, "1-2": -gain, "3-4": 20.0}
    profiles = profiles_by_variant(records(scores={"en": 96.0}, losses=losses, seeds=[0]), source="en")
    assert re.findall(r'"dy": (-?\d+)', profile_chart(profiles).to_json()) == [str(shift)]


def test_intervals_say_what_each_of_them_is_over():
    """A condition with one seed has an interval over sentences only."""
    columns = only_profile(records(), source="en").columns
    known = {(SAME, columns[0]): (-12.0, -9.0, "seeds and sentences"), (SAME, columns[1]): (-2.0, 1.0, "sentences")}
    (profile,) = profiles_by_variant(records(), source="en", intervals=known)
    assert profile.bars == "bars: 95 % intervals over seeds and sentences, or over sentences"
    (other,) = profiles_by_variant(records(), source="fr", intervals={(SAME, columns[0]): known[SAME, columns[0]]})
    assert (other.bars == "") == (SAME not in other.lines)


def test_bars_of_both_means_stand_beside_each_other():
    chart = profile_chart([only_profile(records(), source="en")]).to_dict()
    (panel,) = chart["concat"]
    offsets = [
        layer["mark"]["xOffset"]
        for layer in panel["layer"]
        if layer["mark"]["type"] == "rule" and "xOffset" in layer["mark"]
    ]
    assert len(set(offsets)) == 2


@pytest.mark.parametrize(
    ("targets", "kinds"),
    [
        (("en", "fr", "de"), [SAME, ZERO_SHOT, TARGET]),
        (("en", "fr"), [SAME, ZERO_SHOT]),
        (("en",), [SAME]),
        (("fr", "de"), [ZERO_SHOT, TARGET]),
    ],
)
def test_the_legend_explains_what_is_drawn(targets, kinds):
    import vl_convert

    chart = profile_chart([only_profile(records(scores=dict.fromkeys(targets, 80.0)), source="en")])
    texts = re.findall(r">([^<>]+)</text>", vl_convert.vegalite_to_svg(chart.to_json()))
    assert [text for text in texts if text in (SAME, ZERO_SHOT, TARGET)] == kinds
