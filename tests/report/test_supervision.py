"""Tables 2 to 6 of Wu & Dredze (2019): scores by training data."""

from collections import Counter
from dataclasses import replace
from statistics import fmean

import pytest

from crosslens.encoders.condition import Condition
from crosslens.report.papers import find_paper, read_published
from crosslens.report.supervision import supervision
from crosslens.report.tables import layer_deltas
from crosslens.results.record import Record, Results

WU = find_paper("wu2019")


def values(row):
    return [cell.value for cell in row.cells]


def trained(
    source,
    target,
    value,
    *,
    seed=1,
    settings=None,
    translated_from=None,
    corpus=None,
    task="document",
    metric="accuracy",
    **condition,
):
    return Record(
        task=task,
        encoder="e",
        source=source,
        target=target,
        metric=metric,
        value=value,
        seed=seed,
        corpus=corpus or f"mldoc/{target}:test",
        train=f"mldoc/{source}:train",
        settings=settings,
        state="fine-tuned",
        translated_from=translated_from,
        **Condition(**condition).columns,
    )


def test_rows_by_what_a_model_was_trained_on():
    scores = [trained("en", "en", 90.0), trained("en", "de", 80.0), trained("en", "fr", 70.0)]
    scores += [trained("de", "de", 92.0), trained("de", "de", 94.0, seed=2)]
    scores += [trained("fr", "fr", 88.0, translated_from="en")]
    table, *_ = supervision(Results.of(scores))
    assert table.head == ("in-language", "translate-train", "zero-shot from en")
    (rows,) = table.groups.values()
    assert {row.label: values(row) for row in rows} == {
        "de": [93.0, None, 80.0],
        "en": [90.0, None, 90.0],
        "fr": [None, 88.0, 70.0],
        "mean": [91.5, 88.0, 75.0],  # of zero-shot without the source
    }


def test_published_rows_stand_beside_where_they_are_the_same_setting():
    scores = [trained("en", "en", 90.0), trained("en", "de", 80.0), trained("en", "yo", 50.0)]
    table, *_ = supervision(Results.of(scores), beside=WU)
    assert table.head[:3] == ("zero-shot from en", "wu2019", "ours − theirs")
    assert "MLDoc" in table.caption
    (rows,) = table.groups.values()
    assert {row.label: values(row)[:2] for row in rows} == {
        "de": [80.0, 80.2],
        "en": [90.0, 94.2],
        "yo": [50.0, None],
        "mean": [65.0, None],  # of other languages
    }
    assert values(rows[1])[2] == pytest.approx(-0.2)
    table, *_ = supervision(Results.of(scores[:2]), beside=WU)
    assert values(next(iter(table.groups.values()))[-1])[:2] == [80.0, 80.2]


def test_one_seed_and_one_corpus_are_in_language_and_not_translated():
    scores = [trained(language, language, value) for language, value in (("en", 90.0), ("de", 92.0), ("fr", 88.0))]
    table, *_ = supervision(Results.of([*scores, trained("en", "de", 80.0)]), beside=WU)
    assert "mean of 1 row" in table.notes
    scores += [trained("en", "de", 80.0), trained("en", "fr", 70.0)]
    table, *_ = supervision(Results.of(scores), beside=WU)
    compared = ("in-language", "wu2019", "ours − theirs", "zero-shot from en", "wu2019", "ours − theirs")
    assert table.head[:6] == compared
    (rows,) = table.groups.values()
    assert values(rows[1])[:2] == [92.0, 93.3]
    assert [table.notes[cell.note - 1] for cell in rows[-1].cells[:6] if cell.note] == [
        "mean of 3 rows",
        "mean of 3 rows",
        "mean of 2 rows",
        "mean of 2 rows",
    ]


def test_other_systems_of_the_paper_stand_behind_in_our_settings():
    """Table 2: two systems in zero-shot transfer, one trained in each language."""
    zero_shot = [trained("en", "en", 90.0), trained("en", "de", 80.0), trained("en", "ru", 50.0)]
    table, *_ = supervision(Results.of(zero_shot), beside=WU)
    assert table.head[3:] == ("zero-shot, Schwenk and Li (2018)", "zero-shot, Artetxe and Schwenk (2018)")
    (rows,) = table.groups.values()
    assert {row.label: values(row)[3:] for row in rows} == {
        "de": [81.2, 84.8],
        "en": [92.2, 89.9],
        "ru": [60.8, 67.8],
        "mean": [pytest.approx(71.0), pytest.approx(76.3)],  # without the source
    }
    assert "Artetxe and Schwenk (2018): pretrained on bitext" in table.caption
    table, *_ = supervision(Results.of([*zero_shot, trained("de", "de", 92.0)]), beside=WU)
    assert "in-language, Schwenk and Li (2018)" in table.head
    (rows,) = table.groups.values()
    assert values(rows[1])[table.head.index("in-language, Schwenk and Li (2018)")] == 93.7
    *single, mean = (values(row)[table.head.index("in-language, Schwenk and Li (2018)")] for row in rows)
    assert mean == pytest.approx(fmean(single))  # each language trained on itself, the source too
    table, *_ = supervision(Results.of([*zero_shot, trained("en", "yo", 40.0)]), beside=WU)
    (rows,) = table.groups.values()
    assert values(rows[-1])[3:] == [None, None]  # not published for Yoruba


def test_scores_of_another_source_than_the_papers_are_not_compared():
    scores = [trained("de", "de", 90.0), trained("de", "fr", 80.0)]
    assert supervision(Results.of(scores), beside=WU)[0].head == ("zero-shot from de",)


def test_doubtful_published_scores_have_a_note():
    scores = [
        trained("en", target, 80.0, task="ner", metric="f1", corpus=f"conll2002/{target}") for target in ("nl", "es")
    ]
    table, *_ = supervision(Results.of(scores), beside=WU)
    (rows,) = table.groups.values()
    spanish = dict(zip(table.head, rows[1].cells, strict=True))
    assert table.notes[spanish["wu2019"].note - 1] == "derived from the published average"
    assert spanish["zero-shot, Xie et al. (2018)"].value is None  # not legible
    assert values(rows[0])[-1] == 71.25


def test_a_language_with_several_corpora_has_a_row_for_each():
    scores = [trained("en", "en", 90.0), trained("en", "de", 80.0), trained("en", "de", 60.0, corpus="mldoc/de:dev")]
    table, *_ = supervision(Results.of(scores), beside=WU)
    (rows,) = table.groups.values()
    assert {row.label: values(row)[:2] for row in rows} == {
        "en": [90.0, 94.2],
        "mldoc/de:dev": [60.0, None],
        "mldoc/de:test": [80.0, None],
        "mean": [70.0, None],
    }


def test_published_supervision_is_whole():
    rows = [row for row in read_published("wu2019_tables_2_to_6.csv") if row["value"]]
    assert all(0 <= float(row["value"]) <= 100 for row in rows)
    assert max(Counter((row["task"], row["metric"], row["setting"], row["target"]) for row in rows).values()) == 1
    assert {(row["task"], row["metric"]) for row in rows} == {
        ("document", "accuracy"),
        ("nli", "accuracy"),
        ("ner", "f1"),
        ("pos", "accuracy"),
        ("parsing", "las_nopunct"),
        ("parsing", "uas_nopunct"),
        ("parsing", "word_order"),
    }
    orders = [float(row["value"]) for row in rows if row["metric"] == "word_order"]
    assert len(orders) == 31
    assert orders == sorted(orders)  # "We order the languages by word order distance to English"
    assert fmean(orders) == pytest.approx(0.17, abs=0.005)
    for setting in {row["setting"] for row in rows if row["task"] == "document"}:  # the paper's mean has English in it
        scores = {
            row["target"]: float(row["value"]) for row in rows if (row["task"], row["setting"]) == ("document", setting)
        }
        if "average" in scores:
            assert fmean(v for target, v in scores.items() if target != "average") == pytest.approx(
                scores["average"], abs=0.06
            )


def test_frozen_layers_are_headed_by_what_is_frozen():
    scores = [
        trained("en", target, value + worse, **condition)
        for target, value in (("en", 90.0), ("de", 80.0))
        for condition, worse in (
            ({}, 0.0),
            ({"freeze": "0-3"}, 1.0),
            ({"use": "features", "settings": "batch=32"}, -5.0),
        )
    ]
    (table,) = layer_deltas(Results.of(scores))
    assert table.head == ("Ref", "Δ features", "Δ frozen 0-3")
    assert values(table.groups["document, accuracy"][0]) == [90.0, -5.0, 1.0]


def test_settings_are_panels_with_a_column_for_each_language_as_in_tables_2_to_5():
    """Table 2: trained in each language (mBERT, another system), and zero-shot (mBERT, two other systems)."""
    scores = [trained(language, language, value) for language, value in (("en", 90.0), ("de", 92.0), ("ru", 88.0))]
    scores += [trained("en", "de", 80.0), trained("en", "ru", 70.0)]
    _, table = supervision(Results.of(scores), beside=WU)
    assert (table.name, table.head) == ("settings-document-accuracy", ("en", "de", "ru", "mean"))
    assert {title: [row.label for row in rows] for title, rows in table.groups.items()} == {
        "in-language": ["ours", "wu2019", "ours − theirs", "Schwenk and Li (2018)"],
        "zero-shot from en": [
            "ours",
            "wu2019",
            "ours − theirs",
            "Schwenk and Li (2018)",
            "Artetxe and Schwenk (2018)",
        ],
    }
    ours, published, *_, artetxe = table.groups["zero-shot from en"]
    assert (values(ours), ours.kind) == ([90.0, 80.0, 70.0, 75.0], "plain")
    assert (values(published)[:3], published.kind) == ([94.2, 80.2, 73.7], "beside")
    assert values(artetxe)[:3] == [89.9, 84.8, 67.8]


def test_many_languages_have_rows_only():
    many = [f"{a}{b}" for a in "abc" for b in "nopqst"]
    scores = [trained("en", target, 80.0) for target in ("en", *many)] + [trained("an", "an", 90.0)]
    assert [table.name for table in supervision(Results.of(scores))] == ["supervision-document-accuracy"]


def test_parsing_begins_with_the_distance_of_word_orders():
    parsers = dict(task="parsing", metric="las_nopunct")
    scores = [trained("en", target, score, **parsers) for target, score in (("en", 88.0), ("de", 66.0), ("wo", 20.0))]
    distance = dict(source="en", measure="word_order", metric="distance")
    orders = [
        Record(target=target, value=value, corpus=f"ud/{target}_{number}", **distance)
        for target, value, number in (("de", 0.1, 1), ("de", 0.3, 2), ("en", 0.02, 1))
    ]
    table, settings = supervision(Results.of([*scores, *orders, orders[0]]), beside=WU)  # one was measured twice
    assert table.head[:2] == ("word-order distance from en", "word-order distance from en, wu2019")
    assert "Ahmad et al. 2019" in table.caption
    (rows,) = table.groups.values()
    assert {row.label: values(row)[:2] for row in rows} == {
        "de": [pytest.approx(0.2), 0.14],  # the mean over its treebanks
        "en": [0.02, 0.0],
        "wo": [None, None],
        "mean": [pytest.approx(0.2), 0.14],  # of other languages
    }
    assert [row.label for row in settings.groups["word-order distance from en"]] == ["ours", "wu2019"]
    other = [trained("en", "de", 66.0, task="pos"), trained("de", "de", 90.0, task="pos")]
    assert all("word-order" not in head for table in supervision(Results.of(other + orders)) for head in table.head)


def test_parsers_that_read_gold_tags_stand_beside_published_ones_that_do():
    parsers = dict(task="parsing", metric="las_nopunct")
    scores = [
        trained("en", target, value, settings=settings, **parsers)
        for settings, lower in (("tags=gold limit=9", 0.0), (None, 5.0))
        for target, value in (("en", 85.0 - lower), ("fr", 75.0 - lower))
    ]
    table, *_ = supervision(Results.of(scores), beside=WU)
    (rows,) = table.groups.values()
    gold, plain = (table.head.index(f"zero-shot from en{words}") for words in (", tags=gold limit=9", ""))
    published = {
        (row["setting"], row["target"]): float(row["value"])
        for row in read_published("wu2019_tables_2_to_6.csv")
        if row["metric"] == "las_nopunct" and row["value"]
    }
    for row in rows[:2]:
        assert values(row)[gold + 1] == published["zero-shot+gold-pos", row.label]
        assert values(row)[plain + 1] == published["zero-shot", row.label] != values(row)[gold + 1]


def test_in_language_models_of_two_recipes_are_two_columns():
    small, large = (
        [replace(trained(source, source, value), recipe=recipe) for source, value in by_source.items()]
        for recipe, by_source in (("small", {"en": 90.0, "de": 80.0}), ("large", {"fr": 70.0}))
    )
    table, *_ = supervision(Results.of([*small, *large, replace(trained("en", "de", 60.0), recipe="small")]))
    (rows,) = table.groups.values()
    shown = {row.label: dict(zip(table.head, values(row), strict=True)) for row in rows}
    assert shown["fr"] == {"in-language, small": None, "in-language, large": 70.0, "zero-shot from en, small": None}
    assert shown["de"]["in-language, small"] == 80.0


def test_a_corpus_has_one_name_whatever_the_recipe():
    """One recipe was tested on one French corpus, the other on two."""
    small = [trained("en", "en", 90.0), trained("en", "fr", 70.0), trained("de", "de", 80.0)]
    large = [
        trained("en", "fr", 60.0),
        trained("en", "fr", 50.0, corpus="mldoc/fr-news:test"),
        trained("de", "de", 81.0),
    ]
    records = [replace(each, recipe=name) for name, several in (("small", small), ("large", large)) for each in several]
    table, *_ = supervision(Results.of(records))
    (rows,) = table.groups.values()
    shown = {row.label: dict(zip(table.head, values(row), strict=True)) for row in rows}
    assert {"fr", "mldoc/fr:test", "mldoc/fr-news:test"} & shown.keys() == {"mldoc/fr:test", "mldoc/fr-news:test"}
    assert shown["mldoc/fr:test"]["zero-shot from en, small"] == 70.0
    assert shown["mldoc/fr:test"]["zero-shot from en, large"] == 60.0
