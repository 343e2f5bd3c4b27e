"""Rank encoders by what their lowest third of layers carries."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from crosslens.errors import RequestError
from crosslens.formatting import counted
from crosslens.report.blocks import by_main_metric, scores_of
from crosslens.report.table import Notes, Row, Table, cell_of
from crosslens.results import cells
from crosslens.results.cells import Cells, Column, condition_of, encoders_apart, groups_of, mean_of
from crosslens.results.chart import PAIR, pair_cells
from crosslens.results.encoder_overlay import EncoderProfile, profiles_by_kind
from crosslens.results.pivot import mean_row, number_of_languages
from crosslens.results.record import Results

LOWEST = 1 / 3
"""Share of the layers, from the bottom, whose loss ranks encoders."""

MEASURES = {"cka": "CKA", "retrieval": "P@1"}
"""Measure of similarity between translations -> its column."""

Model = tuple[str | None, str]
"""An encoder, and the variant of its reference: how it was used, such as its precision."""


def lowest_third(profile: EncoderProfile) -> tuple[list[Column], cells.Cell]:
    """The smallest sets of adjacent layers in the lowest third, and the mean zero-shot change over them."""
    depth, compared = profile.depth, profile.compared
    sets = [column for column, _ in profile.columns if max(column.condition.reinitialised(depth)) / depth <= LOWEST]
    return sets, mean_of([mean_row(compared, profile.cross, each) for each in sets]) if sets else cells.EMPTY


@dataclass(frozen=True, slots=True)
class EncoderPanel:
    """The layer profiles of several encoders in one task.

    Attributes:
        metric: its main score.
        source: the language trained on.
        label: the split and the variant of the models, where there are several; or "".
        profiles: of two encoders or more.
    """

    task: str
    metric: str
    source: str | None
    label: str
    profiles: Sequence[EncoderProfile]

    def title(self, words: str) -> str:
        """Title with these words behind task and metric."""
        return ", ".join(filter(None, (self.task, self.metric, words, self.label)))


def encoder_panels(results: Results) -> list[EncoderPanel]:
    """Collect the layer profiles of encoders, by task, metric, source and split.

    Where an encoder has models of several recipes or training corpora, encoders are compared by models of one kind.
    """
    panels = []
    groups = by_main_metric(groups_of(scores_of(results), "task", "metric", "source", "split"))
    for (task, metric, source, split), block in groups:
        several = len({key[3] for key, _ in groups if key[:3] == (task, metric, source)}) > 1
        shown = split if several or split != "test" else None
        with suppress(RequestError):
            for kind, profiles in profiles_by_kind(block, source=source).items():
                label = ", ".join(filter(None, (shown, kind)))
                panels.append(EncoderPanel(task, metric, source, label, profiles))
    return panels


def encoder_ranking(results: Results) -> list[Table]:
    """Table of encoders: scores, what the lowest third of the layers carries, CKA and retrieval; largest loss first.

    Means are over the target corpora, and the pairs of languages, that all encoders of a group have.

    Returns:
        One table with a group per task and source, or none where no two encoders can be compared.
    """
    groups: dict[str, tuple[Row, ...]] = {}
    notes = Notes()
    results = encoders_apart(results)
    similar = {measure: _similarities(results, measure) for measure in MEASURES}
    measures = [measure for measure, values in similar.items() if values]
    for panel in encoder_panels(results):
        lost = {each.name: lowest_third(each)[1].mean for each in panel.profiles}
        lines = sorted(panel.profiles, key=lambda each: (lost[each.name] is None, lost[each.name] or 0.0))
        languages = number_of_languages(target for target, *_ in panel.profiles[0].cross)
        title = panel.title(f"{panel.source} to {counted(languages, 'language', 'languages')}")
        most = max(each.profile.scores.most_seeds for each in lines)
        groups[title] = tuple(_row(each, [similar[measure] for measure in measures], notes, most) for each in lines)
    if not groups:
        return []
    head = ("In-language", "Zero-shot", "Δ lowest third", *(MEASURES[measure] for measure in measures))
    caption = (
        "Encoders by the zero-shot points that they lose when layers of their lowest third are re-initialised, largest"
        " loss first. Zero-shot means are over the corpora that all encoders of a group were evaluated on."
    )
    if measures:
        names = " and ".join(MEASURES[measure] for measure in measures)
        caption += (
            f" {names} of translations: mean over layers and over the pairs of languages that all encoders have in one"
            " corpus and with the same settings."
        )
    return [Table("encoders", caption, head, groups, tuple(notes.texts))]


def _row(profile: EncoderProfile, similar: Sequence[dict[Model, cells.Cell]], notes: Notes, most: int) -> Row:
    scores, reference = profile.profile.scores, profile.reference
    sets, lost = lowest_third(profile)
    means = [mean_row(scores, keys, reference) for keys in (profile.same, profile.cross)]
    numbers = [cell_of(mean, "score", notes, most=most) for mean in means]
    numbers.append(cell_of(lost, "difference", notes, most=most))
    likenesses = [
        cell_of(
            values.get((profile.encoder, reference.variant), cells.EMPTY),
            "similarity",
            notes,
            most=cells.most_seeds(values.values()),
        )
        for values in similar
    ]
    layers = " and ".join(column.condition.change for column in sets)
    return Row(f"{profile.name} ({profile.depth} layers{f'; {layers}' if sets else ''})", (*numbers, *likenesses))


def _similarities(results: Results, measure: str) -> dict[Model, cells.Cell]:
    """Mean of a measure over layers and shared pairs, measured alike, by encoder; of pretrained encoders only."""
    records = results.filter(measure=measure, state="pretrained", target_layer=None)
    tables: dict[Model, Cells] = {}
    measured: list[set[tuple]] = []
    for (encoder, text), block in groups_of(records, "encoder", "condition"):
        condition = condition_of(text)
        if condition != condition.reference:
            continue
        model = encoder, condition.change
        try:
            tables[model] = pair_cells(block)
        except RequestError:  # measured in several ways
            continue
        measured.append(set(block.columns.together(*PAIR, "corpus", "corpus_digest", "settings").values))
    alike = {row[: len(PAIR)] for row in set.intersection(*measured)} if measured else set()
    shared = alike.intersection(*(table.rows for table in tables.values()))
    return {
        model: mean_of([table.get(row, layer) for row in shared for layer in table.columns])
        for model, table in tables.items()
        if shared
    }
