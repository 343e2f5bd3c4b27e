"""Tidy records of what was measured: one row a number, the same columns everywhere."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from crosslens.data.chart import score_chart, similarity_chart
from crosslens.data.table import score_table, similarity_table
from crosslens.errors import DataError, RequestError, suggest
from crosslens.files import write_bytes

if TYPE_CHECKING:
    import altair
    import pandas


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One number and all that says which number it is. What does not apply is None, never "" or -1.

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
        ablation: the layers drawn anew before training, ``1-2``; None is the reference.
        components: which parts of those layers: ``all``, ``attention``, …
        seed: the run's seed.
        metric: ``accuracy``, ``las``, ``f1``, ``similarity``, …
        value: the number; scores are in points, 0 to 100.
        low: lower end of its 95 % interval.
        high: upper end.
        n: how many units (words, spans, sentences) it was computed from.
        tags: anything else worth keeping: digests, versions, signature.
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
    tags: Mapping[str, str | int | float] = field(default_factory=lambda: MappingProxyType({}))


_ARROW = {"layer": pa.int64(), "seed": pa.int64(), "n": pa.int64()}
_ARROW |= {name: pa.float64() for name in ("value", "low", "high")}
COLUMNS = tuple(f.name for f in fields(Record))
SCHEMA = pa.schema([(name, _ARROW.get(name, pa.string())) for name in COLUMNS])
"""The columns of every results file. ``tags`` is one JSON object, so that new tags never change the columns."""


def _column(name: str) -> pa.Field:
    if name not in COLUMNS:
        raise RequestError(f"results have no column {name!r}", hint=suggest(name, COLUMNS))
    return SCHEMA.field(name)


@dataclass(frozen=True)
class Results:
    """A table of records. ``a + b`` is both."""

    records: pa.Table

    @classmethod
    def of(cls, records: Iterable[Record]) -> "Results":
        """Results that hold these records, in this order."""
        rows = []
        for record in records:
            row = {name: getattr(record, name) for name in COLUMNS}
            row["tags"] = json.dumps(dict(record.tags), sort_keys=True, ensure_ascii=False, allow_nan=False)
            rows.append(row)
        return cls(pa.Table.from_pylist(rows, schema=SCHEMA))

    def __len__(self) -> int:
        return self.records.num_rows

    def __add__(self, other: "Results") -> "Results":
        return Results(pa.concat_tables([self.records, other.records]))

    def filter(self, **columns: Any) -> "Results":
        """The rows whose columns have these values (None: the rows where it is absent; a list: any of them).

        Raises:
            RequestError: for a column that does not exist.
        """
        table = self.records
        for name, wanted in columns.items():
            values = wanted if isinstance(wanted, (list, tuple, set, frozenset)) else [wanted]
            table = table.filter(pc.field(name).isin(pa.array(values, _column(name).type)))
        return Results(table)

    def groups(self, *columns: str) -> list[tuple[tuple, "Results"]]:
        """The rows apart by the values of these columns, in the order of their first rows."""
        members: dict[tuple, list[int]] = {}
        for index, row in enumerate(self.records.select(list(columns)).to_pylist()):
            members.setdefault(tuple(row.values()), []).append(index)
        return [(key, Results(self.records.take(pa.array(rows, pa.int64())))) for key, rows in members.items()]

    def with_columns(self, **columns: Any) -> "Results":
        """The rows with each of these columns set to one value.

        Raises:
            RequestError: for a column that does not exist.
        """
        table = self.records
        for name, value in columns.items():
            column = _column(name)
            table = table.set_column(COLUMNS.index(name), column, pa.array([value] * len(self), column.type))
        return Results(table)

    def to_pandas(self) -> "pandas.DataFrame":
        """The rows as a pandas frame, one column a field; ``tags`` stays JSON text."""
        return self.records.to_pandas()

    def table(self) -> "pandas.DataFrame":
        """What a person reads first: scores by target and condition, or else similarities by pair and layer.

        Raises:
            RequestError: when the results are empty, or mix what one table cannot hold.
        """
        make = similarity_table if len(self) and not self.records["measure"].null_count else score_table
        return make(self.to_pandas())

    def plot(self) -> "altair.LayerChart":
        """What a person looks at first: a heat map of what layers cost each target, or else similarity by layer.

        Raises:
            RequestError: when altair is not installed; when the results are empty, or mix what one chart cannot hold.
        """
        make = similarity_chart if len(self) and not self.records["measure"].null_count else score_chart
        return make(self.to_pandas())

    def _repr_html_(self) -> str:
        """The table where there is one, else the first records: what a notebook shows."""
        try:
            return self.table().to_html(float_format="%.2f", na_rep="–")
        except RequestError:
            return self.to_pandas().head(20).to_html()

    def write(self, path: str | Path) -> None:
        """Write to ``.csv``, ``.parquet`` or ``.json`` (records), whole or not at all.

        Raises:
            RequestError: for another ending.
        """
        path = Path(path)
        sink = pa.BufferOutputStream()
        if path.suffix == ".csv":
            pyarrow.csv.write_csv(self.records, sink)
        elif path.suffix == ".parquet":
            pyarrow.parquet.write_table(self.records, sink, write_page_checksum=True)
        elif path.suffix == ".json":
            sink.write(json.dumps(self.records.to_pylist(), ensure_ascii=False, indent=1, allow_nan=False).encode())
        else:
            raise RequestError(f"{path}: results are written as .csv, .parquet or .json", hint="change the ending")
        write_bytes(path, sink.getvalue().to_pybytes())


def read_results(path: str | Path) -> Results:
    """Read what `Results.write` wrote.

    Raises:
        DataError: for a file that is missing, or that holds no records of ours.
    """
    path = Path(path)
    if not path.is_file():
        raise DataError("no such results file", file=str(path))
    try:
        if path.suffix == ".csv":
            options = pyarrow.csv.ConvertOptions(
                column_types=SCHEMA, strings_can_be_null=True, quoted_strings_can_be_null=False
            )
            table = pyarrow.csv.read_csv(path, convert_options=options)
        elif path.suffix == ".parquet":
            table = pyarrow.parquet.read_table(path, page_checksum_verification=True)
        elif path.suffix == ".json":
            table = pa.Table.from_pylist(json.loads(path.read_text("utf-8")), schema=SCHEMA)
        else:
            raise DataError("not a results file", file=str(path), hint="results are .csv, .parquet or .json")
    except (pa.ArrowInvalid, OSError, json.JSONDecodeError, UnicodeDecodeError, AttributeError) as error:
        raise DataError(f"cannot be read as results: {str(error).splitlines()[0]}", file=str(path)) from None
    if table.column_names != list(COLUMNS):
        raise DataError("the columns are not those of results", file=str(path), hint="expected " + ", ".join(COLUMNS))
    return Results(table.cast(SCHEMA))
