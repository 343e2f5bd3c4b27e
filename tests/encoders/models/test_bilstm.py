"""The BiLSTM: it reads words and nothing else, and is an encoder as any other."""

import numpy as np
import pytest
import torch

from crosslens.corpora.catalogue import load_corpus
from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Sentence
from crosslens.encoders.batch import make_batch
from crosslens.encoders.coverage import measure_coverage
from crosslens.encoders.freeze import freeze
from crosslens.encoders.inputs import read_windows
from crosslens.encoders.load import load_encoder, save_encoder
from crosslens.encoders.models.bilstm import bilstm_digest, fresh_bilstm, spelling_keys
from crosslens.encoders.reinit import random_init
from crosslens.encoders.represent import represent
from crosslens.errors import DataError, RequestError
from crosslens.training.evaluate import evaluate
from crosslens.training.finetune import finetune
from crosslens.training.recipe import find_recipe

SIZES = {
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "character_size": 8,
    "character_hidden": 12,
    "word_size": 10,
    "device": "cpu",
}


@pytest.fixture(scope="module")
def train():
    return load_corpus("lab/src:train[:200]")


@pytest.fixture(scope="module")
def bilstm(train):
    return fresh_bilstm(train, **SIZES)


def states(encoder, sentences):
    """Each word's state, in one batch, sentence by sentence."""
    corpus = Corpus(tuple(Sentence(tuple(s)) for s in sentences), "mine")
    windows = read_windows(encoder, corpus).windows
    batch = make_batch(windows, padding=encoder.padding, device=encoder.device)
    with torch.inference_mode():
        return torch.split(batch.word_states(encoder.states(batch.ids, batch.mask)), list(batch.lengths))


@pytest.mark.rounding
def test_what_else_is_in_the_batch_does_not_matter(bilstm, train):
    sentences = [s.words for s in train.sentences[:7]]
    together = states(bilstm, sentences)
    for words, whole in zip(sentences, together, strict=True):
        (alone,) = states(bilstm, [words])
        assert torch.allclose(alone, whole, atol=1e-6)


def test_every_word_is_read_by_its_whole_sentence(bilstm, train):
    words = list(train.sentences[0].words)
    (before,) = states(bilstm, [words])
    for changed in (0, len(words) - 1):
        other = [*words]
        other[changed] = "zzz"
        (after,) = states(bilstm, [other])
        assert (before - after).abs().sum(1).gt(1e-6).all()


def test_a_naive_network_gives_the_same(bilstm, train):
    """Word by word and without packing: the oracle of places and padding."""
    model, tokenizer = bilstm.model, bilstm.tokenizer
    words = ["[CLS]", *train.sentences[3].words, "[SEP]"]
    rows = []
    with torch.inference_mode():
        for word in words:
            special = word in ("[CLS]", "[SEP]")
            ids = (
                [tokenizer.convert_tokens_to_ids(word)]
                if special
                else tokenizer.encode([word], is_split_into_words=True, add_special_tokens=False)
            )
            characters = torch.tensor([ids])
            _, (last, _) = model.embeddings.spelling(model.embeddings.characters(characters))
            key = spelling_keys(characters, 0)
            known = (model.embeddings.word_keys == key).nonzero()
            own = int(known[0]) if len(known) else model.config.words
            parts = [last.transpose(0, 1).flatten(1)[0], model.embeddings.words.weight[own]]
            rows.append(model.embeddings.projection(torch.cat(parts)))
        sentence = torch.stack(rows)[None]
        for layer in model.layers:
            sentence, _ = layer.lstm(sentence)
    (found,) = states(bilstm, [words[1:-1]])
    assert torch.allclose(sentence[0, 1:-1], found, atol=1e-5)


def test_words_that_come_more_than_once_have_an_embedding(bilstm, train):
    counts = {}
    for sentence in train.sentences:
        for word in sentence.words:
            counts[word] = counts.get(word, 0) + 1
    assert bilstm.model.config.words == sum(count > 1 for count in counts.values())
    keys = bilstm.model.embeddings.word_keys
    assert (keys[1:] > keys[:-1]).all()  # sorted, and no two words have one key


def test_saving_and_loading_keeps_the_bits(bilstm, tmp_path):
    save_encoder(bilstm, tmp_path / "saved")
    again = load_encoder(tmp_path / "saved", device="cpu")
    assert again.digest == bilstm.digest
    test = load_corpus("lab/src:test[:10]")
    assert np.array_equal(represent(again, test).vectors, represent(bilstm, test).vectors)


def test_it_depends_on_the_seed_and_on_the_words(train):
    assert fresh_bilstm(train, **SIZES).digest == fresh_bilstm(train, **SIZES).digest
    assert fresh_bilstm(train, seed=2, **SIZES).digest != fresh_bilstm(train, **SIZES).digest
    assert fresh_bilstm(train[:150], **SIZES).digest != fresh_bilstm(train, **SIZES).digest


def test_weights_are_the_same_under_another_default_dtype(train):
    expected = fresh_bilstm(train, **SIZES).digest
    torch.set_default_dtype(torch.float64)
    try:
        assert fresh_bilstm(train, **SIZES).digest == expected
    finally:
        torch.set_default_dtype(torch.float32)


def test_before_training_it_is_known_by_its_words_sizes_and_vectors_and_not_by_its_seed(train):
    few, zeros, ones = train[:20], {"a": np.zeros(5, np.float32)}, {"a": np.ones(5, np.float32)}
    digests = [bilstm_digest(few), bilstm_digest(few[:10]), bilstm_digest(few, hidden_size=24)]
    digests += [bilstm_digest(few, zeros), bilstm_digest(few, ones), bilstm_digest(few, {"b": zeros["a"]})]
    assert len(set(digests)) == 6
    first, second = (fresh_bilstm(few, seed=seed, hidden_size=24, device="cpu").loaded_digest for seed in (1, 2))
    assert first == second == digests[2]


def test_layers_are_drawn_anew_and_frozen(bilstm):
    drawn = random_init(bilstm, "1", seed=3)
    changed = {
        name
        for (name, a), (_, b) in zip(bilstm.model.named_parameters(), drawn.model.named_parameters(), strict=True)
        if not torch.equal(a, b)
    }
    assert changed
    assert all(name.startswith("layers.0.") for name in changed)
    frozen = freeze(bilstm, "0-1")
    assert not any(p.requires_grad for p in frozen.layers[0].parameters())
    assert all(p.requires_grad for p in frozen.layers[1].parameters())


def test_given_vectors_are_read_and_not_trained(train):
    words = ("zzz", "yyy", "zzz's", train.sentences[0].words[0])  # the last one is read in training
    vectors = {word: np.full(5, number, np.float32) for number, word in enumerate(words, start=1)}
    encoder = fresh_bilstm(train, vectors=vectors, **SIZES)
    (a, b) = states(encoder, [["zzz"], ["zzzz"]])
    assert not torch.allclose(a, b)
    embeddings = encoder.model.embeddings
    for word, vector in vectors.items():
        ids = encoder.tokenizer.encode([word], is_split_into_words=True, add_special_tokens=False)
        place = int((embeddings.vector_keys == spelling_keys(torch.tensor([ids]), 0)).nonzero()[0])
        assert np.array_equal(embeddings.vectors[place].detach().numpy(), vector)
    model = finetune(encoder, "pos", train=train[:32], recipe=find_recipe("bilstm", "pos", {"epochs": "1"}))
    assert torch.equal(model.encoder.model.embeddings.vectors, embeddings.vectors)
    assert not torch.equal(model.encoder.model.embeddings.words.weight, embeddings.words.weight)


def test_vectors_of_words_in_decomposed_letters_are_those_of_the_words_that_are_read(train):
    (composed, decomposed) = (
        states(fresh_bilstm(train, vectors={word: np.ones(5, np.float32)}, **SIZES), [["\u00e9t\u00e9"]])[0]
        for word in ("\u00e9t\u00e9", "e\u0301te\u0301")
    )
    assert torch.equal(composed, decomposed)


def test_vectors_of_words_in_a_script_that_training_lacks_are_told_apart(train):
    words = ("кот", "пёс", "дом", "к\u00a0т")  # spaces are in no alphabet
    encoder = fresh_bilstm(train, vectors=dict(zip(words, np.eye(4, dtype=np.float32), strict=True)), **SIZES)
    with torch.no_grad():
        encoder.model.embeddings.projection.weight[:, :-4] = 0  # only the vectors are read
    *known, unknown, silent = (each[0] for each in states(encoder, [[word] for word in (*words[:3], "к猫т", "ga")]))
    assert len({tuple(state.tolist()) for state in (*known, silent)}) == 4
    assert torch.equal(unknown, silent)  # neither has a vector


def test_a_word_with_a_space_is_read_as_two_known_words():
    train = Corpus((Sentence(("Việt Nam", "là")), Sentence(("là", "Việt Nam"))), "spaced")
    encoder = fresh_bilstm(train, **SIZES)
    keys = encoder.model.embeddings.word_keys
    ids = encoder.tokenizer(["Việt", "Nam", "là"], add_special_tokens=False)["input_ids"]
    assert {int(spelling_keys(torch.tensor([row]), 0)[0]) for row in ids} == set(keys.tolist())


def test_words_are_trained_by_their_own_embedding_however_few_characters_occur():
    """Of a training set's many characters a part of it may have few, as in Chinese; words are known by their ids."""
    words = [chr(0x4E00 + number) + chr(0x5E00 + number) for number in range(120)]
    sentences = [Sentence((word, word, "。"), upos=("NOUN", "VERB", "PUNCT")) for word in words]
    train = Corpus(tuple(sentences * 2), "signs", language="zh")
    fresh = fresh_bilstm(train, **SIZES)
    recipe = find_recipe("bilstm", "pos", {"epochs": "6", "batch": "2", "limit": "12"})
    model = finetune(fresh, "pos", train=train, recipe=recipe)
    before, after = fresh.model.embeddings.words.weight, model.encoder.model.embeddings.words.weight
    moved = set((before != after).any(1).nonzero().flatten().tolist())
    read = {sentence.words[0] for sentence in train.sentences[::20]} | {"。"}
    ids = [fresh.tokenizer.encode([word], is_split_into_words=True, add_special_tokens=False) for word in sorted(read)]
    keys = torch.stack([spelling_keys(torch.tensor([row]), 0)[0] for row in ids])
    own = torch.isin(fresh.model.embeddings.word_keys, keys).nonzero().flatten().tolist()
    assert len(own) == len(read) == 7
    assert moved - {len(words) + 1} == set(own)  # the last one is that of unknown words


@pytest.mark.parametrize(
    ("task", "metric", "least"), [("pos", "accuracy", 80), ("parsing", "las", 40), ("ner", "f1", 10)]
)
def test_it_learns(train, task, metric, least):
    sizes = SIZES | {
        "hidden_size": 64,
        "num_hidden_layers": 1,
        "character_size": 16,
        "character_hidden": 32,
        "word_size": 32,
    }
    encoder = fresh_bilstm(train, **sizes)
    model = finetune(encoder, task, train=train, recipe=find_recipe("bilstm", task, {"epochs": "8", "batch": "8"}))
    found = evaluate(model, [load_corpus("lab/src:test[:100]")]).filter(metric=metric)
    assert found.records["value"][0].as_py() > least


def test_texts_are_read_too(toy):
    document = toy(task="document")
    encoder = fresh_bilstm(document, **SIZES)
    model = finetune(encoder, "document", train=document, recipe=find_recipe("bilstm", "document", {"epochs": "2"}))
    assert len(evaluate(model, [document]))


def test_unknown_characters_and_long_sentences(bilstm):
    found = states(bilstm, [["猫", "ga"], ["ga"] * 700])
    assert [len(sentence) for sentence in found] == [2, 700]
    assert all(torch.isfinite(sentence).all() for sentence in found)


def test_wrong_requests(train):
    with pytest.raises(DataError, match="no words"):
        fresh_bilstm(Corpus((), "nothing"))
    with pytest.raises(RequestError, match="a str and not a corpus"):
        fresh_bilstm("ud/en_toy")
    with pytest.raises(RequestError, match=r"a BiLSTM has no setting 'hiden_size' .did you mean 'hidden_size'"):
        fresh_bilstm(train, hiden_size=10)
    for sizes, message in (
        ({"hidden_size": 401}, r"hidden_size cannot be 401 .it is even"),
        ({"character_hidden": 7}, r"character_hidden cannot be 7 .it is even"),
        ({"num_hidden_layers": 0}, "num_hidden_layers=0 is not"),
        ({"word_size": 2.5}, "word_size=2.5 is not"),
        ({"dropout": 1}, "dropout cannot be 1 .it is a share below 1"),
        ({"word_dropout": -0.1}, "word_dropout cannot be -0.1"),
    ):
        with pytest.raises(RequestError, match=message):
            fresh_bilstm(train, **sizes)
    with pytest.raises(RequestError, match="one row per word and equal lengths"):
        fresh_bilstm(train, vectors={"a": np.zeros(2), "b": np.zeros(3)})
    with pytest.raises(RequestError, match="one row per word and equal lengths"):
        fresh_bilstm(train, vectors={})


def test_coverage_by_hand(encoder):
    corpus = Corpus((Sentence(("the", "cat", "zebra", "猫", ".")),), "mine")
    tokens = [encoder.tokenizer.tokenize(word) for word in corpus[0].words]
    found = measure_coverage(encoder, corpus)
    assert found.words == 5
    assert found.unknown == 100 * sum("[UNK]" in pieces for pieces in tokens) / 5
    assert found.broken == 100 * sum(len(pieces) > 1 for pieces in tokens) / 5
    assert found.fertility == sum(map(len, tokens)) / 5
    read = sum(len(word) for word, pieces in zip(corpus[0].words, tokens, strict=True) if "[UNK]" not in pieces)
    assert found.characters == pytest.approx(read / sum(map(len, tokens)))
    with pytest.raises(DataError, match="contains no words"):
        measure_coverage(encoder, Corpus((Sentence(()),), "empty"))
