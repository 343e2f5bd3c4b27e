"""Words are cut into subwords once for each tokenizer and corpus."""

import dataclasses
from collections import Counter

import pytest
import torch
from tokenizers import processors

import crosslens.encoders.inputs as reading
from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Sentence, Text
from crosslens.data.subwords import split_words
from crosslens.encoders.batch import make_batch
from crosslens.encoders.encoder import Encoder
from crosslens.encoders.families import FAMILIES
from crosslens.encoders.load import load_encoder
from crosslens.encoders.reinit import random_init
from tiny_studies import save_decoder
from toy_architectures import fresh
from toys import SENTENCES, loaded_with, word_piece


def test_subwords_are_cut_once_for_all_encoders_of_one_tokenizer(encoder, monkeypatch):
    cut = []
    monkeypatch.setattr(reading, "split_words", lambda *its, **more: cut.append(its) or split_words(*its, **more))
    corpus = Corpus(tuple(Sentence(tuple(text.split())) for text in SENTENCES["en"][:3]), "first", "en")
    first = reading.read_windows(encoder, corpus)
    again = reading.read_windows(random_init(encoder, "1", seed=1), dataclasses.replace(corpus, name="another"))
    assert len(cut) == 1
    for a, b in zip(first.windows, again.windows, strict=True):
        assert a.ids.tolist() == b.ids.tolist()
    reading.read_windows(encoder, corpus[:2])
    assert len(cut) == 2


def test_windows_larger_than_the_encoder_are_as_large_as_it_is(encoder):
    """A recipe's window of 128 that keeps 64 is no reason to fail on a small encoder."""
    long = Corpus((Sentence(("a",) * 200),), "long")
    asked = reading.read_windows(encoder, long, window=128, context=100)
    usual = reading.read_windows(encoder, long)
    assert [len(window) for window in asked.windows] == [len(window) for window in usual.windows]


def test_texts_are_counted_as_truncated_if_and_only_if_they_are_longer_than_a_window(encoder):
    texts = [" ".join(["a"] * length) for length in range(1, 12)]
    lengths = [len(encoder.tokenizer(text)["input_ids"]) for text in texts]
    corpus = Corpus(tuple(Text((text,)) for text in texts), "texts", "en")
    for window in (min(lengths), 6, 9, max(lengths), max(lengths) + 1):
        encoded = reading.read_texts(encoder, corpus, window=window)
        assert encoded.cut == sum(length > window for length in lengths)
        assert [len(each) for each in encoded.windows] == [min(length, window) for length in lengths]


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_the_position_that_stands_for_a_text_reads_all_of_it(encoder, tmp_path, kind):
    """In a decoder the first subword sees no other one."""
    read = encoder if kind == "encoder" else load_encoder(save_decoder(tmp_path / "decoder"), device="cpu")
    texts = ("the cat sees the house .", "a cat sees the house .", "the cat sees the dog", "the dog sees the house .")
    corpus = Corpus(tuple(Text((text,)) for text in texts), "texts", "en")
    states = []
    with torch.inference_mode():
        for window in reading.read_texts(read, corpus).windows:  # one by one: batches round differently
            batch = make_batch([window], padding=read.padding, device=read.device)
            states.append(batch.word_states(read.states(batch.ids, batch.mask, batch.segments))[0])
    assert len(states) == len(texts)
    for other in states[1:]:
        assert (other - states[0]).abs().max() > 1e-4


def test_an_unknown_subword_at_the_beginning_does_not_stand_for_a_text(tmp_path):
    """The tokenizer adds a token after the text only, as T5's does."""
    tokenizer = word_piece()
    end = ("[SEP]", tokenizer.sep_token_id)
    template = processors.TemplateProcessing(single="$A [SEP]", pair="$A [SEP] $B [SEP]", special_tokens=[end])
    tokenizer.backend_tokenizer.post_processor = template
    corpus = Corpus(tuple(map(Text, [("☃ the cat",), ("the cat",), ("☃", "the")])), "texts", "en")
    for window in reading.read_texts(loaded_with(tokenizer, tmp_path), corpus).windows:
        assert window.labelled.tolist() == [len(window) - 1]


def test_small_windows_cut_long_words_and_larger_ones_after_them_do_not(encoder):
    """Subwords are kept for each corpus; words that are too long for one window fit into another."""
    corpus = Corpus((Sentence(("a", "x" * 30, "a")),), "long word", "en")
    small = reading.read_windows(encoder, corpus, window=10)
    whole = reading.read_windows(encoder, corpus)
    again = reading.read_windows(encoder, corpus, window=10)
    assert (small.cut, whole.cut, again.cut) == (1, 0, 1)
    (window,) = whole.windows
    assert len(window) == 2 + 1 + 30 + 1
    assert max(len(each) for each in (*small.windows, *again.windows)) == 10


def test_a_sentence_is_counted_as_split_where_it_has_several_windows(encoder):
    corpus = Corpus(tuple(Sentence(("a",) * count) for count in (5, 6, 7)), "sentences", "en")
    encoded = reading.read_windows(encoder, corpus, window=8)  # room for six words
    windows = Counter(window.sentence for window in encoded.windows)
    assert (windows[0], windows[1], windows[2] > 1) == (1, 1, True)
    assert encoded.split == 1


def test_doubled_special_tokens_leave_room_for_fewer_subwords(encoder):
    """A text is counted as split if it and its inner special tokens have no room in one window."""
    room = encoder.capacity - 4
    corpus = Corpus(tuple(Text((" ".join(["a"] * count),)) for count in (1, room, room + 1, room + 9)), "texts", "en")
    encoded = reading.read_doubled(encoder, corpus)
    first, last = encoder.tokenizer.cls_token_id, encoder.tokenizer.sep_token_id
    (subword,) = encoder.tokenizer("a", add_special_tokens=False)["input_ids"]
    assert encoded.split == 2
    assert [len(window) for window in encoded.windows] == [5, *[encoder.capacity] * 3]
    assert encoded.windows[1].ids.tolist() == [first, first, *[subword] * room, last, last]
    assert encoded.windows[3].ids.tolist() == [first, first, *[subword] * (room + 1), last]


@pytest.mark.parametrize(
    ("kind", "settings", "told_apart"),
    [("bert", {}, True), ("roberta", {"type_vocab_size": 1}, False), ("distilbert", {}, False)],
)
def test_pairs_have_segments_where_embeddings_tell_the_two_texts_apart(kind, settings, told_apart):
    """The only segment of RoBERTa and XLM-R is that of both texts."""
    tokenizer = word_piece()
    read = Encoder(fresh(kind, 0, tokenizer, **settings), tokenizer, FAMILIES[kind], kind)
    windows = reading.read_texts(read, Corpus((Text(("a cat", "the dog")),), "pairs", "en")).windows
    batch = make_batch(windows, padding=read.padding, device=read.device)
    assert (batch.segments is not None) is told_apart
    with torch.inference_mode():
        assert torch.isfinite(read.states(batch.ids, batch.mask, batch.segments)).all()
