"""Running a study: plan, do what is left, and plan again until nothing new can be known."""

import json
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from types import FrameType

from ruamel.yaml import YAML

from crosslens.errors import RequestError
from crosslens.files import write_text
from crosslens.progress import Listener, listening
from crosslens.runs.corpora import Corpora
from crosslens.runs.execute import Context, Outcome
from crosslens.runs.executors import find_executor
from crosslens.runs.store import Store
from crosslens.studies.plan import Plan, plan, unfinished
from crosslens.studies.study import Study
from crosslens.studies.summary import summarise
from crosslens.training import versions


@dataclass(frozen=True, slots=True)
class Report:
    """What became of a study.

    Attributes:
        plan: as it stands at the end.
        failed: runs that failed.
        taken: runs that other processes work on.
        stopped: whether it was asked to stop.
    """

    plan: Plan
    failed: tuple[Outcome, ...]
    taken: tuple[Outcome, ...]
    stopped: bool = False


def run_study(
    study: Study,
    folder: str | Path,
    *,
    executor: str = "processes",
    workers: int | None = None,
    options: Mapping[str, str] | None = None,
    data: str | None = None,
    device: str | None = None,
    cache: str | Path | None = None,
    only: str | None = None,
    command: str = "",
    progress: Listener = None,
    ended: Callable[[Outcome], None] | None = None,
) -> Report:
    """Do the runs of a study that are not done yet, and keep its records as ``studies/NAME/results.csv``.

    Beside them, ``summary.csv`` has intervals and tests (`summarise`).

    Interrupted at any moment, the same call goes on. Several processes may run one study in one store.

    Args:
        study: the study.
        folder: the store.
        executor: ``serial``, ``processes``, ``ray``, ``slurm``, or a plug-in.
        workers: runs at once; None: one a GPU, or one a core.
        options: of the executor, such as ``{"timeout_min": "240"}`` for slurm.
        data: folder that is looked through first for corpora.
        device: None: GPUs where there are any.
        cache: folder of encoders that are pretrained on artificial languages; None: the user's.
        only: the id of the one run that is to be done.
        command: what was typed, kept for whoever repeats a run.
        progress: hears how many runs are done, and of what comes before and after them.
        ended: called with the outcome of each run.

    Returns:
        The plan, the runs that failed, and whether the study was stopped.

    Raises:
        RequestError: for what the study names and there is not; for ``only`` that is none of its runs.
        StoreError: when the folder cannot be written to.
    """
    chosen = find_executor(executor, workers=workers, options=options)
    store, corpora = Store(folder), Corpora(data)
    listener = listening(progress)
    context = Context(str(folder), data, device, "models" in study.keep, command)
    outcomes: dict[str, Outcome] = {}
    stopped = False
    while True:
        planned = plan(study, store, corpora=corpora, cache=cache, progress=None if outcomes else listener)
        _keep(store, planned)
        if only is not None and only not in {each.run.id for each in planned.runs}:
            raise RequestError(f"{study.name} has no run {only}", hint="`crosslens plan STUDY --out DIR` lists them")
        # A run that did not end well is not tried twice.
        left = [each for each in planned.left if each.run.id not in outcomes and only in (None, each.run.id)]
        if not left:
            break
        done, stage = planned.done, "training and evaluating"
        listener.report(stage, done, len(planned.runs), "runs")
        with _stoppable(), closing(chosen.submit(left, context)) as ends:
            try:
                for outcome in ends:
                    outcomes[outcome.run] = outcome
                    done += outcome.state == "done"
                    if ended is not None:
                        ended(outcome)
                    listener.report(stage, done, len(planned.runs), "runs", f"finished {outcome.label}")
                listener.report(stage, done, len(planned.runs), "runs")
            except KeyboardInterrupt:
                stopped = True
        if stopped:
            planned = replace(planned, left=unfinished(store, planned.asked))
            break
    if not planned.left:
        listener.report("writing results", 0)
        home = store.folder / "studies" / study.name
        store.collect(study.name).write(home / "results.csv")
        summary = summarise(store, planned.asked, study=study.name)
        write_text(home / "summary.csv", summary.to_csv(index=False))
    by_state = {state: tuple(o for o in outcomes.values() if o.state == state) for state in ("failed", "taken")}
    return Report(planned, by_state["failed"], by_state["taken"], stopped)


def _keep(store: Store, planned: Plan) -> None:
    stream = StringIO()
    YAML().dump(planned.study.model_dump(mode="json", exclude_defaults=True), stream)
    described = {
        "runs": {each.run.id: each.run.label for each in planned.runs}, "waiting": planned.waiting,
        "asked": [each.view for each in planned.asked], "versions": versions.current(),
    }  # fmt: skip
    plan_text = json.dumps(described, indent=1, ensure_ascii=False) + "\n"
    store.keep_plan(planned.study.name, {"study.yaml": stream.getvalue(), "plan.json": plan_text})


@contextmanager
def _stoppable() -> Iterator[None]:
    """SIGTERM, which clusters send, stops as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
