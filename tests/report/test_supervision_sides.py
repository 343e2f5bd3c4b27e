"""Scores by training data: what stands in one column, and what beside it, is of one kind."""

from dataclasses import replace

import pytest

from crosslens.report.papers import find_paper
from crosslens.report.supervision import supervision
from crosslens.results.record import Record, Results

NAMES = ["supervision-document-accuracy", "settings-document-accuracy"]


def trained(source, target, value, *, split="test", **columns):
    """The score of a model trained on one language and tested on another one."""
    return Record(
        task="document",
        encoder="e",
        source=source,
        target=target,
        metric="accuracy",
        value=value,
        seed=1,
        split=split,
        corpus=f"mldoc/{target}:{split}",
        **{"train": f"mldoc/{source}:train", **columns},
    )


@pytest.mark.parametrize(("split", "title"), [("test", "document, accuracy"), ("dev", "document, accuracy, dev")])
def test_scores_that_are_not_of_a_test_set_say_so_beside_published_ones(split, title):
    scores = [trained("en", "en", 90.0, split=split), trained("en", "de", 70.0, split=split)]
    by_language, by_setting = supervision(Results.of(scores), beside=find_paper("wu2019"))
    assert list(by_language.groups) == [title]
    assert all(table.caption.startswith(f"{title}: scores") for table in (by_language, by_setting))
    assert by_language.name == "supervision-document-accuracy"


def test_dev_and_test_sets_have_tables_of_their_own_names():
    scores = [trained(*pair, 90.0, split=split) for split in ("test", "dev") for pair in (("en", "de"), ("de", "en"))]
    names = [table.name for table in supervision(Results.of(scores))]
    assert names == [f"{name}-{split}" for split in ("test", "dev") for name in NAMES]
    assert [table.name for table in supervision(Results.of(scores[:2]))] == NAMES


def test_training_data_translated_from_two_languages_are_two_columns():
    scores = [trained("en", "en", 90.0), trained("en", "de", 70.0)]
    scores += [
        trained("de", "de", value, translated_from=original, train=f"translated/{original}-de:train")
        for original, value in (("en", 80.0), ("fr", 60.0))
    ]
    table, *_ = supervision(Results.of(scores))
    german = next(row for row in table.groups["document, accuracy"] if row.label == "de")
    assert dict(zip(table.head, (cell.value for cell in german.cells), strict=True)) == {
        "in-language": None,
        "translate-train, translated from en": 80.0,
        "translate-train, translated from fr": 60.0,
        "zero-shot from en": 70.0,
    }


def test_a_column_of_models_that_different_rules_selected_says_so():
    scores = [trained(source, target, 90.0, selection="last") for source in ("en", "de") for target in ("en", "de")]
    words = "Models of one column were selected by different rules: in-language."
    assert all(words not in table.caption for table in supervision(Results.of(scores)))
    best = [trained("fr", target, 80.0, selection="best") for target in ("fr", "de")]
    tables = supervision(Results.of([*scores, *best]))
    assert len(tables) == 2
    assert all(table.caption.endswith(words) for table in tables)


def test_the_distance_to_a_language_is_the_mean_over_all_versions_of_its_treebank():
    sides = [(source, target) for source in ("en", "de") for target in ("en", "de")]
    scores = [replace(trained(*side, 80.0), task="parsing", metric="las") for side in sides]
    orders = [
        Record(
            source="en", target="de", measure="word_order", value=value, corpus="ud/de_gsd:test", corpus_digest=digest
        )
        for value, digest in ((0.1, "a" * 64), (0.3, "b" * 64), (0.3, "b" * 64))  # one was measured twice
    ]
    table, *_ = supervision(Results.of([*scores, *orders]))
    assert table.head[0] == "word-order distance from en"
    german = next(row for rows in table.groups.values() for row in rows if row.label == "de")
    assert german.cells[0].value == pytest.approx(0.2)


def test_a_seed_without_a_rule_hides_no_other_rule():
    """Records of the English models' second seed do not say what selected the weights."""
    rules = {("en", 1): "best", ("en", 2): None, ("de", 1): "last"}
    scores = [
        replace(trained(source, target, 90.0, selection=rule), seed=seed)
        for (source, seed), rule in rules.items()
        for target in ("en", "de")
    ]
    tables = supervision(Results.of(scores))
    assert len(tables) == 2
    assert all("selected by different rules: in-language." in table.caption for table in tables)


def test_languages_stand_in_the_order_of_zero_shot_transfer_though_other_columns_stand_before():
    scores = [trained("en", target, 80.0) for target in ("en", "fr", "zh", "de")]
    table, *_ = supervision(Results.of([*scores, trained("de", "de", 90.0)]))
    assert table.head == ("in-language", "zero-shot from en")
    assert [row.label for row in table.groups["document, accuracy"]] == ["en", "fr", "zh", "de", "mean"]


def test_the_most_frequent_label_stands_beside_scores_by_training_data():
    tags = {"most_frequent_gold": 30}
    scores = [trained(*pair, 90.0, n=120, tags=tags) for pair in (("en", "de"), ("de", "en"))]
    for table in supervision(Results.of(scores)):
        assert table.caption.endswith(" Always predicting the most frequent label of a corpus: 25.00.")


def test_corpora_that_the_encoder_cannot_read_are_named_by_training_data():
    tags = {"subwords": 100, "unknown_subwords": 90}
    scores = [trained("en", "de", 50.0, tags=tags), trained("de", "en", 90.0)]
    tables = supervision(Results.of(scores))
    assert tables
    for table in tables:
        assert table.caption.endswith(f" Subwords that the encoder does not know: {scores[0].corpus} (90 %).")
