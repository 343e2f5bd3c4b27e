"""Coverage of a text by a vocabulary, counted by hand."""

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Sentence, Text
from crosslens.encoders.coverage import fertility, measure_coverage, unknown_characters
from crosslens.errors import DataError
from toy_tokenizers import ACROSS, SPACES, SPECIALS, pipeline
from toys import loaded_with, metaspace


@pytest.mark.parametrize("kind", [Sentence, Text])
def test_coverage_is_counted_over_words(encoder, kind):
    words = ("the", "chat", "xy", "日", ".")
    pieces = [["the"], ["c", "##h", "##a", "##t"], ["x", "##y"], ["[UNK]"], ["."]]
    assert [encoder.tokenizer.tokenize(word) for word in words] == pieces
    item = Sentence(words) if kind is Sentence else Text(("the chat xy 日.",))
    coverage = measure_coverage(encoder, Corpus((item,), "text"))
    assert (coverage.words, coverage.unknown, coverage.broken) == (5, 20.0, 40.0)
    assert coverage.fertility == pytest.approx(9 / 5)
    assert coverage.characters == pytest.approx((3 + 4 + 2 + 1) / 9)


def test_a_text_without_words_has_no_coverage(encoder):
    with pytest.raises(DataError, match="empty contains no words"):
        measure_coverage(encoder, Corpus((Text(("\u200b",)),), "empty"))


def test_a_lone_mark_before_a_word_is_no_part_of_it_in_the_coverage(tmp_path):
    """``fertility`` counts it, because the encoder reads it."""
    words = ("the", "dog", "猫", "日")
    encoder = loaded_with(metaspace(), tmp_path)
    pieces = [["▁the"], ["▁", "d", "o", "g"], ["▁", "猫"], ["▁", "<unk>"]]
    assert [encoder.tokenizer.tokenize(word) for word in words] == [*pieces[:3], ["▁", "日"]]
    corpus = Corpus((Sentence(words),), "text")
    coverage = measure_coverage(encoder, corpus)
    assert (coverage.words, coverage.unknown, coverage.broken) == (4, 25.0, 25.0)
    assert coverage.fertility == pytest.approx(6 / 4)
    assert coverage.characters == pytest.approx((3 + 3 + 1) / 6)
    assert fertility(encoder, corpus) == pytest.approx(9 / 4)


def test_subwords_that_span_words_are_counted_in_running_text(tmp_path):
    encoder = loaded_with(pipeline(ACROSS, None, normalizer=SPACES), tmp_path / "encoder")
    corpus = Corpus((Sentence(("the", "cat", "sat")),), "text")
    count = len(encoder.tokenizer.tokenize("the cat sat"))
    assert fertility(encoder, corpus) == pytest.approx(count / 3)


def test_characters_without_a_subword_are_counted_in_unknown_words_the_most_frequent_first(encoder):
    words = ("日本", "the", "日x", "chat", "語", "日本")
    assert unknown_characters(encoder, Corpus((Sentence(words),), "text")) == {"日": 3, "本": 2, "語": 1}
    assert unknown_characters(encoder, Corpus((Text(("語 日. 日.",)),), "text")) == {"日": 2, "語": 1}
    assert unknown_characters(encoder, Corpus((Sentence(("the", "chat")),), "text")) == {}


def test_a_character_that_cannot_continue_a_word_is_unknown(tmp_path):
    """WordPiece has subwords of their own for letters within a word, such as ``##q``."""
    vocabulary = {piece: number for number, piece in enumerate([*SPECIALS.values(), "q", "a", "##a"])}
    pieces = Tokenizer(models.WordPiece(vocabulary, unk_token=SPECIALS["unk_token"]))
    encoder = loaded_with(pipeline(pieces, pre_tokenizers.BertPreTokenizer()), tmp_path)
    assert encoder.tokenizer.tokenize("q") == ["q"]
    assert unknown_characters(encoder, Corpus((Sentence(("q", "aqa", "aa")),), "text")) == {"q": 1}


def test_what_a_tokenizer_leaves_out_is_not_an_unknown_character(encoder):
    corpus = Corpus((Sentence(("日\u200b", "the")),), "text")
    assert measure_coverage(encoder, corpus).unknown == 50.0
    assert unknown_characters(encoder, corpus) == {"日": 1}
