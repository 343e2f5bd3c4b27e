"""Records apart into what one table of scores can hold."""

from dataclasses import dataclass

from crosslens.report.tables import main_metric
from crosslens.results.cells import encoders_apart
from crosslens.results.record import Results


@dataclass(frozen=True, slots=True)
class Block:
    """The scores of one task, source and encoder.

    Attributes:
        task: its name.
        metric: its main score.
        source: the language trained on.
        encoder: its name, with the beginning of its digest where another has the same name.
        translated_from: the language that the training data were translated from.
        results: the records.
    """

    task: str
    metric: str
    source: str | None
    encoder: str | None
    translated_from: str | None
    results: Results

    @property
    def source_label(self) -> str:
        """The source, and what its data were translated from."""
        translated = f" (translated from {self.translated_from})" if self.translated_from else ""
        return f"{self.source or '?'}{translated}"


def score_blocks(results: Results) -> list[Block]:
    """The main scores of every task, source and encoder apart, in the order of the records."""
    grouped = encoders_apart(results).filter(measure=None).groups(
        "task", "metric", "source", "encoder", "translated_from"
    )  # fmt: skip
    return [
        Block(task, metric, source, encoder, translated_from, records)
        for (task, metric, source, encoder, translated_from), records in grouped
        if metric is not None and metric == main_metric(task)
    ]
