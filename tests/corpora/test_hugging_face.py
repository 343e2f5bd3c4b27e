"""Corpora in the cache of the library ``datasets``, and data sets that it saved."""

import os

import pytest

from crosslens.corpora import catalogue
from crosslens.corpora.catalogue import list_corpora, load_corpus, match_corpora
from crosslens.corpora.hugging_face import cache_folder
from crosslens.errors import DataError
from made_corpora import write_arrow

ENTITIES = {"ner_tags": ["O", "B-LOC"]}
BONN = {"tokens": [["Bonn"]], "ner_tags": [[1]]}
PAIR = {"premise": ["a"], "hypothesis": ["b"], "label": [0]}


@pytest.fixture(autouse=True)
def downloads(monkeypatch, tmp_path):
    """The cache of the library, and no other corpora."""
    monkeypatch.delenv("CROSSLENS_DATA", raising=False)
    monkeypatch.setattr(catalogue, "cache_folder", lambda: tmp_path / "no-cache")
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "downloads"))
    return tmp_path / "downloads"


def entities(path, word="Bonn"):
    write_arrow(path, {**BONN, "tokens": [[word]]}, ENTITIES, listed=True)


def listed():
    return {name: splits for name, splits in list_corpora().items() if not name.startswith(("lab", "sample"))}


def test_each_data_set_has_the_name_of_its_collection(downloads):
    entities(downloads / "unimelb-nlp___wikiann/fr/0.0.0/f00/wikiann-train.arrow")
    entities(downloads / "unimelb-nlp___wikiann/fr/0.0.0/f00/wikiann-validation.arrow")
    entities(downloads / "unimelb-nlp___wikiann/fr/0.0.0/f00/cache-0123456789abcdef.arrow")
    entities(downloads / "conll2003/conll2003/1.0.0/f00/conll2003-test.arrow")
    entities(downloads / "eriktks___conll2002/nl/0.0.0/f00/conll2002-train-00000-of-00001.arrow")
    entities(downloads / "levow___msra_ner/msra_ner/1.0.0/f00/msra_ner-test.arrow")
    entities(downloads / "masakhane___masakhaner2/wol/0.0.0/f00/masakhaner2-test.arrow")
    entities(downloads / "someone___else/fr/0.0.0/f00/else-train.arrow")
    entities(downloads / "wikiann/de/0.0.0/f00.incomplete/wikiann-train.arrow")
    for config, splits in (("en", ("train", "test")), ("fr", ("train", "test")), ("all_languages", ("test",))):
        for split in splits:
            write_arrow(downloads / f"xnli/{config}/0.0.0/f00/xnli-{split}.arrow", PAIR, {"label": ["entailment"]})
    write_arrow(
        downloads / "Davlan___sib200/eng_Latn/0.0.0/f00/sib200-test.arrow",
        {"index_id": [1], "category": ["travel"], "text": ["a"]},
    )
    assert listed() == {
        "conll2002/nl": ["train"],
        "conll2003/en": ["test"],
        "masakhaner/wol": ["test"],
        "msra/zh": ["test"],
        "sib200/eng_Latn": ["test"],
        "wikiann/fr": ["train", "dev"],
        "xnli/en": ["train", "test"],
        "xnli/fr": ["test"],
        "xnli_mt/fr": ["train"],
    }
    languages = {name: load_corpus(name, split=splits[0]).language for name, splits in listed().items()}
    assert list(languages.values()) == ["nl", "en", "wo", "zh", "en", "fr", "en", "fr", "fr"]
    assert match_corpora("xnli/*") == ["xnli/en", "xnli/fr"]
    assert load_corpus("xnli_mt/fr:train")[0].label == "entailment"


def test_data_folders_come_first(downloads, tmp_path):
    entities(downloads / "wikiann/fr/0.0.0/f00/wikiann-test.arrow", "cached")
    assert load_corpus("wikiann/fr", data=tmp_path)[0].words == ("cached",)
    entities(tmp_path / "wikiann/fr/test/data-00000-of-00001.arrow", "saved")
    assert load_corpus("wikiann/fr", data=tmp_path)[0].words == ("saved",)
    assert load_corpus("wikiann/fr")[0].words == ("cached",)
    with pytest.raises(DataError, match=r"corpus 'wikiann/de' not found in .*downloads \(Hugging Face\)"):
        load_corpus("wikiann/de", data=tmp_path)


def test_the_newest_download_and_the_current_repository_count(downloads):
    for number, folder in enumerate(("wikiann/fr/0.0.0/b", "wikiann/fr/0.0.0/a", "wikiann/fr/1.0.0/c")):
        entities(downloads / folder / "wikiann-test.arrow", folder[-1])
        os.utime(downloads / folder, (number % 2, number % 2))
    assert load_corpus("wikiann/fr")[0].words == ("a",)
    entities(downloads / "unimelb-nlp___wikiann/fr/0.0.0/d/wikiann-test.arrow", "d")
    assert load_corpus("wikiann/fr")[0].words == ("d",)


def test_the_cache_is_where_the_library_has_it(monkeypatch, tmp_path):
    assert cache_folder() == tmp_path / "downloads"
    monkeypatch.delenv("HF_DATASETS_CACHE")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    assert cache_folder() == tmp_path / "home" / "datasets"
    monkeypatch.delenv("HF_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "huggingface" / "datasets"


def test_published_files_come_before_data_sets_that_the_library_saved(tmp_path):
    entities(tmp_path / "conll2003/en/test/data-00000-of-00001.arrow", "saved")
    assert load_corpus("conll2003/en", data=tmp_path)[0].words == ("saved",)
    (tmp_path / "conll2003/eng.testb").write_text("published NNP B-NP B-LOC\n")
    assert load_corpus("conll2003/en", data=tmp_path)[0].words == ("published",)
