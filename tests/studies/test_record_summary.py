"""Intervals and tests of records that have no counts per sentence."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from crosslens.encoders.condition import Condition
from crosslens.report.significance import significance_of
from crosslens.report.tables import all_tables
from crosslens.results.record import Record, Results
from crosslens.runs.store import Store
from crosslens.scores.intervals import q_values
from crosslens.studies.record_summary import summarise_records
from crosslens.studies.run_study import run_study
from crosslens.studies.summary import summarise

ABLATED = Condition(layers="1-2")


def record(value, *, half=1.0, **columns):
    usual = {
        "study": "one",
        "task": "pos",
        "metric": "accuracy",
        "encoder": "e",
        "source": "en",
        "target": "fr",
        "train": "ud/en_ewt:train",
        "split": "test",
        "seed": 1,
        "selection": "last",
        "low": value - half,
        "high": value + half,
    }
    columns = {**usual, **columns}
    corpus = f"ud/{columns['target']}_pud:test"
    return Record(value=value, **{"corpus": corpus, **columns})


def of(targets, *, seeds=(1, 2, 3), loss=10.0, partner=False):
    return [
        record(
            80.0 + seed + 3 * place - change * (1 + 0.01 * seed),
            target=target,
            seed=seed,
            partner=target if partner else None,
            **condition.columns,
        )
        for place, target in enumerate(targets)
        for seed in seeds
        for condition, change in ((Condition(), 0.0), (ABLATED, loss))
    ]


def test_the_same_means_as_from_the_counts_and_wider_differences(study, treebanks, tmp_path):
    """Both summaries of a study that was run: paired by sentence, and from its records alone."""
    report = run_study(study, tmp_path / "runs", executor="serial", data=str(treebanks), device="cpu")
    store = Store(tmp_path / "runs")
    counted = summarise(store, report.plan.asked, study="toy")
    ours = summarise_records(store.collect("toy"))
    assert len(ours) == len(counted) > 2
    names = ["study", "task", "source", "corpus", "metric", "condition", "label"]
    order = ["corpus", "condition"]
    counted, ours = (frame.sort_values(order, ignore_index=True) for frame in (counted, ours))
    assert ours[names].equals(counted[names])
    for column in ("mean", "std", "delta"):
        np.testing.assert_allclose(ours[column], counted[column])
    assert ours["seeds"].equals(counted["seeds"])


def test_differences_are_tested_and_corrected_in_two_families():
    frame = summarise_records(Results.of(of(["en", "fr", "de"])))
    single = frame[~frame["corpus"].str.startswith("mean of")]
    mean = frame[frame["corpus"].str.startswith("mean of")]
    assert single["corpus"].nunique() == 3
    assert mean["corpus"].unique().tolist() == ["mean of 2 languages:test"]
    for family in (single, mean):
        np.testing.assert_allclose(family["q"], q_values(family["p"].to_numpy(float)))
    (delta,) = mean["delta"].dropna()
    assert delta == pytest.approx(-10.2)
    assert mean["q"].dropna().item() < 0.05


def test_bilingual_encoders_have_a_mean_over_encoders():
    frame = summarise_records(Results.of(of(["fr", "de"], partner=True)))
    means = frame[frame["corpus"].str.startswith("mean of")]
    assert means["partner"].isna().all()
    assert means["corpus"].unique().tolist() == ["mean of 2 languages:test"]
    assert sorted(frame["partner"].dropna().unique()) == ["de", "fr"]
    one = summarise_records(Results.of(of(["fr"], partner=True)))
    assert not one["corpus"].str.startswith("mean of").any()


def test_two_versions_of_a_corpus_are_two_tests_and_two_parts_of_a_mean():
    """They have one name: as with two names, but for the names."""
    versions = [
        (replace(each, corpus_digest=digest * 64), replace(each, corpus=f"ud/fr_pud:test ({digest * 8})"))
        for digest, loss in (("a", 10.0), ("b", 1.0))
        for each in of(["fr"], loss=loss)
    ]
    of_one_name, of_two = (Results.of([*part, *of(["en", "de"])]) for part in zip(*versions, strict=True))
    frame = summarise_records(of_one_name)
    pd.testing.assert_frame_equal(frame, summarise_records(of_two))
    assert frame["q"].notna().sum() == 4 + 1
    assert frame["corpus"].iloc[-1] == "mean of 3 corpora:test"


def test_seeds_on_two_versions_of_a_corpus_have_no_common_mean():
    by_version = [replace(each, corpus_digest="ab"[each.seed > 2] * 64) for each in of(["fr"], seeds=(1, 2, 3, 4))]
    frame = summarise_records(Results.of(by_version))
    assert frame["seeds"].tolist() == [2, 2, 2, 2]


def test_studies_are_tested_apart():
    several = of(["fr", "de"]) + [
        record(70.0, study="two", target=target, seed=seed) for target in ("fr", "de") for seed in (1, 2)
    ]
    frame = summarise_records(Results.of(several))
    assert frame.groupby("study").size().to_dict() == {"one": 6, "two": 3}
    assert frame[frame["study"] == "two"]["delta"].isna().all()


def test_one_seed_has_an_interval_over_sentences_and_no_test():
    frame = summarise_records(Results.of(of(["fr"], seeds=(1,))))
    (row,) = frame[frame["label"] == "1-2"].to_dict("records")
    assert row["interval"] == "sentences"
    assert row["delta_high"] - row["delta_low"] == pytest.approx(2 * 2**0.5, rel=0.02)
    assert np.isnan(row["p"])


def test_of_several_records_of_one_model_and_corpus_the_first_counts():
    frame = summarise_records(Results.of([record(70.0), record(60.0), record(80.0, seed=2), record(10.0, seed=2)]))
    assert frame["mean"].tolist() == [75.0]


def test_intervals_end_where_scores_end():
    frame = summarise_records(Results.of([record(99.5), record(0.5, target="de"), record(50.0, target="ru")]))
    rows = frame.set_index("corpus")[["low", "high"]]
    assert rows.loc["ud/fr_pud:test"].tolist() == pytest.approx([98.5, 100], abs=0.1)
    assert rows.loc["ud/de_pud:test"].tolist() == pytest.approx([0, 1.5], abs=0.1)
    assert rows["high"].max() == 100
    assert rows["low"].min() == 0


def test_only_main_scores_with_intervals_count():
    without = [record(50.0), record(50.0, target="de", low=None, high=None), record(9.0, metric="loss")]
    similarity = record(0.5, measure="cka", metric="similarity")
    frame = summarise_records(Results.of([*without, similarity]))
    assert frame["corpus"].tolist() == ["ud/fr_pud:test"]
    assert len(summarise_records(Results.of([]))) == 0


@pytest.mark.parametrize("task", [None, "no-such-task"])
def test_records_without_a_known_task_have_no_row(task):
    records = of(["fr", "de"])
    others = [replace(each, task=task) for each in records]
    assert summarise_records(Results.of([*others, *records])).equals(summarise_records(Results.of(records)))


def test_a_corpus_without_a_language_has_a_row_and_is_in_no_mean():
    records = of(["fr", "de"])
    unknown = [replace(each, target=None, corpus="mine.conllu", value=each.value / 2) for each in of(["es"])]
    frame, without = (summarise_records(Results.of(rows)) for rows in ([*records, *unknown], records))
    assert set(frame["corpus"]) - set(without["corpus"]) == {"mine.conllu"}
    means = [each[each["corpus"] == "mean of 2 languages:test"]["mean"].tolist() for each in (frame, without)]
    assert means[0] == means[1] != []


def test_a_condition_is_compared_with_the_reference_of_the_same_rule():
    """Another rule is another model, unless the condition has a recipe, and so perhaps a rule, of its own."""
    own = Condition(layers="1-2", recipe="small")
    conditions = ((Condition(), "last"), (ABLATED, "last"), (ABLATED, "best"), (own, "best"))
    records = [
        record(80.0 + seed - 10 * place, seed=seed, selection=rule, **condition.columns)
        for seed in (1, 2)
        for place, (condition, rule) in enumerate(conditions)
    ]
    frame = summarise_records(Results.of(records))
    deltas = [[row["condition"], row["selection"], row["delta"]] for row in frame.fillna(0).to_dict("records")]
    expected = zip(conditions, (0, -10, 0, -30), strict=True)
    assert deltas == [[condition.text, rule, pytest.approx(delta)] for (condition, rule), delta in expected]


def test_a_condition_that_lacks_one_of_three_corpora_has_no_mean():
    """That of the other two would be a mean of other corpora than the reference's."""
    records = [each for each in of(["fr", "de", "ru"]) if each.target != "ru" or each.condition == "none"]
    frame = summarise_records(Results.of(records))
    means = frame[frame["corpus"].str.startswith("mean of")]
    assert means[["label", "corpus"]].values.tolist() == [["reference", "mean of 3 languages:test"]]


def test_corpora_in_the_source_language_have_a_mean_of_their_own():
    """Two English and two French corpora: two means of two, and tables show the intervals of both."""
    corpora = [("en", "ewt"), ("en", "gum"), ("fr", "gsd"), ("fr", "pud")]
    records = Results.of(
        [replace(each, corpus=f"ud/{target}_{name}:test") for target, name in corpora for each in of([target])]
    )
    frame = summarise_records(records)
    means = frame[frame["corpus"].str.startswith("mean of")]
    assert sorted(set(means["corpus"])) == ["mean of 2 corpora:test", "mean of 2 source-language corpora:test"]
    np.testing.assert_allclose(means["q"], q_values(means["p"].to_numpy(float)))
    (table,) = (table for table in all_tables(records, significance=significance_of(records)) if "deltas" in table.name)
    rows = [row for group in table.groups.values() for row in group]
    assert [row.label for row in rows] == ["en – en, mean of 2 corpora", "en – x, mean of 2 corpora"]
    assert all(cell.interval is not None for row in rows for cell in row.cells)


def test_each_split_has_a_mean_of_its_own():
    tests = of(["fr", "de"])
    devs = [replace(each, value=each.value - 20, corpus=f"{each.corpus[:-5]}:dev", split="dev") for each in tests]
    frame = summarise_records(Results.of([*tests, *devs]))
    means = frame[frame["corpus"].str.startswith("mean of")].set_index(["corpus", "label"])["mean"]
    assert means["mean of 2 languages:test", "reference"] == pytest.approx(83.5)  # 80 + 2 + 1.5
    assert means["mean of 2 languages:dev", "reference"] == pytest.approx(63.5)
    assert len(means) == 2 * 2


def test_settings_have_references_of_their_own_and_share_one_correction():
    rates = {"learning_rate=1e-05": 10.0, "learning_rate=5e-05": 1.0}
    records = {
        settings: [replace(each, settings=settings) for each in of(("fr",), loss=loss)]
        for settings, loss in rates.items()
    }
    frame = summarise_records(Results.of(each for own in records.values() for each in own))
    ablated = frame[frame["label"] == "1-2"].set_index("settings")
    assert ablated.index.tolist() == list(rates)
    for settings, own in records.items():
        alone = summarise_records(Results.of(own)).set_index("label").loc["1-2"]
        for column in ("seeds", "mean", "low", "high", "delta", "delta_low", "delta_high", "p"):
            assert ablated.loc[settings, column] == pytest.approx(alone[column])
    assert ablated["q"].tolist() == pytest.approx(q_values(ablated["p"].to_numpy(float)).tolist())


@pytest.mark.parametrize("column", ["encoder_digest", "train_digest"])
def test_two_encoders_or_training_corpora_of_one_name_are_summarised_apart(column):
    """The second one has a seed more, and no score of the first is among its scores."""
    first = [replace(each, **{column: "a" * 64}) for each in of(["fr", "de"], seeds=(1, 2))]
    second = [
        replace(each, **{column: "b" * 64}, value=each.value / 2, low=each.low / 2, high=each.high / 2)
        for each in of(["fr", "de"])
    ]
    apart = [summarise_records(Results.of(records)) for records in (first, second)]
    together = summarise_records(Results.of([*first, *second]))
    columns = ["corpus", "label", "seeds", "mean", "delta", "p"]
    expected = sorted(map(str, (row for frame in apart for row in frame[columns].values.tolist())))
    assert sorted(map(str, together[columns].values.tolist())) == expected


def test_bilingual_encoders_have_no_mean_over_encoders_in_a_language_that_they_share():
    own = of(["fr", "de"], partner=True)
    shared = [replace(each, target=tag, corpus=f"ud/{tag}_pud:test") for tag in ("en", "zh") for each in own]
    frame = summarise_records(Results.of([*own, *shared]))
    means = frame[frame["corpus"].str.startswith("mean of")]
    assert set(zip(means["corpus"], means["partner"].fillna(""), strict=True)) == {
        ("mean of 2 languages:test", ""),
        ("mean of 2 languages:test", "fr"),
        ("mean of 2 languages:test", "de"),
    }
