"""Output that cannot be written: refused before work begins, and finished work is kept elsewhere."""

import errno
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import crosslens.files
from crosslens.errors import RequestError, WorkError
from crosslens.files import disk_reason, refuse_existing, write_finished, write_folder
from crosslens.results.record import Results, read_results
from crosslens.training.loop import Loop, Optimiser
from made_results import SCORES

FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture
def full_disk(folder, monkeypatch):
    """A disk without room for files in the working folder."""
    mkstemp, mkdtemp = crosslens.files.tempfile.mkstemp, crosslens.files.tempfile.mkdtemp

    def unless_here(make):
        def made(*args, dir=None, **options):
            if dir is not None and Path(dir).resolve() == folder.resolve():
                raise FULL
            return make(*args, dir=dir, **options)

        return made

    monkeypatch.setattr(crosslens.files.tempfile, "mkstemp", unless_here(mkstemp))
    monkeypatch.setattr(crosslens.files.tempfile, "mkdtemp", unless_here(mkdtemp))
    return folder


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (("overlap", "@", "--train", "ud/en_toy", "--test", "ud/fr_pud", "--out", "x"), "results.csv"),
        (("transliterate", "fr.conllu", "--scheme", "letters.tsv", "--out", "x.conllu"), None),
    ],
)
def test_finished_work_is_kept_when_the_disk_is_full(run, full_disk, treebanks, tiny_bert, words, kept):
    (full_disk / "letters.tsv").write_text("e\ta\n", "utf-8")
    status, _, err = run(*(tiny_bert if word == "@" else word for word in words))
    assert status == 1
    assert "cannot be written: no space left on device" in err
    place = Path(re.search(r"its output is in (\S+)", err)[1])
    assert (place / kept if kept else place).stat().st_size > 0
    assert not (full_disk / words[-1]).exists()


def test_an_output_folder_that_cannot_be_written_is_refused_first(run, folder, treebanks, tiny_bert, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    monkeypatch.setattr(
        "crosslens.runs.finetuning.check_finetuning", lambda *args, **options: pytest.fail("work began")
    )
    words = ("finetune", "pos", tiny_bert, "--train", "ud/en_toy", "--test", "ud/fr_pud", "--out", "sub/x")
    status, _, err = run(*words)
    assert status == 2
    assert "--out: sub/x: nothing can be written to" in err


@pytest.mark.parametrize("path", ["file/out", "x" * 300])
def test_paths_that_cannot_be(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(RequestError, match=r"is a file, not a folder|File name too long"):
        refuse_existing(path)


def test_a_missing_folder_of_the_output_is_made(tmp_path):
    write_finished(tmp_path / "a" / "b.txt", lambda path: path.write_text("x") and None)
    assert (tmp_path / "a" / "b.txt").read_text() == "x"


def test_work_that_can_be_written_nowhere(tmp_path):
    tried = []

    def write(path):
        tried.append(path)
        raise FULL

    with pytest.raises(WorkError, match="no space left on device there, too"):
        write_finished(tmp_path / "x", write)
    assert len(tried) == 2
    assert not tried[1].parent.exists()


def test_other_errors_are_not_the_disk(tmp_path):
    def write(folder):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_folder(tmp_path / "x", write)
    assert list(tmp_path.iterdir()) == []
    assert disk_reason(ValueError("x")) is None


def test_errors_of_safetensors_are_the_disk(tmp_path):
    from safetensors import SafetensorError

    error = SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")
    assert disk_reason(error) == "no space left on device"
    assert disk_reason(SafetensorError("invalid header")) is None
    assert disk_reason(Exception("Permission denied (os error 13)")) == "permission denied"  # by tokenizers


def test_a_failed_rename_names_the_target(tmp_path):
    with pytest.raises(OSError, match="No such file") as caught:
        os.replace(tmp_path / ".out.x.unfinished", tmp_path / "out")
    assert disk_reason(caught.value) == f"{tmp_path / 'out'}: no such file or directory"


def test_what_cannot_be_read_is_not_called_damaged(tmp_path, monkeypatch, encoder):
    """Its hint would be to remove it."""

    def refuse(*args, **options):
        raise OSError(errno.EIO, "Input/output error")

    path = tmp_path / "results.json"
    path.touch()
    monkeypatch.setattr(Path, "read_text", refuse)
    monkeypatch.setattr(torch, "load", refuse)
    loop = Loop(encoder.model, [{"params": [*encoder.model.parameters()], "peak": 1.0}], Optimiser(steps=1), seed=1)
    for read in (read_results, loop.load):
        with pytest.raises(OSError, match="Input/output error"):
            read(path)


def test_a_refusal_of_the_system_is_one_sentence(run, folder, treebanks, monkeypatch):
    def refuse(*args, **options):
        raise OSError(errno.EIO, "Input/output error", "fr.conllu")

    monkeypatch.setattr("crosslens.corpora.catalogue.load_corpus", refuse)
    (folder / "letters.tsv").write_text("e\ta\n", "utf-8")
    status, out, err = run("transliterate", "fr.conllu", "--scheme", "letters.tsv", "--out", "x.conllu")
    assert (status, out) == (1, "")
    assert err.startswith("crosslens: fr.conllu: input/output error\n  hint: ")


@pytest.mark.parametrize("words", [("list",), ("results", "results.csv")])
def test_a_reader_that_has_read_enough_ends_the_command_quietly(tmp_path, words):
    """As ``crosslens … | head`` does."""
    Results.of(SCORES).write(tmp_path / "results.csv")
    command = [sys.executable, "-m", "crosslens", *words]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="a device of Linux")
def test_text_that_finds_no_room_is_not_written_again_at_the_end():
    """Python would try to, and exit with another status and message."""
    command = [sys.executable, "-m", "crosslens", "list", "tasks"]
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with open("/dev/full", "w") as full:
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=buffered)
    message, hint = ended.stderr.splitlines()
    assert (ended.returncode, message.startswith("crosslens: "), hint.startswith("  hint: ")) == (1, True, True)
