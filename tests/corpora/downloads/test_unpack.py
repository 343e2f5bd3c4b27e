import io
import tarfile
import zipfile
from functools import partial

import pytest

from crosslens.corpora.downloads.unpack import unpack
from crosslens.errors import DownloadError
from toy_archives import tar, zipped

FILES = {"top/a.txt": b"first", "top/deep/b.txt": b"second" * 1000}


def linking(name, target):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        member = tarfile.TarInfo(name)
        member.type, member.linkname = tarfile.SYMTYPE, target
        archive.addfile(member)
    return stream.getvalue()


def contents(folder):
    return {f.relative_to(folder).as_posix(): f.read_bytes() for f in folder.rglob("*") if f.is_file()}


@pytest.mark.parametrize("make", [tar, zipped])
def test_all_members_or_those_that_match(tmp_path, make):
    (tmp_path / "x").write_bytes(make(FILES))
    unpack(tmp_path / "x", tmp_path / "all")
    assert contents(tmp_path / "all") == FILES
    unpack(tmp_path / "x", tmp_path / "some", members=r"top/\w+\.txt")
    assert contents(tmp_path / "some") == {"top/a.txt": b"first"}


@pytest.mark.parametrize("make", [tar, zipped])
@pytest.mark.parametrize("name", ["../x", "top/../../x", "/tmp/x", "C:/x", "..\\x"])
def test_paths_outside_the_folder_are_refused(tmp_path, make, name):
    (tmp_path / "x").write_bytes(make(FILES | {name: b"outside"}))
    with pytest.raises(DownloadError, match="would be written outside its folder"):
        unpack(tmp_path / "x", tmp_path / "folder" / "target")
    assert [path.name for path in tmp_path.rglob("*")] == ["x"]


@pytest.mark.parametrize("target", ["/etc/passwd", "../../x"])
def test_links_that_lead_outside_are_refused(tmp_path, target):
    (tmp_path / "x").write_bytes(linking("top/link", target))
    with pytest.raises(DownloadError, match="cannot unpack"):
        unpack(tmp_path / "x", tmp_path / "target")
    assert not (tmp_path / "target" / "top" / "link").is_symlink()


def damaged(content):
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 0xFF]) + content[middle + 1 :]


def misplaced(content):
    """A zip archive whose end says that its directory begins later, so that members begin before the file."""
    place = content.rfind(b"PK\x05\x06") + 19
    return content[:place] + b"\x01" + content[place + 1 :] if place > 19 else damaged(content)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", "the file is empty"),
        (b"<!DOCTYPE html>\n<html>", "the file is a web page"),
        (b"\r\n  <html><body>", "the file is a web page"),
        (b"please come back", "the file is neither a zip nor a tar archive"),
        (b"PK\x03\x04 and no more", "it is incomplete"),
    ],
)
def test_what_is_not_an_archive_is_named(tmp_path, content, kind):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(DownloadError, match=f"cannot unpack .*x: {kind}"):
        unpack(tmp_path / "x", tmp_path / "target")


@pytest.mark.parametrize("make", [tar, zipped, partial(zipped, compression=zipfile.ZIP_LZMA)])
@pytest.mark.parametrize("damage", [damaged, misplaced, lambda c: c[: len(c) // 2], lambda c: b"", lambda c: b"<html>"])
def test_damaged_archives(tmp_path, make, damage):
    noise = bytes(range(256)) * 40
    (tmp_path / "x").write_bytes(damage(make({"top/a": noise[::3] + noise[::7]})))
    with pytest.raises(DownloadError, match=r"cannot unpack .*download it again") as caught:
        unpack(tmp_path / "x", tmp_path / "target")
    assert "\n" not in str(caught.value)
