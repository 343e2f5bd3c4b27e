"""The order of languages: one rule for the rows of all tables, the figures, the page and the terminal."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, get_args

import numpy as np
import pyarrow as pa

from crosslens.data.language_families import known_language
from crosslens.errors import require_known
from crosslens.results.cells import VARIANTS, Key, condition_of, disambiguated
from crosslens.results.pivot import ROW, with_split_of_files
from crosslens.results.record import Results
from crosslens.results.record_rows import paired
from crosslens.tasks import main_metric

Order = Literal["score", "family", "script", "name"]
"""By the reference model's score, the best first; by language family; by script; or by name, which is the tag."""

ORDERS: tuple[Order, ...] = get_args(Order)

BLOCK = ("task", "encoder", "source", "split", "translated_from")
"""Columns of scores that are sorted together."""

Places = Mapping[tuple, float]
"""Block and row -> score of the reference model, in points."""


def in_order(results: Results, by: Order) -> Results:
    """Sort the targets of each task, encoder and source; everything else keeps its place.

    Tables, figures and the page show rows in the order of the records. Equal ones are sorted by name. Families and
    scripts are in alphabetical order, unknown ones last; scores of several sources are sorted by the source first.
    With ``score``, sources keep their order, similarities are sorted by the first scores of their target language, and
    languages without a score keep their place behind those that have one.

    Args:
        results: scores, similarities, or both.

    Raises:
        RequestError: for another order.
    """
    require_known(by, ORDERS, "there is no order of languages")
    together = with_split_of_files(results)
    scores = reference_scores(together) if by == "score" else {}
    of_target = _by_target(scores)
    columns = disambiguated(together).columns
    blocks, rows = columns.together("measure", "metric", "state", *BLOCK), columns.together(*ROW)
    several = by != "score"
    sorted_together = blocks.changed(
        [(*block[:5], *block[6:]) if several and block[0] is None else block for block in blocks.values]  # no source
    )
    places, firsts = paired(blocks, rows)
    key = sort_key(by)
    keys = []
    for first in firsts.tolist():
        measure, _, _, *models = blocks.values[blocks.codes[first]]
        target = rows.values[rows.codes[first]]
        score = scores.get((tuple(models), target)) if measure is None else of_target.get(target[0])
        source = key((models[2], None, None), None) if several else ()
        keys.append((sorted_together.codes[first], source, key(target, score)))
    ranks = {value: rank for rank, value in enumerate(sorted(set(keys)))}
    rank = np.array([ranks[value] for value in keys], np.int64)
    order = np.empty(len(results), np.int64)  # records that are sorted together keep their places
    order[np.argsort(sorted_together.codes, kind="stable")] = np.argsort(rank[places], kind="stable")
    if np.array_equal(order, np.arange(len(results))):
        return results
    return Results(results.records.take(pa.array(order)), results.counts)


def sort_key(by: Order) -> Callable[[Key, float | None], tuple]:
    """The key by which rows are sorted: a function of the row (target, corpus, partner) and of its score."""

    def key(row: Key, score: float | None) -> tuple:
        name = tuple(str(part or "") for part in row)
        if by == "score":
            return (True,) if score is None else (False, -round(score, 6), *name)
        if by == "name":
            return name
        known = known_language(row[0])
        value = (known.family if by == "family" else known.script) if known else ""
        return (not value, value, *name)

    return key


def places_of(results: Results, rows: Sequence[Key]) -> dict[Key, dict[Order, int]]:
    """Place of each row in each order.

    Args:
        results: scores of one task, encoder and source.
        rows: all of their rows.
    """
    scores = {row: score for (_, row), score in reference_scores(results).items()}
    places: dict[Key, dict[Order, int]] = {row: {} for row in rows}
    for order in ORDERS:
        key = sort_key(order)
        for place, row in enumerate(sorted(rows, key=lambda row: key(row, scores.get(row)))):
            places[row][order] = place
    return places


def reference_scores(results: Results) -> Places:
    """Score of the reference model for each block and row: the mean of the task's main metric over all its records.

    Rows that no reference model was tested on have the mean over all models.
    """
    columns = disambiguated(results).columns
    values = results.records["value"].to_numpy()
    measured, blocks, rows = columns.coded("measure"), columns.together(*BLOCK), columns.together(*ROW)
    kinds = columns.together("task", "metric")
    is_main = np.array([metric == (main_metric(task) or metric) for task, metric in kinds.values], bool)
    conditions = columns.coded("condition")
    is_reference = np.array([condition_of(text).difference.is_reference for text in conditions.values], bool)
    kept = np.array([name is None for name in measured.values], bool)[measured.codes]
    kept &= is_main[kinds.codes] & ~np.isnan(values)
    once = columns.together("measure", "metric", *BLOCK, *ROW, *VARIANTS, "condition", "seed", "value").firsts
    kept &= np.isin(np.arange(len(values)), once)  # a record that two studies share counts once, as in tables
    scores: dict[tuple, float] = {}
    for chosen in (kept, kept & is_reference[conditions.codes]):
        records = np.flatnonzero(chosen)
        of_block, of_row = blocks.of(records), rows.of(records)
        places, firsts = paired(of_block, of_row)
        means = np.bincount(places, weights=values[records]) / np.bincount(places)
        at = zip(of_block.codes[firsts].tolist(), of_row.codes[firsts].tolist(), strict=True)
        scores |= {
            (of_block.values[block], of_row.values[row]): mean
            for (block, row), mean in zip(at, means.tolist(), strict=True)
        }
    return scores


def _by_target(scores: Places) -> dict[str | None, float]:
    """Score of each language in the first block that has it; the best of several corpora."""
    known: dict[str | None, tuple[tuple, float]] = {}
    for (block, (target, *_)), score in scores.items():
        first, best = known.setdefault(target, (block, score))
        if block == first:
            known[target] = (block, max(best, score))
    return {target: score for target, (_, score) in known.items()}
