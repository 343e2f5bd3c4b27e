"""`crosslens plan`, `run`, `status`, `explain` and `results`, as they are typed."""

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

import interrupted
from crosslens.encoders.condition import Condition
from crosslens.errors import RequestError
from crosslens.runs.executors import EXECUTORS
from crosslens.runs.executors.serial import Serial
from crosslens.runs.run import Asked, EncoderRun
from crosslens.runs.store import Store
from made_runs import FRENCH, answers, asked, publish


def test_plan_run_and_plan_again(run, file, tmp_path):
    status, shown, said = run("plan", file, "--out", "runs")
    assert status == 0, said
    assert shown.splitlines()[-1] == "toy: 0 runs done, 2 to do"
    assert "to do  pos en 1-2 seed 1" in shown
    status, shown, said = run("run", file, "--out", "runs", "--executor", "serial", "--device", "cpu")
    assert status == 0, said
    assert "Δ 1-2" in shown
    assert "toy: 2 runs done; runs/studies/toy/results.csv" in said
    assert {path.name for path in (tmp_path / "runs/studies/toy").iterdir()} == {
        "study.yaml",
        "plan.json",
        "results.csv",
        "summary.csv",
    }
    status, shown, said = run("plan", file, "--out", "runs", "--set", "seeds=[1,2]")
    assert status == 0
    assert "pos en reference seed 2; new: seed: 2 instead of 1 in" in shown
    assert shown.splitlines()[-1] == "toy: 2 runs done, 2 to do"
    assert "estimated training time" in said
    assert "shared with" not in run("plan", file, "--out", "runs", "--all")[1]
    status, shown, _ = run("plan", file, "--out", "runs", "--all", "--set", "name=other")
    assert shown.count("done   pos en") == 2
    assert shown.count("shared with toy") == 2


def test_notes_on_a_study_are_said_once_and_before_its_runs(run, file):
    tested = "data.tasks.pos.en={train: 'ud/en_toy:train', tests: ['ud/en_toy:train', ud/fr_pud]}"
    _, _, said = run("run", file, "--out", "runs", "--executor", "serial", "--device", "cpu", "--set", tested)
    notes = [line for line in said.splitlines() if line.startswith("note: ")]
    assert any("is also the training corpus" in note for note in notes)
    assert len(set(notes)) == len(notes)
    assert said.index(notes[-1]) < said.index("training and evaluating")


def test_a_run_that_another_process_works_on_is_named(run, file, tmp_path):
    first = run("plan", file, "--out", "runs")[1].split()[0]
    with Store(tmp_path / "runs").claim(first):
        said = run("run", file, "--out", "runs", "--executor", "serial", "--device", "cpu")[2]
    assert f"another process works on pos en reference seed 1 ({first})" in said
    assert "toy: 1 run done, 1 left" in said


def test_status_explain_and_results(run, file, tmp_path):
    run("run", file, "--out", "runs", "--executor", "serial", "--device", "cpu")
    status, shown, _ = run("status", "runs", "--watch")
    assert (status, shown) == (0, "toy: 2 of 2 runs done\n")
    first = next(iter(json.loads((tmp_path / "runs/studies/toy/plan.json").read_text())["runs"]))
    status, shown, _ = run("explain", first[:7], "--out", "runs")
    assert status == 0
    assert f"{first}: pos en reference seed 1" in shown
    assert "recipe.batch             2" in shown
    assert "here condition.layers: None instead of 1-2" in shown
    assert f"repeat: crosslens run {file} --out runs --device cpu --only {first}" in shown
    assert "studies: toy" in shown
    described = json.loads(run("explain", first, "--out", "runs", "--json")[1])
    assert (described["run"], described["studies"]) == (first, ["toy"])
    assert described["differences"]["condition.layers"] == [None, "1-2"]
    assert described["identity"]["recipe"]["batch"] == 2
    assert described["nearest"] != first
    status, shown, _ = run("results", "runs", "--csv", "all.csv")
    assert status == 0
    assert "cross-language mean" in shown
    assert (tmp_path / "all.csv").read_bytes() == (tmp_path / "runs/studies/toy/results.csv").read_bytes()
    assert run("results", "runs", "--csv", "all.parquet")[0] == 0


def test_a_study_is_repeated_with_all_that_decides_its_runs(run, file, treebanks, monkeypatch):
    given = []

    def run_study(study, out, **options):
        given.append(options)
        raise RequestError("called")

    monkeypatch.setattr("crosslens.studies.run_study.run_study", run_study)
    words = ("run", str(file), "--out", "my runs", "--set", "seeds=[1, 2]", "--set", "keep=[models]")
    words += ("--data", str(treebanks), "--skip-missing", "--device", "cpu")
    assert run(*words, "--executor", "serial")[0] == 2
    assert shlex.split(given[0]["command"]) == ["crosslens", *words]
    assert (given[0]["data"], given[0]["skip_missing"]) == (str(treebanks), True)


def test_a_run_is_named_by_the_beginning_of_its_id(run, tmp_path):
    store = Store(tmp_path / "runs")
    publish(store, asked(), answers(FRENCH))
    (name,) = store.ids()
    shown = run("explain", name[:5], "--out", "runs")[1]
    assert f"{name}: pos en reference seed 1" in shown
    assert "studies: none in this folder" in shown.splitlines()
    status, _, said = run("explain", name[1:6], "--out", "runs")
    assert (status, f"no run id of runs begins with {name[1:6]!r}" in said) == (2, True)


def test_runs_of_different_kinds_are_not_compared(run, tmp_path):
    store = Store(tmp_path / "runs")
    training = asked()
    encoder = Asked(EncoderRun(training.run.base, Condition(), 1), (FRENCH,))
    for each in (training, encoder):
        publish(store, each, answers(FRENCH))
    status, shown, error = run("explain", encoder.run.id, "--out", "runs")
    assert status == 0, error
    assert "nearest: none; no other run in runs is of this kind (evaluation of an encoder)" in shown
    publish(store, other := asked(seed=2), answers(FRENCH))
    assert f"nearest: {other.run.id}" in run("explain", training.run.id, "--out", "runs")[1]


class Lone(Serial):
    """A serial executor with options."""

    def __init__(self, workers, options):
        assert options == {"partition": "two words"}


def test_a_failure_has_its_log_and_the_command_that_repeats_it(run, file, tmp_path, monkeypatch):
    monkeypatch.setitem(EXECUTORS.built_in, "lone", Lone)
    where = ("--executor", "lone", "--with", "partition=two words")
    arguments = ("run", "broken.yaml", "--out", "runs", "--device", "cpu", *where)
    status, shown, said = run(*arguments)
    assert status == 1
    assert "failed: pos en 1 embeddings seed 1" in said
    assert "have no embeddings" in said
    (failed,) = (tmp_path / "runs/failed").iterdir()
    assert f"to retry: crosslens {shlex.join([*arguments, '--only', failed.name])}\n" in said
    assert "toy: 1 run done, 1 left" in said
    assert "cross-language mean" in shown
    assert run(*arguments, "--only", failed.name)[0] == 1
    assert "1 failed" in run("status", "runs")[1]


def test_a_store_without_studies_is_said_to_have_none(run, tmp_path):
    Store(tmp_path / "runs")
    assert run("status", "runs") == (0, "", "runs has no studies\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "nothing.yaml", "--out", "runs"), "there is no settings file nothing.yaml"),
        (("run", "firts-align", "--out", "runs"), "there is no study 'firts-align'"),
        (("run", "study.yaml", "--out", "runs", "--executor", "proceses"), "did you mean 'processes'?"),
        (
            ("run", "study.yaml", "--out", "runs", "--set", "seed=3"),
            "override (--set) seed: unknown setting; did you mean 'seeds'",
        ),
        (("run", "study.yaml", "--out", "runs", "--set", "data=labb"), "no set of corpora 'labb'"),
        (("run", "study.yaml", "--out", "runs", "--only", "abc"), "toy has no run abc"),
        (("run", "study.yaml", "--out", "study.yaml"), "is a file, not a store of runs"),
        (("status", "nowhere"), "nowhere is not a folder of runs"),
        (("explain", "abc", "--out", "nowhere"), "nowhere is not a folder of runs"),
    ],
)
def test_wrong_requests_are_one_sentence(run, file, arguments, words):
    status, _, said = run(*arguments)
    assert status == 2
    assert words in said
    assert "Traceback" not in said


def test_a_run_that_there_is_not(run, file):
    run("run", file, "--out", "runs", "--executor", "serial", "--device", "cpu")
    for name, words in (("zzz", "no run id of runs begins with 'zzz'"), ("", "2 run ids of runs begin with ''")):
        status, _, said = run("explain", name, "--out", "runs")
        assert status == 2
        assert words in said
        assert "`crosslens plan STUDY --out runs --all` lists them" in " ".join(said.split())
    status, listed, _ = run("plan", file, "--out", "runs", "--all")  # the hint, followed
    assert status == 0
    assert all(name in listed for name in Store("runs").ids())


@pytest.mark.slow
def test_sigterm_stops_cleanly_and_the_same_command_goes_on(study, file, treebanks, tmp_path):
    """The real program: SIGTERM in the middle of a long training; its state is kept and taken up."""
    long = {**study.model_dump(mode="json", exclude_defaults=True), "seeds": 1, "conditions": ["none"]}
    with open(tmp_path / "long.yaml", "w") as stream:
        YAML().dump({**long, "set": {"batch": 1, "epochs": 90}}, stream)
    words = [
        sys.executable,
        "-m",
        "crosslens",
        "run",
        "long.yaml",
        "--out",
        "runs",
        "--device",
        "cpu",
        "--workers",
        "1",
    ]
    settings = {**os.environ, "CROSSLENS_DATA": str(treebanks)}

    def start(**more):
        return subprocess.run(words, cwd=tmp_path, env=settings | more, capture_output=True, text=True)

    stopped = start(
        **interrupted.environment(tmp_path / "hook", 1, "*.state", events=["os.rename"], number=signal.SIGTERM)
    )
    assert stopped.returncode == 1, stopped.stderr
    assert "stopped; the same command resumes" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    assert len(list((tmp_path / "runs" / "tmp").glob("*.state"))) == 1
    again = start()
    assert again.returncode == 0, again.stderr
    (log,) = (tmp_path / "runs" / "runs").glob("*/log.txt")
    assert "resuming from" in log.read_text()


def test_a_study_is_run_without_missing_corpora_and_its_tables_say_so(run, incomplete):
    status, shown, said = run("plan", incomplete, "--out", "runs", "--skip-missing")
    assert status == 0, said
    assert "left out: source ru of pos (missing: ud/ru_gsd:train)" in shown.splitlines()
    assert shown.splitlines()[-1] == "toy: 0 runs done, 2 to do"
    sentence = "Not evaluated in toy (corpus missing): sib200/arb_Arab, ud/ru_gsd:train."
    status, shown, said = run(
        "run", incomplete, "--out", "runs", "--executor", "serial", "--device", "cpu", "--skip-missing"
    )
    assert status == 0, said
    assert "left out: target sib200/arb_Arab of pos (missing: sib200/arb_Arab:test)" in said.splitlines()
    assert shown.splitlines()[-1] == sentence
    first = next(iter(json.loads(Path("runs/studies/toy/plan.json").read_text())["runs"]))
    assert "--skip-missing --device cpu --only" in run("explain", first, "--out", "runs")[1]
    assert run("report", "runs", "--out", "report")[0] == 0
    reported = [path for ending in ("md", "html") for path in Path("report").glob(f"*.{ending}")]
    assert len(reported) > 2
    assert all(sentence in path.read_text() for path in reported)
    status, _, said = run("run", incomplete, "--out", "other")
    assert status == 2
    assert "sib200/arb_Arab:test" in said


def test_a_study_with_nothing_left_is_refused_in_one_sentence(run, incomplete):
    status, shown, said = run("run", incomplete, "--out", "runs", "--skip-missing", "--set", "sources=[ru]")
    assert (status, shown) == (2, "")
    assert "crosslens: toy has nothing left to run without ud/ru_gsd:train" in said.splitlines()


def test_watching_a_study_ends_when_the_runs_that_are_left_have_failed(run, tmp_path, monkeypatch):
    store = Store(tmp_path / "runs")
    store.keep_plan("s", {"plan.json": json.dumps({"runs": {"a": "a"}, "waiting": 0, "asked": []})})
    (store.folder / "failed" / "a").mkdir()
    monkeypatch.setattr("time.sleep", lambda seconds: pytest.fail("it waits"))
    assert run("status", "runs", "--watch")[:2] == (0, "s: 0 of 1 runs done, 1 failed\n")


@pytest.mark.parametrize("executor", ["serial", "processes"])
def test_a_device_that_is_not_there_is_refused_before_any_run(run, file, tmp_path, executor):
    status, _, said = run("run", file, "--out", "runs", "--executor", executor, "--device", "cudaa")
    assert (status, "there is no device 'cudaa' on this machine" in said) == (2, True), said
    assert not (tmp_path / "runs").exists()
