import numpy as np
import pyarrow as pa
import pytest

from crosslens.results.record_rows import Columns, Rows, coded, divided, numbered, paired, together

TABLE = pa.table({"task": ["pos", None, "pos"], "value": [1.5, None, 2.5], "layer": pa.array([1, None, 3], pa.int64())})


def test_rows_are_those_of_the_table():
    rows = Rows(Columns(TABLE))
    assert list(map(dict, rows)) == TABLE.to_pylist()
    assert list(map(dict, rows[1:])) == TABLE.to_pylist()[1:]
    assert dict(rows[-1]) == TABLE.to_pylist()[-1]
    assert rows[0]["task"] is rows[2]["task"]  # one string for all


def test_a_replaced_column_is_what_rows_show():
    columns = Columns(TABLE)
    assert columns["task"] == ["pos", None, "pos"]
    columns.change("task", lambda task: task or "none")
    assert [row["task"] for row in Rows(columns)] == ["pos", "none", "pos"]
    columns.change("task", lambda task: "one")
    assert columns.coded("task").values == ["one"]
    assert columns["task"] == ["one"] * 3


@pytest.mark.parametrize(
    "encode",
    [
        lambda table: table,
        lambda table: pa.table(
            {**dict(zip(table.column_names, table.columns, strict=True)), "task": table["task"].dictionary_encode()}
        ),
    ],
)
def test_tables_in_parts_and_without_records(encode):
    parts = pa.concat_tables([encode(TABLE.slice(0, 1)), encode(TABLE.slice(1)), encode(TABLE.slice(2))])
    assert list(map(dict, Rows(Columns(parts)))) == [*TABLE.to_pylist(), TABLE.to_pylist()[2]]
    for nothing in (encode(TABLE).slice(0, 0), encode(TABLE).schema.empty_table(), pa.concat_tables([parts]).slice(9)):
        assert len(Rows(Columns(nothing))) == 0
        assert list(Rows(Columns(nothing))) == []
        assert Columns(nothing).together("task", "layer").values == []
        assert Columns(nothing).together().values == []


def test_codes_are_numbered_in_the_order_of_first_appearance():
    column = coded(pa.chunked_array([["b", None], ["a", "b"]]))
    assert (column.values, column.codes.tolist(), column.firsts.tolist()) == (["b", None, "a"], [0, 1, 2, 0], [0, 1, 2])
    numbers, firsts = numbered(np.array([7, 2, 7, 5]))
    assert (numbers.tolist(), firsts.tolist()) == ([0, 1, 0, 2], [0, 1, 3])


def test_columns_combined_are_their_distinct_tuples():
    columns = Columns(pa.table({"a": ["x", "y", "x", "x"], "b": [1, 1, 2, 1]}))
    pairs = columns.together("a", "b")
    assert (pairs.values, pairs.codes.tolist(), pairs.firsts.tolist()) == (
        [("x", 1), ("y", 1), ("x", 2)],
        [0, 1, 2, 0],
        [0, 1, 2],
    )
    numbers, firsts = paired(columns.coded("a"), columns.coded("b"))
    assert (numbers.tolist(), firsts.tolist()) == (pairs.codes.tolist(), pairs.firsts.tolist())
    assert together([], size=3).values == [()]
    many = [coded(pa.chunked_array([list(range(1000))]))] * 9  # more combinations than fit an integer
    assert together(many, size=1000).codes.tolist() == list(range(1000))


def test_groups_keep_the_order_of_records():
    table = pa.table({"a": ["x", "y", "x"], "n": [1, 2, 3]})
    assert [part["n"].to_pylist() for part in divided(table, Columns(table).together("a"))] == [[1, 3], [2]]
    assert divided(table, Columns(table).together()) == [table]
    assert divided(table.slice(0, 0), Columns(table.slice(0, 0)).together("a")) == []


def test_a_row_has_as_many_values_as_there_are_columns():
    table = TABLE.slice(1)
    assert [len(row) for row in Rows(Columns(table))] == [table.num_columns] * table.num_rows


def test_no_column_is_lost_where_many_are_combined():
    """Of eight columns of 1,024 values there are 2**80 tuples; two records differ in one column alone."""
    values = list(range(1024))
    for place in range(8):
        columns = [coded(pa.chunked_array([[*values, 7, 8 if column == place else 7]])) for column in range(8)]
        combined = together(columns, size=1026)
        assert combined.codes.tolist() == [*values, 7, 1024]
        assert combined.values[1024] == tuple(8 if column == place else 7 for column in range(8))


def test_groups_of_many_records_keep_their_order():
    table = pa.table({"a": [number * 7 % 3 for number in range(300)], "n": list(range(300))})
    for part in divided(table, Columns(table).together("a")):
        places = part["n"].to_pylist()
        assert len(places) == 100
        assert places == sorted(places)
