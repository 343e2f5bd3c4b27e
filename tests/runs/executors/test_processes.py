"""Processes that run a study: killed at random moments, two on one folder, a worker without its parent."""

import multiprocessing
import os
import random
import signal
import time

import pytest

from crosslens.runs.status import status
from crosslens.runs.store import Store
from crosslens.studies.run_study import run_study
from toy_studies import results_of, run

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
