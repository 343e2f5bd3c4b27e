"""Every collection, from an archive in the layout of the published one to a corpus that is read."""

import re

import pytest

from crosslens.corpora.catalogue import load_corpus
from crosslens.corpora.collection import COLLECTIONS
from crosslens.corpora.dictionaries import load_dictionary
from crosslens.corpora.downloads.get import find_published, get
from crosslens.corpora.downloads.published import PUBLISHED, RELEASES
from crosslens.corpora.parallel import list_languages, load_parallel
from crosslens.errors import RequestError
from toy_archives import names, serve_xnli, tar, zipped


def test_xnli(server, tmp_path):
    serve_xnli(server)
    folder = get("xnli", tmp_path, url=server.url)
    assert folder == tmp_path / "xnli"
    assert names(folder) == sorted(f"{s}-{c}.tsv" for s in ("train", "dev", "test") for c in ("en", "fr", "zh"))
    dev = load_corpus("xnli/fr:dev", data=tmp_path)
    assert [text.label for text in dev.texts] == ["entailment", "neutral", "contradiction"]
    assert dev.texts[1].segments == ('fr says "so"', "fr neutral")
    train = load_corpus("xnli/zh:train", data=tmp_path)
    assert [(text.segments, text.label) for text in train.texts] == [
        (("a", "b"), "contradiction"),
        (("d", "e"), "entailment"),
    ]
    assert load_parallel("xnli/dev", data=tmp_path).languages == ("en", "fr", "zh")


def test_muse(server, tmp_path):
    for pair in ("en-fr", "fr-en"):
        for infix, line in ((".0-5000", "cat chat\n"), (".5000-6500", "dog\tchien\n"), ("", "a b\nc d\ne f\n")):
            server.files[f"/{pair}{infix}.txt"] = line.encode()
    get("muse", tmp_path, languages=["fr"], url=server.url)
    assert len(names(tmp_path / "muse")) == 6
    assert load_dictionary("muse/en-fr:train", data=tmp_path).pairs == (("cat", "chat", 1.0),)
    assert load_dictionary("muse/fr-en:test", data=tmp_path).pairs == (("dog", "chien", 1.0),)
    assert len(load_dictionary("muse/fr-en", data=tmp_path)) == 3
    with pytest.raises(RequestError, match="no data in language 'fr-ru'"):
        get("muse", tmp_path, languages=["fr-ru"], url=server.url)
    for name in ("xx", "en"):  # there is no English with English
        with pytest.raises(RequestError, match=f"no data in language {name!r}"):
            get("muse", tmp_path, languages=["fr", name], url=server.url)


def test_tatoeba(server, tmp_path):
    v1 = "LASER-2aa9cf8242f1030282be23a9cfa906fd011c4b2d/data/tatoeba/v1"
    pairs = {f"{v1}/tatoeba.{code}-eng.{side}": f"{side}\n" for code in ("fra", "cmn") for side in (code, "eng")}
    server.files["/laser"] = tar(pairs | {f"{v1}/README.md": "x", "LASER-2aa/setup.py": "x"})
    get("tatoeba", tmp_path, languages=["fr"], url=f"{server.url}/laser")
    assert names(tmp_path / "tatoeba") == ["tatoeba.fra-eng.eng", "tatoeba.fra-eng.fra"]
    assert list_languages("tatoeba/fr", data=tmp_path) == ("en", "fr")
    get("tatoeba", tmp_path, languages=["zh"], url=f"{server.url}/laser")
    assert list_languages("tatoeba/zh", data=tmp_path) == ("en", "zh")


def test_sib200(server, tmp_path):
    topics = "index_id\tcategory\ttext\n7\ttravel\tA text.\n"
    files = {
        f"data/annotated/{code}/{split}.tsv": topics
        for code in ("eng_Latn", "zho_Hans", "zho_Hant")
        for split in ("train", "dev", "test")
    }
    more = {"README.md": "x", "data/eng/train.tsv": "x", "data/annotated/eng_Latn/labels.txt": "x"}
    server.files["/sib"] = tar({f"sib-200-main/{name}": content for name, content in (files | more).items()})
    get("sib200", tmp_path, languages=["en", "zho_Hans"], url=f"{server.url}/sib")
    assert names(tmp_path / "sib200") == sorted(
        f"{code}/{split}.tsv" for code in ("eng_Latn", "zho_Hans") for split in ("train", "dev", "test")
    )
    assert load_corpus("sib200/eng_Latn:dev", data=tmp_path).texts[0].label == "travel"
    assert list_languages("sib200/test", data=tmp_path) == ("en", "zh")


def test_uner(server, tmp_path, treebanks):
    text = next((treebanks / "uner").rglob("en_pud-ud-test.iob2")).read_bytes()
    server.files |= {f"/UNER_English-EWT/master/en_ewt-ud-{split}.iob2": text for split in ("train", "dev", "test")} | {
        "/UNER_English-PUD/master/en_pud-ud-test.iob2": text
    }
    get("uner", tmp_path, languages=["en_pud"], url=server.url)
    assert names(tmp_path / "uner") == ["UNER_English-PUD/en_pud-ud-test.iob2"]
    get("uner", tmp_path, languages=["en"], url=server.url)
    assert len(names(tmp_path / "uner")) == 4
    assert load_corpus("uner/en_ewt:dev", data=tmp_path).sentences[0].entities


def test_masakhaner(server, tmp_path):
    server.files |= {f"/wol/{split}.txt": b"Dakar B-LOC\nrafet O\n\n" for split in ("train", "dev", "test")}
    get("masakhaner", tmp_path, languages=["wo"], url=server.url)
    corpus = load_corpus("masakhaner/wol:train", data=tmp_path)
    assert (corpus.language, corpus.sentences[0].entities) == ("wo", ("B-LOC", "O"))
    with pytest.raises(RequestError, match="no data in language 'fr'"):
        get("masakhaner", tmp_path, languages=["fr"], url=server.url)


@pytest.mark.parametrize("top", ["", "wili-2018/"])
def test_wili(server, tmp_path, top):
    files = {"x_train.txt": "un\ndeux\n", "y_train.txt": "fra\nfra\n", "x_test.txt": "one\n", "y_test.txt": "eng\n"}
    more = {"labels.csv": "x", "README.txt": "x", "__MACOSX/._x_train.txt": "x"}
    server.files["/wili"] = zipped({f"{top}{name}": content for name, content in (files | more).items()})
    get("wili", tmp_path, url=f"{server.url}/wili")
    assert [text.label for text in load_corpus("wili/all:train", data=tmp_path).texts] == ["fra", "fra"]
    with pytest.raises(RequestError, match="no choice of languages"):
        get("wili", tmp_path, languages=["fr"], url=f"{server.url}/wili")


@pytest.mark.parametrize("top", ["", "panx_dataset/"])
def test_wikiann(server, tmp_path, top):
    archives = {
        f"{top}{code}.tar.gz": tar({part: f"{code}:Paris\tB-LOC\n\n" for part in ("train", "dev", "test", "extra")})
        for code in ("fr", "zh", "zh-yue", "be-x-old")
    }
    server.files["/panx"] = zipped(archives | {f"__MACOSX/{top}._fr.tar.gz": "x", "README.md": "x"})
    get("wikiann", tmp_path, languages=["fr", "zh"], url=f"{server.url}/panx")
    assert names(tmp_path / "wikiann") == [f"{c}/{part}" for c in ("fr", "zh") for part in ("dev", "test", "train")]
    assert load_corpus("wikiann/fr:train", data=tmp_path).sentences[0].words == ("Paris",)
    get("wikiann", tmp_path, languages=["be-x-old"], url=f"{server.url}/panx")
    assert (tmp_path / "wikiann" / "be-x-old" / "test").is_file()
    get("wikiann", tmp_path / "all", url=f"{server.url}/panx")
    assert {name.split("/")[0] for name in names(tmp_path / "all" / "wikiann")} == {"fr", "zh", "zh-yue", "be-x-old"}


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_collection_has_its_addresses_and_licence(name):
    published = PUBLISHED[name]
    files = published.files(None)
    assert files
    assert published.base.startswith("https://")
    assert published.licence
    assert published.source.startswith("https://")
    assert all(checksum is None or re.fullmatch("[0-9a-f]{64}", checksum) for checksum in files.values())


def test_numbers_of_languages():
    """As their papers and pages count them: Lample et al. count English-English as two of their 110 dictionaries."""
    assert len(PUBLISHED["muse"].files(None)) == 3 * 108
    assert len(PUBLISHED["masakhaner"].files(None)) == 3 * 20
    assert len({file.split("/")[0] for file in PUBLISHED["uner"].files(None)}) == 18


def test_dictionaries_are_of_two_languages_and_not_of_a_language_in_a_region():
    """As one tag, en-uk is English in the United Kingdom, like en-gb."""
    files = PUBLISHED["muse"].files
    assert set(files(["en-uk"])) == {"en-uk.txt", "en-uk.0-5000.txt", "en-uk.5000-6500.txt"}
    assert files(["eng-ukr"]) == files(["EN-UK"]) == files(["en-uk"])
    with pytest.raises(RequestError, match="there is no data in language 'gb'"):
        files(["en-gb"])
    with pytest.raises(RequestError, match="there is no data in language 'ru-uk'"):
        files(["ru-uk"])


def test_hints_name_commands_that_exist():
    for name, collection in COLLECTIONS.items():
        if collection.get:
            assert collection.get.startswith(f"`crosslens data get {name}")
            find_published(name, release="2.14" if name == "ud" else None)
    assert set(PUBLISHED) - {"muse"} <= {name for name, collection in COLLECTIONS.items() if collection.get}


@pytest.mark.parametrize("release", RELEASES)
def test_releases_of_universal_dependencies(release):
    published = find_published("ud", release=release)
    assert [*published.files(None)] == [f"ud-treebanks-v{release}.tgz"]
    assert published.base.endswith(f"/{RELEASES[release][0]}")
