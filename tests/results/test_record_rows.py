import pyarrow as pa

from crosslens.results.record_rows import Columns, Rows

TABLE = pa.table({"task": ["pos", None, "pos"], "value": [1.5, None, 2.5], "layer": pa.array([1, None, 3], pa.int64())})


def test_rows_are_those_of_the_table():
    rows = Rows(Columns(TABLE))
    assert list(map(dict, rows)) == TABLE.to_pylist()
    assert list(map(dict, rows[1:])) == TABLE.to_pylist()[1:]
    assert list(rows.tuples("layer", "task")) == [(1, "pos"), (None, None), (3, "pos")]
    assert list(rows.tuples()) == [(), (), ()]
    assert rows[0]["task"] is rows[2]["task"]  # one string for all


def test_a_replaced_column_is_what_rows_show():
    columns = Columns(TABLE)
    columns["task"] = ["a", "b", "c"]
    assert [row["task"] for row in Rows(columns)] == ["a", "b", "c"]


def test_tables_in_parts_and_without_records():
    parts = pa.concat_tables([TABLE.slice(0, 1), TABLE.slice(1)])
    assert list(map(dict, Rows(Columns(parts)))) == TABLE.to_pylist()
    assert len(Rows(Columns(TABLE.slice(0, 0)))) == 0
    assert list(Rows(Columns(TABLE.slice(0, 0))).tuples("task")) == []
