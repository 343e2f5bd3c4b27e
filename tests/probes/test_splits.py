"""What a probe reads of its corpora, what it holds out of them, and which data a score is signed with."""

from dataclasses import replace

import numpy as np
import pytest

from crosslens.corpora.catalogue import load_corpus
from crosslens.encoders.encoder import Encoder
from crosslens.encoders.families import FAMILIES
from crosslens.encoders.represent import represent
from crosslens.errors import DataError, RequestError
from crosslens.probes import find_probe, probing
from crosslens.probes.probing import probe
from crosslens.probes.softmax import Fit
from crosslens.probes.splits import held_out_sentences, held_out_texts
from made_corpora import but, sentences, texts
from toy_architectures import fresh
from toys import word_piece


def test_other_seeds_hold_out_other_items():
    answers, sentence_of = np.repeat([0, 1], 40), np.repeat(np.arange(40), 3)
    for hold_out, labels in ((held_out_texts, answers), (held_out_sentences, sentence_of)):
        assert np.array_equal(hold_out(labels, 1), hold_out(labels, 1))
        assert len({hold_out(labels, seed).tobytes() for seed in range(5)}) > 1


@pytest.mark.parametrize(("sentences_in_all", "held"), [(2, 1), (9, 1), (10, 1), (20, 2)])
def test_one_sentence_in_ten_is_held_out_and_at_least_one(sentences_in_all, held):
    sentence_of = np.repeat(np.arange(sentences_in_all), 3)
    chosen = held_out_sentences(sentence_of, 1)
    assert len(set(sentence_of[chosen])) == held
    assert chosen.sum() == 3 * held  # whole sentences


def test_a_tag_that_only_dev_words_have_is_a_label(encoder, fitted):
    train, test, dev = (sentences(4, seed=seed) for seed in (1, 2, 3))
    odd = but(dev, 0, upos=("XX", *dev[0].upos[1:]))
    probed = probe(encoder, "upos", train=train, test=test, dev=odd)
    assert probed.answers == ("XX", "aa", "bb", "cc")
    assert {tags["classes"] for tags in probed.results.tags()} == {4}


@pytest.mark.parametrize("pooling", ["mean", "cls", "last"])
def test_texts_are_pooled_as_the_probe_asks(encoder, fitted, pooling):
    train, test, dev = (texts(2, seed=seed) for seed in (1, 2, 3))
    asked = find_probe("langid", {"pooling": pooling})
    probe(encoder, asked, train=train, test=test, dev=dev, how=Fit(inputs="raw"))
    assert np.array_equal(fitted[0]["train"][0], represent(encoder, train, pooling=pooling).vectors)
    assert np.array_equal(fitted[0]["dev"][0], represent(encoder, dev, pooling=pooling).vectors)


def test_only_the_first_sentences_are_read_if_the_probe_asks_for_them(encoder, fitted):
    def ending(corpus, ends):
        return replace(corpus, items=tuple(replace(each, segments=(each.text + ends,)) for each in corpus.texts))

    pytest.importorskip("sentencex", reason="needs sentencex: pip install 'crosslens[documents]'")
    train, test, dev = (texts(2, seed=seed) for seed in (1, 2, 3))
    for first in (1, "all"):
        asked = find_probe("langid", {"sentences": first})
        probe(encoder, asked, train=ending(train, " dog. Cat dog."), test=test, dev=dev, how=Fit(inputs="raw"))
    first, whole = (fitted[call]["train"][0] for call in (0, 2))
    assert np.array_equal(first, represent(encoder, ending(train, " dog."), pooling="mean").vectors)
    assert not np.array_equal(first, whole)


def test_a_dev_text_with_a_label_that_training_lacks_is_named(encoder):
    dev = but(texts(4, seed=3), 2, label="xx")
    with pytest.raises(DataError, match=r"file\.tsv:3: the label 'xx' does not occur in the training data"):
        probe(encoder, "langid", train=texts(4, seed=1), test=texts(4, seed=2), dev=dev)


def test_a_refusal_counts_the_texts_that_are_the_same_as_a_whole(encoder):
    """Two more begin alike, and would only be left out."""

    class FirstWords(type(find_probe("langid"))):
        def cut(self, corpus):
            return replace(corpus, items=tuple(replace(t, segments=(t.text[:20],)) for t in corpus.texts))

    train, test = texts(12, seed=1), texts(6, seed=2)
    alike = [replace(text, segments=(f"{text.text} more",)) for text in train.texts[1:3]]
    with pytest.raises(RequestError, match="1 of the 21 items of toy2 are also in toy1"):
        probe(encoder, FirstWords(), train=train, test=replace(test, items=(train[0], *alike, *test.items)))


@pytest.mark.parametrize(("name", "make"), [("langid", texts), ("upos", sentences)])
def test_the_last_layer_is_normalised_if_asked_for(fitted, name, make):
    tokenizer = word_piece()
    decoder = Encoder(fresh("qwen3", 0, tokenizer).eval(), tokenizer, FAMILIES["qwen3"], "qwen3")
    corpora = {split: make(3, seed=seed) for seed, split in enumerate(("train", "test", "dev"))}
    for last_layer, settings in (("raw", "inputs=raw"), ("normalised", "inputs=raw last_layer=normalised")):
        results = probe(decoder, name, **corpora, how=Fit(inputs="raw"), last_layer=last_layer).results
        assert set(results.records["settings"].to_pylist()) == {settings}
    raw, normalised = (fitted[call]["train"][0] for call in (0, 2))
    assert np.array_equal(raw[:-1], normalised[:-1])
    assert not np.allclose(raw[-1], normalised[-1], rtol=0.1)
    squares = (normalised[-1] ** 2).mean(-1) if name == "upos" else np.ones(1)
    assert squares == pytest.approx(1, abs=0.01)  # of each word's state


def test_where_no_feature_tells_the_answer_is_the_label_of_the_largest_bias(encoder, monkeypatch):
    def fit_biases(vectors, answers, dev, dev_answers, *, classes, **more):
        biases = np.tile(np.float32([0, 2, 1]), (len(vectors), 1, 1))
        return np.zeros((*vectors.shape[::2], classes), np.float32), biases

    monkeypatch.setattr(probing, "fit", fit_biases)
    whole = texts(4, seed=1)
    rare = [text for text in whole.texts if text.label == "bb"][:2]
    train = replace(whole, items=(*(text for text in whole.texts if text.label != "bb"), *rare))
    probed = probe(encoder, "langid", train=train, test=texts(2, seed=2), dev=texts(2, seed=3))
    assert probed.answers[1] == "bb"
    assert {row["given"] for row in probed.confusion_rows()} == {"bb"}
    in_training = probed.results.filter(metric="train_accuracy_shuffled").records["value"].to_pylist()
    assert in_training == [100 * 2 / 10] * 5


def test_each_score_is_signed_with_the_data_it_was_computed_on(encoder, fitted):
    train, test = texts(4, seed=1), texts(2, seed=2)
    results = probe(encoder, "langid", train=train, test=test).results
    signed = {record.metric: record.signature.split("|")[2] for record in results}
    on_test = dict.fromkeys(("accuracy", "accuracy_shuffled", "recall"), f"data:{test.digest[:12]}")
    assert signed == {**on_test, "train_accuracy_shuffled": f"data:{train.digest[:12]}"}


def test_corpora_may_be_named_and_names_without_a_split_mean_the_train_and_test_split(encoder):
    how = Fit(epochs=1)
    splits = {split: load_corpus(f"sample/en:{split}") for split in ("train", "test")}
    named = probe(encoder, "upos", train="sample/en", test="sample/en", how=how)
    assert named.results.records.equals(probe(encoder, "upos", **splits, how=how).results.records)
    assert "accuracy by layer" in repr(named)
    assert "array" not in repr(named)


def test_two_sentences_with_two_labels_are_enough(encoder, fitted):
    train, test = (sentences(2, seed=seed, answers={"aa": "cat dog", "bb": "zzz qqq"}) for seed in (1, 2))
    assert probe(encoder, "upos", train=train, test=test).answers == ("aa", "bb")
