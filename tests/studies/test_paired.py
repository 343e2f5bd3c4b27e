"""The paired test of any two results is the test of studies, on the same counts."""

from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np
import pandas as pd
import pytest

from crosslens.encoders.reinit import random_init
from crosslens.errors import DataError, RequestError
from crosslens.results.record import Record, Results, read_results
from crosslens.scores.intervals import crossed, linearised
from crosslens.studies import paired
from crosslens.studies.study import Study
from crosslens.training.evaluate import evaluate
from crosslens.training.finetune import finetune
from toy_studies import results_of, run
from toy_trainings import FAST

SELECTED = {"where_a": {"condition": "none"}, "where_b": {"ablation": "1-2"}}


@pytest.fixture(scope="module")
def wider(study, treebanks, tmp_path_factory):
    """Two seeds of a reference and an ablation, on two English and two French corpora."""
    folder = tmp_path_factory.mktemp("wider")
    dumped = study.model_dump()
    dumped["data"]["tasks"]["pos"]["en"]["tests"] = ["ud/en_pud", "ud/en_pud[:5]", "ud/fr_pud", "ud/fr_pud[:4]"]
    dumped["similarity"] = {"of": ["pretrained"], "measures": ["cka"]}  # which no test reads
    assert not run(Study.model_validate(dumped), folder, treebanks).failed
    return folder


@pytest.fixture(scope="module")
def scored(encoder, toy):
    """Results of a reference and of an ablation, one seed each."""
    encoders = (encoder, random_init(encoder, "1-2"))
    models = [finetune(each, "pos", train=toy(), recipe=FAST) for each in encoders]
    return tuple(evaluate(model, [toy("test"), toy("test")[:5]]) for model in models)


def test_conditions_of_a_store_have_the_differences_of_its_summary(wider):
    table = paired.test(wider, wider, **SELECTED)
    summary = pd.read_csv(wider / "studies" / "toy" / "summary.csv")
    ablated = summary[summary["label"] == "1-2"]
    assert len(table) == len(ablated) == 6
    for ours, theirs in (("b", "mean"), ("difference", "delta"), ("low", "delta_low"), ("high", "delta_high")):
        assert table[ours].tolist() == pytest.approx(ablated[theirs].tolist()), ours
    for column in ("p", "q", "seeds"):
        assert table[column].tolist() == pytest.approx(ablated[column].tolist()), column
    assert table["a"].tolist() == pytest.approx(summary[summary["label"] == "reference"]["mean"].tolist())
    single = ["ud/en_pud:test", "ud/en_pud:test[:5]", "ud/fr_pud:test", "ud/fr_pud:test[:4]"]
    assert table["corpus"].tolist() == [*single, "test", "test"]
    means = ["mean of 2 source-language corpora", "mean of 2 corpora"]
    assert table["target"].tolist() == ["en", "en", "fr", "fr", *means]
    assert table["sentences"].tolist()[-1] == table["sentences"].min()


def test_seeds_are_selected_and_paired(wider):
    first = paired.test(wider, wider, where_a={"condition": "none"}, where_b={"ablation": "1-2", "seed": "1"})
    assert set(first["seeds"]) == {1}
    assert first["p"].isna().all()
    seeds = {"where_a": {"condition": "none", "seed": 2}, "where_b": {"ablation": "1-2", "seed": 1}}
    with pytest.raises(RequestError, match="no seed in common"):
        paired.test(wider, wider, **seeds)


def test_one_seed_has_the_interval_of_its_sentences(scored):
    table = paired.test(*scored)
    arrays = [next(iter(side.counts.values())) for side in scored]
    values = [linearised(counts[:1], counts[1:]) for counts in arrays]
    expected = crossed(values[1] - values[0]).estimate()
    row = table.iloc[0]
    assert (row["difference"], row["low"], row["high"]) == pytest.approx((expected.mean, expected.low, expected.high))
    assert (row["a"], row["b"]) == pytest.approx([side[0].value for side in scored])
    assert np.isnan(row["p"])


def test_the_sides_swapped_and_equal_sides(scored):
    there, back = paired.test(*scored), paired.test(*reversed(scored))
    assert there["difference"].tolist() == pytest.approx((-back["difference"]).tolist())
    assert there["low"].tolist() == pytest.approx((-back["high"]).tolist())
    same = paired.test(scored[0], scored[0])
    assert set(same["difference"]) == set(same["low"]) == {0.0}


def test_counts_follow_the_records_they_belong_to(scored):
    """Through selection and joins; what no longer has its counts is refused, not tested on others."""
    first, second = scored
    joined = first[:1] + first.filter(target="en")[1:]
    assert paired.test(joined, second).equals(paired.test(first, second))
    with pytest.raises(
        DataError, match=r"A has no counts per sentence for accuracy on ud/en_toy:test.*give the folder"
    ):
        paired.test(Results(first.records), second)
    with pytest.raises(DataError, match="B has no counts"):
        paired.test(first, second.with_columns(value=50.0))


def test_the_mean_is_over_languages_that_neither_side_was_trained_on(encoder, toy):
    model = finetune(encoder, "pos", train=toy(), recipe=FAST)
    languages = ("en", "fr", "de", "ru")
    corpora = [
        replace(toy("test")[: 2 + number], language=language, name=language)
        for number, language in enumerate(languages)
    ]
    english = evaluate(model, corpora)
    means = {source: paired.test(english, english.with_columns(source=source)).iloc[-1] for source in ("en", "fr")}
    assert means["en"]["target"] == "mean of 3 languages"
    assert means["fr"]["target"] == "mean of 2 languages"
    assert means["fr"]["a"] == pytest.approx(np.mean(english.filter(target=["de", "ru"]).records["value"].to_pylist()))


def made(rights, *, model):
    """Results of a model: target, split and seed -> how many of the four words of each sentence are right."""
    records, counts = [], {}
    for (target, split, seed), right in rights.items():
        run, digest, fractions = f"{model} {seed}", f"{target} {split}", np.array([right, [4] * len(right)])
        counts[run, "none", digest, "accuracy"] = fractions
        value = 100 * fractions[0].sum() / fractions[1].sum()
        names = {"target": target, "split": split, "corpus": f"{target}:{split}", "corpus_digest": digest}
        scored = {"task": "pos", "metric": "accuracy", "source": "en", "condition": "none", "value": value}
        records.append(Record(run=run, seed=seed, **names, **scored))
    return replace(Results.of(records), counts=counts)


def test_means_are_over_the_corpora_of_one_split():
    rights = {("fr", "test"): [1, 2], ("de", "test"): [3, 4], ("fr", "dev"): [0, 0], ("de", "dev"): [4, 1]}
    sides = [
        made({(*names, 1): [max(0, n - less) for n in right] for names, right in rights.items()}, model=f"m{less}")
        for less in (0, 1)
    ]
    means = paired.test(*sides).set_index("corpus").loc[["test", "dev"]]
    assert means["target"].tolist() == ["mean of 2 languages"] * 2
    assert means["a"].tolist() == pytest.approx([100 * 10 / 16, 100 * 5 / 16])
    assert means["b"].tolist() == pytest.approx([100 * 6 / 16, 100 * 3 / 16])


def test_the_means_are_over_the_seeds_that_both_sides_have():
    """So that their difference is the difference that is tested."""
    first = made({("fr", "test", seed): [seed, 1] for seed in (1, 2, 3)}, model="first")
    second = made({("fr", "test", seed): [seed, 0] for seed in (2, 3, 4)}, model="second")
    (row,) = paired.test(first, second).to_dict("records")
    assert (row["a"], row["b"], row["seeds"]) == (100 * 3.5 / 8, 100 * 2.5 / 8, 2)
    assert row["difference"] == pytest.approx(row["b"] - row["a"])


def test_corpora_without_a_seed_that_all_have_are_compared_one_by_one():
    sides = [
        made({("fr", "test", 1): [right, 2], ("de", "test", 2): [right, 4]}, model=f"m{right}") for right in (1, 3)
    ]
    assert paired.test(*sides)["target"].tolist() == ["fr", "de"]


def test_what_cannot_be_compared(wider, scored, tmp_path):
    with pytest.raises(DataError, match=r"no results.csv or results.parquet in"):
        paired.test(tmp_path, wider)
    with pytest.raises(RequestError, match=r"A has several conditions: reference; 1-2 .*--a condition=none"):
        paired.test(wider, wider)
    both = scored[0] + scored[0].with_columns(task="parsing")
    with pytest.raises(RequestError, match=r"B: .*several tasks: pos, parsing .*another --b, such as task=pos"):
        paired.test(scored[0], both)
    assert len(paired.test(scored[0], both, where_b={"task": "pos"})) == len(paired.test(scored[0], scored[0]))
    with pytest.raises(RequestError, match="A and B have no test corpus and metric in common"):
        paired.test(scored[0], wider, where_b={"condition": "none", "target": "fr"})
    several = scored[0] + scored[0].with_columns(source="fr")
    with pytest.raises(RequestError, match=r"A: .*several sources: en, fr .*another --a, such as source=en"):
        paired.test(several, both)
    with pytest.raises(RequestError, match=r"B selects no scores \(in these results, target is en; task is pos\)"):
        paired.test(scored[0], scored[1], where_b={"target": "zh", "task": "pos"})
    with pytest.raises(RequestError, match=r"A selects no scores \(in these results, condition is none or .*1-2"):
        paired.test(wider, wider, where_a={"condition": "3"})
    with pytest.raises(RequestError, match=r"where_a is 'task=pos', not a mapping \(where_a={\"condition\": \"none\"}"):
        paired.test(scored[0], both, where_a="task=pos")
    with pytest.raises(RequestError, match="where_b is 'task=pos', not a mapping"):
        paired.test(scored[0], both, where_b="task=pos")
    with pytest.raises(RequestError, match="seed=one: is not a whole number"):
        paired.test(wider, wider, where_a={"seed": "one"})
    with pytest.raises(RequestError, match="A selects metric=las, but the metric to test is accuracy"):
        paired.test(wider, wider, where_a={"metric": "las", **SELECTED["where_a"]}, metric="accuracy")
    with pytest.raises(RequestError, match="B selects metric=las, but the metric to test is accuracy"):
        paired.test(wider, wider, where_b={"metric": "las", **SELECTED["where_b"]}, metric="accuracy")
    with pytest.raises(DataError, match="A has no counts per sentence"):
        paired.test(read_results(results_of(wider)), wider, **SELECTED)


def test_a_hint_names_the_columns_in_which_the_models_of_a_side_differ(scored):
    """Whatever it names selects one model."""
    rules = [("best", "epochs=2"), ("last", "epochs=2"), ("last", "batch=2 epochs=2")]
    several = reduce(add, (scored[0].with_columns(selection=rule, settings=words) for rule, words in rules))
    hint = r": reference, best.*; reference, last.*; reference, last.*select one with --b selection=best \(where_b"
    with pytest.raises(RequestError, match=hint):
        paired.test(scored[0], several, where_b={"condition": "none"})
    hint = r"--a settings=epochs=2 \(where_a"
    with pytest.raises(RequestError, match=hint):
        paired.test(several, scored[0], where_a={"selection": "last"})
    chosen = {"selection": "last", "settings": "batch=2 epochs=2"}
    assert set(paired.test(scored[0], several, where_b=chosen)["difference"]) == {0.0}


@pytest.mark.parametrize("value", [0.0, 100.0])
def test_scores_that_are_not_those_of_their_counts_are_refused(scored, value):
    """Above and below."""
    first, second = scored
    assert 0 < second[0].value < 100
    with pytest.raises(DataError, match="B has no counts"):
        paired.test(first, second.with_columns(value=value))


def test_bilingual_encoders_are_compared_with_those_of_their_own_other_language(scored):
    """English scores: with French the sides are equal, with German they are not; the order of records is no matter."""

    def of(results, partner, whole=False):
        chosen = results if whole else results.filter(corpus_digest=scored[0][0].corpus_digest)
        records = chosen.with_columns(partner=partner, run=partner, condition="none")
        return Results(records.records, {(partner, "none", *key[2:]): value for key, value in results.counts.items()})

    first, second = scored
    table = paired.test(of(first, "fr") + of(first, "de"), of(second, "de") + of(first, "fr")).set_index("target")
    assert table.loc["en with fr", "difference"] == 0
    assert table.loc["en with de", "difference"] == pytest.approx(second[0].value - first[0].value) != 0
    whole = [of(*side, whole=True) for side in ((first, "fr"), (first, "de"), (second, "de"), (first, "fr"))]
    means = paired.test(whole[0] + whole[1], whole[2] + whole[3])
    by_partner = means[means["target"] == "mean of 2 source-language corpora"]["difference"].tolist()
    assert by_partner[0] == 0
    assert by_partner[1:] == [pytest.approx(np.mean([r.value for r in second]) - np.mean([r.value for r in first]))]
