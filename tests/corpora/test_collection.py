"""Collections of corpora on disk."""

import pytest

from crosslens.corpora.catalogue import list_corpora, load_corpora, load_corpus, match_corpora, named_language
from crosslens.corpora.collection import language_tag
from crosslens.corpora.parallel import load_parallel
from crosslens.errors import DataError
from crosslens.tasks import find_task
from made_corpora import texts, write_texts
from toys import conllu_text

FILES = {
    "conll2003/eng.testa": "EU NNP I-NP I-ORG\n",
    "conll2003/deu.train": "EU EU NN I-NC I-ORG\n",
    "conll2002/ned.testb": "EU N B-ORG\n",
    "conll2002/esp.train": "EU NC B-ORG\n",
    "msra/msra_train_bio.txt": "EU\tB-ORG\n",
    "msra/msra_test_bio.txt": "EU\tB-ORG\n",
}
NAMES = {
    "conll2002/es": ["train"],
    "conll2002/nl": ["test"],
    "conll2003/de": ["train"],
    "conll2003/en": ["dev"],
    "msra/zh": ["train", "test"],
}


def test_shared_tasks_on_named_entities(tmp_path):
    for file, text in FILES.items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(text)
    listed = {name: splits for name, splits in list_corpora(tmp_path).items() if name.split("/")[0] in str(FILES)}
    assert listed == NAMES
    for name, splits in NAMES.items():
        corpus = load_corpus(f"{name}:{splits[0]}", data=tmp_path)
        assert (corpus[0].words, corpus[0].entities, corpus.language) == (("EU",), ("B-ORG",), name[-2:])


def test_an_archive_beside_the_treebanks_is_ignored(tmp_path):
    bank = tmp_path / "ud" / "UD_French-PUD"
    bank.mkdir(parents=True)
    (bank / "fr_pud-ud-test.conllu").write_text(conllu_text("fr"), "utf-8")
    (tmp_path / "ud" / "UD_French-PUD.zip").write_bytes(b"PK")
    assert load_corpus("ud/fr_pud", data=tmp_path).language == "fr"


@pytest.mark.parametrize("folder", ["XNLI-MT-1.0/multinli", "xnli_mt"])
def test_translations_of_multinli(tmp_path, folder):
    (tmp_path / folder).mkdir(parents=True)
    rows = "premise\thypo\tlabel\nEr sitzt.\tEr steht.\tcontradictory\n"
    (tmp_path / folder / "multinli.train.de.tsv").write_text(rows)
    corpus = load_corpus("xnli_mt/de:train", data=tmp_path)
    assert (corpus.language, corpus.split, corpus[0].segments) == ("de", "train", ("Er sitzt.", "Er steht."))
    assert find_task("nli").gold(corpus[0]) == ("contradiction",)


def test_both_formats_are_the_same_corpus(tmp_path):
    for collection in ("langid", "wili"):
        write_texts(tmp_path / collection, texts(3, seed=1), texts(3, seed=2))
    one, other = (load_corpus(f"{name}/all:train", data=tmp_path) for name in ("langid", "wili"))
    assert [(t.text, t.label) for t in one.texts] == [(t.text, t.label) for t in other.texts]
    assert (one.language, other.language, other.split) == (None, None, "train")
    (tmp_path / "wili" / "y_train.txt").write_text("aa\n", "utf-8")
    with pytest.raises(DataError, match=r"y_train.txt: 1 labels, but .*x_train.txt has 9 texts"):
        load_corpus("wili/all:train", data=tmp_path)


def test_the_shipped_sample_needs_no_data_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("CROSSLENS_DATA", raising=False)
    monkeypatch.setattr("crosslens.corpora.catalogue.cache_folder", lambda: tmp_path / "none")
    shipped = {name: splits for name, splits in list_corpora().items() if name.startswith("sample/")}
    assert shipped["sample/en"] == ["train", "dev", "test"]
    assert {tuple(splits) for name, splits in shipped.items() if name != "sample/en"} == {("test",)}
    assert match_corpora("sample/*") == list(shipped)
    french = load_corpus("sample/fr")
    assert (french.name, french.language, french.split, len(french)) == ("sample/fr:test", "fr", "test", 100)
    train, dev = (load_corpus(f"sample/en:{split}") for split in ("train", "dev"))
    assert (len(train), len(dev)) == (600, 100)
    assert not {s.id for s in train.sentences} & {s.id for s in dev.sentences}
    find_task("parsing").check(train)
    sides = load_parallel("sample/test")
    assert [f"sample/{language}" for language in sides.languages] == list(shipped)
    assert [s.words for s in sides["fr"].sentences] == [s.words for s in french.sentences]
    with pytest.raises(DataError, match="sample/fr has no train split"):
        load_corpus("sample/fr:train")


def test_parallel_treebanks_are_those_whose_name_ends_in_the_part(tmp_path):
    for bank in ("fr_pud", "en_pud", "de_newpud", "it_pud2"):
        folder = tmp_path / "ud" / f"UD_{bank}"
        folder.mkdir(parents=True)
        (folder / f"{bank}-ud-test.conllu").write_text(conllu_text("fr"), "utf-8")
    other = conllu_text("fr").replace("chat", "chien")
    (tmp_path / "ud" / "UD_fr_pud" / "fr_pud-ud-train.conllu").write_text(other, "utf-8")  # sorts behind the test split
    pud = load_parallel("ud/pud", data=tmp_path)
    assert pud.languages == ("en", "fr")
    assert [sentence.words for sentence in pud["en"]] == [sentence.words for sentence in pud["fr"]]
    assert load_parallel("ud/newpud", data=tmp_path).languages == ("de",)


def test_other_files_beside_the_splits_of_a_language_are_no_corpus(tmp_path, monkeypatch):
    monkeypatch.delenv("CROSSLENS_DATA", raising=False)
    monkeypatch.setattr("crosslens.corpora.catalogue.cache_folder", lambda: tmp_path / "no-cache")
    folder = tmp_path / "wikiann" / "fr"
    folder.mkdir(parents=True)
    (folder / "test").write_text("fr:Paris\tB-LOC\n", "utf-8")
    (folder / "extra").write_text("fr:Rome\tB-LOC\n", "utf-8")
    (folder / "train").mkdir()
    assert {name: splits for name, splits in list_corpora(tmp_path).items() if "wikiann" in name} == {
        "wikiann/fr": ["test"]
    }


@pytest.mark.parametrize(
    ("code", "language"),
    [("simple", "en"), ("als", "gsw"), ("zh-classical", "lzh"), ("be-x-old", "be"), ("zh-yue", "yue"), ("no", "no")],
)
def test_the_codes_of_wikipedias_are_names_of_corpora(tmp_path, code, language):
    (tmp_path / "wikiann" / code).mkdir(parents=True)
    (tmp_path / "wikiann" / code / "test").write_text(f"{code}:Paris\tB-LOC\n{code}::\tO\n", "utf-8")
    (corpus,) = load_corpora("wikiann/*", data=tmp_path)
    assert (corpus.name, corpus.language, corpus[0].words) == (f"wikiann/{code}:test", language, ("Paris", ":"))


def test_a_misspelt_name_is_not_found():
    assert named_language("ud/unheard-of_pud") == "unheard-of"
    with pytest.raises(DataError, match="corpus 'ud/unheard-of_pud' not found"):
        load_corpus("ud/unheard-of_pud")


def test_a_tag_has_its_script_only_where_it_is_not_the_usual_one():
    codes = ("kor_Hang", "kor_Kore", "eng_Latn", "zho_Hans", "zho_Hant", "srp_Cyrl", "srp_Latn", "deu", "german")
    tags = ["ko", "ko", "en", "zh", "zh-Hant", "sr", "sr-Latn", "de", "de"]
    assert [language_tag(code) for code in codes] == tags


def test_different_languages_have_different_tags():
    """CLDR replaces the tag of Dari by that of Persian, and the tag of Twi by that of Akan."""
    codes = ("pes_Arab", "prs_Arab", "prs", "aka_Latn", "twi_Latn", "twi", "kmr_Latn", "kmr", "ckb_Arab")
    assert [language_tag(code) for code in codes] == ["fa", "prs", "prs", "ak", "tw", "tw", "kmr", "kmr", "ckb"]
