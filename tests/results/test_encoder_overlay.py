"""Several encoders in one layer profile, on one scale of depth and over the same corpora."""

from dataclasses import replace

import pytest

from crosslens.errors import RequestError
from crosslens.report.atlas.ranking import encoder_ranking
from crosslens.report.tables import all_tables
from crosslens.results.encoder_overlay import encoder_profiles, profiles_by_kind
from crosslens.results.layer_profile import SAME, ZERO_SHOT
from crosslens.results.record import Results
from made_records import in_bfloat16, score, similarity

LOSSES = {
    "deep": (12, {"none": 0, "1-2": 12, "3-4": 6, "11-12": 1, "1-12": 30, "0-12": 40, "0-2": 20}),
    "flat": (6, {"none": 0, "1": 9, "6": 2, "1-3": 15}),
}
TARGETS = {"en": 90.0, "fr": 80.0, "de": 70.0}


def of_encoders(losses=LOSSES, *, lacking=(), seeds=(1, 2)):
    """German loses twice what French does, and English nothing; the second seed loses a point more."""
    share = {"en": 0.0, "fr": 1.0, "de": 2.0}
    return Results.of(
        score(
            target,
            base - share[target] * loss - (seed - 1) * (loss > 0),
            encoder=encoder,
            depth=depth,
            condition=condition,
            seed=seed,
        )
        for encoder, (depth, conditions) in losses.items()
        for condition, loss in conditions.items()
        for seed in seeds
        for target, base in TARGETS.items()
        if (encoder, target) not in lacking
    )


def points(results):
    return {
        (point["encoder"], point["line"], round(point["depth"], 4)): point
        for profile in encoder_profiles(results, source="en")
        for point in profile.points()
    }


def test_depth_is_scaled_and_only_small_adjacent_sets_are_drawn():
    drawn = points(of_encoders())
    assert {key[2] for key in drawn if key[0] == "deep"} == {round(x / 12, 4) for x in (1, 3, 11)}
    assert {key[2] for key in drawn if key[0] == "flat"} == {round(x / 6, 4) for x in (0.5, 5.5)}


def test_values_are_means_over_targets_and_seeds():
    drawn = points(of_encoders())
    lowest = drawn["deep", ZERO_SHOT, round(1 / 12, 4)]
    assert lowest["value"] == pytest.approx(-(12 * 1.5 + 0.5))
    assert (lowest["low"], lowest["high"]) == (pytest.approx(-19.0), pytest.approx(-18.0))
    assert drawn["flat", SAME, round(5.5 / 6, 4)]["value"] == pytest.approx(-0.5)
    assert points(of_encoders(seeds=(1,)))["deep", ZERO_SHOT, round(1 / 12, 4)]["low"] is None


def test_means_are_over_corpora_that_all_encoders_have():
    drawn = points(of_encoders(lacking={("flat", "de")}, seeds=(1,)))
    assert drawn["deep", ZERO_SHOT, round(1 / 12, 4)]["value"] == pytest.approx(-12.0)  # French alone
    assert drawn["flat", ZERO_SHOT, round(0.5 / 6, 4)]["value"] == pytest.approx(-9.0)


def test_two_versions_of_a_corpus_are_not_one_that_all_encoders_have():
    """The German file changed between the encoders: means are over French alone."""
    versions = {"deep": "a" * 64, "flat": "b" * 64}
    changed = Results.of(
        replace(each, corpus_digest=versions[each.encoder] if each.target == "de" else "c" * 64)
        for each in of_encoders(seeds=(1,))
    )
    drawn = points(changed)
    assert drawn["deep", ZERO_SHOT, round(1 / 12, 4)]["value"] == pytest.approx(-12.0)
    assert drawn["flat", ZERO_SHOT, round(0.5 / 6, 4)]["value"] == pytest.approx(-9.0)


def test_an_encoder_without_common_targets_is_left_out():
    three = {**LOSSES, "apart": LOSSES["flat"]}
    results = of_encoders(three, lacking={("apart", "fr"), ("apart", "de")})
    assert {key[0] for key in points(results)} == {"deep", "flat"}


@pytest.mark.parametrize(
    ("losses", "lacking"), [({"deep": LOSSES["deep"]}, ()), (LOSSES, {("flat", "fr"), ("flat", "de")})]
)
def test_one_encoder_is_not_compared(losses, lacking):
    with pytest.raises(RequestError, match="two encoders"):
        encoder_profiles(of_encoders(losses, lacking=lacking), source="en")


@pytest.mark.parametrize("partial", [[], ["deep"]])
def test_untrained_encoders_alone_have_no_profile(partial):
    losses = {name: (6, {"none": 0, "0-6": 9, **({"1-2": 3} if name in partial else {})}) for name in ("deep", "flat")}
    results = of_encoders(losses)
    with pytest.raises(RequestError, match="two encoders of which some layers"):
        encoder_profiles(results, source="en")
    assert encoder_ranking(results) == []
    assert {table.name for table in all_tables(results)} >= {"layer-deltas", "by-target-pos"}


def test_plot_overlays_several_encoders():
    pytest.importorskip("altair")
    chart = of_encoders().plot().to_dict()
    (panel,) = chart["concat"]
    assert {layer["encoding"]["x"]["field"] for layer in panel["layer"] if "x" in layer["encoding"]} == {"depth"}
    subtitle = "filled: zero-shot, mean of 2 languages; hollow: same language"
    assert panel["title"]["subtitle"][0] == subtitle
    (without,) = of_encoders().filter(target="fr").plot().to_dict()["concat"]
    assert without["title"]["subtitle"][0] == "filled: zero-shot"
    assert of_encoders({"deep": LOSSES["deep"]}).plot().to_dict()["concat"][0]["layer"]  # one encoder: its profile


def test_embeddings_are_no_part_of_the_depth():
    """Re-initialised alone or with the first layer, they have no place between the lowest and the highest layer."""
    losses = {name: (6, {"none": 0, "0": 9, "0-1": 7, "1": 5, "6": 1}) for name in ("one", "other")}
    assert {key[2] for key in points(of_encoders(losses))} == {round(x / 6, 4) for x in (0.5, 5.5)}


def test_an_encoder_of_two_depths_has_no_place_on_the_scale():
    """Its records are of two encoders, or one of them is wrong."""
    odd = [
        replace(each, encoder="odd", depth=24 if each.condition == "none" else each.depth)
        for each in of_encoders({"deep": LOSSES["deep"]})
    ]
    assert {key[0] for key in points(of_encoders() + Results.of(odd))} == LOSSES.keys()


def test_models_of_another_recipe_are_drawn_apart_or_named():
    """Encoders of one limit each say which; where one has two, each limit has a panel of the encoders with it."""
    deep, flat = (of_encoders({name: LOSSES[name]}) for name in LOSSES)
    small, large = (deep.with_columns(settings=f"limit={limit}") for limit in (100, 200))
    flat = flat.with_columns(settings="limit=200")
    alone = profiles_by_kind(small + flat, source="en")
    assert {kind: [each.name for each in of] for kind, of in alone.items()} == {
        "": ["deep, limit=100", "flat, limit=200"]
    }
    several = profiles_by_kind(small + large + flat, source="en")
    assert {kind: [each.name for each in of] for kind, of in several.items()} == {"limit=200": ["deep", "flat"]}
    drawn = {row["encoder"] for row in (small + flat).plot().to_dict()["datasets"].popitem()[1]}
    assert drawn == {"deep, limit=100", "flat, limit=200"}


def test_an_encoder_in_two_precisions_has_two_profiles():
    """It loses 5 points more in bfloat16; the other encoder was used in float32 only."""
    both = of_encoders(seeds=(1,))
    deep, flat = (both.filter(encoder=name) for name in LOSSES)
    results = both + Results.of(in_bfloat16(each, lost=5.0) for each in deep)
    lowest = {key[0]: point["value"] for key, point in points(results).items() if key[1] == ZERO_SHOT and key[2] < 0.09}
    assert lowest == pytest.approx({"deep": -18.0, "deep, precision=bfloat16": -23.0, "flat": -13.5})
    drawn = {row["encoder"] for row in results.plot().to_dict()["datasets"].popitem()[1]}
    assert drawn == lowest.keys()
    alone = Results.of(map(in_bfloat16, deep)) + flat
    assert {key[0] for key in points(alone)} == {"deep, precision=bfloat16", "flat"}
    assert {key[0] for key in points(Results.of(map(in_bfloat16, both)))} == LOSSES.keys()  # in the same precision


def test_encoders_without_a_kind_of_models_in_common_are_refused():
    with pytest.raises(RequestError, match="no two encoders"):
        profiles_by_kind(of_encoders({"deep": LOSSES["deep"]}), source="en")
    references = of_encoders().filter(condition="none")
    with pytest.raises(
        RequestError, match=r"no two encoders.*plot one encoder at a time: results\.filter\(encoder=…\)"
    ):
        references.plot()


def test_an_encoder_has_one_colour_and_one_shape_in_all_panels():
    """The second panel lacks the first encoder."""
    names = ("first", "second", "third")
    large = of_encoders({name: LOSSES["flat"] for name in names}).with_columns(settings="limit=200")
    small = large.filter(encoder=names[1:]).with_columns(settings="limit=100")
    panels = (large + small).plot().to_dict()["concat"]
    assert [panel["title"]["text"] for panel in panels] == ["limit=200", "limit=100"]
    for channel in ("color", "shape"):
        scales = [
            layer["encoding"][channel]["scale"]
            for panel in panels
            for layer in panel["layer"]
            if channel in layer["encoding"]
        ]
        looks = {(name, look) for scale in scales for name, look in zip(scale["domain"], scale["range"], strict=True)}
        assert sorted(name for name, _ in looks) == sorted(names)


def test_similarities_beside_scores_change_no_profile():
    """They come first, and from another language than the models are trained on."""
    scores = of_encoders()
    beside = Results.of([similarity("cka", 0.5, encoder="deep", source="de")])
    assert (beside + scores).plot().to_dict() == scores.plot().to_dict()


@pytest.mark.parametrize(("axis", "value"), [("source", "de"), ("task", "ner"), ("metric", "f1")])
def test_encoders_of_several_sources_tasks_or_metrics_are_not_overlaid(axis, value):
    """Otherwise German scores of the models trained on German would be in the mean of their zero-shot scores."""
    deep, flat = (of_encoders().filter(encoder=name) for name in LOSSES)
    for results in (
        deep + flat.with_columns(**{axis: value}),
        of_encoders() + of_encoders().with_columns(**{axis: value}),
    ):
        with pytest.raises(RequestError, match=rf"several {axis}s: .*{value} \(give results of one only"):
            results.plot()


def test_an_encoder_whose_records_contradict_one_another_is_not_left_out_silently():
    three = of_encoders({**LOSSES, "third": LOSSES["deep"]})
    wrong = [replace(each, value=each.value + 1) for each in three if each.encoder == "third"]
    with pytest.raises(RequestError, match="contradict one another"):
        (three + Results.of(wrong)).plot()
    with pytest.raises(RequestError, match="contradict one another"):
        (three + Results.of(wrong)).filter(encoder="third").plot()
