import pytest

from crosslens.corpora import catalogue
from crosslens.corpora.catalogue import (
    check_corpus,
    list_corpora,
    load_corpus,
    load_text,
    match_corpora,
    name_split,
    roots,
)
from crosslens.corpora.parallel import load_parallel
from crosslens.errors import DataError, RequestError


@pytest.fixture(autouse=True)
def nothing_outside(monkeypatch, tmp_path):
    monkeypatch.delenv("CROSSLENS_DATA", raising=False)
    monkeypatch.setattr(catalogue, "cache_folder", lambda: tmp_path / "cache")


def test_names_and_their_splits(treebanks):
    corpus = load_corpus("ud/en_toy:train", data=treebanks)
    assert (corpus.name, corpus.language, corpus.split, len(corpus)) == ("ud/en_toy:train", "en", "train", 6)
    assert load_corpus("ud/en_toy", data=treebanks).split == "test"
    assert load_corpus("ud/en_toy", data=treebanks, split="dev").split == "dev"


def test_slices_as_hugging_face_writes_them(treebanks):
    whole = load_corpus("ud/en_toy:train", data=treebanks)
    part = load_corpus("ud/en_toy:train[1:3]", data=treebanks)
    assert part.items == whole.items[1:3]
    assert part.name == "ud/en_toy:train[1:3]"
    assert load_corpus("ud/en_toy:train[:2]", data=treebanks).items == whole.items[:2]
    assert load_corpus("ud/en_toy:train[4:]", data=treebanks).items == whole.items[4:]
    assert part.digest != whole.digest
    with pytest.raises(DataError, match=r"\[9:\] selects no sentences: ud/en_toy has 6"):
        load_corpus("ud/en_toy[9:]", data=treebanks)


def test_a_seed_in_a_slice_shuffles_before_it_cuts(treebanks):
    whole = load_corpus("ud/en_toy:train", data=treebanks)
    shuffled = {seed: load_corpus(f"ud/en_toy:train[{seed}~:]", data=treebanks) for seed in (1, 2)}
    for corpus in shuffled.values():
        assert sorted(item.id for item in corpus) == sorted(item.id for item in whole)
        assert corpus.items != whole.items
    assert shuffled[1].items != shuffled[2].items
    assert load_corpus("ud/en_toy:train[2~1:4]", data=treebanks).items == shuffled[2].items[1:4]


def test_another_split_is_transliterated_alike():
    assert name_split("ud/ug_udt:train@uroman", "dev") == "ud/ug_udt:dev@uroman"
    assert name_split("ud/ug_udt[:200]@uroman[:9]", "dev") == "ud/ug_udt:dev@uroman"
    assert (
        name_split("lab/sov[:9]@latin-cyrillic[:5]@cyrillic-latin", "dev")
        == "lab/sov:dev@latin-cyrillic@cyrillic-latin"
    )
    check_corpus("lab/sov:train[:9]@latin-cyrillic@cyrillic-latin")


def test_a_path_is_a_corpus_too(treebanks):
    path = treebanks / "ud" / "UD_EN-toy" / "en_toy-ud-dev.conllu"
    corpus = load_corpus(path)
    assert (corpus.language, corpus.split, corpus.name) == ("en", "dev", str(path))
    assert corpus.digest == load_corpus("ud/en_toy:dev", data=treebanks).digest


def test_a_path_may_say_its_language(treebanks, tmp_path):
    path = tmp_path / "mine.conllu"
    path.write_bytes((treebanks / "ud" / "UD_EN-toy" / "en_toy-ud-dev.conllu").read_bytes())
    assert load_corpus(path).language is None
    corpus = load_corpus(f"wo={path}[:2]")
    assert (corpus.language, corpus.name, len(corpus)) == ("wo", f"{path}[:2]", 2)
    assert load_corpus(f"zh-Hant={path}").language == "zh-Hant"
    assert match_corpora(f"wo={path}") == [f"wo={path}"]
    with pytest.raises(DataError, match="not found"):
        load_corpus("wo=nowhere.conllu")


def test_the_order_of_the_places_and_the_official_layout(treebanks, tmp_path, monkeypatch):
    release = tmp_path / "cache" / "ud-treebanks-v2.14" / "UD_English-toy"
    release.mkdir(parents=True)
    text = (treebanks / "ud" / "UD_EN-toy" / "en_toy-ud-test.conllu").read_text()
    (release / "en_toy-ud-test.conllu").write_text(text.split("\n\n")[0] + "\n\n")
    older = tmp_path / "cache" / "ud-treebanks-v2.4" / "UD_English-toy"
    older.mkdir(parents=True)
    (older / "en_toy-ud-test.conllu").write_text(text)
    newest = load_corpus("ud/en_toy")
    assert (newest.release, len(newest)) == ("2.14", 1)
    assert load_corpus("ud/en_toy", data=tmp_path / "cache" / "ud-treebanks-v2.4").release == "2.4"
    assert load_corpus("ud/en_toy", data=treebanks).release is None
    monkeypatch.setenv("CROSSLENS_DATA", str(treebanks))
    assert load_corpus("ud/en_toy").release is None
    assert [root.given_by for root in roots(tmp_path)] == ["--data", "CROSSLENS_DATA", "cache", "shipped"]


def test_patterns(treebanks):
    assert match_corpora("ud/*_pud", data=treebanks) == ["ud/en_pud", "ud/fr_pud"]
    assert match_corpora("ud/*:train", data=treebanks) == ["ud/en_toy:train"]
    assert match_corpora("ud/en_*:test", data=treebanks) == ["ud/en_pud:test", "ud/en_toy:test"]
    assert match_corpora("./x.conllu", data=treebanks) == ["./x.conllu"]
    assert match_corpora("ud/xx_toy[:5]", data=treebanks) == ["ud/xx_toy[:5]"]  # no pattern: whoever reads it looks
    assert name_split("ud/en_toy:train[:5]", "dev") == "ud/en_toy:dev"
    with pytest.raises(DataError, match="corpus 'ud/xx_"):
        match_corpora("ud/xx_*", data=treebanks)
    with pytest.raises(DataError, match="give dev data as well, or set select=last"):
        name_split("./x.conllu", "dev")


def test_a_pattern_never_mixes_two_folders(treebanks, tmp_path, monkeypatch):
    other = tmp_path / "other" / "ud" / "UD_German-PUD"
    other.mkdir(parents=True)
    (other / "de_pud-ud-test.conllu").write_text("# sent_id = elsewhere\n1\tx" + "\t_" * 8 + "\n\n")
    monkeypatch.setenv("CROSSLENS_DATA", str(tmp_path / "other"))
    assert match_corpora("ud/*_pud", data=treebanks) == ["ud/en_pud", "ud/fr_pud"]
    assert load_parallel("ud/pud", data=treebanks).languages == ("en", "fr")
    assert match_corpora("ud/*_pud") == ["ud/de_pud"]
    assert load_corpus("ud/de_pud", data=treebanks)[0].id == "elsewhere"


def test_what_is_not_there_says_where_it_looked_and_how_to_get_it(treebanks, tmp_path):
    with pytest.raises(DataError) as caught:
        load_corpus("ud/en_tyo:train", data=treebanks)
    assert str(treebanks) in caught.value.message
    assert str(tmp_path / "cache") in caught.value.message
    assert "crosslens data get ud --release" in caught.value.hint
    assert "did you mean 'ud/en_toy'" in caught.value.hint


def test_the_split_that_a_name_has_is_the_one_that_is_looked_for(treebanks):
    check_corpus("ud/fr_pud:test", split="train", data=treebanks)
    for name, split in (("ud/fr_pud:train", "test"), ("ud/fr_pud", "train"), ("ud/*_pud:dev", "test")):
        with pytest.raises(DataError):
            check_corpus(name, split=split, data=treebanks)


def test_what_is_transliterated_is_read_from_the_same_folder_and_split(treebanks):
    corpus = load_corpus("ud/en_toy@latin-cyrillic[1:3]", split="dev", data=treebanks)
    assert (corpus.name, corpus.split, len(corpus)) == ("ud/en_toy:dev@latin-cyrillic[1:3]", "dev", 2)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ud/en_toy:trian", r"unknown split 'trian' .did you mean 'train'"),
        ("ud/fr_pud:train", r"ud/fr_pud has no train split .available: test"),
        ("ud/en~toy", "is not a valid corpus name"),
        ("ud/en-toy", "corpus 'ud/en-toy' not found in .*did you mean 'ud/en_toy'"),
        ("unre/en_ewt", "unknown collection 'unre' .did you mean 'uner'"),
        ("raw/wo", "'raw/wo' is raw text without words .*`crosslens predict MODEL raw/wo --split-words --out FILE`"),
        ("nowhere.conllu", "corpus file .* not found"),
        ("nothing", "corpus file .* not found"),
        ("Wolof=nowhere.conllu", "give the language as a tag, such as wo=FILE"),
    ],
)
def test_wrong_names(treebanks, name, message):
    with pytest.raises(DataError, match=message):
        load_corpus(name, data=treebanks)


def test_a_missing_file_is_named_without_its_language_and_a_like_one_is_suggested(tmp_path):
    for name in ("test.conllu", "Raw.txt"):
        (tmp_path / name).touch()
    for wrong, hint in (
        ("tst.conllu", "did you mean 'test.conllu'?"),
        ("nowhere.iob2", "give a file, or a name such as ud/en_ewt:train"),
    ):
        with pytest.raises(DataError) as refused:
            load_corpus(f"wo={tmp_path / wrong}[:3]")
        assert refused.value.message == f"corpus file '{tmp_path / wrong}' not found"
        assert refused.value.hint == hint


def test_a_link_that_leads_to_itself_is_named(tmp_path):
    (tmp_path / "x.conllu").symlink_to(tmp_path / "x.conllu")
    with pytest.raises(DataError, match="is a symbolic link that leads nowhere"):
        load_corpus(str(tmp_path / "x.conllu"))


def on_disk(folder):
    """What a folder has, without the artificial languages and the shipped sample, which are always there."""
    always = ("lab/", "lab_", "sample/")
    return {name: splits for name, splits in list_corpora(folder).items() if not name.startswith(always)}


def test_collections_of_entities(tmp_path):
    """Each as it is published; languages as Universal Dependencies names them."""
    for name, text in (
        ("wikiann/en/train", "en:Bonn\tB-LOC\n"),
        ("wikineural/de/test.conll", "Bonn\tB-LOC\n"),
        ("masakhaner/MasakhaNER2.0/data/wol/dev.txt", "Bonn B-LOC\n"),
    ):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text)
    expected = {"masakhaner/wol": ["dev"], "wikiann/en": ["train"], "wikineural/de": ["test"]}
    assert on_disk(tmp_path) == expected
    for name, language in (("wikiann/en:train", "en"), ("wikineural/de", "de"), ("masakhaner/wol:dev[:1]", "wo")):
        corpus = load_corpus(name, data=tmp_path)
        assert (corpus[0].words, corpus[0].entities, corpus.language) == (("Bonn",), ("B-LOC",), language)
    assert match_corpora("wikiann/*:train", data=tmp_path) == ["wikiann/en:train"]
    assert name_split("wikiann/en:train", "dev") == "wikiann/en:dev"
    (tmp_path / "wikiann" / "en" / "train").write_text("en:Bonn\tB-LOC\nRhein\tB-LOC\n")
    with pytest.raises(DataError, match=r"train:2: the word 'Rhein' lacks the prefix 'en:'"):
        load_corpus("wikiann/en:train", data=tmp_path)


def test_files_of_other_kinds(tmp_path, treebanks):
    (tmp_path / "x.txt").write_text("hello world\n\nagain .\n")
    read = load_corpus(f"wo={tmp_path / 'x.txt'}")
    assert [s.words for s in read.sentences] == [("hello", "world"), ("again", ".")]
    assert (read.language, read.layers, str(read[1].where)) == ("wo", frozenset(), f"{tmp_path / 'x.txt'}:3")
    (tmp_path / "tags.txt").write_text("Dakar B-LOC\nci O\n")
    assert load_corpus(tmp_path / "tags.txt")[0].entities == ("B-LOC", "O")
    (tmp_path / "first[:1]").write_text("Dakar B-LOC\n\nci O\n")
    assert len(load_corpus(f"wo={tmp_path / 'first[:1]'}")) == 2
    assert len(load_corpus(f"wo={tmp_path / 'first[:1]'}[:1]")) == 1
    conllu = next((treebanks / "ud").glob("*/fr_pud-ud-test.conllu")).read_bytes()
    (tmp_path / "X.CONLLU").write_bytes(conllu)
    (tmp_path / "x.conll").write_bytes(conllu)
    assert load_corpus(tmp_path / "X.CONLLU").layers
    with pytest.raises(DataError, match=r"looks like CoNLL-U: let its name end in .conllu"):
        load_corpus(tmp_path / "x.conll")
    uner = treebanks / "uner" / "UNER_EN-pud" / "en_pud-ud-test.iob2"
    assert (load_corpus(uner).language, load_corpus(uner).split) == ("en", "test")
    with pytest.raises(DataError, match="is a folder"):
        load_corpus(tmp_path)


def test_what_there_is(treebanks, monkeypatch):
    expected = {"en_pud": ["test"], "en_toy": ["train", "dev", "test"], "fr_pud": ["test"]}
    splits = ["train", "dev", "test"]
    texts = {name: splits for name in ("sib200/eng_Latn", "sib200/fra_Latn", "xnli/en", "xnli/fr")}
    words = {f"{its}/{name}": expected[name] for its in ("ud", "uner") for name in expected}
    assert on_disk(treebanks) == words | texts
    assert "10 corpora" in roots(treebanks)[0].describe()
    with pytest.raises(RequestError, match=r"the data folder .*x' does not exist"):
        roots(treebanks / "x")
    monkeypatch.setenv("CROSSLENS_DATA", str(treebanks / "x"))
    assert "no such folder" in roots()[0].describe()


def test_parallel_treebanks_are_joined_by_id(treebanks):
    pud = load_parallel("ud/pud", data=treebanks)
    assert pud.languages == ("en", "fr")
    assert [item.id for item in pud["en"]] == [item.id for item in pud["fr"]]
    assert len(pud.head(3)["fr"]) == len(pud.head(3)) == 3
    with pytest.raises(DataError, match="does not contain language 'de'"):
        load_parallel("ud/pud", languages=["en", "de"], data=treebanks)
    with pytest.raises(DataError, match="does not contain language 'xx'"):
        pud["xx"]
    with pytest.raises(DataError, match="is not the name of a parallel corpus"):
        load_parallel("pud", data=treebanks)
    with pytest.raises(DataError, match="parallel corpus 'ud/xyz' not found in"):
        load_parallel("ud/xyz", data=treebanks)


def test_raw_text_is_read_from_the_first_folder_that_has_it(tmp_path, monkeypatch):
    for folder, languages in (("given", ["en"]), ("set", ["en", "fr"])):
        (tmp_path / folder / "raw").mkdir(parents=True)
        for language in languages:
            (tmp_path / folder / "raw" / f"{language}.txt").write_text(f"{folder} {language}\n", "utf-8")
    monkeypatch.setenv("CROSSLENS_DATA", str(tmp_path / "set"))
    for data, expected in ((tmp_path / "given", ["given en", "set fr"]), (None, ["set en", "set fr"])):
        for names in (("raw/en", "raw/fr"), ("en=raw/en", "fr=raw/fr"), ("raw/en[:1]", "raw/fr[:1]")):
            assert [load_text(name, data=data)[0].text for name in names] == expected


def test_a_treebank_is_no_raw_text(treebanks):
    """Its numbers and columns were read as words, and adapted to."""
    (path,) = treebanks.glob("ud/*/fr_pud-ud-test.conllu")
    with pytest.raises(DataError, match=r"fr_pud-ud-test\.conllu: is a treebank, not raw text .*a \.txt file"):
        load_text(f"fr={path}[:2]")


def test_a_folder_of_the_same_name_does_not_hide_raw_text(tmp_path, monkeypatch):
    """`crosslens lab export --out lab` writes a folder ``lab/src``."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lab" / "src").mkdir(parents=True)
    assert len(load_text("lab/src[:3]")) == 3
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "en").write_text("a cat\n", "utf-8")
    assert [item.text for item in load_text("raw/en")] == ["a cat"]


def test_the_hint_at_a_missing_corpus_names_corpora_of_its_collection(treebanks):
    with pytest.raises(DataError, match="'ud/fr_pdu' not found") as typing_error:
        load_corpus("ud/fr_pdu", data=treebanks)
    assert "did you mean 'ud/fr_pud'" in typing_error.value.hint
    with pytest.raises(DataError, match="'wikiann/fr' not found") as missing:
        load_corpus("wikiann/fr", data=treebanks)
    assert "known" not in missing.value.hint  # there is none, and others do not help
