"""Which similarities belong to which scored models, where records have no run ids."""

from dataclasses import replace

import pytest

from crosslens.encoders.condition import Condition
from crosslens.errors import RequestError
from crosslens.results.record import Record, Results
from crosslens.similarity.transfer_gap import correlations

TARGETS = {"de": 90.0, "fr": 80.0, "hi": 60.0, "ja": 50.0}


def records(*, train, sign=1, settings=None, of_similarity=None):
    """Scores of models, and similarities that rise or fall with them."""
    score = Record(
        task="pos", encoder="e", source="en", metric="accuracy", train=train, settings=settings, state="fine-tuned"
    )
    alike = replace(score, metric="similarity", measure="cka", layer=0, settings=of_similarity)
    return [
        *(replace(score, target=target, value=value) for target, value in {"en": 95.0, **TARGETS}.items()),
        *(replace(alike, target=target, value=sign * value / 100) for target, value in TARGETS.items()),
    ]


@pytest.mark.parametrize(
    "of_similarity",
    [
        "pooling=last",
        "last_layer=normalised",
        "against=f",
        'against=f against_condition={"layers": "1-2"}',
        "against=f pooling=cls",
    ],
)
def test_settings_of_a_similarity_do_not_tell_models_apart(of_similarity):
    """Models trained on two corpora have opposite similarities, each measured with another pooling or encoder."""
    rows = [
        row
        for train, sign in (("a", 1), ("b", -1))
        for row in records(train=train, sign=sign, of_similarity=of_similarity)
    ]
    found = {each.variant: each.correlation.value for each in correlations(Results.of(rows))}
    assert found == {"a": pytest.approx(-1), "b": pytest.approx(1)}


def test_settings_of_the_training_tell_models_apart():
    rows = [
        row
        for settings, sign in (("epochs=1", 1), ("epochs=2", -1))
        for row in records(train="a", sign=sign, settings=settings, of_similarity=f"{settings} pooling=last")
    ]
    found = {each.variant: each.correlation.value for each in correlations(Results.of(rows))}
    assert found == {"epochs=1": pytest.approx(-1), "epochs=2": pytest.approx(1)}


def test_gap_and_similarity_of_fine_tuned_models_are_over_the_seeds_of_both():
    """Seed 1 has gaps of 5 to 45 points; the other two models, with the opposite order, were not compared."""
    of_seed = [replace(row, seed=seed) for seed in (1, 2, 3) for row in records(train="a")]
    rows = [
        replace(row, value=140.0 - row.value) if row.seed > 1 and row.target in TARGETS else row
        for row in of_seed
        if row.measure is None or row.seed == 1
    ]
    (found,) = correlations(Results.of(rows))
    assert found.gaps == {target: 95.0 - value for target, value in TARGETS.items()}
    assert found.scores == TARGETS
    assert found.similarities == {target: pytest.approx(value / 100) for target, value in TARGETS.items()}
    assert found.correlation.value == pytest.approx(-1)
    assert found.excluded == 2
    assert found.caveats[-1] == "number of seeds excluded for lack of a score or similarity: 2"
    before = [replace(row, task=None, train=None, seed=None, state="pretrained") for row in rows if row.measure]
    (pretrained,) = correlations(Results.of([*(row for row in rows if row.measure is None), *before]))
    assert (pretrained.excluded, pretrained.gaps["de"]) == (0, pytest.approx((5.0 + 45.0 + 45.0) / 3))


def test_languages_whose_scores_are_of_other_seeds_are_correlated_with_a_warning():
    """Nothing of German was scored with seed 3, in which each gap is 30 points wider."""
    pretrained = [replace(row, task=None, train=None, state="pretrained") for row in records(train="a") if row.measure]
    scores = [
        replace(row, seed=seed, value=row.value - 30.0 * (seed == 3 and row.target != "en"))
        for seed in (1, 2, 3)
        for row in records(train="a")
        if row.measure is None
    ]
    lacking = [row for row in scores if (row.target, row.seed) != ("de", 3)]
    (found,) = correlations(Results.of([*lacking, *pretrained]))
    assert (found.gaps["de"], found.gaps["fr"]) == (pytest.approx(5.0), pytest.approx(25.0))
    assert found.warnings[-1] == "languages differ in the seeds of their scores: 2 to 3"
    (whole,) = correlations(Results.of([*scores, *pretrained]))
    assert whole.warnings == found.warnings[:-1]


def test_scores_and_similarities_of_different_seeds_are_refused_with_their_seeds():
    rows = [replace(row, seed=seed) for seed in (2, 10, 3) for row in records(train="a")]
    apart = Results.of([row for row in rows if (row.measure is None) == (row.seed != 3)])
    with pytest.raises(RequestError, match=r"no seed in common: the scores are of 2, 10, the similarities of 3 "):
        correlations(apart)


def differing(column, values):
    """Records of a pretrained encoder whose similarities differ in a column from language to language."""
    of_target = dict(zip(TARGETS, values, strict=True))
    return Results.of(
        replace(row, task=None, train=None, state="pretrained", **{column: of_target[row.target]})
        if row.measure
        else row
        for row in records(train="a")
    )


def test_similarities_of_several_settings_are_no_one_correlation():
    pooled = differing("settings", (None, "pooling=cls", None, "pooling=cls"))
    with pytest.raises(RequestError, match="several settings: None, pooling=cls"):
        correlations(pooled)
    with pytest.raises(RequestError, match="several settings"):
        correlations(differing("settings", [f"last_layer=normalised against={name}" * (name > "a") for name in "abcd"]))
    (found,) = correlations(differing("settings", [f"against={name}" for name in "abcd"]))  # an encoder per language
    assert len(found.correlation.languages) == 4


def test_similarities_between_layers_of_different_number_do_not_count():
    """`compare(layers="all-pairs")` has them, and they are of no one layer."""
    rows = records(train="a")
    across = [replace(row, target_layer=1, value=0.5) for row in rows if row.measure]
    (alone,) = correlations(Results.of(rows))
    (beside,) = correlations(Results.of([*across, *rows]))
    assert beside.correlation.value == alone.correlation.value


def test_similarities_of_several_corpora_are_correlated_with_a_warning():
    (found,) = correlations(differing("corpus", ("ud/pud", "ud/pud", "tatoeba", "ud/pud")))
    assert found.warnings[-1] == "languages differ in the corpus of their similarities: ud/pud, tatoeba"
    (alike,) = correlations(differing("corpus", ["ud/pud"] * 4))
    assert alike.warnings == found.warnings[:-1]


def test_similarities_of_unequally_many_sentences_are_correlated_with_a_warning():
    """Linear CKA of fewer sentences is higher."""
    (found,) = correlations(differing("n", (100, 1000, 1000, 100)).with_columns(corpus="ud/pud"))
    assert found.warnings[-1] == (
        "languages differ in the corpus of their similarities: ud/pud (100 items), ud/pud (1000 items)"
    )


@pytest.mark.parametrize(
    ("condition", "shown"),
    [(Condition(precision="bfloat16"), "precision=bfloat16"), (Condition(checkpoint=100), "step 100")],
)
def test_scores_and_similarities_of_different_conditions_are_named(condition, shown):
    rows = Results.of(records(train="a"))
    scores, alike = rows.filter(measure=None), rows.filter(measure="cka").with_columns(task=None, state="pretrained")
    changed = scores.with_columns(**condition.columns)
    skipped = []
    assert correlations(changed + alike, required=False, skipped=skipped.append) == []
    assert skipped == [
        "scores and similarities of e are not correlated, because their conditions differ"
        f" (scores: {shown}; similarities: none)"
    ]
    assert correlations(changed + scores + alike, skipped=skipped.append)
    assert len(skipped) == 1


def overlap_of(settings, *, sign):
    counted = {"task": None, "metric": "overlap", "measure": "overlap_types", "layer": None, "state": "pretrained"}
    return [replace(row, **counted, settings=settings) for row in records(train="a", sign=sign) if row.measure]


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ((None, "limit=20"), {"": 1, "limit=20": -1}),
        ((None,), {"": 1, "limit=20": 1}),  # records made before overlaps had limits
        (("limit=20",), {"limit=20": -1}),
        (("limit=20 training=1", "limit=50"), {"limit=20": -1}),
        (("limit=50",), {}),
    ],
)
def test_an_overlap_belongs_to_the_models_of_its_limit(limits, expected):
    """Overlap with all sentences falls as the gap rises; that with a limit rises with the score, and so on."""
    rows = [row for settings in (None, "limit=20") for row in records(train="a", settings=settings) if not row.measure]
    for settings in limits:
        rows += overlap_of(settings, sign=1 if settings else -1)
    found = correlations(Results.of(rows), measures=["overlap_types"], required=False)
    assert {each.variant: round(each.correlation.value) for each in found} == expected
