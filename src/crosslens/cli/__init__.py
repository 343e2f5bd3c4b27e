"""The command line: one file a command, imported when it is called, so that ``--help`` answers at once."""

import importlib
import os
import sys

import click

from crosslens import __version__
from crosslens.environment import offline
from crosslens.errors import CrosslensError, RequestError

COMMANDS = {
    "demo": "The finding, from raw text to a page, with no download.",
    "finetune": "Fine-tune an encoder on one language, evaluate it on others.",
    "evaluate": "Score a fine-tuned model on more corpora.",
    "predict": "Annotate a corpus with a fine-tuned model.",
    "score": "Score a prediction file against a gold file.",
    "compare": "Similarity of translations, layer by layer.",
    "correlate": "Transfer gap against similarity, over languages.",
    "align": "Encoders that never met, rotated into one space.",
    "overlap": "Subwords that training and test data share.",
    "probe": "What a linear layer can read off every layer, such as the language.",
    "plan": "What a study would train and evaluate, and what of it is done.",
    "run": "Do a study; interrupted, the same command goes on.",
    "status": "How far the studies in a folder are.",
    "explain": "What determines a run, and how its neighbour differs.",
    "results": "Put results files together, and print or convert them.",
    "report": "Tables and figures for a paper, the published numbers beside ours.",
    "advise": "What to do with a language that an encoder never saw.",
    "adapt": "Adapt an encoder to raw text of a language.",
    "transliterate": "A corpus in another script, word by word.",
    "typology": "Languages that are easy, intermediate or hard, from a finished study.",
    "pretrain": "Pretrain a masked language model from a settings file.",
    "encoders": "Get and inspect encoders.",
    "data": "Get treebanks.",
    "lab": "Artificial languages, of which everything is known.",
    "list": "What there is: tasks, recipes, measures, corpora, families.",
    "doctor": "What crosslens runs on: versions, devices, threads, data.",
}


class LazyGroup(click.Group):
    """Commands whose modules are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands, in the order of their use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command, or None when there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        module = "listing" if cmd_name == "list" else cmd_name  # a submodule named list would hide the built-in here
        return importlib.import_module(f"crosslens.cli.{module}").command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="crosslens")
def cli() -> None:
    """Where does cross-lingual transfer live in a multilingual encoder?

    Draw layers anew, fine-tune in one language, evaluate in others, compare representations. Every command has its
    own --help.
    """


def main() -> None:
    """Run the command line: exit 2 for a wrong request, 1 for failed work, both in one sentence."""
    # Read once, when huggingface_hub is imported: it must be set before anything of ours imports it.
    if offline():
        os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    try:
        cli(prog_name="crosslens")
    except CrosslensError as error:
        click.echo(f"crosslens: {error.message}", err=True)
        if error.hint:
            click.echo(f"  hint: {error.hint}", err=True)
        sys.exit(2 if isinstance(error, RequestError) else 1)
    except MemoryError:
        click.echo("crosslens: out of memory; a smaller batch needs less", err=True)
        sys.exit(1)
    except BrokenPipeError:  # `crosslens … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
