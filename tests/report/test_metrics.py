from dataclasses import replace
from statistics import fmean

import pytest

from crosslens.report.metrics import metrics
from crosslens.results.record import Record, Results


def scored(metric, target, value, *, seed=1, layers=None, task="parsing"):
    changed = {"condition": '[{"layers":"1-2"}]', "ablation": "1-2"} if layers else {}
    return Record(
        metric=metric,
        value=value,
        task=task,
        encoder="e",
        source="en",
        target=target,
        corpus=f"ud/{target}_pud:test",
        split="test",
        seed=seed,
        **changed,
    )


@pytest.fixture
def scores():
    return {
        (metric, target, seed): 50.0 + 7 * len(metric) + 3 * len(target) + ord(target[0]) % 7 + seed
        for metric in ("las", "uas_nopunct")
        for target in ("en", "fr", "de")
        for seed in (1, 2)
    }


def test_every_metric_has_a_row_for_the_source_and_for_the_mean_of_the_others(scores):
    results = Results.of(scored(metric, target, value, seed=seed) for (metric, target, seed), value in scores.items())
    (table,) = metrics(results)
    assert (table.name, table.head) == ("metrics-parsing", ("Ref",))
    (rows,) = table.groups.values()
    assert [row.label for row in rows] == [
        "las: en – en",
        "las: en – x, mean of 2 languages",
        "uas_nopunct: en – en",
        "uas_nopunct: en – x, mean of 2 languages",
    ]
    expected = [
        fmean(value for (name, target, _), value in scores.items() if name == metric and (target == "en") is same)
        for metric in ("las", "uas_nopunct")
        for same in (True, False)
    ]
    assert [row.cells[0].value for row in rows] == pytest.approx(expected)


def test_conditions_are_differences(scores):
    results = Results.of(
        scored(metric, target, value - 2 * bool(layers), seed=seed, layers=layers)
        for (metric, target, seed), value in scores.items()
        for layers in (None, "1-2")
    )
    (table,) = metrics(results)
    assert table.head == ("Ref", "Δ 1-2")
    assert [row.cells[1].value for rows in table.groups.values() for row in rows] == pytest.approx([-2.0] * 4)


def test_a_task_with_one_metric_has_no_table(scores):
    results = Results.of(scored("accuracy", target, value, task="pos") for (_, target, _), value in scores.items())
    assert metrics(results) == []


@pytest.mark.parametrize(("left_out", "expected"), [("en", ["x, mean of 2 languages"]), ("fr de", ["en"])])
def test_a_part_without_scores_has_no_row(scores, left_out, expected):
    results = Results.of(
        scored(metric, target, value, seed=seed)
        for (metric, target, seed), value in scores.items()
        if target not in left_out.split()
    )
    (table,) = metrics(results)
    (rows,) = table.groups.values()
    assert [row.label for row in rows] == [
        f"{name}: en – {part}" for name in ("las", "uas_nopunct") for part in expected
    ]


def test_splits_are_groups_of_their_own(scores):
    results = Results.of(
        replace(scored(metric, target, value - 9 * (split == "dev")), split=split)
        for split in ("test", "dev")
        for (metric, target, seed), value in scores.items()
        if seed == 1
    )
    (table,) = metrics(results)
    test, dev = (table.groups[name] for name in ("test", "dev"))
    assert [row.cells[0].value - 9 for row in test] == pytest.approx([row.cells[0].value for row in dev])
    assert len(test) == 4


def test_a_mean_over_corpora_of_the_source_says_so(scores):
    more = [replace(scored(metric, "en", 10.0), corpus="ud/en_gum:test") for metric in ("las", "uas_nopunct")]
    one = [scored(metric, target, value) for (metric, target, seed), value in scores.items() if seed == 1]
    (table,) = metrics(Results.of([*one, *more]))
    (rows,) = table.groups.values()
    assert [row.label for row in rows][::2] == [
        "las: en – en, mean of 2 corpora",
        "uas_nopunct: en – en, mean of 2 corpora",
    ]
    assert rows[0].cells[0].value == fmean((scores["las", "en", 1], 10.0))


@pytest.mark.parametrize(
    ("metric", "columns"), [(("las", "uas_nopunct"), {"task": "unheard of"}), (("las",), {"source": None})]
)
def test_a_task_that_there_is_not_or_with_one_metric_that_can_be_compared_has_no_table(scores, metric, columns):
    made = [scored(name, target, value) for (name, target, seed), value in scores.items() if seed == 1]
    assert metrics(Results.of(replace(each, **columns) if each.metric in metric else each for each in made)) == []


def test_a_metric_of_fewer_seeds_than_the_others_has_a_note(scores):
    results = Results.of(
        scored(metric, target, value, seed=seed)
        for (metric, target, seed), value in scores.items()
        if (metric, seed) != ("uas_nopunct", 2)
    )
    (table,) = metrics(results)
    (rows,) = table.groups.values()
    assert [cell.note for row in rows for cell in row.cells] == [None, None, 1, 1]
    assert table.notes == ("over fewer seeds: 1 of 2",)


def test_groups_of_several_sources_name_them(scores):
    one = [scored(metric, target, value) for (metric, target, seed), value in scores.items() if seed == 1]
    french = [replace(each, source="fr") for each in one]
    (table,) = metrics(Results.of([*one, *french]))
    assert list(table.groups) == ["source en", "source fr"]
    (table,) = metrics(Results.of([*one, *french, *(replace(each, encoder="f") for each in one)]))
    assert list(table.groups) == ["source en, e", "source fr, e", "source en, f"]
    (alone,) = metrics(Results.of(one))
    assert list(alone.groups) == ["source en"]
