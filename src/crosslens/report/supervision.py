"""Tables 2 to 6 of Wu & Dredze (2019): scores by training language."""

import statistics
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from crosslens.corpora.catalogue import split_joined
from crosslens.corpora.collection import is_trained_language
from crosslens.data.corpus import trained_languages
from crosslens.report.blocks import corpus_notes
from crosslens.report.papers import Paper, Printed
from crosslens.report.table import Cell, Notes, Row, Table, cell_of, difference
from crosslens.results import cells
from crosslens.results.cells import (
    Column,
    by_variant,
    columns_of,
    corpora_apart,
    disambiguated,
    groups_of,
    languages_of,
    mean_of,
    references,
)
from crosslens.results.pivot import score_cells, with_split_of_files
from crosslens.results.record import Results
from crosslens.results.record_rows import together
from crosslens.similarity.word_order import WORD_ORDER
from crosslens.tasks import TASKS, find_task

Setting = Literal["in-language", "translate-train", "zero-shot"]

SETTINGS: tuple[Setting, ...] = ("in-language", "translate-train", "zero-shot")
"""Trained on data of the language itself; on the source's, translated; on the source's."""

GOLD = "tags=gold"
"""The setting of a parser that reads gold tags; a paper's numbers of such parsers are a setting of their own."""

NOTHING = Cell(None, "score")

DISTANCE = "word-order distance"
"""Head of the column that the paper calls Dist (Table 6)."""

ACROSS = 16
"""Languages that have columns, at most; XNLI has 15."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A row: a test corpus, and the second language of a bilingual encoder."""

    language: str
    name: str
    partner: str | None

    @property
    def label(self) -> str:
        return f"{self.name} with {self.partner}" if self.partner else self.name

    @property
    def as_published(self) -> str | None:
        """Name in papers: its language, if it is the only corpus of it."""
        return self.language if self.name == self.language else None


@dataclass(frozen=True, slots=True)
class _Column:
    """A column.

    Attributes:
        setting: what its models were trained on.
        source: the language trained on; None where each row has its own.
        words: what else tells its models apart: settings, the encoder.
        gold: whether they read gold tags.
        joined: whether their training data are joined from several corpora, on which no paper trains.
    """

    setting: Setting
    source: str | None
    words: str
    gold: bool
    joined: bool

    @property
    def label(self) -> str:
        return ", ".join(filter(None, (self.panel, self.words)))

    @property
    def panel(self) -> str:
        """Title of the panel of its setting; joined training data have languages of which none is zero-shot."""
        setting = "trained on" if len(trained_languages(self.source)) > 1 else f"{self.setting} from"
        return f"{setting} {self.source}" if self.source else self.setting

    @property
    def as_published(self) -> str:
        """Name in published tables."""
        return f"{self.setting}+gold-pos" if self.gold else self.setting


Scores = dict[_Row, cells.Cell]


def supervision(results: Results, *, beside: Paper | None = None) -> list[Table]:
    """Tabulate scores by language and setting, and means over all languages but the source.

    Args:
        results: of a study, or put together.
        beside: a paper whose numbers stand behind ours, and behind these the other systems that it prints; a task it
            prints is shown by the metrics that it prints.

    Returns:
        For every task with models of several sources, or that the paper prints: a table with one row per language
        (Table 6), and one with one column per language and the settings as panels (Tables 2 to 5). Parsing begins
        with the word-order distances among the results, and those that the paper prints.
    """
    tables = []
    orders = _word_orders(results)
    scores = corpora_apart(with_split_of_files(references(results.filter(measure=None))))
    groups = [(key, block) for key, block in groups_of(scores, "task", "metric", "split") if key[0] in TASKS]
    for (task, metric, split), block in groups:
        printed = beside is not None and any(beside.supervised(task, metric, setting) for setting in SETTINGS)
        compared = metric == find_task(task).metric and len(block.records["source"].unique()) > 1
        notes = Notes()
        columns, selections = _columns(block) if printed or compared else ({}, {})
        if columns:
            several = len({key[2] for key, _ in groups if key[:2] == (task, metric)}) > 1
            distances = orders if task == "parsing" else {}
            title = ", ".join(filter(None, (task, metric, split if several or split != "test" else None)))
            of_split = split if several else None
            mixed = [column.label for column, rules in selections.items() if len(rules - {None}) > 1]
            about = f" Models of one column were selected by different rules: {', '.join(mixed)}." if mixed else ""
            about += "".join(f" {note}" for note in corpus_notes([(task, block)]))
            made = _tables(task, metric, of_split, columns, distances, beside, notes, title=title)
            tables += [replace(table, caption=table.caption + about) for table in made]
    return tables


def _word_orders(results: Results) -> dict[str, dict[str, float]]:
    """Source -> target -> word-order distance, the mean over the treebanks of a language, each counted once."""
    distances: dict[str, dict[str, dict[tuple, float]]] = defaultdict(lambda: defaultdict(dict))
    for record in results.filter(measure=WORD_ORDER):
        if record.source is not None and record.target is not None and record.value is not None:
            treebanks = (record.train, record.train_digest, record.corpus, record.corpus_digest)
            distances[record.source][record.target][treebanks] = record.value
    return {
        source: {target: statistics.fmean(values.values()) for target, values in by_target.items()}
        for source, by_target in distances.items()
    }


def _columns(results: Results) -> tuple[dict[_Column, Scores], dict[_Column, set[str | None]]]:
    """The columns, in-language ones first; and the rules that selected the models of each."""
    encoders = {key[0] for key, _ in groups_of(results, "encoder")}
    parts = by_variant(results, within=("encoder",), of=("recipe", "settings"))  # of all sources: columns join them
    name = languages_of(results)
    blocks = [block for variant, part in parts for block in _blocks(part, variant, name)]
    sources = {source for _, source, _, _, _, _ in blocks}
    originals = {translated_from for _, _, translated_from, _, _, _ in blocks if translated_from}
    columns: dict[_Column, Scores] = {}
    selections: dict[_Column, set[str | None]] = {}
    for encoder, source, translated_from, (variant, *models), rules, scores in blocks:
        original = f"translated from {translated_from}" if translated_from and len(originals) > 1 else ""
        words = ", ".join(filter(None, (original, variant, encoder if len(encoders) > 1 else "")))
        trained = trained_languages(source)
        # In this script: another model may be trained on the same text transliterated.
        own = {row: cell for row, cell in scores.items() if row.language in trained}
        joined = len(trained) > 1  # its scores stay together
        if own and not joined and (translated_from or len(sources) > 1):  # else the row of the source says it
            setting = "translate-train" if translated_from else "in-language"
            column = _Column(setting, None, words, *models)
            columns.setdefault(column, {}).update(own)
            selections.setdefault(column, set()).update(rules)
        if not translated_from and (joined or len(own) < len(scores)):
            columns[_Column("zero-shot", source, words, *models)] = scores
    return dict(sorted(columns.items(), key=lambda item: SETTINGS.index(item[0].setting))), selections


def _blocks(
    results: Results, variant: str, name: Callable[[str | None, str], str]
) -> Iterator[tuple[str, str, str | None, tuple[str, bool, bool], set[str | None], Scores]]:
    """Yield encoder, source, original language of translated training data, variant, selection rules, and scores."""
    for (encoder, source, translated_from), block in groups_of(results, "encoder", "source", "translated_from"):
        if source is None:
            continue
        table, models, rules = score_cells(block), _models(block), _rules(block)
        for column in table.columns:
            scores: Scores = {}
            for row in table.rows:
                target, corpus, partner = row
                cell = table.get(row, column)
                if target is not None and cell.by_seed:
                    called = name(target, corpus) if corpus is not None else target
                    scores[_Row(target, called, partner)] = cell
            words = ", ".join(filter(None, (variant, column.variant)))
            yield encoder, source, translated_from, (words, *models[column]), rules[column], scores


def _models(results: Results) -> dict[Column, tuple[bool, bool]]:
    """Return whether the models of each column read gold part-of-speech tags, and whether their data are joined."""
    records = disambiguated(results)
    columns = [columns_of(records), *map(records.columns.coded, ("settings", "train"))]
    return {
        column: (GOLD in (settings or "").split(), len(split_joined(train or "")) > 1)
        for column, settings, train in together(columns, size=len(records)).values
    }


def _rules(results: Results) -> dict[Column, set[str | None]]:
    """Return the rules that selected the weights of the models of each column."""
    rules: dict[Column, set[str | None]] = defaultdict(set)
    columns = [columns_of(disambiguated(results)), results.columns.coded("selection")]
    for column, rule in together(columns, size=len(results)).values:
        rules[column].add(rule)
    return rules


@dataclass(frozen=True, slots=True)
class _Line:
    """Scores of one system in one setting.

    Attributes:
        panel: the setting, with its source.
        head: name where the settings are not panels.
        label: name below the title of the panel.
        cells: one for each language, and their mean.
        kind: ``beside``: of a paper.
    """

    panel: str
    head: str
    label: str
    cells: Sequence[Cell]
    kind: Literal["plain", "beside"] = "beside"


def _tables(
    task: str,
    metric: str,
    split: str | None,
    columns: dict[_Column, Scores],
    orders: Mapping[str, Mapping[str, float]],
    beside: Paper | None,
    notes: Notes,
    *,
    title: str,
) -> list[Table]:
    several = [scores for column, scores in columns.items() if column.setting == "zero-shot"]  # in order; others have
    rows = list(dict.fromkeys(row for scores in (*several, *columns.values()) for row in scores))  # a source each
    distances = list(_distances(task, columns, rows, orders, beside, notes))
    scored = list(_scored(task, metric, columns, rows, beside, notes))
    caption = (
        f"{title}: scores by training data. The mean is over the languages of a setting, without the source"
        " language of zero-shot transfer."
    )
    if any(len(trained_languages(column.source)) > 1 for column in columns):
        caption += " Means of joined training data are without their languages."
    if distances:
        caption += (
            " The word-order distance is the mean difference in how often dependents precede their heads (Ahmad et al."
            " 2019)."
        )
    others: list[_Line] = []
    if beside is not None:
        if len(scored) > len(columns):
            caption += f" Next to ours: {beside.name} as published ({beside.data[task]}), and ours minus published."
        panels: dict[str, str] = {
            column.setting: column.panel for column in columns if column.source in (None, beside.source)
        }
        others = list(_other_systems(beside, task, metric, panels, rows, notes))
        listed = "; ".join(dict.fromkeys(f"{line.label}: {beside.systems[line.label]}" for line in others))
        caption += f" Other systems in {beside.name}: {listed}." if listed else ""
    printed = [*distances, *scored, *others]
    lines = [Row(row.label, tuple(line.cells[place] for line in printed)) for place, row in enumerate(rows)]
    lines.append(Row("mean", tuple(line.cells[-1] for line in printed), "mean"))
    settings: dict[str, tuple[Row, ...]] = {}
    for line in printed:
        settings[line.panel] = (*settings.get(line.panel, ()), Row(line.label, tuple(line.cells), line.kind))
    languages = (*(row.label for row in rows), "mean")
    shapes = [("supervision", tuple(line.head for line in printed), {title: tuple(lines)})]
    shapes += [("settings", languages, settings)] if len(rows) <= ACROSS else []
    return [
        Table("-".join(filter(None, (kind, task, metric, split))), caption, head, groups, tuple(notes.texts))
        for kind, head, groups in shapes
    ]


def _scored(
    task: str,
    metric: str,
    columns: Mapping[_Column, Scores],
    rows: Sequence[_Row],
    beside: Paper | None,
    notes: Notes,
) -> Iterator[_Line]:
    """Our scores of each column, and behind them the published ones with the differences to them."""
    most = cells.most_seeds(cell for scores in columns.values() for cell in scores.values())
    for column, scores in columns.items():
        others = [row for row in scores if not is_trained_language(row.language, column.source)]
        ours = [cell_of(scores.get(row, cells.EMPTY), "score", notes, most=most) for row in rows]
        ours.append(_mean_over(column, [scores[row] for row in others], notes, most))
        yield _Line(column.panel, column.label, column.words or "ours", ours, "plain")
        if beside is None or column.joined or column.source not in (None, beside.source):
            continue
        if known := _known(beside.supervised(task, metric, column.as_published), scores):
            theirs = _published(known, rows, others, notes)
            differences = [difference(a.value, b.value) for a, b in zip(ours, theirs, strict=True)]
            for label, numbers in ((beside.name, theirs), ("ours − theirs", differences)):
                yield _Line(column.panel, label, label, numbers)


def _distances(
    task: str,
    columns: Collection[_Column],
    rows: Sequence[_Row],
    orders: Mapping[str, Mapping[str, float]],
    beside: Paper | None,
    notes: Notes,
) -> Iterator[_Line]:
    """Word-order distances to the sources of zero-shot transfer, ours and the paper's."""
    for source in dict.fromkeys(column.source for column in columns if column.source is not None):
        systems = [("ours", "", orders.get(source, {}))]
        if beside is not None and source == beside.source:
            known = beside.supervised(task, WORD_ORDER, "distance").items()
            systems.append((beside.name, f", {beside.name}", {target: printed.value for target, printed in known}))
        for label, suffix, by_language in systems:
            values = [by_language.get(row.language) for row in rows]
            if any(value is not None for value in values):
                others = [
                    value
                    for row, value in zip(rows, values, strict=True)
                    if not is_trained_language(row.language, source)
                ]
                panel = f"{DISTANCE} from {source}"
                shown = [Cell(value, "similarity") for value in values]
                shown.append(replace(_mean(others, notes), kind="similarity"))
                yield _Line(panel, f"{panel}{suffix}", label, shown, "plain")


def _other_systems(
    paper: Paper, task: str, metric: str, panels: Mapping[str, str], rows: Sequence[_Row], notes: Notes
) -> Iterator[_Line]:
    """Published scores of other systems in our settings, and in settings that only they have."""
    for (setting, system), published in paper.other_systems(task, metric).items():
        known = _known(published, rows)
        if known and (setting in panels or setting not in SETTINGS):
            others = [row for row in rows if setting == "in-language" or row.language != paper.source]
            numbers = _published(known, rows, others, notes)
            yield _Line(panels.get(setting, setting), f"{setting}, {system}", system, numbers)


def _known(published: Mapping[str, Printed], rows: Iterable[_Row]) -> dict[_Row, Printed]:
    named = {row: row.as_published for row in rows}
    return {row: published[name] for row, name in named.items() if name is not None and name in published}


def _published(known: Mapping[_Row, Printed], rows: Sequence[_Row], others: Sequence[_Row], notes: Notes) -> list[Cell]:
    """Published scores by row, and their mean over ``others`` if all of these are published."""
    scores = [
        Cell(known[row].value, "score", note=notes.number(known[row].note)) if row in known else NOTHING for row in rows
    ]
    mean = _mean([known[row].value for row in others], notes) if set(others) <= set(known) else NOTHING
    return [*scores, mean]


def _mean_over(column: _Column, scores: Sequence[cells.Cell], notes: Notes, most: int) -> Cell:
    """Mean of a column: seed by seed, except over rows that have models of their own."""
    if column.source is None or not scores:
        return _mean([score.mean for score in scores], notes)
    return cell_of(mean_of(scores), "score", notes, note=_over(len(scores)), most=most)


def _over(rows: int) -> str:
    return f"mean of {rows} row{'s' * (rows != 1)}"


def _mean(values: Sequence[float | None], notes: Notes) -> Cell:
    """Mean over rows, with a note on their number."""
    kept = [value for value in values if value is not None]
    if not kept:
        return NOTHING
    return Cell(statistics.fmean(kept), "score", note=notes.number(_over(len(kept))))
