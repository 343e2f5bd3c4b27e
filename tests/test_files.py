import errno
import fcntl
import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path

import pytest

from crosslens.corpora.catalogue import check_corpus, check_text, load_corpus
from crosslens.corpora.dictionaries import load_dictionary
from crosslens.data.formats.lines import read_text
from crosslens.digests import canonical_json, digest, stream_seed
from crosslens.encoders.load import check_encoder, load_encoder
from crosslens.errors import RequestError, WorkError
from crosslens.files import (
    allow_overwriting,
    disk_reason,
    is_refusal,
    lock_reason,
    new_folder,
    refuse_existing,
    refuse_inside,
    remove_abandoned,
    temporary_folder,
    write_bytes,
    write_folder,
    write_text,
)
from crosslens.training.checkpoint import load_model


def test_a_file_is_whole_or_not_there(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    write_text(path, "één\n")
    assert path.read_text("utf-8") == "één\n"

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_bytes(path, b"new")
    assert path.read_text("utf-8") == "één\n"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_appears_whole_or_not_at_all(tmp_path):
    def fail_half_way():
        with new_folder(tmp_path / "out") as folder:
            (folder / "half").write_text("x")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_half_way()
    assert list(tmp_path.iterdir()) == []
    with new_folder(tmp_path / "deep" / "out") as folder:
        (folder / "whole").write_text("x")
        assert not (tmp_path / "deep" / "out").exists()
    assert [p.name for p in (tmp_path / "deep").rglob("*")] == ["out", "whole"]


def test_files_are_on_disk_before_their_folder_has_its_name(tmp_path, monkeypatch):
    synced = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda file: (synced.append(os.fstat(file).st_ino), fsync(file)))
    monkeypatch.setattr(os, "replace", lambda *names: (synced.append("named"), replace(*names)))
    with new_folder(tmp_path / "out") as folder:
        (folder / "deep").mkdir()
        (folder / "deep" / "file").write_text("x")
    assert synced == [(tmp_path / "out" / "deep" / "file").stat().st_ino, "named"]


def test_what_a_killed_process_left_is_removed_by_the_next_writer(tmp_path):
    """Nobody holds its lock; the folder of a process at work, and files of other names, stay."""
    (tmp_path / ".out.abcdefgh.unfinished").mkdir()
    (tmp_path / ".out.abcdefgh.unfinished" / "half").touch()
    (tmp_path / ".out.ijklmnop.unfinished").touch()
    (tmp_path / ".out.ijklmnop").touch()
    (tmp_path / ".other.abcdefgh.unfinished").touch()
    with temporary_folder(tmp_path / "out") as at_work:
        write_text(tmp_path / "out", "x")
        assert at_work.is_dir()
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [".other.abcdefgh.unfinished", ".out.ijklmnop", "out"]


def test_files_in_a_new_folder_have_the_modes_of_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        with new_folder(tmp_path / "out") as folder:
            (folder / "deep").mkdir(mode=0o700)
            (folder / "deep" / "file").touch(mode=0o600)
    finally:
        os.umask(before)
    paths = (tmp_path / "out", tmp_path / "out" / "deep", tmp_path / "out" / "deep" / "file")
    assert [stat.S_IMODE(path.stat().st_mode) for path in paths] == [0o750, 0o750, 0o640]


def test_what_exists_is_never_overwritten(tmp_path):
    (tmp_path / "out").mkdir()
    assert refuse_existing(tmp_path / "out") == tmp_path / "out"  # an empty folder is nothing
    with new_folder(tmp_path / "out") as folder:
        (folder / "x").touch()
    with pytest.raises(RequestError, match="out exists already"), new_folder(tmp_path / "out"):
        pass
    (tmp_path / "file").touch()
    with pytest.raises(RequestError, match=r"^/.*file exists already \(choose another path, or remove it\)$"):
        refuse_existing(tmp_path / "file")


def test_what_another_process_writes_meanwhile_is_never_overwritten(tmp_path, monkeypatch):
    def write(folder):
        if not (tmp_path / "out").exists():
            write_folder(tmp_path / "out", lambda first: (first / "x").write_text("first"))
        (folder / "x").write_text("second")

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(WorkError, match=r"out cannot be written: another process has written it meanwhile") as caught:
        write_folder(tmp_path / "out", write)
    assert (tmp_path / "out" / "x").read_text() == "first"
    assert (Path(caught.value.hint.rpartition(" ")[2]) / "x").read_text() == "second"


@pytest.mark.parametrize("path", [".", "..", "sub/..", "{here}"])
def test_the_current_folder_is_not_replaced_even_if_it_is_empty(tmp_path, monkeypatch, path):
    """A finished training had no place to be written to."""
    here = tmp_path / "above" / "here"
    here.mkdir(parents=True)
    monkeypatch.chdir(here)
    (here / "sub").mkdir()
    if path != "sub/..":
        (here / "sub").rmdir()
    with pytest.raises(RequestError, match="the current folder"):
        refuse_existing(path.format(here=here))
    assert refuse_existing("new") == Path("new")


@pytest.mark.parametrize(("path", "out"), [("vectors", "vectors/out"), ("out/vectors", "out"), ("out", "./out")])
def test_two_new_folders_are_apart(path, out):
    with pytest.raises(RequestError, match="are the same, or one is inside the other"):
        refuse_inside(path, out, what="--export")


def test_modes_follow_the_umask(tmp_path):
    """What is written beside the target is readable by its owner alone; what stands there in the end is not."""
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "file", "x")
        with new_folder(tmp_path / "folder"):
            pass
    finally:
        os.umask(before)
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("file", "folder")]
    assert modes == [0o640, 0o750]
    assert os.umask(before) == before  # asking for the mask leaves it as it was


def test_a_link_to_nowhere_is_something(tmp_path):
    (tmp_path / "out").symlink_to(tmp_path / "nowhere")
    with pytest.raises(RequestError, match="out exists already"):
        refuse_existing(tmp_path / "out")
    with pytest.raises(RequestError, match="out exists already"), new_folder(tmp_path / "out"):
        pass
    assert (tmp_path / "out").is_symlink()


def test_identities_are_canonical():
    assert canonical_json({"b": 1, "a": [None, "é"]}) == '{"a":[null,"é"],"b":1}'.encode()
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    with pytest.raises(ValueError):
        digest(float("nan"))


def test_streams_are_apart():
    seeds = {stream_seed(*path) for path in [(1, "head"), (1, "order", 0), (1, "order", 1), (2, "head"), (12,), (1, 2)]}
    assert len(seeds) == 6
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_a_full_disk_names_the_file_or_folder_that_was_written(tmp_path):
    """Streams raise without a name."""
    with pytest.raises(OSError, match="No space left on device") as error, new_folder(tmp_path / "out"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert disk_reason(error.value) == f"{tmp_path}/out: no space left on device"
    assert [*tmp_path.iterdir()] == []
    assert disk_reason(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))) == "no space left on device"  # of no file


@pytest.mark.parametrize("write", [write_text, lambda path, content: write_bytes(path, content.encode())])
def test_another_writer_may_look_at_a_file_before_it_is_locked(tmp_path, monkeypatch, write):
    """It takes the file for abandoned and locks it; this writer begins with another file, and both are done."""
    flock, looked = fcntl.flock, []

    def look(handle, operation):
        if not looked:
            looked.append(handle)
            raise BlockingIOError(errno.EWOULDBLOCK, "Resource temporarily unavailable")
        flock(handle, operation)

    monkeypatch.setattr(fcntl, "flock", look)
    write(tmp_path / "out", "x")
    assert looked
    assert (tmp_path / "out").read_text() == "x"
    write(tmp_path / "out", "y")  # removes the file that nobody has locked now
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_lock_that_another_process_holds_is_a_lock(tmp_path):
    """The file system can lock; that is all that is asked."""
    with open(tmp_path / "lock", "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert lock_reason(tmp_path / "lock") is None
        with pytest.raises(BlockingIOError):
            fcntl.flock(os.open(tmp_path / "lock", os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert lock_reason(tmp_path / "lock") is None
    assert lock_reason(tmp_path / "nowhere" / "lock") == f"{tmp_path}/nowhere/lock: no such file or directory"


def test_a_folder_that_another_process_takes_for_abandoned_is_not_published_in_part(tmp_path, monkeypatch):
    """Where locks exclude nobody, the other process removes it file by file while this one publishes it."""

    def remove_the_first(path, **_):
        with suppress(FileNotFoundError):
            os.remove(Path(path) / "first")

    def publish():
        with new_folder(tmp_path / "out") as folder:
            (folder / "first").write_text("1")
            (folder / "second").write_text("2")
            remove_abandoned(tmp_path / "out")

    monkeypatch.setattr(fcntl, "flock", lambda *_: None)
    monkeypatch.setattr(shutil, "rmtree", remove_the_first)
    with pytest.raises(FileNotFoundError):
        publish()
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("number", "refused"),
    [
        (errno.EIO, True),
        (errno.EACCES, True),
        (errno.ESTALE, True),
        (errno.EINVAL, False),  # a damaged file pointed outside itself
        (errno.ENOENT, False),
        (errno.EISDIR, False),
        (errno.ENOTDIR, False),
    ],
)
def test_a_refusal_is_not_damage_nor_absence(number, refused):
    assert is_refusal(OSError(number, os.strerror(number))) == refused
    assert not is_refusal(ValueError(number, "damaged"))


def test_only_the_named_output_may_be_overwritten(tmp_path):
    for name in ("out", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "results.csv").touch()
    end = allow_overwriting(tmp_path / "out")
    try:
        assert refuse_existing(tmp_path / "out") == tmp_path / "out"
        with pytest.raises(RequestError, match="other exists already") as refused:
            refuse_existing(tmp_path / "other", what="--predictions")
        assert "--overwrite" not in str(refused.value.hint)
    finally:
        end()
    with pytest.raises(RequestError, match="out exists already"):
        refuse_existing(tmp_path / "out")


def test_a_link_to_what_may_be_overwritten_is_not_overwritten(tmp_path):
    """Its target would stay, and the link would become a folder."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "results.csv").write_text("kept")
    (tmp_path / "out").symlink_to(tmp_path / "real")
    end = allow_overwriting(tmp_path / "out")
    try:
        with pytest.raises(RequestError, match="out was not written by crosslens"):
            refuse_existing(tmp_path / "out")
    finally:
        end()
    assert (tmp_path / "real" / "results.csv").read_text() == "kept"


@pytest.mark.parametrize(
    "load",
    [load_encoder, check_encoder, load_model, load_corpus, check_corpus, check_text, load_dictionary, read_text],
    ids=lambda load: load.__name__,
)
def test_a_name_like_a_missing_one_is_suggested(load, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "given" / "mbert.v1").mkdir(parents=True)
    for missing in ("given/mbrt.v1", "./given/mbrt.v1"):
        with pytest.raises(RequestError) as refused:
            load(missing)
        assert refused.value.hint == "did you mean 'mbert.v1'?"
    assert "found" in str(refused.value) or "not exist" in str(refused.value)
