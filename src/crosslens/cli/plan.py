"""``crosslens plan``: list the runs of a study."""

from typing import TYPE_CHECKING

import click

from crosslens.cli._names import STUDY
from crosslens.cli._options import data_option, json_option
from crosslens.cli._study import set_option, skip_missing_option, store_option
from crosslens.errors import DataError
from crosslens.formatting import counted, duration

if TYPE_CHECKING:
    from crosslens.studies.missing import Missing

MAX_QUESTIONS = 4
"""Maximum number of missing evaluations to list by name; the remaining ones are counted."""

MAX_DIFFERENCES = 3
"""Maximum number of differences to the nearest run to list; with more, it is a different experiment."""


@click.command("plan")
@click.argument("study", type=STUDY)
@store_option
@set_option
@click.option("--all", "everything", is_flag=True, help="List finished runs too.")
@skip_missing_option
@data_option
@json_option
def command(
    study: str,
    out: str,
    settings: tuple[str, ...],
    everything: bool,
    skip_missing: bool,
    data: str | None,
    as_json: bool,
) -> None:
    """List the runs of STUDY (a .yaml file, or one of `crosslens list studies`): done, to do, and why.

    The encoder and the corpora are loaded, because run ids depend on their content. Nothing is trained, except that a
    missing encoder of artificial languages (lab:PRESET) is pretrained.
    """
    from crosslens.cli._study import describe_differences, find_study, mean_seconds

    chosen = find_study(study, settings)  # mistakes are reported before torch is imported, which takes seconds

    from crosslens.cli._display import print_object, progress, say
    from crosslens.cli._missing import describe_missing, print_missing
    from crosslens.runs.corpora import Corpora
    from crosslens.runs.explain import nearest
    from crosslens.runs.run import EncoderRun, ModelRun
    from crosslens.runs.store import Store
    from crosslens.studies.missing import MissingCorpora
    from crosslens.studies.plan import plan

    store = Store(out)
    try:
        with store.removed_if_refused(), progress() as bar:
            planned = plan(chosen, store, corpora=Corpora(data), skip_missing=skip_missing, progress=bar)
    except MissingCorpora as error:
        if as_json:
            print_object({"study": chosen.name, "missing": [_described(missing) for missing in error.missing]})
        else:
            print_missing(error.missing)
        if len(error.missing) == 1:
            raise
        raise DataError(error.summary, hint=error.hint) from None
    unfinished = {asked.run.id: asked for asked in planned.left}
    if as_json:
        print_object(
            {
                "study": chosen.name,
                "runs": [
                    {
                        "run": asked.run.id,
                        "label": asked.run.label,
                        "done": asked.run.id not in unfinished,
                        "open": [question.about for question in unfinished[asked.run.id].questions]
                        if asked.run.id in unfinished
                        else [],
                    }
                    for asked in planned.runs
                    if everything or asked.run.id in unfinished
                ],
                "waiting": planned.waiting,
                "notes": planned.notes,
                "missing": [_described(missing) for missing in planned.missing],
            }
        )
        return
    if planned.missing:
        print_missing(planned.missing)
    for line in describe_missing(planned.missing):
        click.echo(line)
    shared: dict[str, list[str]] = {}
    for name, runs in store.studies().items():
        for run in runs if name != chosen.name else ():
            shared.setdefault(run, []).append(name)
    finished = store.identities() if unfinished else {}
    for run in (asked.run for asked in planned.runs):
        todo = unfinished.get(run.id)
        if todo is None and not everything:
            continue
        state = "done" if todo is None else "to do"
        words = [f"{run.id}  {state:<5}  {run.label}"]
        if run.id in shared:
            words.append(f"shared with {', '.join(shared[run.id])}")
        if todo is not None and store.path(run.id).is_dir():
            names = [question.about for question in todo.questions] or ["its model, which is to be kept"]
            more = f" and {len(names) - MAX_QUESTIONS} more evaluations" if len(names) > MAX_QUESTIONS else ""
            words.append(f"done except for {', '.join(names[:MAX_QUESTIONS])}{more}")
        elif todo is not None:
            if store.failed(run.id):
                words.append("failed in the last attempt")
            neighbour = nearest(run.identity, finished)
            if neighbour and len(neighbour[1]) <= MAX_DIFFERENCES:
                words.append(f"new: {describe_differences(neighbour[1])} in {neighbour[0]}")
        click.echo("; ".join(words))
    for note in planned.notes:
        click.echo(f"note: {note}")
    waiting = f", {planned.waiting} waiting for other runs" if planned.waiting else ""
    click.echo(f"{chosen.name}: {counted(planned.done, 'run', 'runs')} done, {len(planned.left)} to do{waiting}")
    seconds = mean_seconds(store)
    trained = [asked.run for asked in planned.left if not isinstance(asked.run, EncoderRun)]
    estimates = [seconds.get(run.training.task) if isinstance(run, ModelRun) else None for run in trained]
    if estimates and None not in estimates:
        total = duration(sum(filter(None, estimates)))
        more = "; the waiting runs are not included" if planned.waiting else ""
        say(f"estimated training time: {total} on one core, from the finished runs{more}")


def _described(missing: "Missing") -> dict[str, object]:
    return {"corpus": missing.corpus, "needed_for": missing.needed_for, "reason": str(missing.error)}
