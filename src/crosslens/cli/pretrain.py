"""``crosslens pretrain``: pretrain an encoder or a decoder on raw text."""

from contextlib import nullcontext
from pathlib import Path

import click

from crosslens.cli._options import (
    data_option,
    device_option,
    out_option,
    read_settings,
    save_every_option,
    setting_option,
    track_option,
)


@click.command("pretrain")
@click.argument("settings_file", metavar="CONFIG")
@setting_option("Override of a setting, e.g. shape.layers=6.")
@save_every_option(200, "Number of steps between saved training states.")
@track_option
@out_option("Folder for the encoder")
@data_option
@device_option
def command(
    settings_file: str,
    settings: tuple[str, ...],
    save_every: int,
    track: str | None,
    out: str,
    data: str | None,
    device: str | None,
) -> None:
    """Pretrain an encoder, or with objective=causal a decoder, with the settings of CONFIG: a file, or the name of
    shipped settings (conneau2020, lab-decoder, lab-encoder, small). The same command resumes an interrupted run.

    Under `torchrun --nproc-per-node 8 -m crosslens pretrain …`, each batch is split over the processes.

    \b
    corpora: {en: raw/en.txt, fr: raw/fr.txt}
    vocabulary: {kind: bpe, size: 8000, anchors: default}
    shape: {layers: 4, width: 128, heads: 4}
    separate: 1-2
    validation: {lines: 200, select: en}
    steps: 2000
    checkpoints: 500
    """
    from crosslens.cli._display import progress, say
    from crosslens.encoders.interventions.checkpoints import kept_steps
    from crosslens.mlm.pretrain import pretrain
    from crosslens.mlm.pretrain_settings import Pretraining
    from crosslens.runs.tracking import tracking
    from crosslens.settings import read_settings as read_file
    from crosslens.studies.study import pretrainings
    from crosslens.training.distributed import join_processes, leave_processes, processes

    shipped = pretrainings().get(settings_file)
    pretraining = read_file(shipped or settings_file, Pretraining, overrides=read_settings(settings))
    device = join_processes(device)
    first = processes().rank == 0  # only the first process logs and reports
    started = (
        tracking(track, run=Path(out).name, settings=pretraining.model_dump(mode="json"))
        if track and first
        else nullcontext()
    )
    with progress(shown=first) as bar, started as tracker:
        facts = pretrain(
            pretraining,
            out,
            base="." if shipped else Path(settings_file).parent,
            data=data,
            save_every=save_every,
            device=device,
            progress=bar,
            stepped=tracker.stepped if tracker else None,
            validated=tracker.validated if tracker else None,
        )
    leave_processes()
    if first:
        saved = f"; saved the weights of step {facts['kept_step']:.0f}" if "kept_step" in facts else ""
        say(f"{out}: {facts['subwords']:,} subwords read, mean loss of the last steps {facts['loss']:.3f}{saved}")
        if steps := kept_steps(out):
            say(f"checkpoints of steps {', '.join(steps)}: {out}@{steps[0]}, …")
