"""Table cells: the mean over seeds of exactly one record per seed.

All numbers in tables, figures and reports are made of such cells. If two records of a cell differ in anything but the
seed, the difference becomes part of the row or column, or the request is refused and names it. Means over languages are
means of cells and state which languages they cover.
"""

import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crosslens.encoders.condition import Condition, differing_settings
from crosslens.errors import RequestError
from crosslens.results.names import short_names
from crosslens.results.record import COLUMNS, SCHEMA, Results, remembered
from crosslens.results.record_rows import Coded, Columns, Row, Rows, coded, numbered, paired, together
from crosslens.results.record_settings import settings_apart, settings_of, settings_text

WHOLE = ("task", "metric", "encoder", "source", "measure", "state", "condition")
"""Columns that one table cannot mix: each is part of the key, or constant."""

VARIANTS = ("selection", "train", "dev", "recipe", "settings")
"""Columns that distinguish models of one task, source and condition; shown in column heads where they vary."""

OF_RECIPE = ("selection", "dev", "recipe", "settings")
"""Columns in which a condition with its own recipe differs from the reference."""

WITHIN = (
    "partner",
    "target",
    "split",
    "corpus",
    "translated_from",
    "start",
    "factor",
    "depth",
    "layer",
    "target_layer",
)
"""Columns that are constant within a cell, or part of its key."""

DIGESTS = {"encoder": "encoder_digest", "corpus": "corpus_digest", "train": "train_digest"}
"""Column of names -> column of digests, which distinguish two things of one name."""

SHOWN = 8
"""Digits of a digest behind a name."""

PLURALS = {"corpus": "corpora", "settings": "settings", "train": "training corpora", "dev": "development corpora"}
"""Irregular plurals of column names, for messages."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The mean over seeds of one record a seed.

    Attributes:
        by_seed: seed -> value.
        studies: those that have all of its records.
        excluded: seeds that lack their partner in a difference, or a language in a mean.
        lacks: how many languages of a mean have no value; then it has none either.
    """

    by_seed: Mapping[int | None, float]
    studies: frozenset[str] = frozenset()
    excluded: frozenset[int | None] = frozenset()
    lacks: int = 0

    @property
    def mean(self) -> float | None:
        """Over seeds; None where there is no seed."""
        return statistics.fmean(self.by_seed.values()) if self.by_seed else None

    @property
    def std(self) -> float | None:
        """Over seeds (ddof 1); None of fewer than two."""
        return statistics.stdev(self.by_seed.values()) if len(self.by_seed) > 1 else None

    def minus(self, other: "Cell") -> "Cell":
        """The difference within seeds: a seed that only one side has says nothing of it.

        Where this side was not run at all, no seed is left out.
        """
        values = {seed: value - other.by_seed[seed] for seed, value in self.by_seed.items() if seed in other.by_seed}
        excluded = frozenset(self.by_seed.keys() ^ other.by_seed.keys()) if self.by_seed else frozenset()
        return Cell(values, self.studies & other.studies, excluded)


EMPTY = Cell({})


def mean_of(cells: Sequence[Cell]) -> Cell:
    """The mean over the cells of a row or column, seed by seed. It has no value where one of them has none."""
    lacking = sum(not cell.by_seed for cell in cells)
    if not cells or lacking:
        return Cell({}, lacks=lacking)
    common = set(cells[0].by_seed).intersection(*(cell.by_seed for cell in cells))
    every = set().union(*(cell.by_seed for cell in cells))
    seeds = [seed for seed in cells[0].by_seed if seed in common]
    by_cell = [[cell.by_seed[seed] for seed in seeds] for cell in cells]
    values = dict(zip(seeds, map(statistics.fmean, zip(*by_cell, strict=True)), strict=True))
    excluded = (every - common).union(*(cell.excluded for cell in cells))
    return Cell(values, frozenset.intersection(*(cell.studies for cell in cells)), frozenset(excluded))


@dataclass(frozen=True, slots=True)
class Column:
    """A condition of models of one kind.

    Attributes:
        condition: what was done to the encoder.
        variant: what else tells the models apart; "" where nothing does.
        settings: settings of the condition that tell it from another one of the same label; "" where none has it.
    """

    condition: Condition
    variant: str = ""
    settings: str = ""

    @property
    def label(self) -> str:
        """As the head of a column."""
        return ", ".join(filter(None, (self.condition.label, self.settings, self.variant)))

    @property
    def change(self) -> str:
        """As the head of a column of differences."""
        return ", ".join(filter(None, (self.condition.change, self.settings, self.variant)))

    @property
    def order(self) -> tuple:
        """The reference first, small sets of layers before large ones, each from the bottom up, all else behind."""
        if self.condition.is_reference:
            return (0, 0, [], "")
        label = re.sub(r"\d+", lambda number: f"{int(number[0]):04}", self.condition.label)  # 9 before 10
        layers = next((each.acts_on or "" for each in self.condition.interventions if each.kind == "reinit"), "")
        if not re.fullmatch(r"[\d,-]+", layers):  # "0,all" is of an unknown depth
            return (2, 0, [], label)
        ends = [[int(end) for end in part.split("-")] for part in layers.split(",")]
        return (1, sum(run[-1] - run[0] + 1 for run in ends), [run[0] for run in ends], label)


def most_seeds(of: Iterable[Cell]) -> int:
    """The largest number of seeds of a cell."""
    return max((len(cell.by_seed) for cell in of), default=0)


Key = tuple
"""The values of the columns that name a row."""


@dataclass(frozen=True)
class Cells:
    """A table of cells.

    Attributes:
        rows: their keys, in the order of the records.
        columns: their heads: `Column`, or a plain value such as a layer.
        values: (row, column) -> cell.
    """

    rows: tuple[Key, ...]
    columns: tuple[Any, ...]
    values: Mapping[tuple[Key, Any], Cell]

    def get(self, row: Key, column: Any) -> Cell:
        """Return a cell, or an empty one."""
        return self.values.get((row, column), EMPTY)

    @cached_property
    def most_seeds(self) -> int:
        """The largest number of seeds of a cell."""
        return most_seeds(self.values.values())

    def only(self, columns: Sequence[Any]) -> "Cells":
        """Keep some columns, and the rows that have a cell in one of them."""
        values = {at: cell for at, cell in self.values.items() if at[1] in columns}
        rows = {row for (row, _), cell in values.items() if cell.by_seed}
        return Cells(tuple(row for row in self.rows if row in rows), tuple(columns), values)

    def renamed(self, columns: Mapping[Any, Any]) -> "Cells":
        """Give columns other heads."""
        values = {(row, columns[column]): cell for (row, column), cell in self.values.items()}
        return Cells(self.rows, tuple(columns[column] for column in self.columns), values)

    def compared(self) -> "Cells":
        """Replace every condition by its difference to the reference of its variant, if there is one."""
        values = {}
        for row in self.rows:
            for column in self.columns:
                reference = self.reference_of(column)
                cell = self.get(row, column)
                values[row, column] = cell if reference in (None, column) else cell.minus(self.get(row, reference))
        return Cells(self.rows, self.columns, values)

    def reference_of(self, column: Column) -> Column | None:
        """Return the reference of a column (itself for a reference), or None."""
        reference = Column(condition_of(None), column.variant)
        return reference if reference in self.columns else None

    def head(self, column: Column) -> str:
        """Return the label of a column, with Δ if `compared` makes it a difference."""
        return f"Δ {column.change}" if self.is_difference(column) else column.label

    def is_difference(self, column: Column) -> bool:
        """Return whether `compared` makes the column a difference to another column."""
        return self.reference_of(column) not in (None, column)


def cells(results: Results, *, rows: Sequence[str], columns: Sequence[str] = ("condition",)) -> Cells:
    """Records as a table of cells.

    Args:
        rows: names of record columns that name a row.
        columns: ``("condition",)``, or names that hold one value a column, such as ``("layer",)``.

    Returns:
        Columns are `Column` where they are conditions, else values; conditions are sorted, layers too.

    Raises:
        RequestError: naming what varies within a cell, or the two records of one seed that contradict one another.
    """
    records = disambiguated(results)
    columns_of_table = records.columns
    by_condition = tuple(columns) == ("condition",)
    for axis in WHOLE:
        if axis not in (*rows, *columns):
            refuse_several(records, axis)
    heads = columns_of(records) if by_condition else columns_of_table.together(*columns)
    if not by_condition and len(columns) == 1:
        heads = heads.changed([head for (head,) in heads.values])
    fixed = [axis for axis in (*WITHIN, *(() if by_condition else VARIANTS)) if axis not in (*rows, *columns)]
    measured = columns_of_table.table["value"].combine_chunks()
    kept = np.flatnonzero(measured.is_valid().to_numpy(zero_copy_only=False))
    numbers = measured.to_numpy(zero_copy_only=False)[kept]
    keys, heads = columns_of_table.together(*rows).of(kept), heads.of(kept)
    places = together([keys, heads], size=len(kept))
    seeds = columns_of_table.coded("seed").of(kept)
    points, point_firsts = paired(places, seeds)
    refused = numbers != numbers[point_firsts][points]
    for axis in fixed:
        codes = columns_of_table.coded(axis).codes[kept]
        refused |= codes != codes[places.firsts][places.codes]
    if refused.any():
        record = int(refused.argmax())
        for axis in fixed:
            first = places.firsts[places.codes[record]]
            several = [records[int(kept[first])], records[int(kept[record])]]
            parallel = axis == "corpus" and several[0]["metric"] == "similarity"
            refuse_several(several, axis, hint="give only one of the files of similarities" if parallel else None)
        known = point_firsts[points[record]]
        text = _contradiction(records[int(kept[known])], records[int(kept[record])])
        raise RequestError(text, hint="report them one by one, or filter them")
    of_point = places.codes[point_firsts]
    order = np.argsort(of_point, kind="stable")
    of_seeds = [seeds.values[code] for code in seeds.codes[point_firsts][order].tolist()]
    of_numbers = numbers[point_firsts][order].tolist()
    sizes = np.bincount(of_point, minlength=len(places.values))
    ends = np.cumsum(sizes).tolist()
    studies = _shared(columns_of_table.coded("study").of(kept), points, of_point, sizes)
    values = {
        at: Cell(dict(zip(of_seeds[end - size : end], of_numbers[end - size : end], strict=True)), shared)
        for at, size, end, shared in zip(places.values, sizes.tolist(), ends, studies, strict=True)
    }
    ordered = sorted(heads.values, key=lambda head: head.order if by_condition else nothing_first(head))
    if by_condition:  # variant by variant, each with its reference first
        variants = list(dict.fromkeys(column.variant for column in heads.values))
        ordered = sorted(ordered, key=lambda column: variants.index(column.variant))
    return Cells(tuple(keys.values), tuple(ordered), values)


def nothing_first(head: Any) -> tuple:
    """Order heads or seeds that may be None, which has no order of its own."""
    return tuple((value is not None, value) for value in (head if isinstance(head, tuple) else (head,)))


def _shared(studies: Coded, points: np.ndarray, of_point: np.ndarray, sizes: np.ndarray) -> list[frozenset[str]]:
    """The studies that have a record of every seed of a cell, for each cell.

    Args:
        points: ``(records,)`` point of each record: its cell and seed.
        of_point: ``(points,)`` cell of each point.
        sizes: ``(cells,)`` seeds of each cell.
    """
    if len(studies.values) < 2:
        return [frozenset(studies.values) - {None}] * len(sizes)
    number = len(studies.values)
    _, firsts = numbered(points.astype(np.int64) * number + studies.codes)
    cell, study = of_point[points[firsts]].astype(np.int64), studies.codes[firsts]
    seeds = np.bincount(cell * number + study, minlength=len(sizes) * number).reshape(len(sizes), number)
    return [
        frozenset(studies.values[code] for code in np.flatnonzero(seeds_of == size).tolist()) - {None}
        for seeds_of, size in zip(seeds, sizes.tolist(), strict=True)
    ]


@remembered
def disambiguated(results: Results) -> Rows:
    """Records as plain values with short names of encoders.

    Of two things with one name each gets the beginning of its digest behind it.
    """
    columns = Columns(results.records.drop_columns("tags"))
    _name_encoders(columns)
    for name in ("corpus", "train"):
        named = columns.together(name, DIGESTS[name])
        columns.replace(name, named.changed(_apart(named.values)))
    return Rows(columns)


def _apart(named: Sequence[tuple[str | None, str | None]]) -> list[str | None]:
    """Names, with the beginning of the digest behind those that several things have."""
    digests: dict[str, set[str]] = {}
    for name, digest in named:
        if name is not None and digest is not None:
            digests.setdefault(name, set()).add(digest)
    return [
        f"{name} ({digest[:SHOWN]})" if digest is not None and len(digests.get(name or "", ())) > 1 else name
        for name, digest in named
    ]


def _name_encoders(columns: Columns) -> None:
    """Give encoders short names, those of second languages too, which stand in the settings."""
    first = columns.together("encoder", DIGESTS["encoder"])
    settings = {text: settings_of(text) for text in columns.coded("settings").values}
    second = {
        text: (values["against"], values.pop("against_digest", None))
        for text, values in settings.items()
        if "against" in values
    }
    named = [*first.values, *second.values()]
    digests: dict[str, set[str]] = {name: set() for name, _ in named if name is not None}
    for name, digest in named:
        if name is not None and digest is not None:
            digests[name].add(digest)
    short = short_names(digests)
    labels = _apart([(short.get(name, name), digest) for name, digest in named])
    columns.replace("encoder", first.changed(labels[: len(first.values)]))
    if second:
        texts = {
            text: settings_text(settings[text] | {"against": label})
            for text, label in zip(second, labels[len(first.values) :], strict=True)
        }
        columns.change("settings", lambda text: texts.get(text, text))


def references(results: Results) -> Results:
    """Records of encoders to which nothing was done, in any number format and at any checkpoint."""
    conditions = results.columns.coded("condition").values
    return results.filter(condition=[text for text in conditions if condition_of(text).difference.is_reference])


def groups_of(results: Results, *columns: str) -> list[tuple[tuple, Results]]:
    """Group records like `Results.groups`, with separate groups for different things of one name."""
    return results.divided(disambiguated(results).columns.together(*columns))


@remembered
def encoders_apart(results: Results) -> Results:
    """Give encoders short names, different ones for different encoders, so that records can be grouped by name."""
    return _renamed(results, ("encoder", "settings"))


def training_data_apart(results: Results) -> Results:
    """Give training corpora of one name different names, so that records can be grouped by name."""
    return _renamed(results, ("train",))


def corpora_apart(results: Results) -> Results:
    """Give test corpora of one name different names, so that records can be grouped by name."""
    return _renamed(results, ("corpus",))


def without_digest(name: str) -> str:
    """The name of a thing as records have it, without the digest that `disambiguated` adds."""
    return re.sub(rf" \([0-9a-f]{{{SHOWN}}}\)$", "", name)


def _renamed(results: Results, columns: Sequence[str]) -> Results:
    """Name things in these columns as `disambiguated` does."""
    named = disambiguated(results).columns
    for column in columns:
        results = with_names(results, column, named.coded(column))
    return results


def with_names(results: Results, column: str, names: Coded) -> Results:
    """Replace the names in a column by others, which may tell more things apart."""
    records, kind = results.records, results.records[column].type
    if names.values == coded(records[column]).values:
        return results
    text = pa.array(names.values, pa.string()).take(pa.array(names.codes))
    text = text.dictionary_encode() if pa.types.is_dictionary(kind) else text
    return Results(records.set_column(COLUMNS.index(column), pa.field(column, kind), text))


def layer_of(record: Row, *, source: str) -> int | None:
    """Layer of the encoder that read a language, in retrieval from or into that language."""
    is_source = record["source"] == source or record["target_layer"] is None
    return record["layer"] if is_source else record["target_layer"]


def with_target_layers(results: Results) -> Results:
    """Fill empty values of ``target_layer``, which stand for the same layer."""
    layers = results.records["target_layer"]
    filled = pc.call_function("coalesce", [layers, results.records["layer"]])
    return Results(results.records.set_column(COLUMNS.index("target_layer"), SCHEMA.field("target_layer"), filled))


def pick_one(axis: str) -> str:
    """The hint at results that differ in a column."""
    chosen = f'matching("{axis}=…")' if axis in DIGESTS else f"filter({axis}=…)"
    return f"give results of one only: --where {axis}=…, or in Python {chosen}"


def refuse_several(records: Iterable[Row], axis: str, *, hint: str | None = None) -> None:
    """Refuse records that differ in a column that one table cannot mix.

    Args:
        hint: None: to select one value of the column.

    Raises:
        RequestError: naming its values.
    """
    values = (
        records.columns.coded(axis).values
        if isinstance(records, Rows)
        else list(dict.fromkeys(record[axis] for record in records))
    )
    if len(values) > 1:
        raise RequestError(
            f"one table cannot hold several {PLURALS.get(axis, f'{axis}s')}: {', '.join(map(str, values))}",
            hint=hint or pick_one(axis),
        )


def variants_of(records: Sequence[Row]) -> list[str]:
    """Describe how records of one task, source and condition differ; "" where they do not.

    Names the selection rule, training corpus, recipe and replaced settings, each only where it varies. A condition with
    its own recipe is compared with the reference all the same: the recipe counts as part of the condition, as long as
    it does not vary within the condition and all other conditions share one recipe.
    """
    own = [condition_of(record["condition"]).own_recipe for record in records]
    columns = [_variant(records, own, axis) for axis in VARIANTS if axis != "dev"]
    devs = _variant(records, own, "dev")
    selections = columns[0] if columns else []
    if len(set(zip(selections, devs, strict=True))) > len(set(selections)):  # the rule does not say which dev data
        columns.append([f"dev {dev}" if dev else "" for dev in devs])
    return [", ".join(filter(None, words)) for words in zip(*columns, strict=True)] if records else []


def by_variant(results: Results, *, within: Sequence[str], of: Sequence[str] = VARIANTS) -> list[tuple[str, Results]]:
    """Divide scores by what tells models apart besides their condition, as `variants_of` describes it.

    Args:
        within: columns that models share whose conditions are compared.
        of: columns that tell models apart, some of `VARIANTS`.
    """
    models = disambiguated(results).columns.together(*within, "condition", *of)
    alike: dict[tuple, list[tuple]] = {}
    for model in models.values:
        alike.setdefault(model[: len(within)], []).append(model)
    variants: dict[tuple, str] = {}
    names = (*within, "condition", *of)
    for several in alike.values():
        rows = [dict.fromkeys(VARIANTS) | dict(zip(names, model, strict=True)) for model in several]
        variants |= zip(several, variants_of(rows), strict=True)
    return results.divided(models.changed([variants[model] for model in models.values]))


def columns_of(records: Rows) -> Coded:
    """The column that each record stands in where columns are conditions.

    Args:
        records: as `disambiguated` returns them.
    """
    groups = records.columns.together("condition", *VARIANTS)
    distinct = [records[int(first)] for first in groups.firsts]
    columns = [
        _column(record["condition"], variant) for record, variant in zip(distinct, variants_of(distinct), strict=True)
    ]
    return groups.changed(_with_settings(columns))


def _with_settings(columns: Sequence[Column]) -> list[Column]:
    """Columns, with the settings that tell apart different conditions of one label."""
    conditions: dict[str, dict[Condition, None]] = {}
    for column in columns:
        conditions.setdefault(column.condition.label, {})[column.condition] = None
    settings = {
        condition: text
        for alike in conditions.values()
        if len(alike) > 1
        for condition, text in zip(alike, differing_settings(list(alike)), strict=True)
    }
    return [replace(column, settings=settings.get(column.condition, "")) for column in columns]


@cache
def _column(text: str | None, variant: str) -> Column:
    """The column of a condition. Settings of the encoder that the reference has too are part of the variant."""
    condition = condition_of(text)
    return Column(condition.difference, ", ".join(filter(None, (condition.reference.change, variant))))


def _variant(records: Sequence[Row], own: Sequence[bool], axis: str) -> list[str]:
    values = [record[axis] or "" for record in records]
    others = {value for value, is_own in zip(values, own, strict=True) if not is_own}
    if axis in OF_RECIPE and len(others) == 1:
        by_condition: dict[str, set[str]] = {}
        for record, value in zip(records, values, strict=True):
            by_condition.setdefault(record["condition"], set()).add(value)
        (usual,) = others
        values = [
            _as_usual(value, usual, axis) if is_own and len(by_condition[record["condition"]]) == 1 else value
            for record, value, is_own in zip(records, values, own, strict=True)
        ]
    if len(set(values) - {""}) < 2 and (axis not in ("settings", "recipe") or len(set(values)) < 2):
        return [""] * len(values)
    return settings_apart(values) if axis == "settings" else values


def _as_usual(value: str, usual: str, axis: str) -> str:
    """The usual value of a column; of settings, with the own limit: it changes the data, not only the recipe."""
    own, settings = settings_of(value), settings_of(usual)
    if axis != "settings" or own.get("limit") == settings.get("limit"):
        return usual
    kept = {name: setting for name, setting in settings.items() if name != "limit"}
    return settings_text(kept | ({"limit": own["limit"]} if "limit" in own else {})) or ""


@cache
def condition_of(text: str | None) -> Condition:
    """Parse the condition of a record."""
    return Condition.parse(text) if text else Condition()


def languages_of(records: Results) -> Callable[[str | None, str], str]:
    """How a language's corpus is called in a row: by the language where it is its only corpus, or else by its name."""
    many = Counter(target for target, _ in disambiguated(records).columns.together("target", "corpus").values)
    return lambda target, corpus: target if target and many[target] == 1 else corpus


def _contradiction(a: Row, b: Row) -> str:
    differing = [
        " ".join(f"{name} {record[name]}" for name in ("study", "run") if record[name] is not None) or "a file"
        for record in (a, b)
    ]
    what = ", ".join(
        str(a[name])
        for name in ("task", "metric", "encoder", "source", "corpus", "measure", "layer")
        if a[name] is not None
    )
    return (
        f"two records contradict one another: {what}, {condition_of(a['condition']).label}, seed {a['seed']}:"
        f" {a['value']:.4g} in {differing[0]} and {b['value']:.4g} in {differing[1]}"
    )
