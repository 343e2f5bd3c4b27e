"""Say which corpora and runs studies lack, on every table and page made from their results."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from crosslens.report.table import Table
from crosslens.runs.store import Store, is_store
from crosslens.studies.missing import join_splits


def not_evaluated(paths: Iterable[str | Path], *, studies: Iterable[str | None] | None = None) -> tuple[str, ...]:
    """Say which corpora studies left out because they were missing, and which studies are unfinished, a sentence each.

    Args:
        paths: stores of runs, folders that contain some, and results that a study wrote in one; other files and folders
            are ignored.
        studies: names of the studies whose records are shown; None: all, also those without records.

    Returns:
        No sentence for a study that was last run with all its corpora and is finished.
    """
    sentences: dict[str, None] = {}
    shown = None if studies is None else set(studies)
    for store, study, may_lack in _studies(paths):
        if shown is not None and study not in shown:
            continue
        planned = store.planned(study)
        corpora = join_splits(missing["corpus"] for missing in planned.get("missing", ()))
        if corpora:
            sentences[f"Not evaluated in {study} (corpus missing): {', '.join(corpora)}."] = None
        if not may_lack:
            continue
        questions, waiting = store.questions(study), planned.get("waiting", 0)
        done = sum(store.path(run).is_dir() and asked <= store.answered(run) for run, asked in questions.items())
        if done < len(questions) or waiting:
            more = f", and {waiting} more wait for them" if waiting else ""
            sentences[f"Unfinished study {study}: {done} of {len(questions)} runs done{more}."] = None
    return tuple(sentences)


def with_caption(table: Table, sentences: Iterable[str]) -> Table:
    """Add sentences to the caption of a table."""
    return replace(table, caption=" ".join([table.caption, *sentences]))


def _studies(paths: Iterable[str | Path]) -> Iterator[tuple[Store, str, bool]]:
    """Stores, studies, and whether a study may be unfinished: the results that a finished one wrote are complete."""
    for path in map(Path, paths):
        if is_store(path):
            store = Store(path)
            yield from ((store, study, True) for study in store.studies())
            continue
        homes = [plan.parent for plan in sorted(path.rglob("plan.json"))] if path.is_dir() else [path.parent]
        for home in homes:  # STORE/studies/NAME
            if is_store(home.parent.parent) and (home / "plan.json").is_file():
                yield Store(home.parent.parent), home.name, not (home / "results.csv").is_file()
