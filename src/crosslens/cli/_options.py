"""Options that several commands share, and how their values are read."""

from collections.abc import Callable

import click

from crosslens.errors import RequestError

data_option = click.option(
    "--data", "data", metavar="FOLDER", help="Data folder, searched before CROSSLENS_DATA and the cache."
)
device_option = click.option(
    "--device", metavar="NAME", help="Device: cpu, cuda, cuda:1 or mps [default: a GPU if available]."
)


def out_option(what: str) -> Callable:
    """``--out``, which names something that must not exist yet."""
    return click.option("--out", required=True, metavar="PATH", help=f"{what}; must not exist yet.")


def split_names(text: str) -> list[str]:
    """``a,b`` as its names.

    Raises:
        RequestError: when there is none.
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise RequestError(f"{text!r} names nothing", hint="separate names with commas")
    return names


def read_settings(words: tuple[str, ...], *, option: str = "--set") -> dict[str, str]:
    """``key=value`` words, each after this option, as a mapping.

    Raises:
        RequestError: for a word without ``=``.
    """
    settings = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key or not value:
            raise RequestError(f"{option} {word}: is not key=value", hint="for example --set epochs=1")
        settings[key.strip()] = value.strip()
    return settings
