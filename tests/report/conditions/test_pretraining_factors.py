"""Table 1 of Conneau, Wu et al. (2020), from made-up records and beside the published scores."""

from dataclasses import replace
from statistics import fmean

import pytest

from crosslens.encoders.condition import Condition
from crosslens.report.conditions.pretraining_factors import pretraining_factors
from crosslens.report.papers import find_paper, read_published
from crosslens.report.papers.conneau2020 import FACTORS
from crosslens.report.significance import significance_of
from crosslens.report.tables import layer_sets
from crosslens.results.record import Record, Results
from crosslens.studies.record_summary import summarise_records

PAPER = find_paper("conneau2020")
BANKS = {"en": "en_ewt", "fr": "fr_gsd", "ru": "ru_gsd", "zh": "zh_gsd"}
METRICS = {"nli": "accuracy", "parsing": "las"}


def score(target, value, *, factor=None, seed=1, task="parsing", corpus=None, partner=None, **condition):
    names = {"nli": f"xnli/{target}:test", "parsing": f"ud/{BANKS.get(target)}:test"}
    return Record(
        task=task,
        encoder="pretrain:small",
        source="en",
        target=target,
        partner=partner or target,
        split="test",
        seed=seed,
        metric=METRICS[task],
        value=value,
        corpus=corpus or names[task],
        train={"nli": "xnli/en:train", "parsing": "ud/en_ewt:train"}[task],
        state="fine-tuned",
        **Condition(**({"factor": factor} if factor else {}), **condition).columns,
    )


def scores(values, **keys):
    """Records of factor -> target -> value."""
    return Results.of(
        score(target, value, factor=factor, **keys)
        for factor, by_target in values.items()
        for target, value in by_target.items()
    )


THREE = {
    "sep-1-3": {"fr": 60.0, "ru": 50.0, "zh": 20.0},
    "mine": {"fr": 10.0, "ru": 20.0, "zh": 30.0},
    "extra-anchors": {"fr": 75.0, "ru": 59.0, "zh": 31.0},
    None: {"fr": 70.0, "ru": 55.0, "zh": 25.0},
}


def values(row):
    return [cell.value for cell in row.cells]


def test_a_row_for_each_condition_in_the_papers_order():
    english = Results.of([score("en", 90.0, partner="fr"), score("en", 80.0, partner="fr", factor="sep-1-3")])
    (table,) = pretraining_factors(scores(THREE) + english)
    assert table.head == ("fr", "ru", "zh", "mean", "Δ fr", "Δ ru", "Δ zh", "Δ mean")
    ((title, rows),) = table.groups.items()
    assert title == "parsing, las, source en, mean of 3 languages"
    assert {row.label: values(row) for row in rows} == {
        "reference": [70.0, 55.0, 25.0, 50.0, None, None, None, None],
        "extra-anchors": [75.0, 59.0, 31.0, 55.0, 5.0, 4.0, 6.0, 5.0],
        "sep-1-3": [60.0, 50.0, 20.0, pytest.approx(130 / 3), -10.0, -5.0, -5.0, pytest.approx(-20 / 3)],
        "mine": [10.0, 20.0, 30.0, 20.0, -60.0, -35.0, 5.0, -30.0],
    }
    assert [row.label for row in rows] == ["reference", "extra-anchors", "sep-1-3", "mine"]


def test_published_scores_and_differences_stand_below_ours():
    (table,) = pretraining_factors(scores(THREE), beside=PAPER)
    (rows,) = table.groups.values()
    reference, default, _, extra, published, difference, *_ = rows
    printed = {
        (row["setting"], row["target"]): float(row["value"])
        for row in read_published("conneau2020_table_1.csv")
        if row["task"] == "parsing"
    }
    columns = ("fr", "ru", "zh", "mean")
    assert values(default) == [*(printed["Default", target] for target in columns), *[None] * 4]
    absolute = [printed["Extra anchors", target] for target in columns]
    changes = [printed["Extra anchors", target] - printed["Default", target] for target in columns]
    assert values(published) == pytest.approx([*absolute, *changes], abs=0.006)
    assert values(difference) == pytest.approx(
        [ours - theirs for ours, theirs in zip(values(extra), values(published), strict=True)]
    )
    assert (reference.label, default.kind, extra.label) == ("reference", "beside", "extra-anchors")
    assert rows[-1].label == "mine"  # the paper has no such model
    assert "Below ours: conneau2020" in table.caption


def test_the_published_mean_stands_beside_one_over_the_same_languages():
    two = {factor: {key: value for key, value in by.items() if key != "zh"} for factor, by in THREE.items()}
    (table,) = pretraining_factors(scores(two), beside=PAPER)
    (rows,) = table.groups.values()
    assert values(rows[0])[:3] == [70.0, 55.0, 62.5]
    assert values(rows[1])[:3] == [73.2, 56.6, None]
    four = {factor: {**by, "en": 0.0} for factor, by in THREE.items()}
    german = Results.of(score("de", value, factor=factor) for factor, value in ((None, 60.0), ("sep-1-3", 40.0)))
    (table,) = pretraining_factors(scores(four) + german, beside=PAPER)
    (rows,) = table.groups.values()
    place = table.head.index("mean")
    assert values(rows[0])[place] == fmean((70.0, 55.0, 25.0, 60.0))
    assert values(rows[1])[place] is None


def test_published_means_stand_apart_where_our_languages_are_others():
    ours = {factor: {"de": by["fr"]} for factor, by in THREE.items()}
    (table,) = pretraining_factors(scores(ours), beside=PAPER)
    apart = {title: rows for title, rows in table.groups.items() if "as published" in title}
    assert list(apart) == [
        f"conneau2020 as published, {task}, mean of its languages" for task in ("parsing", "ner", "nli")
    ]
    printed = {
        (row["task"], row["setting"]): float(row["value"])
        for row in read_published("conneau2020_table_1.csv")
        if row["target"] == "mean"
    }
    place, change = table.head.index("mean"), table.head.index("Δ mean")
    rows = {row.label: row for row in apart["conneau2020 as published, nli, mean of its languages"]}
    assert len(rows) == 1 + len(FACTORS)
    assert values(rows["reference"])[place] == printed["nli", "Default"]
    assert values(rows["sep-1-3"])[place] == printed["nli", "Sep L1-3"]
    lost = printed["nli", "Sep L1-3"] - printed["nli", "Default"]
    assert values(rows["sep-1-3"])[change] == pytest.approx(lost, abs=0.006)
    assert "Below ours" not in table.caption
    (table,) = pretraining_factors(scores(ours), beside=find_paper("muller2021"))
    assert not any("as published" in title for title in table.groups)


def test_differences_have_the_intervals_of_the_records():
    seeds = {1: 0.0, 2: 0.5, 3: 1.0}
    records = [
        replace(
            record,
            seed=seed,
            value=record.value + more * (record.factor is not None),
            low=record.value - 1,
            high=record.value + 1,
        )
        for seed, more in seeds.items()
        for record in scores(THREE)
    ]
    results = Results.of(records)
    significance = significance_of(results)
    (table,) = pretraining_factors(results, significance=significance)
    ((_, rows),) = table.groups.items()
    row = next(row for row in rows if row.label == "sep-1-3")
    frame = summarise_records(results)
    for corpus, head in (("ud/fr_gsd:test", "Δ fr"), ("mean of 3 languages:test", "Δ mean")):
        (expected,) = frame[(frame["corpus"] == corpus) & (frame["label"] == "sep-1-3")].to_dict("records")
        interval = row.cells[table.head.index(head)].interval
        assert (interval.low, interval.high) == pytest.approx((expected["delta_low"], expected["delta_high"]))
        assert interval.marked == (expected["q"] < 0.05)
    assert all(cell.interval is None for cell in row.cells[: table.head.index("Δ fr")])


def test_a_condition_that_lacks_a_language_has_no_mean():
    lacking = {**THREE, "sep-1-3": {"fr": 60.0, "zh": 20.0}}
    (table,) = pretraining_factors(scores(lacking).sorted("name"))
    (rows,) = table.groups.values()
    row = next(row for row in rows if row.label == "sep-1-3")
    assert values(row) == [60.0, None, 20.0, None, -10.0, None, -5.0, None]


def test_published_scores_are_of_the_papers_treebanks_and_of_each_encoders_own_language():
    other_bank = scores({None: {"fr": 70.0}, "sep-1-3": {"fr": 60.0}}, corpus="ud/fr_pud:test")
    other_encoder = scores({None: {"fr": 70.0}, "sep-1-3": {"fr": 60.0}}, partner="ru")
    for results in (other_bank, other_encoder):
        for make in (pretraining_factors, layer_sets):
            (table,) = make(results, beside=PAPER)
            assert "beside" not in {row.kind for rows in table.groups.values() for row in rows}
    (table,) = layer_sets(scores({None: {"fr": 70.0}, "sep-1-3": {"fr": 60.0}}), beside=PAPER)
    (rows,) = table.groups.values()
    assert [values(row) for row in rows[:2]] == [[70.0, 60.0], [73.2, 69.7]]


def test_tasks_are_groups_of_one_table():
    inference = scores({None: {"fr": 70.0, "de": 60.0}, "no-anchors": {"fr": 65.0, "de": 50.0}}, task="nli")
    (table,) = pretraining_factors(scores(THREE) + inference)
    assert table.head[:5] == ("fr", "ru", "zh", "de", "mean")
    assert list(table.groups) == [
        "parsing, las, source en, mean of 3 languages",
        "nli, accuracy, source en, mean of 2 languages",
    ]
    reference = table.groups["nli, accuracy, source en, mean of 2 languages"][0]
    assert values(reference)[:5] == [70.0, None, None, 60.0, 65.0]


def test_no_factor_no_table():
    assert pretraining_factors(scores({None: {"fr": 70.0}})) == []
    assert pretraining_factors(scores({"sep-1-3": {"en": 70.0}}, partner="fr")) == []


def test_every_published_model_has_a_condition():
    settings = {row["setting"] for row in read_published("conneau2020_table_1.csv")}
    assert settings == set(PAPER.conditions) == {"Default", *FACTORS}
