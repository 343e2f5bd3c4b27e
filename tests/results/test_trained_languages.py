"""Scores of models that were trained on several languages: what is zero-shot, and what is not."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from crosslens.data.corpus import trained_languages
from crosslens.report.findings import findings
from crosslens.report.supervision import supervision
from crosslens.report.tables import by_target, domains, layer_deltas
from crosslens.results.pivot import mean_name, parts_of, score_cells
from crosslens.results.record import Record, Results
from crosslens.similarity.transfer_gap import _gaps, correlations
from crosslens.studies.paired import _averaged

SCORES = {"en": 90.0, "wo": 80.0, "fr": 70.0, "de": 60.0, "ru": 50.0, "fi": 40.0}


def score(target, value, **columns):
    usual = {"task": "pos", "encoder": "e", "source": "en+wo", "metric": "accuracy", "n": 100, "state": "fine-tuned"}
    usual |= {"seed": 1, "corpus": f"ud/{target}_x:test", "split": "test", "train": "ud/en_x:train+ud/wo_x:train[:50]"}
    return Record(**{**usual, "target": target, "value": value, **columns})


@pytest.fixture
def results():
    return Results.of([score(target, value) for target, value in SCORES.items()])


def test_the_languages_trained_on_are_no_part_of_the_zero_shot_mean(results):
    same, cross, unknown = parts_of(score_cells(results), "en+wo")
    assert {row[0] for row in same} == {"en", "wo"}
    assert {row[0] for row in cross} == {"fr", "de", "ru", "fi"}
    assert not unknown
    lines = [line.split() for line in str(results).splitlines()]
    assert ["same-language", "mean", "of", "2", "85.00"] in lines  # (90 + 80) / 2
    assert ["cross-language", "mean", "of", "4", "55.00"] in lines  # (70 + 60 + 50 + 40) / 4


def test_tables_have_a_row_for_each_language_trained_on(results):
    (table,) = layer_deltas(results)
    rows = {row.label: row.cells[0].value for group in table.groups.values() for row in group}
    assert rows["en+wo – en"] == 90
    assert rows["en+wo – wo"] == 80
    assert rows["en+wo – x, mean of 4 languages"] == 55
    assert domains(results + Results.of([score("en", 70.0, task="ner", metric="f1")])) == [], "one corpus a language"
    (table,) = by_target(results)
    assert [row.label for group in table.groups.values() for row in group][:2] == ["en+wo – en", "en+wo – wo"]


def test_the_transfer_gap_is_to_the_mean_of_the_languages_trained_on(results):
    overlap = [
        Record(encoder="e", source="en+wo", target=target, metric="similarity", measure="overlap", value=value)
        for target, value in zip(SCORES, (100.0, 100.0, 35.0, 25.0, 30.0, 20.0), strict=True)
    ]
    gap, *_ = correlations(results + Results.of(overlap), measures=("overlap",), outcome="gap")
    assert gap.gaps == {"fr": 15, "de": 25, "ru": 35, "fi": 45}
    assert set(gap.similarities) == set(gap.gaps)


def test_joined_training_data_are_a_column_of_their_own(results):
    """Beside models of each language alone: no score of one is taken for one of the other."""
    english, wolof = ({"source": name, "train": f"ud/{name}_x:train"} for name in ("en", "wo"))
    alone = [score("en", 92.0, **english), score("fr", 65.0, **english), score("wo", 85.0, **wolof)]
    table = supervision(results + Results.of(alone))[0]
    rows = {row.label: [cell.value for cell in row.cells] for group in table.groups.values() for row in group}
    columns = dict(zip(table.head, zip(rows["en"], rows["wo"], rows["fr"], strict=True), strict=True))
    assert columns == {
        "in-language": (92.0, 85.0, None),
        "zero-shot from en": (92.0, None, 65.0),
        "trained on en+wo": (90.0, 80.0, 70.0),
    }


def test_languages_of_training_data():
    assert [trained_languages(tag) for tag in ("en", "en+wo", "zh-Hant+wo", None, "")] == [
        ("en",),
        ("en", "wo"),
        ("zh-Hant", "wo"),
        (),
        (),
    ]


def side(record):
    """One side of a paired test, with one seed."""
    return SimpleNamespace(record=record, by_seed={1: np.ones(1)})


def test_a_test_of_two_results_has_no_language_of_either_in_its_mean(results):
    """One was trained on English and Wolof, the other one on French."""
    pairs = [(side(record), side(replace(record, source="fr"))) for record in results]
    (group,) = _averaged(pairs)
    assert {first.record.target for first, _ in group} == {"de", "ru", "fi"}


def in_scripts(**columns):
    """Scores of models trained on Uyghur: on Uyghur, on the same transliterated, and on other languages."""
    scores = {"ug": 80.0, "ug-Latn": 60.0, "fr": 50.0, "de": 40.0, "ru": 30.0}
    return [score(target, value, source="ug", train="ud/ug_x:train", **columns) for target, value in scores.items()]


def test_another_script_of_the_language_trained_on_is_not_zero_shot():
    table = score_cells(Results.of(in_scripts()))
    same, cross, _ = parts_of(table, "ug")
    assert [row[0] for row in same] == ["ug", "ug-Latn"]
    assert [row[0] for row in cross] == ["fr", "de", "ru"]
    assert mean_name(["ug", "ug-Latn"], "test", source="ug") == "mean of 2 source-language corpora:test"
    gap = _gaps(Results.of(in_scripts()), task="pos", source="ug", outcome="gap")
    assert {target: cell.mean for target, cell in gap.points.items()} == {"fr": 20, "de": 30, "ru": 40}
    pairs = [(side(record), side(record)) for record in in_scripts()]
    means = [{first.record.target for first, _ in group} for group in _averaged(pairs)]
    assert means == [{"ug", "ug-Latn"}, {"fr", "de", "ru"}]


def test_two_scripts_of_a_language_are_one_language_of_a_mean():
    """Uyghur in two scripts and French are three corpora of two languages, in the table, the test and the finding."""
    targets = {"en": 90.0, "ug": 40.0, "ug-Latn": 60.0, "fr": 50.0}
    rows = Results.of(score(target, value, source="en") for target, value in targets.items())
    (table,) = layer_deltas(rows)
    assert [row.label for group in table.groups.values() for row in group][-1] == "en – x, mean of 3 corpora"
    assert mean_name(["ug", "ug-Latn", "fr"], "test", source="en") == "mean of 3 corpora:test"
    worse = rows.with_columns(layers="1-2", ablation="1-2", condition='{"layers": "1-2"}', value=30.0)
    (text,) = findings(rows + worse)
    assert "(mean of 3 corpora of 2 languages" in text


@pytest.mark.parametrize(("source", "same"), [("fa", "pes"), ("no", "nb"), ("zh", "zh-Hant"), ("en+wo", "en-GB")])
def test_a_language_has_several_codes(source, same):
    rows = [score(target, 50.0, source=source) for target in (same, "fr")]
    parts = parts_of(score_cells(Results.of(rows)), source)
    assert [[row[0] for row in part] for part in parts] == [[same], ["fr"], []]


def test_models_of_two_scripts_are_compared_in_the_script_that_each_was_trained_on():
    """A column of in-language scores has one model a row, though the other model reads the same row."""
    latin = [score("ug-Latn", 70.0, source="ug-Latn", train="ud/ug_x:train@uyghur-latin")]
    table = supervision(Results.of([*in_scripts(), *latin]))[0]
    rows = {row.label: [cell.value for cell in row.cells] for group in table.groups.values() for row in group}
    columns = dict(zip(table.head, zip(rows["ug"], rows["ug-Latn"], rows["mean"], strict=True), strict=True))
    assert columns["in-language"] == (80.0, 70.0, 75.0)
    assert columns["zero-shot from ug"] == (80.0, 60.0, 40.0)
