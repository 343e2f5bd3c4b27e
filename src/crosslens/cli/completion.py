"""``crosslens completion``: complete commands, options and names in the shell."""

from pathlib import Path

import click


@click.command("completion")
@click.argument("shell", metavar="SHELL", type=click.Choice(["bash", "zsh", "fish"]))
@click.option(
    "--install", is_flag=True, help="Install the code for new shells, in ~/.bashrc, ~/.zshrc or fish's folder."
)
def command(shell: str, install: bool) -> None:
    """Print the code that completes commands and names (tasks, recipes, corpora, …) in SHELL: bash, zsh or fish.

    \b
    crosslens completion bash --install
    """
    from crosslens.cli import _completion, cli

    if not install:
        click.echo(_completion.script(shell, cli))
        return
    for file in _completion.install(shell, cli, home=Path.home()):
        click.echo(f"{file} written")
    click.echo("open a new shell to use it")
