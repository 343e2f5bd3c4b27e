"""``crosslens lab``: export artificial languages."""

import click

from crosslens.cli._names import PRESET
from crosslens.cli._options import SEED, out_option, read_settings, setting_option
from crosslens.errors import RequestError


@click.group("lab")
def command() -> None:
    """Artificial languages with gold annotation, texts and dictionaries.

    lab/src, lab/adj, lab/gen and lab/sov are corpora like any other: crosslens finetune pos ENCODER --train lab/src
    --test 'lab/*'. For other presets, append the preset's name: lab/sov_no_anchors.
    """


@command.command("export")
@click.option(
    "--preset",
    default="good",
    show_default=True,
    type=PRESET,
    metavar="NAME",
    help="Preset of artificial languages; see `crosslens list presets`.",
)
@click.option("--seed", type=SEED, help="Random seed of the world [default: the preset's].")
@setting_option("Override of a setting, e.g. anchors=0.5.")
@out_option("Output folder")
def export(preset: str, seed: int | None, settings: tuple[str, ...], out: str) -> None:
    """Write treebanks, texts and dictionaries of artificial languages, and settings for `crosslens pretrain`.

    With --set, anchors, names, numerals, cognates, false_friends and homonyms are shares from 0 to 1; sentences is the
    size of each raw text. Parts of settings have dotted names: world.nouns=40, languages.sov.order=VSO.
    """
    changed = read_settings(settings)
    if seed is not None and "seed" in changed:
        raise RequestError("--seed and --set seed both set the seed of the world", hint="leave one out")

    from crosslens.cli._display import say
    from crosslens.lab.export import export as write
    from crosslens.lab.laboratory import Laboratory
    from crosslens.lab.presets import find_laboratory
    from crosslens.settings import replace_settings

    laboratory = find_laboratory(preset)
    changed |= {} if seed is None else {"seed": str(seed)}
    if changed:
        laboratory = Laboratory(replace_settings(laboratory.settings, changed, what="a laboratory"))
    write(laboratory, out)
    say(f"{out}: {', '.join(laboratory.languages)}; next: crosslens pretrain {out}/pretrain.yaml --out {out}/encoder")
