"""Scores by model and training data."""

from dataclasses import replace

from crosslens.report.blocks import score_blocks, trained_scores
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


def test_what_differs_between_other_models_is_no_part_of_a_name():
    """Recipes tell the models of one condition, task and metric apart; elsewhere there is one."""
    rows = [score("fr", 1.0, layers, train="ud/en:train", recipe=name) for layers, name in ((None, "a"), ("1-2", "b"))]
    rows += [replace(rows[0], task="parsing", metric="las", recipe="c")]
    named = [(each.task, each.model) for each in trained_scores(Results.of(rows))]
    assert named == [("pos", "encoder"), ("pos", "1-2"), ("parsing", "encoder")]
    both = trained_scores(Results.of([*rows, replace(rows[0], recipe="d", value=2.0)]))
    assert sorted({each.model for each in both}) == ["1-2", "encoder", "encoder, a", "encoder, d"]


def test_a_block_has_the_main_score_of_its_task_and_a_split_where_there_are_several():
    tested = [replace(score("fr", 1.0), task="parsing", metric=metric, split="test") for metric in ("las", "uas")]
    (alone,) = score_blocks(Results.of(tested))
    assert (alone.metric, alone.kind, alone.source_label, len(alone.results)) == ("las", "", "en", 1)
    developed = [replace(each, split="dev", corpus="ud/fr_gsd:dev") for each in tested]
    both = score_blocks(Results.of([*tested, *developed]))
    assert [(block.kind, block.source_label) for block in both] == [("test", "en (test)"), ("dev", "en (dev)")]
