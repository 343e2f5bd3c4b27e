"""``crosslens run``: run a study."""

import shlex
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from crosslens.cli._names import STUDY
from crosslens.cli._options import data_option, device_option, json_option, read_settings
from crosslens.cli._study import set_option, skip_missing_option, store_option
from crosslens.formatting import counted

if TYPE_CHECKING:
    from crosslens.studies.plan import Plan

DEFAULT_EXECUTOR = "processes"


@click.command("run")
@click.argument("study", type=STUDY)
@store_option
@set_option
@click.option(
    "--executor",
    default=DEFAULT_EXECUTOR,
    show_default=True,
    help="Executor of the runs: serial, processes, ray, slurm, or a plug-in.",
)
@click.option(
    "--with", "options", multiple=True, metavar="KEY=VALUE", help="Executor setting, e.g. timeout_min=240 for slurm."
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    help="Number of parallel runs; always one with serial [default: one per GPU or core; with ray and slurm, all].",
)
@click.option("--only", metavar="RUN", help="Id of a single run to do.")
@skip_missing_option
@data_option
@device_option
@json_option
def command(
    study: str,
    out: str,
    settings: tuple[str, ...],
    executor: str,
    options: tuple[str, ...],
    workers: int | None,
    only: str | None,
    skip_missing: bool,
    data: str | None,
    device: str | None,
    as_json: bool,
) -> None:
    """Run the unfinished runs of STUDY, and show its tables.

    The same command resumes after an interruption. Several processes may run one study in one folder.
    A failed run does not stop the others; its log is in OUT/failed.

    \b
    crosslens run first-align-then-predict --out runs --set encoder=lab:good --set data=lab
    """
    from crosslens.cli._study import find_study

    chosen = find_study(study, settings)  # mistakes are reported before torch is imported, which takes seconds
    chosen_options = read_settings(options, option="--with", example="timeout_min=240")

    from crosslens.cli._display import print_records, progress, say, show_tables
    from crosslens.cli._missing import describe_missing
    from crosslens.report.incomplete import not_evaluated
    from crosslens.runs.execute import Outcome
    from crosslens.runs.store import Store
    from crosslens.studies.run_study import run_study

    words = ["crosslens", "run", study, "--out", out, *(word for s in settings for word in ("--set", s))]
    words += ["--data", data] if data else []
    words += ["--skip-missing"] if skip_missing else []
    words += ["--device", device] if device else []
    place = ["--executor", executor] if executor != DEFAULT_EXECUTOR else []  # no part of what a run records
    place += [word for option in options for word in ("--with", option)]
    shown: set[str] = set()

    def note(planned: "Plan", say: Callable[[str], None]) -> None:
        for remark in planned.notes:
            if remark not in shown:
                shown.add(remark)
                say(f"note: {remark}")

    with progress() as bar:

        def began(planned: "Plan") -> None:
            for line in describe_missing(planned.missing):
                bar.say(line)
            note(planned, bar.say)

        def ended(outcome: Outcome) -> None:
            if outcome.state in ("failed", "taken"):
                bar.say(f"{outcome.about} ({outcome.run})")

        report = run_study(
            chosen,
            out,
            executor=executor,
            workers=workers,
            options=chosen_options,
            data=data,
            device=device,
            only=only,
            skip_missing=skip_missing,
            command=shlex.join(words),
            progress=bar,
            began=began,
            ended=ended,
        )
    note(report.plan, say)  # such as the recipe that was selected
    done = report.plan.done
    if as_json:
        print_records(Store(out).collect(chosen.name))
    elif done:
        show_tables(Store(out).collect(chosen.name), notes=not_evaluated([f"{out}/studies/{chosen.name}"]))
    for outcome in report.failed:
        say(f"\nfailed: {outcome.label}\n{outcome.tail}\nto retry: {shlex.join([*words, *place])} --only {outcome.run}")
    if report.stopped:
        say("stopped; the same command resumes")
    remaining = len(report.plan.left)
    say(
        f"{chosen.name}: {counted(done, 'run', 'runs')} done"
        + (f", {remaining} left" if remaining else f"; {out}/studies/{chosen.name}/results.csv")
    )
    if report.failed or report.stopped:
        sys.exit(1)
