"""``crosslens align links``: what is written, what is refused; eflomal is replaced by prepared links."""

import sys

import pytest

from crosslens.corpora.translations import find_translations, link_words
from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Sentence
from crosslens.errors import DataError, RequestError
from made_corpora import identified

EN, FR = identified("en", one="the cat", two="a b c"), identified("fr", two="d e", one="le chat")


def conllu(folder, name, corpus):
    words = "\t_\tX" + "\t_" * 6
    lines = [
        f"# sent_id = {sentence.id}\n" + "".join(f"{n}\t{word}{words}\n" for n, word in enumerate(sentence.words, 1))
        for sentence in corpus.sentences
    ]
    (folder / name).write_text("\n".join(lines) + "\n", "utf-8")
    return folder / name


def test_links_of_the_same_ids_in_the_order_of_the_corpus(run, eflomal, tmp_path):
    files = [conllu(tmp_path, "en.conllu", EN), conllu(tmp_path, "fr.conllu", FR)]
    status, _, err = run("align", "links", *files, "--out", tmp_path / "fr.links")
    assert status == 0, err
    assert eflomal.given[:2] == (["the cat\n", "a b c\n"], ["le chat\n", "d e\n"])
    assert (tmp_path / "fr.links").read_text() == "0-0\n2-0\n"
    assert "2 sentences, 2 of 5 words of" in err
    read = find_translations(EN, FR, words=True, links=str(tmp_path / "{language}.links"))
    assert read.links == ({0: 2}, {0: 0})


def test_a_word_with_several_links_is_one_linked_word(run, eflomal, tmp_path):
    eflomal.forward = eflomal.backward = "0-0 0-1\n2-0\n"
    files = [conllu(tmp_path, "en.conllu", EN), conllu(tmp_path, "fr.conllu", FR)]
    status, _, err = run("align", "links", *files, "--out", tmp_path / "fr.links")
    assert (status, "2 sentences, 2 of 5 words of" in err) == (0, True), err
    assert (tmp_path / "fr.links").read_text() == eflomal.forward


def test_of_all_that_are_aligned_the_first_are_written(run, eflomal, tmp_path):
    files = [conllu(tmp_path, "en.conllu", EN), conllu(tmp_path, "fr.conllu", FR)]
    status, _, err = run("align", "links", *files, "--sentences", "1", "--out", tmp_path / "fr.links")
    assert status == 0, err
    assert len(eflomal.given[0]) == 2
    assert "1 sentences, 1 of 2 words of" in err
    assert (tmp_path / "fr.links").read_text() == "0-0\n"


def test_without_ids_sentences_are_paired_in_order(eflomal):
    plain = [Corpus(tuple(Sentence(s.words) for s in each.sentences), each.name, each.language) for each in (EN, FR)]
    link_words(plain[0], plain[1])
    assert eflomal.given[:2] == (["the cat\n", "a b c\n"], ["d e\n", "le chat\n"])
    with pytest.raises(RequestError, match="not parallel: en has 2 sentences, fr 1"):
        link_words(plain[0], plain[1][:1])


def test_a_sentence_without_translation_is_refused(eflomal):
    with pytest.raises(DataError, match="fr has no translation of item 'two' of en"):
        link_words(EN, FR[1:])
    without_ids = Corpus(tuple(Sentence(sentence.words) for sentence in EN.sentences), "plain", "en")
    with pytest.raises(DataError, match="plain has no ids of sentences, which fr has"):
        link_words(without_ids, FR)


def test_without_eflomal_the_extra_is_named_and_nothing_is_written(run, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "eflomal", None)
    files = [conllu(tmp_path, "en.conllu", EN), conllu(tmp_path, "fr.conllu", FR)]
    status, _, err = run("align", "links", *files, "--out", tmp_path / "fr.links")
    assert status == 2
    assert "pip install 'crosslens[align]'" in err
    assert not (tmp_path / "fr.links").exists()
