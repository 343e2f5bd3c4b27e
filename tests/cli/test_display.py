"""The log of a stage: when it begins, how long it still takes, and when it ends; tables: names, notes and captions."""

import io
import threading
from types import SimpleNamespace

import pandas as pd
import pytest
from rich.console import Console
from rich.progress import Progress as Bars

from crosslens.cli._display import Bar, Log, _beating, print_report, print_table
from crosslens.report.render import to_markdown
from crosslens.report.significance import Interval
from crosslens.report.table import Cell, Row, Table


class Clock:
    """Time that goes on when it is told to."""

    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def log():
    lines = []
    made = Log(lines.append, clock=Clock())
    return made, lines


def test_a_log_says_when_a_stage_begins_and_ends_and_every_ten_seconds_how_long_still(log):
    made, lines = log
    for step in range(1, 41):
        made.report("pretraining", step, 100, "steps", f"loss {step}")
        made.clock.now += 1
    made.report("evaluating", 0, 2, "corpora", "en")
    made.clock.now += 90
    made.end()
    assert lines == [
        "pretraining: 100 steps …",
        "pretraining: 11 of 100 steps, 10 s so far, about 1 min 29 s left, loss 11",
        "pretraining: 21 of 100 steps, 20 s so far, about 1 min 19 s left, loss 21",
        "pretraining: 31 of 100 steps, 30 s so far, about 1 min 9 s left, loss 31",
        "pretraining: done in 40 s (40 of 100 steps, loss 40)",
        "evaluating: 2 corpora …",
        "evaluating: done in 1 min 30 s (0 of 2 corpora, en)",
    ]


def test_what_was_done_before_does_not_shorten_the_time_left(log):
    made, lines = log
    made.report("pretraining", 901, 1000, "steps")
    made.clock.now += 30
    made.report("pretraining", 931, 1000, "steps")
    assert lines == [
        "pretraining: 901 of 1,000 steps …",
        "pretraining: 931 of 1,000 steps, 30 s so far, about 1 min 9 s left",
    ]


def test_the_time_left_shrinks_while_a_run_takes_long(log):
    made, lines = log
    made.report("training", 0, 4, "runs")
    made.clock.now += 30
    made.report("training", 1, 4, "runs")
    for _ in range(10):
        made.clock.now += 10
        made.beat()
    assert lines[1:4] == [
        "training: 1 of 4 runs, 30 s so far, about 1 min 30 s left",
        "training: 1 of 4 runs, 40 s so far, about 1 min 20 s left",
        "training: 1 of 4 runs, 50 s so far, about 1 min 10 s left",
    ]
    assert lines[-1] == "training: 1 of 4 runs, 2 min 10 s so far"


def test_lines_go_on_where_nothing_is_reported(log):
    made, lines = log
    made.beat()
    made.report("planning", 0)
    for _ in range(3):
        made.clock.now += 6
        made.beat()
    made.end(well=False)
    made.end()
    made.beat()
    assert lines == ["planning …", "planning: 12 s so far", "planning: stopped after 18 s"]


def test_a_stage_that_begins_again_has_a_time_of_its_own(log):
    made, lines = log
    made.report("fine-tuning", 1, 9, "steps")
    made.clock.now += 5
    made.report("fine-tuning", 9, 9, "steps")
    made.clock.now += 50
    made.report("fine-tuning", 1, 9, "steps")
    made.clock.now += 1
    made.end()
    assert lines[1:] == [
        "fine-tuning: done in 55 s (9 of 9 steps)",
        "fine-tuning: 9 steps …",
        "fine-tuning: done in 1 s (1 of 9 steps)",
    ]


def test_what_is_said_above_a_bar_is_written_as_it_is(log):
    """Not with its brackets taken for markup, or broken at the width of the bar."""
    made, lines = log
    with Bars(console=Console(file=io.StringIO(), width=20)) as bars:
        bar = Bar(made, bars, bars.add_task(""))
        bar.say("skipped: [bold] ud/fr_pud[:500] :warning:")
    assert lines == ["skipped: [bold] ud/fr_pud[:500] :warning:"]


def test_lines_are_written_while_the_work_reports_nothing():
    written = threading.Event()
    with _beating(SimpleNamespace(beat=written.set), on=True):
        assert written.wait(timeout=60)


def test_rows_that_are_of_no_column_have_no_heading(capsys):
    print_table(pd.DataFrame({"subwords": [3]}, index=["original"]), title="")
    heading, *_ = capsys.readouterr().out.split()
    assert heading == "subwords"


def test_an_unknown_language_is_a_question_mark_beside_min_nan(capsys):
    languages = pd.DataFrame({"target": ["nan", None], "corpus": ["ud/nan_tgb", "my.conllu"], "distance": [0.1, 0.2]})
    for index in ("target", ["target", "corpus"]):
        print_table(languages.set_index(index)[["distance"]], title="")
        shown = capsys.readouterr().out
        assert [line.split()[0] for line in shown.splitlines() if "0." in line] == ["nan", "?"]


def test_a_table_of_a_report_is_printed_with_what_its_file_has(capsys):
    cells = (
        Cell(-10.57, "difference", interval=Interval(-16.78, -4.36, marked=True, over="seeds and sentences")),
        Cell(3.77, "difference", note=1),
    )
    table = Table("t", "Scores.", ("1-2", "5-6"), {"pos": (Row("en – x", cells),)}, ("seeds excluded: 2",))
    print_report(table, spread="interval")
    printed = capsys.readouterr().out
    written = to_markdown(table, spread="interval").replace("**", "").replace("\\*", "*")
    for text in ("-10.57* [-16.78, -4.36]", "+3.77 [1]", "[1] seeds excluded: 2", "* marks differences"):
        assert text in printed.replace("−", "-")
        assert text in written.replace("−", "-")


def test_published_scores_stand_indented_below_ours(capsys):
    rows = (Row("fr", (Cell(80.0, "score"),)), Row("published", (Cell(81.0, "score"),), "beside"))
    print_report(Table("t", "Scores.", ("reference",), {"pos": rows}, ()))
    lines = capsys.readouterr().out.splitlines()
    assert [next(line for line in lines if name in line).index(name) for name in ("fr", "published")] == [1, 3]
