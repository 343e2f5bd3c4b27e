"""Gap and similarity from records: a made-up study whose answer is known."""

import pytest

from crosslens.encoders.condition import Condition
from crosslens.errors import RequestError
from crosslens.results.cells import references
from crosslens.results.record import Record, Results
from crosslens.similarity.correlate import correlate
from crosslens.similarity.transfer_gap import _gaps, _means, correlations

LANGUAGES = ["de", "fr", "hi", "it", "ja", "ru", "tr", "zh"]
SCORES = dict(zip(LANGUAGES, [90, 88, 70, 89, 55, 80, 65, 60], strict=True))
SIMILAR = dict(zip(LANGUAGES, [0.9, 0.85, 0.6, 0.8, 0.5, 0.75, 0.7, 0.4], strict=True))


def transfer_gaps(results):
    """The gap to each target language that `correlations` uses."""
    scores = references(results).filter(task="pos", source="en", metric="accuracy", measure=None)
    return _means(_gaps(scores, task="pos", source="en", outcome="gap").points, {})


def score(target, value, *, seed=1, condition=None, **more):
    usual = {"task": "pos", "encoder": "e", "source": "en", "metric": "accuracy", "n": 100, "state": "fine-tuned"}
    done = Condition(**condition or {}).columns
    return Record(**{**usual, **done, "target": target, "value": value, "seed": seed, **more})


def similarity(target, value, layer=0, *, condition=None, **more):
    usual = {"encoder": "e", "source": "en", "metric": "similarity", "measure": "cka", "n": 50, "length_ratio": 2.0}
    usual |= {"fertility": 1.5 + LANGUAGES.index(target) / 20, "state": "pretrained"}
    done = Condition(**condition or {}).columns
    return Record(**{**usual, **done, "target": target, "value": value, "layer": layer, **more})


def similar_after(change=1.0, **more):
    """Of fine-tuned models."""
    more = {"task": "pos", "state": "fine-tuned", "seed": 1, **more}
    return [similarity(target, change * value, **more) for target, value in SIMILAR.items()]


@pytest.fixture
def records():
    scores = [score("en", 95.0), score("en", 97.0, seed=2)]
    scores += [
        score(target, value + change, seed=seed)
        for target, value in SCORES.items()
        for seed, change in ((1, -2), (2, 2))
    ]
    other = [score(target, 10.0, condition={"layers": "1-2"}) for target in LANGUAGES]
    frozen = [score(target, 10.0, condition={"freeze": "0-3"}) for target in LANGUAGES]
    drawn = [similarity(target, 0.1, condition={"layers": "0-12"}, state="untrained") for target in LANGUAGES]
    similar = [
        similarity(t, value + change, layer) for t, value in SIMILAR.items() for layer, change in ((0, 0), (1, 0.1))
    ]
    return Results.of([*scores, *other, *frozen, *similar, *drawn])


def test_the_gap_is_same_language_minus_cross_language_of_the_references(records):
    gaps = transfer_gaps(records)
    assert gaps == {target: pytest.approx(96.0 - value) for target, value in SCORES.items()}


def test_it_is_the_correlation_of_both(records):
    (found,) = correlations(records)
    assert (found.task, found.source, found.state, found.measure, found.layer) == (
        "pos",
        "en",
        "pretrained",
        "cka",
        None,
    )
    gaps = transfer_gaps(records)
    assert found.correlation == correlate(gaps, {target: value + 0.05 for target, value in SIMILAR.items()})
    assert found.correlation.value < -0.8  # similar languages have a small gap
    assert [its.layer for its in correlations(records, layers="each")] == [0, 1]


def test_scores_correlate_like_gaps_with_the_other_sign(records):
    (gap,), (by_score,) = correlations(records), correlations(records, outcome="score")
    assert by_score.outcomes == {target: pytest.approx(value) for target, value in SCORES.items()}
    assert by_score.correlation.value == pytest.approx(-gap.correlation.value)
    (alone,) = correlations(records.filter(target=LANGUAGES), outcome="score")  # without a same-language score
    assert alone.correlation == by_score.correlation


def test_what_is_constant_is_said(records):
    even = Results.of([score(target, 80.0) for target in ("en", *LANGUAGES)]) + records.filter(measure="cka")
    (constant,) = correlations(even)
    assert constant.undefined == "no coefficient: all transfer gaps are equal"
    (controlled,) = correlations(even, control=["fertility"])
    assert controlled.undefined == "no coefficient: all transfer gaps are equal after controlling for fertility"
    assert correlations(records)[0].caveats == ()  # eight languages and no constant


def test_similarity_after_fine_tuning_is_told_apart(records):
    after = Results.of(similar_after(-1.0))
    before, fine_tuned = correlations(records + after)
    assert (before.state, fine_tuned.state) == ("pretrained", "fine-tuned")
    assert fine_tuned.correlation.value == pytest.approx(-before.correlation.value)


def test_confounds_from_the_records(records):
    (found,) = correlations(records, control=["fertility"])
    fertility = {target: 1.5 + place / 20 for place, target in enumerate(LANGUAGES)}
    gaps = transfer_gaps(records)
    similar = {t: v + 0.05 for t, v in SIMILAR.items()}
    assert found.correlation == correlate(gaps, similar, control={"fertility": fertility})
    assert found.correlation.control == ("fertility",)


@pytest.mark.parametrize(
    ("change", "asked", "message"),
    [
        (lambda r: r, {"control": ["fertilty"]}, r"no confound 'fertilty'.*did you mean 'fertility'"),
        (lambda r: r, {"measures": ["rsa"]}, r"have no scores and similarities \(rsa\) for the same source"),
        (lambda r: r.filter(measure=None), {}, "have no scores and similarities"),
        (lambda r: r.filter(measure="cka"), {}, "have no scores and similarities"),
        (lambda r: r.filter(target=["de", "fr", "en"]), {}, "at least 3 languages, but there are 2"),
        (lambda r: r.filter(target=LANGUAGES), {}, "there are no pos scores of en models in en and another language"),
    ],
)
def test_what_cannot_be_correlated(records, change, asked, message):
    with pytest.raises(RequestError, match=message):
        correlations(change(records), **asked)


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ([score("en", 90.0, task="ner", metric="f1"), score("de", 80.0, task="ner", metric="f1")], "at least 3 lang"),
        ([score("de", 80.0, task="ner", metric="f1")], "cannot compute the transfer gap"),
    ],
)
def test_a_task_that_cannot_be_correlated_does_not_keep_others_from_it(records, more, reason):
    skipped = []
    assert correlations(records + Results.of(more), skipped=skipped.append) == correlations(records)
    (sentence,) = skipped
    assert sentence.startswith("ner, source en: ")
    assert reason in sentence


def test_records_that_do_not_hold_a_confound(records):
    bare = Results.of([similarity(target, value, fertility=None) for target, value in SIMILAR.items()])
    with pytest.raises(RequestError, match="lack the column fertility that fertility needs") as refused:
        correlations(records.filter(measure=None) + bare, control=["fertility"])
    assert "run `crosslens compare` again" in refused.value.hint
    overlaps = bare.with_columns(measure="overlap_types", layer=None, length_ratio=None)
    with pytest.raises(RequestError, match="lack the column length_ratio that length-ratio needs") as refused:
        correlations(records.filter(measure=None) + overlaps, measures=["overlap_types"], control=["length-ratio"])
    assert refused.value.hint == "leave out the control length-ratio: overlap_types has none"


def test_records_of_two_poolings_are_refused_with_a_hint_for_the_command_line_too(records):
    last = Results.of([similarity(target, value / 2, settings="pooling=last") for target, value in SIMILAR.items()])
    with pytest.raises(RequestError, match="several settings: None, pooling=last") as refused:
        correlations(records + last)
    assert refused.value.hint == "give results of one only: --where settings=…, or in Python filter(settings=…)"


def test_models_of_other_settings_are_kept_apart(records):
    """Two parsers, or two training corpora, have a gap each; what was evaluated on one side only has none."""
    worse = [score(t, v - 5 * n, settings="tags=gold") for n, (t, v) in enumerate(SCORES.items())]
    own = score("en", 80.0, settings="tags=gold")
    alone = score("fr", 1.0, settings="epochs=1")
    found = {its.called: its for its in correlations(records + Results.of([*worse, own, alone]))}
    assert set(found) == {"pos", "pos, tags=gold"}
    assert found["pos"].gaps["de"] == pytest.approx(6.0)
    assert found["pos, tags=gold"].gaps["de"] == pytest.approx(-10.0)
    assert found["pos"].correlation == correlations(records)[0].correlation
    with pytest.raises(RequestError, match="several settings"):
        transfer_gaps(records + Results.of([*worse, own]))


@pytest.mark.parametrize(
    ("axis", "one", "other"),
    [
        ("corpus", {"corpus": "ud/de_pud:test"}, {"corpus": "ud/de_gsd:test"}),
        ("split", {"corpus": "ud/de_pud:test", "split": "test"}, {"corpus": "ud/de_pud:dev", "split": "dev"}),
        ("partner", {"partner": "de"}, {"partner": "fr"}),
    ],
)
def test_a_language_with_several_corpora_splits_or_partners_has_no_gap(axis, one, other):
    own = [
        score("en", 96.0, **{name: value for name, value in side.items() if name != "corpus"}) for side in (one, other)
    ]
    results = Results.of(
        [*{(o.split, o.partner): o for o in own}.values(), score("de", 90.0, **one), score("de", 99.0, **other)]
    )
    with pytest.raises(
        RequestError, match=rf"gap to de needs a single {axis}, but there are several.*--where {axis}=…"
    ):
        transfer_gaps(results)
    kept = results.filter(**{axis: [one[axis], None]})
    assert transfer_gaps(kept) == {"de": 6.0}


def test_the_overlap_of_a_corpus_that_was_not_scored_is_left_out(records):
    """A study of two tasks with different treebanks of a language measures the overlap of both."""
    named = {target: f"ud/{target}_a:test" for target in LANGUAGES}
    scores = [score("en", 96.0, train="t", corpus="ud/en_a:test")]
    scores += [score(t, value, train="t", corpus=named[t]) for t, value in SCORES.items()]
    overlaps = [
        similarity(t, value, None, metric="overlap", measure="overlap_types", train="t", corpus=named[t])
        for t, value in SIMILAR.items()
    ]
    expected = correlations(Results.of([*scores, *overlaps]), measures=["overlap_types"])
    assert [(row.state, row.layer) for row in expected] == [("subwords", None)]
    other = similarity("de", 0.1, None, metric="overlap", measure="overlap_types", train="t", corpus="ud/de_b:test")
    assert correlations(Results.of([*scores, *overlaps, other]), measures=["overlap_types"]) == expected


def test_scores_without_similarities_need_no_gap(records):
    """The gap of a language with two corpora is undefined, which matters only where something is correlated with it."""
    double = [score("de", 90.0, corpus="ud/de_pud:test"), score("de", 99.0, corpus="ud/de_gsd:test")]
    scores = Results.of([score("en", 96.0), *double])
    assert correlations(scores, required=False) == []
    similar = Results.of([similarity(target, value) for target, value in SIMILAR.items()])
    with pytest.raises(RequestError, match="gap to de needs a single corpus"):
        correlations(scores + similar, required=False)


def test_a_bilingual_encoders_gap_is_within_the_encoder():
    pairs = {"fr": (90.0, 80.0), "de": (60.0, 55.0)}
    results = Results.of(
        score(target, value, partner=partner)
        for partner, both in pairs.items()
        for target, value in zip(("en", partner), both, strict=True)
    )
    assert transfer_gaps(results) == {"fr": 10.0, "de": 5.0}


def test_several_corpora_of_the_source_language_are_named(records):
    two = [score("en", 90.0, seed=seed, corpus="ud/en_ewt:test") for seed in (1, 2)]
    named = [score("en", value, seed=seed, corpus="ud/en_pud:test") for seed, value in ((1, 95.0), (2, 97.0))]
    (found,) = correlations(Results.of([*two, *named]) + records.filter(target=LANGUAGES))
    assert found.same_language == ("ud/en_ewt:test", "ud/en_pud:test")
    assert found.gaps["de"] == pytest.approx(93.0 - 90.0)
    assert found.correlation.value == correlations(records)[0].correlation.value  # it moves all gaps alike


def test_a_run_that_two_studies_share_counts_once_and_a_contradiction_is_an_error(records):
    gaps = transfer_gaps(records)
    once_more = records.filter(target=["en", "de"], seed=1).with_columns(study="other")
    assert transfer_gaps(records + once_more) == gaps
    with pytest.raises(RequestError, match="two records contradict one another"):
        transfer_gaps(records + Results.of([score("de", 1.0)]))


@pytest.mark.parametrize("named_by", ["columns", "run"])
def test_fine_tuned_similarities_go_with_the_scores_of_their_models(named_by):
    """Two kinds of models with opposite similarities, and one gap: the correlations are opposite."""
    kinds = {"ud/en_ewt:train": 1.0, "ud/en_partut:train": -1.0}
    results = Results.of([])
    for train, change in kinds.items():
        scores = [score(target, value, train=train, run=train) for target, value in [("en", 95.0), *SCORES.items()]]
        whose = {"train": train} if named_by == "columns" else {"run": train}
        results += Results.of([*scores, *similar_after(change, **whose)])
    found = {each.variant: each.correlation.value for each in correlations(results)}
    assert found["ud/en_ewt:train"] == pytest.approx(-found["ud/en_partut:train"])
    assert found["ud/en_ewt:train"] < -0.8


def test_similarities_that_do_not_say_whose_they_are_go_with_no_one_of_several():
    scores = [
        score(target, value, train=train) for train in ("a", "b") for target, value in [("en", 95.0), *SCORES.items()]
    ]
    with pytest.raises(RequestError, match="have no scores and similarities"):
        correlations(Results.of([*scores, *similar_after()]))


def test_the_size_of_test_data_does_not_depend_on_what_is_predicted():
    """An F1 is over gold and predicted spans; the confound is of the test data, so it is the gold spans'."""
    size = dict(zip(LANGUAGES, [40, 90, 20, 70, 60, 30, 80, 50], strict=True))
    guessed = dict(zip(LANGUAGES, [400, 3, 70, 200, 9, 500, 20, 110], strict=True))
    rows = [score("en", 95.0, task="ner", metric=metric, corpus="en") for metric in ("f1", "recall")]
    for target, value in SCORES.items():
        total = size[target] + guessed[target]
        rows.append(score(target, value, task="ner", metric="f1", n=total, corpus=target))
        rows.append(score(target, value, task="ner", metric="recall", n=size[target], corpus=target))
    rows += [similarity(target, value) for target, value in SIMILAR.items()]
    (found,) = correlations(Results.of(rows), control=["test-size"])
    gaps = {target: 95.0 - value for target, value in SCORES.items()}
    assert found.correlation == correlate(gaps, SIMILAR, control={"test-size": size})


def test_a_gap_is_within_one_split():
    """Scores on development data of the source language are not compared with those on test data of another one."""
    of = {"test": [("en", 90.0), ("fr", 60.0)], "dev": [("en", 70.0), ("de", 50.0)]}
    rows = [score(target, value, split=split) for split, scores in of.items() for target, value in scores]
    assert transfer_gaps(Results.of(rows)) == {"fr": 30.0, "de": 20.0}


def test_similarities_may_be_of_models_whose_scores_name_no_run():
    runs, of = ((1, None), (2, "b")), [("en", 95.0), *SCORES.items()]
    scores = [score(target, value, seed=seed, run=run) for seed, run in runs for target, value in of]
    (found,) = correlations(Results.of([*scores, *similar_after(run="a"), *similar_after(0.5, seed=2, run="b")]))
    assert found.similarities["de"] == pytest.approx(0.9 * 0.75)  # the mean over both seeds
