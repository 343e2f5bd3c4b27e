"""A store on a network file system: without locks, with locks that exclude nobody, under clocks that jump."""

import errno
import fcntl
import multiprocessing
import os
import random
import time

import pytest

from crosslens.errors import StoreError
from crosslens.files import lock_reason, new_folder, write_text
from crosslens.runs.status import status
from crosslens.runs.store import Store
from toy_studies import results_of, run

forks = multiprocessing.get_context("forkserver")
forks.set_forkserver_preload(["crosslens.studies.run_study", "transformers.models.bert.modeling_bert"])


def without_locks(monkeypatch, number):
    def flock(handle, operation):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", flock)


def test_a_store_that_can_only_be_read_is_not_said_to_lack_locks(tmp_path, monkeypatch):
    store = Store(tmp_path / "store")
    store.refuse_without_locks()
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(StoreError, match=r"store is not writable: nothing can be written to .*claims"):
        store.refuse_without_locks()


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
@pytest.mark.parametrize("moved", [False, True])
def test_a_study_is_refused_before_it_is_run(study, treebanks, tmp_path, monkeypatch, number, moved):
    """In a new store, and in one that was made on another file system."""
    if moved:
        Store(tmp_path / "store")
    without_locks(monkeypatch, number)
    began = []
    with pytest.raises(StoreError, match=f"store is on a file system without locks: {os.strerror(number).lower()}"):
        run(study, tmp_path / "store", treebanks, began=began.append)
    assert not began


def test_files_and_folders_are_written_without_locks(tmp_path, monkeypatch):
    """They appear whole or not at all; only what a killed process left stays, because another may be writing it."""
    left = tmp_path / ".out.0.unfinished"
    left.mkdir()
    without_locks(monkeypatch, errno.ENOLCK)
    assert lock_reason(tmp_path / "lock") is not None
    with new_folder(tmp_path / "out") as folder:
        write_text(folder / "results.csv", "1")
    assert (tmp_path / "out" / "results.csv").read_text() == "1"
    assert left.exists()


def _exclude_nobody(study, folder, treebanks):
    import torch

    fcntl.flock = lambda handle, operation: None
    torch.set_num_threads(1)
    run(study, folder, treebanks)


@pytest.mark.usefixtures("fresh_processes")
def test_locks_that_exclude_nobody_cost_work_but_no_result(study, treebanks, tmp_path, uninterrupted):
    """As NFS mounted with ``nolock``, and Lustre with ``localflock``: two machines do the same runs."""
    workers = [forks.Process(target=_exclude_nobody, args=(study, str(tmp_path), str(treebanks))) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    report = run(study, tmp_path, treebanks)
    assert not report.failed
    assert report.plan.done == 4
    assert results_of(tmp_path).read_bytes() == results_of(uninterrupted).read_bytes()
    for name in Store(tmp_path).ids():
        for file in ("records.parquet", "counts.npz"):
            path = f"runs/{name}/{file}"
            assert (tmp_path / path).read_bytes() == (uninterrupted / path).read_bytes()


def test_a_clock_that_jumps_changes_no_result(study, treebanks, tmp_path, uninterrupted, monkeypatch):
    """Years back and forth at every look, and machines that do not agree on the time of files."""
    jumps, now = random.Random(3), time.time
    monkeypatch.setattr(time, "time", lambda: now() + jumps.uniform(-1e8, 1e8))
    seen = []

    def after(outcome):
        os.utime(Store(tmp_path).path(outcome.run), (0, now() + jumps.uniform(-1e8, 1e8)))
        (row,) = status(Store(tmp_path))
        seen.append((row.done, row.per_hour >= 0, bool(row.describe())))

    assert not run(study, tmp_path, treebanks, ended=after).failed
    assert seen == [(done, True, True) for done in (1, 2, 3, 4)]
    assert results_of(tmp_path).read_bytes() == results_of(uninterrupted).read_bytes()
