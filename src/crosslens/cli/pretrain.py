"""``crosslens pretrain``: a masked language model from raw text."""

import time
from pathlib import Path

import click

from crosslens.cli.options import device_option, out_option, read_settings


@click.command("pretrain")
@click.argument("settings_file", metavar="CONFIG.yaml")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="Override a setting, e.g. shape.layers=6.")
@click.option("--save-every", type=click.IntRange(min=1), default=200, show_default=True, help="Steps between states.")
@out_option("Folder of the encoder")
@device_option
def command(settings_file: str, settings: tuple[str, ...], save_every: int, out: str, device: str | None) -> None:
    """Pretrain an encoder as CONFIG.yaml says. Interrupted, the same command goes on where it stopped.

    \b
    corpora: {en: raw/en.txt, fr: raw/fr.txt}
    vocabulary: {kind: bpe, size: 8000}
    shape: {layers: 4, width: 128, heads: 4}
    steps: 2000
    """
    from crosslens.files import refuse_existing

    refuse_existing(out)

    from crosslens.cli.show import progress, say
    from crosslens.settings import read_settings as read_file
    from crosslens.training.pretrain import pretrain
    from crosslens.training.pretraining import Pretraining

    chosen = read_file(settings_file, Pretraining, overrides=read_settings(settings))
    started = None
    with progress("pretraining") as bar:

        def after_step(step: int, steps: int, loss: float, subwords: int) -> None:
            nonlocal started
            if started is None:  # the vocabulary and the first step are behind us
                started = (time.perf_counter(), subwords)
                return
            rate = (subwords - started[1]) / (time.perf_counter() - started[0])
            bar.show(step, steps, f"loss {loss:.3f}  {rate:,.0f} subwords/s")
            if step % max(1, steps // 10) == 0:
                left = (steps - step) * chosen.batch * chosen.shape.positions / rate
                say(f"step {step}/{steps}  loss {loss:.3f}  {rate:,.0f} subwords/s  ETA {left:.0f} s")

        facts = pretrain(
            chosen, out, base=Path(settings_file).parent, save_every=save_every, device=device, progress=after_step
        )
    say(f"{out}: {facts['subwords']:,} subwords read, mean loss of the last steps {facts['loss']:.3f}")
