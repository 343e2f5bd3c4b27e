"""Words are split as in running text, with every kind of tokenizer, saved and loaded."""

import numpy as np
import pytest

from crosslens.data.subwords import LONE_PREFIXES, split_texts, split_words, word_prefix
from crosslens.encoders import encoder as encoder_module
from crosslens.encoders.load import load_encoder, save_encoder
from crosslens.errors import EncoderError
from toy_tokenizers import ACROSS, KINDS, MARKED, SPACES, WORDS, pipeline
from toys import loaded_with


@pytest.fixture(scope="module", params=KINDS)
def loaded(request, tmp_path_factory):
    return request.param, loaded_with(KINDS[request.param](), tmp_path_factory.mktemp("words") / "encoder")


def running(tokenizer, words):
    return tokenizer.encode(" ".join(words), add_special_tokens=False)


def test_from_the_second_word_on_words_are_split_as_in_running_text(loaded):
    kind, encoder = loaded
    assert word_prefix(encoder.tokenizer) == ("" if kind in MARKED else " ")
    split = split_words(WORDS, encoder.tokenizer)
    assert len(split) == len(WORDS) > 10
    for words, subwords in zip(WORDS, split, strict=True):
        first = int(subwords.starts[1])
        later = subwords.ids[first:].tolist()
        assert later
        assert running(encoder.tokenizer, words)[-len(later) :] == later
        # … and no subword of theirs is left to the first word: that has as many as on its own.
        unmarked, marked = (running(encoder.tokenizer, [prefix + words[0]]) for prefix in ("", " "))
        assert running(encoder.tokenizer, words)[: -len(later)] == unmarked
        assert subwords.ids[:first].tolist() in (unmarked, marked)


def test_every_word_owns_its_characters_and_the_labelled_subword_has_one(loaded):
    _, encoder = loaded
    decoded = 0
    for words, subwords in zip(WORDS, split_words(WORDS, encoder.tokenizer), strict=True):
        for word, start, end, labelled in zip(
            words, subwords.starts[:-1], subwords.starts[1:], subwords.labelled, strict=True
        ):
            ids = subwords.ids[start:end].tolist()
            (alone,) = split_words([[word]], encoder.tokenizer)
            assert ids == alone.ids.tolist()  # wherever the word stands
            pieces = encoder.tokenizer.convert_ids_to_tokens(ids)
            assert pieces[labelled - start] not in LONE_PREFIXES
            if word.isascii() and encoder.tokenizer.unk_token_id not in ids:
                text = "".join(pieces).replace("▁", "").replace("Ġ", "").replace("##", "").replace(" ", "")
                assert text == word.replace(" ", "")
                decoded += 1
    assert decoded > 10


def test_words_that_are_empty_or_begin_and_end_with_spaces_keep_their_subwords_apart(loaded):
    _, encoder = loaded
    words = ["the", "\u200b", "cat", "", " cat", "cat ", "\u00a0", "the"]
    if encoder.tokenizer.unk_token_id is None:
        words.remove("")
    (subwords,) = split_words([words], encoder.tokenizer)
    assert len(subwords) == len(words)
    assert (np.diff(subwords.starts) >= 1).all()
    (cat,) = split_words([["cat"]], encoder.tokenizer)
    assert subwords.ids[subwords.starts[2] : subwords.starts[3]].tolist() == cat.ids.tolist()


def test_saved_again_and_reloaded_words_are_split_alike(loaded, tmp_path):
    _, encoder = loaded
    save_encoder(encoder, tmp_path / "again")
    again = load_encoder(tmp_path / "again", device="cpu")
    assert again.digest == encoder.digest
    before, after = (split_words(WORDS, tokenizer) for tokenizer in (encoder.tokenizer, again.tokenizer))
    assert [subwords.ids.tolist() for subwords in after] == [subwords.ids.tolist() for subwords in before]


def test_only_encoders_whose_words_get_a_space_have_another_digest_for_it(loaded, monkeypatch):
    kind, encoder = loaded
    with monkeypatch.context() as patch:
        patch.setattr(encoder_module, "word_prefix", lambda tokenizer: "")
        without = load_encoder(encoder.name, device="cpu").digest
    assert (without == encoder.digest) == (kind in MARKED)


def test_a_tokenizer_that_joins_words_is_refused_for_words_and_reads_texts(tmp_path):
    encoder = loaded_with(pipeline(ACROSS, None, normalizer=SPACES), tmp_path / "encoder")
    pieces = encoder.tokenizer.tokenize("the cat sat")
    assert any("▁" in piece[1:] for piece in pieces)
    assert word_prefix(encoder.tokenizer) is None
    with pytest.raises(EncoderError, match="splits a word in running text differently"):
        split_words([["the", "cat"]], encoder.tokenizer)
    assert encoder.digest
    assert len(split_texts(["the cat sat"], encoder.tokenizer)[0]) == len(pieces)
