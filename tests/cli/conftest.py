"""Commands as they are typed."""

import sys

import pytest

from crosslens import cli


@pytest.fixture
def run(monkeypatch, capsys, treebanks, tmp_path):
    """Run a command line as the shell would: its exit status, standard output and standard error."""
    monkeypatch.setenv("CROSSLENS_DATA", str(treebanks))
    monkeypatch.setenv("COLUMNS", "140")
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["crosslens", *map(str, arguments)])
        try:
            cli.main()
            status = 0
        except SystemExit as stop:
            status = stop.code or 0
        shown = capsys.readouterr()
        return status, shown.out, shown.err

    return call
