"""Experiment trackers: what they receive, and that their runs end."""

import importlib
import sys
from types import ModuleType

import pytest

import crosslens as xl
from crosslens.errors import RequestError
from crosslens.results.record import read_results
from crosslens.runs.tracking import TRACKERS, Tracker, tracking
from fake_wandb import FakeWandb


@pytest.fixture
def wandb(monkeypatch):
    module = FakeWandb()
    monkeypatch.setitem(sys.modules, "wandb", module)
    return module


def test_losses_dev_scores_and_test_scores_are_logged_with_the_settings(wandb, run, tiny_bert, treebanks, tmp_path):
    status, _, err = run(
        *("finetune", "pos", str(tiny_bert), "--train", "ud/en_toy", "--test", "ud/en_pud,ud/fr_pud"),
        *("--recipe", "small", "--set", "epochs=2", "--set", "batch=3", "--set", "select=best", "--seed", "3"),
        *("--random-init", "1-2", "--track", "wandb=mine", "--data", str(treebanks), "--out", str(tmp_path / "first")),
    )
    assert status == 0, err
    assert (wandb.started["project"], wandb.started["name"]) == ("mine", "first")
    shown = wandb.started["config"]
    assert (shown["seed"], shown["layers"], shown["epochs"], shown["train"]) == (3, "1-2", 2, "ud/en_toy:train")
    losses = {step: values["train/loss"] for step, values in wandb.logged if "train/loss" in values}
    assert list(losses) == [1, 2, 3, 4]  # two epochs of six sentences
    dev = [(step, values["dev/accuracy"]) for step, values in wandb.logged if "dev/accuracy" in values]
    assert [step for step, _ in dev] == [2, 4]
    last_step, scores = wandb.logged[-1]
    results = read_results(tmp_path / "first" / "results.csv")
    assert last_step == 4
    assert scores == {f"test/{row.corpus}/{row.metric}": row.value for row in results}
    assert len(scores) > 1
    assert wandb.ended


def test_tracking_changes_no_result(wandb, tiny_bert, treebanks, tmp_path):
    def scores(**more):
        return xl.finetune_and_evaluate(
            tiny_bert,
            "pos",
            train="ud/en_toy",
            tests=["ud/fr_pud"],
            recipe="small",
            settings={"epochs": 1, "select": "last"},
            data=str(treebanks),
            **more,
        )

    assert scores(track="wandb").records.equals(scores().records)
    assert wandb.started["name"] == "pos-en-reference-seed-1"


def test_a_score_of_zero_is_logged_and_one_that_is_undefined_is_not():
    logged_values = []
    results = xl.Results.of(
        xl.Record(corpus=name, metric="f1", value=value) for name, value in (("a", 0.0), ("b", None))
    )
    Tracker(lambda step, values: logged_values.append((step, values))).evaluated(2, results)
    assert logged_values == [(2, {"test/a/f1": 0.0})]


def test_a_run_ends_when_the_work_fails(wandb):
    def failing():
        with tracking("wandb", run="r", settings={}):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        failing()
    assert wandb.ended


def test_an_unknown_tracker_is_refused_with_the_nearest_name():
    with pytest.raises(RequestError, match="'wandv'") as caught, tracking("wandv", run="r", settings={}):
        pass
    assert "wandb" in caught.value.hint


@pytest.mark.parametrize("name", TRACKERS)
def test_a_missing_package_is_named_with_its_command(name, monkeypatch):
    def missing(module):
        raise ImportError(module)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(RequestError) as caught, tracking(name, run="r", settings={}):
        pass
    assert caught.value.hint == f"pip install {name}"


def logged(name):
    with tracking(name, run="r", settings={"seed": 1}) as tracker:
        tracker.stepped(1, 0.5)
        tracker.stepped(2, 0.25)
        tracker.validated(2, {"accuracy": 80.0})
        tracker.evaluated(2, xl.Results.of([xl.Record(corpus="ud/fr_pud:test[:5]", metric="accuracy", value=70.0)]))


LOGGED = [(1, "train/loss", 0.5), (2, "train/loss", 0.25), (2, "dev/accuracy", 80.0)]
"""Step, name and value of what is logged before the test scores."""


def test_tensorboard_is_given_the_step_of_each_value(monkeypatch):
    """Also where it is not installed: a module that remembers its calls stands in for it."""
    calls = []

    class SummaryWriter:
        def __init__(self, folder):
            calls.append(folder)

        def add_text(self, name, text):
            calls.append((name, text.split()))

        def add_scalar(self, name, value, step=None):
            calls.append((step, name, value))

        def close(self):
            calls.append("closed")

    played = ModuleType("torch.utils.tensorboard")
    played.SummaryWriter = SummaryWriter
    monkeypatch.setitem(sys.modules, played.__name__, played)
    logged("tensorboard")
    test = (2, "test/ud/fr_pud:test[:5]/accuracy", 70.0)
    assert calls == ["runs/r", ("settings", ["seed:", "1"]), *LOGGED, test, "closed"]


def test_mlflow_is_given_the_step_of_each_value(monkeypatch):
    calls = []
    played = ModuleType("mlflow")
    played.set_experiment = calls.append
    played.start_run = lambda run_name: calls.append(run_name)
    played.log_params = calls.append
    played.log_metrics = lambda values, step=None: calls.extend((step, *item) for item in values.items())
    played.end_run = lambda: calls.append("ended")
    monkeypatch.setitem(sys.modules, "mlflow", played)
    logged("mlflow=mine")
    test = (2, "test/ud/fr_pud:test_:5_/accuracy", 70.0)
    assert calls == ["mine", "r", {"seed": 1}, *LOGGED, test, "ended"]


def test_tensorboard_reads_what_was_logged(tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    logged(f"tensorboard={tmp_path / 'logs'}")
    events = EventAccumulator(str(tmp_path / "logs" / "r")).Reload()
    assert [(event.step, event.value) for event in events.Scalars("train/loss")] == [(1, 0.5), (2, 0.25)]
    assert [event.value for event in events.Scalars("test/ud/fr_pud:test[:5]/accuracy")] == [70.0]


def test_mlflow_reads_what_was_logged(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow = pytest.importorskip("mlflow")
    mlflow.set_tracking_uri((tmp_path / "mlruns").as_uri())
    logged("mlflow=mine")
    (tracked,) = mlflow.search_runs(experiment_names=["mine"], output_format="list")
    assert tracked.info.run_name == "r"
    assert tracked.data.params == {"seed": "1"}
    assert tracked.data.metrics["train/loss"] == 0.25
    assert tracked.data.metrics["test/ud/fr_pud:test_:5_/accuracy"] == 70.0


def test_wandb_works_offline(tmp_path, monkeypatch):
    pytest.importorskip("wandb")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WANDB_MODE", "offline")
    logged("wandb")
    assert list((tmp_path / "wandb").glob("offline-run-*"))


def test_trackio_keeps_what_was_logged(tmp_path, monkeypatch):
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "trackio"))
    pytest.importorskip("trackio")
    logged("trackio=mine")
    assert list((tmp_path / "trackio").glob("mine*"))
