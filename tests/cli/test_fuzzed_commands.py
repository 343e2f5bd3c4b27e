"""Command lines drawn from all commands and options, with broken values: an answer in one sentence, never a traceback.

No drawn value names an encoder, study or shipped settings, so no command gets as far as training.
"""

import re

import click
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crosslens.cli import cli

VALUES = (
    *(
        "",
        " ",
        "-1",
        "0",
        "1",
        "2.5",
        "1e999",
        "nan",
        "9" * 40,
        "1-2",
        "2-1",
        "0,all",
        "1-2:mean",
        "x:y",
        "a=b",
        "a=[",
        "=",
        ",",
    ),
    *(
        "missing",
        "missing/x.csv",
        "/",
        ".",
        "/dev/null",
        "/proc/1/mem",
        "~",
        "fr.txt",
        "fr.conllu",
        "rule.csv",
        "*",
        "[",
        "{}",
        "a: [1",
        "!!x y",
    ),
    *(
        "ud/en_toy",
        "ud/*_pud",
        "ud/en_toy:nix",
        "ud/en_toy[5:1]",
        "en=",
        "wo=fr.conllu",
        "en-fr",
        "en-",
        "pos",
        "cka",
        "float32",
        "ü",
        "\u202eab",
        "\U0001f600",
    ),
)
"""Values of arguments and options: valid for some, broken for most."""

LEFT_OUT = {
    "demo": "without a broken option it begins to pretrain",
}
"""Command -> why it is not drawn."""


def commands(group: click.Group = cli, prefix: tuple[str, ...] = ()) -> dict[tuple[str, ...], click.Command]:
    """Every command, by its words."""
    every: dict[tuple[str, ...], click.Command] = {}
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        words = (*prefix, name)
        if isinstance(command, click.Group):
            every |= commands(command, words)
        elif words[0] not in LEFT_OUT:
            every[words] = command
    return every


COMMANDS = commands()


@st.composite
def command_lines(draw) -> list[str]:
    """Words of a command with some of its arguments and options, each with a drawn value or none."""
    words = draw(st.sampled_from(sorted(COMMANDS)))
    line = list(words)
    options = [each for each in COMMANDS[words].params if isinstance(each, click.Option) and each.opts]
    arguments = [each for each in COMMANDS[words].params if isinstance(each, click.Argument)]
    line += draw(st.lists(st.sampled_from(VALUES), max_size=len(arguments) + 1))
    for option in draw(st.lists(st.sampled_from(options), max_size=5)) if options else ():
        line.append(draw(st.sampled_from(option.opts)))
        if not option.is_flag and draw(st.integers(0, 9)):
            choices = getattr(option.type, "choices", ())
            line.append(draw(st.sampled_from([*VALUES, *choices])))
    return line


def check(run, line: list[str]) -> None:
    status, shown, said = run(*line)
    assert status in (0, 1, 2), line
    assert "Traceback" not in shown + said, line
    if status:
        last = [row for row in said.splitlines() if row.strip()]
        assert last, line
        assert re.match(r"crosslens: |Error: |  hint: ", last[-1]) or "Error: " in said, (line, said)


@pytest.fixture
def quiet(run, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CROSSLENS_OFFLINE", "1")
    return run


FUZZ = settings(
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def test_every_command_is_drawn_but_those_left_out():
    assert len(COMMANDS) > 30
    assert {words[0] for words in COMMANDS} | set(LEFT_OUT) == set(cli.list_commands(click.Context(cli)))


def test_broken_command_lines_are_answered(quiet):
    @settings(FUZZ, max_examples=300)
    @given(command_lines())
    def answered(line):
        check(quiet, line)

    answered()


@pytest.mark.slow
def test_ten_thousand_broken_command_lines_are_answered(quiet):
    @settings(FUZZ, max_examples=10_000)
    @given(command_lines())
    def answered(line):
        check(quiet, line)

    answered()
