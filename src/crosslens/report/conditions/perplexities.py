"""Perplexity of pretrained encoders by pretraining condition, and beside it the transfer of the same encoders."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from crosslens.formatting import plain
from crosslens.report.blocks import scores_of
from crosslens.report.conditions.pretraining_factors import in_the_papers_order
from crosslens.report.table import Cell, Notes, Row, Table
from crosslens.results.cells import by_variant, condition_of, encoders_apart
from crosslens.results.record import Record, Results
from crosslens.tasks import main_metric

Place = tuple[str | None, str | None, int | None]
"""Condition, bilingual language and seed of an encoder."""


def perplexities(results: Results) -> list[Table]:
    """Perplexity of held-out text, where pretraining was varied: two tables, or none.

    ``perplexity`` has one column per condition, and the lowest and highest value over encoders and seeds for each
    language, or each text where a language has several. ``perplexity-and-transfer`` has one row per bilingual encoder:
    the perplexity of its target language and the zero-shot scores of the models fine-tuned from it, beside those of the
    reference. It shows whether a loss of transfer comes from an encoder that has not learnt its languages.
    """
    results = encoders_apart(results)
    measured = results.filter(measure="perplexity")
    if not any(condition_of(record.condition).interventions for record in measured):
        return []
    return [_ranges(measured), *_with_transfer(measured, scores_of(results))]


def _ranges(measured: Results) -> Table:
    conditions = in_the_papers_order(condition_of(record.condition) for record in measured)
    groups: dict[str, tuple[Row, ...]] = {}
    texts = measured.groups("encoder", "target", "corpus")
    several = Counter(key[:2] for key, _ in texts)
    for (encoder, language, corpus), records in texts:
        text = f"{language}, {corpus}" if several[encoder, language] > 1 else language
        values = [
            [record.value for record in records if condition_of(record.condition) == condition]
            for condition in conditions
        ]
        numbers = [[value for value in each if value is not None] for each in values]
        rows = (
            Row(f"{text}, {name}", tuple(Cell(of(each) if each else None, "score") for each in numbers))
            for name, of in (("lowest", min), ("highest", max))
        )
        groups[encoder or "encoder"] = (*groups.get(encoder or "encoder", ()), *rows)
    caption = "Perplexity of held-out text by pretraining condition, lowest and highest over encoders and seeds."
    return Table("perplexity", caption, tuple(condition.label for condition in conditions), groups)


def _with_transfer(measured: Results, scores: Results) -> Iterable[Table]:
    groups: dict[str, tuple[Row, ...]] = {}
    notes = Notes()
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
            places.sort(key=lambda place: (languages.index(place[1]), place[2] or 0))
            known = [each in of for of in transfer.values() for place in places for each in _with_reference(place)]
            if not condition.is_reference and any(known):
                groups[title] = tuple(_row(place, by_place, transfer, notes) for place in places)
    if not groups:
        return
    caption = (
        "Bilingual encoders one by one: perplexity of held-out text in the target language and zero-shot scores of the"
        " models fine-tuned from them, each beside the reference (Ref) of the same language and seed."
    )
    heads = [head for name in ("perplexity", *tasks) for head in (name, f"Ref {name}")]
    yield Table("perplexity-and-transfer", caption, tuple(heads), groups, tuple(notes.texts))


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


Values = Mapping[Place, Sequence[float]]
"""The different values of each encoder in its target language: one, unless its records differ in more."""


def _with_reference(place: Place) -> tuple[Place, Place]:
    return place, (condition_of(None).text, *place[1:])


def _row(place: Place, perplexity: Values, transfer: Mapping[str, Values], notes: Notes) -> Row:
    _, language, seed = place
    values = [of.get(each, ()) for of in (perplexity, *transfer.values()) for each in _with_reference(place)]
    return Row(f"{language}, seed {seed}", tuple(_cell(each, notes) for each in values))


def _cell(values: Sequence[float], notes: Notes) -> Cell:
    """The only value; of several, none but a note."""
    if len(values) < 2:
        return Cell(next(iter(values), None), "score")
    shown = ", ".join(plain(value, decimals=2) for value in values)
    return Cell(None, "score", note=notes.number(f"several values: {shown}"))


def _by_place(records: Iterable[Record]) -> Values:
    values: dict[Place, dict[float, None]] = {}
    for record in records:
        if record.target == record.partner and record.value is not None:
            place = (condition_of(record.condition).text, record.partner, record.seed)
            values.setdefault(place, {})[record.value] = None
    return {place: list(different) for place, different in values.items()}
