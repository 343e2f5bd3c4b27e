"""What scores by condition are called, and which published scores they are compared with."""

import pytest

from crosslens.encoders.condition import Condition
from crosslens.report.conditions.comparison import comparisons, not_compared
from crosslens.report.papers import find_paper
from crosslens.results.record import Record, Results

PAPER = find_paper("muller2021")


def score(target, value, *, bank="pud", train="ud/en_ewt:train", partner=None, **changes):
    record = {
        "task": "pos",
        "encoder": "e",
        "source": "en",
        "target": target,
        "partner": partner,
        "split": "test",
        "seed": 1,
        "metric": "accuracy",
        "value": value,
        "corpus": f"ud/{target}_{bank}:test",
        "train": train,
        "state": "fine-tuned",
    }
    return Record(**record | changes)


def comparison(*records):
    (block,) = comparisons(Results.of(records))
    return block


def test_what_a_mean_covers():
    block = comparison(score("en", 9.0), score("fr", 8.0), score("de", 7.0), score("de", 7.0, bank="gsd"))
    assert block.same == (("en", "ud/en_pud:test", None),)
    languages = [key for key in block.cross if key[1].endswith("_pud:test")]
    assert block.over(languages) == "2 languages"
    assert block.over(block.cross) == "3 corpora"
    assert block.over(block.cross[2:]) == block.name(block.cross[2]) == "ud/de_gsd:test"
    pairs = comparison(score("en", 9.0, partner="de"), score("en", 8.0, partner="fr"))
    assert pairs.over(pairs.same) == "2 encoders"


def test_splits_and_encoders_are_named_where_there_are_several():
    records = [score("fr", 8.0), score("fr", 7.0, split="dev", corpus="ud/fr_pud:dev"), score("fr", 6.0, encoder="f")]
    titles = {(block.title, block.label) for block in comparisons(Results.of(records))}
    assert titles == {("pos, accuracy, e", "test"), ("pos, accuracy, e", "dev"), ("pos, accuracy, f", "test")}
    assert (comparison(records[0]).title, comparison(records[0]).label) == ("pos, accuracy", "")


def test_only_main_scores_of_a_known_source_are_compared():
    assert list(comparisons(Results.of([score("fr", 8.0, metric="f1"), score("fr", 8.0, source=None)]))) == []


@pytest.mark.parametrize(
    ("changes", "compared"),
    [
        ({}, True),
        ({"bank": "gsd"}, False),  # the paper's test sets are those of PUD
        ({"partner": "fr"}, True),
        ({"partner": "ru"}, False),  # an encoder that has not seen French
        ({"split": "dev", "corpus": "ud/fr_pud:dev"}, False),  # the paper's scores in other languages are of test sets
    ],
)
def test_published_scores_are_of_the_same_test_set(changes, compared):
    block = comparison(score("fr", 8.0, **changes))
    (column,) = block.scores.columns
    assert column.condition == Condition()
    (key,) = block.cross
    assert (block.printed(PAPER, key, column) is not None) is compared
    assert (block.level(PAPER, key, column) is not None) is compared
    assert block.printed(PAPER, key, None) is None


def test_models_that_differ_in_their_settings_are_not_compared():
    block = comparison(score("fr", 8.0, settings="batch=8"), score("fr", 7.0, settings="batch=16"))
    assert [block.printed(PAPER, block.cross[0], column) for column in block.scores.columns] == [None, None]
    corpora = comparison(score("fr", 8.0), score("fr", 7.0, train="ud/en_gum:train"))
    assert all(corpora.level(PAPER, corpora.cross[0], column) for column in corpora.scores.columns)


@pytest.mark.parametrize(("split", "published"), [("dev", 88.52), ("test", None)])
def test_published_dev_scores_are_of_the_treebank_that_models_are_trained_on(split, published):
    """UD_English-EWT's; the paper's test sets are those of PUD. Table 5: 88.52 without re-initialised layers."""
    ours = score("en", 88.0, task="parsing", metric="las", split=split, corpus=f"ud/en_ewt:{split}")
    block = comparison(ours)
    (column,) = block.scores.columns
    level = block.level(PAPER, block.same[0], column)
    assert (level and level.value) == published


def test_corpora_of_one_name_are_called_by_their_languages():
    (compared,) = comparisons(Results.of(score(target, 80.0, corpus="own") for target in ("en", "fr", "de")))
    assert [compared.name(key) for key in (*compared.same, *compared.cross)] == ["en", "fr", "de"]


@pytest.mark.parametrize(("train", "published"), [("wikiann/en:train", True), ("conll2003/en:train", False)])
def test_a_published_score_is_of_models_trained_on_the_papers_data(train, published):
    """The language alone stands for WikiANN, which the paper trained on."""
    scored = score("fr", 80.0, task="ner", metric="f1", train=train, corpus="wikiann/fr:test")
    block = comparison(scored)
    (column,) = block.scores.columns
    assert (block.level(PAPER, block.cross[0], column) is not None) is published
    assert (block.printed(PAPER, block.cross[0], column) is not None) is published


def test_models_of_one_variant_have_columns_of_conditions_alone():
    records = [
        score("fr", value, train=f"ud/en_{bank}:train", condition=condition)
        for bank, values in (("ewt", (8.0, 6.0)), ("gum", (7.0, 5.0)))
        for condition, value in zip((None, "1-2"), values, strict=True)
    ]
    parts = comparison(*records).by_variant()
    assert [part.label for part in parts] == ["ud/en_ewt:train", "ud/en_gum:train"]
    assert [column.label for part in parts for column in part.scores.columns] == ["reference", "1-2"] * 2
    values = [
        part.scores.get(key, column).mean for part in parts for key in part.cross for column in part.scores.columns
    ]
    assert values == [8.0, 6.0, 7.0, 5.0]


def test_a_part_without_rows_has_no_name():
    own, other = score("en", 9.0), score("fr", 8.0)
    assert [name for name, _ in comparison(own, other).parts()] == ["same language", "zero-shot"]
    assert comparison(own).parts() == [("same language", (("en", "ud/en_pud:test", None),))]
    assert comparison(other).parts() == [("zero-shot", (("fr", "ud/fr_pud:test", None),))]


def test_two_versions_of_a_training_corpus_are_each_compared_with_the_published_scores():
    block = comparison(*(score("fr", 8.0, train_digest=digest * 64) for digest in "ab"))
    assert [column.variant for column in block.scores.columns] == [f"ud/en_ewt:train ({digest * 8})" for digest in "ab"]
    for part in (block, *block.by_variant()):
        assert all(part.printed(PAPER, part.cross[0], column) for column in part.scores.columns)
    assert list(not_compared([block], PAPER)) == []


def test_tasks_whose_models_differ_in_settings_are_named():
    parsing = {"task": "parsing", "metric": "las"}
    limits = [score("fr", 8.0, settings=f"limit={limit}", **of) for limit in (50, 90) for of in ({}, parsing)]
    others = [score("fr", 8.0, settings=f"limit={limit}", task="nli") for limit in (50, 90)]  # not published
    alike = score("fr", 80.0, task="ner", metric="f1", train="wikiann/en:train", corpus="wikiann/fr:test")
    reasons = list(not_compared(comparisons(Results.of([*limits, *others, alike])), PAPER))
    assert reasons == ["muller2021 is left out for pos, parsing: results differ in settings"]


@pytest.mark.parametrize(("depth", "known"), [(4, False), (12, True), (None, True)])
def test_layers_are_compared_with_those_of_encoders_of_as_many_layers(depth, known):
    """Layers 3-4 of four are the highest, and those of the paper's twelve among the lowest."""
    block = comparison(*(score("fr", 8.0, condition=condition, depth=depth) for condition in (None, "3-4")))
    reference, layers = block.scores.columns
    assert block.printed(PAPER, block.cross[0], reference)
    assert (block.printed(PAPER, block.cross[0], layers) is not None) is known
    reason = "layers of an encoder of 4 layers are not compared with those of muller2021, of 12 layers"
    assert list(not_compared([block], PAPER)) == ([] if known else [reason])
