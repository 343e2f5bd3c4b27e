"""``crosslens plan``: what a study would do."""

import click

from crosslens.cli._options import data_option
from crosslens.cli._study import set_option, store_option

SHOWN = 4
"""Questions of a finished run that are named; of more, their number is given."""

FEW = 3
"""Differences to the nearest run that are worth telling; one that differs in more is another experiment."""


@click.command("plan")
@click.argument("study")
@store_option
@set_option
@click.option("--all", "everything", is_flag=True, help="List finished runs too.")
@data_option
def command(study: str, out: str, settings: tuple[str, ...], everything: bool, data: str | None) -> None:
    """List the runs of STUDY (a .yaml file, or one of `crosslens list studies`): done, to do, and why to do.

    Encoder and corpora are read, because a run is known by what is in them. Nothing is trained, but that an encoder of
    artificial languages is pretrained when it is not there yet.
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
            more = f" and {len(names) - SHOWN} more questions" if len(names) > SHOWN else ""
            words.append(f"done but for {', '.join(names[:SHOWN])}{more}")
        elif todo is not None:
            if store.failed(run.id):
                words.append("failed last time")
            near = nearest(run.identity, store)
            if near and len(near[1]) <= FEW:
                words.append(f"new: {describe_differences(near[1])} as in {near[0]}")
        click.echo("; ".join(words))
    for note in planned.notes:
        click.echo(f"note: {note}")
    waiting = f", {planned.waiting} that wait for others" if planned.waiting else ""
    click.echo(f"{chosen.name}: {planned.done} runs done, {len(planned.left)} to do{waiting}")
    seconds = mean_seconds(store)
    known = [
        seconds.get(run.training.task) if isinstance(run, ModelRun) else 0.0 for run in (a.run for a in planned.left)
    ]
    if planned.left and None not in known:
        say(f"training takes {duration(sum(filter(None, known)))} on one core, judged by the runs there are")
