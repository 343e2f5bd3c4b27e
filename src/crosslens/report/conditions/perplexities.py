"""Perplexity of pretrained encoders by pretraining condition, and beside it the transfer of the same encoders."""

from collections.abc import Iterable, Mapping

from crosslens.report.blocks import scores_of
from crosslens.report.conditions.pretraining_factors import in_the_papers_order
from crosslens.report.table import Cell, Row, Table
from crosslens.results.cells import by_variant, condition_of, encoders_apart
from crosslens.results.record import Record, Results
from crosslens.tasks import main_metric

Place = tuple[str | None, str | None, int | None]
"""Condition, bilingual language and seed of an encoder."""


def perplexities(results: Results) -> list[Table]:
    """Perplexity of held-out text, where pretraining was varied: two tables, or none.

    ``perplexity`` has one column per condition, and the lowest and highest value over encoders and seeds for each
    language. ``perplexity-and-transfer`` has one row per bilingual encoder: the perplexity of its target language and
    the zero-shot scores of the models fine-tuned from it, beside those of the reference. It shows whether a loss of
    transfer comes from an encoder that has not learnt its languages.
    """
    results = encoders_apart(results)
    measured = results.filter(measure="perplexity")
    if not any(condition_of(record.condition).interventions for record in measured):
        return []
    return [_ranges(measured), *_with_transfer(measured, scores_of(results))]


def _ranges(measured: Results) -> Table:
    conditions = in_the_papers_order(condition_of(record.condition) for record in measured)
    groups: dict[str, tuple[Row, ...]] = {}
    for (encoder, language), records in measured.groups("encoder", "target"):
        values = [
            [record.value for record in records if condition_of(record.condition) == condition]
            for condition in conditions
        ]
        numbers = [[value for value in each if value is not None] for each in values]
        rows = (
            Row(f"{language}, {name}", tuple(Cell(of(each) if each else None, "score") for each in numbers))
            for name, of in (("lowest", min), ("highest", max))
        )
        groups[encoder or "encoder"] = (*groups.get(encoder or "encoder", ()), *rows)
    caption = "Perplexity of held-out text by pretraining condition, lowest and highest over encoders and seeds."
    return Table("perplexity", caption, tuple(condition.label for condition in conditions), groups)


def _with_transfer(measured: Results, scores: Results) -> Iterable[Table]:
    groups: dict[str, tuple[Row, ...]] = {}
    tasks = [task for (task, metric), _ in scores.groups("task", "metric") if metric and metric == main_metric(task)]
    languages = [partner for (partner,), _ in measured.groups("partner")]
    encoders = measured.groups("encoder")
    models = [
        (encoder, by_place, kind, of_kind)
        for (encoder,), records in encoders
        for by_place in [_by_place(record for record in records if record.partner is not None)]
        for kind, of_kind in _kinds(scores.filter(encoder=encoder))
    ]
    for encoder, by_place, kind, of_kind in models:
        transfer = {
            task: _by_place(
                record
                for record in of_kind.filter(task=task, metric=main_metric(task))
                if record.target == record.partner != record.source
            )
            for task in tasks
        }
        for condition in in_the_papers_order(condition_of(text) for text, _, _ in by_place):
            places = [place for place in by_place if condition_of(place[0]) == condition]
            title = ", ".join(filter(None, (encoder if len(encoders) > 1 else "", condition.label, kind)))
            places.sort(key=lambda place: (languages.index(place[1]), str(place[2])))
            rows = tuple(_row(place, by_place, transfer) for place in places)
            if not condition.is_reference and any(cell.value is not None for row in rows for cell in row.cells[2:]):
                groups[title] = rows
    if not groups:
        return
    caption = (
        "Bilingual encoders one by one: perplexity of held-out text in the target language and zero-shot scores of the"
        " models fine-tuned from them, each beside the reference (Ref) of the same language and seed."
    )
    heads = [head for name in ("perplexity", *tasks) for head in (name, f"Ref {name}")]
    yield Table("perplexity-and-transfer", caption, tuple(heads), groups)


def _kinds(scores: Results) -> list[tuple[str, Results]]:
    """Divide scores by source, split and what else tells models apart, each named where there are several."""
    groups = scores.groups("source", "split")
    sources, splits = ({key[place] for key, _ in groups} for place in range(2))
    kinds = []
    for (source, split), of_source in groups:
        words = [f"source {source}" if len(sources) > 1 else "", split if len(splits) > 1 else ""]
        parts = by_variant(of_source, within=("task",))
        kinds += [(", ".join(filter(None, (*words, variant))), part) for variant, part in parts]
    return kinds


def _row(place: Place, perplexity: Mapping[Place, float], transfer: Mapping[str, Mapping[Place, float]]) -> Row:
    _, language, seed = place
    values = [
        of.get(each)
        for of in (perplexity, *transfer.values())
        for each in (place, (condition_of(None).text, language, seed))
    ]
    return Row(f"{language}, seed {seed}", tuple(Cell(value, "score") for value in values))


def _by_place(records: Iterable[Record]) -> dict[Place, float]:
    """The value of each encoder in its target language; encoders with several values have none."""
    values: dict[Place, list[float]] = {}
    for record in records:
        if record.target == record.partner and record.value is not None:
            place = (condition_of(record.condition).text, record.partner, record.seed)
            values.setdefault(place, []).append(record.value)
    return {place: numbers[0] for place, numbers in values.items() if len(set(numbers)) == 1}
