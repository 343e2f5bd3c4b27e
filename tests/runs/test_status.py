"""How far studies are, from the folders of a store alone."""

import errno
import json
import os
import time

import pytest

from crosslens.runs.status import RATE_WINDOW, Status, status
from crosslens.runs.store import Store
from made_runs import FRENCH, answers, asked, publish


def done(number):
    """Id of a finished run."""
    return asked(seed=number).run.id


@pytest.fixture
def store(tmp_path):
    """A store with finished runs: so many seconds ago; and a study of them and of others."""

    def make(*ago, left=(), models=()):
        store, now = Store(tmp_path), time.time()
        names = [done(number) for number in range(len(ago))]
        for number, seconds in enumerate(ago):
            publish(store, asked(seed=number), answers(FRENCH))
            os.utime(store.path(names[number]), (now - seconds, now - seconds))
        plan = {"runs": {name: name for name in (*names, *left)}, "waiting": 2, "asked": [], "models": [*models]}
        store.keep_plan("s", {"plan.json": json.dumps(plan)})
        return store

    return make


def test_the_rate_is_of_the_time_between_the_runs_of_the_last_hour(store):
    """Three runs in half an hour are two steps of a quarter of an hour; what is older is not counted."""
    (found,) = status(store(2 * RATE_WINDOW, 2000, 1100, 200, left=("a", "b")))
    assert (found.runs, found.done, found.waiting) == (6, 4, 2)
    assert found.per_hour == pytest.approx(4.0)
    assert found.describe() == "s: 4 of 6 runs done, 2 wait for others, 4 an hour, 30 min 0 s left"


@pytest.mark.parametrize("ago", [(), (100,), (2 * RATE_WINDOW, 3 * RATE_WINDOW)])
def test_there_is_no_rate_of_fewer_than_two_runs(store, ago):
    (found,) = status(store(*ago, left=("a",)))
    assert found.per_hour == 0.0
    assert "an hour" not in found.describe()


def test_what_runs_and_what_failed_is_counted_of_what_is_left(store):
    made = store(10, left=("a", "b", "c"))
    for name in (done(0), "b", "c"):
        (made.folder / "failed" / name).mkdir()
    with made.claim("a") as mine, made.claim(done(0)):
        assert mine
        (found,) = status(made)
    assert (found.running, found.failed) == (1, 2)
    assert status(made)[0].running == 0


def test_runs_that_failed_since_the_command_began_are_not_in_the_time_left(store):
    """It retries those that failed before, as does a repeated command. Half an hour passes between two runs."""
    made = store(2000, 200, left=("a", "b", "c", "d"))
    line = "s: 2 of 6 runs done, {}, 2 wait for others, 2 an hour, {} left"
    for name in "abc":
        (made.folder / "failed" / name).mkdir()
        os.utime(made.folder / "failed" / name, (time.time() - 60,) * 2)
    with made.claim("s.study"):
        assert status(made)[0].describe() == line.format("3 failed", "2 h 0 min")
        for name in "ab":
            os.utime(made.folder / "failed" / name, (time.time() + 60,) * 2)
        told = "3 failed (2 not retried until the command is repeated)"
        assert status(made)[0].describe() == line.format(told, "1 h 0 min")
        with made.claim("a"):  # by another command
            told = "1 running, 3 failed (1 not retried until the command is repeated)"
            assert status(made)[0].describe() == line.format(told, "1 h 30 min")
    assert status(made)[0].describe() == line.format("3 failed", "2 h 0 min")


def test_only_failed_runs_have_no_time_left():
    assert Status("s", 3, 1, 0, 2, 0, 12.0, active=True, given_up=2).describe() == (
        "s: 1 of 3 runs done, 2 failed (not retried until the command is repeated)"
    )


@pytest.mark.parametrize("name", ["run.json", "records.parquet", "counts.npz"])
@pytest.mark.parametrize("content", [None, "[]"])
def test_finished_runs_with_a_missing_or_damaged_file_are_counted(store, name, content):
    """Counts, which are large, are not read."""
    made = store(10, 20)
    assert "damaged" not in status(made)[0].describe()
    file = made.path(done(1)) / name
    file.unlink()
    if content is not None:
        file.write_text(content)
    damaged = content is None or name != "counts.npz"
    assert ("2 of 2 runs done, 1 damaged" in status(made)[0].describe()) == damaged


def test_a_run_whose_model_is_to_be_kept_is_done_when_the_model_is_there(store):
    made = store(10, 20, models=(done(0), done(1)))
    made.model(done(0)).mkdir()
    (found,) = status(made)
    assert (found.runs, found.done) == (2, 1)


def test_the_status_of_a_store_that_cannot_be_written_is_read(store, monkeypatch):
    """Colleagues look at each other's studies, and archives are mounted read-only."""
    made, opened = store(10, left=("a",)), os.open
    with made.claim("a"):

        def read_only(path, flags, *rest, **options):
            if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)
            return opened(path, flags, *rest, **options)

        monkeypatch.setattr(os, "open", read_only)
        (found,) = status(Store(made.folder))
    assert (found.done, found.running) == (1, 1)


def test_a_process_that_runs_the_study_is_seen(store):
    made = store(10)
    with made.claim("s.study"):
        assert status(made)[0].active
    assert not status(made)[0].active


def test_a_study_began_when_it_was_claimed_last(store):
    """The file of a claim stays where the process that made it was killed."""
    made = store(10)
    claim = made.folder / "claims" / "s.study"
    claim.parent.mkdir(exist_ok=True)
    claim.touch()
    os.utime(claim, (1, 1))
    with made.claim("s.study"):
        assert made.claimed_since("s.study") == pytest.approx(time.time(), abs=3600)


def test_a_study_that_is_done_has_no_time_left():
    assert Status("s", 3, 3, 0, 0, 0, 12.0).describe() == "s: 3 of 3 runs done"
    assert Status("s", 3, 1, 1, 1, 0, 12.0).describe() == (
        "s: 1 of 3 runs done, 1 running, 1 failed, 12 an hour, 10 min 0 s left"
    )


@pytest.mark.parametrize(
    ("counts", "active", "ended"),
    [
        ((3, 3, 0, 0, 0), False, True),
        ((3, 2, 0, 1, 0), False, True),
        ((3, 2, 1, 1, 0), False, False),  # it is tried again
        ((3, 1, 0, 1, 0), False, False),
        ((3, 3, 0, 0, 2), False, False),  # stopped before the runs that wait were planned
        ((3, 2, 0, 1, 2), False, True),  # what waits for a failed run is not begun
        ((3, 2, 0, 1, 2), True, False),
        ((3, 2, 0, 1, 0), True, False),  # a further attempt is being planned
    ],
)
def test_a_study_has_ended_when_nothing_works_on_it_and_only_failed_runs_are_left(counts, active, ended):
    assert Status("s", *counts, per_hour=0.0, active=active).ended == ended
