"""Does transfer move with similarity? Interventions on states in doses, with similarity and scores side by side."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from crosslens.encoders.states.address import Address
from crosslens.report.conditions.comparison import Comparison
from crosslens.report.conditions.interventions import NUMBER, amount, changed_after_training, treated
from crosslens.report.layers.by_layer import measures_of
from crosslens.report.table import Cell, Kind, Notes, Row, Table, over_seeds
from crosslens.results import cells
from crosslens.results.cells import Column, encoders_apart
from crosslens.results.chart import pair_cells, sentences_apart
from crosslens.results.pivot import mean_row
from crosslens.results.record import Results
from crosslens.similarity.transfer_gap import of_same_models
from crosslens.tasks.titles import metric_name

CAPTION = (
    "Similarity of translations in the changed layer, and changes in scores, when states of that layer are changed in"
    " the fine-tuned model by doses. For similarity, only states of the second language are changed. Beyond: zero-shot"
    " minus same language. Slope: change in points per 0.1 of similarity, for each seed by least squares through the"
    " unchanged model; none where similarity hardly moves (by less than 0.01)."
)
SCORES = ("same language", "zero-shot", "beyond")

LEAST = 0.01
"""Smallest change of similarity that a slope can be measured over."""

UNIT = 0.1
"""Similarity that slopes are given for."""

BySeed = Mapping[int | None, float]


@dataclass(frozen=True, slots=True)
class Doses:
    """The doses of one intervention at one address, with the unchanged model as the first.

    Attributes:
        task: the task, with its metric, and the encoder, split and variant, and the corpus and settings of the
            similarity, where there are several.
        intervention: ``noise 3.output``.
        labels: ``none``, then the dose of each: ``noise=0.5``.
        similarity: measure -> similarity of each dose in the changed layer, the mean over pairs.
        scores: ``same language`` and ``zero-shot`` -> change in points of each dose.
    """

    task: str
    source: str
    intervention: str
    labels: tuple[str, ...]
    similarity: Mapping[str, tuple[BySeed, ...]]
    scores: Mapping[str, tuple[BySeed, ...]]

    @property
    def amounts(self) -> tuple[float, ...]:
        """The dose of each label: 0 of the unchanged model, 1 where none is written."""
        return (0.0, *map(amount, self.labels[1:]))

    def seeds(self, measure: str) -> list[int | None]:
        """Seeds that have every dose."""
        first, *others = (*self.similarity[measure], *(each for doses in self.scores.values() for each in doses))
        return [seed for seed in first if all(seed in other for other in others)]

    def slopes(self, measure: str, score: str) -> BySeed:
        """Change of a score per `UNIT` of similarity, seed by seed; none where similarity hardly moves."""
        seeds = self.seeds(measure)
        unchanged, *changed = ([dose[seed] for seed in seeds] for dose in self.similarity[measure])
        moved = np.asarray(changed).reshape(len(changed), -1) - np.asarray(unchanged)  # (doses, seeds)
        if not moved.size or np.abs(moved.mean(1)).max() < LEAST:
            return {}
        lost = np.asarray([[dose[seed] for seed in seeds] for dose in self.scores[score][1:]])
        slopes = (moved * lost).sum(0) / (moved**2).sum(0)
        return {seed: UNIT * float(slope) for seed, slope in zip(seeds, slopes, strict=True)}


def dose_response(results: Results) -> list[Table]:
    """Tabulate similarity and scores by dose, and how much scores change with similarity.

    Args:
        results: records of studies whose similarity is of ``changed`` models.

    Returns:
        One table, or none where no similarity of changed models was measured.
    """
    measured = list(doses_of(results))
    measures = list(dict.fromkeys(measure for each in measured for measure in each.similarity))
    notes = Notes()
    groups = {
        f"{each.task}, source {each.source}: {each.intervention}": _rows(each, measures, notes) for each in measured
    }
    head = (*(metric_name(measure) for measure in measures), *(f"Δ {score}" for score in SCORES[:2]), SCORES[2])
    return [Table("dose-response", CAPTION, head, groups, tuple(notes.texts))] if groups else []


def _rows(doses: Doses, measures: Sequence[str], notes: Notes) -> tuple[Row, ...]:
    most = max(len(by_seed) for of in (*doses.similarity.values(), *doses.scores.values()) for by_seed in of)

    def printed(by_seed: BySeed, kind: Kind) -> Cell:
        return over_seeds(cells.Cell(by_seed), kind, notes, most=most)

    rows = []
    for place, label in enumerate(doses.labels):
        similar = [doses.similarity[measure][place] if measure in doses.similarity else {} for measure in measures]
        scores = [doses.scores[score][place] if score in doses.scores and place else {} for score in SCORES]
        values = [printed(each, "similarity") for each in similar] + [printed(each, "difference") for each in scores]
        rows.append(Row(label, tuple(values)))
    for measure in doses.similarity:
        slopes = [doses.slopes(measure, score) if score in doses.scores else {} for score in SCORES]
        values = [Cell(None, "similarity")] * len(measures) + [printed(slope, "slope") for slope in slopes]
        rows.append(Row(f"slope over {metric_name(measure)}", tuple(values), "mean"))
    return tuple(rows)


def doses_of(results: Results) -> Iterator[Doses]:
    """List the interventions on states whose similarity was measured, with their doses."""
    results = encoders_apart(results)
    similar = sentences_apart(results.filter(metric="similarity", state="fine-tuned", target_layer=None))
    blocks = changed_after_training(results) if len(similar) else []
    for block in blocks:
        families: dict[tuple[str, str], dict[str, Column]] = {}
        for (name, address), column in treated(block).items():
            treatment, _ = column.condition.treatment or ("", "")
            if column.condition.acts_after_training:
                bare = re.sub(NUMBER, "", treatment).rstrip(" =")  # ``noise`` of ``noise=0.5``
                family = name.replace(treatment, bare, 1)
                families.setdefault((family, address), {})[treatment] = column
        models = (block.task, block.encoder, block.source)
        alike = [each for each in blocks if (each.task, each.encoder, each.source) == models]
        variants = {column.variant for each in alike for column in each.scores.columns}
        of_block = similar.filter(task=block.task, encoder=block.encoder, source=block.source)
        of_block = of_same_models(of_block, block.records, only_variant=len(variants) == 1)
        measured = of_block.groups("corpus", "settings")  # a parallel corpus has one name, and a digest for each pair
        several = [len({key[place] for key, _ in measured}) > 1 for place in range(2)]
        for (family, address), columns in families.items():
            for key, of_corpus in measured:
                apart = [value for value, varies in zip(key, several, strict=True) if varies]
                doses = _doses(block, of_corpus, family, address, columns, apart)
                if doses is not None:
                    yield doses


def _doses(
    block: Comparison,
    similar: Results,
    family: str,
    address: str,
    columns: Mapping[str, Column],
    apart: Sequence[str | None],
) -> Doses | None:
    """The doses of one intervention; None without similarity of all of them, or of the unchanged model."""
    layers = [int(number) for number in re.findall(r"\d+", Address.parse(address).layers)]
    before = next(iter(columns.values())).condition.before
    conditions = [before, *(column.condition for column in columns.values())]
    if not layers:
        return None
    at_layer = similar.filter(layer=max(layers))
    by_dose = [at_layer.filter(condition=condition.text) for condition in conditions]
    if not all(map(len, by_dose)):
        return None
    similarity = {}
    for measure in measures_of(at_layer):
        tables = [pair_cells(records.filter(measure=measure)) for records in by_dose]
        if shared := [row for row in tables[0].rows if all(row in table.rows for table in tables)]:
            means = [cells.mean_of([table.get(row, max(layers)) for row in shared]) for table in tables]
            similarity[measure] = tuple(mean.by_seed for mean in means)
    scores: dict[str, tuple[BySeed, ...]] = {}
    for name, keys in zip(SCORES, (block.same, block.cross), strict=False):
        if keys:
            changes = [mean_row(block.compared, keys, column).by_seed for column in columns.values()]
            scores[name] = (dict.fromkeys(changes[0], 0.0), *changes)
    if len(scores) == 2:
        same, cross = scores.values()
        scores[SCORES[2]] = tuple(
            {seed: value - a[seed] for seed, value in b.items() if seed in a} for a, b in zip(same, cross, strict=True)
        )
    labels = ("none", *columns)
    task = ", ".join(filter(None, (block.title, block.label, *apart)))
    return Doses(task, block.source, f"{family} {address}", labels, similarity, scores) if similarity else None
