"""Gap and similarity from records: a made-up study whose answer is known."""

import json

import pytest

from crosslens.errors import RequestError
from crosslens.results.record import Record, Results
from crosslens.similarity.correlate import correlate
from crosslens.similarity.transfer import correlations, transfer_gaps

LANGUAGES = ["de", "fr", "hi", "it", "ja", "ru", "tr", "zh"]
SCORES = dict(zip(LANGUAGES, [90, 88, 70, 89, 55, 80, 65, 60], strict=True))
SIMILAR = dict(zip(LANGUAGES, [0.9, 0.85, 0.6, 0.8, 0.5, 0.75, 0.7, 0.4], strict=True))


def score(target, value, **more):
    usual = {"task": "pos", "encoder": "e", "source": "en", "metric": "accuracy", "seed": 1, "n": 100}
    return Record(**{**usual, "target": target, "value": value, **more})


def similarity(target, value, layer=0, **more):
    tags = {
        "length": 200,
        "source_length": 100,
        "subwords": 300 + 10 * LANGUAGES.index(target),
        "condition": "reference",
    }
    usual = {"encoder": "e", "source": "en", "metric": "similarity", "measure": "cka", "n": 50, "tags": tags}
    return Record(**{**usual, "target": target, "value": value, "layer": layer, **more})


@pytest.fixture
def records():
    scores = [score("en", 95.0), score("en", 97.0), *(score(target, value) for target, value in SCORES.items())]
    other = [score(target, 10.0, ablation="1-2") for target in LANGUAGES]
    frozen = [score(target, 10.0, tags={"condition": "reference frozen 0-3"}) for target in LANGUAGES]
    drawn = [similarity(target, 0.1, ablation="0-12", tags={"condition": "0-12"}) for target in LANGUAGES]
    similar = [
        similarity(t, value + change, layer) for t, value in SIMILAR.items() for layer, change in ((0, 0), (1, 0.1))
    ]
    return Results.of([*scores, *other, *frozen, *similar, *drawn])


def test_the_gap_is_same_language_minus_cross_language_of_the_reference(records):
    gaps = transfer_gaps(records, task="pos", source="en")
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
    gaps = transfer_gaps(records, task="pos", source="en")
    assert found.found == correlate(gaps, {target: value + 0.05 for target, value in SIMILAR.items()})
    assert found.found.value < -0.8  # similar languages have a small gap
    assert [its.layer for its in correlations(records, layers="each")] == [0, 1]


def test_similarity_after_fine_tuning_is_told_apart(records):
    after = Results.of([similarity(target, -value, task="pos") for target, value in SIMILAR.items()])
    before, fine_tuned = correlations(records + after)
    assert (before.state, fine_tuned.state) == ("pretrained", "fine-tuned")
    assert fine_tuned.found.value == pytest.approx(-before.found.value)


def test_confounds_from_the_records(records):
    (found,) = correlations(records, control=["fertility"])
    fertility = {target: (300 + 10 * place) / 200 for place, target in enumerate(LANGUAGES)}
    gaps = transfer_gaps(records, task="pos", source="en")
    assert found.found == correlate(gaps, {t: v + 0.05 for t, v in SIMILAR.items()}, control={"fertility": fertility})
    assert found.found.control == ("fertility",)


@pytest.mark.parametrize(
    ("change", "asked", "message"),
    [
        (lambda r: r, {"control": ["fertilty"]}, r"no confound 'fertilty'.*did you mean 'fertility'"),
        (lambda r: r, {"measures": ["rsa"]}, r"hold no scores and similarities \(rsa\) of one source"),
        (lambda r: r.filter(measure=None), {}, "hold no scores and similarities"),
        (lambda r: r.filter(measure="cka"), {}, "hold no scores and similarities"),
        (lambda r: r.filter(target=["de", "fr", "en"]), {}, "needs 3 of them, and there are 2"),
        (lambda r: r.filter(target=LANGUAGES), {}, "no pos scores of en models in en and another language"),
    ],
)
def test_what_cannot_be_correlated(records, change, asked, message):
    with pytest.raises(RequestError, match=message):
        correlations(change(records), **asked)


def test_records_that_do_not_say_a_confound(records):
    bare = Results.of([similarity(target, value, tags=json.loads("{}")) for target, value in SIMILAR.items()])
    with pytest.raises(RequestError, match="do not say the subwords that fertility needs"):
        correlations(records.filter(measure=None) + bare, control=["fertility"])


def test_models_of_other_settings_are_kept_apart(records):
    """Two parsers, or two training corpora, have a gap each; what was evaluated on one side only has none."""
    worse = [score(t, v - 5 * n, tags={"differs_from_usual": "tags=gold"}) for n, (t, v) in enumerate(SCORES.items())]
    own = score("en", 80.0, tags={"differs_from_usual": "tags=gold"})
    alone = score("fr", 1.0, tags={"differs_from_usual": "epochs=1"})
    found = {its.called: its for its in correlations(records + Results.of([*worse, own, alone]))}
    assert set(found) == {"pos", "pos, tags=gold"}
    assert found["pos"].gaps["de"] == pytest.approx(6.0)
    assert found["pos, tags=gold"].gaps["de"] == pytest.approx(-10.0)
    assert found["pos"].found == correlations(records)[0].found
