"""Slurm: jobs of a real cluster that are preempted, run out of time, and die; sbatch that refuses."""

import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field

import pytest

import slurm_node
from crosslens.errors import RequestError, WorkError
from crosslens.runs.execute import Context, Outcome
from crosslens.runs.executors import slurm
from crosslens.runs.store import Store
from made_runs import asked
from toy_studies import results_of, run

submitit = pytest.importorskip("submitit")


def call(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()


def queue():
    """This user's jobs: id -> state."""
    words = call("squeue", "--me", "--noheader", "--array", "--format=%i %T")
    return dict(zip(words[::2], words[1::2], strict=True))


@pytest.fixture(scope="module")
def node(tmp_path_factory):
    if reason := slurm_node.lacking():
        pytest.skip(reason)
    with slurm_node.slurm_node(tmp_path_factory.mktemp("slurm")) as variables:
        yield variables


@pytest.fixture
def cluster(node, monkeypatch):
    for name, value in node.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def commands(tmp_path, monkeypatch):
    """A folder of commands that is searched first; ``write(name, text)`` makes a shell script."""
    folder = tmp_path / "commands"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    def write(name, text):
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)

    return write


@dataclass
class Disturbance:
    """Waits in a thread until jobs train, and disturbs them: ``disturb`` gets their ids."""

    store: Store
    disturb: object
    jobs: int
    disturbed: list = field(default_factory=list)

    def __enter__(self):
        self.thread = threading.Thread(target=self.wait, daemon=True)
        self.thread.start()

    def wait(self):
        until = time.monotonic() + 120
        while time.monotonic() < until:
            time.sleep(0.5)
            running = [job for job, state in queue().items() if state == "RUNNING"]
            claims = [run for runs in self.store.studies().values() for run in runs if self.store.claimed(run)]
            if len(running) >= self.jobs and len(claims) >= self.jobs:
                time.sleep(2)
                self.disturb(running)
                self.disturbed += running
                return

    def __exit__(self, *error):
        self.thread.join()


@pytest.fixture
def long(study):
    """Two runs of half a minute."""
    return study.model_copy(update={"seeds": (1,), "set": {"batch": 1, "epochs": 1500}})


@pytest.mark.slow
@pytest.mark.slurm
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("cluster", "fresh_processes")
def test_jobs_that_are_preempted_or_run_out_of_time_resume(long, treebanks, tmp_path):
    """A job of a higher partition preempts both; then one gets the signal that announces its time limit."""
    run(long, tmp_path / "whole", treebanks)
    store = Store(tmp_path / "slurm")

    def queued_again(job):
        """Slurm lets a requeued job wait two minutes; here it does not."""
        until = time.monotonic() + 60
        while queue()[job] != "PENDING" and time.monotonic() < until:
            time.sleep(1)
        call("scontrol", "update", f"JobId={job}", "StartTime=now")

    def disturb(jobs):
        call("sbatch", "--partition=high", "--exclusive", "--output=/dev/null", "--wrap=sleep 3")
        for job in jobs:
            queued_again(job)
        until = time.monotonic() + 60
        while queue()[jobs[0]] != "RUNNING" and time.monotonic() < until:
            time.sleep(1)
        time.sleep(8)
        call("scancel", f"--signal={submitit.JobEnvironment.USR_SIG}", jobs[0])
        queued_again(jobs[0])

    disturbance = Disturbance(store, disturb, 2)
    with disturbance:
        report = run(long, store.folder, treebanks, executor="slurm", options={"timeout_min": "60"})
    assert len(disturbance.disturbed) == 2
    assert not report.failed
    assert not report.stopped
    logs = ["\n".join(store.log(name)) for name in store.ids()]
    assert ["resuming from" in log for log in logs] == [True, True]
    assert results_of(store.folder).read_bytes() == results_of(tmp_path / "whole").read_bytes()


@pytest.mark.slow
@pytest.mark.slurm
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("cluster", "fresh_processes")
def test_a_job_that_dies_is_noticed_and_takes_only_its_own_run_along(long, treebanks, tmp_path):
    run(long, tmp_path / "whole", treebanks)
    store = Store(tmp_path / "slurm")
    disturbance = Disturbance(store, lambda jobs: call("scancel", "--signal=KILL", jobs[0]), 2)
    with disturbance:
        report = run(long, store.folder, treebanks, executor="slurm", options={"timeout_min": "60"})
    (outcome,) = report.failed
    assert "its job" in outcome.tail
    assert len(store.ids()) == 1
    assert not run(long, store.folder, treebanks, executor="slurm", options={"timeout_min": "60"}).failed
    assert results_of(store.folder).read_bytes() == results_of(tmp_path / "whole").read_bytes()


def test_a_refusal_by_sbatch_is_one_sentence(study, treebanks, tmp_path, commands):
    commands("srun", "exit 1")
    commands("sbatch", "echo 'sbatch: error: invalid partition specified: gpu' >&2; exit 1")
    with pytest.raises(WorkError, match="sbatch refused the jobs: sbatch: error: invalid partition specified: gpu"):
        run(study, tmp_path / "store", treebanks, executor="slurm")


@pytest.mark.parametrize("option", [{"partitoin": "gpu"}, {"timeout_min": "long"}])
def test_an_option_that_submitit_does_not_know(tmp_path, option):
    with pytest.raises(RequestError, match=f"slurm options: .*{next(iter(option))}"):
        next(slurm.Slurm(None, option).submit([], Context(str(tmp_path))))


def test_options_have_their_types_and_replace_the_usual_ones(tmp_path, monkeypatch):
    settled = {}

    def refuse(executor, **parameters):
        settled.update(parameters)
        raise ValueError("enough")

    monkeypatch.setattr(submitit.AutoExecutor, "update_parameters", refuse)
    options = {"cpus_per_task": "4", "mem_gb": "1.5", "slurm_use_srun": "false", "slurm_partition": "gpu"}
    with pytest.raises(RequestError, match="enough"):
        next(slurm.Slurm(2, options).submit([], Context(str(tmp_path))))
    typed = {"cpus_per_task": 4, "mem_gb": 1.5, "slurm_use_srun": False, "slurm_partition": "gpu"}
    assert settled == {"name": "crosslens", "slurm_array_parallelism": 2, **typed}


def test_a_job_that_leaves_the_queue_without_a_result(study, treebanks, tmp_path, commands, monkeypatch):
    """submitit would wait for it for ever where there is no accounting. One that is listed again has not left it."""
    monkeypatch.setattr(slurm, "POLL", 0.01)
    looks = tmp_path / "looks"
    looks.write_text("0")
    commands("srun", "exit 0")
    commands("sbatch", "echo Submitted batch job 7")
    commands("sacct", "exit 1")
    count = f"look=$(($(cat {looks}) + 1)); echo $look > {looks}; echo 9"
    commands("squeue", f"{count}; if [ $look -lt 10 ] && [ $((look % 3)) = 0 ]; then echo 7_1; fi")
    monkeypatch.setattr(submitit.SlurmJob, "cancel", lambda job, check=True: None)
    ended, looked = [], []

    def after(outcome):
        ended.append(outcome)
        looked.append(int(looks.read_text()))

    report = run(study, tmp_path / "store", treebanks, executor="slurm", ended=after)
    assert looked == [3, 3, 3, 12]
    assert [outcome.state for outcome in ended] == ["failed"] * 4
    assert {outcome.run for outcome in report.failed} == {outcome.run for outcome in ended}
    assert ended[0].tail.startswith("its job 7_0 left the queue without a result; see ")


def test_jobs_that_are_left_are_all_cancelled_also_where_slurm_refuses_one(tmp_path, commands, monkeypatch):
    """Slurm refuses to cancel a job that has just ended."""
    monkeypatch.setattr(slurm, "POLL", 0.01)
    commands("srun", "exit 0")
    commands("sbatch", "echo Submitted batch job 7")
    commands("sacct", "exit 1")
    commands("squeue", "echo 7_1; echo 7_2")
    commands("scancel", f"echo $1 >> {tmp_path / 'cancelled'}; exit 1")
    runs = [asked(seed=seed) for seed in range(3)]
    outcomes = slurm.Slurm().submit(runs, Context(str(tmp_path / "store")))
    assert next(outcomes).run == runs[0].run.id
    outcomes.close()
    assert (tmp_path / "cancelled").read_text().split() == ["7_1", "7_2"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR2])
def test_a_signal_saves_the_state_and_the_job_ends_without_an_outcome(number, monkeypatch):
    """What submitit's handler does, it does after the state is saved."""
    happened = []
    before = {each: signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGUSR2)}

    def stopped(asked, context, *, stop):
        assert not stop()
        os.kill(os.getpid(), number)
        assert stop()
        happened.append("saved")
        return Outcome("run", "label", "stopped")

    monkeypatch.setattr(slurm, "execute", stopped)
    signal.signal(signal.SIGUSR2, lambda *_: happened.append("requeued"))
    try:
        with pytest.raises(SystemExit):
            slurm._Job()(None, None)
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
    assert happened == (["saved"] if number == signal.SIGTERM else ["saved", "requeued"])
