"""``crosslens adapt``: adapt an encoder to raw text of a language."""

import click

from crosslens.cli._names import ENCODER
from crosslens.cli._options import (
    data_option,
    device_option,
    out_option,
    read_settings,
    save_every_option,
    setting_option,
)
from crosslens.errors import RequestError
from crosslens.formatting import with_commas


@click.command("adapt")
@click.argument("encoder", type=ENCODER)
@click.option(
    "--text",
    "texts",
    multiple=True,
    required=True,
    metavar="TEXT",
    help="Raw text: raw/wol, wo=FILE, raw/uig@uyghur-latin. Repeatable, for several languages.",
)
@setting_option("Override of a setting, e.g. epochs=5.")
@save_every_option(1000, "Number of steps between checkpoints.")
@out_option("Folder for the encoder")
@data_option
@device_option
def command(
    encoder: str,
    texts: tuple[str, ...],
    settings: tuple[str, ...],
    save_every: int,
    out: str,
    data: str | None,
    device: str | None,
) -> None:
    """Adapt ENCODER to a language by masked language modelling on raw text; the tokenizer is kept.

    The same command resumes an interrupted run. The result is an encoder like any other:
    `crosslens finetune pos OUT …`. An encoder without a masked language modelling head gets a randomly
    initialised one. Train that head first, on languages that the encoder was pretrained on: --set freeze=0-12.
    """
    from crosslens.cli._display import progress, say
    from crosslens.corpora.catalogue import load_text
    from crosslens.corpora.collection import is_same_language
    from crosslens.data.language_families import parse_language
    from crosslens.mlm.adapt import adapt
    from crosslens.mlm.adapt_settings import Adaptation
    from crosslens.settings import replace_settings

    adaptation: Adaptation = replace_settings(Adaptation(), read_settings(settings), what="an adaptation")
    corpora = {}
    for name in texts:
        corpus = load_text(name, data=data)
        tag = corpus.language or "und"
        script = parse_language(tag).script
        for other in corpora:
            if is_same_language(other, tag) and parse_language(other).script == script:
                raise RequestError(
                    f"two texts have the language {' or '.join(dict.fromkeys((repr(other), repr(tag))))}",
                    hint="join the files of one language; name others wo=FILE",
                )
        corpora[tag] = corpus
    with progress() as bar:
        facts = adapt(
            encoder, corpora, out, settings=adaptation, data=data, save_every=save_every, device=device, progress=bar
        )
    for tag in corpora:
        before, after = (
            with_commas(facts[f"{name} {tag}"], decimals=1) for name in ("perplexity before", "perplexity")
        )
        say(
            f"{tag}: {facts[f'words {tag}']:,} words, {facts[f'unknown {tag}']:.1f} % of them unknown,"
            f" {facts[f'broken {tag}']:.1f} % split, {facts[f'fertility {tag}']:.2f} subwords per word; perplexity"
            f" {before} before, {after} after"
        )
