"""Ray, played by a module that does a task when its result is asked for; test_executors.py starts a cluster."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from crosslens.errors import RequestError
from crosslens.runs.execute import Context, Outcome
from crosslens.runs.executors import find_executor
from crosslens.runs.executors import ray as module
from crosslens.runs.store import Store
from made_runs import asked


class LostNode(Exception):
    pass


class PlayedRay(ModuleType):
    """It remembers how it was called, and how many tasks were running at most."""

    def __init__(self):
        super().__init__("ray")
        self.exceptions = SimpleNamespace(RayError=LostNode)
        self.settled, self.running, self.most, self.cancelled = {}, {}, 0, []
        self.connected, self.started = True, []

    def is_initialized(self):
        return self.connected

    def init(self, **settings):
        self.started.append(settings)

    def remote(self, function):
        def begin(*given):
            reference = object()
            self.running[reference] = lambda: function(*given)
            self.most = max(self.most, len(self.running))
            return reference

        def options(**settled):
            self.settled = settled
            return SimpleNamespace(remote=begin)

        return SimpleNamespace(options=options)

    def wait(self, references, num_returns):
        """The first task that ends may be neither the first nor the last that began."""
        place = len(references) // 2
        return references[place : place + num_returns], [*references[:place], *references[place + num_returns :]]

    def get(self, reference):
        return self.running.pop(reference)()

    def cancel(self, reference, force):
        self.cancelled.append(reference)


RUNS = [asked(seed=seed) for seed in range(5)]


@pytest.fixture
def ray(monkeypatch):
    """The module; the run of seed 3 loses its node, and the others succeed."""
    played = PlayedRay()

    def execute(wanted, context):
        if wanted.run.seed == 3:
            raise LostNode("the node died\nand more lines")
        return Outcome(wanted.run.id, wanted.run.label, "done")

    monkeypatch.setitem(sys.modules, "ray", played)
    monkeypatch.setattr(module, "execute", execute)
    return played


@pytest.mark.parametrize(("workers", "most"), [(1, 1), (2, 2), (9, 5), (None, 5)])
def test_every_run_has_one_outcome_and_no_more_run_at_once_than_asked(ray, tmp_path, workers, most):
    store = Store(tmp_path / "store")
    outcomes = list(find_executor("ray", workers=workers).submit(RUNS, Context(str(store.folder))))
    assert {outcome.run: outcome.state for outcome in outcomes} == {
        each.run.id: "failed" if each.run.seed == 3 else "done" for each in RUNS
    }
    assert len(outcomes) == len(RUNS)
    assert ray.most == most
    (lost,) = (outcome for outcome in outcomes if outcome.state == "failed")
    assert lost.tail == "its worker or node went away 4 times: the node died"
    assert [store.failed(each.run.id) for each in RUNS] == [False, False, False, True, False]
    assert ray.cancelled == []


def test_what_still_runs_is_cancelled_when_the_study_is_stopped(ray, tmp_path):
    outcomes = find_executor("ray", workers=3).submit(RUNS, Context(str(tmp_path)))
    next(outcomes)
    outcomes.close()
    assert ray.cancelled == list(ray.running)
    assert len(ray.cancelled) == 2


def test_ray_is_started_once_without_output_of_its_own_and_a_connected_cluster_stays(ray, tmp_path):
    for ray.connected in (True, False):
        list(find_executor("ray").submit(RUNS[:2], Context(str(tmp_path))))
    (settings,) = ray.started
    assert not any(settings[output] for output in ("log_to_driver", "include_dashboard", "configure_logging"))


def test_options_are_numbers_and_replace_the_usual_ones(ray, tmp_path):
    options = {"num_cpus": "2", "num_gpus": "0.5"}
    list(find_executor("ray", options=options).submit(RUNS[:1], Context(str(tmp_path))))
    assert ray.settled == {"max_retries": 3, "num_cpus": 2.0, "num_gpus": 0.5}
    list(find_executor("ray").submit(RUNS[:1], Context(str(tmp_path))))
    assert ray.settled == {"max_retries": 3, "num_cpus": 1.0}
    with pytest.raises(RequestError, match="ray option num_gpus must be a number, not 'one'"):
        find_executor("ray", options={"num_gpus": "one"})
