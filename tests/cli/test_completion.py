"""Completion in shells: names of what there is, files elsewhere, and its installation."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import CompletionItem

from crosslens.cli import _completion, cli
from crosslens.cli._names import Names
from crosslens.similarity.measures import MEASURES
from crosslens.studies.study import library
from crosslens.tasks import TASKS


@pytest.fixture
def complete(monkeypatch, treebanks):
    """List the completions of the last of some words."""
    monkeypatch.setenv("CROSSLENS_DATA", str(treebanks))
    completion = _completion.Bash(cli, {}, "crosslens", _completion.VARIABLE)

    def call(*words):
        *args, incomplete = words
        return [item.value for item in completion.get_completions(list(args), incomplete)]

    return call


def test_names_of_what_there_is(complete):
    assert complete("finetune", "") == list(TASKS)
    assert complete("finetune", "pa") == ["parsing"]
    assert complete("run", "supervision-") == [name for name in library() if name.startswith("supervision-")]
    assert complete("finetune", "pos", "x", "--recipe", "sma") == ["small"]
    assert complete("compare", "x", "--measures", "cka,sv") == ["cka,svcca"]
    assert complete("compare", "x", "--measures", "") == list(MEASURES)
    assert complete("evaluate", "m", "--test", "ud/en_pud,ud/fr") == ["ud/en_pud,ud/fr_pud"]
    assert "sample/fr" in complete("predict", "m", "sample/")
    assert "corpora" in complete("list", "")
    assert complete("fine") == ["finetune"]
    assert "--random-init" in complete("finetune", "--rand")


def test_files_where_nothing_is_known(complete):
    completion = _completion.Zsh(cli, {}, "crosslens", _completion.VARIABLE)
    for words in (["results"], ["finetune", "pos", "x", "--train"], ["test"]):
        (item,) = completion.get_completions(words, "runs/x")
        assert (item.type, item.value) == ("file", "runs/x")
    assert completion.get_completions(["results"], "--nothing") == []


def test_names_complete_the_last_of_several():
    several = Names("crosslens.cli._names:KINDS", several=True)
    values = [item.value for item in several.shell_complete(None, None, "tasks,pr")]
    assert values == ["tasks,probes", "tasks,presets"]
    one = Names("crosslens.cli._names:KINDS")
    assert [item.value for item in one.shell_complete(None, None, "tasks,pr")] == []
    assert isinstance(several.shell_complete(None, None, "")[0], CompletionItem)


@pytest.mark.parametrize("shell", _completion.SHELLS)
def test_it_is_installed_once(run, monkeypatch, tmp_path, shell):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    status, printed, _ = run("completion", shell)
    assert (status, _completion.VARIABLE in printed) == (0, True)
    settings = tmp_path / f".{shell}rc"
    settings.write_bytes(b"alias l=ls # caf\xe9")
    for _ in range(2):
        status, shown, _ = run("completion", shell, "--install")
        assert status == 0
        written = Path(shown.split(" written")[0])
        assert written.read_text() + "\n" == printed
    lines = settings.read_text("latin-1").splitlines()
    assert lines == ["alias l=ls # café"] + ([] if shell == "fish" else [f". '{written}'"])


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_asks_the_command(tmp_path):
    program = tmp_path / "crosslens"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m crosslens "$@"\n')
    program.chmod(0o755)
    (tmp_path / "script").write_text(_completion.script("bash", cli))
    asked = (
        f"PATH={tmp_path}:$PATH; . {tmp_path}/script; COMP_WORDS=(crosslens score pa); COMP_CWORD=2;"
        ' _crosslens_completion crosslens; echo "${COMPREPLY[@]}"'
    )
    ended = subprocess.run(["bash", "-c", asked], capture_output=True, text=True)
    assert ended.stdout.split() == ["parsing"], ended.stderr


def test_a_shell_that_is_not_known(run):
    status, _, error = run("completion", "tcsh")
    assert (status, "'tcsh' is not one of" in error) == (2, True)
