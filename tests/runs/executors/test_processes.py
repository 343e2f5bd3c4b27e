"""Processes that run a study: killed at random moments, two on one folder, a worker without its parent."""

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from types import SimpleNamespace

import pytest

import interrupted
from crosslens.runs.execute import Context, Outcome
from crosslens.runs.executors import find_executor, processes
from crosslens.runs.executors.processes import _exit_statuses, _one_thread
from crosslens.runs.status import status
from crosslens.runs.store import Store
from crosslens.studies.run_study import run_study
from interrupted import interrupt_at
from made_runs import asked
from toy_studies import results_of, run

forks = multiprocessing.get_context("forkserver")
forks.set_forkserver_preload(["crosslens.studies.run_study", "transformers.models.bert.modeling_bert"])

STOPPED = 3
"""Exit status of a process whose study says that it was stopped."""


def _child(study, folder, treebanks, executor, before=None):
    import torch

    if before is not None:
        before()

    torch.set_num_threads(1)
    report = run_study(study, folder, executor=executor, workers=2, data=treebanks, device="cpu")
    sys.exit(STOPPED if report.stopped else 0)


def _set_variables(variables):
    os.environ.update(variables)


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
    assert child.exitcode == 0
    assert asked > 10
    assert len(Store(tmp_path).ids()) == 4


@pytest.mark.usefixtures("fresh_processes")
def test_killed_at_one_write_after_another_it_ends_with_the_same_bytes(study, treebanks, tmp_path, uninterrupted):
    """Each process is killed a few writes later than the one before it, counted from its start."""
    for write in range(1, 14, 2):
        before = partial(interrupt_at, write, f"{tmp_path}/*")
        child = forks.Process(target=_child, args=(study, str(tmp_path), str(treebanks), "serial", before))
        child.start()
        child.join()
        assert child.exitcode == -signal.SIGKILL
    report = run(study, tmp_path, treebanks)
    assert not report.failed
    assert not report.taken
    assert results_of(tmp_path).read_bytes() == results_of(uninterrupted).read_bytes()


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kills", [30, 100])
@pytest.mark.usefixtures("fresh_processes")
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


@pytest.mark.usefixtures("fresh_processes")
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


@pytest.mark.parametrize(("number", "failed", "ended"), [(signal.SIGKILL, 1, 0), (signal.SIGTERM, 0, STOPPED)])
def test_a_worker_that_ends_takes_only_one_run_along(study, treebanks, tmp_path, number, failed, ended):
    """kill -9, or SIGTERM as of a guard of memory, to the first worker that would publish a run.

    The others go on with all that waits, and the lost run is done the next time.
    """

    long = study.model_copy(update={"seeds": tuple(range(1, 5))})
    folder = tmp_path / "store"
    hook = interrupted.environment(
        *(tmp_path / "hook", 1, f"{folder}/runs/*"),
        **{"events": ["os.rename"], "number": number, "once": str(tmp_path / "interrupted"), "alone": True},
    )
    before = partial(_set_variables, hook)
    child = forks.Process(target=_child, args=(long, str(folder), str(treebanks), "processes", before))
    child.start()
    child.join()
    assert child.exitcode == ended
    assert (tmp_path / "interrupted").exists()
    (row,) = status(Store(folder))
    assert (row.runs, row.done, row.failed) == (8, 7, failed)
    if failed:
        (kept,) = (folder / "failed").iterdir()
        assert "its process died" in (kept / "log.txt").read_text()
    assert not run(long, folder, treebanks).failed


@pytest.mark.slow
def test_a_script_without_a_guard_is_told_so_once_and_no_run_has_failed(study, treebanks, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import crosslens as xl\n"
        f"study = xl.Study.model_validate({study.model_dump(mode='json')!r})\n"
        f"xl.run_study(study, {str(tmp_path / 'store')!r}, workers=2, data={str(treebanks)!r}, device='cpu')\n"
    )
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert ended.stderr.count("Traceback") == 1
    assert ended.stderr.rstrip().endswith(
        '(call run_study below `if __name__ == "__main__":`, or with executor="serial")'
    )
    assert ended.returncode == 1
    assert not list((tmp_path / "store" / "failed").iterdir())


def test_how_the_process_of_a_broken_pool_ended_is_known():
    """From it follows whether a run or the script of the user is to blame."""
    pool = ProcessPoolExecutor(1, mp_context=forks)
    with pytest.raises(BrokenProcessPool):
        pool.submit(os._exit, 7).result()
    assert _exit_statuses(pool) == [7]


def test_a_script_on_standard_input_is_refused(tmp_path):
    script = "from crosslens.runs.executors import find_executor\nfind_executor('processes')\n"
    ended = subprocess.run([sys.executable, "-"], input=script, capture_output=True, text=True, check=False)
    assert "worker processes cannot import a script that is read from standard input" in ended.stderr


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


def test_a_worker_whose_study_is_stopped_is_asked_to_end_before_it_is_killed(tmp_path, monkeypatch):
    """So that it saves the state of its training."""
    futures, asked_to_end, killed = [Future(), Future()], [], []
    futures[0].set_result(Outcome("one", "one", "done"))

    def end(pid, number):
        asked_to_end.append((pid, number))
        futures[1].set_result(Outcome("two", "two", "stopped"))

    worker = SimpleNamespace(pid=7, is_alive=lambda: not asked_to_end, kill=lambda: killed.append(7))
    left = iter(futures)
    pool = SimpleNamespace(_processes={7: worker}, submit=lambda *work: next(left), shutdown=lambda **how: None)
    monkeypatch.setattr(processes, "ProcessPoolExecutor", lambda *given, **more: pool)
    monkeypatch.setattr(processes.os, "kill", end)
    outcomes = find_executor("processes", workers=1).submit([asked(seed=1), asked(seed=2)], Context(str(tmp_path)))
    assert next(outcomes).state == "done"
    outcomes.close()
    assert (asked_to_end, killed) == ([(7, signal.SIGTERM)], [])


def test_a_study_may_have_fewer_runs_than_there_are_workers(study, treebanks, tmp_path):
    small = study.model_copy(update={"seeds": (1,), "conditions": study.conditions[:1]})
    report = run(small, tmp_path, treebanks, executor="processes", workers=3)
    assert (report.failed, report.plan.done, report.plan.left) == ((), 1, ())


@pytest.mark.parametrize("threads", [None, "3"])
def test_only_workers_have_one_thread(threads, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if threads is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
    with _one_thread():
        assert os.environ["OMP_NUM_THREADS"] == "1"
    assert os.environ.get("OMP_NUM_THREADS") == threads
