"""The share of the zero-shot gap that patched translations recover, from made-up records."""

import pytest

from crosslens.report.conditions.recovered import gap_recovered
from crosslens.report.tables import all_tables
from crosslens.results.record import Results
from made_records import score

VALUES = {
    (): (90.0, 70.0, 50.0),
    (("patch", "1.output"),): (90.0, 75.0, 60.0),
    (("patch", "2.output"),): (90.0, 90.0, 90.0),
    (("resample", "1.output"),): (30.0, 60.0, 40.0),
    (("zero", "1.output"),): (1.0, 2.0, 3.0),
}


def records(*seeds, values=VALUES):
    return Results.of(
        score(target, value - (seed - 1) * (target == "fr" and bool(keys)), seed=seed, condition=dict(keys) or "none")
        for seed in seeds
        for keys, of_targets in values.items()
        for target, value in zip(("en", "fr", "de"), of_targets, strict=True)
    )


def test_a_share_is_the_change_divided_by_the_gap():
    (table,) = gap_recovered(records(1))
    assert table.head == ("1.output", "2.output")
    shown = {
        title: {row.label: [cell.value for cell in row.cells] for row in rows} for title, rows in table.groups.items()
    }
    assert list(shown) == ["pos, accuracy, source en: patch", "pos, accuracy, source en: resample"]
    patch, baseline = shown.values()
    assert patch == {
        "fr": [25.0, 100.0],
        "de": [25.0, 100.0],
        "mean of 2 languages": [pytest.approx(100 * 7.5 / 30), 100.0],
    }
    assert baseline == {
        "fr": [-50.0, None],
        "de": [-25.0, None],
        "mean of 2 languages": [pytest.approx(-100 * 10 / 30), None],
    }
    assert "gap-recovered" in {each.name for each in all_tables(records(1))}


def test_intervals_are_over_seeds():
    (table,) = gap_recovered(records(1, 2))
    rows, _ = table.groups.values()
    french = next(row for row in rows if row.label == "fr").cells[0]
    assert french.value == pytest.approx((25 + 20) / 2)
    half = 12.7062047 * 2.5  # Student's t with one degree of freedom, standard error 2.5
    assert (french.interval.low, french.interval.high) == (pytest.approx(22.5 - half), pytest.approx(22.5 + half))


def test_without_a_gap_or_a_patch_there_is_no_share():
    without = {keys: values for keys, values in VALUES.items() if not dict(keys).get("patch")}
    assert gap_recovered(records(1, values=without)) == []
    closed = VALUES | {(): (90.0, 95.0, 50.0)}
    (table,) = gap_recovered(records(1, values=closed))
    rows, _ = table.groups.values()
    labels = [row.label for row in rows]
    assert "fr" not in labels
    assert "de" in labels


def test_where_a_seed_has_no_gap_there_is_no_mean_over_seeds():
    rows = [
        score(target, value, seed=seed, condition=condition)
        for seed, zero_shot in ((1, 70.0), (2, 95.0))
        for condition, more in (("none", 0.0), ({"patch": "1.output"}, 2.0))
        for target, value in (("en", 90.0), ("fr", zero_shot + more))
    ]
    assert gap_recovered(Results.of(rows)) == []
    (table,) = gap_recovered(Results.of(rows[: len(rows) // 2]))
    assert [[cell.value for cell in row.cells] for rows in table.groups.values() for row in rows] == [[10.0]]


def test_a_gap_is_of_the_models_of_the_same_recipe():
    """Gaps of 40 and 10 points: five points recover an eighth of one and half of the other."""
    rows = [
        score(target, value, condition=condition, selection=selection)
        for selection, zero_shot in (("dev of the target", 50.0), ("last", 80.0))
        for condition, more in (("none", 0.0), ({"patch": "1.output"}, 5.0))
        for target, value in (("en", 90.0), ("fr", zero_shot + more))
    ]
    (table,) = gap_recovered(Results.of(rows))
    shown = {title: [cell.value for row in rows for cell in row.cells] for title, rows in table.groups.items()}
    assert shown == {
        "pos, accuracy, dev of the target, source en: patch": [12.5],
        "pos, accuracy, last, source en: patch": [50.0],
    }


def test_the_gap_is_to_the_source_language_on_the_corpus_of_the_translations():
    """Another test set of the source language, that nothing was patched on, changes no share."""
    other = score("en", 60.0, corpus="ud/en_other")
    assert gap_recovered(records(1) + Results.of([other])) == gap_recovered(records(1))


def test_columns_are_in_the_order_of_layers_and_the_mean_is_marked_as_one():
    high = {keys: values for keys, values in VALUES.items() if dict(keys).get("patch") != "1.output"}
    high |= {(("patch", address),): (90.0, 75.0, 60.0) for address in ("10.output", "9.output")}
    (table,) = gap_recovered(records(1, values=dict(reversed(high.items()))))
    assert table.head == ("1.output", "2.output", "9.output", "10.output")
    assert list(table.groups) == ["pos, accuracy, source en: patch", "pos, accuracy, source en: resample"]
    for rows in table.groups.values():
        assert {row.label: row.kind for row in rows} == {"fr": "plain", "de": "plain", "mean of 2 languages": "mean"}


def test_a_share_is_over_the_seeds_that_all_of_its_scores_have_and_says_so():
    lacking = [each for each in records(1, 2, 3) if (each.target, each.seed, each.condition) != ("en", 3, "none")]
    (table,), (of_two,) = gap_recovered(Results.of(lacking)), gap_recovered(records(1, 2))
    title = "pos, accuracy, source en: patch"
    for row, expected in zip(table.groups[title], of_two.groups[title], strict=True):
        assert [cell.value for cell in row.cells] == [cell.value for cell in expected.cells]
        assert [table.notes[cell.note - 1] for cell in row.cells] == ["over fewer seeds: 2 of 3"] * 2
