import hashlib
import http.server
import io
import tarfile
import threading

import pytest

from crosslens.corpora.catalogue import load_corpus
from crosslens.corpora.download import fetch, get_ud, unpack
from crosslens.errors import DownloadError, RequestError

CONTENT = bytes(range(256)) * 2000


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves one file, with the faults the server is told to have."""

    def do_GET(self):
        server = self.server
        server.asked.append(self.headers.get("Range"))
        if self.path.startswith("/status/"):
            self.send_error(int(self.path.rpartition("/")[2]))
            return
        content = server.files[self.path]
        start = 0
        if server.resumes and self.headers.get("Range"):
            start = int(self.headers["Range"].removeprefix("bytes=").rstrip("-"))
            if start >= len(content):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(content)}")
                self.end_headers()
                return
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start + server.shift}-{len(content) - 1}/{len(content)}")
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        cut = server.cuts.pop(0) if server.cuts else None
        self.wfile.write(content[start : start + cut if cut else None])

    def log_message(self, *args):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.delenv("CROSSLENS_OFFLINE", raising=False)
    monkeypatch.setenv("NO_PROXY", "*")
    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.files, made.asked, made.cuts, made.resumes, made.shift = {"/x": CONTENT}, [], [], True, 0
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    made.url = f"http://127.0.0.1:{made.server_port}"
    yield made
    made.shutdown()
    made.server_close()
    thread.join()


def test_a_file_arrives_with_progress(server, tmp_path):
    seen = []
    fetch(f"{server.url}/x", tmp_path / "x", progress=lambda update: seen.append((update.done, update.total)))
    assert (tmp_path / "x").read_bytes() == CONTENT
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert not (tmp_path / "x.part").exists()


@pytest.mark.parametrize("resumes", [True, False])
def test_a_connection_that_breaks_is_taken_up_again(server, tmp_path, resumes):
    server.cuts, server.resumes = [100_000, 50_000], resumes
    fetch(f"{server.url}/x", tmp_path / "x", pause=0.0)
    assert (tmp_path / "x").read_bytes() == CONTENT
    assert len(server.asked) == 3
    assert server.asked[1] == "bytes=100000-"


def test_an_interrupted_download_goes_on_in_the_next_call(server, tmp_path):
    (tmp_path / "x.part").write_bytes(CONTENT[:1234])
    fetch(f"{server.url}/x", tmp_path / "x")
    assert server.asked == ["bytes=1234-"]
    assert (tmp_path / "x").read_bytes() == CONTENT


def test_a_server_that_resumes_elsewhere_is_not_believed(server, tmp_path):
    (tmp_path / "x.part").write_bytes(CONTENT[:1234])
    server.shift = 7
    fetch(f"{server.url}/x", tmp_path / "x", pause=0.0)
    assert server.asked == ["bytes=1234-", None]
    assert (tmp_path / "x").read_bytes() == CONTENT


def test_what_is_no_archive_is_not_noted_as_the_right_one(server, tmp_path, treebanks):
    server.files["/ud.tgz"] = b"<html>please come back later</html>"
    with pytest.raises(DownloadError, match="cannot unpack"):
        get_ud("9.9", tmp_path, url=f"{server.url}/ud.tgz")
    server.files["/ud.tgz"] = archive(treebanks)
    assert get_ud("9.9", tmp_path, url=f"{server.url}/ud.tgz").is_dir()


def test_a_part_that_is_whole_or_too_long(server, tmp_path):
    (tmp_path / "x.part").write_bytes(CONTENT)
    fetch(f"{server.url}/x", tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == CONTENT
    (tmp_path / "y.part").write_bytes(CONTENT + b"more")
    fetch(f"{server.url}/x", tmp_path / "y", pause=0.0)
    assert (tmp_path / "y").read_bytes() == CONTENT


def test_what_keeps_breaking_is_given_up_and_kept(server, tmp_path):
    server.cuts = [10] * 9
    with pytest.raises(DownloadError, match=r"gave up after 5 tries.*resume from .*x.part"):
        fetch(f"{server.url}/x", tmp_path / "x", pause=0.0)
    assert (tmp_path / "x.part").read_bytes() == CONTENT[:50]
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
    with pytest.raises(DownloadError, match="the network is switched off"):
        fetch(f"{server.url}/x", tmp_path / "x")
    assert server.asked == []


def archive(treebanks, *extra):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        tar.add(treebanks / "ud", arcname="ud-treebanks-v9.9")
        for name, kind in extra:
            member = tarfile.TarInfo(name)
            member.type = kind
            member.linkname = "/etc/passwd"
            tar.addfile(member)
    return stream.getvalue()


def test_a_release_is_got_and_found(server, tmp_path, treebanks):
    server.files["/ud.tgz"] = archive(treebanks)
    made = get_ud("9.9", tmp_path, url=f"{server.url}/ud.tgz")
    assert made == tmp_path / "ud-treebanks-v9.9"
    corpus = load_corpus("ud/en_toy:train", data=tmp_path)
    assert (corpus.release, len(corpus)) == ("9.9", 6)
    noted = (tmp_path / "ud-treebanks-v9.9.tgz.sha256").read_text().split()[0]
    assert noted == hashlib.sha256(server.files["/ud.tgz"]).hexdigest()
    with pytest.raises(RequestError, match=r"UD 9.9: .* exists already"):
        get_ud("9.9", tmp_path, url=f"{server.url}/ud.tgz")


def test_a_release_that_changed_since_is_refused(server, tmp_path, treebanks):
    (tmp_path / "ud-treebanks-v9.9.tgz.sha256").write_text("0" * 64 + "  x\n")
    server.files["/ud.tgz"] = archive(treebanks)
    with pytest.raises(DownloadError, match="expected 0000"):
        get_ud("9.9", tmp_path, url=f"{server.url}/ud.tgz")
    assert not (tmp_path / "ud-treebanks-v9.9").exists()


def test_archives_that_are_damaged_or_reach_outside(tmp_path, treebanks):
    good = archive(treebanks)
    bad = {
        "truncated": good[: len(good) // 2],
        "empty": b"",
        "outside": archive(treebanks, ("../x", tarfile.REGTYPE)),
        "link": archive(treebanks, ("ud-treebanks-v9.9/l", tarfile.SYMTYPE)),
        "two": archive(treebanks, ("other", tarfile.DIRTYPE)),
    }
    for name, content in bad.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(DownloadError):
            unpack(tmp_path / name, tmp_path / "target")
        assert sorted(p.name for p in tmp_path.iterdir()) == [name]
        (tmp_path / name).unlink()


def test_an_unknown_release(tmp_path):
    with pytest.raises(RequestError, match=r"unknown UD release '2.99'.*or give --url"):
        get_ud("2.99", tmp_path)
