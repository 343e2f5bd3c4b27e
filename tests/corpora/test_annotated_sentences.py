"""Names such as ``my.conllu[upos]``, of the annotated sentences of a treebank."""

import re

import pytest

from conllu_blocks import PLAIN, WORD, block
from crosslens.corpora.catalogue import check_corpus, load_corpus, name_split, named_language, split_joined
from crosslens.data.corpus import SELECTIONS
from crosslens.errors import DataError

NEEDED = [("upos", "upos"), ("heads", "heads"), ("relations", "heads")]
"""A layer, and the selection of the sentences that have it."""

COLUMN = {"upos": 3, "heads": 6, "relations": 7}


def treebank(*, layer, words):
    """Six sentences; the fourth and the sixth have the layer for none of their words, or not for the second word."""
    lines = [word.split("\t") for word in PLAIN]
    for word in lines[-words:]:
        word[COLUMN[layer]] = "_"
    whole, bare = block(*PLAIN), block(*map("\t".join, lines))
    return whole * 3 + bare + whole + bare


@pytest.fixture(params=[1, 2], ids=["words", "sentences"])
def words(request):
    return request.param


@pytest.mark.parametrize(("layer", "selection"), NEEDED)
def test_the_error_counts_the_sentences_and_names_the_annotated_ones(tmp_path, layer, selection, words):
    path = tmp_path / "mine.conllu"
    path.write_text(treebank(layer=layer, words=words), "utf-8")
    line = 3 * 3 + 3 - words
    with pytest.raises(DataError, match=rf"mine\.conllu:{line}: the (word|sentence) has no .* \(2 of 6 ") as error:
        load_corpus(f"wo={path}").require(layer)
    (offered,) = re.findall(r"\S+\[[a-z]+\]", str(error.value))
    corpus = load_corpus(f"wo={offered}")
    corpus.require(*SELECTIONS[selection])
    assert (len(corpus), corpus.name, corpus.language) == (4, f"{path}[{selection}]", "wo")


def test_selections_slices_and_scripts_apply_from_left_to_right(tmp_path, words):
    path = tmp_path / "mine.conllu"
    path.write_text(treebank(layer="upos", words=words), "utf-8")
    assert [len(load_corpus(f"{path}{suffix}")) for suffix in ("[upos][2:]", "[upos]@latin-cyrillic[:3]")] == [2, 3]
    assert load_corpus(f"{path}[upos]@latin-cyrillic")[0].text != load_corpus(f"{path}[upos]")[0].text
    assert len(load_corpus(f"{path}[:4][upos]")) == 3
    assert len(load_corpus(f"{path}[upos]+{path}[upos][:1]")) == 5
    assert len(load_corpus(f"{path}[upos][heads]")) == 4
    for name in (f"wo={path}[upos]", f"wo={path}[upos][:2]@uroman"):
        check_corpus(name)
        assert named_language(name) == "wo"
        assert split_joined(name) == (name,)


def test_only_the_selected_layer_may_be_missing(tmp_path):
    """So that no annotation of other layers is lost where the corpus is written."""
    path = tmp_path / "mine.conllu"
    path.write_text(treebank(layer="upos", words=1), "utf-8")
    with pytest.raises(DataError, match="the word has no UPOS"):
        load_corpus(f"{path}[heads]")


def test_treebanks_of_a_collection_may_be_annotated_in_part(tmp_path, words):
    folder = tmp_path / "ud" / "UD_Wolof-Mine"
    folder.mkdir(parents=True)
    (folder / "wo_mine-ud-train.conllu").write_text(treebank(layer="upos", words=words), "utf-8")
    corpus = load_corpus("ud/wo_mine:train[upos]", data=tmp_path)
    assert (len(corpus), corpus.split, corpus.language) == (4, "train", "wo")


def test_the_dev_split_of_selected_sentences_is_selected_alike(tmp_path, words):
    folder = tmp_path / "ud" / "UD_Wolof-Mine"
    folder.mkdir(parents=True)
    (folder / "wo_mine-ud-dev.conllu").write_text(treebank(layer="upos", words=words), "utf-8")
    dev = name_split("ud/wo_mine:train[7~:2][upos][:1]", "dev")
    assert dev == "ud/wo_mine:dev[upos]"
    corpus = load_corpus(dev, data=tmp_path)
    corpus.require("upos")
    assert len(corpus) == 4
    assert name_split("ud/wo_mine[heads][:9]@uroman[upos]", "dev") == "ud/wo_mine:dev[heads]@uroman[upos]"


def test_where_nothing_is_annotated_nothing_is_offered(tmp_path):
    path = tmp_path / "mine.conllu"
    path.write_text(block(WORD.format(1, "a", "X", 0, "root"), WORD.format(2, "b", "_", 1, "dep")), "utf-8")
    with pytest.raises(DataError, match=r"annotate every word of the sentence, or leave it out;"):
        load_corpus(path)
    with pytest.raises(DataError, match=r"\[upos\] selects no sentences: \S+ has 1"):
        load_corpus(f"{path}[upos]")


def test_the_parts_of_a_joined_corpus_are_selected_each(tmp_path):
    for name in ("one", "two"):
        (tmp_path / f"{name}.conllu").write_text(treebank(layer="upos", words=2), "utf-8")
    name = f"{tmp_path}/one.conllu+{tmp_path}/two.conllu"
    with pytest.raises(DataError, match=r"4 of 12 have none") as error:
        load_corpus(name).require("upos")
    (offered,) = re.findall(r"\S+\[upos\]\+\S+\[upos\]", str(error.value))
    assert len(load_corpus(offered)) == 8


def test_a_file_whose_name_ends_like_a_selection_is_a_file(tmp_path):
    path = tmp_path / "mine.conllu[upos]"
    path.write_text("dogs O\n\n", "utf-8")
    assert load_corpus(path).name == str(path)
