"""Split scores into blocks that fit one table."""

from dataclasses import dataclass
from functools import cache

import pyarrow as pa

from crosslens.encoders.interventions.one_layer import OnOneLayer
from crosslens.results.cells import condition_of, encoders_apart
from crosslens.results.record import Results
from crosslens.tasks import TASKS, find_task


@dataclass(frozen=True, slots=True)
class Block:
    """The scores of one task, source and encoder.

    Attributes:
        task: its name.
        metric: its main score.
        source: the language trained on.
        encoder: its name, with the beginning of its digest where another has the same name.
        kind: the language that the training data were translated from, and the split where there are several; or "".
        results: the records.
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


@cache
def main_metric(task: str | None) -> str | None:
    """The metric shown in the tables of a task; None if it is not a task."""
    return find_task(task).metric if task is not None and task in TASKS else None


def on_one_layer(results: Results, *, where: bool) -> Results:
    """The records of heads on one fixed layer, or all others: their tables have layers as columns, not conditions."""
    conditions = [condition_of(text) for text in results.records["condition"].to_pylist()]
    kept = [(condition.find(OnOneLayer) is not None) is where for condition in conditions]
    return Results(results.records.filter(pa.array(kept, pa.bool_())))


def score_blocks(results: Results) -> list[Block]:
    """Split main scores by task, source, encoder and split, in the order of the records."""
    columns = ("task", "metric", "source", "encoder", "translated_from", "split")
    groups = [
        (key, records)
        for key, records in on_one_layer(encoders_apart(results).filter(measure=None), where=False).groups(*columns)
        if key[1] is not None and key[1] == main_metric(key[0])
    ]
    splits = {key[5] for key, _ in groups}
    blocks = []
    for (task, metric, source, encoder, translated_from, split), records in groups:
        words = [f"translated from {translated_from}" if translated_from else "", split if len(splits) > 1 else ""]
        blocks.append(Block(task, metric, source, encoder, ", ".join(filter(None, words)), records))
    return blocks
