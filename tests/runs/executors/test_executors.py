"""Executors: the same bytes from each, and nothing lost when a worker or a node dies."""

import sys
import time

import pytest

from crosslens.errors import RequestError
from crosslens.runs.executors import EXECUTORS, find_executor
from crosslens.runs.executors.processes import _devices
from toy_studies import results_of, run


@pytest.mark.parametrize("name", ["processes", "slurm", pytest.param("ray", marks=pytest.mark.ray), "backwards"])
@pytest.mark.usefixtures("fresh_processes")
def test_every_executor_gives_the_same_bytes(study, treebanks, tmp_path, uninterrupted, name, plugins, monkeypatch):
    if name == "slurm":  # on this machine, even if it is part of a cluster: see test_slurm.py
        monkeypatch.setattr(pytest.importorskip("submitit").SlurmExecutor, "affinity", lambda: -1)
    if name == "ray":
        pytest.importorskip("ray").shutdown()
    report = run(study, tmp_path, treebanks, executor=name, workers=2)
    assert not report.failed
    assert results_of(tmp_path).read_bytes() == results_of(uninterrupted).read_bytes()
    if name == "ray":
        __import__("ray").shutdown()


def test_every_executor_is_tested():
    assert set(EXECUTORS.built_in) == {"serial", "processes", "slurm", "ray"}


@pytest.mark.parametrize("workers", [-1, 0, "2"])
@pytest.mark.parametrize("name", ["serial", "processes"])
def test_there_is_at_least_one_worker(name, workers):
    """With -1 a study ended at once, without a failure and with nothing done."""
    with pytest.raises(RequestError, match=f"workers={workers!r} is not an integer of at least 1"):
        find_executor(name, workers=workers)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("proceses", None, "did you mean 'processes'"),
        ("serial", {"a": "b"}, "serial takes no options, but got a"),
        ("processes", {"a": "b"}, "the executor processes takes no options, but got a"),
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
                until, busy = time.monotonic() + 60, []
                while not busy and time.monotonic() < until:  # the others may not have begun
                    lines = {
                        process: " ".join(process.info["cmdline"] or []) for process in psutil.process_iter(["cmdline"])
                    }
                    busy = [process for process, line in lines.items() if "ray::execute" in line]
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


def test_workers_share_the_gpus_in_turn(monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    gpus = ["cuda:0", "cuda:1"]
    assert _devices(None, None) == _devices("cuda", None) == gpus
    assert _devices(None, 5) == [*gpus, *gpus, "cuda:0"]
    assert _devices("cuda:1", 2) == ["cuda:1"] * 2
    assert (_devices("cuda:1", None), _devices("mps", None)) == (["cuda:1"], ["mps"])
    assert _devices("cpu", 3) == ["cpu"] * 3
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert _devices(None, 2) == ["cpu"] * 2


def test_there_are_as_many_workers_as_cores_that_the_process_may_use(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {0, 4}, raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: 64)
    assert _devices("cpu", None) == ["cpu"] * 2
    monkeypatch.delattr("os.sched_getaffinity")  # as on macOS
    assert _devices("cpu", None) == ["cpu"] * 64
