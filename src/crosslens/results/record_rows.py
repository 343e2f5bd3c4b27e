"""Records of a table by column: distinct values and codes, groups of equal records, and rows."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import pyarrow as pa

Row = Mapping[str, Any]
"""A record as plain values, by column."""


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """A column as distinct values and codes, for work on a million records without a loop over them.

    Attributes:
        values: distinct values, in the order of first appearance; None is a value.
        codes: ``(records,)`` place of each record's value in `values`.
        firsts: ``(values,)`` first record of each value.
    """

    values: list[Any]
    codes: np.ndarray
    firsts: np.ndarray

    def changed(self, values: Sequence[Any]) -> "Coded":
        """Replace each distinct value; equal ones become one."""
        places: dict[Any, int] = {}
        codes = np.array([places.setdefault(value, len(places)) for value in values], np.int32)
        _, firsts = numbered(codes)
        return Coded(list(places), codes[self.codes], self.firsts[firsts])

    def of(self, records: np.ndarray) -> "Coded":
        """The values of chosen records only.

        Args:
            records: ``(chosen,)`` their places, ascending.
        """
        codes, firsts = numbered(self.codes[records])
        return Coded([self.values[code] for code in self.codes[records][firsts].tolist()], codes, firsts)

    def to_list(self) -> list[Any]:
        """The value of each record."""
        return [self.values[code] for code in self.codes.tolist()]


def numbered(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number equal codes in the order of first appearance.

    Returns:
        ``(records,)`` numbers from 0, and ``(numbers,)`` the first record of each.
    """
    encoded = pa.array(codes).dictionary_encode()
    numbers = encoded.indices.to_numpy()
    return numbers, _firsts(numbers, len(encoded.dictionary))


def _firsts(numbers: np.ndarray, count: int) -> np.ndarray:
    firsts = np.empty(count, np.int64)
    firsts[numbers[::-1]] = np.arange(len(numbers))[::-1]  # of repeated places the last one stays: the first record
    return firsts


def coded(column: pa.ChunkedArray) -> Coded:
    """Encode a column, which may be dictionary-encoded already."""
    if not pa.types.is_dictionary(column.type):
        encoded = _whole(column.combine_chunks().dictionary_encode("encode"))
        codes = encoded.indices.to_numpy()  # in the order of first appearance
        return Coded(encoded.dictionary.to_pylist(), codes, _firsts(codes, len(encoded.dictionary)))
    encoded = _whole(column.unify_dictionaries().combine_chunks())
    known = len(encoded.dictionary)
    indices = encoded.indices.fill_null(known) if encoded.indices.null_count else encoded.indices
    codes, firsts = numbered(indices.to_numpy())
    places = pa.array([None if place == known else place for place in np.asarray(indices)[firsts].tolist()], pa.int64())
    return Coded(encoded.dictionary.take(places).to_pylist(), codes, firsts)


def _whole(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """One array of a column that has none or several."""
    if isinstance(array, pa.Array):
        return array
    return pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)


def together(columns: Sequence[Coded], *, size: int) -> Coded:
    """Combine columns: the values are tuples of those of the columns.

    Args:
        columns: of the same records; without any, all records have the value ``()``.
        size: number of records.
    """
    codes, firsts, count = np.zeros(size, np.int64), np.arange(min(size, 1)), 1
    for column in columns:
        if count * len(column.values) > 2**62:  # numbers that are combined stay small
            codes, firsts = numbered(codes)
            codes, count = codes.astype(np.int64), len(firsts)
        codes = codes * max(len(column.values), 1) + column.codes
        count *= max(len(column.values), 1)
    if columns:
        codes, firsts = numbered(codes)
    parts = [[column.values[code] for code in column.codes[firsts].tolist()] for column in columns]
    return Coded(list(zip(*parts, strict=True)) if columns else [()] * len(firsts), codes, firsts)


def paired(one: Coded, other: Coded) -> tuple[np.ndarray, np.ndarray]:
    """Number the pairs of values of two columns, as `numbered` does."""
    return numbered(one.codes.astype(np.int64) * max(len(other.values), 1) + other.codes)


def divided(table: pa.Table, groups: Coded) -> list[pa.Table]:
    """Split a table into the records of each value, in their order."""
    codes = groups.codes
    if np.any(codes[1:] < codes[:-1]):
        table = table.take(pa.array(np.argsort(codes, kind="stable")))  # taken once: each group is a slice of it
    sizes = np.bincount(codes, minlength=len(groups.values)).tolist()
    begins = np.cumsum([0, *sizes])[:-1].tolist()
    return [table.slice(begin, size) for begin, size in zip(begins, sizes, strict=True)]


class Columns:
    """Columns of a table, encoded when first asked for."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table
        self._coded: dict[str, Coded] = {}
        self._lists: dict[str, list[Any]] = {}

    def coded(self, name: str) -> Coded:
        """Return a column as distinct values and codes."""
        if name not in self._coded:
            self._coded[name] = coded(self.table[name])
        return self._coded[name]

    def together(self, *names: str) -> Coded:
        """Return several columns as distinct tuples and codes."""
        return together([self.coded(name) for name in names], size=self.table.num_rows)

    def copy(self) -> "Columns":
        """The same columns, of which some can be replaced."""
        other = Columns(self.table)
        other._coded |= self._coded
        return other

    def change(self, name: str, change: Callable[[Any], Any]) -> None:
        """Replace the values of a column."""
        column = self.coded(name)
        self.replace(name, column.changed([change(value) for value in column.values]))

    def replace(self, name: str, column: Coded) -> None:
        """Replace a column."""
        self._coded[name] = column
        self._lists.pop(name, None)

    def __getitem__(self, name: str) -> list[Any]:
        """The value of each record."""
        if name not in self._lists:
            self._lists[name] = self.coded(name).to_list()
        return self._lists[name]


class _Row(Mapping[str, Any]):
    __slots__ = ("_columns", "_place")

    def __init__(self, columns: Columns, place: int) -> None:
        self._columns = columns
        self._place = place

    def __getitem__(self, name: str) -> Any:
        return self._columns[name][self._place]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns.table.column_names)

    def __len__(self) -> int:
        return self._columns.table.num_columns


class Rows(Sequence[Row]):
    """The records of a table as rows, which read a column when they are asked for it."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> list[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | Sequence[Row]:
        places = range(len(self))[place]
        return _Row(self.columns, places) if isinstance(places, int) else [_Row(self.columns, each) for each in places]

    def __iter__(self) -> Iterator[Row]:
        return (_Row(self.columns, place) for place in range(len(self)))

    def __len__(self) -> int:
        return self.columns.table.num_rows

    def changed(self, name: str, change: Callable[[Any], Any]) -> "Rows":
        """The same records with other values in one column."""
        columns = self.columns.copy()
        columns.change(name, change)
        return Rows(columns)
