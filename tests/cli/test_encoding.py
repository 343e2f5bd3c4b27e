"""Output where not every character can be shown: nothing fails, and no sign is lost."""

import io
import json
import os
import subprocess
import sys

import pytest

from crosslens.cli._encoding import is_unicode, write_all_characters


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_what_an_encoding_lacks_is_replaced(monkeypatch, encoding):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding))
    write_all_characters()
    print("Δ 1-2: −10.90 ดี", flush=True)
    assert written.getvalue() == b"d 1-2: -10.90 \\u0e14\\u0e35\n"


def test_unicode_is_written_as_it_is(monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="utf-8"))
    write_all_characters()
    print("Δ −1", flush=True)
    assert written.getvalue() == "Δ −1\n".encode()
    assert is_unicode("UTF_8")
    assert not is_unicode("ascii")


def test_a_table_with_differences_in_ascii(run, file, tmp_path):
    run("run", file, "--out", "runs", "--executor", "serial", "--device", "cpu")
    command = [sys.executable, "-m", "crosslens", "results", str(tmp_path / "runs")]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    shown = subprocess.run(command, env=environment, capture_output=True, check=True, text=True).stdout
    assert "d 1-2" in shown
    assert shown.isascii()
    listed = subprocess.run(
        [*command[:3], "list", "--json"], env=environment, capture_output=True, check=True, text=True
    )
    assert json.loads(listed.stdout) == json.loads(run("list", "--json")[1])
