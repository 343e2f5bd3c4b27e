"""Types of arguments and options whose values are known names, which the shell completes.

The types accept every text; commands check it and suggest similar names.
"""

import inspect
from pkgutil import resolve_name

import click
from click.shell_completion import CompletionItem

KINDS = (
    "tasks",
    "probes",
    "recipes",
    "measures",
    "families",
    "presets",
    "factors",
    "schemes",
    "studies",
    "unseen",
    "corpora",
)
"""What `crosslens list` lists."""


class Names(click.ParamType):
    """Text that is usually one of some names, or several separated by commas.

    Args:
        known: place of the names, as ``module:object``, or of a function that lists them; imported only for completion.
        several: whether the text may have several names.
    """

    name = "text"

    def __init__(self, known: str, *, several: bool = False) -> None:
        self.known, self.several = known, several

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """List the names that begin with the text after the last comma."""
        before, comma, last = incomplete.rpartition(",") if self.several else ("", "", incomplete)
        known = resolve_name(self.known)
        names = known() if inspect.isfunction(known) else known
        return [CompletionItem(before + comma + name) for name in names if name.startswith(last)]


class EncoderName(click.ParamType):
    """Hub name or folder of an encoder, or ``lab:good`` for that of a laboratory."""

    name = "text"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Complete folders, and the names of laboratories."""
        if incomplete.startswith("lab"):
            from crosslens.lab.presets import DESCRIPTIONS

            return [CompletionItem(name) for name in map("lab:{}".format, DESCRIPTIONS) if name.startswith(incomplete)]
        return [CompletionItem(incomplete, type="file")]


ENCODER = EncoderName()


TASK = Names("crosslens.tasks:TASKS")
PROBE = Names("crosslens.probes:PROBES")
RECIPE = Names("crosslens.training.recipe:RECIPES")
MEASURES = Names("crosslens.similarity.measures:MEASURES", several=True)
STUDY = Names("crosslens.studies.study:library")
PRESET = Names("crosslens.lab.presets:DESCRIPTIONS")
CORPUS = Names("crosslens.corpora.catalogue:list_corpora")
CORPORA = Names("crosslens.corpora.catalogue:list_corpora", several=True)
KIND = Names("crosslens.cli._names:KINDS")
