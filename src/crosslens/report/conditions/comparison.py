"""Scores by condition, with the published ones of the same models."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from crosslens.encoders.condition import Condition
from crosslens.report.blocks import by_main_metric, column_head, scores_of
from crosslens.report.papers import Paper, Printed
from crosslens.report.papers.paper import DEPTH, OTHERS, TESTED, sources_of
from crosslens.report.significance import Interval, Significance
from crosslens.report.table import Cell as PrintedCell
from crosslens.report.table import Notes, Row, cell_of
from crosslens.results.cells import (
    EMPTY,
    Cell,
    Cells,
    Column,
    Key,
    columns_of,
    condition_of,
    corpora_apart,
    disambiguated,
    groups_of,
    languages_of,
    without_digest,
)
from crosslens.results.layer_profile import SAME, ZERO_SHOT, Intervals
from crosslens.results.pivot import mean_name, mean_over, mean_row, parts_of, score_cells
from crosslens.results.record import Results, remembered
from crosslens.results.record_rows import together


@dataclass(frozen=True, slots=True)
class Models:
    """The models of a column: their condition, training data, selection rules, and numbers of layers.

    Attributes:
        condition: with the settings of the encoder that the reference has too, which the column leaves out.
    """

    condition: Condition
    trains: frozenset[str | None]
    selections: frozenset[str | None]
    depths: frozenset[int | None]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The scores of one task, metric, source, encoder, split, and original language of translated training data.

    Attributes:
        short: short name of the encoder, different from those of others.
        model: the same if there are several encoders; "" otherwise.
        label: the split, if there are several, the original language of translated training data, and the variant in
            one of several.
        variant: what else than conditions tells these models from others, if columns do not say so.
        scores: one row per corpus, one column per condition.
        compared: differences to the reference.
        models: training data and selection rules of each column.
        same: rows in the source language.
        cross: rows in other languages.
        languages: name of a corpus in row labels.
        records: the records behind the scores.
    """

    task: str
    metric: str
    source: str
    encoder: str | None
    split: str | None
    short: str | None
    model: str
    label: str
    scores: Cells
    compared: Cells
    models: Mapping[Column, Models]
    same: tuple[Key, ...]
    cross: tuple[Key, ...]
    languages: Callable[[str | None, str], str]
    records: Results
    variant: str = ""

    def by_variant(self) -> "list[Comparison]":
        """Split models by what else tells them apart than conditions, such as recipes: labels name it, not columns."""
        variants = dict.fromkeys(column.variant for column in self.scores.columns)
        return [self] if len(variants) < 2 else [self._of(variant) for variant in variants]

    def _of(self, variant: str) -> "Comparison":
        columns = {column: replace(column, variant="") for column in self.scores.columns if column.variant == variant}
        scores, compared = (table.only(list(columns)).renamed(columns) for table in (self.scores, self.compared))
        same, cross = (tuple(key for key in keys if key in scores.rows) for keys in (self.same, self.cross))
        placed = columns_of(disambiguated(self.records))
        records = self.records.where(np.array([column in columns for column in placed.values], bool)[placed.codes])
        return replace(
            self,
            label=", ".join(filter(None, (self.label, variant))),
            variant=variant,
            scores=scores,
            compared=compared,
            models={columns[column]: models for column, models in self.models.items() if column in columns},
            same=same,
            cross=cross,
            records=records,
        )

    @property
    def names_training_data(self) -> bool:
        """Whether columns name the corpora that their models were trained on."""
        return any(train and train in column.variant for column, of in self.models.items() for train in of.trains)

    @property
    def title(self) -> str:
        """The task, its metric, and the encoder if there are several."""
        return ", ".join(filter(None, (self.task, self.metric, self.model)))

    @property
    def heading(self) -> str:
        """The title, with what else tells the scores apart, and the source."""
        return ", ".join(filter(None, (self.title, self.label, f"source {self.source}")))

    def name(self, key: Key) -> str:
        """The target's language, or its corpus where there are several; and a bilingual encoder's other language."""
        target, corpus, partner = key
        name = self.languages(target, corpus) if corpus is not None else target
        return f"{name} with {partner}" if partner else name

    def parts(self) -> list[tuple[str, tuple[Key, ...]]]:
        """Name and rows of the source language and of the other languages, where there are any."""
        parts = (("same language", self.same), ("zero-shot", self.cross))
        return [(self.mean_of(name, keys), keys) for name, keys in parts if keys]

    def difference(self, keys: Sequence[Key], column: Column | None) -> Cell:
        """Mean difference to the reference over rows; empty without a column."""
        return EMPTY if column is None else mean_row(self.compared, keys, column)

    def cell(
        self,
        keys: Sequence[Key],
        column: Column | None,
        notes: Notes,
        significance: Significance | None = None,
        *,
        absolute: bool = False,
        most: int = 0,
    ) -> PrintedCell:
        """Print the score of one row, or the mean over several; empty without a row or column.

        Args:
            absolute: whether differences to the reference are shown as scores.
            most: number of seeds of what stands beside these scores.
        """
        is_difference = column is not None and not absolute and self.scores.is_difference(column)
        table = self.compared if is_difference else self.scores
        return cell_of(
            EMPTY if column is None else mean_row(table, keys, column),
            "difference" if is_difference else "score",
            notes,
            None if absolute or not keys else self.interval(significance, keys, column),
            most=max(most, self.scores.most_seeds),
        )

    def row(
        self,
        label: str,
        keys: Sequence[Key],
        columns: Iterable[Column | None],
        notes: Notes,
        significance: Significance | None = None,
        *,
        most: int = 0,
    ) -> Row:
        """Print the cells of one row, or the means over several, in these columns; ``most`` is that of `cell`."""
        return Row(label, tuple(self.cell(keys, column, notes, significance, most=most) for column in columns))

    @property
    def heads(self) -> dict[str, Column]:
        """Head of each column -> the column."""
        return {column_head(self.scores, column): column for column in self.scores.columns}

    def mean_of(self, name: str, keys: Sequence[Key]) -> str:
        """Name a mean over these rows: ``same language, mean of 2 corpora``; of one row, the name is enough."""
        return f"{name}, mean of {self.over(keys)}" if len(keys) > 1 else name

    @property
    def mean_of_others(self) -> str:
        """Name the mean over the other languages, as the paper does: ``en – x, mean of 18 languages``."""
        return f"{self.source} – {OTHERS}, mean of {mean_over(self.cross)}"

    def over(self, keys: Sequence[Key]) -> str:
        """Describe what a mean over these rows covers: ``18 languages``."""
        return self.name(keys[0]) if len(keys) == 1 else mean_over(keys)

    def printed(self, paper: Paper, key: Key, column: Column | None) -> Printed | None:
        """Find the published difference, or score of the reference; all of them are of test sets."""
        if column is None or not self._is_compared(column):
            return None
        return self._difference(paper, key, column)

    def level(self, paper: Paper, key: Key, column: Column | None) -> Printed | None:
        """Find the published score."""
        if column is None or not self._is_compared(column):
            return None
        return self._level(paper, key, column)

    def is_published(self, paper: Paper, column: Column) -> bool:
        """Return whether a paper has numbers for a column, even if its models differ from the paper's."""
        keys = (*self.same, *self.cross)
        return any(self._difference(paper, key, column) or self._level(paper, key, column) for key in keys)

    def _is_compared(self, column: Column) -> bool:
        return self.one_recipe(column) and not self.other_depths(column)

    def one_recipe(self, column: Column) -> bool:
        """Return whether the models vary in their training corpus at most."""
        variant = self.variant or column.variant
        return not variant or not self.models[column].trains.isdisjoint({variant, without_digest(variant)})

    def other_depths(self, column: Column) -> frozenset[int]:
        """Numbers of layers of encoders whose changed layers are others than the papers' of the same number."""
        changes_layers = any(part.acts_on for part in column.condition.interventions)
        depths = self.models[column].depths if changes_layers else frozenset()
        return frozenset(depth for depth in depths if depth not in (None, DEPTH))

    def _difference(self, paper: Paper, key: Key, column: Column) -> Printed | None:
        if self.split not in TESTED or not _pretrained_on_target(key) or len(self.models[column].trains) > 1:
            return None
        (train,) = self.models[column].trains
        return paper.find(self.task, sources_of(train, self.source), _names(paper, key), column.condition)

    def _level(self, paper: Paper, key: Key, column: Column) -> Printed | None:
        target = key[0]
        default = self.split not in TESTED or target in _names(paper, key)
        if not default or not _pretrained_on_target(key):
            return None
        if not all(self.source in sources_of(train, self.source) for train in self.models[column].trains):
            return None
        return paper.score(self.task, self.source, target, self.split, column.condition)

    def interval(
        self, significance: Significance | None, keys: Sequence[Key], column: Column | None
    ) -> Interval | None:
        """Find the confidence interval of a cell, or of a mean over several.

        The mean over bilingual encoders, each tested on its own language, has no partner.
        """
        partners = {key[2] for key in keys}
        if len(partners) > 1 and all(target == partner for target, _, partner in keys):
            partners = {None}
        if significance is None or column is None or len(partners) > 1:
            return None
        models = self.models[column]
        targets = [key[0] for key in keys]
        # A study that has scores on files only names no split, though the results of several do.
        means = [mean_name(targets, split, source=self.source) for split in dict.fromkeys((self.split, None))]
        named = {
            "encoder": self.encoder,
            "task": self.task,
            "metric": self.metric,
            "partner": partners.pop(),
            "condition": models.condition.text,
        }
        cell = mean_row(self.compared, keys, column)
        intervals = (
            significance.find(
                cell,
                {**named, "corpus": corpus},
                is_difference=self.scores.is_difference(column),
                trains=models.trains,
                selections=models.selections,
            )
            for corpus in ([keys[0][1]] if len(keys) == 1 else means)
        )
        return next(filter(None, intervals), None)


def not_compared(blocks: Iterable[Comparison], paper: Paper) -> Iterator[str]:
    """Say for which tasks, and layers of which encoders, published scores are left out because models differ."""
    tasks: dict[str, None] = {}
    depths: set[int] = set()
    for block in blocks:
        published = [column for column in block.scores.columns if block.is_published(paper, column)]
        alike = [column for column in published if block.one_recipe(column)]
        tasks |= {block.task: None} if published and not alike else {}
        depths = depths.union(*map(block.other_depths, alike))
    if tasks:
        yield f"{paper.name} is left out for {', '.join(tasks)}: results differ in settings"
    for depth in sorted(depths):
        yield f"layers of an encoder of {depth} layers are not compared with those of {paper.name}, of {DEPTH} layers"


def _pretrained_on_target(key: Key) -> bool:
    """Return whether a bilingual encoder, if it is one, has seen the target language."""
    target, _, partner = key
    return partner in (None, target)


def _names(paper: Paper, key: Key) -> tuple[str, ...]:
    """Names of a row's test corpus in a paper."""
    target, corpus, _ = key
    return paper.names_of(corpus and without_digest(corpus), target)


@remembered
def comparisons(results: Results, *, every_metric: bool = False) -> list[Comparison]:
    """Compare the conditions of each task, encoder, source and split by the main score of the task, or by every one."""
    shown = corpora_apart(scores_of(results))
    groups = groups_of(shown, "task", "metric", "encoder", "source", "split", "translated_from")
    groups = groups if every_metric else by_main_metric(groups)
    groups = [(key, block) for key, block in groups if key[1] is not None and key[3] is not None]
    encoders, splits = ({key[place] for key, _ in groups} for place in (2, 4))
    named = {key: languages_of(block) for key, block in shown.groups("task", "split")}
    compared = []
    for (task, metric, encoder, source, split, translated_from), block in groups:
        words = [split if len(splits) > 1 else "", f"translated from {translated_from}" if translated_from else ""]
        scores = score_cells(block)
        same, cross, _ = parts_of(scores, source)
        comparison = Comparison(
            task,
            metric,
            source,
            block.records["encoder"][0].as_py(),
            split,
            encoder,
            encoder or "" if len(encoders) > 1 else "",
            ", ".join(filter(None, words)),
            scores,
            scores.compared(),
            _models(block),
            tuple(same),
            tuple(cross),
            named[task, split],
            block,
        )
        compared.append(comparison)
    return compared


def one_head_each(blocks: Sequence[Comparison]) -> list[Comparison]:
    """Split comparisons whose columns name training corpora that others lack: each would leave their columns empty."""
    variants = {frozenset(column.variant for column in block.scores.columns) for block in blocks}
    if len(variants) == 1:
        return list(blocks)
    return [part for block in blocks for part in (block.by_variant() if block.names_training_data else [block])]


def profile_intervals(results: Results, significance: Significance) -> dict[tuple[str | None, ...], Intervals]:
    """Find the 95 % intervals of the layer profile: task, source, encoder's short name, split and original language of
    translated training data -> intervals.
    """
    profiles: dict[tuple[str | None, ...], Intervals] = {}
    for block in comparisons(results):
        intervals = {
            (line, column): block.interval(significance, keys, column)
            for line, keys in ((SAME, block.same), (ZERO_SHOT, block.cross))
            for column in block.scores.columns
            if keys and block.scores.is_difference(column)
        }
        translated_from = block.records.records["translated_from"][0].as_py()
        profiles[block.task, block.source, block.short, block.split, translated_from] = {
            place: (interval.low, interval.high, interval.over) for place, interval in intervals.items() if interval
        }
    return profiles


def _models(block: Results) -> dict[Column, Models]:
    described = ("condition", "train", "selection", "depth")  # with the names that summaries have
    named = [block.columns.coded(name) for name in described]
    members: dict[Column, list[list]] = {}
    for column, *model in together([columns_of(disambiguated(block)), *named], size=len(block)).values:
        members.setdefault(column, []).append(model)
    models = {}
    for column, rows in members.items():
        (condition, *_), *names = zip(*rows, strict=True)  # one condition, whose text may be empty or not
        models[column] = Models(condition_of(condition), *map(frozenset, names))
    return models
