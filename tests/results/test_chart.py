"""What charts are drawn of: means and bands over pairs, differences, and the names of rows."""

import re
from dataclasses import replace

import numpy as np
import pytest

from crosslens.encoders.condition import Condition
from crosslens.errors import RequestError
from crosslens.results.cells import Column
from crosslens.results.chart import (
    State,
    by_state,
    compared_scores,
    corpus_names,
    pair_cells,
    row_names,
    short_label,
    similarity_chart,
)
from crosslens.results.layer_profile import SAME, TARGET, ZERO_SHOT, profiles_by_variant
from crosslens.results.record import Record, Results
from made_records import score
from made_results import similarity

VALUES = {"fr": 0.9, "de": 0.2, "ru": 0.7, "hi": 0.4, "ja": 0.1, "zh": 0.5}


def drawn(results, **more):
    pytest.importorskip("altair")
    chart = similarity_chart(results, **more).to_dict()
    (rows,) = chart["datasets"].values()
    return rows


def test_bands_cover_80_percent_of_the_pairs_of_different_languages():
    """The pair of a language with itself, of two encoders, is in neither the mean nor the band."""
    pairs = [similarity(f"en-{target}", 0, value) for target, value in VALUES.items()]
    (row,) = drawn(Results.of([*pairs, similarity("en-en", 0, 1.0)]))
    low, high = np.quantile(list(VALUES.values()), [0.1, 0.9])
    assert (row["value"], row["low"], row["high"]) == pytest.approx((np.mean(list(VALUES.values())), low, high))
    assert row["pairs"] == len(VALUES)
    with pytest.raises(RequestError, match="no cka of two different languages"):
        drawn(Results.of([similarity("en-en", 0, 1.0)]))


def test_means_of_several_encoders_are_over_the_pairs_that_all_have():
    """The mean over all pairs of the first is lower than that of the second, which has only the easy ones."""
    of = {"a": {"fr": 0.9, "de": 0.7, "ja": 0.1}, "b": {"fr": 0.8, "de": 0.6}}
    records = [
        replace(similarity(f"en-{target}", 0, value), encoder=encoder)
        for encoder, pairs in of.items()
        for target, value in pairs.items()
    ]
    assert [(row["pairs"], round(row["value"], 6)) for row in drawn(Results.of(records))] == [(2, 0.8), (2, 0.7)]
    (row,) = drawn(Results.of(records[:3]))
    assert (row["pairs"], round(row["value"], 6)) == (3, 0.566667)


def test_pairs_of_different_languages_are_the_rows():
    table = pair_cells(Results.of([similarity(pair, 0, 0.5) for pair in ("en-fr", "en-en", "fr-en", "fr-fr")]))
    assert [row[:2] for row in table.rows] == [("en", "fr"), ("fr", "en")]


def losing(*losses, targets=("en", "fr", "de", "ru")):
    """Scores of a reference and of re-initialised layers, which lose so much in each language."""
    rows = [score(target, 90.0) for target in targets]
    return [*rows, *(score(t, 90.0 - loss, condition="1-2") for t, loss in zip(targets, losses, strict=True))]


def test_the_colour_scale_is_as_wide_as_the_largest_gain_or_loss():
    widest = {loss: compared_scores(Results.of(losing(0.0, loss, 1.0, 1.0)))[0].widest for loss in (30.0, -9.0, 2.0)}
    assert widest == {30.0: 30.0, -9.0: 9.0, 2.0: 5.0}


def test_means_of_a_heat_map_are_named_and_taken_over_their_own_languages():
    """A corpus of an unknown language is in neither mean."""
    unknown = [replace(row, target=None, corpus="mine") for row in losing(50.0, targets=("xx",))]
    (compared,) = compared_scores(Results.of([*losing(1.0, 10.0, 20.0, 60.0), *unknown]))
    assert compared.rows == ("en", "fr", "de", "ru", "zero-shot, mean of 3", "?")
    (column,) = (column for column in compared.columns if not column.condition.is_reference)
    assert compared.differences["zero-shot, mean of 3", column] == pytest.approx(-30.0)
    assert compared.differences["en", column] == pytest.approx(-1.0)


def test_rows_are_named_by_corpus_or_partner_only_where_there_are_several():
    rows = [("fr", "a", None), ("fr", "b", None), ("de", "c", None)]
    assert list(row_names(rows).values()) == ["fr a", "fr b", "de"]
    bilingual = [("en", "a", "fr"), ("fr", "b", "fr"), ("en", "a", "de")]
    assert list(row_names(bilingual).values()) == ["en with fr", "fr", "en with de"]


def test_a_profile_counts_what_its_mean_is_over_and_its_bars_are_of_seeds_of_means():
    """French has two corpora, which count alike in the mean; a line of a single language has no bar."""
    seeds = [
        replace(row, seed=seed, value=row.value - seed * (row.condition != "none"))
        for seed in (1, 2)
        for row in (
            *losing(1.0, 10.0, 20.0, 60.0),
            *(replace(r, corpus="fr_gsd") for r in losing(4.0, targets=("fr",))),
        )
    ]
    (profile,) = profiles_by_variant(Results.of(seeds), source="en")
    assert profile.reference == "same language 90.0 · zero-shot 90.0 (4 corpora)"
    assert profile.bars == "bars: lowest and highest of 2 seeds"
    points = {point["line"]: point for point in profile.points()}
    assert (points[ZERO_SHOT]["low"], points[ZERO_SHOT]["high"]) == (pytest.approx(-25.5), pytest.approx(-24.5))
    assert (points[SAME]["low"], points[SAME]["high"]) == (pytest.approx(-3.0), pytest.approx(-2.0))
    of_one = [point for point in points.values() if point["of"] == TARGET]
    assert len(of_one) == 4
    assert all(point["low"] is None and point["high"] is None for point in of_one)


def test_records_that_no_chart_shows_are_not_called_absent():
    """The precision of translated words is of two languages, but no similarity and no score."""
    pytest.importorskip("altair")
    row = replace(similarity("en-fr", 0, 50.0), measure="words identity", metric="precision@1")
    with pytest.raises(RequestError, match="these results are precision@1 of words identity") as refused:
        Results.of([row]).plot()
    assert "crosslens report" in refused.value.hint


def test_a_state_names_its_encoder_where_there_are_several():
    assert State("", "pretrained").name == "pretrained"
    assert State("e5", "pretrained").name == "e5: pretrained"


def test_encoders_of_one_name_are_told_apart_whatever_they_were_trained_for():
    plain = replace(similarity("en-fr", 0, 0.5), state="pretrained", encoder_digest="a" * 64)
    tuned = replace(plain, state="fine-tuned", task="pos", encoder_digest="b" * 64)
    names = ["e (aaaaaaaa): pretrained", "e (bbbbbbbb): fine-tuned for POS tagging"]
    assert [state.name for state, _ in by_state(Results.of([plain, tuned]))] == names


def texts(chart):
    vl_convert = pytest.importorskip("vl_convert")
    return re.findall(r">([^<>]+)</text>", vl_convert.vegalite_to_svg(chart.to_json()))


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 12])
def test_layers_on_an_axis_are_whole_numbers_once_each(depth):
    layers = [str(layer) for layer in range(depth + 1)]
    shown = texts(similarity_chart(Results.of(similarity("en-fr", layer, 0.5) for layer in range(depth + 1))))
    assert shown[: shown.index("layer (0: embeddings)")] == layers


def test_a_similarity_below_0_stands_within_the_axes():
    records = [similarity("en-fr", layer, value, "cka_debiased") for layer, value in enumerate((0.3, -0.12))]
    numbers = [text for text in texts(similarity_chart(Results.of(records), measure="cka_debiased")) if "." in text]
    assert min(float(number.replace("−", "-")) for number in numbers) <= -0.1


def test_scores_without_a_chart_are_refused_once():
    """And not while another error is handled, which Python would print before."""
    results = Results.of([replace(score("fr", 90.0), source=source) for source in ("en", "de")])
    with pytest.raises(RequestError, match="cannot hold several sources") as caught:
        results.plot()
    assert caught.value.__context__ is None


def test_the_first_and_last_layer_stand_under_their_ticks():
    vl_convert = pytest.importorskip("vl_convert")
    chart = similarity_chart(Results.of(similarity("en-fr", layer, 0.5) for layer in range(3)))
    anchors = re.findall(r'text-anchor="(\w+)"[^>]*>([012])</text>', vl_convert.vegalite_to_svg(chart.to_json()))
    assert anchors == [("middle", "0"), ("middle", "1"), ("middle", "2")]


def test_languages_are_sorted_in_heat_maps_and_nowhere_else():
    pytest.importorskip("altair")
    frozen = {"freeze": "0-1"}
    heat = Results.of(
        score(target, value - (condition == frozen), condition=condition)
        for target, value in (("en", 90.0), ("fr", 80.0), ("de", 70.0))
        for condition in ("none", frozen)
    )
    rows = [heat.plot(**order).to_dict()["layer"][0]["encoding"]["y"]["sort"] for order in ({}, {"sort": "name"})]
    assert [names[1:3] for names in rows] == [["fr", "de"], ["de", "fr"]]
    profile = Results.of(losing(1.0, 10.0, 20.0, 60.0))
    encoders = profile + profile.with_columns(encoder="f")
    for results in (profile, encoders, Results.of([similarity("en-fr", 0, 0.5)])):
        with pytest.raises(RequestError, match="sort orders the rows of a heat map"):
            results.plot(sort="score")


def test_what_no_chart_shows_is_named_once():
    perplexity = Record(encoder="e", target="fr", metric="perplexity", measure="perplexity", value=5.0)
    with pytest.raises(RequestError, match=r"these results are perplexity \("):
        Results.of([perplexity]).plot()


def test_sentences_of_a_corpus_without_a_name_have_none():
    records = [
        replace(similarity("en-fr", layer, 0.5), corpus=None, corpus_digest=letter * 64)
        for layer, letter in enumerate("ab")
    ]
    assert set(corpus_names(Results.of(records)).values()) == {None}


@pytest.mark.parametrize(
    ("condition", "label"),
    [
        ("none", "reference, depth=2, limit=5"),
        ("1-2", "1-2, depth=2, limit=5"),
        ({"freeze": "1-2"}, "frozen 1-2, depth=2, limit=5"),
        ([{"freeze": "1-2"}, {"quantize": "int8"}], "frozen 1-2 quantize=int8, depth=2, limit=5"),
        ({"freeze": "1-2", "recipe": "small"}, "reference frozen 1-2 recipe=small, depth=2, limit=5"),
    ],
)
def test_a_short_label_leaves_out_the_unmodified_encoder_alone(condition, label):
    """Settings and variant tell the column from others, whatever was done to the encoder."""
    assert short_label(Column(Condition.model_validate(condition), "limit=5", "depth=2")) == label


def test_rows_of_files_are_named_without_folders_where_that_tells_them_apart():
    def names(*corpora):
        return list(row_names([("fr", corpus, None) for corpus in corpora]).values())

    assert names("/a/b/x.conllu", "/a/b/y.conllu[:5]", "ud/fr_pud:test") == [
        "fr x.conllu",
        "fr y.conllu[:5]",
        "fr ud/fr_pud:test",
    ]
    assert names("/a/b/x.conllu", "/a/c/x.conllu") == ["fr /a/b/x.conllu", "fr /a/c/x.conllu"]
    assert names("/a/x.conllu+/a/y.conllu", "/a/y.conllu") == ["fr /a/x.conllu+/a/y.conllu", "fr y.conllu"]
