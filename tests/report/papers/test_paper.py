"""Published numbers, by paper."""

from dataclasses import replace
from statistics import fmean

import pytest

from crosslens.encoders.condition import Condition
from crosslens.errors import RequestError
from crosslens.report.papers import PAPERS, find_paper, read_published
from crosslens.report.papers.paper import Paper
from crosslens.report.tables import layer_deltas
from crosslens.results.record import Results
from made_records import PLAIN
from made_results import score


@pytest.mark.parametrize("file", [file for paper in PAPERS.values() for file in paper.differences])
def test_published_tables_are_whole(file):
    rows = read_published(file)
    assert {row["kind"] for row in rows} == {"reference", "delta"}
    assert all(row["layers"] == "" for row in rows if row["kind"] == "reference")
    assert all(row.get("note", "-") for row in rows if not row["value"])  # what has no value says why


def test_the_papers_own_means_do_not_follow_from_its_rows():
    """Why ours stand beside means of its rows: fifteen or sixteen of them give another number than is printed."""
    printed = {
        row["target"]: float(row["value"])
        for row in read_published("muller2021_tables_6_7_8.csv")
        if (row["task"], row["source"], row["kind"]) == ("pos", "en", "reference") and row["value"]
    }
    assert fmean(value for target, value in printed.items() if target not in ("en", "x")) == pytest.approx(
        79.04, abs=0.01
    )
    assert printed["x"] == 79.37


@pytest.mark.parametrize("paper", [paper for paper in PAPERS.values() if paper.baselines], ids=lambda paper: paper.name)
def test_published_averages_of_other_systems_follow_from_their_rows(paper):
    rows = [row for file in paper.baselines for row in read_published(file)]
    assert {row["system"] for row in rows} == set(paper.systems)
    assert all(row["note"] for row in rows if not row["value"])  # what has no value says why
    checked = 0
    for task, metric in {(row["task"], row["metric"]) for row in rows}:
        unreadable = {(row["setting"], row["system"]) for row in rows if row["task"] == task and not row["value"]}
        for system, scores in paper.other_systems(task, metric).items():
            average = scores["average"].value if system not in unreadable else None
            if average is not None:
                # Schwenk and Li's 89.56 is printed as 89.5
                assert fmean(score.value for target, score in scores.items() if target != "average") == pytest.approx(
                    average, abs=0.065
                ), system
                checked += 1
    assert checked


def test_all_layers_of_table_5_are_a_model_trained_from_scratch():
    """Caption: 'corresponds to a model trained from scratch on the task', so without pretrained embeddings."""
    paper = find_paper("muller2021")

    def french(layers):
        condition = Condition(layers=layers).scaled(written_for=None, depth=12)
        return paper.score("pos", "en", "fr", "test", condition)

    from_scratch, first = french("0,all"), french("1")
    assert from_scratch is not None
    assert first is not None
    assert (from_scratch.value, first.value) == (28.96, 86.70)
    assert french("all") is None  # keeps the pretrained embeddings, which the paper did not try


def test_a_paper_that_there_is_not():
    with pytest.raises(RequestError, match=r"no numbers of 'muler2021'.*did you mean 'muller2021'"):
        find_paper("muler2021")


def test_no_published_mean_is_over_languages_that_each_lack_another_number(monkeypatch):
    """French lacks the reference and German the difference: no language has both columns."""
    find = Paper.find

    def with_gaps(self, task, source, target, condition):
        lacking = "fr" if condition.is_reference else "de"
        return None if lacking in target else find(self, task, source, target, condition)

    def labels():
        (table,) = layer_deltas(Results.of(PLAIN), beside=find_paper("muller2021"))
        ((_, *rows),) = table.groups.values()
        return [row.label for row in rows if row.kind == "beside"]

    assert labels()[-2:] == ["muller2021", "ours − theirs"]
    monkeypatch.setattr(Paper, "find", with_gaps)
    assert not any("languages" in label for label in labels())


def test_models_trained_on_a_corpus_that_the_paper_trains_on_are_compared_with_these_alone():
    """The paper has no German scores of ParTUT models, and those of its English models are others."""
    paper = find_paper("muller2021")
    english = paper.find("parsing", ["en"], ["de"], Condition())
    assert english is not None
    assert paper.find("parsing", ["en_ewt", "en"], ["de"], Condition()) == english
    assert paper.find("parsing", ["en_partut", "en"], ["de"], Condition()) is None


@pytest.mark.parametrize(
    ("train", "source", "test", "compared"),
    [
        ("ud/en_partut:train", "en", "ud/en_ewt:test", True),
        ("ud/en_partut:train+ud/wo_wtb:train[:50]", "en+wo", "ud/en_ewt:test", False),
        ("ud/en_ewt:train+ud/en_gum:train", "en", "ud/en_pud:test", False),
        ("ud/en_partut:train", "en", "ud/en_ewt:test+ud/en_gum:test", False),
    ],
)
def test_published_numbers_are_not_of_corpora_joined_from_several(train, source, test, compared):
    named = {"source": source, "train": train, "corpus": test, "task": "parsing", "metric": "las"}
    results = Results.of([replace(score("en", 80.0, layers), **named) for layers in (None, "1-2")])
    (table,) = layer_deltas(results, beside=find_paper("muller2021"))
    (rows,) = table.groups.values()
    assert any(row.kind == "beside" for row in rows) is compared


@pytest.mark.parametrize(
    "paper", [paper for paper in PAPERS.values() if paper.differences], ids=lambda paper: paper.name
)
def test_of_a_number_that_two_tables_print_the_first_counts(paper):
    """The tables by language stand before their summary, whose numbers differ by rounding."""
    printed = {}
    for row in (row for file in paper.differences for row in read_published(file) if row["value"]):
        layers = Condition(layers=row["layers"]).scaled(written_for=None, depth=12) if row["layers"] else Condition()
        printed.setdefault((row["task"], row["source"], row["target"], layers), (float(row["value"]), row["table"]))
    for (task, source, target, condition), number in printed.items():
        shown = paper.find(task, [source], [target], condition)
        assert shown is not None
        assert (shown.value, shown.table) == number
    assert len(printed) > 500


@pytest.mark.parametrize(
    ("corpus", "compared"),
    [
        ("ud/fr_pud:test[:20]", True),
        ("sample/fr:test", True),
        ("data/UD_French-PUD/fr_pud-ud-test.conllu", True),
        ("fr_pud-ud-test.conllu[:20]", True),
        ("fr_gsd-ud-test.conllu", False),
        ("my french.conllu", False),
        ("data/my.conllu[:50]", False),
    ],
)
def test_published_scores_stand_beside_test_sets_of_the_paper_and_not_beside_any_file(corpus, compared):
    rows = Results.of([score("en", 95.0), score("fr", 80.0, corpus=corpus)])
    (table,) = layer_deltas(rows, beside=find_paper("muller2021"))
    labels = [row.label for group in table.groups.values() for row in group]
    assert labels.index("en – x, mean of 1 language") == 3
    assert len(labels) == (6 if compared else 4)
