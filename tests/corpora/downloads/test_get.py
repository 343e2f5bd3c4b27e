import hashlib
import io
import tarfile
from dataclasses import replace

import pytest

from crosslens.corpora.catalogue import load_corpus
from crosslens.corpora.downloads.get import get
from crosslens.corpora.downloads.published import PUBLISHED
from crosslens.errors import DownloadError, RequestError
from toy_archives import names, serve_xnli


def ud_archive(treebanks, *extra):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        tar.add(treebanks / "ud", arcname="ud-treebanks-v9.9")
        for name, kind in extra:
            member = tarfile.TarInfo(name)
            member.type = kind
            tar.addfile(member)
    return stream.getvalue()


def test_languages_are_added_and_those_there_are_kept(server, tmp_path):
    serve_xnli(server)
    get("xnli", tmp_path, languages=["fr"], url=server.url)
    (tmp_path / "xnli" / "dev-fr.tsv").write_text("mine")
    get("xnli", tmp_path, languages=["fr", "en"], url=server.url)
    assert names(tmp_path / "xnli") == sorted(f"{s}-{c}.tsv" for s in ("train", "dev", "test") for c in ("en", "fr"))
    assert (tmp_path / "xnli" / "dev-fr.tsv").read_text() == "mine"
    with pytest.raises(RequestError, match=r"xnli: .* exists already"):
        get("xnli", tmp_path, url=server.url)


def test_a_missing_language_changes_nothing_and_the_download_is_kept(server, tmp_path):
    serve_xnli(server)
    with pytest.raises(RequestError, match="no data in language 'de'"):
        get("xnli", tmp_path, languages=["de"], url=server.url)
    assert not (tmp_path / "xnli").exists()
    asked = len(server.asked)
    get("xnli", tmp_path, languages=["fr"], url=server.url)
    assert len(server.asked) == asked
    assert sorted(path.name for path in tmp_path.iterdir()) == ["xnli", "xnli.sha256"]


def test_an_interrupted_download_of_several_files_goes_on(server, tmp_path):
    files = {f"/en-fr{infix}.txt": b"cat chat\n" * 9 for infix in ("", ".0-5000", ".5000-6500")}
    server.files |= {path: content for path, content in files.items() if "6500" not in path}
    with pytest.raises(DownloadError, match="answered 404"):
        get("muse", tmp_path, languages=["en-fr"], url=server.url)
    assert not (tmp_path / "muse").exists()
    asked = len(server.asked)
    server.files |= files
    get("muse", tmp_path, languages=["en-fr"], url=server.url)
    assert len(server.asked) == asked + 1
    assert len(names(tmp_path / "muse")) == 3


def test_files_of_two_mirrors_are_not_mixed(server, tmp_path):
    for infix in ("", ".0-5000", ".5000-6500"):
        server.files |= {f"/good/en-fr{infix}.txt": b"cat chat\n", f"/bad/en-fr{infix}.txt": b"cat chien\n"}
    del server.files["/bad/en-fr.5000-6500.txt"]
    with pytest.raises(DownloadError, match="answered 404"):
        get("muse", tmp_path, languages=["en-fr"], url=f"{server.url}/bad")
    get("muse", tmp_path, languages=["en-fr"], url=f"{server.url}/good")
    assert {file.read_text() for file in (tmp_path / "muse").iterdir()} == {"cat chat\n"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["muse", "muse.sha256"]


def test_two_processes_do_not_download_the_same_at_once(server, tmp_path):
    server.files |= {f"/en-fr{infix}.txt": b"cat chat\n" for infix in ("", ".0-5000", ".5000-6500")}
    refused = []

    def again(update):
        try:
            get("muse", tmp_path, languages=["en-fr"], url=server.url)
        except DownloadError as error:
            refused.append(str(error))

    get("muse", tmp_path, languages=["en-fr"], url=server.url, progress=again)
    assert set(refused) == {
        f"another process is downloading {tmp_path / 'muse'} (wait for its end, and run the command again)"
    }
    assert len(server.asked) == len(names(tmp_path / "muse")) == 3


def test_a_file_that_changed_since_is_refused(server, tmp_path):
    for infix in ("", ".0-5000", ".5000-6500"):
        server.files |= {f"/{pair}{infix}.txt": b"a b\n" for pair in ("en-fr", "fr-en")}
    get("muse", tmp_path, languages=["en-fr"], url=server.url)
    server.files["/en-fr.txt"] = b"other\n"
    get("muse", tmp_path, languages=["fr-en"], url=server.url)
    with pytest.raises(DownloadError, match=r"sha256 is .* expected .*the file has changed.*remove .*muse.sha256"):
        get("muse", tmp_path, languages=["en-fr"], url=server.url)


@pytest.mark.parametrize("note", [b"0123\n", b"\xff\xfe", b"\n"])
def test_checksums_that_are_damaged_are_not_ignored(server, tmp_path, note):
    (tmp_path / "muse.sha256").write_bytes(note)
    with pytest.raises(DownloadError, match=r"muse.sha256 is damaged .remove it"):
        get("muse", tmp_path, languages=["en-fr"], url=server.url)
    assert [path.name for path in tmp_path.iterdir()] == ["muse.sha256"]


def test_a_release_is_got_and_found(server, tmp_path, treebanks):
    server.files["/ud.tgz"] = ud_archive(treebanks)
    made = get("ud", tmp_path, release="9.9", url=f"{server.url}/ud.tgz")
    assert made == tmp_path / "ud-treebanks-v9.9"
    corpus = load_corpus("ud/en_toy:train", data=tmp_path)
    assert (corpus.release, len(corpus)) == ("9.9", 6)
    noted = (tmp_path / "ud-treebanks-v9.9.tgz.sha256").read_text().split()[0]
    assert noted == hashlib.sha256(server.files["/ud.tgz"]).hexdigest()
    with pytest.raises(RequestError, match=r"UD 9.9: .* exists already"):
        get("ud", tmp_path, release="9.9", url=f"{server.url}/ud.tgz")


def test_a_release_that_changed_since_is_refused(server, tmp_path, treebanks):
    (tmp_path / "ud-treebanks-v9.9.tgz.sha256").write_text("0" * 64 + "  ud-treebanks-v9.9.tgz\n")
    server.files["/ud.tgz"] = ud_archive(treebanks)
    with pytest.raises(DownloadError, match="expected 0000"):
        get("ud", tmp_path, release="9.9", url=f"{server.url}/ud.tgz")
    assert not (tmp_path / "ud-treebanks-v9.9").exists()


@pytest.mark.parametrize("content", [b"<html>please come back later</html>", b""])
def test_what_is_no_archive_is_downloaded_again(server, tmp_path, treebanks, content):
    server.files["/ud.tgz"] = content
    with pytest.raises(DownloadError, match="cannot unpack"):
        get("ud", tmp_path, release="9.9", url=f"{server.url}/ud.tgz")
    assert [*tmp_path.iterdir()] == []
    server.files["/ud.tgz"] = ud_archive(treebanks)
    assert get("ud", tmp_path, release="9.9", url=f"{server.url}/ud.tgz").is_dir()


def test_an_archive_of_two_folders_is_no_release(server, tmp_path, treebanks):
    server.files["/ud.tgz"] = ud_archive(treebanks, ("other", tarfile.DIRTYPE))
    with pytest.raises(DownloadError, match="contains 2 folders"):
        get("ud", tmp_path, release="9.9", url=f"{server.url}/ud.tgz")
    assert [*tmp_path.iterdir()] == []


def test_an_archive_whose_folder_has_an_entry_of_its_own_name(server, tmp_path, treebanks):
    server.files["/ud.tgz"] = ud_archive(treebanks, ("ud-treebanks-v9.9/ud-treebanks-v9.9", tarfile.DIRTYPE))
    made = get("ud", tmp_path, release="9.9", url=f"{server.url}/ud.tgz")
    assert (made / "ud-treebanks-v9.9").is_dir()
    assert load_corpus("ud/en_toy:train", data=tmp_path).release == "9.9"


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        (
            "ud",
            {"release": "../../x", "url": "http://127.0.0.1/x.tgz"},
            r"unknown UD release '../../x'",
        ),
        ("ud", {"release": ""}, r"unknown UD release ''.*such as 2.14"),
        ("ud", {"release": "2.99"}, r"unknown UD release '2.99'.*or give --url"),
        ("ud", {}, "which release.*--release"),
        ("ud", {"release": "2.14", "languages": ["fr"]}, "no choice of languages"),
        ("xnli", {"release": "2.14"}, "has no releases"),
        ("xnli", {"sha256": "0" * 64}, "one checksum is ambiguous"),
        ("wili", {"sha256": ""}, "'' is not a SHA-256 checksum"),
        ("ud", {"release": "2.14", "sha256": "727e52"}, "'727e52' is not a SHA-256 checksum.*64 hex"),
        ("xnli", {"url": "ftp://127.0.0.1/x"}, "unsupported address 'ftp://127.0.0.1/x' .*https://"),
        ("ud", {"release": "9.9", "url": "file:///etc/passwd"}, "unsupported address"),
        ("ud", {"release": "9.9", "url": "nonsense"}, "unsupported address"),
        ("xlni", {}, "no data called 'xlni'.*xnli"),
        ("panlex", {}, "cannot be downloaded automatically.*SOURCE<tab>TARGET"),
    ],
)
def test_wrong_requests(server, tmp_path, name, options, message):
    with pytest.raises(RequestError, match=message):
        get(name, tmp_path, **options)
    assert [*tmp_path.iterdir()] == []


def test_a_full_disk_is_one_sentence(server, tmp_path, monkeypatch):
    serve_xnli(server)

    def full(*arguments, **options):
        raise OSError(28, "No space left on device", "somewhere")

    monkeypatch.setattr("crosslens.corpora.downloads.unpack.zipfile.ZipFile.extractall", full)
    with pytest.raises(DownloadError, match=r"cannot write somewhere: the disk is full .free some space"):
        get("xnli", tmp_path, url=server.url)
    assert not (tmp_path / "xnli").exists()
    monkeypatch.undo()
    get("xnli", tmp_path, url=server.url)  # with what was downloaded before
    assert len(server.asked) == 2


def test_archives_with_published_checksums_are_checked(server, tmp_path, monkeypatch):
    serve_xnli(server)
    monkeypatch.setitem(get.__globals__, "PUBLISHED", {"xnli": replace(PUBLISHED["xnli"], base=server.url)})
    with pytest.raises(DownloadError, match=r"XNLI-1.0.zip: sha256 is .* expected 4ba1d5e1.*not the published one"):
        get("xnli", tmp_path)
    assert not (tmp_path / "xnli").exists()
    assert len(server.asked) == 1


def test_a_folder_that_cannot_be_written(server, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(DownloadError, match=r"cannot write .*Not a directory"):
        get("muse", tmp_path / "file", languages=["en-fr"], url=server.url)
