"""Scores by model and training data."""

from crosslens.report.blocks import trained_scores
from crosslens.results.record import Results
from made_results import score


def test_scores_of_several_recipes_are_different_models():
    records = [score("fr", value, train="ud/en:train", recipe=name) for name, value in (("small", 1.0), ("long", 2.0))]
    scores = trained_scores(Results.of(records))
    assert {each.model: each.score.mean for each in scores} == {"encoder, small": 1.0, "encoder, long": 2.0}
    assert [each.model for each in trained_scores(Results.of(records[:1]))] == ["encoder"]


def test_scores_without_training_data_are_left_out():
    assert trained_scores(Results.of([score("fr", 1.0)])) == []


def test_models_trained_on_translations_are_no_models_of_that_corpus():
    """Their training data has the name of the corpus that was translated into the language."""
    own = score("fr", 1.0, train="xnli/fr:train")
    translated = score("fr", 2.0, train="xnli/fr:train", translated_from="en")
    assert [each.score.mean for each in trained_scores(Results.of([own, translated]))] == [1.0]
    assert trained_scores(Results.of([translated])) == []
