import errno
import hashlib
import os

import pytest

from crosslens.corpora.downloads import fetch as module
from crosslens.corpora.downloads.fetch import fetch, unfinished
from crosslens.errors import DownloadError

CONTENT = bytes(range(256)) * 2000


@pytest.fixture(autouse=True)
def content(server):
    server.files["/x"] = CONTENT


def test_a_file_arrives_with_progress(server, tmp_path):
    seen = []
    fetch(f"{server.url}/x", tmp_path / "x", progress=lambda update: seen.append((update.done, update.total)))
    assert (tmp_path / "x").read_bytes() == CONTENT
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert [file.name for file in tmp_path.iterdir()] == ["x"]


@pytest.mark.parametrize("resumes", [True, False])
def test_a_connection_that_breaks_is_taken_up_again(server, tmp_path, resumes):
    server.cuts, server.resumes = [100_000, 50_000], resumes
    fetch(f"{server.url}/x", tmp_path / "x", pause=0.0)
    assert (tmp_path / "x").read_bytes() == CONTENT
    assert len(server.asked) == 3
    assert server.asked[1] == "bytes=100000-"


def test_an_interrupted_download_goes_on_in_the_next_call(server, tmp_path):
    unfinished(tmp_path / "x", f"{server.url}/x").write_bytes(CONTENT[:1234])
    fetch(f"{server.url}/x", tmp_path / "x")
    assert server.asked == ["bytes=1234-"]
    assert (tmp_path / "x").read_bytes() == CONTENT


def test_a_download_of_another_address_is_not_continued(server, tmp_path):
    server.files["/z"], server.cuts = CONTENT[::-1], [100] * 5
    with pytest.raises(DownloadError, match="gave up"):
        fetch(f"{server.url}/z", tmp_path / "x", pause=0.0)
    fetch(f"{server.url}/x", tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == CONTENT
    assert server.asked[-1] is None


def test_a_server_that_resumes_elsewhere_is_not_believed(server, tmp_path):
    unfinished(tmp_path / "x", f"{server.url}/x").write_bytes(CONTENT[:1234])
    server.shift = 7
    fetch(f"{server.url}/x", tmp_path / "x", pause=0.0)
    assert server.asked == ["bytes=1234-", None]
    assert (tmp_path / "x").read_bytes() == CONTENT


@pytest.mark.parametrize("header", ["ETag", "Last-Modified"])
def test_a_file_that_changed_since_its_first_part_is_downloaded_anew(server, tmp_path, header):
    server.cuts, server.headers = [1000] * 5, {header: "first"}
    with pytest.raises(DownloadError, match="gave up"):
        fetch(f"{server.url}/x", tmp_path / "x", pause=0.0)
    server.files["/x"], server.headers = CONTENT[::-1], {header: "second"}
    fetch(f"{server.url}/x", tmp_path / "x", pause=0.0)
    assert (tmp_path / "x").read_bytes() == CONTENT[::-1]
    assert server.asked[-2:] == ["bytes=5000-", None]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["x"]


def test_a_part_that_is_whole_or_too_long(server, tmp_path):
    unfinished(tmp_path / "x", f"{server.url}/x").write_bytes(CONTENT)
    fetch(f"{server.url}/x", tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == CONTENT
    unfinished(tmp_path / "y", f"{server.url}/x").write_bytes(CONTENT + b"more")
    fetch(f"{server.url}/x", tmp_path / "y", pause=0.0)
    assert (tmp_path / "y").read_bytes() == CONTENT


def test_a_busy_server_is_asked_less_and_less_often(server, tmp_path, monkeypatch):
    pauses = []
    monkeypatch.setattr(module.time, "sleep", pauses.append)
    with pytest.raises(DownloadError, match="answered 429"):
        fetch(f"{server.url}/status/429", tmp_path / "x", pause=3.0)
    assert pauses == [3.0, 6.0, 12.0, 24.0]


def test_what_keeps_breaking_is_given_up_and_kept(server, tmp_path):
    server.cuts = [10] * 9
    with pytest.raises(DownloadError, match=r"gave up after 5 tries.*resume from .*x.*part"):
        fetch(f"{server.url}/x", tmp_path / "x", pause=0.0)
    assert unfinished(tmp_path / "x", f"{server.url}/x").read_bytes() == CONTENT[:50]
    assert not (tmp_path / "x").exists()


def test_the_checksum_is_checked_and_a_wrong_file_removed(server, tmp_path):
    right = hashlib.sha256(CONTENT).hexdigest()
    fetch(f"{server.url}/x", tmp_path / "x", sha256=right.upper())
    with pytest.raises(DownloadError, match=f"sha256 is {right}, expected 0000"):
        fetch(f"{server.url}/x", tmp_path / "y", sha256="0" * 64)
    assert [p.name for p in tmp_path.iterdir()] == ["x"]


def test_refusals_are_not_repeated_and_faults_are(server, tmp_path):
    with pytest.raises(DownloadError, match="answered 404"):
        fetch(f"{server.url}/status/404", tmp_path / "x", pause=0.0)
    assert len(server.asked) == 1
    with pytest.raises(DownloadError, match=r"gave up after 5 tries: the server answered 503"):
        fetch(f"{server.url}/status/503", tmp_path / "x", pause=0.0)
    with pytest.raises(DownloadError, match="gave up after 5 tries"):
        fetch("http://127.0.0.1:1/x", tmp_path / "x", pause=0.0)


@pytest.mark.parametrize("switch", ["CROSSLENS_OFFLINE", "HF_HUB_OFFLINE"])
def test_offline_nothing_is_asked(server, tmp_path, monkeypatch, switch):
    monkeypatch.setenv(switch, "1")
    with pytest.raises(DownloadError, match=rf"the network is switched off \(unset {switch}\)$"):
        fetch(f"{server.url}/x", tmp_path / "x")
    assert server.asked == []


@pytest.mark.parametrize(
    ("number", "reason"), [(errno.ENOSPC, "the disk is full"), (errno.EACCES, "Permission denied")]
)
def test_what_cannot_be_written_is_one_sentence(server, tmp_path, monkeypatch, number, reason):
    class Refusing:
        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

        def write(self, chunk):
            raise OSError(number, os.strerror(number))

    monkeypatch.setattr(module, "open", lambda *arguments: Refusing(), raising=False)
    with pytest.raises(DownloadError, match=f"cannot write .*x.*part: {reason}"):
        fetch(f"{server.url}/x", tmp_path / "x")
    assert len(server.asked) == 1  # not repeated
