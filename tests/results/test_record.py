import copy
import csv
import json
import pickle
import threading
from types import MappingProxyType

import pandas as pd
import pyarrow.parquet
import pytest

from crosslens.errors import DataError, RequestError
from crosslens.results.record import COLUMNS, Record, Results, concatenated, read_results
from made_results import SCORES, score, similarity


@pytest.mark.parametrize("ending", ["csv", "parquet", "json", "jsonl"])
def test_written_and_read_again_absent_stays_absent(tmp_path, ending):
    records = [
        *SCORES,
        score("zh", None),
        Record(metric="a,b", tags={"k": 'q"uote\n', "n": 1}),
        similarity("en-fr", 0, 0.5),
    ]
    results = Results.of(records)
    path = tmp_path / f"results.{ending}"
    results.write(path)
    again = read_results(path)
    assert again.records.equals(results.records)
    assert again.records["task"].to_pylist()[-1] is None


@pytest.mark.parametrize("ending", ["csv", "parquet", "json", "jsonl"])
def test_joined_with_empty_results_they_are_written_once(tmp_path, ending):
    """With the lowest pyarrow too, whose CSV had two headers or a row twice."""
    nothing, results = Results.of([]), Results.of(SCORES)
    assert len(results) > 0
    for number, parts in enumerate(
        ([nothing, results], [results, nothing, results], [results.filter(task="?"), results])
    ):
        path = tmp_path / f"{number}.{ending}"
        concatenated(parts).write(path)
        assert list(read_results(path)) == [record for part in parts for record in part]


@pytest.mark.parametrize("ending", ["csv", "parquet", "json", "jsonl"])
def test_encoded_records_are_the_same_records(tmp_path, ending):
    results = Results.of([*SCORES, score("zh", None), similarity("en-fr", 0, 0.5)])
    encoded = results.encoded()
    assert encoded.records["task"].type != results.records["task"].type
    assert list(encoded) == list(results)
    pd.testing.assert_frame_equal(encoded.to_pandas(), results.to_pandas())
    assert list(encoded.filter(target=["zh", "fr"])) == list(results.filter(target=["zh", "fr"]))
    assert list(encoded.filter(task=None)) == list(results.filter(task=None)) != []
    assert [key for key, _ in encoded.groups("target", "layer")] == [
        key for key, _ in results.groups("target", "layer")
    ]
    for name, each in (("plain", results), ("encoded", encoded)):
        each.write(tmp_path / f"{name}.{ending}")
    assert (tmp_path / f"plain.{ending}").read_bytes() == (tmp_path / f"encoded.{ending}").read_bytes()
    read = read_results(tmp_path / f"plain.{ending}", encoded=True)
    assert read.records.schema == encoded.records.schema
    assert list(read) == list(results)


def test_several_row_groups_are_read_as_one_dictionary(tmp_path):
    rows = Results.of([*SCORES, score("zh", None)] * 50).records.replace_schema_metadata({"crosslens.results": "2"})
    pyarrow.parquet.write_table(rows, tmp_path / "results.parquet", row_group_size=7)
    read = read_results(tmp_path / "results.parquet", encoded=True)
    assert list(read) == list(read_results(tmp_path / "results.parquet"))
    assert len(read) == len(rows)
    assert {read.records[name].num_chunks for name in COLUMNS} == {1}


def test_the_columns_are_the_ones_promised():
    assert COLUMNS == (
        "study",
        "run",
        "task",
        "encoder",
        "source",
        "target",
        "split",
        "measure",
        "layer",
        "ablation",
        "components",
        "seed",
        "metric",
        "value",
        "low",
        "high",
        "n",
        "question",
        "condition",
        "layers",
        "depth",
        "factor",
        "start",
        "state",
        "encoder_digest",
        "partner",
        "corpus",
        "corpus_digest",
        "train",
        "train_digest",
        "translated_from",
        "dev",
        "selection",
        "recipe",
        "settings",
        "length_ratio",
        "fertility",
        "target_layer",
        "signature",
        "tags",
    )


def test_adding_filtering_and_grouping():
    results = Results.of(SCORES[:3]) + Results.of(SCORES[3:])
    assert len(results) == 9
    assert len(results.filter(ablation=None)) == 3
    assert len(results.filter(target=["fr", "de"], ablation="1-2")) == 2
    assert [key for key, _ in results.groups("ablation")] == [(None,), ("1-2",), ("11-12",)]
    with pytest.raises(RequestError, match=r"no column 'targt'.*did you mean 'target'"):
        results.filter(targt="fr")
    with pytest.raises(RequestError, match="seed: the column cannot hold '1'"):
        results.filter(seed="1")
    with pytest.raises(RequestError, match=r"seed: the column cannot hold 1\.5"):
        results.filter(seed=1.5)
    frame = results.to_pandas()
    for several in (frame["seed"].unique(), set(frame["seed"]), range(max(frame["seed"]) + 1)):
        assert len(results.filter(seed=several)) == 9


def test_conditions_are_selected_as_they_are_written_in_a_study():
    texts = ["none", '{"layers": "1-2"}', '{"freeze": "0-3"}']
    results = Results.of([Record(condition=text, value=1.0) for text in texts])
    assert [record.condition for record in results.filter(condition="1-2")] == texts[1:2]
    assert [record.condition for record in results.filter(condition=["none", texts[2]])] == texts[::2]
    assert len(results.filter(condition="3-4")) == len(results.filter(condition="?")) == 0


def test_records_are_copied_and_make_a_data_frame():
    results = Results.of(SCORES)
    assert pickle.loads(pickle.dumps(results[0])) == copy.deepcopy(results[0]) == SCORES[0]
    assert pd.DataFrame(results)["value"].tolist() == [record.value for record in SCORES]


def test_they_are_a_sequence_of_records():
    results = Results.of(SCORES)
    assert Results.of(list(results)).records.equals(results.records)
    assert (results[0], results[-1]) == (SCORES[0], SCORES[-1])
    assert list(results[1:3]) == SCORES[1:3]
    assert list(results[::-4]) == SCORES[::-4]
    assert list(sum([results[:2], results[2:], results[:0]])) == SCORES
    tagged = Record(metric="las", tags={"n": 1})
    assert Results.of([tagged])[0].tags == {"n": 1}
    with pytest.raises(IndexError):
        results[len(SCORES)]
    with pytest.raises(TypeError):
        _ = results + 1


@pytest.mark.parametrize("record", [*SCORES[:4], Record(), Record(condition=None, tags={"n": 1})])
def test_a_record_shows_what_makes_it(record):
    assert eval(repr(record), {"Record": Record}) == record
    assert "None" not in repr(record).replace("condition=None", "")


def test_similarities_have_layers_across():
    rows = [similarity("en-fr", layer, layer / 10, m) for m in ("cka", "cka_shuffled") for layer in range(3)]
    table = Results.of(rows).table()
    assert list(table.columns) == [0, 1, 2]
    assert table.loc[("en-fr", "cka")].tolist() == [0.0, 0.1, 0.2]


def test_a_file_that_is_replaced_meanwhile_is_read_whole(tmp_path):
    """`crosslens status` reads the answers of runs that workers add to."""
    path, short, long = tmp_path / "records.parquet", Results.of(SCORES[:1]), Results.of(SCORES * 20)
    short.write(path)
    stop = threading.Event()

    def replace_it():
        while not stop.is_set():
            long.write(path)
            short.write(path)

    worker = threading.Thread(target=replace_it)
    worker.start()
    try:
        sizes = {len(read_results(path)) for _ in range(100)}
    finally:
        stop.set()
        worker.join()
    assert sizes <= {len(short), len(long)}


def test_files_that_are_no_results(tmp_path):
    with pytest.raises(DataError, match="no such results file"):
        read_results(tmp_path / "x.csv")
    (tmp_path / "pos-1-2").mkdir()
    with pytest.raises(DataError, match=r"did you mean 'pos-1-2'\?"):
        read_results(tmp_path / "pos-1_2")
    for name, content in (
        ("a.csv", "a,b\n1,2\n"),
        ("b.csv", ""),
        ("c.parquet", "x"),
        ("d.json", "{"),
        ("e.txt", ""),
        ("f.jsonl", "{}\n"),
    ):
        (tmp_path / name).write_text(content)
        with pytest.raises(DataError):
            read_results(tmp_path / name)
    with pytest.raises(RequestError, match=r"as .csv, .parquet, .json or .jsonl"):
        Results.of(SCORES).write(tmp_path / "x.xlsx")


def test_tags_are_one_json_object_with_sorted_keys():
    results = Results.of([Record(tags=MappingProxyType({"b": 1, "a": "é"}))])
    assert results.records["tags"].to_pylist() == ['{"a": "é", "b": 1}']
    assert json.loads(results.to_pandas()["tags"][0]) == {"a": "é", "b": 1}


def test_models_of_several_corpora_and_settings_are_not_averaged():
    banks = [
        score("fr", value, ablation, train=f"ud/{bank}:train", selection="best")
        for bank, pair in (("en_ewt", (80.0, 70.0)), ("en_partut", (60.0, 55.0)))
        for ablation, value in zip((None, "1-2"), pair, strict=True)
    ]
    table = Results.of(banks).table()
    row = table.loc[("fr", "ud/fr_pud:test")].to_dict()
    assert row == {
        "reference, ud/en_ewt:train": 80.0,
        "Δ 1-2, ud/en_ewt:train": -10.0,
        "reference, ud/en_partut:train": 60.0,
        "Δ 1-2, ud/en_partut:train": -5.0,
    }
    settings = [score("fr", 80.0), score("fr", 70.0, settings="epochs=1")]
    assert list(Results.of(settings).table().columns) == ["reference", "reference, epochs=1"]


def test_what_pandas_made_of_a_file_is_read(tmp_path):
    """It writes integers as 1.0 where a column lacks some, and its index as a column without a name."""
    results = Results.of([*SCORES, similarity("en-fr", 3, 0.5), Record(metric="a,b", tags={"k": 'q"uote'})])
    results.write(tmp_path / "results.csv")
    frame = pd.read_csv(tmp_path / "results.csv")
    frame.to_csv(tmp_path / "without.csv", index=False)
    frame.to_csv(tmp_path / "with.csv")
    assert "3.0" in (tmp_path / "without.csv").read_text()
    for name in ("without", "with"):
        assert read_results(tmp_path / f"{name}.csv").records.equals(results.records), name
    quoted = pd.read_csv(tmp_path / "results.csv", dtype=str, keep_default_na=False)
    quoted.to_csv(tmp_path / "quoted.csv", index=False, quoting=csv.QUOTE_ALL)
    assert read_results(tmp_path / "quoted.csv").records.equals(results.records)
    frame["seed"] += 0.5
    frame.to_csv(tmp_path / "half.csv", index=False)
    with pytest.raises(DataError, match="cannot be read as results"):
        read_results(tmp_path / "half.csv")


def test_a_language_called_nan_is_no_missing_value(tmp_path):
    """Min Nan Chinese, as pandas writes it."""
    results = Results.of([Record(target="nan", value=20.0), Record(target="null", value=30.0), Record(value=40.0)])
    results.to_pandas().to_csv(tmp_path / "results.csv", index=False)
    assert read_results(tmp_path / "results.csv").records["target"].to_pylist() == ["nan", "null", None]


@pytest.mark.parametrize("ending", ["csv", "parquet", "json", "jsonl"])
def test_no_records_and_line_separators_in_names_come_back(tmp_path, ending):
    for place, results in enumerate((Results.of([]), Results.of([Record(corpus="a\u2028b"), Record(corpus="c")]))):
        path = tmp_path / f"{place}.{ending}"
        results.write(path)
        assert read_results(path).records.equals(results.records)


def test_overlap_beside_similarity_fits_a_table():
    overlap = Record(metric="overlap", measure="overlap_types", encoder="e", source="en", target="fr", value=50.0)
    table = Results.of([*(similarity("en-fr", layer, 0.5) for layer in (0, 1)), overlap]).table()
    assert list(table.columns) == ["value", 0, 1]
