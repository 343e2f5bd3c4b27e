import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from crosslens.formatting import plain, signed
from crosslens.report.charts.printed import svg_width
from crosslens.results.record import Record, Results
from crosslens.unseen.rule import write_rule
from made_records import PLAIN, score
from made_rules import made_up
from made_typology import languages
from toy_commands import finetune, rows_of


def test_a_report_of_similarity_alone_has_its_table_figures_and_page(run, tmp_path):
    similar = [
        Record(
            encoder="e",
            source="en",
            target=target,
            measure="cka",
            layer=layer,
            metric="similarity",
            value=0.5,
            n=9,
            state="pretrained",
        )
        for target in ("fr", "de")
        for layer in (0, 1)
    ]
    Results.of(similar).write(tmp_path / "results.parquet")
    status, _, said = run("report", "results.parquet", "--out", "report")
    assert status == 0, said
    files = {path.name for path in Path("report").iterdir()}
    assert {"index.html", "similarity-cka.tex", "similarity.svg", "similarity-by-pair.pdf"} <= files
    assert "without intervals" not in said  # none were asked for


def test_a_report_of_some_results_has_nothing_of_the_others(run, tmp_path):
    scores = [score("fr", 70.0), score("en", 90.0)]
    others = [replace(each, task="ner", metric="f1", source="de") for each in scores]
    Results.of([*scores, *others]).write(tmp_path / "results.parquet")
    assert run("report", "results.parquet", "--out", "all")[0] == 0
    status, _, said = run("report", "results.parquet", "--where", "task=pos", "--where", "source=en", "--out", "some")
    assert status == 0, said
    every, some = ({path.name for path in Path(folder).glob("*.tex")} for folder in ("all", "some"))
    assert {"by-target-pos.tex", "by-target-ner.tex"} <= every
    assert ("by-target-pos.tex" in some, "by-target-ner.tex" in some) == (True, False)
    assert '"task":"ner"' not in Path("some/index.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("more", "order", "tags"), [((), "score", "en fr de"), (("--sort", "name"), "name", "en de fr")]
)
def test_tables_and_page_have_the_languages_in_the_order_that_is_asked(run, more, order, tags):
    Results.of([score("en", 90.0), score("de", 70.0), score("fr", 80.0)]).write("results.csv")
    status, _, said = run("report", "results.csv", "--out", "report", *more)
    assert status == 0, said
    labels = [row["row"] for row in rows_of("report/by-target-pos.csv")]
    assert labels[:3] == [f"en – {tag}" for tag in tags.split()]
    assert f'"sort":"{order}"' in Path("report/index.html").read_text("utf-8")


def test_a_report_of_some_results_has_the_classes_of_their_languages(run):
    Results.of(languages()).write("results.csv")
    status, _, said = run("report", "results.csv", "--where", "target=wo", "--out", "some")
    assert status == 0, said
    text = Path("some/typology.md").read_text("utf-8")
    assert ("Wolof" in text, "Uyghur" in text) == (True, False)


def test_a_figure_named_as_its_table_is_printed_once(run):
    common = {"encoder": "e", "source": "en", "target": "fr", "measure": "sentences identity", "metric": "precision@1"}
    Results.of([Record(**common, layer=layer, value=50.0) for layer in (0, 1)]).write("results.parquet")
    status, _, said = run("report", "results.parquet", "--out", "report")
    assert status == 0, said
    assert {"sentences.tex", "sentences.svg"} <= {path.name for path in Path("report").iterdir()}
    assert said.splitlines()[-1] == "report: index.html, sentences"


def test_records_of_an_unknown_task_are_named(run, tmp_path):
    Results.of([Record(task="poss", source="en", target="fr", metric="accuracy", value=90.0)]).write("results.csv")
    status, _, said = run("report", "results.csv", "--out", "report")
    assert (status, "unknown task 'poss' (did you mean 'pos'?)" in said) == (0, True), said


def test_a_paper_without_scores_for_these_results_is_named(run):
    """Its option changed nothing, as if it had been left out."""
    for source, named in (("mt", True), ("en", False)):
        rows = [Record(task="pos", source=source, target=tag, metric="accuracy", value=90.0) for tag in ("en", "fr")]
        layers = [
            Record(measure=name, source="en", target="fr", layer=0, value=0.5) for name in ("cka", "cka_shuffled")
        ]
        Results.of([*rows, *layers]).write("results.csv")
        status, shown, said = run("report", "results.csv", "--out", source, "--beside", "muller2021")
        assert (status, "ours − theirs" in shown) == (0, not named), said
        assert ("--beside: muller2021 has no published score of these tasks" in said) == named, said


def test_tasks_that_a_paper_is_left_out_for_are_named(run):
    rows = [
        Record(task=task, source="en", target=tag, metric=metric, value=90.0, settings=settings)
        for task, metric, several in (("pos", "accuracy", (None,)), ("parsing", "las", ("limit=5", "limit=9")))
        for settings in several
        for tag in ("en", "fr")
    ]
    Results.of(rows).write("results.csv")
    status, shown, said = run("report", "results.csv", "--out", "report", "--beside", "muller2021")
    assert (status, "ours − theirs" in shown) == (0, True), said
    assert "--beside: muller2021 is left out for parsing: results differ in settings" in said
    assert "no published score" not in said


def test_tables_for_a_paper(run, tiny_bert):
    assert finetune(run, tiny_bert, out="all/reference")[0] == 0
    assert finetune(run, tiny_bert, "--random-init", "1-2", out="all/ablated")[0] == 0
    status, shown, said = run("report", "all", "--out", "report", "--beside", "muller2021")
    assert status == 0, said
    assert "Δ 1-2" in shown
    assert "ours − theirs" in shown
    files = sorted(path.name for path in Path("report").iterdir())
    names = ("by-target-pos", "layer-deltas", "layer-sets")
    tables = [f"{name}.{ending}" for name in names for ending in ("csv", "md", "tex")]
    figures = [f"{name}.{ending}" for name in ("layer-profile", "layers-by-target") for ending in ("pdf", "png", "svg")]
    assert files == sorted([*tables, *figures, "index.html", "tables.tex"])
    assert run("report", "all", "--out", "again", "--beside", "muller2021")[0] == 0
    for name in set(files) - {"layers-by-target.pdf"}:  # whose objects stand in any order
        assert Path("report", name).read_bytes() == Path("again", name).read_bytes()
    for words, message in (
        (["report", "all", "--out", "report"], "report exists already"),
        (["report", "all", "--out", "x", "--beside", "muler"], "no numbers of 'muler'"),
        (["report", "nothing", "--out", "x"], "no such results file"),
    ):
        status, _, said = run(*words)
        assert (status, message in said) == (2, True)
    assert not Path("x").exists()


@pytest.mark.parametrize("task", ["pos", "a task that fills no table"])
def test_errors_of_a_rule_are_a_table(run, task):
    write_rule(made_up(8), "rule.csv")
    Results.of([Record(task=task, source="en", target="fr", metric="accuracy", value=90.0)]).write("results.csv")
    status, _, said = run("report", "results.csv", "--out", "report", "--rule", "rule.csv", "--rule", "rule.csv")
    assert status == 0, said
    names = ("rule", "rule-carried-over")
    assert all(Path("report", f"{name}.{ending}").is_file() for name in names for ending in ("csv", "md", "tex"))
    assert "regret of always en" in Path("report/rule.md").read_text("utf-8")
    assert run("report", "results.csv", "--out", "x", "--rule", "results.csv")[0] == 2


WITHOUT_TORCH = """
import sys
from crosslens.cli import cli
cli(["report", "scores.csv", "--out", "made"], standalone_mode=False)
assert not {"torch", "transformers"} & set(sys.modules)
"""


def test_a_report_needs_no_torch(run, tmp_path):
    """Importing it takes seconds, and a quarter of a gigabyte."""
    record = {"task": "pos", "encoder": "e", "source": "en", "split": "test", "metric": "accuracy", "depth": 4}
    scores = [("en", 90.0), ("fr", 80.0)]
    Results.of([Record(**record, target=target, seed=1, value=value) for target, value in scores]).write("scores.csv")
    subprocess.run([sys.executable, "-c", WITHOUT_TORCH], check=True, capture_output=True)
    assert Path("made/index.html").is_file()


def test_intervals_are_those_of_the_study_and_figures_fit_the_width(run, uninterrupted):
    """The study pairs both conditions by sentence, which their records alone do not allow."""
    status, _, error = run("report", uninterrupted, "--out", "report", "--spread", "interval", "--width", "2")
    assert status == 0, error
    table, latex = (Path(f"report/by-target-pos.{ending}").read_text("utf-8") for ending in ("md", "tex"))
    for row in rows_of(uninterrupted / "studies/toy/summary.csv"):
        write, name = (plain, "") if row["label"] == "reference" else (signed, "delta_")
        low, high = (write(float(row[name + end]), decimals=2) for end in ("low", "high"))
        assert f"[{low}, {high}]" in table
        assert row["label"] != "reference" or f"[{low}, {high}]" in latex
        assert f"[{low}, {high}]" in Path("report/layer-deltas.md").read_text("utf-8")
    assert "tables without intervals: layer-sets\n" in error
    widths = [svg_width(path.read_text("utf-8")) for path in Path("report").glob("*.svg")]
    assert len(widths) == 3
    assert max(widths) <= 2 * 96


def test_a_contradiction_leaves_out_what_it_concerns(run, tmp_path):
    """Two values of one score of tagging: the report of parsing stands."""
    rows = [*PLAIN, score("fr", 71.0), *(replace(each, task="parsing", metric="las") for each in PLAIN)]
    Results.of(rows).write("results.csv")
    status, _, said = run("report", "results.csv", "--out", "report")
    assert (status, said.count("two records contradict one another: pos")) == (0, 1), said
    assert "Dependency parsing" in Path("report/index.html").read_text("utf-8")
    assert [path.name for path in Path("report").glob("by-target-*.csv")] == ["by-target-parsing.csv"]


def test_a_report_without_figures_says_why_and_has_all_else(run, monkeypatch):
    Results.of(PLAIN).write("results.csv")
    monkeypatch.setitem(sys.modules, "altair", None)
    status, _, said = run("report", "results.csv", "--out", "report")
    assert (status, "pip install 'crosslens[report]'" in said) == (0, True), said
    assert said.splitlines()[-1].startswith("report: index.html, ")
    assert {path.suffix for path in Path("report").iterdir()} == {".html", ".tex", ".md", ".csv"}


@pytest.mark.parametrize("width", ["nan", "1.9", "12.1", "inf"])
def test_a_width_that_no_paper_has_is_refused(run, folder, width):
    status, _, said = run("report", "fr.csv", "--out", "report", "--width", width)
    assert (status, "Invalid value for '--width'" in said) == (2, True), said
