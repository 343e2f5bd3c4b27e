"""Records of a table as rows that read their columns when they are asked for one."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

import pyarrow as pa

Row = Mapping[str, Any]
"""A record as plain values, by column."""


class Columns(dict[str, list[Any]]):
    """Column -> its values, converted when first asked for.

    Args:
        table: the columns.
    """

    def __init__(self, table: pa.Table) -> None:
        super().__init__()
        self.table = table

    def __missing__(self, name: str) -> list[Any]:
        column = self.table[name]
        if pa.types.is_string(column.type):  # few different ones: each becomes one Python string
            encoded = column.combine_chunks().dictionary_encode()
            texts = [*encoded.dictionary.to_pylist(), None]
            self[name] = [texts[at] for at in encoded.indices.fill_null(len(texts) - 1).to_pylist()]
        else:
            self[name] = column.to_pylist()
        return self[name]


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
    """The records of a table as rows.

    Args:
        columns: their values.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._rows = [_Row(columns, place) for place in range(columns.table.num_rows)]

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> list[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | Sequence[Row]:
        return self._rows[place]

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def tuples(self, *names: str) -> Iterator[tuple]:
        """Yield the values of some columns, record by record: many times faster than asking every row."""
        return zip(*(self._columns[name] for name in names), strict=True) if names else iter([()] * len(self))
