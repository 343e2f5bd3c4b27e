import numpy as np
import pytest
from scipy import stats

from crosslens.scores.crossed import crossed, linearised
from crosslens.runs.corpora import Corpora
from crosslens.studies.plan import plan
from crosslens.studies.runner import run_study
from crosslens.runs.store import Store
from crosslens.studies.summary import read_counts, summarise


@pytest.fixture(scope="module")
def done(study, treebanks, tmp_path_factory):
    folder = tmp_path_factory.mktemp("summary")
    report = run_study(study, folder, executor="serial", data=str(treebanks), device="cpu")
    return Store(folder), report.plan.runs


def test_the_counts_of_each_sentence_give_the_score(done):
    store, runs = done
    for run in runs:
        counts = read_counts(store, run.id)
        scores = store.records(run.id).filter(metric="accuracy").to_pandas()
        for name, value in zip(["ud/en_pud:test", "ud/fr_pud:test"], scores["value"], strict=True):
            numerator, denominator = counts[f"{name} accuracy"]
            assert 100 * numerator.sum() / denominator.sum() == value


def test_means_and_differences_are_those_of_the_records(done):
    store, runs = done
    frame = summarise(store, runs)
    assert frame["condition"].tolist() == ["reference", "1-2"] * 2
    records = store.collect([run.id for run in runs], study="s").to_pandas()
    french = records[records["target"] == "fr"]
    by_condition = french.groupby(french["ablation"].fillna("reference"))["value"]
    rows = frame[frame["corpus"] == "ud/fr_pud:test"].set_index("condition")
    for condition in ("reference", "1-2"):
        assert rows.loc[condition, "mean"] == pytest.approx(by_condition.mean()[condition])
        assert rows.loc[condition, "std"] == pytest.approx(by_condition.std(ddof=1)[condition])
        assert rows.loc[condition, "seeds"] == 2
    assert rows.loc["1-2", "delta"] == pytest.approx(by_condition.mean()["1-2"] - by_condition.mean()["reference"])
    assert np.isnan(rows.loc["reference", "delta"])


def test_a_difference_is_tested_on_the_same_seeds_and_sentences(done):
    store, runs = done
    frame = summarise(store, runs)

    def values(layers):
        its = sorted((run for run in runs if run.condition.layers == layers), key=lambda run: run.seed)
        counts = np.stack([read_counts(store, run.id)["ud/fr_pud:test accuracy"] for run in its])
        return linearised(counts[:, 0], counts[:, 1])

    expected = crossed(values("1-2") - values(None))
    row = frame[(frame["corpus"] == "ud/fr_pud:test") & (frame["condition"] == "1-2")].iloc[0]
    assert (row["delta"], row["delta_low"], row["delta_high"], row["p"]) == pytest.approx(
        (expected.mean, expected.low, expected.high, expected.p)
    )
    tested = frame["p"].dropna()
    assert frame["q"].dropna().tolist() == pytest.approx(stats.false_discovery_control(tested).tolist())
    assert (frame["q"].dropna() >= tested).all()


def test_a_study_that_is_half_done_has_a_summary_of_that_half(study, treebanks, done, tmp_path):
    store = Store(tmp_path)
    runs = plan(study, store, corpora=Corpora(str(treebanks))).runs
    assert len(summarise(store, runs)) == 0
    one = runs[0].id
    run_study(study, tmp_path, executor="serial", data=str(treebanks), device="cpu", only=one)
    frame = summarise(store, runs)
    assert frame["condition"].tolist() == ["reference"] * 2
    assert frame["seeds"].tolist() == [1, 1]
    assert frame["std"].isna().all()
    assert frame["q"].isna().all()
    assert not (tmp_path / "studies" / "toy" / "summary.csv").exists()
