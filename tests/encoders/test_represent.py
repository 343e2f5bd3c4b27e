import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoModel, AutoTokenizer, T5EncoderModel

from crosslens.corpora.catalogue import load_corpus
from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Sentence, Text
from crosslens.encoders.batch import make_batch
from crosslens.encoders.encoder import layer_outputs
from crosslens.encoders.inputs import read_windows
from crosslens.encoders.load import load_encoder
from crosslens.encoders.reinit import random_init
from crosslens.encoders.represent import represent, represent_words
from crosslens.errors import DataError, EncoderError, RequestError
from tiny_studies import save_decoder
from toys import SENTENCES, word_piece


@pytest.fixture(scope="module")
def sentences():
    texts = [*SENTENCES["en"], "a dog", "cat", *SENTENCES["fr"]]
    return Corpus(tuple(Sentence(tuple(text.split())) for text in texts), "toy", "en")


def one_by_one(encoder, corpus):
    """The slow and obvious way, with transformers alone."""
    vectors = []
    for sentence in corpus:
        read = encoder.tokenizer(list(sentence.words), is_split_into_words=True, return_tensors="pt")
        with torch.inference_mode():
            states = encoder.model(read["input_ids"], read["attention_mask"], output_hidden_states=True).hidden_states
        vectors.append([layer[0, 1:-1].mean(0).numpy() for layer in states])
    return np.asarray(vectors).transpose(1, 0, 2)


@pytest.mark.rounding
def test_it_is_the_mean_of_every_layer_without_specials(encoder, sentences):
    vectors = represent(encoder, sentences)
    assert vectors.shape == (5, len(sentences), 32)
    assert vectors.vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, one_by_one(encoder, sentences), atol=1e-5)


@pytest.mark.rounding
def test_the_order_of_the_corpus_does_not_matter(encoder, sentences):
    backwards = Corpus(sentences.items[::-1], "toy", "en")
    np.testing.assert_allclose(represent(encoder, backwards)[:, ::-1], represent(encoder, sentences), atol=1e-5)


def test_a_long_sentence_is_pooled_over_its_windows_each_subword_once(encoder):
    words = tuple(word for sentence in SENTENCES["en"] * 6 for word in sentence.split())
    vectors = represent(encoder, Corpus((Sentence(words), Sentence(words[:4])), "long", "en"))
    assert np.isfinite(vectors).all()
    # Layer 0 has no context but positions: with the positions out, windows cannot change the mean.
    bare = random_init(encoder, "1", seed=1)  # a copy that may be written to
    bare.model.embeddings.position_embeddings.weight.data.zero_()
    bare.model.embeddings.LayerNorm = torch.nn.Identity()
    pooled = represent(bare, Corpus((Sentence(words),), "long", "en"))[0, 0]
    ids = bare.tokenizer(list(words), is_split_into_words=True, add_special_tokens=False, verbose=False)["input_ids"]
    table = bare.model.embeddings.word_embeddings.weight + bare.model.embeddings.token_type_embeddings.weight[0]
    np.testing.assert_allclose(pooled, table[ids].mean(0).detach().numpy(), atol=1e-5)


def by_hand(encoder, sentence, places):
    """The mean of some states of every layer, with transformers alone; ``places`` from the labelled pieces."""
    read = encoder.tokenizer(list(sentence.words), is_split_into_words=True, return_tensors="pt")
    with torch.inference_mode():
        states = encoder.model(read["input_ids"], read["attention_mask"], output_hidden_states=True).hidden_states
    kept = places(read.word_ids(0))
    return np.asarray([layer[0, kept].mean(0).numpy() for layer in states])


POOLED = {
    "mean": lambda words: [i for i, word in enumerate(words) if word is not None],
    "first": lambda words: [words.index(word) for word in sorted({word for word in words if word is not None})],
    "cls": lambda words: [0],
    "last": lambda words: [max(i for i, word in enumerate(words) if word is not None)],
}


@pytest.mark.parametrize("pooling", POOLED)
def test_what_is_pooled(encoder, sentences, pooling):
    found = represent(encoder, sentences, pooling=pooling)
    assert found.shape == (5, len(sentences), 32)
    assert (found.pooling, found.language, found.corpus) == (pooling, "en", "toy")
    for number, sentence in enumerate(sentences):
        np.testing.assert_allclose(found[:, number], by_hand(encoder, sentence, POOLED[pooling]), atol=1e-5)
    assert found.lengths.tolist() == [len(sentence) for sentence in sentences]


@pytest.mark.parametrize("pooling", ["cls", "last"])
def test_of_a_long_sentence_the_first_or_the_last_state_of_all_is_pooled(encoder, pooling):
    words = tuple(word for sentence in SENTENCES["en"] * 6 for word in sentence.split())
    long = Corpus((Sentence(words),), "long", "en")
    found = represent(encoder, long, pooling=pooling)
    assert found.subwords.tolist() == [1]
    first, *_, last = read_windows(encoder, long).windows
    window, place = (first, 0) if pooling == "cls" else (last, len(last) - 2)
    batch = make_batch([window], padding=encoder.padding, device=encoder.device)
    with torch.inference_mode():
        expected = [layer[0, place].numpy() for layer in layer_outputs(encoder, batch.ids, batch.mask)]
    np.testing.assert_allclose(found[:, 0], expected, atol=1e-5)


def test_vectors_have_no_dropout_whatever_the_mode(encoder, sentences):
    expected = represent(encoder, sentences).vectors
    assert any(part.p > 0 for part in encoder.model.modules() if isinstance(part, torch.nn.Dropout))
    encoder.model.train()
    try:
        assert np.array_equal(represent(encoder, sentences).vectors, expected)
        encoder.model.train()
        assert np.array_equal(represent_words(encoder, sentences), represent_words(encoder, sentences))
    finally:
        encoder.model.eval()


def test_running_text_is_read_as_the_tokenizer_cuts_it(encoder):
    lines = [*SENTENCES["en"], "doghouse"]
    texts = Corpus(tuple(Text((line,)) for line in lines), "lines", "en")
    found = represent(encoder, texts)
    for number, line in enumerate(lines):
        read = encoder.tokenizer(line, return_tensors="pt")
        with torch.inference_mode():
            states = encoder.model(read["input_ids"], read["attention_mask"], output_hidden_states=True).hidden_states
        np.testing.assert_allclose(found[:, number], [layer[0, 1:-1].mean(0).numpy() for layer in states], atol=1e-5)
    assert found.lengths.tolist() == [len(line) for line in lines]
    with pytest.raises(DataError, match="pooling 'first' needs sentences of words, but lines is running text"):
        represent(encoder, texts, pooling="first")


def test_the_published_script_doubles_the_special_tokens(encoder, sentences):
    found = represent(encoder, sentences, pooling="muller2021-code")
    for number, sentence in enumerate(sentences):
        read = encoder.tokenizer(f"[CLS] {sentence.text} [SEP]", return_tensors="pt")  # and the tokenizer adds them too
        with torch.inference_mode():
            states = encoder.model(read["input_ids"], read["attention_mask"], output_hidden_states=True).hidden_states
        np.testing.assert_allclose(found[:, number], [layer[0, 1:-1].mean(0).numpy() for layer in states], atol=1e-5)


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("llama", {"pad_token_id": 0}),
        ("qwen3", {"pad_token_id": 0, "head_dim": 16}),
        ("gemma3_text", {"pad_token_id": 0, "head_dim": 16}),
        ("t5", None),
    ],
)
def test_decoders_and_encoders_of_encoder_decoders(kind, more, tmp_path, sentences):
    tokenizer = word_piece()
    sizes = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 48}
    sizes |= {"num_key_value_heads": 1, "max_position_embeddings": 64}
    if more is None:
        sizes, more = {"d_model": 32, "d_ff": 48, "num_layers": 3, "num_heads": 2, "d_kv": 16}, {}
    config = AutoConfig.for_model(kind, vocab_size=len(tokenizer), **sizes, **more)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = T5EncoderModel(config) if kind == "t5" else AutoModel.from_config(config)
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    loaded = load_encoder(tmp_path, device="cpu")
    for pooling in ("mean", "last"):
        found = represent(loaded, sentences, pooling=pooling)
        assert found.shape == (4, len(sentences), 32)
        for number, sentence in enumerate(sentences):
            expected = by_hand(loaded, sentence, POOLED[pooling])
            np.testing.assert_allclose(found[:3, number], expected[:3], atol=1e-5)  # the last is behind a norm there
    if kind != "t5":  # a decoder's state knows nothing of what follows: the first word's is the same in any sentence
        a, b = (represent(loaded, Corpus((Sentence(tuple(t.split())),), "one")) for t in ("the cat", "the"))
        np.testing.assert_allclose(
            represent(loaded, Corpus((Sentence(("the",)),), "one"), pooling="last")[:, 0], b[:, 0], atol=1e-5
        )
        assert np.abs(a[:, 0] - b[:, 0]).max() > 1e-3


def test_what_has_no_representation(encoder, sentences):
    with pytest.raises(RequestError, match=r"unknown pooling 'means'.*did you mean 'mean'"):
        represent(encoder, sentences, pooling="means")
    for read in (represent, represent_words):
        with pytest.raises(RequestError, match=r"unknown kind of last layer 'normalized'.*did you mean 'normalised'"):
            read(encoder, sentences, last_layer="normalized")
    empty = Corpus((Sentence(("a",)), Sentence((), id="s7")), "holes", "en")
    with pytest.raises(DataError, match="holes: cannot represent an item without words"):
        represent(encoder, empty)
    broken = random_init(encoder, "1", seed=1)
    broken.layers[2].output.dense.bias.data.fill_(float("nan"))
    with pytest.raises(EncoderError, match="layer 3 of item 1 of toy is not a number"):
        represent(broken, sentences)


def test_progress_counts_the_windows_that_were_read(encoder, sentences):
    updates = []
    represent(encoder, sentences, progress=updates.append)
    assert {update.stage for update in updates} == {"reading toy"}
    assert [update.done for update in (updates[0], updates[-1])] == [0, len(sentences)]


def test_it_is_an_array_that_cannot_be_written_to(encoder, sentences):
    found = represent(encoder, sentences)
    assert np.asarray(found).shape == found.shape
    assert len(found) == 5
    with pytest.raises(ValueError, match="read-only"):
        found.vectors[0, 0, 0] = 1


def test_a_word_has_the_state_of_its_first_subword(encoder, tiny_bert, toy):
    """Against transformers itself, one sentence at a time."""
    corpus = toy("test")
    tokenizer, model = AutoTokenizer.from_pretrained(tiny_bert), AutoModel.from_pretrained(tiny_bert).eval()
    expected = []
    for sentence in corpus.sentences:
        encoded = tokenizer(list(sentence.words), is_split_into_words=True, return_tensors="pt")
        with torch.inference_mode():
            layers = model(**encoded, output_hidden_states=True).hidden_states
        firsts = [encoded.word_ids().index(word) for word in range(len(sentence))]
        expected.append(torch.stack([layer[0, firsts] for layer in layers]).numpy())
    states = represent_words(encoder, corpus)
    assert states.shape == (encoder.depth + 1, corpus.words, encoder.width)
    np.testing.assert_allclose(states, np.concatenate(expected, axis=1), atol=1e-5)


def test_words_of_several_windows_come_once_and_in_their_order(encoder, toy):
    one = toy("test").sentences[0]
    words = one.words * 12
    long = replace(toy("test"), items=(Sentence(words), Sentence(one.words)))
    tags = np.asarray([*words, *one.words])
    states = represent_words(encoder, long)
    assert states.shape[1] == len(tags)
    # At layer 0 without its position a state is the word's own.
    table = encoder.model.embeddings.word_embeddings.weight.detach().numpy()
    first = {word: encoder.tokenizer(word, add_special_tokens=False)["input_ids"][0] for word in set(tags)}
    similarity = states[0] @ np.stack([table[first[word]] for word in sorted(first)]).T
    assert np.isfinite(states).all()
    assert (np.asarray(sorted(first))[similarity.argmax(1)] == tags).mean() > 0.9


def test_states_of_words_are_normalised_as_vectors_are(tmp_path, sentences):
    """With one word a sentence, a word's state is the vector of the first subwords."""
    decoder = load_encoder(save_decoder(tmp_path / "decoder"), device="cpu")
    words = Corpus(tuple(Sentence((word,)) for word in ("the", "chat", "zebra")), "words", "en")
    raw, normalised = (
        (represent_words(decoder, words, last_layer=last), represent(decoder, words, pooling="first", last_layer=last))
        for last in ("raw", "normalised")
    )
    for states, vectors in (raw, normalised):
        np.testing.assert_allclose(states, vectors.vectors, atol=1e-5)
    assert np.array_equal(raw[0][:-1], normalised[0][:-1])
    assert not np.allclose(raw[0][-1], normalised[0][-1], atol=1e-3)


def test_a_state_that_is_not_a_number_is_reported_with_the_sentence_of_its_word(encoder):
    broken = replace(encoder, model=copy.deepcopy(encoder.model))
    unseen = Corpus((Sentence(("a", "cat", "sleeps")), Sentence(("the", "dog")), Sentence(("a", "x"))), "toy", "en")
    (subword,) = encoder.tokenizer("x", add_special_tokens=False)["input_ids"]
    with torch.no_grad():
        broken.model.embeddings.word_embeddings.weight[subword] = float("nan")
    with pytest.raises(EncoderError, match="layer 0 of item 3 of toy is not a number"):
        represent_words(broken, unseen)


def test_a_corpus_may_be_named_and_what_is_printed_is_one_line(encoder):
    vectors = represent(encoder, "sample/fr[:3]")
    assert np.array_equal(vectors, represent(encoder, load_corpus("sample/fr[:3]")))
    assert repr(vectors).startswith("Representations of sample/fr:test[:3] by ")
    assert repr(vectors).endswith("5 layers (0: embeddings) × 3 items × 32 dimensions")
    with pytest.raises(RequestError, match="is a str and not an encoder"):
        represent("my-encoder", "sample/fr[:3]")
