"""Shared command-line options, and functions that parse their values."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import click

from crosslens.cli._names import CORPORA, CORPUS, RECIPE
from crosslens.errors import RequestError
from crosslens.files import allow_overwriting, refuse_existing

SEED = click.IntRange(0, 2**63 - 1)
"""Random seeds: what records can hold."""

Paths = TypeVar("Paths", str, tuple[str, ...])
"""One path, or those of a repeatable option."""


def choice_option(flag: str, choices: Sequence[str], about: str) -> Callable:
    """Return an option with a few values, the first of which is its default."""
    return click.option(flag, type=click.Choice(choices), default=choices[0], show_default=True, help=about)


def setting_option(about: str) -> Callable:
    """Return the option ``--set``, whose words `read_settings` parses."""
    return click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help=about)


def seed_option(about: str) -> Callable:
    """Return the option ``--seed``; the default is 1."""
    return click.option("--seed", type=SEED, default=1, show_default=True, help=about)


def save_every_option(default: int, about: str) -> Callable:
    """Return the option ``--save-every``, a number of steps."""
    return click.option("--save-every", type=click.IntRange(min=1), default=default, show_default=True, help=about)


def corpus_option(flag: str, about: str, *, required: bool = False) -> Callable:
    """Return an option for the name of a corpus."""
    return click.option(flag, required=required, type=CORPUS, metavar="CORPUS", help=about)


def recipe_option(*defaults: str) -> Callable:
    """Return the option ``--recipe``, with the default recipes."""
    about = f"Named training settings; see `crosslens list recipes` [default: {', '.join(defaults)}]."
    return click.option("--recipe", type=RECIPE, metavar="NAME", help=about)


test_option = click.option(
    "--test",
    required=True,
    type=CORPORA,
    metavar="CORPORA",
    help="Test corpora, separated by commas; ud/*_pud is all PUD.",
)
random_init_option = click.option(
    "--random-init", metavar="LAYERS", help="Layers to re-initialise first; 0,all gives the untrained encoder."
)


def _existing(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Refuse a data folder that is not there, also where the corpora that are asked for need none."""
    if value is not None and not Path(value).is_dir():
        raise RequestError(f"--data: {value!r} is not a folder")
    return value


data_option = click.option(
    "--data",
    "data",
    metavar="FOLDER",
    callback=_existing,
    help="Data folder, searched before CROSSLENS_DATA and the cache.",
)
device_option = click.option(
    "--device", metavar="NAME", help="Device: cpu, cuda, cuda:1 or mps [default: a GPU if available]."
)

track_option = click.option(
    "--track",
    metavar="TRACKER",
    help="Experiment tracker for losses and scores: tensorboard, wandb, mlflow or trackio; with a place,"
    " tensorboard=FOLDER or wandb=PROJECT [default: none].",
)

sort_option = choice_option(
    "--sort",
    ["score", "family", "script", "name"],
    "Order of the languages in all tables and figures: the reference model's score, language family, script or"
    " name (tag).",
)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")


def out_option(description: str) -> Callable:
    """Return the options ``--out``, a path that must not exist yet, and ``--overwrite``, with which it may."""
    out = click.option(
        "--out", required=True, metavar="PATH", callback=_allow, help=f"{description}; must not exist yet."
    )
    overwrite = _overwrite_option(
        "Replace PATH once its new content is complete, if crosslens wrote it. Other files in it are moved to"
        " PATH.before."
    )
    return lambda command: out(overwrite(command))


def results_options(description: str) -> Callable:
    """Return ``--out``, ``--overwrite``, ``--data``, ``--device`` and ``--json``, of commands that measure encoders."""
    return lambda command: out_option(description)(data_option(device_option(json_option(command))))


def csv_option(*names: str, description: str, repeatable: bool = False) -> Callable:
    """Return the option ``--csv``, a file that must not exist yet, and ``--overwrite``, with which it may."""
    about = f"{description}; must not exist yet."
    file = click.option("--csv", *names, multiple=repeatable, metavar="FILE", callback=_allow, help=about)
    overwrite = _overwrite_option("Replace FILE once its new content is complete.")
    return lambda command: file(overwrite(command))


def _overwrite_option(about: str) -> Callable:
    return click.option("--overwrite", is_flag=True, is_eager=True, expose_value=False, callback=_remember, help=about)


_OVERWRITE = "crosslens.overwrite"


def _remember(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    context.meta[_OVERWRITE] = value


def _allow(context: click.Context, parameter: click.Parameter, value: Paths) -> Paths:
    if value and context.meta.get(_OVERWRITE) and not context.resilient_parsing:
        from crosslens.cli._display import say

        end = allow_overwriting(*((value,) if isinstance(value, str) else value), on_kept=say)
        context.find_root().call_on_close(end)  # click closes no context whose options are refused, except the root
    return _new(context, parameter, value)


def _new(context: click.Context, parameter: click.Parameter, value: Paths) -> Paths:
    if value and not context.resilient_parsing:
        for path in (value,) if isinstance(value, str) else value:
            refuse_existing(path, what=parameter.opts[0])
    return value


def new_folder_option(flag: str, description: str) -> Callable:
    """Return an option for a folder that must not exist yet."""
    return click.option(flag, metavar="FOLDER", callback=_new, help=description)


last_layer_option = choice_option(
    "--last-layer",
    ["raw", "normalised"],
    "States of the last layer: its raw output, or normalised by the final normalisation, as task heads read them.",
)


where_option = click.option(
    "--where",
    multiple=True,
    metavar="KEY=VALUE",
    help="Results to use: those with this value in a column of results.csv, or with none, e.g. task=pos or"
    " condition=1-2; repeatable, also with other values of a column [default: all].",
)


def split_names(text: str) -> list[str]:
    """Split names at commas.

    >>> split_names("ud/en_pud, ud/fr_pud")
    ['ud/en_pud', 'ud/fr_pud']

    Raises:
        RequestError: if there are no names.
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise RequestError(f"{text!r} contains no names", hint="separate names with commas")
    return names


def read_settings(words: tuple[str, ...], *, option: str = "--set", example: str = "epochs=1") -> dict[str, str]:
    """Parse the ``key=value`` words of an option; an error shows the example.

    >>> read_settings(("epochs=1", "batch=16"))
    {'epochs': '1', 'batch': '16'}

    Raises:
        RequestError: for a word without a key, ``=`` or a value.
    """
    settings = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key or not value:
            raise RequestError(f"{option} {word}: is not key=value", hint=f"for example {option} {example}")
        settings[key.strip()] = value.strip()
    return settings
