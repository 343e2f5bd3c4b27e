"""Split scores into blocks that fit one table."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from crosslens.encoders.interventions.one_layer import OnOneLayer
from crosslens.results.cautions import cautions
from crosslens.results.cells import (
    Cell,
    Cells,
    Column,
    cells,
    condition_of,
    corpora_apart,
    encoders_apart,
    groups_of,
)
from crosslens.results.most_frequent_label import BASELINE, most_frequent_label_text
from crosslens.results.pivot import with_split_of_files
from crosslens.results.record import Results, remembered
from crosslens.tasks import main_metric
from crosslens.tasks.titles import at_the_start, task_name


@dataclass(frozen=True, slots=True)
class Block:
    """The scores of one task, source and encoder.

    Attributes:
        metric: its main score.
        source: the language trained on.
        encoder: its name, with the beginning of its digest where another has the same name.
        kind: the language that the training data were translated from, and the split where there are several; or "".
    """

    task: str
    metric: str
    source: str | None
    encoder: str | None
    kind: str
    results: Results

    @property
    def source_label(self) -> str:
        """The source, and the kind of the block if there are several."""
        return f"{self.source or '?'}" + (f" ({self.kind})" if self.kind else "")


@dataclass(frozen=True, slots=True)
class Trained:
    """The score of one kind of model, trained and tested on one pair of corpora.

    Attributes:
        model: the condition (``encoder`` for the reference), with the encoder, the split, the selection rule, the
            recipe and its changed settings where several would otherwise have one name.
        source: the language trained on.
        train: what was trained on.
        target: the language evaluated on.
        corpus: what was evaluated on.
        score: the mean over seeds.
    """

    task: str
    metric: str
    model: str
    source: str | None
    train: str
    target: str | None
    corpus: str
    score: Cell


def trained_scores(results: Results) -> list[Trained]:
    """List main scores by model, training data and test data, in the order of the records."""
    shown = corpora_apart(scores_of(encoders_apart(results)))
    columns = ("task", "metric", "condition", "encoder", "split", "partner", "selection", "recipe", "settings")
    kinds = by_main_metric(groups_of(shown, *columns))
    scores = []
    for (task, metric, *kind), block in kinds:
        condition = condition_of(kind[0])
        alike = [key[3:] for key, _ in kinds if key[:2] == (task, metric) and condition_of(key[2]) == condition]
        differing = [value for place, value in enumerate(kind[1:]) if len({other[place] for other in alike}) > 1]
        name = "encoder" if condition.is_reference else condition.label
        model = ", ".join([name, *(value for value in differing if value)])
        table = cells(block, rows=("source", "train", "translated_from", "target", "corpus"), columns=("metric",))
        scores += [
            Trained(task, metric, model, source, train, target, corpus, table.get(row, metric))
            for row in table.rows
            for source, train, translated_from, target, corpus in [row]
            if train and corpus and not translated_from
        ]
    return scores


def by_main_metric(groups: Iterable[tuple[tuple, Results]]) -> list[tuple[tuple, Results]]:
    """Keep the groups of scores, by task, metric and more, whose metric is the main one of their task."""
    return [(key, block) for key, block in groups if key[1] is not None and key[1] == main_metric(key[0])]


def on_one_layer(results: Results, *, where: bool) -> Results:
    """The records of heads on one fixed layer, or all others: their tables have layers as columns, not conditions."""
    conditions = results.columns.coded("condition")
    kept = [(condition_of(text).find(OnOneLayer) is not None) is where for text in conditions.values]
    return results.where(np.array(kept, bool)[conditions.codes])


@remembered
def scores_of(results: Results) -> Results:
    """Scores of models; not those of heads on one fixed layer, whose tables have layers as columns."""
    return with_split_of_files(on_one_layer(results.filter(measure=None), where=False))


@remembered
def score_blocks(results: Results) -> list[Block]:
    """Split main scores by task, source, encoder and split, in the order of the records."""
    columns = ("task", "metric", "source", "encoder", "translated_from", "split")
    groups = by_main_metric(scores_of(encoders_apart(results)).groups(*columns))
    splits = {key[5] for key, _ in groups}
    blocks = []
    for (task, metric, source, encoder, translated_from, split), records in groups:
        words = [f"translated from {translated_from}" if translated_from else "", split if len(splits) > 1 else ""]
        blocks.append(Block(task, metric, source, encoder, ", ".join(filter(None, words)), records))
    return blocks


def score_head(column: Column) -> str:
    """Head of a column of scores: ``Ref`` for the reference model, or what was changed."""
    return "Ref" if column.condition.is_reference and not column.variant else column.label


def column_head(scores: Cells, column: Column) -> str:
    """Head of a column that is compared with its reference: ``Ref``, ``Δ 1-2``."""
    if not scores.is_difference(column):
        return score_head(column)
    return f"Δ {column.change}"


def corpus_notes(scores: Iterable[tuple[str, Results]]) -> Iterator[str]:
    """What a reader of scores must know of the test corpora, a sentence each.

    Args:
        scores: task and records of each table.

    Returns:
        What text classification scores without any model, and the corpora whose scores say little.
    """
    by_task: dict[str, list[Results]] = {}
    for task, records in scores:
        by_task.setdefault(task, []).append(records)
    baselines = {task: most_frequent_label_text(*records) for task, records in by_task.items()}
    named = [f"{task_name(task)} {score}" if len(by_task) > 1 else score for task, score in baselines.items() if score]
    if named:
        yield f"{at_the_start(BASELINE)}: {', '.join(named)}."
    if sentence := cautions_ending(*(each for records in by_task.values() for each in records)):
        yield sentence.strip()


def cautions_ending(*results: Results) -> str:
    """The last sentences of a caption, on corpora whose numbers say little; "" without any."""
    return "".join(f" {at_the_start(note)}." for note in cautions(*results))
