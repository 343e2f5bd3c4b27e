import subprocess
import sys

import click
import pytest

from crosslens import cli


@pytest.mark.parametrize("command", [(), *((name,) for name in cli.COMMANDS), ("encoders", "get"), ("data", "get")])
def test_every_command_has_help(run, command):
    status, shown, _ = run(*command, "--help")
    assert status == 0
    assert "Usage: crosslens" in shown


def test_help_imports_nothing_heavy():
    code = (
        "import sys; sys.argv = ['crosslens', '--help']\n"
        "from crosslens.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print({'torch', 'numpy', 'transformers', 'pandas', 'pyarrow', 'rich', 'pydantic'} & set(sys.modules))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.splitlines()[-1] == "set()"
    assert all(name in shown for name in cli.COMMANDS)


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["list"], 0),
        (["score", "parsing", "lab/sov", "lab/sov"], 0),
        (["typology", "none"], 2),
        (["plan", "smoke", "--set", "seeds=200000"], 2),
        (["run", "smoke", "--set", "seeds=200000"], 2),
    ],
)
def test_what_computes_nothing_does_not_wait_for_torch(tmp_path, words, status):
    """torch and transformers take seconds to be imported. What a refused command would import, it imports here."""
    code = (
        "import importlib, sys\n"
        "from crosslens.cli import main\n"
        f"sys.argv = ['crosslens', *{words}]\n"
        "code = 0\n"
        "try: main()\nexcept SystemExit as end: code = end.code or 0\n"
        "for name in ('report.page', 'studies.typology', 'runs.status', 'runs.explain', 'results.record'):\n"
        "    importlib.import_module(f'crosslens.{name}')\n"
        "print(code, {'torch', 'transformers'} & set(sys.modules))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert ended.stdout.splitlines()[-1] == f"{status} set()", ended.stderr


def commands(group=cli.cli, path=()):
    """Every command with the words that call it, groups included."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


OPTIONS = [
    pytest.param(option, id=f"{'-'.join(words)}{option.opts[0]}")
    for words, command in commands()
    for option in command.params
    if isinstance(option, click.Option) and not option.hidden
]


@pytest.mark.parametrize("option", OPTIONS)
def test_help_of_an_option_is_a_phrase_with_its_default(option):
    text = option.help
    assert text
    assert text[0].isupper()
    assert not text.startswith("Of ")
    assert text[-1] in ".]"
    default = option.to_info_dict()["default"]
    if default is not None and not option.is_flag:
        assert option.show_default or f"[default: {default}]" in text


@pytest.mark.parametrize(("words", "command"), [pytest.param(*each, id="-".join(each[0])) for each in commands()])
def test_every_argument_is_named_in_the_help_of_its_command(words, command):
    assert command.help
    assert command.help[0].isupper()
    for argument in command.params:
        if isinstance(argument, click.Argument):
            assert argument.make_metavar(click.Context(command)).strip("[]").removesuffix("...") in command.help
