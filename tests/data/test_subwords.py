import tempfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models
from tokenizers.processors import TemplateProcessing
from transformers import PreTrainedTokenizerFast

from crosslens.data.subwords import special_tokens, split_words, word_prefix
from crosslens.errors import EncoderError
from toys import byte_level, loaded_with, metaspace, word_piece

TOKENIZERS = {"word piece": word_piece(), "metaspace": metaspace(), "spaces": metaspace()}
TOKENIZERS["spaces"].backend_tokenizer.pre_tokenizer.prepend_scheme = "never"
with tempfile.TemporaryDirectory() as folder:
    TOKENIZERS["byte level"] = loaded_with(byte_level(), folder).tokenizer
WORDS = st.lists(
    st.one_of(
        st.sampled_from(["the", "cat", "xyz", "\u200b", "\x00", "10 000", "_", ".", "狗", "\ufffd"]),
        st.text(max_size=5),
    ),
    min_size=1,
    max_size=12,
)


@pytest.fixture(params=TOKENIZERS, scope="module")
def tokenizer(request):
    return TOKENIZERS[request.param]


@settings(max_examples=60, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=4), st.sampled_from(sorted(TOKENIZERS)))
def test_every_word_has_a_piece_and_its_own(sentences, kind):
    tokenizer = TOKENIZERS[kind]
    for words, subwords in zip(sentences, split_words(sentences, tokenizer), strict=True):
        assert len(subwords) == len(words)
        counts = np.diff(subwords.starts)
        assert (counts >= 1).all()
        assert subwords.starts[-1] == len(subwords.ids)
        assert ((subwords.starts[:-1] <= subwords.labelled) & (subwords.labelled < subwords.starts[1:])).all()
        missing = 0
        for word, start, end in zip(words, subwords.starts[:-1], subwords.starts[1:], strict=True):
            alone = tokenizer([word_prefix(tokenizer) + word], is_split_into_words=True, add_special_tokens=False)[
                "input_ids"
            ]
            missing += not alone
            assert subwords.ids[start:end].tolist() == (alone[:64] or [tokenizer.unk_token_id])
        assert subwords.unknown == missing


@pytest.mark.parametrize("scheme", ["first", "always", "never"])
def test_a_word_is_cut_as_it_is_within_its_sentence(scheme):
    tokenizer = metaspace()
    tokenizer.backend_tokenizer.pre_tokenizer.prepend_scheme = scheme
    sentences = [["the", "cat", "the", "cat"], ["cat", "sat"], ["the", "the"]] * 700  # some stand in two calls
    sentences += [[f"{number}x", "the"] for number in range(1500)]
    given = [[word_prefix(tokenizer) + word for word in words] for words in sentences]
    whole = tokenizer(given, is_split_into_words=True, add_special_tokens=False)["input_ids"]
    assert [subwords.ids.tolist() for subwords in split_words(sentences, tokenizer)] == whole


def test_a_word_without_a_piece_neither_drops_nor_moves_anything():
    """R3."""
    words = ["the", "\u200b", "cat", "\x00", "."]
    (subwords,) = split_words([words], TOKENIZERS["word piece"])
    (without,) = split_words([["the", "cat", "."]], TOKENIZERS["word piece"])
    assert subwords.unknown == 2
    kept = [word for word in range(5) if word not in (1, 3)]
    assert subwords.ids[subwords.labelled[kept]].tolist() == without.ids[without.labelled].tolist()
    unknown = TOKENIZERS["word piece"].unk_token_id
    assert subwords.ids[subwords.labelled[[1, 3]]].tolist() == [unknown, unknown]


def test_a_sentence_of_such_words_alone_and_an_empty_one():
    one, none = split_words([["\u200b"], []], TOKENIZERS["word piece"])
    assert (one.unknown, len(one), len(none), len(none.ids)) == (1, 1, 0, 0)


def test_the_labelled_piece_is_the_first_with_a_character():
    tokenizer = TOKENIZERS["metaspace"]
    (subwords,) = split_words([["the", "狗", "."]], tokenizer)
    pieces = tokenizer.convert_ids_to_tokens(subwords.ids.tolist())
    assert pieces == ["▁the", "▁", "狗", "▁", "."]
    assert [pieces[i] for i in subwords.labelled] == ["▁the", "狗", "."]
    (subwords,) = split_words([["the", "dog"]], TOKENIZERS["word piece"])
    assert subwords.labelled.tolist() == subwords.starts[:-1].tolist()


@pytest.mark.parametrize("word", ["▁", " "])
def test_a_word_that_is_nothing_but_the_marker_has_its_label_there(word):
    (subwords,) = split_words([["the", word, "cat"]], TOKENIZERS["metaspace"])
    assert TOKENIZERS["metaspace"].convert_ids_to_tokens(subwords.ids.tolist()) == ["▁the", "▁", "▁cat"]
    assert subwords.labelled.tolist() == [0, 1, 2]


def test_endless_words_are_cut_and_counted():
    (subwords,) = split_words([["a", "x" * 500, "b"]], TOKENIZERS["word piece"])
    (plain,) = split_words([["a", "x" * 80, "b"]], TOKENIZERS["word piece"], longest=10)
    assert subwords.cut in (0, 1)  # WordPiece gives words of over 100 letters one unknown token
    assert (plain.cut, np.diff(plain.starts).tolist()) == (1, [1, 10, 1])
    sentences = [["a"], ["x" * 80, "b", "x" * 80], ["y" * 80]]
    assert [each.cut for each in split_words(sentences, TOKENIZERS["word piece"], longest=10)] == [0, 2, 1]


def test_special_tokens():
    for tokenizer, before, after in ((TOKENIZERS["word piece"], 1, 1), (TOKENIZERS["metaspace"], 1, 1)):
        first, last = special_tokens(tokenizer)
        assert (len(first), len(last)) == (before, after)
        assert first[0] == tokenizer.cls_token_id
        assert last[0] == tokenizer.sep_token_id


def of_letters(letters):
    """A tokenizer of single letters, without an unknown token."""
    vocabulary = {token: number for number, token in enumerate(("[CLS]", "[SEP]", *dict.fromkeys(letters)))}
    backend = Tokenizer(models.BPE(vocabulary, []))
    ends = [("[CLS]", 0), ("[SEP]", 1)]
    backend.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    return PreTrainedTokenizerFast(tokenizer_object=backend, cls_token="[CLS]", sep_token="[SEP]")


def test_special_tokens_are_found_without_latin_letters_and_an_unknown_token():
    assert [ids.tolist() for ids in special_tokens(of_letters("домикот"))] == [[0], [1]]
    with pytest.raises(EncoderError, match="no subword"):
        special_tokens(of_letters("ქართული"))


def test_no_unknown_token_to_fall_back_on():
    tokenizer = word_piece()
    tokenizer.unk_token = None
    with pytest.raises(EncoderError, match="has no subword, and the tokenizer has no unknown token"):
        split_words([["\u200b"]], tokenizer)


class PythonOnly:
    """A tokenizer without alignment, as XLM's and PhoBERT's are."""

    is_fast = False
    unk_token_id = 3

    def convert_tokens_to_ids(self, piece):
        return {"a": 5}.get(piece, self.unk_token_id)

    def convert_ids_to_tokens(self, number):
        return {5: "a"}.get(number, "[UNK]")

    def encode(self, word, add_special_tokens):
        return [5 + ord(letter) % 7 for letter in word if letter.isalpha()]


def test_tokenizers_without_alignment_go_word_by_word():
    (subwords,) = split_words([["ab", "!", "ab", "c"]], PythonOnly())
    assert np.diff(subwords.starts).tolist() == [2, 1, 2, 1]
    assert subwords.unknown == 1
    assert subwords.ids[2] == 3


@pytest.mark.parametrize("template", ["$A", "[CLS] $A", "$A [SEP]", "[CLS] $A [SEP]", "[CLS] [CLS] $A [SEP] [SEP]"])
def test_special_tokens_stand_around_a_sentence_as_the_tokenizer_puts_them(template):
    """GPT-2 has none, Llama one before, T5 one after the sentence, and BERT both."""
    tokenizer = word_piece()
    ids = [(token, tokenizer.convert_tokens_to_ids(token)) for token in ("[CLS]", "[SEP]")]
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(single=template, special_tokens=ids)
    before, after = (tokenizer.convert_ids_to_tokens(part.tolist()) for part in special_tokens(tokenizer))
    assert " ".join([*before, "$A", *after]) == template
