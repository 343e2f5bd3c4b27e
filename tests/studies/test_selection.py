"""Studies that search for a recipe, or select weights by several rules."""

import shutil

import pandas as pd
import pytest

from crosslens.encoders.condition import Condition
from crosslens.encoders.load import load_encoder
from crosslens.errors import DataError, RequestError
from crosslens.results.record import read_results
from crosslens.runs.corpora import Corpora
from crosslens.runs.store import Store
from crosslens.similarity.overlap import subword_overlap
from crosslens.studies import paired
from crosslens.studies.plan import plan
from crosslens.studies.run_study import run_study
from crosslens.studies.study import Grid, Source, Study
from toy_studies import results_of, run
from toys import SENTENCES


def test_the_best_of_a_grid_is_used_for_all(study, treebanks, tmp_path):
    grid = Grid(learning_rate=(1e-5, 3e-3), batch=(2, 3))
    report = run(study.model_copy(update={"grid": grid}), tmp_path, treebanks)
    assert report.plan.left == ()
    assert len(report.plan.runs) == 4 + 4 - 1  # the chosen point's run of seed 1 is the reference of seed 1
    store = Store(tmp_path)
    scores = {}
    for identifier in store.ids():
        described = store.describe(identifier)
        if described["identity"]["seed"] == 1 and described["identity"]["condition"] == {}:
            recipe = described["identity"]["recipe"]
            scores[recipe["learning_rate"], recipe.get("batch", 16)] = described["facts"]["dev_score"]
    assert len(scores) == 4
    chosen = {
        (r.run.training.recipe.learning_rate, r.run.training.recipe.batch) for r in report.plan.runs if r.questions
    }
    assert len({each.run.label for each in report.plan.runs}) == len(report.plan.runs)
    assert report.plan.runs[0].run.label == "pos en reference batch=2 learning_rate=1e-05 seed 1"
    (best,) = chosen
    assert scores[best] == max(scores.values())
    assert [note for note in report.plan.notes if "tried" in note] == [
        f"pos en reference seed 1: batch={best[1]}, learning_rate={best[0]} has the best dev score,"
        f" {scores[best]:.2f} (of 4 tried)",
    ]
    assert store.collect(study.name).records["settings"].unique().to_pylist() == [
        f"batch={best[1]} learning_rate={best[0]}"
    ]


def test_every_condition_can_have_a_recipe_of_its_own(study, treebanks, tmp_path):
    each = study.model_copy(update={"grid": Grid(each="condition", epochs=(1, 3))})
    store = Store(tmp_path)
    planned = plan(each, store, corpora=Corpora(str(treebanks)))
    assert (len(planned.left), planned.waiting) == (4, 4)
    report = run(each, tmp_path, treebanks, progress=(updates := []).append)
    assert report.plan.waiting == 0
    assert sum("tried" in note for note in report.plan.notes) == 2
    counted = [str(update) for update in updates if update.stage == "training and evaluating"]
    assert counted[0] == "training and evaluating: 0 of 4 runs (4 more wait for some of them)"
    assert counted[-1] == "training and evaluating: 6 of 6 runs"


def test_a_condition_with_a_recipe_of_its_own_is_trained_on_as_many_sentences(study):
    def limits(**changed):
        asked = study.model_copy(update=changed)
        conditions = [Condition(), Condition(start="bilstm"), Condition.read({"layers": "1", "recipe": "small"})]
        return [asked.recipe_of("pos", condition, default="lab").limit for condition in conditions]

    assert limits(recipe=None, set={}) == [1000, 1000, 1000]  # the default recipe's own
    assert limits(recipe=None, set={"limit": 7}) == [7, 7, 7]
    assert limits(recipe="small", set={}) == [None, None, None]


def test_conditions_with_searched_recipes_are_compared(study, treebanks, tmp_path):
    """Each condition has the settings that suit it, so settings do not keep it apart from the reference."""
    each = study.model_copy(update={"grid": Grid(each="condition", epochs=(1, 2), batch=(2, 3))})
    assert not run(each, tmp_path, treebanks).failed
    results = read_results(tmp_path / "studies" / study.name / "results.csv").filter(task="pos", metric="accuracy")
    assert results.records["settings"].unique().to_pylist() == ["batch=tuned epochs=tuned"]
    assert results.table().columns.tolist() == ["reference", "Δ 1-2"]


def test_scores_of_the_best_two_settings_are_averaged(study, treebanks, tmp_path):
    """Conneau, Wu et al. (2020), section 3.2."""
    grid = Grid(each="condition", best=2, learning_rate=(1e-5, 1e-3, 3e-3))
    report = run(study.model_copy(update={"grid": grid}), tmp_path, treebanks)
    store = Store(tmp_path)
    for condition in study.conditions:
        runs = {each.run.id: each.run for each in report.plan.runs if each.run.condition == condition}
        tried = sorted(
            (run for run in runs.values() if run.seed == grid.seed),
            key=lambda run: -store.describe(run.id)["facts"]["dev_score"],
        )
        assert len(tried) == 3
        best = [run.training.recipe.learning_rate for run in tried[:2]]
        for seed in study.seeds:
            asked = [run for run in runs.values() if run.seed == seed and run.training.recipe.learning_rate in best]
            scores = [store.answers(run.id).filter(metric="accuracy") for run in asked]
            assert [len(part) for part in scores] == [len(scores[0])] * 2
            results = store.collect(study.name).filter(metric="accuracy", seed=seed, condition=condition.text)
            expected = {a.corpus: (a.value + b.value) / 2 for a, b in zip(*scores, strict=True)}
            assert {row.corpus: row.value for row in results} == pytest.approx(expected)
            assert {frozenset(row.run.split()) for row in results} == {frozenset(run.id for run in asked)}
    table = store.collect(study.name).filter(metric="accuracy").table()
    assert table.columns.tolist() == ["reference", "Δ 1-2"]
    summary = pd.read_csv(tmp_path / "studies" / study.name / "summary.csv")
    french = summary[(summary["corpus"] == "ud/fr_pud:test") & (summary["metric"] == "accuracy")].set_index("label")
    found = table.loc[("fr", "ud/fr_pud:test")]
    assert french.loc["reference", "mean"] == pytest.approx(found["reference"])
    assert french.loc["1-2", "delta"] == pytest.approx(found["Δ 1-2"])
    assert french["seeds"].tolist() == [len(study.seeds)] * 2
    tested = paired.test(tmp_path, tmp_path, where_a={"condition": "none"}, where_b={"ablation": "1-2"})
    columns = ["mean", "delta", "delta_low", "delta_high", "p"]
    names = dict(zip(["b", "difference", "low", "high", "p"], columns, strict=True))
    tested = tested[tested["corpus"] == "ud/fr_pud:test"].rename(columns=names)
    assert tested[columns].values.tolist() == [pytest.approx(french.loc["1-2", columns].tolist())]


def test_the_best_settings_are_averaged_apart_under_each_intervention_on_the_trained_model(study, treebanks, tmp_path):
    """Both conditions are evaluated with the same models."""
    noise = Condition.read({"noise": "2.output", "noise_dose": 5})
    changes = {"grid": Grid(best=2, epochs=(1, 2)), "conditions": (Condition(), noise), "seeds": (1,)}
    report = run(study.model_copy(update=changes), tmp_path, treebanks)
    store = Store(tmp_path)
    results = store.collect(study.name).filter(metric="accuracy")
    models = {each.run.id for each in report.plan.asked if each.tuned}
    assert len(models) == 2
    for condition in (Condition(), noise):
        by_corpus = {}
        for model in models:
            for record in store.answers(model).filter(metric="accuracy", condition=condition.text):
                by_corpus.setdefault(record.corpus, []).append(record.value)
        averaged = {record.corpus: record.value for record in results.filter(condition=condition.text)}
        assert averaged == {corpus: pytest.approx(sum(values) / 2) for corpus, values in by_corpus.items()}
        assert len(averaged) == 2


def test_a_mean_waits_for_both_settings(study, treebanks, tmp_path):
    grid = Grid(each="condition", best=2, epochs=(1, 2))
    report = run(study.model_copy(update={"grid": grid}), tmp_path, treebanks)
    store = Store(tmp_path)
    whole = len(store.collect(study.name))
    removed = next(each.run for each in report.plan.asked if each.tuned)
    store.path(removed.id).rename(tmp_path / "elsewhere")
    left = store.collect(study.name)
    assert 0 < len(left) < whole
    of_others = [run for run in left.records["run"].to_pylist() if removed.id not in run]
    assert len(of_others) == len(left)


def test_more_settings_than_are_tried_cannot_be_chosen():
    with pytest.raises(RequestError, match="the best 3 of 2 settings cannot be chosen; list more values"):
        Grid(best=3, epochs=(1, 2))


def test_rules_of_selection_are_an_axis(study, treebanks, tmp_path):
    rules = ("best", "last", "average", {"oracle": "ud/fr_pud:test[:3]"})
    asked = Study.model_validate({**study.model_dump(), "name": "rules", "select": rules, "seeds": [1]})
    report = run_study(asked, tmp_path, executor="serial", data=str(treebanks), device="cpu")
    assert len(report.plan.runs) == 2 * 4
    assert report.plan.runs[3].run.label == "pos en reference oracle ud/fr_pud:test[:3] seed 1"
    results = read_results(tmp_path / "studies" / "rules" / "results.csv").filter(task="pos", metric="accuracy")
    labels = ["best", "last", "average", "oracle ud/fr_pud:test[:3]"]
    named = [f"pos en {condition} {label} seed 1" for condition in ("reference", "1-2") for label in labels]
    assert [each.run.label for each in report.plan.runs] == named
    table = results.table()
    heads = [f"{what}, {label}" for label in labels for what in ("reference", "Δ 1-2")]
    assert table.columns.tolist() == heads
    # Each rule has its own reference, and is the study that names it alone.
    alone = Study.model_validate({**study.model_dump(), "name": "last", "select": "last", "seeds": [1]})
    planned = plan(alone, Store(tmp_path), corpora=Corpora(str(treebanks)))
    assert planned.done == 2
    assert [each.run.label for each in planned.runs] == ["pos en reference seed 1", "pos en 1-2 seed 1"]
    french = results.filter(target="fr").to_pandas()
    rule = french["selection"]
    values = french.set_index([rule, french["ablation"].fillna("")])["value"]
    for label in labels:
        found = table.loc[("fr", "ud/fr_pud:test"), f"Δ 1-2, {label}"]
        assert found == pytest.approx(values[label, "1-2"] - values[label, ""])
    summary = pd.read_csv(tmp_path / "studies" / "rules" / "summary.csv")
    assert summary["selection"].unique().tolist() == ["best", "last", "average", "oracle ud/fr_pud:test[:3]"]


def test_dev_data_of_another_language_are_an_oracle(study, treebanks, tmp_path):
    source = study.data.tasks["pos"]["en"].model_copy(update={"dev": "ud/fr_pud:test"})
    data = study.data.model_copy(update={"tasks": {"pos": {"en": source}}})
    name, corpora = "oracle ud/fr_pud:test", Corpora(str(treebanks))
    for changes, selections in (
        ({"set": {"select": "best"}}, {name}),
        ({"select": ["best", "last"]}, {name, "last"}),
        ({"select": ["last"], "set": {"schedule": "plateau"}}, {f"last, {name}"}),
    ):
        asked = Study.model_validate({**study.model_dump(), "data": data.model_dump(), **changes})
        trainings = [asked.run.training for asked in plan(asked, Store(tmp_path), corpora=corpora).runs]
        assert {training.selection for training in trainings} == selections
        assert all((training.dev is None) == (training.selection == "last") for training in trainings)


def test_an_oracle_of_the_sources_own_language_is_none(study, treebanks, tmp_path):
    asked = Study.model_validate({**study.model_dump(), "select": {"oracle": "ud/en_pud:test"}})
    with pytest.raises(RequestError, match="is in the language of ud/en_toy:train"):
        plan(asked, Store(tmp_path), corpora=Corpora(str(treebanks)))


def test_dev_data_are_needed_only_where_weights_or_the_learning_rate_follow_them(study, treebanks, tmp_path):
    file = shutil.copy(treebanks / "ud" / "UD_EN-toy" / "en_toy-ud-train.conllu", tmp_path / "train.conllu")
    source = Source(train=str(file), tests=("ud/fr_pud",))
    data = study.data.model_copy(update={"tasks": {"pos": {"en": source}}})

    def dev_corpora(**changes):
        asked = Study.model_validate({**study.model_dump(), "data": data, "seeds": [1], **changes})
        planned = plan(asked, Store(tmp_path / "runs"), corpora=Corpora(str(treebanks)))
        return [each.run.training.dev for each in planned.runs]

    assert dev_corpora(select=["last", "average"], set={"select": "best"}) == [None] * 4
    for changes in ({"select": "best"}, {"select": "last", "set": {"schedule": "plateau"}}, {"grid": {"epochs": [1]}}):
        with pytest.raises(DataError, match=r"its dev data must be given too \(name it in the study: `dev: FILE`\)"):
            dev_corpora(**changes)


def test_a_score_to_select_by_that_the_task_lacks_is_refused_by_the_plan(study, treebanks, tmp_path):
    """Not by each run; where no development data are read, nothing is selected."""

    def planned(**changes):
        asked = Study.model_validate({**study.model_dump(), **changes})
        return plan(asked, Store(tmp_path), corpora=Corpora(str(treebanks))).left

    wrong = {"set": {"select": "best", "select_by": "acuracy"}}
    oracle = {"oracle": "ud/fr_pud:test[:3]"}
    for changes, corpus in (({}, "ud/en_toy:dev"), ({"select": oracle}, r"ud/fr_pud:test\[:3\]")):
        with pytest.raises(RequestError, match=rf"pos has no score 'acuracy' on {corpus} \(did you mean 'accuracy'"):
            planned(**wrong, **changes)
    assert len(planned(**wrong, select="last")) == len(planned(set={"select": "best", "select_by": "accuracy"})) == 4


def test_a_plateau_schedule_follows_the_sources_dev_data_under_every_rule(study, treebanks, tmp_path):
    changes = {"conditions": ["none"], "seeds": [1], "set": {**study.set, "schedule": "plateau"}}

    def asked(*rules):
        return Study.model_validate({**study.model_dump(), **changes, "select": rules})

    report = run(asked("best", "last", "average"), tmp_path, treebanks)
    assert report.failed == ()
    assert {each.run.training.dev.name for each in report.plan.runs} == {"ud/en_toy:dev"}
    with pytest.raises(RequestError, match="labels of ud/fr_pud:test would set the learning rate"):
        run(asked({"oracle": "ud/fr_pud:test"}), tmp_path, treebanks)


def test_a_plan_counts_all_runs_before_any_is_finished(study, treebanks, tmp_path):
    """Also those that wait for a search or for the pretraining of their encoder."""
    (tmp_path / "fr.txt").write_text("\n".join(SENTENCES["fr"] * 20), "utf-8")
    source = study.data.tasks["pos"]["en"].model_copy(update={"text": str(tmp_path / "fr.txt")})
    asked = study.model_copy(
        update={
            "conditions": (Condition(), Condition(start="adapted")),
            "data": study.data.model_copy(update={"tasks": {"pos": {"en": source}}}),
            "adaptation": {"epochs": 1, "length": 16},
            "grid": Grid(each="condition", seed=7, epochs=(1, 2)),
        }
    )
    before = plan(asked, Store(tmp_path / "runs"), corpora=Corpora(str(treebanks)))
    report = run(asked, tmp_path / "runs", treebanks)
    assert (report.failed, report.plan.waiting) == ((), 0)
    assert before.waiting > len(asked.seeds) * len(asked.conditions)
    assert len(before.runs) + before.waiting == len(report.plan.runs)


def test_a_searched_value_that_no_recipe_can_have_is_refused(study, treebanks, tmp_path):
    searched = study.model_copy(update={"grid": Grid(batch=(2, 0))})
    with pytest.raises(RequestError, match="batch=0: "):
        plan(searched, Store(tmp_path), corpora=Corpora(str(treebanks)))


def test_overlap_is_counted_with_the_sentences_that_models_are_trained_on(study, treebanks, tmp_path):
    counted = {"overlap": True, "seeds": (1,), "conditions": study.conditions[:1]}
    limited = study.model_copy(update={**counted, "set": {**study.set, "limit": 3}})
    assert not run(limited, tmp_path, treebanks).failed
    whole = plan(study.model_copy(update=counted), Store(tmp_path), corpora=Corpora(str(treebanks)))
    asked = [each.limit for asked in whole.runs for each in asked.questions if each.kind == "overlap"]
    assert set(asked) == {None}
    found = read_results(results_of(tmp_path)).filter(metric="overlap")
    encoder, corpora = load_encoder(study.encoder, device="cpu"), Corpora(str(treebanks))
    train, tests = corpora.corpus("ud/en_toy", split="train"), [corpora.corpus(f"ud/{tag}_pud") for tag in ("en", "fr")]
    alone = subword_overlap(encoder, train=train.limited(3), tests=tests)
    assert found.records["value"].to_pylist() == alone.records["value"].to_pylist()
    assert found.records["settings"].to_pylist() == ["limit=3"] * len(alone)
