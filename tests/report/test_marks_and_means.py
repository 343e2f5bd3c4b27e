"""What is marked as significant, which corpora are in a mean, and what a paper's models are compared with."""

import csv
from dataclasses import replace
from statistics import fmean

import pytest

from crosslens.encoders.condition import Condition
from crosslens.report.papers import find_paper, read_published
from crosslens.report.papers.conneau2020 import FACTORS
from crosslens.report.significance import read_significance, significance_of
from crosslens.report.supervision import supervision
from crosslens.report.tables import by_target, layer_deltas, layer_sets
from crosslens.results.pivot import CROSS, SAME, UNKNOWN, parts_of, score_cells, score_table
from crosslens.results.record import Record, Results

REINIT = Condition(layers="1-2")
VALUES = {"en": (95.0, 94.0), "fr": (86.0, 76.0), "sv": (70.0, 66.0)}


def score(target, value, condition, *, corpus=None, seed=1):
    return Record(
        study="one",
        task="pos",
        encoder="e",
        source="en",
        target=target,
        seed=seed,
        metric="accuracy",
        value=value,
        corpus=corpus or f"ud/{target}_pud:test",
        split="test",
        train="ud/en_ewt:train",
        selection="last",
        state="fine-tuned",
        **condition.columns,
    )


def scores(values=VALUES):
    return [
        score(target, value, condition)
        for target, pair in values.items()
        for condition, value in zip((Condition(), REINIT), pair, strict=True)
    ]


def marked(tmp_path, **tested):
    """The French difference, of which a study's summary says this."""
    row = {
        "study": "one",
        "encoder": "e",
        "task": "pos",
        "source": "en",
        "train": "ud/en_ewt:train",
        "partner": "",
        "corpus": "ud/fr_pud:test",
        "metric": "accuracy",
        "condition": REINIT.text,
        "selection": "last",
        "interval": "seeds and sentences",
        "mean": 76.0,
        "low": 75.0,
        "high": 77.0,
        "delta": -10.0,
        "delta_low": -12.0,
        "delta_high": -8.0,
        **tested,
    }
    folder = tmp_path / "studies" / "one"
    folder.mkdir(parents=True)
    (tmp_path / "runs").mkdir()
    with (folder / "summary.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, row)
        writer.writeheader()
        writer.writerow(row)
    (table,) = by_target(Results.of(scores()), significance=read_significance([tmp_path]))
    cells = next(line.cells for line in table.groups["pos, accuracy"] if line.label == "en – fr")
    assert cells[1].interval is not None
    return cells[1].interval.marked


@pytest.mark.parametrize(
    ("p", "q", "expected"),
    [(0.001, 0.2, False), (0.01, 0.05, False), (0.01, 0.0499, True), (0.04, 0.04, True), (0.001, "", False)],
)
def test_a_difference_is_marked_by_q_and_never_by_p(tmp_path, p, q, expected):
    assert marked(tmp_path, p=p, q=q) is expected


def test_two_versions_of_a_corpus_have_intervals_of_their_own():
    """The French file changed between two studies, or within one; the numbers are those of two corpora."""

    def intervals(*names, **columns):
        results = Results.of(
            replace(
                score("fr", value - seed / 9 - loss * (condition == REINIT), condition, corpus=name, seed=seed),
                low=value - 9,
                high=value + 9,
                **{column: values[place] for column, values in columns.items()},
            )
            for place, (name, value, loss) in enumerate(zip(names, (80.0, 60.0), (20.0, 1.0), strict=True))
            for condition in (Condition(), REINIT)
            for seed in (1, 2, 3)
        )
        (table,) = by_target(results, significance=significance_of(results))
        (rows,) = table.groups.values()
        return [cell.interval for row in rows[:2] for cell in row.cells]

    digests, studies = ("a" * 64, "b" * 64), ("one", "two")
    own = intervals("one", "other")
    assert all(own)
    assert intervals("fr", "fr", corpus_digest=digests) == own
    of_two = intervals("one", "other", study=studies)
    assert intervals("fr", "fr", corpus_digest=digests, study=studies) == of_two


def test_corpora_of_no_known_language_are_shown_and_in_no_mean():
    unknown = [score(None, 1.0, condition, corpus="mine.conllu") for condition in (Condition(), REINIT)]
    with_it, without = Results.of([*scores(), *unknown]), Results.of(scores())
    same, cross, rest = parts_of(score_cells(with_it), "en")
    assert [[row[0] for row in part] for part in (same, cross, rest)] == [["en"], ["fr", "sv"], [None]]
    (table,), (plain,) = layer_deltas(with_it), layer_deltas(without)
    mean = table.groups["pos, accuracy"][-1]
    assert mean.label == "en – x, mean of 2 languages"
    assert (
        [cell.value for cell in mean.cells]
        == [78.0, -7.0]
        == [cell.value for cell in plain.groups["pos, accuracy"][-1].cells]
    )
    frame = score_table(with_it)
    assert frame.loc[(CROSS, "of 2")].tolist() == [78.0, -7.0]
    assert frame.loc[(SAME, "of 1")].tolist() == [95.0, -1.0]
    assert frame.loc[(UNKNOWN, "mine.conllu")].tolist() == [1.0, 0.0]


def test_a_mean_of_differences_is_over_the_seeds_that_both_have():
    """By hand: French has seeds 1 and 2 under both conditions, Swedish seed 2 under the reference alone."""
    more = [
        score("fr", 88.0, Condition(), seed=2),
        score("fr", 80.0, REINIT, seed=2),
        score("sv", 72.0, Condition(), seed=2),
    ]
    (table,) = layer_deltas(Results.of([*scores(), *more]))
    reference, difference = table.groups["pos, accuracy"][-1].cells
    assert reference.value == fmean([(86.0 + 70.0) / 2, (88.0 + 72.0) / 2])
    assert difference.value == (-10.0 - 4.0) / 2


def test_a_mean_over_languages_is_of_the_same_seeds_whatever_the_training_languages():
    """Seed 2 was not tested on Swedish, so no mean over models of English has it; models of other languages may."""
    english = [
        score(target, value + 10 * seed, Condition(), seed=seed)
        for target, (value, _) in VALUES.items()
        for seed in (1, 2)
        if (target, seed) != ("sv", 2)
    ]
    others = [
        replace(score(target, 90.0 + seed, Condition(), seed=seed), source=target, train=f"ud/{target}:train")
        for target, seed in (("fr", 1), ("sv", 2))
    ]
    table, *_ = supervision(Results.of([*english, *others]))
    (rows,) = table.groups.values()
    means = dict(zip(table.head, rows[-1].cells, strict=True))
    assert means["zero-shot from en"].value == fmean((96.0, 80.0))
    assert "number of seeds excluded" in table.notes[means["zero-shot from en"].note - 1]
    assert means["in-language"].value == pytest.approx(fmean((95.0 + 15, 91.0, 92.0)))


def test_a_papers_models_are_differences_to_its_default():
    paper = find_paper("conneau2020")
    rows = [row for row in read_published("conneau2020_table_1.csv") if row["value"]]
    printed = {(row["setting"], row["task"], row["target"]): float(row["value"]) for row in rows}
    compared = 0
    for (setting, task, target), value in printed.items():
        if target == "mean":
            continue
        reference = printed["Default", task, target]
        condition = Condition() if setting == "Default" else Condition(factor=FACTORS[setting])
        number = paper.find(task, ["en"], [target], condition)
        assert number is not None
        assert number.value == pytest.approx(value - (0 if setting == "Default" else reference), abs=0.006)
        compared += setting != "Default" and value != reference
    assert compared > 20
    assert paper.find("ner", ["fr"], ["de"], Condition()) is None  # its models were trained on English


def test_scores_over_fewer_seeds_than_others_say_so():
    """Swedish has one seed of two; the mean excludes the other seed of French, which is another note."""
    second = [replace(each, seed=2) for each in scores() if each.target != "sv"]
    few = "over fewer seeds: 1 of 2"
    excluded = "number of seeds excluded for lack of a score to compare with or average: 1"
    expected = {"en – en": [None, None], "en – fr": [None, None], "en – sv": [few, few]}
    for table in (*by_target(Results.of([*scores(), *second])), *layer_sets(Results.of([*scores(), *second]))):
        (rows,) = table.groups.values()
        said = {row.label: [cell.note and table.notes[cell.note - 1] for cell in row.cells] for row in rows}
        means = {label: notes for label, notes in said.items() if "mean" in label}
        assert list(means.values()) == ([[excluded, excluded]] if table.name != "layer-sets" else [])
        assert [said[label] for label in said if label not in means] == list(expected.values())


def test_a_difference_on_one_common_seed_has_an_interval_over_sentences_alone():
    """The condition has two seeds and the reference one, so that only one seed is compared, without a test."""
    measured = {(Condition(), 1): 70.0, (REINIT, 1): 60.0, (REINIT, 2): 61.0}
    results = Results.of(
        replace(score("fr", value, condition, seed=seed), low=value - 1, high=value + 1)
        for (condition, seed), value in measured.items()
    )
    (table,) = layer_deltas(results, significance=significance_of(results))
    intervals = {cell.interval.over for cell in table.cells if cell.interval and cell.kind == "difference"}
    assert intervals == {"sentences"}
