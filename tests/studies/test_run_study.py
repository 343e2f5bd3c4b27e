"""Studies that are really run, on six sentences."""

import json
import shutil

import pandas as pd
import pytest
from ruamel.yaml import YAML

import crosslens.runs.answer as answering
from crosslens.encoders.condition import Condition
from crosslens.encoders.reinit import random_init
from crosslens.errors import DataError, EncoderError, RequestError
from crosslens.results.record import read_results
from crosslens.runs.corpora import Corpora
from crosslens.runs.execute import Context, execute
from crosslens.runs.status import status
from crosslens.runs.store import Store
from crosslens.studies.plan import plan
from crosslens.studies.run_study import run_study
from crosslens.studies.study import Data, Selection, Similarity, Source, Study
from crosslens.training.checkpoint import load_model
from crosslens.training.evaluate import evaluate
from crosslens.training.finetune import finetune
from crosslens.training.recipe import find_recipe
from toy_studies import results_of, run


def test_a_run_is_the_fine_tuning_that_it_says(study, treebanks, uninterrupted, encoder, toy):
    frame = read_results(results_of(uninterrupted)).filter(metric="accuracy").to_pandas()
    recipe = find_recipe("small", "pos", {"batch": 2, "epochs": 2})
    for layers in (None, "1-2"):
        ablated = random_init(encoder, layers, seed=2) if layers else encoder
        model = finetune(ablated, "pos", train=toy("train"), recipe=recipe, seed=2)
        tests = [Corpora(str(treebanks)).corpus(name) for name in ("ud/en_pud", "ud/fr_pud")]
        alone = evaluate(model, tests).filter(metric="accuracy").to_pandas()
        rows = frame[
            (frame["seed"] == 2) & (frame["ablation"].isna() if layers is None else frame["ablation"] == "1-2")
        ]
        assert rows["value"].tolist() == alone["value"].tolist()
        assert rows["target"].tolist() == alone["target"].tolist() == ["en", "fr"]
    assert set(frame["study"]) == {"toy"}
    assert frame["run"].nunique() == 4


def test_a_study_may_be_its_file(study, treebanks, uninterrupted, tmp_path):
    YAML().dump(study.model_dump(mode="json", exclude_defaults=True), tmp_path / "toy.yaml")
    report = run(tmp_path / "toy.yaml", uninterrupted, treebanks)
    assert (report.plan.study.name, report.plan.done) == ("toy", 4)


def test_a_second_time_nothing_is_done(study, treebanks, uninterrupted):
    before = {path: path.stat().st_mtime_ns for path in (uninterrupted / "runs").glob("*/*")}
    ended = []
    report = run(study, uninterrupted, treebanks, ended=ended.append)
    assert ended == []
    assert report.plan.done == 4
    assert {path: path.stat().st_mtime_ns for path in (uninterrupted / "runs").glob("*/*")} == before


def test_a_seed_more_is_only_that_seed_and_another_study_shares_the_rest(study, treebanks, tmp_path):
    run(study, tmp_path, treebanks)
    ended = []
    more = study.model_copy(update={"name": "more", "seeds": (1, 2, 3)})
    run(more, tmp_path, treebanks, ended=ended.append)
    assert sorted(outcome.label for outcome in ended) == ["pos en 1-2 seed 3", "pos en reference seed 3"]
    assert len(read_results(results_of(tmp_path, "more"))) == 6 * len(read_results(results_of(tmp_path))) // 4
    assert {row.study: (row.runs, row.done) for row in status(Store(tmp_path))} == {"toy": (4, 4), "more": (6, 6)}


def test_the_status_tells_that_a_study_runs_and_which_models_it_lacks(study, treebanks, tmp_path):
    store, during = Store(tmp_path), []
    keeping = study.model_copy(update={"keep": ("models",), "seeds": (1,)})
    run(keeping, tmp_path, treebanks, ended=lambda outcome: during.append(status(store)[0].active))
    assert during == [True, True]
    (after,) = status(store)
    assert (after.runs, after.done, after.active) == (2, 2, False)
    shutil.rmtree(store.model(store.ids()[0]))
    assert status(store)[0].done == 1


@pytest.mark.parametrize("keep", [(), ("models",)])
def test_a_target_more_is_evaluated_and_the_old_records_stay(study, treebanks, tmp_path, uninterrupted, keep):
    source = study.data.tasks["pos"]["en"]
    fewer = Data(tasks={"pos": {"en": source.model_copy(update={"tests": ("ud/en_pud",)})}})
    small = study.model_copy(update={"data": fewer, "keep": keep})
    run(small, tmp_path, treebanks)
    ended = []
    run(study.model_copy(update={"keep": keep}), tmp_path, treebanks, ended=ended.append)
    assert [outcome.state for outcome in ended] == ["done"] * 4
    log = [(tmp_path / "runs" / outcome.run / "log.txt").read_text() for outcome in ended]
    assert all("evaluated ud/en_pud:test" in text for text in log)
    both = read_results(results_of(tmp_path)).to_pandas().drop(columns="tags")
    whole = read_results(results_of(uninterrupted)).to_pandas().drop(columns="tags")
    assert both.equals(whole)


@pytest.mark.parametrize("more", [(), ("ud/fr_pud",)])
def test_models_that_are_to_be_kept_later_are_made(study, treebanks, tmp_path, more):
    source = study.data.tasks["pos"]["en"]

    def one(tests, keep):
        data = Data(tasks={"pos": {"en": source.model_copy(update={"tests": tests})}})
        changes = {"seeds": (1,), "conditions": study.conditions[:1], "data": data, "keep": keep}
        return study.model_copy(update=changes)

    run(one(("ud/en_pud",), ()), tmp_path, treebanks)
    asked = one(("ud/en_pud", *more), ("models",))
    report = run(asked, tmp_path, treebanks)
    assert (report.failed, report.plan.left) == ((), ())
    (identifier,) = Store(tmp_path).ids()
    kept = load_model(Store(tmp_path).path(identifier) / "model", device="cpu")
    assert kept.facts["weights"] == Store(tmp_path).describe(identifier)["facts"]["weights"]
    assert run(asked, tmp_path, treebanks).plan.left == ()


def test_a_model_that_is_trained_again_must_be_the_one_it_was(study, treebanks, tmp_path):
    """Another machine or version of torch may give other weights: then nothing is added to what is there."""
    source = study.data.tasks["pos"]["en"]
    fewer = Data(tasks={"pos": {"en": source.model_copy(update={"tests": ("ud/en_pud",)})}})
    one = study.model_copy(update={"seeds": (1,), "conditions": study.conditions[:1]})
    run(one.model_copy(update={"data": fewer}), tmp_path, treebanks)
    store = Store(tmp_path)
    (identifier,) = store.ids()
    before = store.answers(identifier).records
    described = tmp_path / "runs" / identifier / "run.json"
    weights = json.loads(described.read_text())["facts"]["weights"]
    described.write_text(described.read_text().replace(weights, "0" * 64))
    report = run(one, tmp_path, treebanks)
    (failure,) = report.failed
    assert f"has different weights ({weights[:8]} instead of 00000000)" in failure.tail
    assert store.answers(identifier).records.equals(before)
    assert not store.state(identifier).exists()
    described.write_text(described.read_text().replace("0" * 64, weights))
    assert not run(one, tmp_path, treebanks).failed
    assert len(store.answers(identifier)) == 2 * before.num_rows


def broken(study):
    conditions = (Condition(), Condition(layers="1", components="embeddings"), Condition(layers="1-2"))
    return study.model_copy(update={"conditions": conditions, "seeds": (1,)})


@pytest.mark.parametrize("executor", ["serial", pytest.param("processes", marks=pytest.mark.slow)])
def test_a_run_that_fails_stops_no_other_and_is_kept_aside(study, treebanks, tmp_path, executor):
    report = run(broken(study), tmp_path, treebanks, executor=executor)
    (failure,) = report.failed
    assert failure.label == "pos en 1 embeddings seed 1"
    assert "layers 1 of this bert encoder have no embeddings" in failure.tail
    assert (report.plan.done, report.stopped) == (2, False)
    assert not results_of(tmp_path).exists()  # it would not be the study's
    kept = tmp_path / "failed" / failure.run
    assert "have no embeddings" in (kept / "log.txt").read_text()
    assert json.loads((kept / "run.json").read_text())["identity"]["condition"]["components"] == "embeddings"
    (row,) = status(Store(tmp_path))
    assert (row.done, row.failed, row.running) == (2, 1, 0)
    again = run(broken(study), tmp_path, treebanks, executor=executor, only=failure.run)
    assert [outcome.run for outcome in again.failed] == [failure.run]


def test_a_request_for_an_unknown_run_leaves_the_plan_as_it_is(study, treebanks, tmp_path):
    small = study.model_copy(update={"seeds": (1,), "conditions": study.conditions[:1]})
    run(small, tmp_path, treebanks)
    before = Store(tmp_path).planned("toy")
    with pytest.raises(RequestError, match="toy has no run nonsense"):
        run(study, tmp_path, treebanks, only="nonsense")
    assert Store(tmp_path).planned("toy") == before


def test_progress_says_how_a_run_ended(study, treebanks, tmp_path):
    small = study.model_copy(update={"seeds": (1,), "conditions": study.conditions[:1]})
    (asked,) = plan(small, Store(tmp_path), corpora=Corpora(str(treebanks))).runs

    def notes(study=small):
        updates = []
        run(study, tmp_path, treebanks, progress=updates.append)
        return [update.note for update in updates if asked.run.label in update.note]

    with Store(tmp_path).claim(asked.run.id) as claimed:
        assert claimed
        assert notes() == [f"another process works on {asked.run.label}"]
    *steps, end = notes()
    assert end == f"finished {asked.run.label}"
    assert steps[1].startswith(f"{asked.run.label}, fine-tuning: 1 of 6 steps, loss "), steps
    run(broken(study), tmp_path, treebanks, progress=(updates := []).append)
    assert "failed: pos en 1 embeddings seed 1" in [update.note for update in updates]
    first = next(str(update) for update in updates if update.stage == "training and evaluating")
    assert first.startswith("training and evaluating: 1 of 3 runs")  # before another ends


def test_a_run_that_succeeds_later_is_no_failure_any_more(study, treebanks, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(answering, "evaluate_variants", lambda *_, **__: 1 / 0)
        report = run(study, tmp_path, treebanks)
    assert len(report.failed) == 4
    assert "ZeroDivisionError" in report.failed[0].tail
    report = run(study, tmp_path, treebanks)
    assert not report.failed
    assert list((tmp_path / "failed").iterdir()) == []


def test_data_that_change_under_a_study_are_noticed(study, treebanks, tmp_path):
    store = Store(tmp_path)
    (first, *_) = plan(study, store, corpora=Corpora(str(treebanks))).left
    changed = tmp_path / "changed"
    text = (treebanks / "ud" / "UD_EN-toy" / "en_toy-ud-train.conllu").read_text("utf-8")
    (changed / "ud" / "UD_EN-toy").mkdir(parents=True)
    (changed / "ud" / "UD_EN-toy" / "en_toy-ud-train.conllu").write_text(text.replace("dog", "cow"), "utf-8")
    outcome = execute(first, Context(str(tmp_path), str(changed), "cpu"))
    assert outcome.state == "failed"
    assert "ud/en_toy:train has changed since the study was planned" in outcome.tail


def test_a_corpus_that_is_edited_between_two_runs_of_a_study_is_read_again(study, treebanks, tmp_path):
    data = shutil.copytree(treebanks, tmp_path / "data")
    asked = Similarity(of=("pretrained",), measures=("cka",))
    small = study.model_copy(update={"seeds": (1,), "conditions": study.conditions[:1], "similarity": asked})
    for word in ("petit", "grand"):
        for corpus in (data / "ud" / "UD_FR-pud").glob("*.conllu"):
            corpus.write_text(corpus.read_text("utf-8").replace("petit", word), "utf-8")
        report = run(small, tmp_path / "store", data)
        assert report.failed == ()
        assert not report.plan.left


def test_an_encoder_that_is_cut_short_is_told_before_anything_runs(study, treebanks, tmp_path, tiny_bert):
    cut = tmp_path / "cut"
    shutil.copytree(tiny_bert, cut)
    weights = cut / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:5000])
    with pytest.raises(EncoderError, match="cut"):
        run(study.model_copy(update={"encoder": str(cut)}), tmp_path / "store", treebanks)


def test_similarity_before_and_after_training(study, treebanks, tmp_path):
    asked = Similarity(of=("pretrained", "untrained", "fine-tuned"), measures=("cka",))
    both = study.model_copy(update={"similarity": asked, "seeds": (1,)})
    run(both, tmp_path, treebanks)
    frame = read_results(results_of(tmp_path)).filter(metric="similarity").to_pandas()
    found = {
        (task, layers) for task, layers in zip(frame["task"].fillna(""), frame["ablation"].fillna(""), strict=True)
    }
    assert found == {("", ""), ("", "0-4"), ("pos", ""), ("pos", "1-2")}
    assert len(frame) == 4 * 5
    assert frame["value"].nunique() == 20


def test_what_is_named_twice_is_answered_once(study, treebanks, tmp_path):
    source = study.data.tasks["pos"]["en"].model_copy(update={"tests": ("ud/en_pud", "ud/en_pud:test", "ud/*_pud")})
    data = study.data.model_copy(update={"tasks": {"pos": {"en": source, "english": source}}})
    looks = Similarity(of=("pretrained", "pretrained"), measures=("cka", "cka"))
    twice = study.model_copy(update={"data": data, "similarity": looks, "seeds": (1,)})
    run(twice, tmp_path, treebanks)
    records = read_results(results_of(tmp_path))
    assert len(records) == 2 * 2 + 5  # conditions and corpora, and layers
    assert len(records.to_pandas().drop_duplicates()) == len(records)


def test_what_the_data_do_not_have_is_told_before_anything_runs(study, treebanks, tmp_path):
    for change, words in (
        ({"tasks": ("ner",)}, "toy: its data has no task 'ner'"),
        ({"sources": ("de",)}, "toy: its data has no source 'de'"),
        ({"conditions": (Condition(layers="5"),)}, "layer 5 does not exist"),
        ({"encoder": "lab:god"}, "unknown preset 'god'"),
    ):
        with pytest.raises(RequestError, match=words):
            run(study.model_copy(update=change), tmp_path, treebanks)
    missing = Data(tasks={"pos": {"en": Source(train="ud/en_toy", tests=("ud/xx_pud",))}})
    with pytest.raises(RequestError, match="corpus 'ud/xx_pud' not found"):
        run(study.model_copy(update={"data": missing}), tmp_path, treebanks)
    plain = tmp_path.with_suffix(".txt")
    plain.write_text("the cat sees a small dog .\n", "utf-8")
    for role, value in (("train", str(plain)), ("dev", str(plain)), ("tests", ["ud/fr_pud", str(plain)])):
        source = Source(**{"train": "ud/en_toy", "dev": "ud/en_toy:dev", "tests": ("ud/en_pud",), role: value})
        unlabelled = {"data": Data(tasks={"pos": {"en": source}}), "select": (Selection(rule="best"),)}
        with pytest.raises(DataError, match=r"\.txt has no UPOS tags"):
            run(study.model_copy(update=unlabelled), tmp_path, treebanks)
    assert Store(tmp_path).ids() == []


def test_frozen_layers_and_parts_have_columns_of_their_own(study, treebanks, tmp_path):
    conditions = ["none", {"freeze": "0-2"}, {"layers": "1-2", "components": "attention"}, "1-2"]
    asked = Study.model_validate({**study.model_dump(), "conditions": conditions, "seeds": [1]})
    run_study(asked, tmp_path, executor="serial", data=str(treebanks), device="cpu")
    results = read_results(tmp_path / "studies" / "toy" / "results.csv").filter(metric="accuracy")
    heads = ["reference", "Δ 1-2", "Δ 1-2 attention", "Δ frozen 0-2"]
    assert sorted(results.table().columns) == sorted(heads)
    summary = pd.read_csv(tmp_path / "studies" / "toy" / "summary.csv")
    assert summary["condition"].nunique() == 4
