"""Write docs/cli.md from the commands' own help: python docs/make_cli.py. A test checks that it is fresh."""

from pathlib import Path

import click

from crosslens.cli import COMMANDS, cli

PAGE = Path(__file__).with_name("cli.md")


def page() -> str:
    """The reference of the command line."""
    parts = ["# Command line\n", "Made by `python docs/make_cli.py` from `crosslens COMMAND --help`.\n"]
    parts.append(
        "Every command ends with status 0 when it did what was asked, 2 when it was asked wrongly, and 1 when the work"
        " failed; errors are one sentence with a hint, on standard error. What `--out` names must not exist"
        " (unless with `--overwrite`), and appears only when it is whole; of `demo`, `plan`, `run` and `explain`, it is"
        " a folder of runs, which may exist.\n"
    )
    root = click.Context(cli, info_name="crosslens", **cli.context_settings)
    parts.append(section(cli, root))
    for name in COMMANDS:
        command = cli.get_command(root, name)
        assert command is not None
        context = click.Context(command, info_name=name, parent=root)
        parts.append(section(command, context))
        if isinstance(command, click.Group):
            parts += [
                section(sub, click.Context(sub, info_name=n, parent=context)) for n, sub in command.commands.items()
            ]
    return "\n".join(parts)


def section(command: click.Command, context: click.Context) -> str:
    """One command's help."""
    context.max_content_width = 100
    context.terminal_width = 100
    return f"## {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
