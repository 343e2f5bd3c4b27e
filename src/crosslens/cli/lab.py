"""``crosslens lab``: artificial languages."""

import click

from crosslens.cli.options import out_option


@click.group("lab")
def command() -> None:
    """Artificial languages, of which everything is known.

    lab/src, lab/adj, lab/gen and lab/sov are corpora like any other: crosslens finetune pos ENCODER --train lab/src
    --test 'lab/*'. Those of another preset have its name behind them: lab/sov_no_anchors.
    """


@command.command("export")
@click.option("--preset", default="good", show_default=True, metavar="NAME", help="See `crosslens list presets`.")
@click.option("--seed", type=int, help="Another world [the preset's].")
@out_option("Folder of the files")
def export(preset: str, seed: int | None, out: str) -> None:
    """Write a laboratory's treebanks, texts and dictionaries, and settings for `crosslens pretrain`."""
    from crosslens.files import refuse_existing

    refuse_existing(out)

    from crosslens.cli.show import say
    from crosslens.lab.export import export as write
    from crosslens.lab.laboratory import Laboratory
    from crosslens.lab.presets import find_laboratory

    laboratory = find_laboratory(preset)
    if seed is not None:
        laboratory = Laboratory(laboratory.settings.model_copy(update={"seed": seed}))
    write(laboratory, out)
    say(f"{out}: {', '.join(laboratory.languages)}; next: crosslens pretrain {out}/pretrain.yaml --out {out}/encoder")
