"""Results of version 1."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from crosslens.encoders.condition import Condition
from crosslens.results.record import SCHEMA, read_results
from crosslens.results.version1 import VERSION_1 as COLUMNS
from crosslens.results.version1 import _partners, condition_of_label, updated


@pytest.mark.parametrize(
    "label",
    [
        "reference",
        "1-2",
        "1-2 attention",
        "reference frozen 0-3",
        "reference features",
        "adapted;1-2",
        "BiLSTM",
        "from scratch",
        "no-anchors",
        "sep-emb-1-3",
        "reference tower on 2",
        "0-12",
        "2 init=torch",
        "1,3 ffn;5-6",
    ],
)
def test_labels_of_version_1_are_read(label):
    assert condition_of_label(label).label == label


RESULTS = sorted((Path(__file__).parents[2] / "docs" / "results").glob("*.parquet"))
VERSION_1 = [file for file in RESULTS if b"crosslens.results" not in (pyarrow.parquet.read_schema(file).metadata or {})]


@pytest.mark.parametrize("file", VERSION_1, ids=lambda file: file.stem)
def test_results_of_version_1_are_read(file, tmp_path):
    """Every number and name of the old file is in the new columns, and written again they are the same."""
    old = pyarrow.parquet.read_table(file).to_pylist()
    results = read_results(file)
    rows = results.records.to_pylist()
    assert len(rows) == len(old) > 200
    layers = sorted((row["encoder"], row["layer"]) for row in old if row["layer"] is not None)
    depths = dict(layers)  # the last one is the deepest
    for row, before in zip(rows, old, strict=True):
        tags = json.loads(before["tags"])
        same = [name for name in before if name not in ("tags", "ablation", "components", "seed")]
        assert {name: row[name] for name in same} == {name: before[name] for name in same}
        assert row["corpus"] == tags["corpus"]
        assert row["ablation"] == before["ablation"]
        label = tags.get("condition", before["ablation"] or "reference")
        assert Condition.parse(row["condition"]).label == label
        assert row["train"] == tags.get("training_train")
        assert row["seed"] == (tags.get("seed") if before["seed"] is None else before["seed"])
        assert row["depth"] == depths.get(row["encoder"])
    results.write(tmp_path / "again.parquet")
    assert read_results(tmp_path / "again.parquet").records.equals(results.records)
    assert read_results(file, encoded=True).records.equals(results.encoded().records)


def test_the_partner_of_a_bilingual_encoder_is_the_other_language_of_its_scores():
    row = {"run": "r", "task": "pos", "encoder": "pretrain:lab", "source": "en"}
    scores = [row | {"target": target} for target in ("en", "fr")]
    similarity = row | {"task": None, "target": "de"}
    alone = row | {"run": "s", "encoder": "e", "target": "fr"}
    assert _partners([*scores, similarity, alone]) == {"r": "fr"}


def rows_of(*rows):
    """Rows of version 1 with the current columns; columns that a row does not name are empty."""
    complete = [{**dict.fromkeys(COLUMNS), "tags": "{}", **row} for row in rows]
    return updated(pa.Table.from_pylist(complete), SCHEMA).to_pylist()


def test_the_depth_of_an_encoder_is_its_highest_layer_in_any_order_of_rows():
    similarity = {"metric": "similarity", "measure": "cka"}
    layers = [("a", 2), ("a", 12), ("b", 6), ("a", 0), ("b", 1)]
    rows = rows_of(*(similarity | {"encoder": encoder, "layer": layer} for encoder, layer in layers))
    assert [row["depth"] for row in rows] == [12, 12, 6, 12, 6]


def test_the_seed_is_a_column_and_else_a_tag():
    score = {"task": "pos", "metric": "accuracy"}
    tagged = score | {"tags": '{"seed": 4}'}
    rows = rows_of(score | {"seed": 3}, tagged, score, tagged | {"seed": 0})
    assert [row["seed"] for row in rows] == [3, 4, None, 0]


def test_fertility_and_length_ratio_are_computed_from_the_counts_in_the_tags():
    counts = {"subwords": 30, "length": 20, "source_length": 16}
    similarity = {"metric": "similarity", "measure": "cka"}
    tagged = [json.dumps({name: counts[name] for name in names}) for names in (counts, ("subwords", "length"), ())]
    rows = rows_of(*(similarity | {"tags": tags} for tags in tagged))
    assert [(row["fertility"], row["length_ratio"]) for row in rows] == [(1.5, 1.25), (1.5, None), (None, None)]


def test_where_no_setting_is_recorded_settings_are_empty():
    """As in current results, so that old and new ones stand in one column."""
    rows = rows_of(
        {"task": "pos", "metric": "accuracy"},
        {"task": "pos", "metric": "accuracy", "tags": '{"differs_from_usual": "select=best"}'},
        {"task": "pos", "metric": "accuracy", "tags": '{"differs_from_usual": "select=best batch=8"}'},
        {"metric": "similarity", "measure": "cka"},
    )
    assert [row["settings"] for row in rows] == [None, None, "batch=8", None]


def test_encoders_are_pretrained_untrained_or_fine_tuned():
    similarity = {"metric": "similarity", "measure": "cka", "encoder": "e", "layer": 2}
    rows = rows_of(
        similarity,
        similarity | {"ablation": "0-2"},
        similarity | {"tags": '{"state": "fine-tuned"}'},
        {"task": "pos", "metric": "accuracy", "encoder": "e", "ablation": "0-2"},
    )
    assert [row["state"] for row in rows] == ["pretrained", "untrained", "fine-tuned", "fine-tuned"]


def test_a_recipe_that_was_not_recorded_is_that_of_the_other_conditions_where_they_have_one():
    def tagged(**tags):
        return {"task": "pos", "metric": "accuracy", "source": "en", "encoder": "e", "tags": json.dumps(tags)}

    score = tagged(differs_from_usual="batch=8", training_selection="last")
    features = tagged(condition="reference features")
    probe = {"metric": "accuracy", "measure": "probe upos", "source": "en", "encoder": "e"}
    rows = rows_of(score, features, features | {"source": "fr"}, probe)
    read = [(row["settings"], row["selection"]) for row in rows]
    assert read == [("batch=8", "last"), ("batch=8", "last"), (None, None), (None, None)]
    two = rows_of(score, tagged(differs_from_usual="batch=4"), features)
    assert [row["settings"] for row in two] == ["batch=8", "batch=4", None]
