import numpy as np
import pytest
from scipy import stats

from crosslens.encoders.condition import Condition
from crosslens.runs.corpora import Corpora
from crosslens.runs.store import Store
from crosslens.scores.crossed import crossed, linearised
from crosslens.studies.plan import plan
from crosslens.studies.runner import run_study
from crosslens.studies.summary import summarise


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

    expected = crossed(values(Condition(layers="1-2")) - values(Condition()))
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
