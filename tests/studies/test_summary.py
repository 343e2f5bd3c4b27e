from dataclasses import replace
from functools import reduce
from operator import or_

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from crosslens.encoders.condition import Condition
from crosslens.runs.corpora import Corpora
from crosslens.runs.store import Store
from crosslens.scores.intervals import crossed, linearised, mean_sample
from crosslens.studies.plan import plan
from crosslens.studies.run_study import run_study
from crosslens.studies.study import Study
from crosslens.studies.summary import Scores, pooled, summarise, summary_of


@pytest.fixture(scope="module")
def done(study, treebanks, tmp_path_factory):
    folder = tmp_path_factory.mktemp("summary")
    report = run_study(study, folder, executor="serial", data=str(treebanks), device="cpu")
    return Store(folder), report.plan.asked


def test_the_counts_of_each_sentence_give_the_score(done):
    store, asked = done
    compared = 0
    for each in asked:
        counts = store.counts(each.run.id)
        answers = store.answers(each.run.id).filter(metric="accuracy").to_pandas().set_index("question")["value"]
        for question in each.questions:
            numerator, denominator = counts[f"{question.id} accuracy"]
            assert 100 * numerator.sum() / denominator.sum() == answers[question.id]
            compared += 1
    assert compared == 4 * 2


def test_means_and_differences_are_those_of_the_records(done):
    store, asked = done
    frame = summarise(store, asked, study="s")
    assert frame["label"].tolist() == ["reference", "reference", "1-2", "1-2"]
    assert set(frame["study"]) == {"s"}
    records = store.collect("toy").to_pandas()
    french = records[records["target"] == "fr"]
    by_condition = french.groupby(french["ablation"].fillna("reference"))["value"]
    rows = frame[frame["corpus"] == "ud/fr_pud:test"].set_index("label")
    for condition in ("reference", "1-2"):
        assert rows.loc[condition, "mean"] == pytest.approx(by_condition.mean()[condition])
        assert rows.loc[condition, "std"] == pytest.approx(by_condition.std(ddof=1)[condition])
        assert rows.loc[condition, "seeds"] == 2
    assert rows.loc["1-2", "delta"] == pytest.approx(by_condition.mean()["1-2"] - by_condition.mean()["reference"])
    assert np.isnan(rows.loc["reference", "delta"])


def test_a_difference_is_tested_on_the_same_seeds_and_sentences(done):
    store, asked = done
    frame = summarise(store, asked)

    def values(condition):
        runs = sorted((each for each in asked if each.run.condition == condition), key=lambda each: each.run.seed)
        assert len(runs) == 2
        counts = np.stack([store.counts(each.run.id)[f"{each.questions[1].id} accuracy"] for each in runs])
        return linearised(counts[:, 0], counts[:, 1])

    expected = crossed(values(Condition(layers="1-2")) - values(Condition())).estimate()
    row = frame[(frame["corpus"] == "ud/fr_pud:test") & (frame["label"] == "1-2")].iloc[0]
    assert (row["delta"], row["delta_low"], row["delta_high"], row["p"]) == pytest.approx(
        (expected.mean, expected.low, expected.high, expected.p)
    )
    tested = frame["p"].dropna()
    assert frame["q"].dropna().tolist() == pytest.approx(stats.false_discovery_control(tested).tolist())
    assert (frame["q"].dropna() >= tested).all()


def test_a_study_that_is_half_done_has_a_summary_of_that_half(study, treebanks, done, tmp_path):
    store = Store(tmp_path)
    asked = plan(study, store, corpora=Corpora(str(treebanks))).asked
    assert len(summarise(store, asked)) == 0
    one = asked[0].run.id
    run_study(study, tmp_path, executor="serial", data=str(treebanks), device="cpu", only=one)
    frame = summarise(store, asked)
    assert frame["label"].tolist() == ["reference"] * 2
    assert frame["seeds"].tolist() == [1, 1]
    assert frame["std"].isna().all()
    assert frame["q"].isna().all()
    assert not (tmp_path / "studies" / "toy" / "summary.csv").exists()


@pytest.fixture(scope="module")
def wider(study, treebanks, tmp_path_factory):
    """The same on two French corpora, so that there is a mean over them."""
    folder = tmp_path_factory.mktemp("wider")
    dumped = study.model_dump()
    dumped["data"]["tasks"]["pos"]["en"]["tests"] = ["ud/en_pud", "ud/fr_pud", "ud/fr_pud[:4]"]
    dumped["seeds"] = [1, 2, 3]
    report = run_study(Study.model_validate(dumped), folder, executor="serial", data=str(treebanks), device="cpu")
    return Store(folder), report.plan.asked


def test_the_mean_over_targets_is_tested_once_a_condition(wider):
    store, asked = wider
    frame = summarise(store, asked)
    assert frame["corpus"].tolist()[-2:] == ["mean of 2 corpora:test"] * 2
    corpora, means = frame.iloc[:-2], frame.iloc[-2:]
    assert not corpora["corpus"].str.startswith("mean").any()

    def values(condition, question):
        runs = sorted((each for each in asked if each.run.condition == condition), key=lambda each: each.run.seed)
        assert len(runs) == 3
        counts = np.stack([store.counts(each.run.id)[f"{each.questions[question].id} accuracy"] for each in runs])
        return linearised(counts[:, 0], counts[:, 1])

    expected = mean_sample(
        [crossed(values(Condition(layers="1-2"), question) - values(Condition(), question)) for question in (1, 2)]
    ).estimate()
    row = means[means["label"] == "1-2"].iloc[0]
    assert (row["delta"], row["delta_low"], row["delta_high"], row["p"]) == pytest.approx(
        (expected.mean, expected.low, expected.high, expected.p)
    )
    assert row["q"] == row["p"]  # one condition: nothing to correct
    french = corpora[(corpora["label"] == "1-2") & corpora["corpus"].str.startswith("ud/fr")]
    assert len(french) == 2
    assert row["delta"] == pytest.approx(french["delta"].mean())
    tests = corpora["p"].dropna()
    assert len(tests) > 1  # no test where no prediction changes, as happens with some versions of torch
    assert corpora["q"].dropna().tolist() == pytest.approx(stats.false_discovery_control(tests).tolist())


def test_a_mean_leaves_out_the_source_language_whatever_the_source_is_called(wider):
    store, asked = wider
    trainings = [replace(each.run.training, source="news") for each in asked]
    renamed = [
        replace(each, run=replace(each.run, training=training)) for each, training in zip(asked, trainings, strict=True)
    ]
    frame, other = summarise(store, asked), summarise(store, renamed)
    assert set(other["source"]) == {"news"}
    assert other.drop(columns="source").equals(frame.drop(columns="source"))


def test_one_seed_has_an_interval_over_sentences_and_no_test(wider):
    store, asked = wider
    alone = summarise(store, [each for each in asked if each.run.seed == 1])
    assert len(alone) == 8
    assert set(alone["interval"]) == {"sentences"}
    assert alone["p"].isna().all()
    assert alone["q"].isna().all()
    compared = alone[alone["label"] == "1-2"]
    assert compared[["delta", "delta_low", "delta_high"]].notna().all(axis=None)
    assert set(summarise(store, asked)["interval"]) == {"seeds and sentences"}


def test_a_condition_that_shares_one_seed_with_the_reference_is_not_tested(wider):
    store, asked = wider
    lacking = [
        each for each in asked if each.run.seed == 1 or (each.run.condition.is_reference == (each.run.seed == 2))
    ]
    frame = summarise(store, lacking)
    compared = frame[frame["label"] == "1-2"]
    assert len(compared) == 4
    assert (compared["seeds"] == 2).all()
    assert compared["delta"].notna().all()
    assert compared["p"].isna().all()


def test_a_condition_that_lacks_a_corpus_has_no_mean(wider):
    store, asked = wider
    lacking = [
        each if each.run.condition.is_reference else replace(each, questions=each.questions[:2]) for each in asked
    ]
    means = summarise(store, lacking).query("corpus.str.startswith('mean')")
    assert means["label"].tolist() == ["reference"]


def test_a_mean_over_corpora_is_over_the_seeds_that_all_of_them_have():
    """Seeds of some encoders may be unfinished."""
    generator = np.random.default_rng(1)
    first, second = ({seed: generator.normal(50, 10, (1, 9))[0] for seed in seeds} for seeds in ((1, 2, 3), (2, 3, 4)))
    common = [{seed: corpus[seed] for seed in (2, 3)} for corpus in (first, second)]
    assert pooled([first, second]).estimate() == pooled(common).estimate()
    assert pooled([first, {4: second[4]}]) is None


def made(source, target, seed=0):
    """Scores of a reference and a condition on 20 sentences, three seeds each."""
    rng = np.random.default_rng(seed)
    names = ("e", "pos", source, "ud/en_ewt:train", f"ud/{target}_pud:test", None, "accuracy")
    return {
        (names, condition, "last"): Scores(
            {seed: base + rng.normal(0.0, 3.0, 20) for seed in (1, 2, 3)}, {}, "en", target, "test"
        )
        for condition, base in ((Condition(), 80.0), (Condition(layers="1-2"), 70.0))
    }


@pytest.mark.parametrize(("rules", "delta"), [(("best",), -10.0), (("best", "last"), None)])
def test_a_condition_with_a_rule_of_its_own_is_compared_where_the_reference_has_one_only(rules, delta):
    names = ("e", "pos", "en", "ud/en_ewt:train", "ud/fr_pud:test", None, "accuracy")
    own = Condition.read({"layers": "1-2", "recipe": "small"})
    values = {(Condition(), rule): 80.0 + place for place, rule in enumerate(rules)} | {(own, "average"): 70.0}
    scores = {
        (names, *model): Scores({1: np.linspace(value - 1, value + 1, 20)}, {}, "en", "fr", "test")
        for model, value in values.items()
    }
    frame = summary_of([scores], study="s")
    found = frame.set_index("selection")["delta"]["average"]
    assert np.isnan(found) if delta is None else found == pytest.approx(delta)


def test_sources_that_share_their_training_data_have_a_mean_over_all_their_corpora():
    """Its numbers are those of one source with all these corpora; each source has its own mean too."""
    apart = summary_of([made("to-fr", "fr", 1) | made("to-de", "de", 2) | made("to-de", "es", 3)], study="s")
    together = summary_of([made("en", "fr", 1) | made("en", "de", 2) | made("en", "es", 3)], study="s")
    numbers = ["corpus", "condition", "seeds", "mean", "low", "high", "delta", "delta_low", "delta_high", "p"]
    means = apart[apart["corpus"] == "mean of 3 languages:test"]
    assert list(means["source"]) == ["to-fr, to-de"] * 2
    expected = together[together["corpus"] == "mean of 3 languages:test"]
    pd.testing.assert_frame_equal(means[numbers].reset_index(drop=True), expected[numbers].reset_index(drop=True))
    assert list(apart[apart["corpus"] == "mean of 2 languages:test"]["source"]) == ["to-de"] * 2


def test_another_script_of_the_source_language_is_in_no_mean_over_other_languages():
    scores = [made("en", target, seed) for seed, target in enumerate(("en", "en-Cyrl", "de", "fr"))]
    rows = summary_of([reduce(or_, scores)], study="s")
    means = {name for name in rows["corpus"] if name.startswith("mean")}
    assert means == {"mean of 2 source-language corpora:test", "mean of 2 languages:test"}
