"""The table of interventions before and after training, from made-up records."""

from dataclasses import replace

import pytest

from crosslens.encoders.condition import Condition
from crosslens.report.conditions.interventions import before_training, interventions
from crosslens.report.significance import significance_of
from crosslens.report.tables import all_tables
from crosslens.results.record import Record, Results


def score(target, value, *, seed=1, task="pos", **condition):
    return Record(
        task=task,
        encoder="e",
        source="en",
        target=target,
        split="test",
        seed=seed,
        metric="accuracy",
        value=value,
        corpus=f"ud/{target}_pud:test",
        train="ud/en_ewt:train",
        state="fine-tuned",
        depth=4,
        **Condition(**condition).columns,
    )


VALUES = {
    (): (90.0, 70.0, 60.0),
    (("layers", "1-2"),): (88.0, 40.0, 20.0),
    (("layers", "3-4"),): (89.0, 69.0, 59.0),
    (("zero", "1-2"),): (50.0, 30.0, 30.0),
    (("zero", "3-4"),): (85.0, 66.0, 56.0),
    (("noise", "3-4"), ("noise_dose", 0.5)): (80.0, 61.0, 51.0),
    (("layers", "1-2"), ("zero", "3-4")): (1.0, 2.0, 3.0),
}
RESULTS = Results.of(
    score(target, value, **dict(keys))
    for keys, values in VALUES.items()
    for target, value in zip(("en", "fr", "de"), values, strict=True)
)


def test_rows_are_interventions_and_columns_are_layers():
    (table,) = interventions(RESULTS)
    assert table.head == ("1-2", "3-4")
    ((_, rows),) = table.groups.items()
    shown = {row.label: [cell.value for cell in row.cells] for row in rows}
    assert shown == {
        "re-initialised: same language": [-2.0, -1.0],
        "re-initialised: zero-shot, mean of 2 languages": [-35.0, -1.0],
        "zero: same language": [-40.0, -5.0],
        "zero: zero-shot, mean of 2 languages": [-35.0, -4.0],
        "noise=0.5: same language": [None, -10.0],
        "noise=0.5: zero-shot, mean of 2 languages": [None, -9.0],
    }
    assert "without training it again" in table.caption


def test_columns_are_in_the_order_of_layers_and_rows_in_that_of_doses():
    conditions = [{"erase": "3.output", "erase_dose": -1}, {"erase": "0"}, {"erase": "3.output"}]
    conditions += [{"erase": "3.output", "erase_dose": 2}, {"erase": "3.output", "erase_control": "random"}]
    results = Results.of(score(target, 50.0, **keys) for keys in ({}, *reversed(conditions)) for target in ("en", "fr"))
    (table,) = interventions(results)
    assert table.head == ("0", "3.output")
    ((_, rows),) = table.groups.items()
    assert [row.label.split(":")[0] for row in rows[::2]] == ["erase=-1", "erase", "erase=2", "erase=random"]


def test_other_tables_leave_out_changes_of_the_trained_model():
    tables = {table.name: table for table in all_tables(RESULTS)}
    assert tables["interventions"].head == ("1-2", "3-4")
    both = "Δ 1-2;zero 3-4"  # which the table of interventions has no row for
    assert tables["layer-deltas"].head == ("Ref", "Δ 1-2", both, "Δ 3-4")
    assert [row.cells[2].value for row in tables["layer-deltas"].groups["pos, accuracy"]] == [1.0 - 90.0, 2.5 - 65.0]


@pytest.mark.parametrize("keys", [{"zero": "1-2"}, {"layers": "1-2"}])
def test_what_is_alone_is_kept(keys):
    alone = Results.of([score("fr", 50.0, **keys)])
    assert before_training(alone).records.equals(alone.records)


def test_records_without_a_condition_are_of_no_changed_model():
    other = Results.of([Record(measure="overlap_types", metric="overlap", target="fr", value=40.0, condition=None)])
    kept = before_training(RESULTS + other)
    assert list(kept.filter(measure="overlap_types")) == list(other)
    assert len(kept) == 4 * 3 + 1


def test_without_changes_of_the_trained_model_there_is_no_table():
    assert interventions(before_training(RESULTS)) == []


def test_a_changed_model_whose_reference_is_unknown_has_no_difference():
    changed = [score(target, 50.0, zero="1-2") for target in ("en", "fr")]
    assert interventions(Results.of(changed)) == []
    of_another = [replace(score("fr", 80.0), recipe="large")]
    assert interventions(Results.of([*of_another, *(replace(each, recipe="small") for each in changed)])) == []


@pytest.mark.parametrize(
    ("one", "other", "names"),
    [
        (
            {"erase": "1", "erase_to": "ud/fr"},
            {"erase": "1", "erase_to": "ud/de"},
            ("erase erase_to=ud/fr", "erase erase_to=ud/de"),
        ),
        (
            {"swap": "1", "swap_from": "a/mbert"},
            {"swap": "1", "swap_from": "b/mbert"},
            ("swap swap_from=a/mbert", "swap swap_from=b/mbert"),
        ),
        (
            {"patch": "1", "patch_from": "ud/pud", "patch_digest": "0123456789ab"},
            {"patch": "1", "patch_from": "ud/pud", "patch_digest": "ba9876543210"},
            ("patch patch_digest=01234567", "patch patch_digest=ba987654"),
        ),
    ],
)
def test_different_conditions_of_one_treatment_have_rows_and_columns_of_their_own(one, other, names):
    results = Results.of(
        score(target, 80.0 + change, **condition)
        for condition, change in (({"zero": "1"}, -50.0), ({}, 0.0), (one, -1.0), (other, -30.0))
        for target in ("en", "fr")
    )
    tables = {table.name: table for table in all_tables(results)}
    shown = {row.label: row.cells[0].value for rows in tables["interventions"].groups.values() for row in rows}
    assert [shown[f"{name}: zero-shot"] for name in names] == [-1.0, -30.0]
    frame = results.table()  # a column each
    assert frame.shape[1] == len(set(frame.columns)) == 4
    assert sorted(frame.loc["fr"].iloc[0]) == [-50.0, -30.0, -1.0, 80.0]


def test_models_of_several_recipes_have_groups_of_their_own():
    results = Results.of(
        replace(score(target, value + change, **condition), recipe=recipe)
        for recipe, value, loss in (("large", 90.0, -3.0), ("small", 50.0, -40.0))
        for condition, change in (({}, 0.0), ({"zero": "1-2"}, loss))
        for target in ("en", "fr")
    )
    (table,) = interventions(results)
    shown = {title: [cell.value for row in rows for cell in row.cells] for title, rows in table.groups.items()}
    assert shown == {
        "pos, accuracy, large, source en": [-3.0, -3.0],
        "pos, accuracy, small, source en": [-40.0, -40.0],
    }


def test_a_mean_over_corpora_of_the_source_language_has_an_interval():
    ranges = [replace(record, low=record.value - 1, high=record.value + 1) for record in RESULTS]
    seeds = [replace(record, seed=seed) for record in ranges for seed in (1, 2)]
    second = [replace(record, corpus="ud/en_ewt:test") for record in seeds if record.target == "en"]
    results = Results.of([*seeds, *second])
    (table,) = interventions(results, significance=significance_of(results))
    ((_, rows),) = table.groups.items()
    assert "mean of 2 corpora" in rows[0].label
    assert all(row.cells[0].interval is not None for row in rows[:2])
