"""``crosslens plan``: list the runs of a study."""

import click

from crosslens.cli._options import data_option
from crosslens.cli._study import set_option, store_option

SHOWN = 4
"""Number of missing evaluations that are listed by name; the others are counted."""

FEW = 3
"""Most differences to the nearest run that are listed; a run with more is a different experiment."""


@click.command("plan")
@click.argument("study")
@store_option
@set_option
@click.option("--all", "everything", is_flag=True, help="List finished runs too.")
@data_option
def command(study: str, out: str, settings: tuple[str, ...], everything: bool, data: str | None) -> None:
    """List the runs of STUDY (a .yaml file, or one of `crosslens list studies`): done, to do, and why.

    The encoder and the corpora are loaded, because run ids depend on their content. Nothing is trained, except that a
    missing encoder of artificial languages (lab:PRESET) is pretrained.
    """
    from crosslens.cli._display import progress, say
    from crosslens.cli._study import describe_differences, find_study, mean_seconds
    from crosslens.formatting import duration
    from crosslens.runs.corpora import Corpora
    from crosslens.runs.explain import nearest
    from crosslens.runs.run import ModelRun
    from crosslens.runs.store import Store
    from crosslens.studies.plan import plan

    chosen = find_study(study, settings)
    store = Store(out)
    with progress() as bar:
        planned = plan(chosen, store, corpora=Corpora(data), progress=bar)
    left = {asked.run.id: asked for asked in planned.left}
    shared: dict[str, list[str]] = {}
    for name, runs in store.studies().items():
        for run in runs if name != chosen.name else ():
            shared.setdefault(run, []).append(name)
    for run in (asked.run for asked in planned.runs):
        todo = left.get(run.id)
        if todo is None and not everything:
            continue
        state = "done" if todo is None else "to do"
        words = [f"{run.id}  {state:<5}  {run.label}"]
        if run.id in shared:
            words.append(f"shared with {', '.join(shared[run.id])}")
        if todo is not None and store.path(run.id).is_dir():
            names = [question.about for question in todo.questions]
            more = f" and {len(names) - SHOWN} more evaluations" if len(names) > SHOWN else ""
            words.append(f"done except for {', '.join(names[:SHOWN])}{more}")
        elif todo is not None:
            if store.failed(run.id):
                words.append("failed in the last attempt")
            near = nearest(run.identity, store)
            if near and len(near[1]) <= FEW:
                words.append(f"new: {describe_differences(near[1])} in {near[0]}")
        click.echo("; ".join(words))
    for note in planned.notes:
        click.echo(f"note: {note}")
    waiting = f", {planned.waiting} waiting for other runs" if planned.waiting else ""
    click.echo(f"{chosen.name}: {planned.done} runs done, {len(planned.left)} to do{waiting}")
    seconds = mean_seconds(store)
    known = [
        seconds.get(run.training.task) if isinstance(run, ModelRun) else 0.0 for run in (a.run for a in planned.left)
    ]
    if planned.left and None not in known:
        say(f"estimated training time: {duration(sum(filter(None, known)))} on one core, from the finished runs")
