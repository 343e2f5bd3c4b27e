"""Functions shared by commands that evaluate: load corpora, evaluate, print tables."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from crosslens.cli._options import split_names

if TYPE_CHECKING:
    from crosslens.data.corpus import Corpus
    from crosslens.data.formats import Format
    from crosslens.results.record import Results
    from crosslens.tasks import Task
    from crosslens.training.model import TaskModel


def load_tests(test: str, *, data: str | None, format: "Format | None" = None) -> "list[Corpus]":
    """Load the corpora of ``--test``; files are read in the format of the task."""
    from crosslens.corpora.catalogue import load_corpus, match_corpora

    names = [name for pattern in split_names(test) for name in match_corpora(pattern, data=data)]
    return [load_corpus(name, data=data, format=format) for name in names]


def evaluate_into(
    folder: Path, model: "TaskModel", tests: "Sequence[Corpus]", *, predictions: Path | None
) -> "Results":
    """Evaluate on each corpus, show progress, and write ``results.csv`` and the predictions."""
    from crosslens.cli._display import progress
    from crosslens.training.evaluate import evaluate

    with progress() as bar:
        results = evaluate(model, tests, predictions=predictions, progress=bar)
    results.write(folder / "results.csv")
    return results


def show_results(results: "Results", task: "Task", *, title: str, note: str = "") -> None:
    """Print the table of the task's metric, and warnings about the corpora."""
    from crosslens.cli._display import print_table, say_oddities

    main_scores = results.filter(metric=task.metric)
    say_oddities(main_scores)
    print_table(main_scores.table(), title=title, note=note)
