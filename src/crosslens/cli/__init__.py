"""The command line: one file per command, imported on call, so that ``--help`` starts fast."""

import difflib
import importlib
import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

import click
from click.shell_completion import add_completion_class

from crosslens import __version__
from crosslens.cli._encoding import write_all_characters
from crosslens.environment import offline
from crosslens.errors import CrosslensError, CrosslensWarning, RequestError, suggest
from crosslens.files import disk_reason
from crosslens.memory_errors import advice, is_exhausted
from crosslens.progress import terminable

COMMANDS = {
    "demo": "Show the main finding on artificial languages: no downloads, two minutes.",
    "finetune": "Fine-tune an encoder on one language and evaluate it zero-shot on others.",
    "evaluate": "Evaluate a fine-tuned model on more corpora.",
    "predict": "Annotate a corpus with a fine-tuned model.",
    "score": "Score a prediction file against a gold file.",
    "test": "Test the difference between two results on the same seeds and sentences.",
    "compare": "Compare representations of parallel sentences layer by layer (CKA, retrieval, …).",
    "correlate": "Correlate the cross-lingual transfer gap with similarity over languages.",
    "align": "Align independently pretrained encoders by an orthogonal mapping.",
    "overlap": "Measure the subword overlap of training and test data.",
    "word-order": "Measure the word-order distance of treebanks.",
    "probe": "Probe every layer: language identity, topic, part of speech.",
    "plan": "List the runs of a study: done and to do.",
    "run": "Run a study; the same command resumes an interrupted one.",
    "status": "Show the progress of the studies in a folder.",
    "explain": "Show what determines a run, and how the most similar run differs.",
    "results": "Merge, print and convert results.",
    "report": "Write tables, figures and a page, with published scores next to yours.",
    "atlas": "Compare encoders in a static folder that anyone can host.",
    "advise": "Recommend how to use an encoder for an unseen or low-resource language.",
    "adapt": "Adapt an encoder to a language by masked language modelling on raw text.",
    "transliterate": "Transliterate a corpus into another script, word by word.",
    "typology": "Classify unseen languages as easy, intermediate or hard.",
    "pretrain": "Pretrain an encoder or a decoder from a settings file.",
    "encoders": "Download and inspect encoders.",
    "data": "Download corpora.",
    "lab": "Export artificial languages: treebanks, texts, dictionaries.",
    "list": "List tasks, probes, recipes, measures, studies, corpora and more.",
    "completion": "Complete commands, options and names in bash, zsh or fish.",
    "doctor": "Show versions, devices, threads and data folders.",
}

SYNONYMS = {
    "train": "finetune",
    "fine-tune": "finetune",
    "eval": "evaluate",
    "annotate": "predict",
    "similarity": "compare",
    "download": "data",
    "studies": "list",
    "plot": "report",
    "tables": "report",
}
"""What other programs call a command -> its name here."""

SETTINGS = {
    "finetune": ("crosslens.training.recipe", "Recipe"),
    "adapt": ("crosslens.mlm.adapt_settings", "Adaptation"),
    "pretrain": ("crosslens.mlm.pretrain_settings", "Pretraining"),
    "plan": ("crosslens.studies.study", "Study"),
    "run": ("crosslens.studies.study", "Study"),
}
"""Command -> module and class of the settings that ``--set`` changes."""

MODULES = {"list": "listing", "test": "paired", "word-order": "word_order"}
"""Command -> its module, where it has another name: that of a built-in or of the standard library would be shadowed."""

RESUMED = ("demo", "finetune", "run", "adapt", "pretrain", "data")
"""Commands that resume their interrupted work."""


class LazyGroup(click.Group):
    """Group of commands whose modules are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the commands in their order of use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; return None for an unknown name."""
        if cmd_name not in COMMANDS:
            return None
        return importlib.import_module(f"crosslens.cli.{MODULES.get(cmd_name, cmd_name)}").command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the arguments name; suggest similar names for an unknown one."""
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            name = args[0].lower()
            hint = f"did you mean {SYNONYMS[name]!r}?" if name in SYNONYMS else suggest(name, COMMANDS)
            raise click.UsageError(f"No such command {args[0]!r} ({hint})", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command, and say how it resumes if interrupted, and how a setting given as an option is changed."""
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, RuntimeError) as error:
            # Python 3.11 raises a RuntimeError from an interrupt in the definition of a class, so during imports.
            if KeyboardInterrupt not in (type(error), type(error.__cause__)):
                raise
            if ctx.invoked_subcommand in RESUMED:
                click.echo("stopped; the same command resumes", err=True)
                ctx.exit(1)
            raise KeyboardInterrupt from None
        except click.NoSuchOption as error:
            suggestion = _advice_on_settings(error)
            if suggestion is None:
                raise
            raise click.UsageError(f"No such option: {error.option_name} ({suggestion})", error.ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _advice_on_settings(error: click.NoSuchOption) -> str | None:
    """Say that an unknown option is, or resembles, a setting of the command; None if it does not."""
    command = (error.ctx.info_name if error.ctx else None) or ""
    if command not in SETTINGS:
        return None
    module, settings = SETTINGS[command]
    known = getattr(importlib.import_module(module), settings).model_fields
    name = error.option_name.lstrip("-").replace("-", "_")
    name = {"lr": "learning_rate"}.get(name, name)
    if name in known:
        return f"it is a setting: --set {name}=VALUE"
    near = [f"--set {setting}=VALUE" for setting in difflib.get_close_matches(name, known, n=2)]
    options = {option.lstrip("-"): option for option in sorted(error.possibilities or ())}  # all begin with dashes
    nearer = [options[option] for option in options if difflib.get_close_matches(name, [option])]
    return f"did you mean {' or '.join((*nearer, *near))}?" if near else None


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="crosslens")
def cli() -> None:
    """Where does cross-lingual transfer live in a multilingual encoder?

    Re-initialise layers, fine-tune on one language, evaluate zero-shot on others, compare representations. Every
    command has its own --help.
    """


def main() -> None:
    """Run the command line; exit with status 2 for an invalid request and 1 for failed work, with a message."""
    # huggingface_hub reads this once, when it is imported.
    if offline():
        os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    if "_CROSSLENS_COMPLETE" in os.environ:  # set by the shell; imported here so that `--help` starts fast
        from crosslens.cli._completion import SHELLS

        for completion in SHELLS.values():
            add_completion_class(completion)
    write_all_characters()
    try:
        with (
            terminable() if int(os.environ.get("WORLD_SIZE", "1")) < 2 else nullcontext(),  # torchrun stops all at once
            _warnings_as_lines(),
        ):
            cli(prog_name="crosslens")
    except CrosslensError as error:
        click.echo(f"crosslens: {_shortened(error.message)}", err=True)
        if error.hint:
            click.echo(f"  hint: {_shortened(error.hint)}", err=True)
        sys.exit(2 if isinstance(error, RequestError) else 1)
    except Exception as error:
        hint = "once this is mended, run the same command again; it resumes or removes what is unfinished"
        if is_exhausted(error):
            reason, hint = "out of memory", advice()
        else:
            reason = disk_reason(error)
        if reason is None:
            raise
        click.echo(f"crosslens: {_shortened(reason)}", err=True)
        click.echo(f"  hint: {hint}", err=True)
        _close_output()
        sys.exit(1)


@contextmanager
def _warnings_as_lines() -> Iterator[None]:
    """Print each warning of crosslens once and as one line, without its place in the code."""
    printed = set()

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if not issubclass(category, CrosslensWarning):
            show_others(message, category, *place, **more)
        elif str(message) not in printed:
            printed.add(str(message))
            click.echo(str(message), err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", CrosslensWarning)
        show_others, warnings.showwarning = warnings.showwarning, show
        yield


def _shortened(message: str) -> str:
    """The message without the middle of words of hundreds of letters, such as a number of 5,000 digits."""
    return re.sub(r"(\S{150})\S{150,}(\S{50})", r"\1…\2", message)


def _close_output() -> None:
    """Discard further output, which Python would try to write when it exits."""
    with suppress(OSError):  # no file descriptor stands behind it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
