"""Figures say what their bands, bars and ticks are, and only where they are drawn."""

from dataclasses import replace

import pytest

from crosslens.report.charts.figures import by_seed, correlation_by_layer, layer_profiles
from crosslens.report.charts.intervention_profiles import intervention_profiles
from crosslens.report.charts.pretraining_curves import pretraining_curves
from crosslens.report.significance import significance_of
from crosslens.results.chart import DASHES, SENTENCE_PAIRS, similarity_chart
from crosslens.results.probe_chart import probe_chart
from crosslens.results.record import Results
from made_records import along_pretraining, score, similarity
from made_sections import probes

pytest.importorskip("altair")


def key(chart):
    """The lines above a chart, or above its first panel."""
    title = first_title(chart.to_dict())
    text, about = (title.get(name, []) for name in ("text", "subtitle"))
    return [*([text] if isinstance(text, str) else text), *about]


def first_title(described):
    if isinstance(described.get("title"), dict):
        return described["title"]
    parts = (part for name in ("concat", "vconcat", "layer") for part in described.get(name, []))
    return next(filter(None, map(first_title, parts)), None)


def pairs(*targets, layers=(0, 1), measure="cka"):
    return [
        similarity(measure, 0.5 + 0.1 * place, target=target, layer=layer)
        for place, target in enumerate(targets)
        for layer in layers
    ]


def test_similarity_says_that_bands_are_over_language_pairs():
    assert key(similarity_chart(Results.of(pairs("fr", "de")))) == ["bands: 10th to 90th percentile of the pairs"]
    assert "title" not in similarity_chart(Results.of(pairs("fr"))).to_dict()
    assert "title" not in similarity_chart(Results.of(pairs("fr", "de", layers=(6,)))).to_dict()


def test_a_single_layer_has_points_for_baselines_too():
    """A line of one point would show nothing."""
    for layers, filtered in (((6,), False), ((0, 6), True)):
        records = [*pairs("fr", layers=layers), *pairs("fr", layers=layers, measure="cka_shuffled")]
        points = similarity_chart(Results.of(records)).to_dict()["layer"][-1]
        assert points["mark"]["type"] == "point"
        assert ("transform" in points) == filtered


def test_a_kind_of_sentences_has_one_style_whatever_else_was_measured():
    for endings in (("", "_shuffled"), ("", "_length_matched", "_shuffled")):
        records = [record for ending in endings for record in pairs("fr", measure=f"cka{ending}")]
        chart = similarity_chart(Results.of(records)).to_dict()
        scale = next(
            layer["encoding"]["strokeDash"]["scale"] for layer in chart["layer"] if "strokeDash" in layer["encoding"]
        )
        kinds = [kind for ending, kind in SENTENCE_PAIRS.items() if ending in endings]
        assert scale == {"domain": kinds, "range": [DASHES[kind] for kind in kinds]}


def test_probes_say_that_bands_are_intervals_of_one_seed():
    ends = [replace(each, low=each.value - 1, high=each.value + 1) for each in probes()]
    assert key(probe_chart(Results.of(ends))) == ["bands: 95 % intervals over test texts or sentences"]
    seeds = [replace(each, seed=seed) for each in ends for seed in (1, 2)]
    assert "title" not in probe_chart(Results.of(seeds)).to_dict()


def test_lines_along_pretraining_say_which_are_dashed_and_that_bands_are_over_seeds():
    styles = "solid: zero-shot scores; dashed: anything else"
    assert key(pretraining_curves(along_pretraining([1, 2])))[1:] == [styles, "bands: lowest and highest of 2 seeds"]
    assert key(pretraining_curves(along_pretraining([1])))[1:] == [styles]


def treated(seeds):
    conditions = {"none": 90.0, "1-2": 80.0, "3-4": 85.0}
    trained = [
        score(target, value + seed * (condition != "none"), seed=seed, condition=condition)
        for condition, value in conditions.items()
        for target in ("en", "fr")
        for seed in seeds
    ]
    return Results.of([*trained, *(score("fr", 70.0 + seed, seed=seed, condition={"zero": "1-2"}) for seed in seeds)])


def test_interventions_say_that_bars_are_over_seeds():
    assert key(intervention_profiles(treated([1, 2, 3])))[1:] == ["bars: lowest and highest of 3 seeds"]
    assert key(intervention_profiles(treated([1])))[1:] == []


def test_seeds_say_what_lines_are():
    panel = by_seed(treated([1, 2])).to_dict()["spec"]
    assert {layer["encoding"]["y"].get("title") for layer in panel["layer"]} >= {"zero-shot score, points; line: mean"}


@pytest.mark.parametrize("seeds", [(1,), (1, 2)])
def test_intervals_of_the_profile_say_what_they_are_over(seeds):
    """With one seed, only sentences can be drawn again."""
    results = Results.of(replace(each, low=each.value - 2, high=each.value + 2, n=100) for each in treated(seeds))
    over = {interval["interval"] for rows in significance_of(results).rows.values() for interval in rows}
    bars = key(layer_profiles(results, significance=significance_of(results)))[-1]
    assert len(over) == 1
    assert bars == f"bars: 95 % intervals over {over.pop()}"


def test_correlations_by_layer_say_that_bands_are_over_languages():
    gaps = {"fr": 88.0, "sv": 80.0, "de": 84.0, "ru": 70.0, "zh": 60.0, "ar": 65.0}
    alike = [
        similarity("cka", value + 0.1 * layer, layer=layer, target=target)
        for layer in (0, 1)
        for target, value in zip(gaps, (0.8, 0.5, 0.6, 0.55, 0.3, 0.2), strict=True)
    ]
    results = Results.of([score("en", 96.0), *(score(target, gap) for target, gap in gaps.items()), *alike])
    assert "bands: 95 % intervals over languages" in key(correlation_by_layer(results))


def test_panels_of_seeds_stand_in_the_order_of_the_results():
    tagged = [score("fr", 80.0 + seed, seed=seed) for seed in (1, 2)]
    recognised = [replace(each, task="ner", metric="f1") for each in tagged]
    drawn = by_seed(Results.of([*tagged, *recognised])).to_dict()
    assert [title.split(",")[0] for title in drawn["facet"]["sort"]] == ["POS tagging", "NER"]
