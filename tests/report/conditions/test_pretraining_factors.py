"""Table 1 of Conneau, Wu et al. (2020), from made-up records and beside the published scores."""

from dataclasses import replace
from statistics import fmean

import pytest

from crosslens.encoders.condition import Condition
from crosslens.report.conditions.pretraining_factors import pretraining_factors
from crosslens.report.papers import find_paper, read_published
from crosslens.report.papers.conneau2020 import FACTORS, SECTIONS
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


def rows(table):
    """Label -> row, over all groups; published rows have the label of ours before their own."""
    named = {}
    ours = ""
    for row in (row for of_group in table.groups.values() for row in of_group):
        if row.kind == "plain":
            ours = row.label
        named[ours if row.kind == "plain" else (ours, row.label)] = row
    return named


def printed_in_the_paper(task):
    return {
        (row["setting"], row["target"]): float(row["value"])
        for row in read_published("conneau2020_table_1.csv")
        if row["task"] == task
    }


def test_scores_and_differences_have_a_row_for_each_condition_in_the_papers_order():
    english = Results.of([score("en", 90.0, partner="fr"), score("en", 80.0, partner="fr", factor="sep-1-3")])
    levels, changes = pretraining_factors(scores(THREE) + english)
    for table in (levels, changes):
        assert table.head == ("fr", "ru", "zh", "mean")
        assert table.panels == {"Dependency parsing, LAS": 4}
        sections = ["anchor points", "parameter sharing", "others"]
        assert list(table.groups) == ["source en, mean of 3 languages", *sections]
    assert {label: values(row) for label, row in rows(levels).items()} == {
        "reference": [70.0, 55.0, 25.0, 50.0],
        "extra-anchors": [75.0, 59.0, 31.0, 55.0],
        "sep-1-3": [60.0, 50.0, 20.0, pytest.approx(130 / 3)],
        "mine": [10.0, 20.0, 30.0, 20.0],
    }
    assert {label: values(row) for label, row in rows(changes).items()} == {
        "reference": [70.0, 55.0, 25.0, 50.0],
        "Δ extra-anchors": [5.0, 4.0, 6.0, 5.0],
        "Δ sep-1-3": [-10.0, -5.0, -5.0, pytest.approx(-20 / 3)],
        "Δ mine": [-60.0, -35.0, 5.0, -30.0],
    }
    assert {cell.kind for cell in rows(changes)["reference"].cells} == {"score"}
    assert {cell.kind for cell in rows(changes)["Δ mine"].cells} == {"difference"}


def test_tasks_stand_side_by_side_with_their_languages_in_one_order():
    inference = scores({None: {"zh": 70.0, "de": 60.0}, "no-anchors": {"zh": 65.0, "de": 50.0}}, task="nli")
    table, _ = pretraining_factors(scores(THREE) + inference)
    assert table.panels == {"Dependency parsing, LAS": 4, "NLI, accuracy": 3}
    assert table.head == ("fr", "ru", "zh", "mean", "zh", "de", "mean")
    assert table.full_heads[3:5] == ("Dependency parsing, LAS: mean", "NLI, accuracy: zh")
    heading = "source en, mean of 3 languages in Dependency parsing, LAS, mean of 2 languages in NLI, accuracy"
    assert list(table.groups) == [heading, "anchor points", "parameter sharing", "others"]
    assert values(rows(table)["reference"]) == [70.0, 55.0, 25.0, 50.0, 70.0, 60.0, 65.0]
    assert values(rows(table)["no-anchors"]) == [None] * 4 + [65.0, 50.0, 57.5]
    assert values(rows(table)["mine"]) == [10.0, 20.0, 30.0, 20.0, None, None, None]


def test_a_mean_is_said_of_the_tasks_that_have_several_languages():
    inference = scores({None: {"zh": 70.0}, "no-anchors": {"zh": 65.0}}, task="nli")
    table, _ = pretraining_factors(scores(THREE) + inference)
    assert next(iter(table.groups)) == "source en, mean of 3 languages in Dependency parsing, LAS"


def test_several_encoders_have_groups_of_their_own():
    other = scores({None: {"fr": 20.0}, "sep-1-3": {"fr": 10.0}}).with_columns(encoder="pretrain:tiny")
    table, _ = pretraining_factors(scores(THREE) + other)
    titles = list(table.groups)
    assert titles[:2] == ["pretrain:small, source en, mean of 3 languages", "pretrain:small, source en: anchor points"]
    assert titles[-2:] == ["pretrain:tiny, source en", "pretrain:tiny, source en: parameter sharing"]
    assert values(table.groups[titles[-1]][0]) == [10.0, None, None, 10.0]


def test_published_scores_and_differences_stand_below_ours():
    levels, changes = pretraining_factors(scores(THREE), beside=PAPER)
    printed = printed_in_the_paper("parsing")
    columns = ("fr", "ru", "zh", "mean")
    default = [printed["Default", target] for target in columns]
    extra = [printed["Extra anchors", target] for target in columns]
    assert values(rows(levels)["reference", "conneau2020"]) == default
    assert values(rows(levels)["extra-anchors", "conneau2020"]) == extra
    assert values(rows(levels)["extra-anchors", "ours − theirs"]) == pytest.approx(
        [ours - theirs for ours, theirs in zip((75.0, 59.0, 31.0, 55.0), extra, strict=True)]
    )
    assert values(rows(changes)["reference", "conneau2020"]) == default
    assert values(rows(changes)["Δ extra-anchors", "conneau2020"]) == pytest.approx(
        [a - b for a, b in zip(extra, default, strict=True)], abs=0.006
    )
    assert ("mine", "conneau2020") not in rows(levels)  # the paper has no such model
    assert "Below ours: conneau2020" in levels.caption


def test_the_published_mean_stands_beside_one_over_the_same_languages():
    two = {factor: {key: value for key, value in by.items() if key != "zh"} for factor, by in THREE.items()}
    table, _ = pretraining_factors(scores(two), beside=PAPER)
    assert values(rows(table)["reference"]) == [70.0, 55.0, 62.5]
    assert values(rows(table)["reference", "conneau2020"]) == [73.2, 56.6, None]
    four = {factor: {**by, "en": 0.0} for factor, by in THREE.items()}
    german = Results.of(score("de", value, factor=factor) for factor, value in ((None, 60.0), ("sep-1-3", 40.0)))
    table, _ = pretraining_factors(scores(four) + german, beside=PAPER)
    place = table.head.index("mean")
    assert values(rows(table)["reference"])[place] == fmean((70.0, 55.0, 25.0, 60.0))
    assert values(rows(table)["reference", "conneau2020"])[place] is None


def test_no_published_mean_stands_beside_one_with_another_test_set_of_a_language():
    other_bank = [replace(each, corpus="ud/fr_pud:test") if each.target == "fr" else each for each in scores(THREE)]
    for table in pretraining_factors(Results.of(other_bank), beside=PAPER):
        french, russian, _, mean = values(rows(table)["reference", "conneau2020"])
        assert (french, russian, mean) == (None, 56.6, None)


def test_the_papers_table_stands_apart_where_our_languages_are_others():
    ours = {factor: {"de": by["fr"]} for factor, by in THREE.items()}
    levels, changes, of_paper, changes_of_paper = pretraining_factors(scores(ours), beside=PAPER)
    assert "Below ours" not in levels.caption + changes.caption
    assert of_paper.name == "pretraining-factors-conneau2020"
    assert of_paper.panels == {"NLI, accuracy": 4, "NER, F1": 4, "Dependency parsing, LAS": 4}
    assert of_paper.head == ("fr", "ru", "zh", "mean") * 3
    assert list(of_paper.groups) == ["conneau2020", *SECTIONS]
    assert len(rows(of_paper)) == 1 + len(FACTORS)
    columns = [(task, target) for task in ("nli", "ner", "parsing") for target in ("fr", "ru", "zh", "mean")]
    printed = {task: printed_in_the_paper(task) for task, _ in columns}
    for setting, label in (("Default", "reference"), *FACTORS.items()):
        expected = [printed[task][setting, target] for task, target in columns]
        assert values(rows(of_paper)[label]) == expected
        if setting != "Default":
            default = [printed[task]["Default", target] for task, target in columns]
            lost = [a - b for a, b in zip(expected, default, strict=True)]
            assert values(rows(changes_of_paper)[f"Δ {label}"]) == pytest.approx(lost, abs=0.006)
    assert len(pretraining_factors(scores(ours), beside=find_paper("muller2021"))) == 2


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
    levels, changes = pretraining_factors(results, significance=significance_of(results))
    row = rows(changes)["Δ sep-1-3"]
    frame = summarise_records(results)
    for corpus, head in (("ud/fr_gsd:test", "fr"), ("mean of 3 languages:test", "mean")):
        (expected,) = frame[(frame["corpus"] == corpus) & (frame["label"] == "sep-1-3")].to_dict("records")
        interval = row.cells[changes.head.index(head)].interval
        assert (interval.low, interval.high) == pytest.approx((expected["delta_low"], expected["delta_high"]))
        assert interval.marked == (expected["q"] < 0.05)
    assert all(cell.interval is None for row in rows(levels).values() for cell in row.cells)


def test_a_condition_that_lacks_a_language_has_no_mean():
    lacking = {**THREE, "sep-1-3": {"fr": 60.0, "zh": 20.0}}
    levels, changes = pretraining_factors(scores(lacking).sorted("name"))
    assert values(rows(levels)["sep-1-3"]) == [60.0, None, 20.0, None]
    assert values(rows(changes)["Δ sep-1-3"]) == [-10.0, None, -5.0, None]


def test_published_scores_are_of_the_papers_treebanks_and_of_each_encoders_own_language():
    other_bank = scores({None: {"fr": 70.0}, "sep-1-3": {"fr": 60.0}}, corpus="ud/fr_pud:test")
    other_encoder = scores({None: {"fr": 70.0}, "sep-1-3": {"fr": 60.0}}, partner="ru")
    for results in (other_bank, other_encoder):
        for make in (pretraining_factors, layer_sets):
            table, *_ = make(results, beside=PAPER)
            assert "beside" not in {row.kind for row in rows(table).values()}
    (table,) = layer_sets(scores({None: {"fr": 70.0}, "sep-1-3": {"fr": 60.0}}), beside=PAPER)
    (shown,) = table.groups.values()
    assert [values(row) for row in shown[:2]] == [[70.0, 60.0], [73.2, 69.7]]


@pytest.mark.parametrize("beside", [None, PAPER])
def test_no_factor_no_table(beside):
    assert pretraining_factors(scores({None: {"fr": 70.0}}), beside=beside) == []
    assert pretraining_factors(scores({"sep-1-3": {"en": 70.0}}, partner="fr"), beside=beside) == []


def test_every_published_model_has_a_condition():
    settings = {row["setting"] for row in read_published("conneau2020_table_1.csv")}
    assert settings == set(PAPER.conditions) == {"Default", *FACTORS}
