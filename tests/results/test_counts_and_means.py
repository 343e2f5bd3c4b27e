"""What records keep when they are selected, joined, averaged and copied."""

import copy
import pickle

import numpy as np
import pytest

from crosslens.results.pivot import main_scores, mean_name
from crosslens.results.record import Record, Results, mean_of_runs, read_results
from crosslens.scores import span_scores
from made_results import SCORES, score, similarity


def test_counts_per_sentence_are_kept_by_whatever_selects_orders_or_joins_records():
    one, other = (
        Results(Results.of(SCORES).records, {(run, None, None, "accuracy"): np.ones((2, 3))}) for run in ("a", "b")
    )
    changed = (
        one[:2],
        one.filter(target="fr"),
        one.where(np.arange(len(one)) < 2),
        one.with_columns(study="s"),
        one.encoded(),
        one.sorted("name"),
        *(part for _, part in one.groups("target")),
    )
    for results in changed:
        assert set(results.counts) == set(one.counts)
    for joined in (one + other, sum([one, other])):
        assert set(joined.counts) == {*one.counts, *other.counts}


@pytest.mark.parametrize("copied", [lambda results: pickle.loads(pickle.dumps(results)), copy.deepcopy, copy.copy])
def test_results_are_copied_with_their_counts_whether_they_were_read_or_shown(tmp_path, copied):
    results = Results.of(SCORES)
    results.write(tmp_path / "results.csv")
    assert copied(results) == copied(read_results(tmp_path / "results.csv")) == results
    counted = Results(results.records, {("a", None, None, "accuracy"): np.ones((2, 3))})
    shown = counted.sorted().to_latex()
    again = copied(counted)
    assert again == counted
    assert again.counts.keys() == counted.counts.keys()
    assert again.sorted().to_latex() == shown


def test_runs_are_averaged_record_by_record_without_intervals():
    runs = [
        Results.of([score("fr", value, low=value - 1, high=value + 1), score("de", 2 * value)])
        for value in (60.0, 70.0, 83.0)
    ]
    mean = mean_of_runs(runs)
    assert mean.records["value"].to_pylist() == [71.0, 142.0]
    assert mean.records["low"].null_count == mean.records["high"].null_count == 2
    assert mean.records["target"].to_pylist() == ["fr", "de"]
    assert mean_of_runs(runs[:1]).records["low"].to_pylist() == [59.0, None]


def test_averaged_runs_may_have_predicted_other_entity_types():
    """Each type has a record of its own, and each run guesses one that the gold data lack."""
    gold = [["B-LOC", "B-PER", "O"], ["B-PER", "O", "O"]]
    guesses = [["B-LOC", "O", "B-AAA"], ["O", "O", "B-ZZZ"], ["B-LOC", "B-PER", "O"]]
    scores = [span_scores(gold, [guess, gold[1]], data="d") for guess in guesses]
    runs = [Results.of(Record(metric=each.metric, value=each.value) for each in of_run) for of_run in scores]
    for chosen in ([0, 1], [1, 0], [0, 2], [2, 1, 0]):
        mean = {record.metric: record.value for record in mean_of_runs([runs[place] for place in chosen])}
        assert set(mean) == {"f1", "precision", "recall", "f1_strict", "f1_LOC", "f1_PER"}
        for metric, value in mean.items():
            of_runs = [each.value for place in chosen for each in scores[place] if each.metric == metric]
            assert value == pytest.approx(np.mean(of_runs))


@pytest.mark.parametrize("ending", ["csv", "parquet", "json", "jsonl"])
def test_what_is_undefined_in_a_run_has_no_mean(tmp_path, ending):
    """Such as the similarity of a layer whose vectors are all equal."""
    defined, undefined = similarity("en-fr", 0, 0.5), similarity("en-fr", 1, None)
    half = similarity("en-fr", 1, 0.25)
    for second in (half, undefined):
        mean = mean_of_runs([Results.of([defined, undefined]), Results.of([defined, second])])
        assert mean.records["value"].to_pylist() == [0.5, None]
        mean.write(tmp_path / f"results.{ending}")
        assert read_results(tmp_path / f"results.{ending}").records.equals(mean.records)


def test_a_mean_is_named_by_languages_only_where_each_has_one_corpus():
    assert mean_name(["fr", "de"], "test") == "mean of 2 languages:test"
    assert mean_name(["fr", "fr", "de"], "test") == "mean of 3 corpora:test"
    assert mean_name(["fr", "de"], None) == "mean of 2 languages"
    both = [mean_name(targets, "test", source="en+wo") for targets in (["en", "en"], ["en", "wo"], ["en", "fr"])]
    assert both == ["mean of 2 source-language corpora:test"] * 2 + ["mean of 2 languages:test"]


def test_only_a_task_with_its_main_metric_loses_the_others():
    rows = [
        Record(task=task, metric=metric, measure=measure, value=70.0)
        for task, metric, measure in (
            ("parsing", "las", None),
            ("parsing", "uas", None),
            ("ner", "f1_strict", None),  # without f1
            ("parsing", "uas", "probe"),
        )
    ]
    main, left_out = main_scores(Results.of(rows))
    assert [(record.task, record.metric, record.measure) for record in main] == [
        ("parsing", "las", None),
        ("ner", "f1_strict", None),
        ("parsing", "uas", "probe"),
    ]
    assert left_out == ["uas"]


def test_the_best_layer_is_over_pairs_with_different_sources():
    values = {"en": (0.9, 0.5, 0.6), "de": (0.1, 0.5, 0.6)}
    rows = [
        similarity(f"{source}-fr", layer, value)
        for source, by_layer in values.items()
        for layer, value in enumerate(by_layer)
    ]
    assert Results.of(rows).best_layer() == 2
