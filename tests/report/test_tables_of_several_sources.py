"""Tables of several sources: the training corpora of one are rows, not columns that all others leave empty."""

from dataclasses import replace

import pytest

from crosslens.report.metrics import metrics
from crosslens.report.papers import find_paper
from crosslens.report.supervision import supervision
from crosslens.report.tables import by_target, layer_deltas, layer_sets
from crosslens.results.record import Results
from made_records import in_bfloat16
from made_results import score

ENGLISH, WOLOF = "ud/en_ewt:train[:300]", "ud/wo_wtb:train"


def made(source, train, target, value, layers=None):
    return replace(score(target, value, layers, train=train), source=source)


def scores(source, train, points, layers=None):
    return [made(source, train, target, value, layers) for target, value in points.items()]


RECORDS = [
    *scores("en", ENGLISH, {"en": 94.0, "wo": 52.0}),
    *scores("en", ENGLISH, {"en": 90.0, "wo": 40.0}, "1-2"),
    *scores("en+wo", f"{ENGLISH}+{WOLOF}[:25]", {"en": 95.0, "wo": 79.0}),
    *scores("en+wo", f"{ENGLISH}+{WOLOF}[:100]", {"en": 96.0, "wo": 85.0}),
    *scores("en+wo", f"{ENGLISH}+{WOLOF}[:100]", {"en": 93.0, "wo": 83.0}, "1-2"),
]


@pytest.mark.parametrize("make", [layer_deltas, by_target])
def test_every_condition_has_one_column(make):
    (table,) = make(Results.of(RECORDS))
    assert table.head == ("Ref", "Δ 1-2")
    shown = {
        (title.removeprefix("pos, accuracy"), row.label.split(",")[0]): [cell.value for cell in row.cells]
        for title, rows in table.groups.items()
        for row in rows
        if row.kind == "plain"
    }
    expected = {
        ("", "en – en"): [94.0, -4.0],
        (f", {ENGLISH}+{WOLOF}[:25]", "en+wo – en"): [95.0, None],
        (f", {ENGLISH}+{WOLOF}[:25]", "en+wo – wo"): [79.0, None],
        (f", {ENGLISH}+{WOLOF}[:100]", "en+wo – en"): [96.0, -3.0],
        (f", {ENGLISH}+{WOLOF}[:100]", "en+wo – wo"): [85.0, -2.0],
    }
    assert shown == expected | ({("", "en – wo"): [52.0, -12.0]} if make is by_target else {})


def values(table):
    return {
        (title, row.label): [cell.value for cell in row.cells] for title, rows in table.groups.items() for row in rows
    }


def test_every_metric_has_the_columns_of_the_main_score():
    (table,) = metrics(Results.of(replace(each, metric=metric) for each in RECORDS for metric in ("accuracy", "f1")))
    assert table.head == ("Ref", "Δ 1-2")
    joined = [f"source en+wo, {ENGLISH}+{WOLOF}[:{few}]" for few in (25, 100)]
    assert values(table) == {
        (title, f"{metric}: {label}"): shown
        for metric in ("accuracy", "f1")
        for title, label, shown in (
            ("source en", "en – en", [94.0, -4.0]),
            ("source en", "en – x, mean of 1 language", [52.0, -12.0]),
            (joined[0], "en+wo – en+wo, mean of 2 languages", [87.0, None]),
            (joined[1], "en+wo – en+wo, mean of 2 languages", [90.5, -2.5]),
        )
    }


@pytest.mark.parametrize("make", [layer_deltas, metrics])
def test_translated_training_data_have_rows_of_their_own(make):
    """A model trained on French, and one trained on English that was translated into French."""
    original = [*scores("fr", "fr", {"fr": 90.0, "en": 70.0}), *scores("fr", "fr", {"fr": 80.0, "en": 50.0}, "1-2")]
    translated = [replace(each, translated_from="en", value=each.value - 20) for each in original]
    every = [*original, *translated, *scores("en", ENGLISH, {"en": 94.0, "fr": 52.0})]
    (table,) = make(Results.of(replace(each, metric=metric) for each in every for metric in ("accuracy", "f1")))
    assert table.head == ("Ref", "Δ 1-2")
    shown = [each for (title, _), each in values(table).items() if "translated from en" in title]
    assert shown == [[70.0, -10.0], [50.0, -20.0]] * (2 if make is metrics else 1)
    assert len(values(table)) == 3 * len(shown)


def test_rows_of_absolute_scores_name_the_training_corpus():
    (table,) = layer_sets(Results.of(RECORDS))
    assert table.head == ("Ref", "1-2")
    rows = {row.label: [cell.value for cell in row.cells] for row in table.groups["pos, accuracy, source en+wo"]}
    assert rows == {
        f"en {ENGLISH}+{WOLOF}[:25]": [95.0, None],
        f"wo {ENGLISH}+{WOLOF}[:25]": [79.0, None],
        f"en {ENGLISH}+{WOLOF}[:100]": [96.0, 93.0],
        f"wo {ENGLISH}+{WOLOF}[:100]": [85.0, 83.0],
    }


def test_training_corpora_that_all_sources_have_stay_side_by_side():
    """Two recipes of every source, for instance, are compared within a row."""
    both = [replace(each, recipe=recipe) for each in RECORDS[:2] for recipe in ("long", "short")]
    both += [replace(each, source="de") for each in both]
    (table,) = layer_deltas(Results.of(both))
    assert table.head == ("reference, long", "reference, short")
    (one,) = layer_deltas(Results.of([replace(each, train=f"{each.train}{n}") for each in RECORDS[:2] for n in "12"]))
    assert one.head == (f"reference, {ENGLISH}1", f"reference, {ENGLISH}2")


def test_settings_that_one_source_has_stay_side_by_side():
    gold = replace(RECORDS[0], settings="tags=gold")
    (table,) = layer_deltas(Results.of([RECORDS[0], gold, replace(RECORDS[0], source="de")]))
    assert set(table.head) == {"Ref", "reference, tags=gold"}


def test_joined_training_data_are_not_called_zero_shot():
    across, _ = supervision(Results.of(RECORDS))
    joined = [f"trained on en+wo, {ENGLISH}+{WOLOF}[:{few}]" for few in (25, 100)]
    assert across.head == ("in-language", "zero-shot from en", *joined)
    assert "Means of joined training data are without their languages" in across.caption


def test_models_of_another_precision_have_settings_of_their_own():
    single = [*scores("en", "en", {"en": 94.0, "fr": 52.0}), *scores("fr", "fr", {"fr": 90.0, "en": 50.0})]
    table, _ = supervision(
        Results.of([*single, *(in_bfloat16(replace(each, value=each.value - 1)) for each in single)])
    )
    settings = ("in-language", "zero-shot from en", "zero-shot from fr")
    assert sorted(table.head) == sorted([*settings, *(f"{name}, precision=bfloat16" for name in settings)])
    shown = dict(zip(table.head, next(iter(table.groups.values()))[0].cells, strict=True))
    for name in settings:
        assert shown[name].value == shown[f"{name}, precision=bfloat16"].value + 1


def test_published_scores_stand_beside_no_joined_training_data_of_one_language():
    """Nobody published scores of models that were trained on two English treebanks."""
    points = {"en": 95.0, "fr": 85.0, "de": 75.0}
    for train, beside in (("ud/en_ewt:train", True), ("ud/en_ewt:train+ud/en_gum:train", False)):
        records = Results.of([*scores("en", train, points), *scores("fr", "ud/fr_gsd:train", {"fr": 90.0})])
        table, *_ = supervision(records, beside=find_paper("wu2019"))
        assert ("zero-shot from en" in table.head, "ours − theirs" in table.head) == (True, beside)
