"""Corpora: their digest, and the annotation that is asked of them."""

from dataclasses import replace
from itertools import pairwise

import pytest

from conllu_blocks import PLAIN, WORD, block
from crosslens.corpora.catalogue import load_corpus
from crosslens.data.corpus import Corpus, shared_items
from crosslens.data.formats import TSV
from crosslens.data.formats.conllu import check_trees, read
from crosslens.data.sentence import Sentence, Text
from crosslens.errors import DataError


def test_trees_are_checked_where_they_are_asked_for(written):
    two = read(written(block("# c", WORD.format(1, "a", "X", 0, "root"), WORD.format(2, "b", "X", 0, "root"))))
    assert two.words == 2
    with pytest.raises(DataError, match=r":1: the sentence has 2 roots"):
        check_trees(two)
    check_trees(read(written(block(*PLAIN))))
    with pytest.raises(DataError, match=r"^\S+ has no heads \(HEAD\) \(check that corpus and task match; "):
        check_trees(read(written(block(WORD.format(1, "a", "X", "_", "_")))))
    with pytest.raises(DataError, match=r"^\S+ has no relations \(DEPREL\) \(check that corpus and task match; "):
        check_trees(read(written(block(WORD.format(1, "a", "X", 0, "_")))))


def test_an_annotation_that_is_not_there_is_missed_where_it_is_asked_for(written):
    corpus = read(written(block(*PLAIN) + block(WORD.format(1, "x", "_", 0, "root"))))
    assert corpus.layers == {"heads", "relations"}
    with pytest.raises(DataError, match=r"x.conllu:4: the sentence has no UPOS tags, but other .* \(annotate it, or"):
        corpus.require("upos")


def test_sentences_without_an_annotation_are_counted_if_there_are_several(written):
    bare = block(WORD.format(1, "x", "_", 0, "root"))
    for count, counted in ((1, ""), (2, r" \(2 of 3 have none\)")):
        corpus = read(written(block(*PLAIN) + count * bare))
        message = (
            rf"but other sentences have{counted} \(annotate it, or take the 1 sentence with UPOS tags: \S+\[upos\]\)$"
        )
        with pytest.raises(DataError, match=message):
            corpus.require("upos")


def test_of_sentences_made_in_python_no_name_is_offered():
    tagged, bare = Sentence(("dogs",), upos=("NOUN",)), Sentence(("bark",))
    with pytest.raises(DataError, match=r"\(annotate it, or leave it out\)$"):
        Corpus((tagged, bare), "mine").require("upos")


def test_words_and_tags_in_columns_are_no_treebank_and_the_error_says_which_files_are(tmp_path):
    (tmp_path / "x.txt").write_text("a\tDET\nb\tNOUN\n\n", "utf-8")
    with pytest.raises(DataError, match=r"one word and its tag per line.* read from CoNLL-U, entities as IOB tags"):
        load_corpus(str(tmp_path / "x.txt"))
    (tmp_path / "y.txt").write_text("a DET\nb NOUN\n\n", "utf-8")  # which could be text
    corpus = load_corpus(str(tmp_path / "y.txt"))
    with pytest.raises(DataError, match=r"has no UPOS tags .*UPOS tags are read from CoNLL-U files"):
        corpus.require("upos")
    with pytest.raises(DataError, match=r"has no entity tags .*entity tags are read from IOB files"):
        corpus.require("entities")


def test_the_digest_is_of_the_content(written):
    one = read(written(block("# sent_id = 1", *PLAIN), "a.conllu"))
    two = read(written(block("# sent_id = other", "# more", *PLAIN).replace("\n", "\r\n"), "b.conllu"), name="other")
    other = read(written(block(*PLAIN).replace("VERB", "NOUN"), "c.conllu"))
    assert one.digest == two.digest != other.digest


def test_it_shows_its_size_and_not_its_items(toy):
    corpus = toy("test")
    assert repr(corpus) == f"Corpus {corpus.name} (en): {len(corpus)} sentences, {corpus.words} words"
    assert repr(toy(task="nli")[:1]) == "Corpus xnli/en:train (en): 1 text"


def test_a_limit_takes_items_at_equal_distances_from_the_whole_corpus():
    corpus = Corpus(tuple(Sentence((str(number),)) for number in range(10)), "numbers")

    def places(limit):
        return [int(sentence.words[0]) for sentence in corpus.limited(limit).sentences]

    assert (places(1), places(2), places(5)) == ([0], [0, 5], [0, 2, 4, 6, 8])
    for limit in range(1, 10):
        distances = {after - before for before, after in pairwise([*places(limit), len(corpus)])}
        assert len(places(limit)) == limit
        assert max(distances) - min(distances) <= 1
    assert corpus.limited(10) == corpus.limited(11) == corpus.limited(None) == corpus
    assert places(0) == []


def test_predictions_for_a_part_of_the_sentences_are_refused(toy):
    for gold in (toy(), toy(task="nli")):
        gold.require_same_words(gold)
        for some, others in ((gold, gold[:-1]), (gold[:-1], gold)):
            with pytest.raises(DataError, match=rf"{len(others)} \w+s, but the gold corpus .* has {len(some)}"):
                some.require_same_words(others)


def test_predictions_may_have_lost_line_breaks_and_tabs_of_texts_and_no_words(tmp_path):
    gold = Corpus((Text(("Great.\r\nLoved it", "all\tof it"), "good"),), "mine")
    TSV.write(gold, tmp_path / "x.tsv")
    gold.require_same_words(load_corpus(tmp_path / "x.tsv"))
    for segments in (("Great.Loved it", "all of it"), ("Great. Loved it all of it",)):
        with pytest.raises(DataError, match="text 1 differs in words"):
            gold.require_same_words(Corpus((Text(segments),), "other"))


@pytest.mark.parametrize("text", ["Dogs bark", "Hunde bellen."])
def test_items_with_the_same_text_or_the_same_words_are_shared(text):
    """Whether a file has a comment with the running text or not."""
    sentence = Sentence(("dogs", "bark"), lines=(f"# text = {text}\n",))
    corpus = Corpus((sentence,), "mine")
    for item in (replace(sentence, lines=None), Sentence(("d", "b"), lines=sentence.lines), Text((text,))):
        others = Corpus((Text(("other",)), item), "theirs")
        assert shared_items(corpus, corpus[:0], others) == {0}
        assert shared_items(others, corpus) == {1}
    for item in (Text((f"{text} now",)), Sentence(("dogs", "bark", "now"))):
        assert shared_items(corpus, Corpus((item,), "theirs")) == set()
