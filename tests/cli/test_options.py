"""``--overwrite``: old output stays until the new one is complete, and only what crosslens wrote is replaced."""

import errno
import os

import pytest

from crosslens.cli._options import read_settings
from crosslens.errors import RequestError
from crosslens.files import allow_overwriting, new_folder, refuse_existing
from crosslens.results.record import read_results
from toy_commands import finetune


def overlap(run, encoder, test, *more):
    return run("overlap", encoder, "--train", "ud/en_toy", "--test", test, "--out", "out", *more)


def targets(folder):
    return read_results(folder / "out" / "results.csv").records["target"].to_pylist()


def test_results_are_replaced_when_asked(run, tiny_bert, tmp_path):
    assert overlap(run, tiny_bert, "ud/fr_pud")[0] == 0
    status, _, err = overlap(run, tiny_bert, "ud/en_pud")
    assert status == 2
    assert "add --overwrite" in err
    assert set(targets(tmp_path)) == {"fr"}
    status, _, err = overlap(run, tiny_bert, "ud/en_pud", "--overwrite")
    assert status == 0, err
    assert set(targets(tmp_path)) == {"en"}
    assert not [path for path in tmp_path.iterdir() if "unfinished" in path.name]
    for refused in ([], ["--overwrite", "--data", "nowhere"], []):  # the next command does not overwrite
        assert overlap(run, tiny_bert, "ud/fr_pud", *refused)[0] == 2


def test_a_model_and_a_file_are_replaced(run, tiny_bert, tmp_path):
    assert finetune(run, tiny_bert, "--keep-model", test="ud/en_pud")[0] == 0
    first = (tmp_path / "out" / "model" / "model.safetensors").read_bytes()
    status, _, err = finetune(run, tiny_bert, "--keep-model", "--overwrite", "--random-init", "1", test="ud/en_pud")
    assert status == 0, err
    assert (tmp_path / "out" / "model" / "model.safetensors").read_bytes() != first
    words = ("predict", "out/model", "ud/fr_pud", "--out", "tagged.conllu", "--device", "cpu")
    assert run(*words)[0] == 0
    (tmp_path / "tagged.conllu").write_text("old")
    assert run(*words)[0] == 2
    assert run(*words, "--overwrite")[0] == 0
    assert (tmp_path / "tagged.conllu").read_text("utf-8") != "old"


def test_a_model_that_results_replace_is_kept(run, tiny_bert, tmp_path):
    assert finetune(run, tiny_bert, "--keep-model", test="ud/en_pud")[0] == 0
    before = (tmp_path / "out" / "model" / "model.safetensors").read_bytes()
    words = ("--test", "ud/fr_pud", "--out", "out", "--overwrite", "--device", "cpu")
    status, _, err = run("evaluate", "out/model", *words)
    assert status == 0, err
    assert "of the old out, in out.before" in err
    assert set(targets(tmp_path)) == {"fr"}
    assert (tmp_path / "out.before" / "model" / "model.safetensors").read_bytes() == before


def test_notes_in_a_folder_that_is_replaced_are_kept(run, tiny_bert, tmp_path):
    assert overlap(run, tiny_bert, "ud/fr_pud")[0] == 0
    for number, name in enumerate(("out.before", "out.before.2")):
        (tmp_path / "out" / "thesis").mkdir()
        (tmp_path / "out" / "thesis" / "notes.md").write_text(f"mine {number}")
        (tmp_path / "out" / "link").symlink_to(tmp_path / "nowhere")
        status, _, err = overlap(run, tiny_bert, "ud/en_pud", "--overwrite")
        assert (status, err.splitlines()[-1]) == (0, f"kept: link and 1 more of the old out, in {name}")
        assert (tmp_path / name / "thesis" / "notes.md").read_text() == f"mine {number}"
        assert (tmp_path / name / "link").is_symlink()
        assert not (tmp_path / "out" / "thesis").exists()


def test_old_results_stay_when_the_work_fails(run, tiny_bert, tmp_path):
    assert overlap(run, tiny_bert, "ud/fr_pud")[0] == 0
    assert overlap(run, tiny_bert, "ud/xx_none", "--overwrite")[0] == 2
    assert set(targets(tmp_path)) == {"fr"}


def test_a_folder_of_somebody_else_is_not_replaced(run, tiny_bert, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("mine")
    status, _, err = overlap(run, tiny_bert, "ud/fr_pud", "--overwrite")
    assert status == 2
    assert "was not written by crosslens" in err
    assert (tmp_path / "out" / "thesis.tex").read_text() == "mine"
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "runs").mkdir()
    end = allow_overwriting(tmp_path / "runs")
    try:
        with pytest.raises(RequestError, match="not written"):
            refuse_existing(tmp_path / "runs")
    finally:
        end()


@pytest.mark.parametrize("failing", [1, 2])
@pytest.mark.parametrize("new", ["run.json", "other.json"])
def test_what_is_to_be_replaced_stays_until_the_new_folder_has_its_name(tmp_path, monkeypatch, failing, new):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "run.json").write_text("old")
    replace, calls = os.replace, []

    def fail(source, target):
        calls.append((source, target))
        if len(calls) == failing:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        replace(source, target)

    monkeypatch.setattr(os, "replace", fail)
    end = allow_overwriting(tmp_path / "out")
    try:
        with pytest.raises(OSError, match="Input/output"), new_folder(tmp_path / "out") as folder:
            (folder / new).write_text("new")
        assert [(path.name, path.read_text()) for path in (tmp_path / "out").iterdir()] == [("run.json", "old")]
        assert [path.name for path in tmp_path.iterdir()] == ["out"]
        with new_folder(tmp_path / "out") as folder:
            (folder / "run.json").write_text("new")
        assert [(path.name, path.read_text()) for path in (tmp_path / "out").iterdir()] == [("run.json", "new")]
        assert [path.name for path in tmp_path.iterdir()] == ["out"]
    finally:
        end()


def test_files_that_the_new_folder_lacks_are_kept_beside_it(tmp_path):
    old = {
        "run.json": "old",
        "notes.md": "mine",
        "figures/a.svg": "old",
        "figures/mine/b.svg": "mine",
        "empty/x": "old",
    }
    new = {"run.json": "new", "figures/a.svg": "new", "empty/x": "new"}
    for name, content in old.items():
        (tmp_path / "out" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "out" / name).write_text(content)
    lines = []
    end = allow_overwriting(tmp_path / "out", on_kept=lines.append)
    try:
        with new_folder(tmp_path / "out") as folder:
            for name, content in new.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(content)
    finally:
        end()

    def files(folder):
        return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}

    assert files(tmp_path / "out") == new
    assert files(tmp_path / "out.before") == {"notes.md": "mine", "figures/mine/b.svg": "mine"}
    assert not (tmp_path / "out.before" / "empty").exists()
    assert lines == [f"kept: figures/mine/b.svg and 1 more of the old {tmp_path / 'out'}, in {tmp_path / 'out.before'}"]


def test_a_value_may_have_an_equals_sign():
    assert read_settings(("text=en=my.txt", " batch = 3 ")) == {"text": "en=my.txt", "batch": "3"}
