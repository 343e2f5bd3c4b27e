"""Completion in bash, zsh and fish: what `click` knows, and files where it knows nothing."""

from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs
from click.shell_completion import BashComplete, CompletionItem, FishComplete, ShellComplete, ZshComplete

from crosslens.files import write_text

if TYPE_CHECKING:
    import click

VARIABLE = "_CROSSLENS_COMPLETE"
"""Environment variable in which the shell asks for completions."""


class _OrFiles(ShellComplete):
    """Completes file names where there is no other completion."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        """List completions; values without known names are completed as files."""
        items = super().get_completions(args, incomplete)
        return items or ([] if incomplete.startswith("-") else [CompletionItem(incomplete, type="file")])


class Bash(_OrFiles, BashComplete):
    """Completion in bash 4.4 or newer."""


class Zsh(_OrFiles, ZshComplete):
    """Completion in zsh."""


class Fish(_OrFiles, FishComplete):
    """Completion in fish."""


SHELLS: dict[str, type[ShellComplete]] = {"bash": Bash, "zsh": Zsh, "fish": Fish}
"""Name of a shell -> its completion."""


def script(shell: str, command: "click.Command") -> str:
    """Return the code that completes ``crosslens`` in a shell."""
    completion = SHELLS[shell](command, {}, "crosslens", VARIABLE)
    return completion.source_template % completion.source_vars()


def install(shell: str, command: "click.Command", *, home: Path) -> list[Path]:
    """Write the code to the user's folder, and a line that reads it to the settings of bash or zsh.

    Returns:
        The files that were written.
    """
    if shell == "fish":  # reads this folder by itself
        file = home / ".config" / "fish" / "completions" / "crosslens.fish"
    else:
        file = Path(platformdirs.user_data_dir("crosslens", appauthor=False)) / f"completion.{shell}"
    file.parent.mkdir(parents=True, exist_ok=True)
    write_text(file, script(shell, command))
    if shell == "fish":
        return [file]
    settings = home / f".{shell}rc"
    line = f". '{file}'"
    before = settings.read_bytes() if settings.exists() else b""  # in any encoding
    if line.encode() in before.splitlines():
        return [file]
    gap = "" if not before or before.endswith(b"\n") else "\n"
    with settings.open("a", encoding="utf-8") as stream:
        stream.write(f"{gap}{line}\n")
    return [file, settings]
