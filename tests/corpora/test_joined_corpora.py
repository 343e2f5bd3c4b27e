"""Corpora whose names are joined by ``+``."""

import pytest

from crosslens.corpora.catalogue import check_corpus, load_corpora, load_corpus, split_joined
from crosslens.data.formats.conllu import read
from crosslens.errors import DataError, RequestError
from crosslens.runs.corpora import Corpora
from crosslens.training.recipe import Recipe
from toys import conllu_text


@pytest.fixture(autouse=True)
def only_the_toys(monkeypatch, tmp_path):
    monkeypatch.delenv("CROSSLENS_DATA", raising=False)
    monkeypatch.setattr("crosslens.corpora.catalogue.cache_folder", lambda: tmp_path / "no-cache")


def test_the_parts_are_read_in_order_each_with_its_own_slice_script_and_split(treebanks):
    english, french = (load_corpus(name, data=treebanks) for name in ("ud/en_toy:dev[1:3]", "ud/fr_pud:test[:2]"))
    joined = load_corpus("ud/en_toy:dev[1:3]+ud/fr_pud[:2]", data=treebanks)
    assert joined.items == english.items + french.items
    assert (joined.language, joined.split) == ("en+fr", None)
    assert joined.name == "ud/en_toy:dev[1:3]+ud/fr_pud:test[:2]"
    both = load_corpus("lab/sov:train[:2]@latin-cyrillic+lab/src:train[:1]")
    assert (both.language, both.split, len(both)) == ("sov-Cyrl+src", "train", 3)


def test_a_joined_corpus_is_its_sentences_in_one_file(tmp_path):
    """So its runs have the ids that runs of the concatenated file have."""
    for language in ("en", "fr"):
        (tmp_path / f"{language}.conllu").write_text(conllu_text(language), "utf-8")
    (tmp_path / "both.conllu").write_text(conllu_text("en") + conllu_text("fr"), "utf-8")
    joined = load_corpus(f"en={tmp_path}/en.conllu+fr={tmp_path}/fr.conllu")
    assert joined.digest == read(tmp_path / "both.conllu").digest
    assert joined.language == "en+fr"
    assert load_corpus(f"{tmp_path}/en.conllu+{tmp_path}/fr.conllu", language="wo").language == "wo"
    assert load_corpus(f"en={tmp_path}/en.conllu+{tmp_path}/fr.conllu").language is None, "one is unknown"


def test_corpora_are_added(treebanks):
    one, two = (load_corpus(f"ud/{name}", data=treebanks) for name in ("en_pud", "fr_pud"))
    assert one + two + one == load_corpus("ud/en_pud+ud/fr_pud+ud/en_pud", data=treebanks)
    assert (one + two + one).language == "en+fr"
    assert (one + one).language == "en"
    with pytest.raises(TypeError):
        one + list(two)  # pyright: ignore


def test_a_file_with_a_plus_in_its_name_is_a_file(tmp_path):
    (tmp_path / "c+d.conllu").write_text(conllu_text("en"), "utf-8")
    path = str(tmp_path / "c+d.conllu")
    for name in (path, f"{path}[:2]", f"en={path}"):
        assert split_joined(name) == (name,)
        assert len(load_corpus(name)) in (2, 6)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("ud/en_pud+ud/xx_none", "corpus 'ud/xx_none' not found"),
        ("ud/en_pud+none.conllu", "corpus file 'none.conllu' not found"),
        ("ud/en_pud+ud/fr_pud[9:]", r"ud/fr_pud\[9:\] selects no sentences"),
        ("ud/en_pud+", "'ud/en_pud\\+' is not a valid corpus name"),
        ("ud/en_pud++ud/fr_pud", "is not a valid corpus name"),
    ],
)
def test_the_part_that_is_missing_is_named(treebanks, name, wrong):
    with pytest.raises(DataError, match=wrong):
        load_corpus(name, data=treebanks)


def test_every_part_is_checked(treebanks):
    check_corpus("ud/en_toy:train[:2]+ud/fr_pud:test", data=treebanks)
    with pytest.raises(DataError, match="ud/fr_pud has no train split"):
        check_corpus("ud/en_toy+ud/fr_pud", split="train", data=treebanks)


def test_a_score_is_of_one_language(treebanks):
    """A joined test corpus may be in one language only."""
    for load in (
        lambda name: load_corpora(name, data=treebanks),
        lambda name: Corpora(str(treebanks)).matching([name]),
    ):
        with pytest.raises(RequestError, match=r"the test corpus .* is in 2 languages, and its score would be of none"):
            load("ud/en_pud+ud/fr_pud")
        assert len(load("ud/en_pud+ud/en_toy")) == 1


def test_development_data_in_a_language_that_was_trained_on_are_no_oracle(treebanks):
    one, other, both = (load_corpus(name, data=treebanks) for name in ("ud/en_pud", "ud/fr_pud", "ud/en_toy+ud/fr_pud"))
    assert Recipe(select="best").selection(train=both, dev=one) == "best"
    assert Recipe(select="best").selection(train=both, dev=both) == "best"
    assert Recipe(select="best").selection(train=one, dev=both).startswith("oracle")
    assert Recipe(select="best").selection(train=one, dev=other) == "oracle ud/fr_pud:test"
