"""Say which corpora were missing when studies were run, on every table and page made from their results."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from crosslens.report.table import Table
from crosslens.runs.store import Store, is_store
from crosslens.studies.missing import join_splits


def not_evaluated(paths: Iterable[str | Path]) -> tuple[str, ...]:
    """Say which corpora studies left out because they were missing, in one sentence per study.

    Args:
        paths: stores of runs, folders that contain some, and results that a study wrote in one; other files and folders
            are ignored.

    Returns:
        No sentence for a study that was last run with all its corpora.
    """
    sentences: dict[str, None] = {}
    for store, study in _studies(paths):
        corpora = join_splits(missing["corpus"] for missing in store.planned(study).get("missing", ()))
        if corpora:
            sentences[f"Not evaluated in {study} (corpus missing): {', '.join(corpora)}."] = None
    return tuple(sentences)


def with_caption(table: Table, sentences: Iterable[str]) -> Table:
    """Add sentences to the caption of a table."""
    return replace(table, caption=" ".join([table.caption, *sentences]))


def _studies(paths: Iterable[str | Path]) -> Iterable[tuple[Store, str]]:
    for path in map(Path, paths):
        if is_store(path):
            store = Store(path)
            yield from ((store, study) for study in store.studies())
            continue
        homes = [plan.parent for plan in sorted(path.rglob("plan.json"))] if path.is_dir() else [path.parent]
        for home in homes:  # STORE/studies/NAME
            if is_store(home.parent.parent) and (home / "plan.json").is_file():
                yield Store(home.parent.parent), home.name
