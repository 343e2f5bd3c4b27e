"""Types of arguments and options whose values are known names, which the shell completes.

The types accept every text; commands check it and suggest similar names.
"""

from collections.abc import Callable, Iterable

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
        known: returns the names; called only for completion.
        several: whether the text may have several names.
    """

    name = "text"

    def __init__(self, known: Callable[[], Iterable[str]], *, several: bool = False) -> None:
        self.known, self.several = known, several

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """List the names that begin with the text after the last comma."""
        before, comma, last = incomplete.rpartition(",") if self.several else ("", "", incomplete)
        return [CompletionItem(before + comma + name) for name in self.known() if name.startswith(last)]


class EncoderName(click.ParamType):
    """Hub name or folder of an encoder; ``lab:good`` is replaced by the folder of the laboratory's encoder."""

    name = "text"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Pretrain the encoder of a laboratory unless it is in the cache."""
        kind, _, preset = value.partition(":")
        if kind != "lab" or (ctx is not None and ctx.resilient_parsing):
            return value
        from crosslens.cli._display import progress
        from crosslens.lab.presets import find_laboratory
        from crosslens.mlm.lab_encoder import pretrained_laboratory

        laboratory = find_laboratory(preset)
        with progress() as bar:
            return str(pretrained_laboratory(laboratory, progress=bar))

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Complete folders, and the names of laboratories."""
        if incomplete.startswith("lab"):
            return [CompletionItem(name) for name in map("lab:{}".format, _presets()) if name.startswith(incomplete)]
        return [CompletionItem(incomplete, type="file")]


ENCODER = EncoderName()


def _tasks() -> Iterable[str]:
    from crosslens.tasks import TASKS

    return TASKS


def _probes() -> Iterable[str]:
    from crosslens.probes import PROBES

    return PROBES


def _recipes() -> Iterable[str]:
    from crosslens.training.recipe import RECIPES

    return RECIPES


def _measures() -> Iterable[str]:
    from crosslens.similarity.measures import MEASURES

    return MEASURES


def _studies() -> Iterable[str]:
    from crosslens.studies.study import library

    return library()


def _presets() -> Iterable[str]:
    from crosslens.lab.presets import DESCRIPTIONS

    return DESCRIPTIONS


def _corpora() -> Iterable[str]:
    from crosslens.corpora.catalogue import list_corpora

    return list_corpora()


TASK = Names(_tasks)
PROBE = Names(_probes)
RECIPE = Names(_recipes)
MEASURES = Names(_measures, several=True)
STUDY = Names(_studies)
PRESET = Names(_presets)
CORPUS = Names(_corpora)
CORPORA = Names(_corpora, several=True)
KIND = Names(lambda: KINDS)
