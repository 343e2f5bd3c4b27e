"""Studies that are really run: on six sentences, by every executor, with kills at random moments."""

import json
import multiprocessing
import os
import random
import shutil
import signal
import sys
import time

import pandas as pd
import pytest

import crosslens.runs.answer as answering
from crosslens.encoders.condition import Condition
from crosslens.encoders.reinit import random_init
from crosslens.errors import EncoderError, RequestError
from crosslens.results.record import read_results
from crosslens.runs.corpora import Corpora
from crosslens.runs.execute import Context, execute
from crosslens.runs.executors import EXECUTORS, find_executor
from crosslens.runs.status import status
from crosslens.runs.store import Store
from crosslens.studies.plan import plan
from crosslens.studies.run_study import run_study
from crosslens.studies.study import Data, Grid, Similarity, Source, Study
from crosslens.training.evaluate import evaluate
from crosslens.training.finetune import finetune
from crosslens.training.recipe import find_recipe


def results_of(folder, study="toy"):
    return folder / "studies" / study / "results.csv"


def run(study, folder, treebanks, **more):
    return run_study(study, folder, **{"executor": "serial", "data": str(treebanks), "device": "cpu", **more})


@pytest.fixture(scope="module")
def uninterrupted(study, treebanks, tmp_path_factory):
    """The study's results, as one process made them without a break."""
    folder = tmp_path_factory.mktemp("whole")
    report = run(study, folder, treebanks)
    assert not report.failed
    assert report.plan.done == 4
    return folder


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
    assert f"gave other weights than before ({weights[:8]} and not 00000000)" in failure.tail
    assert store.answers(identifier).records.equals(before)
    assert not store.state(identifier).exists()
    described.write_text(described.read_text().replace("0" * 64, weights))
    assert not run(one, tmp_path, treebanks).failed
    assert len(store.answers(identifier)) == 2 * before.num_rows


@pytest.mark.parametrize("name", ["processes", "slurm", pytest.param("ray", marks=pytest.mark.ray), "backwards"])
def test_every_executor_gives_the_same_bytes(study, treebanks, tmp_path, uninterrupted, name, plugins):
    if name == "ray":
        pytest.importorskip("ray").shutdown()
    report = run(study, tmp_path, treebanks, executor=name, workers=2)
    assert not report.failed
    assert results_of(tmp_path).read_bytes() == results_of(uninterrupted).read_bytes()
    if name == "ray":
        __import__("ray").shutdown()


def test_every_executor_is_tested():
    assert set(EXECUTORS.built_in) == {"serial", "processes", "slurm", "ray"}


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("proceses", None, "did you mean 'processes'"),
        ("serial", {"a": "b"}, "serial takes no options, but got a"),
        ("processes", {"a": "b"}, "processes takes no options"),
    ],
)
def test_an_executor_that_there_is_not(name, options, words):
    with pytest.raises(RequestError, match=words):
        find_executor(name, options=options)


@pytest.mark.parametrize(("name", "package"), [("ray", "ray"), ("slurm", "submitit")])
def test_a_missing_package_is_named_with_its_command(monkeypatch, name, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(RequestError, match=rf"needs {package} \(pip install 'crosslens\[{name}\]'\)"):
        find_executor(name)


@pytest.mark.ray
@pytest.mark.timeout(600)
def test_a_worker_and_a_node_that_die_do_not_stop_a_study(study, treebanks, tmp_path):
    """A real cluster of two nodes; one worker is killed with -9, then one node goes, in the middle of runs."""
    ray = pytest.importorskip("ray")
    import psutil
    from ray.cluster_utils import Cluster

    ray.shutdown()
    # Before the cluster: a fork of a process that ray has its threads in would not do.
    long = study.model_copy(update={"seeds": tuple(range(1, 7)), "set": {"batch": 1, "epochs": 30}})
    run(long, tmp_path / "whole", treebanks)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        second = cluster.add_node(num_cpus=1)
        ray.init(address=cluster.address, log_to_driver=False)
        ended = []

        def after(outcome):
            ended.append(outcome)
            if len(ended) == 1:
                busy = [
                    p for p in psutil.process_iter(["cmdline"]) if "ray::execute" in " ".join(p.info["cmdline"] or [])
                ]
                assert busy
                busy[0].kill()
            if len(ended) == 3:
                cluster.remove_node(second, allow_graceful=False)

        report = run(long, tmp_path / "ray", treebanks, executor="ray", ended=after)
    finally:
        ray.shutdown()
        cluster.shutdown()
    assert [outcome.state for outcome in ended] == ["done"] * 12
    assert not report.failed
    assert results_of(tmp_path / "ray").read_bytes() == results_of(tmp_path / "whole").read_bytes()


def broken(study):
    conditions = (Condition(), Condition(layers="1", components="embeddings"), Condition(layers="1-2"))
    return study.model_copy(update={"conditions": conditions, "seeds": (1,)})


@pytest.mark.parametrize("executor", ["serial", "processes"])
def test_a_run_that_fails_stops_no_other_and_is_kept_aside(study, treebanks, tmp_path, executor):
    report = run(broken(study), tmp_path, treebanks, executor=executor)
    (failure,) = report.failed
    assert failure.label == "pos en 1 embeddings seed 1"
    assert "layers 1 of this bert have no embeddings" in failure.tail
    assert report.plan.done == 2
    assert not results_of(tmp_path).exists()  # it would not be the study's
    kept = tmp_path / "failed" / failure.run
    assert "have no embeddings" in (kept / "log.txt").read_text()
    assert json.loads((kept / "run.json").read_text())["identity"]["condition"]["components"] == "embeddings"
    (row,) = status(Store(tmp_path))
    assert (row.done, row.failed, row.running) == (2, 1, 0)
    again = run(broken(study), tmp_path, treebanks, executor=executor, only=failure.run)
    assert [outcome.run for outcome in again.failed] == [failure.run]
    with pytest.raises(RequestError, match="nonsense is no run of toy"):
        run(broken(study), tmp_path, treebanks, only="nonsense")


def test_a_run_that_succeeds_later_is_no_failure_any_more(study, treebanks, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(answering, "evaluate", lambda *_, **__: 1 / 0)
        report = run(study, tmp_path, treebanks)
    assert len(report.failed) == 4
    assert "ZeroDivisionError" in report.failed[0].tail
    report = run(study, tmp_path, treebanks)
    assert not report.failed
    assert list((tmp_path / "failed").iterdir()) == []


def test_a_run_that_another_process_works_on_is_left_to_it(study, treebanks, tmp_path):
    store = Store(tmp_path)
    planned = plan(study, store, corpora=Corpora(str(treebanks)))
    with store.claim(planned.left[0].run.id):
        report = run(study, tmp_path, treebanks)
    assert [outcome.run for outcome in report.taken] == [planned.left[0].run.id]
    assert report.plan.done == 3


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


def test_a_plan_says_what_is_new_when_the_data_change(study, treebanks, tmp_path, tmp_path_factory):
    run(study, tmp_path, treebanks)
    changed = tmp_path_factory.mktemp("changed")
    for file in (treebanks / "ud").glob("*/*.conllu"):
        target = changed / file.relative_to(treebanks)
        target.parent.mkdir(parents=True, exist_ok=True)
        text = file.read_text("utf-8")
        target.write_text(
            text.replace("dog", "cow") if "fr_pud" in file.name or "train" in file.name else text, "utf-8"
        )
    planned = plan(study, Store(tmp_path), corpora=Corpora(str(changed)))
    assert len(planned.left) == 4
    assert not {one.run.id for one in planned.left} & set(Store(tmp_path).ids())


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


def test_the_best_of_a_grid_is_used_for_all(study, treebanks, tmp_path):
    grid = Grid(learning_rate=(1e-5, 3e-3), batch=(2, 3))
    report = run(study.model_copy(update={"grid": grid}), tmp_path, treebanks)
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
    (best,) = chosen
    assert scores[best] == max(scores.values())
    assert report.plan.notes == (
        f"pos en reference seed 1: batch={best[1]}, learning_rate={best[0]} has the best dev score,"
        f" {scores[best]:.2f} (of 4 tried)",
    )


def test_every_condition_can_have_a_recipe_of_its_own(study, treebanks, tmp_path):
    each = study.model_copy(update={"grid": Grid(each="condition", epochs=(1, 3))})
    store = Store(tmp_path)
    planned = plan(each, store, corpora=Corpora(str(treebanks)))
    assert (len(planned.left), planned.waiting) == (4, 4)
    report = run(each, tmp_path, treebanks)
    assert report.plan.waiting == 0
    assert len(report.plan.notes) == 2


def test_what_the_data_do_not_have_is_told_before_anything_runs(study, treebanks, tmp_path):
    for change, words in (
        ({"tasks": ("ner",)}, "toy: its data has no task 'ner'"),
        ({"sources": ("de",)}, "toy: its data has no source 'de'"),
        ({"conditions": (Condition(layers="5"),)}, "there is no layer 5"),
        ({"similarity": Similarity(measures=("ckaa",))}, "there is no measure 'ckaa'"),
        ({"encoder": "lab:god"}, "no preset 'god'"),
    ):
        with pytest.raises(RequestError, match=words):
            run(study.model_copy(update=change), tmp_path, treebanks)
    missing = Data(tasks={"pos": {"en": Source(train="ud/en_toy", tests=("ud/xx_pud",))}})
    with pytest.raises(RequestError, match="no corpus 'ud/xx_pud'"):
        run(study.model_copy(update={"data": missing}), tmp_path, treebanks)
    assert Store(tmp_path).ids() == []


def test_sigterm_saves_the_training_and_the_same_call_goes_on(study, treebanks, tmp_path, uninterrupted, monkeypatch):
    """In this process: the signal's handler sets what `stop` asks; the state is there, and the bits are the same."""
    store = Store(tmp_path)
    (first, *_) = plan(study, store, corpora=Corpora(str(treebanks))).left
    steps = iter(range(100))
    outcome = execute(first, Context(str(tmp_path), str(treebanks), "cpu"), stop=lambda: next(steps) >= 3)
    assert outcome.state == "stopped"
    assert store.state(first.run.id).exists()
    report = run(study, tmp_path, treebanks)
    assert not report.failed
    assert "resuming from" in (store.path(first.run.id) / "log.txt").read_text()
    assert not store.state(first.run.id).exists()
    assert results_of(tmp_path).read_bytes() == results_of(uninterrupted).read_bytes()


def test_asked_to_stop_while_it_evaluates_no_other_run_is_begun(study, treebanks, tmp_path, monkeypatch):
    asked = []

    def interrupted(*its, **more):
        asked.append(its)
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(answering, "evaluate", interrupted)
    report = run(study, tmp_path, treebanks)
    assert (report.stopped, len(asked), Store(tmp_path).ids()) == (True, 1, [])
    assert not report.failed


# ---------------------------------------------------------------------------------------------------------------------

forks = multiprocessing.get_context("forkserver")
forks.set_forkserver_preload(["crosslens.studies.run_study", "transformers.models.bert.modeling_bert"])


def _child(study, folder, treebanks, executor):
    import torch

    torch.set_num_threads(1)
    run_study(study, folder, executor=executor, workers=2, data=treebanks, device="cpu")


def kill_often(study, folder, treebanks, kills, *, executor="serial", longest):
    """Start the study, kill it after a random time, and so on; return how many were killed before their end."""
    generator = random.Random(7)
    killed = 0
    for _ in range(kills):
        child = forks.Process(target=_child, args=(study, str(folder), str(treebanks), executor))
        child.start()
        child.join(generator.uniform(0.05, longest))
        if child.is_alive():
            killed += 1
            os.kill(child.pid, signal.SIGKILL)
        child.join()
    return killed


def test_asking_how_far_a_study_is_takes_no_run_from_it(study, treebanks, tmp_path):
    """Somebody asks all the time, and every run is done all the same."""
    child = forks.Process(target=_child, args=(study, str(tmp_path), str(treebanks), "serial"))
    child.start()
    asked = 0
    while child.is_alive():
        if (tmp_path / "studies" / "toy" / "plan.json").exists():
            status(Store(tmp_path))
            asked += 1
        time.sleep(0.01)
    assert child.exitcode == 0
    assert asked > 10
    assert len(Store(tmp_path).ids()) == 4


@pytest.mark.parametrize("kills", [30, pytest.param(100, marks=[pytest.mark.slow, pytest.mark.timeout(1800)])])
def test_killed_again_and_again_it_ends_with_the_same_bytes(study, treebanks, tmp_path, uninterrupted, kills):
    long = study.model_copy(update={"seeds": tuple(range(1, 9))})
    run(long, tmp_path / "whole", treebanks)
    killed = kill_often(long, tmp_path / "killed", treebanks, kills, longest=1.5)
    store = Store(tmp_path / "killed")
    print(f"{killed} of {kills} killed in the middle; {len(store.ids())} of 16 runs were done then")
    assert killed > kills // 3
    report = run(long, tmp_path / "killed", treebanks)
    assert not report.failed
    assert not report.taken
    assert results_of(tmp_path / "killed").read_bytes() == results_of(tmp_path / "whole").read_bytes()


def test_two_processes_on_one_store_do_each_run_once(study, treebanks, tmp_path, uninterrupted):
    both = [forks.Process(target=_child, args=(study, str(tmp_path), str(treebanks), "serial")) for _ in range(2)]
    for child in both:
        child.start()
    for child in both:
        child.join()
    assert [child.exitcode for child in both] == [0, 0]
    report = run(study, tmp_path, treebanks)
    assert report.plan.done == 4
    assert results_of(tmp_path).read_bytes() == results_of(uninterrupted).read_bytes()


def test_a_worker_that_is_killed_takes_only_its_own_run_along(study, treebanks, tmp_path):
    """kill -9 of one worker process; the others go on, and what it worked on is done the next time."""
    import psutil

    long = study.model_copy(update={"seeds": tuple(range(1, 5)), "set": {"batch": 1, "epochs": 20}})
    child = forks.Process(target=_child, args=(long, str(tmp_path), str(treebanks), "processes"))
    child.start()
    try:
        victim = None
        until = time.monotonic() + 120
        while victim is None and time.monotonic() < until:
            time.sleep(0.2)
            if (tmp_path / "runs").is_dir() and any((tmp_path / "runs").iterdir()):
                workers = [p for p in psutil.Process(child.pid).children() if "spawn_main" in " ".join(p.cmdline())]
                victim = workers[0] if workers else None
        assert victim is not None
        victim.kill()
        child.join(120)
        assert child.exitcode == 0
    finally:
        child.kill()
    store = Store(tmp_path)
    (row,) = status(store)
    assert row.runs == 8
    assert (row.done, row.failed) in {(7, 1), (8, 0)}  # (8, 0): it was killed between two runs
    logs = list((tmp_path / "failed").iterdir())
    assert len(logs) == row.failed
    for kept in logs:
        assert "its process died" in (kept / "log.txt").read_text()
    assert not run(long, tmp_path, treebanks).failed


def test_workers_end_with_their_parent_however_it_ends(study, treebanks, tmp_path):
    import psutil

    long = study.model_copy(update={"set": {"batch": 1, "epochs": 2000}})
    child = forks.Process(target=_child, args=(long, str(tmp_path), str(treebanks), "processes"))
    child.start()
    until = time.monotonic() + 120
    workers = []
    while len(workers) < 2 and time.monotonic() < until:
        time.sleep(0.2)
        workers = [p for p in psutil.Process(child.pid).children() if "spawn_main" in " ".join(p.cmdline())]
    assert len(workers) == 2
    os.kill(child.pid, signal.SIGKILL)
    child.join()
    _, alive = psutil.wait_procs(workers, timeout=120)
    assert alive == []


def test_rules_of_selection_are_an_axis(study, treebanks, tmp_path):
    rules = ("best", "last", "average", {"oracle": "ud/fr_pud:test[:3]"})
    asked = Study.model_validate({**study.model_dump(), "name": "rules", "select": rules, "seeds": [1]})
    report = run_study(asked, tmp_path, executor="serial", data=str(treebanks), device="cpu")
    assert len(report.plan.runs) == 2 * 4
    assert report.plan.runs[3].run.label == "pos en reference oracle ud/fr_pud:test[:3] seed 1"
    results = read_results(tmp_path / "studies" / "rules" / "results.csv").filter(task="pos", metric="accuracy")
    labels = ["best", "last", "average", "oracle ud/fr_pud:test[:3]"]
    table = results.table()
    heads = [f"{what}, {label}" for label in labels for what in ("reference", "Δ 1-2")]
    assert table.columns.tolist() == heads
    # Each rule has its own reference, and is the study that names it alone.
    alone = Study.model_validate({**study.model_dump(), "name": "last", "select": "last", "seeds": [1]})
    assert plan(alone, Store(tmp_path), corpora=Corpora(str(treebanks))).done == 2
    french = results.filter(target="fr").to_pandas()
    rule = french["selection"]
    values = french.set_index([rule, french["ablation"].fillna("")])["value"]
    for label in labels:
        found = table.loc[("fr", "ud/fr_pud:test"), f"Δ 1-2, {label}"]
        assert found == pytest.approx(values[label, "1-2"] - values[label, ""])
    summary = pd.read_csv(tmp_path / "studies" / "rules" / "summary.csv")
    assert summary["selection"].unique().tolist() == ["best", "last", "average", "oracle ud/fr_pud:test[:3]"]


def test_an_oracle_of_the_sources_own_language_is_none(study, treebanks, tmp_path):
    asked = Study.model_validate({**study.model_dump(), "select": {"oracle": "ud/en_pud:test"}})
    with pytest.raises(RequestError, match="is of the source's language, and no oracle"):
        plan(asked, Store(tmp_path), corpora=Corpora(str(treebanks)))


def test_frozen_layers_and_parts_have_columns_of_their_own(study, treebanks, tmp_path):
    conditions = ["none", {"freeze": "0-2"}, {"layers": "1-2", "components": "attention"}, "1-2"]
    asked = Study.model_validate({**study.model_dump(), "conditions": conditions, "seeds": [1]})
    run_study(asked, tmp_path, executor="serial", data=str(treebanks), device="cpu")
    results = read_results(tmp_path / "studies" / "toy" / "results.csv").filter(metric="accuracy")
    heads = ["reference", "Δ 1-2", "Δ 1-2 attention", "Δ reference frozen 0-2"]
    assert sorted(results.table().columns) == sorted(heads)
    summary = pd.read_csv(tmp_path / "studies" / "toy" / "summary.csv")
    assert summary["condition"].nunique() == 4


def test_a_study_that_is_stopped_counts_the_runs_that_are_done_now(study, treebanks, tmp_path):
    def stop(update):
        if (update.unit, update.done) == ("runs", 2):
            raise KeyboardInterrupt

    report = run(study, tmp_path, treebanks, progress=stop)
    assert report.stopped
    assert (report.plan.done, len(report.plan.left)) == (2, len(report.plan.runs) - 2)
