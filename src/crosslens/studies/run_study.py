"""Run a study: plan it, do the unfinished runs, and plan again until no new runs appear."""

import json
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path

import torch
from ruamel.yaml import YAML

from crosslens.encoders.encoder import find_device
from crosslens.errors import RequestError
from crosslens.progress import Listener, Progress, Update, callback, listening, terminable
from crosslens.runs.corpora import Corpora
from crosslens.runs.execute import PATIENCE, Context, Outcome, steps_reported
from crosslens.runs.executors import find_executor
from crosslens.runs.executors.processes import Processes
from crosslens.runs.executors.serial import Serial
from crosslens.runs.run import Asked, ModelRun
from crosslens.runs.store import Store, is_store
from crosslens.studies.plan import Plan, plan, unfinished
from crosslens.studies.study import Study, read_study
from crosslens.studies.summary import summarise
from crosslens.training import versions


@dataclass(frozen=True, slots=True)
class Report:
    """Outcome of running a study.

    Attributes:
        plan: the plan at the end.
        taken: runs that other processes are working on.
        stopped: whether the study, or one of its worker processes, was interrupted.
    """

    plan: Plan
    failed: tuple[Outcome, ...]
    taken: tuple[Outcome, ...]
    stopped: bool = False


def run_study(
    study: Study | str | Path,
    folder: str | Path,
    *,
    executor: str = "processes",
    workers: int | None = None,
    options: Mapping[str, str] | None = None,
    data: str | None = None,
    device: str | None = None,
    cache: str | Path | None = None,
    only: str | None = None,
    skip_missing: bool = False,
    command: str = "",
    progress: Listener = None,
    began: Callable[[Plan], None] | None = None,
    ended: Callable[[Outcome], None] | None = None,
) -> Report:
    """Run the unfinished runs of a study, and write its results to ``studies/NAME/results.csv``.

    ``summary.csv`` in the same folder has intervals and tests (`summarise`).

    The same call resumes after an interruption. Several processes may run one study in one store.

    Args:
        study: the study, or its file or name (`read_study`).
        folder: folder of runs.
        executor: ``serial``, ``processes``, ``ray``, ``slurm``, or a plug-in. With ``processes``, a script must call
            this function below ``if __name__ == "__main__":``, because each worker process imports the script.
        workers: number of parallel runs, always one with ``serial``; None: one for each GPU, or one for each core; with
            ``ray`` and ``slurm``, as many as the cluster allows.
        options: options of the executor, e.g. ``{"timeout_min": "240"}`` for slurm.
        data: data folder, searched first.
        device: device of the runs; None: GPUs if available.
        cache: folder of encoders pretrained on artificial languages; None: the user's cache.
        only: id of a single run to do; None: all.
        skip_missing: whether to leave out what needs missing corpora (`crosslens.studies.plan.plan`). The store records
            which ones, until the study is run with them.
        command: command line, recorded for repeating a run.
        progress: listener for the number of finished runs, with the steps of a run as the note where ``executor`` is
            ``serial``, and for the stages before and after them.
        began: callback for the first plan.
        ended: callback for the outcome of each run.

    Returns:
        The plan, the runs that failed, and whether the study was stopped.

    Raises:
        RequestError: if the study does not exist or names something unknown, ``only`` is not one of its runs,
            ``workers`` is below 1, or this machine, on which the runs would be, lacks the device.
        DataError: if corpora are missing, nothing is left without them, or one lacks the annotation of its task.
        StoreError: if the folder cannot be written to, or is on a file system without locks.
    """
    if not isinstance(study, Study):
        study = read_study(study)
    chosen = find_executor(executor, workers=workers, options=options)
    # Other executors run on other machines; where there is a GPU, workers ask for it, because asking holds its memory.
    if device is not None and isinstance(chosen, Serial | Processes) and not torch.cuda.is_available():
        find_device(device)
    known, first = is_store(folder), None
    store, corpora = Store(folder), Corpora(data)
    listener = listening(progress)
    context = Context(str(folder), data, device, "models" in study.keep, command, time.time())
    outcomes: dict[str, Outcome] = {}
    tried: list[Asked] = []
    stopped = False

    def record(outcome: Outcome) -> None:
        outcomes[outcome.run] = outcome
        if ended is not None:
            ended(outcome)

    def make_plan(progress: Listener = None) -> Plan:
        planned = plan(study, store, corpora=corpora, cache=cache, skip_missing=skip_missing, progress=progress)
        if only is not None and only not in {asked.run.id for asked in planned.runs}:
            hint = f"`crosslens plan STUDY --out {folder} --all` lists them"
            raise RequestError(f"{study.name} has no run {only}", hint=hint)
        return planned

    if not known:  # a refusal writes nothing
        with store.removed_if_refused():
            first = make_plan(listener)
    store.refuse_without_locks()
    # `crosslens status` sees the claim. A further process on the same study works without it.
    with store.claim(f"{study.name}.study", patience=PATIENCE):
        planned = first or make_plan(listener)
        if began is not None:
            began(planned)
        while True:
            before = _keep(store, planned)
            if before is not None and not tried:
                listener.say(f"{study.name} has changed: its earlier results are in {before} until it is finished")
            unsuccessful = {run for run, outcome in outcomes.items() if outcome.state != "done"}
            # A failed run is not retried; a finished one may be asked more, once a search has chosen its settings.
            pending = [
                asked
                for asked in planned.left
                if asked not in tried and only in (None, asked.run.id) and asked.run.id not in unsuccessful
            ]
            if not pending:
                break
            tried += pending
            stopped = _follow(chosen.submit(pending, context), planned, record, listener)
            if stopped:
                planned = replace(planned, left=unfinished(store, planned.asked, models=context.keep_models))
                break
            planned = make_plan()
        if not planned.left:
            store.tidy(asked.run.id for asked in planned.asked)
            listener.report("writing results", 0)
            summary = summarise(store, planned.asked, study=study.name).to_csv(index=False)
            store.finish_study(study.name, results=store.collect(study.name), summary=summary)
    failed, taken = (tuple(end for end in outcomes.values() if end.state == state) for state in ("failed", "taken"))
    stopped = stopped or any(end.state == "stopped" for end in outcomes.values())  # a worker may be, alone
    return Report(planned, failed, taken, stopped)


def _follow(
    runs: Generator[Outcome, None, None], planned: Plan, record: Callable[[Outcome], None], listener: Progress
) -> bool:
    """Record the outcomes of one round of runs as they end; return whether the round was interrupted."""
    done, stage = planned.done, "training and evaluating"
    total, unit = len(planned.runs), "runs"
    if planned.waiting:
        unit += f" ({planned.waiting} more wait for some of them)"

    def step(update: Update) -> None:
        listener.report(stage, done, total, unit, str(update))

    listener.report(stage, done, total, unit)
    with terminable(), closing(runs), steps_reported(callback(step)):
        try:
            for outcome in runs:
                done += outcome.state == "done"
                record(outcome)
                listener.report(stage, done, total, unit, outcome.about)
            listener.report(stage, done, total, unit)
        except KeyboardInterrupt:
            return True
    return False


def _keep(store: Store, planned: Plan) -> Path | None:
    """Write the plan; return the file of the results of an earlier one, if there are any."""
    stream = StringIO()
    YAML().dump(planned.study.model_dump(mode="json", exclude_defaults=True), stream)
    keeps = "models" in planned.study.keep
    described = {
        "runs": {asked.run.id: asked.run.label for asked in planned.runs},
        "waiting": planned.waiting,
        "missing": [{"corpus": missing.corpus, "needed_for": missing.needed_for} for missing in planned.missing],
        "models": [asked.run.id for asked in planned.runs if isinstance(asked.run, ModelRun)] if keeps else [],
        "asked": [asked.view for asked in planned.asked],
        "versions": versions.current(),
    }
    plan_text = json.dumps(described, indent=1, ensure_ascii=False) + "\n"
    return store.keep_plan(planned.study.name, {"study.yaml": stream.getvalue(), "plan.json": plan_text})
