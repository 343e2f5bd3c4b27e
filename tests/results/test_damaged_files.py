"""Files of results that hold what no command wrote: one sentence with the file, never a traceback."""

import json
import math

import pyarrow as pa
import pytest

from crosslens.errors import DataError
from crosslens.results.record import Record, Results, read_results

SCORE = Record(task="pos", source="en", target="en", metric="accuracy", value=90.0)


@pytest.mark.parametrize("column", ["value", "low", "fertility"])
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("encoded", [False, True])
def test_numbers_are_finite(tmp_path, column, number, encoded):
    file = tmp_path / "results.parquet"
    records = Results.of([SCORE, SCORE]).records
    numbers = pa.array([1.0, number], pa.float64())
    Results(records.set_column(records.schema.get_field_index(column), column, numbers)).write(file)
    with pytest.raises(DataError, match=rf"results.parquet: record 2: {column} is {number}"):
        read_results(file, encoded=encoded)


@pytest.mark.parametrize("tags", ["[1]", "null", "", "{"])
@pytest.mark.parametrize("encoded", [False, True])
def test_tags_are_objects(tmp_path, tags, encoded):
    file = tmp_path / "results.parquet"
    records = Results.of([SCORE]).records
    place = records.schema.get_field_index("tags")
    Results(records.set_column(place, records.schema.field(place), pa.array([tags], pa.string()))).write(file)
    with pytest.raises(DataError, match=r"results.parquet: the tags .* are not a JSON object"):
        read_results(file, encoded=encoded)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("encoded", [False, True])
def test_columns_may_have_another_order_but_none_is_missing_or_added(tmp_path, ending, encoded):
    results = Results.of([SCORE])
    table = results.records
    file = tmp_path / f"results.{ending}"

    Results(table.select(table.column_names[::-1])).write(file)
    assert read_results(file, encoded=encoded) == (results.encoded() if encoded else results)
    Results(table.append_column("checked by", pa.array(["me"])).drop_columns(["seed", "value"])).write(file)
    with pytest.raises(DataError, match=r"it lacks 'seed', 'value' and it has 'checked by' .*index=False"):
        read_results(file, encoded=encoded)
    Results(pa.table({"a": [1]})).write(file)
    with pytest.raises(DataError, match=r"it lacks 'study', .*'encoder', 'source' and \d+ more and it has 'a' "):
        read_results(file, encoded=encoded)


@pytest.mark.parametrize("text", ['{"a": 1}', "[1, 2]", "[[]]", '[{"value": 1}]', "[" * 100_000, '{"value": 1', "\x00"])
@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_other_json_is_refused(tmp_path, text, ending):
    file = tmp_path / f"results.{ending}"
    file.write_text(text, "utf-8")
    with pytest.raises(DataError, match=f"results.{ending}"):
        read_results(file)


@pytest.mark.parametrize("ending", ["csv", "parquet", "json", "jsonl"])
def test_a_flipped_byte_is_the_same_results_or_refused(tmp_path, ending):
    file = tmp_path / f"results.{ending}"
    Results.of([SCORE] * 3).write(file)
    whole, content = read_results(file), file.read_bytes()
    refused = []
    for place in range(0, len(content), max(1, len(content) // 150)):
        file.write_bytes(content[:place] + bytes([content[place] ^ 0x80]) + content[place + 1 :])
        try:
            read = read_results(file)
        except DataError as error:
            refused.append(str(error))
        else:
            assert ending != "parquet" or read == whole
    assert len(refused) > 50
    assert all(f"results.{ending}" in message for message in refused)


@pytest.mark.parametrize("ending", ["json", "jsonl"])
@pytest.mark.parametrize("place", [0, 1])
def test_every_record_of_a_json_file_has_all_columns_and_no_others(tmp_path, ending, place):
    """What another record has besides would be lost."""
    file, rows = tmp_path / f"results.{ending}", Results.of([SCORE, SCORE]).records.to_pylist()
    for change, words in (({"checked by": "me"}, "it has 'checked by'"), (None, "it lacks 'seed'")):
        record = rows[place] | change if change else {name: rows[place][name] for name in rows[place] if name != "seed"}
        several = [record if each == place else row for each, row in enumerate(rows)]
        lines = "\n".join(map(json.dumps, several)) + "\n"
        file.write_text(lines if ending == "jsonl" else json.dumps(several), "utf-8")
        with pytest.raises(
            DataError, match=rf"results.{ending}: the columns are not those of results: {words} \(a rec"
        ):
            read_results(file)


@pytest.mark.parametrize("encoded", [False, True])
def test_a_record_may_have_no_tags(tmp_path, encoded):
    """As where a file was written by hand, or its cell was emptied."""
    frame = Results.of([SCORE, SCORE]).to_pandas()
    frame.loc[1, "tags"] = None
    frame.to_csv(tmp_path / "results.csv", index=False)
    for results in (Results.from_pandas(frame), read_results(tmp_path / "results.csv", encoded=encoded)):
        assert list(results) == [SCORE, SCORE]
        assert results.tags() == [{}, {}]


@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_a_number_that_json_lacks_is_not_written(tmp_path, ending):
    records = Results.of([SCORE]).records
    place = records.schema.get_field_index("value")
    with pytest.raises(ValueError, match="JSON"):
        Results(records.set_column(place, "value", pa.array([math.nan]))).write(tmp_path / f"results.{ending}")
    assert not list(tmp_path.iterdir())
