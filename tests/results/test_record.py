import json
from pathlib import Path
from types import MappingProxyType

import pandas as pd
import pyarrow.parquet
import pytest

from crosslens.encoders.condition import Condition
from crosslens.errors import DataError, RequestError
from crosslens.results.pivot import CROSS, SAME
from crosslens.results.record import COLUMNS, Record, Results, read_results

RESULTS = sorted((Path(__file__).parents[2] / "docs" / "results").glob("*.parquet"))
VERSION_1 = [file for file in RESULTS if b"crosslens.results" not in (pyarrow.parquet.read_schema(file).metadata or {})]


def score(target, value, layers=None, seed=1, **more):
    condition = Condition(layers=layers).columns if layers else {}
    corpus = more.pop("corpus", f"ud/{target}_pud:test")
    return Record(
        **condition,
        task="pos",
        encoder="e",
        source="en",
        target=target,
        metric="accuracy",
        seed=seed,
        value=value,
        n=10,
        corpus=corpus,
        corpus_digest=corpus,
        **more,
    )


def similarity(pair, layer, value, measure="cka"):
    source, target = pair.split("-")
    return Record(
        encoder="e", source=source, target=target, measure=measure, layer=layer, value=value, metric="similarity"
    )


SCORES = [
    score("en", 96.0),
    score("fr", 90.0),
    score("de", 80.0),
    score("en", 95.0, "1-2"),
    score("fr", 70.0, "1-2"),
    score("de", 66.0, "1-2"),
    score("en", 95.5, "11-12"),
    score("fr", 91.0, "11-12"),
    score("de", 81.0, "11-12"),
]


@pytest.mark.parametrize("ending", ["csv", "parquet", "json"])
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


def test_the_table_has_differences_to_the_reference_and_means_apart():
    table = Results.of(SCORES).table()
    assert list(table.columns) == ["reference", "Δ 1-2", "Δ 11-12"]
    assert list(table.index.get_level_values("target")) == ["en", SAME, "de", "fr", CROSS]
    assert table.loc[(CROSS, "of 2")].tolist() == [85.0, -17.0, 1.0]
    assert table.loc[(SAME, "of 1")].tolist() == [96.0, -1.0, -0.5]


def test_differences_are_taken_within_a_seed():
    uneven = [score("fr", 90.0, seed=1), score("fr", 50.0, seed=2), score("fr", 80.0, "1-2", seed=1)]
    table = Results.of(uneven).table()
    assert table.loc[(CROSS, "of 1")].tolist() == [70.0, -10.0]


def test_a_mean_is_over_all_of_its_languages_or_absent():
    """Over fewer languages it would be another mean (today's 18 against yesterday's 17)."""
    table = Results.of([*SCORES, score("zh", 20.0)]).table()
    assert table.loc[(CROSS, "of 3"), "reference"] == pytest.approx((90 + 80 + 20) / 3)
    assert table.loc[(CROSS, "of 3"), ["Δ 1-2", "Δ 11-12"]].isna().all()
    assert table.loc[(SAME, "of 1"), "Δ 1-2"] == -1.0


def test_a_language_that_nothing_says_is_shown_and_in_no_mean():
    table = Results.of([*SCORES[:3], score(None, 10.0, corpus="mine")]).table()
    assert table.loc[(CROSS, "of 2")].tolist() == [85.0]
    assert table.index[-1] == ("?", "mine")
    nothing = [Record(**{n: getattr(r, n) for n in COLUMNS if n != "source"}) for r in SCORES[:2]]
    assert list(Results.of(nothing).table().index.get_level_values("corpus")) == ["ud/en_pud:test", "ud/fr_pud:test"]


def test_without_a_reference_there_are_values():
    table = Results.of(SCORES[3:6]).table()
    assert list(table.columns) == ["1-2"]
    assert table.loc[(CROSS, "of 2")].tolist() == [68.0]


def test_conditions_go_from_small_to_large_and_from_the_bottom_up():
    table = Results.of([score("fr", 1.0, a) for a in ("1-12", "11-12", "0", "3-4", None, "1-2", "1-2,9")]).table()
    headings = ["reference", "Δ 0", "Δ 1-2", "Δ 3-4", "Δ 11-12", "Δ 1-2,9", "Δ 1-12"]
    assert list(table.columns) == headings


def test_a_table_mixes_nothing():
    other = Record(task="ner", encoder="e", source="en", target="fr", metric="f1", value=1.0, seed=1)
    with pytest.raises(RequestError, match="several tasks: pos, ner"):
        Results.of([*SCORES, other]).table()
    with pytest.raises(RequestError, match="no scores"):
        Results.of([]).table()


def test_similarities_have_layers_across():
    rows = [similarity("en-fr", layer, layer / 10, m) for m in ("cka", "cka_shuffled") for layer in range(3)]
    table = Results.of(rows).table()
    assert list(table.columns) == [0, 1, 2]
    assert table.loc[("en-fr", "cka")].tolist() == [0.0, 0.1, 0.2]


def test_files_that_are_no_results(tmp_path):
    with pytest.raises(DataError, match="no such results file"):
        read_results(tmp_path / "x.csv")
    for name, content in (("a.csv", "a,b\n1,2\n"), ("b.csv", ""), ("c.parquet", "x"), ("d.json", "{"), ("e.txt", "")):
        (tmp_path / name).write_text(content)
        with pytest.raises(DataError):
            read_results(tmp_path / name)
    with pytest.raises(RequestError, match=r"as .csv, .parquet or .json"):
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
    frame["seed"] += 0.5
    frame.to_csv(tmp_path / "half.csv", index=False)
    with pytest.raises(DataError, match="cannot be read as results"):
        read_results(tmp_path / "half.csv")


@pytest.mark.parametrize("file", VERSION_1, ids=lambda file: file.stem)
def test_results_of_version_1_are_read(file, tmp_path):
    """Every number and name of the old file is in the new columns, and written again they are the same."""
    old = pyarrow.parquet.read_table(file).to_pylist()
    results = read_results(file)
    rows = results.records.to_pylist()
    assert len(rows) == len(old) > 200
    for row, before in zip(rows, old, strict=True):
        tags = json.loads(before["tags"])
        same = [name for name in before if name not in ("tags", "ablation", "components", "seed")]
        assert {name: row[name] for name in same} == {name: before[name] for name in same}
        assert row["corpus"] == tags["corpus"]
        assert row["ablation"] == before["ablation"]
        label = tags.get("condition", before["ablation"] or "reference")
        assert Condition.parse(row["condition"]).label == label
        assert row["train"] == tags.get("training_train")
    results.write(tmp_path / "again.parquet")
    assert read_results(tmp_path / "again.parquet").records.equals(results.records)
