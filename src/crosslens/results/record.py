"""Tidy records of measurements: one row per number, with the same columns everywhere."""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import wraps
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeVar, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from crosslens.encoders.condition import REFERENCE, Condition, is_condition
from crosslens.errors import DataError, RequestError, require_known, suggest, suggest_beside
from crosslens.files import is_refusal, write_bytes
from crosslens.results.record_rows import Coded, Columns, divided

if TYPE_CHECKING:
    import altair
    import pandas

    from crosslens.results.order import Order


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Record:
    """One number with everything that identifies it. Columns that do not apply are None, never "" or -1.

    Attributes:
        study: the study it belongs to, where there is one.
        run: the run's id.
        task: ``pos``, ``parsing``, …
        encoder: the encoder's name.
        source: the language trained on.
        target: the language evaluated on.
        split: the split evaluated on.
        measure: of a similarity, which (``cka``); of a score, None.
        layer: of a similarity, the layer; 0 is the embeddings.
        ablation: the layers re-initialised before training, ``1-2``; None: none.
        components: which parts of those layers: ``all``, ``attention``, …
        seed: the run's seed.
        metric: ``accuracy``, ``las``, ``f1``, ``similarity``, …
        value: the number; scores are in points, 0 to 100.
        low: lower end of its 95 % interval.
        high: upper end.
        n: how many units (words, spans, sentences) it was computed from.
        question: id of what was asked of the run.
        condition: what was done to the encoder, as `crosslens.encoders.condition.Condition.text` writes it.
        layers: the layers that the condition acts on.
        depth: how many layers the encoder has.
        factor: what was different in pretraining; None: nothing.
        start: what training began with, where that is not the encoder: ``adapted``, ``scratch``, ``bilstm``.
        state: ``fine-tuned``, ``pretrained``, or ``untrained`` where everything was re-initialised.
        encoder_digest: of the encoder that was named, before any change; None where runs of the study made it.
        partner: the other language of a bilingual encoder.
        corpus: what was evaluated on.
        corpus_digest: of its content.
        train: what was trained on.
        train_digest: of its content.
        translated_from: the language that the training data were translated from.
        dev: the development data.
        selection: the rule that selected the weights.
        recipe: the named recipe.
        settings: what differs from that, ``name=value`` with blanks between; of a similarity or a probe, its settings.
        length_ratio: of parallel text, the target's words over the source's; None where words have no spaces between.
        fertility: of parallel text or an overlap, the target's subwords per word; None as ``length_ratio`` is.
        target_layer: layer of the target language, where it is another one than ``layer`` or belongs to an encoder of
            another depth; None: the same.
        signature: the scoring rule.
        tags: provenance: versions, counts. No score, mean or test is computed from them.
    """

    study: str | None = None
    run: str | None = None
    task: str | None = None
    encoder: str | None = None
    source: str | None = None
    target: str | None = None
    split: str | None = None
    measure: str | None = None
    layer: int | None = None
    ablation: str | None = None
    components: str | None = None
    seed: int | None = None
    metric: str | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    question: str | None = None
    condition: str | None = REFERENCE
    layers: str | None = None
    depth: int | None = None
    factor: str | None = None
    start: str | None = None
    state: str | None = None
    encoder_digest: str | None = None
    partner: str | None = None
    corpus: str | None = None
    corpus_digest: str | None = None
    train: str | None = None
    train_digest: str | None = None
    translated_from: str | None = None
    dev: str | None = None
    selection: str | None = None
    recipe: str | None = None
    settings: str | None = None
    length_ratio: float | None = None
    fertility: float | None = None
    target_layer: int | None = None
    signature: str | None = None
    tags: Mapping[str, str | int | float] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Show the columns that differ from their defaults, so that the text makes the same record."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
        tags = values.pop("tags")
        shown = {**values, "tags": dict(tags)} if tags else values
        return f"Record({', '.join(f'{name}={value!r}' for name, value in shown.items())})"


VERSION = 2
"""Version of the columns."""

_ARROW = {name: pa.int64() for name in ("layer", "seed", "n", "depth", "target_layer")}
_ARROW |= {name: pa.float64() for name in ("value", "low", "high", "length_ratio", "fertility")}
COLUMNS = tuple(f.name for f in fields(Record))
SCHEMA = pa.schema([(name, _ARROW.get(name, pa.string())) for name in COLUMNS])
"""The columns of every results file. ``tags`` is one JSON object, so that new tags never change the columns."""
INTEGERS = tuple(name for name, kind in _ARROW.items() if kind == pa.int64())
FRACTIONS = tuple(name for name, kind in _ARROW.items() if kind == pa.float64())


def value_of(column: str, text: str) -> str | int:
    """The value that a text stands for in a column: a whole number, or the text itself.

    Raises:
        RequestError: for a column of whole numbers and another text.
    """
    try:
        return int(text) if column in INTEGERS else text
    except ValueError:
        raise RequestError(f"{column}={text}: is not a whole number") from None


def _column(name: str) -> pa.Field:
    require_known(name, COLUMNS, "results have no column")
    return SCHEMA.field(name)


CountKey = tuple[str | None, str | None, str | None, str | None]
"""Run, condition, corpus digest and metric of a record."""


@dataclass(frozen=True, repr=False)
class Results:
    """A table of records, in a fixed order.

    ``a + b`` and ``sum(parts)`` join results, iteration yields `Record` objects, ``results[0]`` is one of them, and
    ``results[:10]`` are the first ten as results.

    Attributes:
        records: the columns.
        counts: run, condition, corpus digest and metric -> ``(2, sentences)``: numerators and denominators behind a
            score, for paired tests. `evaluate` adds them; results read from a file have none.

    >>> results = Results.of([Record(metric="las", value=71.0), Record(metric="las", value=73.0)])
    >>> len(results + results), results[1].value, [record.value for record in results]
    (4, 73.0, [71.0, 73.0])
    """

    records: pa.Table
    counts: Mapping[CountKey, np.ndarray] = field(default_factory=lambda: MappingProxyType({}), compare=False)
    _remembered: dict[Any, Any] = field(default_factory=dict, init=False, compare=False)

    @classmethod
    def of(cls, records: Iterable[Record]) -> "Results":
        """Make results from records, in this order.

        Raises:
            RequestError: for anything else than records, a value of another type than its column's, or a number that is
                not finite.
        """
        rows = []
        for record in records:
            if not isinstance(record, Record):
                raise RequestError(
                    f"results are made of records, not of a {type(record).__name__}",
                    hint='xl.Record(task="pos", value=80.0) makes one',
                )
            row = {name: getattr(record, name) for name in COLUMNS}
            numbers = [*(row[name] for name in FRACTIONS), *record.tags.values()]
            if any(isinstance(number, float) and not math.isfinite(number) for number in numbers):
                raise RequestError(
                    f"{record!r} has a number that is not finite", hint="a value that is undefined is None"
                )
            row["tags"] = json.dumps(dict(record.tags), sort_keys=True, ensure_ascii=False)
            rows.append(row)
        try:
            return cls(pa.Table.from_pylist(rows, schema=SCHEMA))
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise RequestError(f"a record has a value of another type than its column's: {error}") from None

    def __len__(self) -> int:
        return self.records.num_rows

    def __add__(self, other: "Results") -> "Results":
        if not isinstance(other, Results):
            return NotImplemented
        return concatenated([self, other])

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy the records and their counts, without what is remembered of them."""
        return Results, (self.records, dict(self.counts))

    def __radd__(self, other: Literal[0]) -> "Results":
        """Return these results; ``sum`` begins with 0."""
        return self if other == 0 else NotImplemented

    def __iter__(self) -> Iterator[Record]:
        for row in self.records.to_pylist():
            yield _record(row)

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> "Results": ...
    def __getitem__(self, index: int | slice) -> "Record | Results":
        """Record at an index, or results of a slice.

        Raises:
            RequestError: for another index, such as the name of a column.
        """
        if isinstance(index, slice):
            return Results(self.records.take(pa.array(range(len(self))[index], pa.int64())), self.counts)
        try:
            place = range(len(self))[index]
        except TypeError:
            raise RequestError(
                f"results have rows by number and slice, not by the type {type(index).__name__}",
                hint="filter(task=…) selects rows, and to_pandas() has the columns",
            ) from None
        return _record(self.records.slice(place, 1).to_pylist()[0])

    def filter(self, **columns: Any) -> "Results":
        """Select the rows with these column values (None: missing; a list or range: any of them).

        A condition may be written as in a study file: ``condition="1-2"``.

        Raises:
            RequestError: for a column that does not exist, or a value of another type than the column's.
        """
        return self.where(self._having(columns))

    def _having(self, columns: Mapping[str, Any]) -> np.ndarray:
        """Tell which rows have these column values, as in `filter`."""
        kept = np.ones(len(self), bool)
        for name, wanted in columns.items():
            several = isinstance(wanted, Iterable) and not isinstance(wanted, str | Mapping)
            values = list(wanted) if several else [wanted]
            kind = _column(name).type
            if name == "condition":
                short = [text for text in values if isinstance(text, str) and text[:1] != "{" and is_condition(text)]
                values += [Condition.parse(text).text for text in short]
            try:
                held = pa.array(values, kind)
                if pa.types.is_integer(kind) and held.to_pylist() != values:  # pyarrow cuts decimals off
                    raise TypeError("it holds whole numbers")
            except (pa.ArrowException, TypeError) as error:
                raise RequestError(f"{name}: the column cannot hold {wanted!r}", hint=str(error)) from None
            options = pc.SetLookupOptions(held)
            kept &= pc.call_function("is_in", [self.records[name].cast(kind)], options).to_numpy()
        return kept

    def matching(self, *texts: str) -> "Results":
        """Leave out rows with other values than in texts ``column=value``; several of one column admit each of them.

        Rows without a value stay: similarities of an encoder, which have no task, stay beside the scores of one. Of two
        corpora or encoders of one name, each is called as in tables: ``corpus=mine (0123abcd)``.

        >>> results = Results.of([Record(task="pos", seed=1), Record(task="ner", seed=1), Record(measure="cka")])
        >>> len(results.matching("task=ner", "seed=1")), len(results.matching("task=pos", "task=ner"))
        (2, 3)

        Raises:
            RequestError: for a text of another form, an unknown column, or a value that no row has.
        """
        kept: dict[str, np.ndarray] = {}
        for text in texts:
            if not isinstance(text, str):
                raise RequestError(
                    f"results match texts, not the type {type(text).__name__}", hint='matching("task=pos", "seed=1")'
                )
            column, _, value = text.partition("=")
            if not column or not value:
                raise RequestError(f"{text}: is not column=value", hint="for example task=pos")
            having = self._having({column: value_of(column, value)})
            having = having if having.any() else self._named(column, value)
            if not having.any():
                known = [str(each) for each in self.records[column].unique().to_pylist() if each is not None]
                raise RequestError(f"no result has {text}", hint=suggest(value, known))
            kept[column] = kept.get(column, self._having({column: None})) | having
        return self.where(np.logical_and.reduce([np.ones(len(self), bool), *kept.values()]))

    def _named(self, column: str, name: str) -> np.ndarray:
        """Tell which rows have a name in tables, where two things of one name have a digest behind it."""
        from crosslens.results.cells import DIGESTS, disambiguated

        if column not in DIGESTS:
            return np.zeros(len(self), bool)
        names = disambiguated(self).columns.coded(column)
        return np.array([each == name for each in names.values], bool)[names.codes]

    def where(self, kept: np.ndarray) -> "Results":
        """Select rows.

        Args:
            kept: ``(rows,)`` whether to keep each row.
        """
        return self if kept.all() else Results(self.records.filter(pa.array(kept, pa.bool_())), self.counts)

    def groups(self, *columns: str) -> list[tuple[tuple, "Results"]]:
        """Group rows by the values of these columns, in the order of first appearance.

        Raises:
            RequestError: for a column that does not exist.
        """
        return self.divided(self.columns.together(*[_column(name).name for name in columns]))

    def divided(self, groups: Coded) -> list[tuple[Any, "Results"]]:
        """Group rows by values that were computed for them, in the order of first appearance."""
        if len(groups.values) == 1:
            return [(groups.values[0], self)]
        parts = divided(self.records, groups)
        return [(value, Results(part, self.counts)) for value, part in zip(groups.values, parts, strict=True)]

    @property
    def columns(self) -> Columns:
        """Columns as distinct values and codes."""
        return Columns(self.records)

    def with_columns(self, **columns: Any) -> "Results":
        """Set columns to one value in all rows.

        Raises:
            RequestError: for a column that does not exist, a value of another type than the column's, or a number that
                is not finite.
        """
        arrays = {name: self.records[name] for name in COLUMNS}
        for name, value in columns.items():
            column = _column(name)
            if isinstance(value, float) and not math.isfinite(value):
                raise RequestError(f"{name}: {value} is not finite", hint="a value that is undefined is None")
            try:
                arrays[name] = pa.repeat(pa.scalar(value, column.type), len(self))
            except pa.ArrowException as error:
                raise RequestError(f"{name}: the column cannot hold {value!r}", hint=str(error)) from None
        return Results(pa.table(arrays, schema=SCHEMA), self.counts)

    def encoded(self) -> "Results":
        """The same records with dictionary-encoded text, which takes a fifth of the memory."""
        return Results(_encoded(self.records), self.counts)

    def to_pandas(self) -> "pandas.DataFrame":
        """Convert to a pandas data frame, one column per field; ``tags`` is JSON text."""
        return _decoded(self.records).to_pandas()

    @classmethod
    def from_pandas(cls, frame: "pandas.DataFrame") -> "Results":
        """Make results from a data frame with the columns of `to_pandas`, in any order; its index is ignored.

        Raises:
            RequestError: for a frame that lacks columns or has others, or a value that a column cannot hold; for
                another object.

        Examples:
            >>> records = [xl.Record(target=target, metric="accuracy", value=90.0) for target in ("fr", "de")]
            >>> frame = xl.Results.of(records).to_pandas()
            >>> xl.Results.from_pandas(frame[frame["target"] == "fr"])[0].value
            90.0
        """
        import pandas

        if not isinstance(frame, pandas.DataFrame):
            raise RequestError(f"results are made from a data frame of pandas, not from a {type(frame).__name__}")
        _require_columns([str(name) for name in frame.columns], hint="give the columns that Results.to_pandas returns")
        columns = {}
        for each in SCHEMA:
            try:
                column = pa.Table.from_pandas(frame[[each.name]], preserve_index=False).column(0)
                columns[each.name] = column.cast(each.type)
            except (pa.ArrowException, TypeError, ValueError) as error:
                reason = str(error.args[0]).splitlines()[0]
                raise RequestError(
                    f"the column {each.name} of the data frame cannot be one of results: {reason}"
                ) from None
        return _checked(cls(pa.table(columns, schema=SCHEMA)))

    def tags(self) -> list[dict[str, Any]]:
        """Provenance of each row, for display."""
        tags = self.columns.coded("tags")
        parsed = [json.loads(text) for text in tags.values]
        return [dict(parsed[code]) for code in tags.codes.tolist()]

    def sorted(self, by: "Order" = "score") -> "Results":
        """Sort the languages of each task, encoder and source; everything else keeps its place.

        >>> rows = [Record(source="en", target=target, value=value) for target, value in [("cs", 71.0), ("fr", 80.0)]]
        >>> results = Results.of(rows)
        >>> [record.target for record in results.sorted()], [record.target for record in results.sorted("name")]
        (['fr', 'cs'], ['cs', 'fr'])

        Args:
            by: ``score`` of the reference model, the best first; ``family`` or ``script`` of the language; or ``name``,
                which is its tag. Equal ones are sorted by name.

        Raises:
            RequestError: for an unknown order.
        """
        from crosslens.results.order import in_order

        mark = (in_order, by)
        if mark in self._remembered:  # tables, figures and the page of a report ask for the same order
            return self
        ordered = in_order(self, by)
        ordered._remembered[mark] = True
        return ordered

    def table(self, *, sort: "Order" = "score") -> "pandas.DataFrame":
        """Tabulate scores by target and condition, or else similarities by pair and layer.

        Args:
            sort: order of the languages, as in `sorted`.

        Raises:
            RequestError: when the results are empty, or mix what one table cannot hold.
        """
        from crosslens.results.pivot import tabulated

        return tabulated(self.sorted(sort))

    def best_layer(self, **columns: Any) -> int:
        """Find the layer with the highest mean value, of a similarity, a probe or a score by layer.

        The mean is over pairs, corpora and seeds, each of which needs a value in the layer; layers that lack one are
        left out. Of equal layers the lowest is returned.

        >>> rows = [Record(measure="cka", layer=layer, value=value) for layer, value in enumerate((0.2, 0.7, 0.5))]
        >>> Results.of(rows).best_layer(measure="cka")
        1

        Args:
            **columns: values of columns that select the records, as in `filter`.

        Returns:
            The layer; 0 is the embeddings.

        Raises:
            RequestError: when no record has a layer; when records are of several encoders, measures, metrics or
                conditions, which have no common mean.
        """
        from crosslens.results.pivot import best_layer

        return best_layer(self.filter(**columns))

    def plot(self, *, sort: "Order | None" = None) -> "altair.TopLevelMixin":
        """Plot the layer profile (of several encoders, one over the other), a heat map of scores if the conditions are
        others than re-initialised layers, similarity by layer, or the accuracy of probes by layer.

        Args:
            sort: order of the languages of a heat map, as in `sorted` [default: ``score``].

        Raises:
            RequestError: when altair is not installed; when the results are empty, have no condition to compare with a
                reference, or mix what one chart cannot hold; for ``sort`` with a chart other than a heat map.
        """
        from crosslens.results.chart import main_measure, score_chart, similarity_chart
        from crosslens.results.encoder_overlay import overlay_chart, profiles_by_kind
        from crosslens.results.layer_profile import NoProfile, profile_chart, profiles_by_variant
        from crosslens.results.pivot import refuse_splits
        from crosslens.results.probe_chart import ANSWERS, probe_chart

        if len(self) > 0 and not self.records["measure"].null_count:
            _refuse_sort(sort)
            metrics = set(self.records["metric"].unique().to_pylist())
            if "similarity" not in metrics and metrics & ANSWERS.keys():
                return probe_chart(self)
            return similarity_chart(self, measure=main_measure(self))
        refuse_splits(self)
        scores = self.filter(measure=None)
        source = scores.records["source"][0].as_py() if len(scores) else None
        if len(scores.groups("encoder")) > 1:
            _refuse_sort(sort)
            return overlay_chart(profiles_by_kind(scores, source=source))
        try:
            profiles = profiles_by_variant(scores, source=source)
        except NoProfile:
            profiles = None
        if profiles is None:
            return score_chart(self.sorted(sort or "score"))
        _refuse_sort(sort)
        return profile_chart(profiles)

    def __repr__(self) -> str:
        """Show the tables as text."""
        from crosslens.results.pivot import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        """Show the tables in notebooks."""
        from crosslens.results.pivot import as_html

        return as_html(self)

    def to_latex(self, *, caption: str | None = None, label: str | None = None) -> str:
        """Write the tables for LaTeX, with the decimals that are shown; they need the package booktabs.

        `crosslens report` makes the tables of a paper: no wider than the page, with intervals, significance and
        published scores.

        Args:
            caption: caption of a single table, in LaTeX; the table then stands in a ``table`` environment.
            label: label of a single table, for ``\\ref``.

        Returns:
            One ``tabular`` environment per table.

        Raises:
            RequestError: for a caption or label where the results fill several tables.

        Examples:
            >>> row = xl.Record(task="pos", source="en", target="fr", metric="accuracy", value=87.654)
            >>> print(xl.Results.of([row]).to_latex().splitlines()[6])
            fr &  & 87.65 \\\\
            >>> print(xl.Results.of([row]).to_latex(caption="POS tagging.", label="tab:pos").splitlines()[3:5])
            ['\\\\caption{POS tagging.}', '\\\\label{tab:pos}']
        """
        from crosslens.results.pivot import as_latex

        return as_latex(self, caption=caption, label=label)

    def write(self, path: str | Path) -> None:
        """Write to ``.csv``, ``.parquet``, ``.json`` (one list) or ``.jsonl`` (one record per line), atomically.

        Missing folders are created, and an existing file is replaced.

        Raises:
            RequestError: for another ending.
            OSError: when nothing can be written there.
        """
        path = Path(path)
        sink = pa.BufferOutputStream()
        records = _decoded(self.records)
        if path.suffix == ".csv":
            # pyarrow 17 writes the header or rows twice where one of several chunks is empty.
            pyarrow.csv.write_csv(records.combine_chunks(), sink)
        elif path.suffix == ".parquet":
            versioned = records.replace_schema_metadata({"crosslens.results": str(VERSION)})
            pyarrow.parquet.write_table(versioned, sink, write_page_checksum=True)
        elif path.suffix == ".json":
            sink.write(json.dumps(self.records.to_pylist(), ensure_ascii=False, indent=1, allow_nan=False).encode())
        elif path.suffix == ".jsonl":
            for row in self.records.to_pylist():
                sink.write((json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n").encode())
        else:
            raise RequestError(
                f"{path}: results are written as .csv, .parquet, .json or .jsonl", hint="change the ending"
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, sink.getvalue().to_pybytes())


P = ParamSpec("P")
R = TypeVar("R")


def remembered(function: "Callable[Concatenate[Results, P], R]") -> "Callable[Concatenate[Results, P], R]":
    """Compute a function of results once for the same `Results` object, which never changes."""

    @wraps(function)
    def once(results: Results, /, *arguments: P.args, **options: P.kwargs) -> R:
        known, call = results._remembered, (function, arguments, *options.items())
        if call not in known:
            known[call] = function(results, *arguments, **options)
        return known[call]

    return once


def _refuse_sort(sort: "Order | None") -> None:
    if sort is not None:
        raise RequestError(
            "sort orders the rows of a heat map, and these results are drawn as another chart", hint="plot() without it"
        )


def _encoded(table: pa.Table) -> pa.Table:
    columns = []
    for column, kind in zip(table.columns, SCHEMA.types, strict=True):
        if not pa.types.is_dictionary(column.type):
            column = column.cast(kind)
            column = column.dictionary_encode() if pa.types.is_string(kind) else column
        columns.append(column.unify_dictionaries().combine_chunks())
    pa.default_memory_pool().release_unused()
    return pa.table(columns, names=table.column_names)


def _decoded(table: pa.Table) -> pa.Table:
    """Undo `Results.encoded`."""
    types = [column.type.value_type if pa.types.is_dictionary(column.type) else column.type for column in table.columns]
    return table.cast(pa.schema(zip(table.column_names, types, strict=True)))


def _record(row: dict[str, Any]) -> Record:
    return Record(**{**row, "tags": json.loads(row["tags"])})


def concatenated(parts: Iterable[Results]) -> Results:
    """Concatenate results, in their order."""
    parts = list(parts)
    counts = {key: array for part in parts for key, array in part.counts.items()}
    return Results(pa.concat_tables([part.records for part in parts]), counts) if parts else Results.of([])


ANSWERED = ("condition", "state", "measure", "metric", "layer", "target_layer", "source", "target", "corpus")
"""Columns that tell apart the records of one answer, such as the F1 of each entity type."""


def mean_of_runs(parts: Sequence[Results]) -> Results:
    """Average the values of runs that answer the same questions, record by record.

    A run can have records that another one lacks: the F1 of an entity type that only one of them predicted. Such
    records have no mean and are left out.

    Args:
        parts: the records of each run; what they hold besides values is taken from the first.

    Returns:
        The mean values, without intervals; None where a run has none. A single run's records as they are.
    """
    if len(parts) == 1:
        return parts[0]
    places = [_places(part) for part in parts]
    common = [key for key in places[0] if all(key in others for others in places)]
    chosen = [np.array([of_run[key] for key in common], np.int64) for of_run in places]
    values = [part.records["value"].to_numpy()[rows] for part, rows in zip(parts, chosen, strict=True)]
    mean = pa.array(np.mean(values, axis=0), from_pandas=True)  # undefined values are empty, not NaN
    records = parts[0].records.take(pa.array(chosen[0]))
    records = records.set_column(COLUMNS.index("value"), SCHEMA.field("value"), mean)
    return Results(records).with_columns(low=None, high=None)


def _places(results: Results) -> dict[tuple, int]:
    """Map the columns of `ANSWERED`, and a number that tells equal ones apart, to the place of the record."""
    rows = results.columns.together(*ANSWERED)
    places: dict[tuple, int] = {}
    equal: Counter[int] = Counter()
    for place, code in enumerate(rows.codes.tolist()):
        places[*rows.values[code], equal[code]] = place
        equal[code] += 1
    return places


def read_results(path: str | Path, *, encoded: bool = False) -> Results:
    """Read a file written by `Results.write`, or rewritten by pandas.

    Args:
        path: a ``.csv``, ``.parquet``, ``.json`` or ``.jsonl`` file that `Results.write` wrote.
        encoded: whether text is dictionary-encoded, as by `Results.encoded`; of a ``.parquet`` file it is then never
            decoded, which takes half the memory of encoding it afterwards.

    Returns:
        The records of the file.

    Raises:
        DataError: for a file that is missing, or that holds no records of ours.
        OSError: when the operating system refuses to read the file.
    """
    path = Path(path)
    if not path.is_file():
        hint = suggest_beside(path, otherwise="check the path")
        raise DataError("no such results file", file=str(path), hint=hint)
    try:
        if path.suffix == ".csv":
            # pandas writes a column of integers that lacks some as 1.0.
            types = {
                name: pa.float64() if name in INTEGERS else kind
                for name, kind in zip(SCHEMA.names, SCHEMA.types, strict=True)
            }
            reading = {"column_types": types, "strings_can_be_null": True, "null_values": [""]}  # Min Nan is nan
            empty = pyarrow.csv.ConvertOptions(**reading, quoted_strings_can_be_null=False)
            try:
                table = pyarrow.csv.read_csv(path, convert_options=empty)
            except pa.ArrowInvalid:  # a spreadsheet quotes missing values as well
                missing = pyarrow.csv.ConvertOptions(**reading)
                table = pyarrow.csv.read_csv(path, convert_options=missing)
            table = table.drop_columns([name for name in table.column_names if not name])  # the index of a frame
        elif path.suffix == ".parquet":
            whole = pa.BufferReader(path.read_bytes())  # read_table opens a path twice, and a run may replace the file
            kinds = pyarrow.parquet.read_schema(whole)
            whole.seek(0)
            texts = [name for name in kinds.names if encoded and pa.types.is_string(kinds.field(name).type)]
            table = pyarrow.parquet.read_table(whole, read_dictionary=texts, page_checksum_verification=True)
        elif path.suffix in (".json", ".jsonl"):
            text = path.read_text("utf-8")
            lines = text.removesuffix("\n").split("\n") if text else []  # U+2028 ends no record
            rows = json.loads(text) if path.suffix == ".json" else list(map(json.loads, lines))
            if not (isinstance(rows, list) and all(isinstance(row, dict) for row in rows)):
                raise DataError("holds no list of records", file=str(path))
            for names in dict.fromkeys(map(tuple, rows)):
                _require_columns(names, file=str(path), hint="a record has all columns, null where one does not apply")
            table = pa.Table.from_pylist(rows, schema=SCHEMA)
        else:
            raise DataError("not a results file", file=str(path), hint="results are .csv, .parquet, .json or .jsonl")
        hint = "read it with pandas; or remove added columns, and write it with to_csv(index=False)"
        _require_columns(table.column_names, file=str(path), hint=hint)
        table = table.select(list(COLUMNS))  # pandas may have put them in another order
        return _checked(Results(_encoded(table) if encoded else table.cast(SCHEMA)), file=str(path))
    except (pa.ArrowException, OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        if is_refusal(error):
            raise
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise DataError(f"cannot be read as results: {reason}", file=str(path)) from None


def _require_columns(names: Sequence[str], *, hint: str, file: str | None = None) -> None:
    """Check that a table has the columns of results, and no others.

    Raises:
        DataError: naming those that it lacks and those that it has besides.
    """
    lacking = [name for name in COLUMNS if name not in names]
    unknown = [name for name in names if name not in COLUMNS]
    differences = [f"it {verb} {_listed(names)}" for verb, names in (("lacks", lacking), ("has", unknown)) if names]
    if differences:
        raise DataError(f"the columns are not those of results: {' and '.join(differences)}", file=file, hint=hint)


def _listed(names: Sequence[str]) -> str:
    """Name the first five columns, and count the others."""
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(map(repr, names[:5])) + more


def _checked(results: Results, *, file: str | None = None) -> Results:
    """Check what the types of the columns leave open: numbers are finite, conditions valid, and tags JSON objects.

    Returns:
        The results, with an empty object where a record has no tags.

    Raises:
        DataError: naming the first record that is not so.
    """
    for column in SCHEMA:
        if pa.types.is_floating(column.type):
            infinite = pc.call_function("invert", [pc.call_function("is_finite", [results.records[column.name]])])
            place = pc.call_function("index", [infinite], pc.IndexOptions(pa.scalar(True))).as_py()
            if place >= 0:
                value = results.records[column.name][place].as_py()
                raise DataError(
                    f"record {place + 1}: {column.name} is {value}",
                    file=file,
                    hint="leave out records without a value",
                )
    for text in results.records["condition"].unique().drop_null().to_pylist():
        if not is_condition(text):
            raise DataError(f"the condition {text!r} is invalid", file=file, hint="a condition is none, 1-2 or JSON")
    for text in results.records["tags"].unique().drop_null().to_pylist():
        try:
            tags = json.loads(text)
        except ValueError:
            tags = None
        if not isinstance(tags, dict):
            raise DataError(f"the tags {text!r} are not a JSON object", file=file, hint="an empty object is {}")
    column = results.records["tags"]
    if not column.null_count:
        return results
    filled = column.fill_null("{}")
    return Results(results.records.set_column(COLUMNS.index("tags"), results.records.field("tags"), filled))
