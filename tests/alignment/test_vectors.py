import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from tokenizers import normalizers

from crosslens.alignment.vectors import (
    contextual_vectors,
    load_vectors,
    occurrences,
    read_vectors,
    table_vectors,
    untrained_vectors,
    word_pieces,
)
from crosslens.corpora.catalogue import load_text
from crosslens.data.corpus import Corpus
from crosslens.data.formats.text import cut_words
from crosslens.data.sentence import Sentence, Text
from crosslens.data.subwords import split_words
from crosslens.encoders.encoder import layer_outputs
from crosslens.encoders.interventions.read_as import read_as
from crosslens.encoders.load import load_encoder
from crosslens.encoders.matmul import inference
from crosslens.encoders.reinit import random_init, untrained_pair
from crosslens.encoders.represent import represent_words
from crosslens.errors import DataError, RequestError
from toys import SENTENCES, loaded_with, metaspace


@pytest.fixture(scope="module")
def encoder(tiny_bert):
    return load_encoder(tiny_bert, device="cpu")


CORPUS = Corpus(tuple(Sentence(tuple(text.split())) for text in SENTENCES["en"]), "en", "en")


def states_of(encoder, words):
    """Every layer's states of a sentence alone, and which word each subword is of."""
    encoded = encoder.tokenizer([list(words)], is_split_into_words=True, return_tensors="pt")
    with torch.inference_mode():
        outputs = layer_outputs(encoder, encoded["input_ids"], encoded["attention_mask"])
    return torch.stack(outputs)[:, 0].numpy(), encoded.word_ids(0)


def test_a_words_vector_is_the_mean_over_its_places_of_the_mean_over_its_subwords(encoder):
    found = contextual_vectors(encoder, CORPUS)
    assert "." not in found.words
    assert found.layers == tuple(range(encoder.depth + 1))
    for word in ("the", "sees", "garden"):
        rows = []
        for sentence in CORPUS.sentences:
            states, owners = states_of(encoder, sentence.words)
            for number, its in enumerate(sentence.words):
                if its == word:
                    rows.append(states[:, [i for i, owner in enumerate(owners) if owner == number]].mean(1))
        place = found.places()[word]
        assert found.counts[place] == len(rows)
        assert np.allclose(found.vectors[:, place], np.mean(rows, 0), atol=1e-5)


def assert_same(found, expected):
    assert np.array_equal(found.vectors, expected.vectors)
    assert found.vectors.dtype == np.float32
    assert np.array_equal(found.counts, expected.counts)
    for name in ("words", "layers", "name", "language", "columns"):
        assert getattr(found, name) == getattr(expected, name), name


def test_vectors_are_loaded_from_a_file_a_table_or_a_text(encoder, tiny_bert, tmp_path):
    (tmp_path / "a.vec").write_text("the 1 2\n", "utf-8")
    static = load_vectors(str(tmp_path / "a.vec"), language="en", text=CORPUS)
    for found in (static, load_vectors(tmp_path / "a.vec", language="en")):
        assert_same(found, read_vectors(tmp_path / "a.vec", language="en"))
    assert (static.language, static.name, static.columns) == ("en", str(tmp_path / "a.vec"), {})
    for given in (encoder, str(tiny_bert), tiny_bert):
        assert_same(load_vectors(given, language="en", device="cpu"), table_vectors(encoder, language="en"))
        assert_same(load_vectors(given, language="en", text=CORPUS, device="cpu"), contextual_vectors(encoder, CORPUS))
    with pytest.raises(RequestError, match="a list and not a corpus"):
        load_vectors(encoder, language="en", text=[["the", "cat"]])


def test_a_text_is_of_the_language_whose_words_are_wanted(encoder):
    unknown = replace(CORPUS, language=None)
    assert_same(load_vectors(encoder, language="en", text=unknown), contextual_vectors(encoder, CORPUS))
    assert load_vectors(encoder, language="en", text=replace(CORPUS, language="en-Latn")).language == "en-Latn"
    with pytest.raises(RequestError, match="en is in en, but vectors of fr words were requested"):
        load_vectors(encoder, language="fr", text=CORPUS)


def test_vectors_say_whose_they_are(encoder):
    changed = random_init(encoder, "2", seed=1)
    for found, layers in ((table_vectors(changed, language="fr"), (0,)), (contextual_vectors(changed, CORPUS), None)):
        assert (found.name, found.columns) == (encoder.name, changed.columns)
        assert found.layers == (layers or tuple(range(encoder.depth + 1)))
        assert found.vectors.shape == (len(found.layers), len(found.words), encoder.width)
        assert found.counts.shape == (len(found.words),)
    assert table_vectors(changed, language="fr").language == "fr"
    assert set(table_vectors(changed, language="fr").counts) == {1}
    assert contextual_vectors(changed, CORPUS).language == "en"


def test_untrained_vectors_are_those_of_untrained_encoders_seed_by_seed(encoder):
    """With a text of one of the languages, the other side is the embedding table."""
    other, languages = random_init(encoder, "1", seed=1), ("fr", "en")
    found = list(untrained_vectors(encoder, other, languages=languages, texts={"en": CORPUS}, seeds=(3, 5)))
    assert [seed for seed, _, _ in found] == [3, 5]
    for seed, first, second in found:
        source, target = untrained_pair(encoder, other, seed=seed)
        assert_same(first, table_vectors(source, language="fr"))
        assert_same(second, contextual_vectors(target, CORPUS))


def test_every_word_is_read_once_however_long_the_sentence(encoder):
    """Its subwords weigh one together, and belong to one window: sentences are longer than the encoder's positions."""
    long = Sentence(tuple(["the", "gardenhouse", "sleeps"] * 40 + ["x" * 70]))
    corpus = Corpus((*CORPUS.items, long, CORPUS.items[0]), "long", "en")
    words = sum(map(len, corpus.items))
    with inference():
        weights, batches = np.zeros(words), 0
        for states, places, owners, shares in word_pieces(encoder, corpus):
            batches += 1
            assert len(states) == encoder.depth + 1
            assert places.max() < states[0].shape[0] * states[0].shape[1]
            assert len(set(places)) == len(places) == len(owners) == len(shares)
            assert shares.dtype == np.float32
            np.add.at(weights, owners, shares)
    assert batches
    assert weights == pytest.approx(np.ones(words))


def test_words_are_lowercased_and_consist_of_letters(encoder):
    loud = Corpus((Sentence(("The", "the", "THE", "cat")),), "loud", "en")
    found = contextual_vectors(encoder, loud)
    assert (found.words, found.counts.tolist()) == (("the", "cat"), [3, 1])
    with pytest.raises(RequestError, match="numbers contains no words of letters"):
        contextual_vectors(encoder, Corpus((Sentence(("1", "2", ".")),), "numbers", "en"))


def test_occurrences_are_states_of_the_first_subword_in_their_sentence(encoder):
    alone = [states_of(encoder, sentence.words) for sentence in CORPUS.sentences]
    every = [(number, word) for number, sentence in enumerate(CORPUS.sentences) for word in range(len(sentence))]
    for wanted in ([(4, 1), (0, 2), (0, 0), (0, 2)], every, every[::-1]):
        found = occurrences(encoder, CORPUS, wanted)
        assert found.shape[1] == len(wanted)
        for row, (number, word) in enumerate(wanted):
            states, owners = alone[number]
            assert np.allclose(found[:, row], states[:, owners.index(word)], atol=1e-5)


@pytest.mark.parametrize("subword", ["first", "last"])
def test_occurrences_are_the_states_that_taggers_read(tmp_path, subword):
    """Before a word that it does not know whole, the vocabulary has a lone ``▁``, whose state is of no word."""
    encoder = read_as(loaded_with(metaspace(), tmp_path), subword=subword)
    every = [(number, word) for number, sentence in enumerate(CORPUS.sentences) for word in range(len(sentence))]
    assert np.allclose(occurrences(encoder, CORPUS, every), represent_words(encoder, CORPUS), atol=1e-5)


def test_the_table_has_the_rows_of_whole_words(encoder):
    found = table_vectors(encoder, language="en")
    table = encoder.model.get_input_embeddings().weight.detach().numpy()
    assert found.words
    for word, row in zip(found.words, found.vectors[0], strict=True):
        ids = encoder.tokenizer(word, add_special_tokens=False)["input_ids"]
        assert len(ids) == 1
        assert np.array_equal(table[ids[0]], row)


def test_words_are_lower_case_as_in_dictionaries(tiny_bert, tmp_path):
    """Of a word's forms, the lower-case one counts, wherever it stands; and else the first."""
    encoder = load_encoder(tiny_bert, device="cpu")
    encoder.tokenizer.add_tokens(["Haus", "HAUS", "The"])
    encoder.model.resize_token_embeddings(len(encoder.tokenizer))
    table = encoder.model.get_input_embeddings().weight.detach().numpy()
    found = load_vectors(encoder, language="de")
    assert "Haus" in table_vectors(encoder, language="de").words
    assert all(word == word.lower() for word in found.words)
    for word, token in (("haus", "Haus"), ("the", "the"), ("garden", "garden")):
        row = table[encoder.tokenizer.convert_tokens_to_ids(token)]
        assert np.array_equal(found.vectors[0, found.places()[word]], row)
    (tmp_path / "a.vec").write_text("The 1 1\nHaus 2 2\nthe 3 3\nHAUS 4 4\n", "utf-8")
    static = load_vectors(tmp_path / "a.vec", language="de")
    assert (static.words, static.vectors.tolist()) == (("the", "haus"), [[[3, 3], [2, 2]]])
    assert static.counts.tolist() == [1, 1]


def test_the_vector_of_a_word_of_several_subwords_is_their_mean(encoder):
    words = ("the", "qx", "sees")
    states, owners = states_of(encoder, words)
    places = [place for place, owner in enumerate(owners) if owner == 1]
    assert len(places) == 2
    vectors = contextual_vectors(encoder, Corpus((Sentence(words),), "en", "en"))
    expected = states[:, places].mean(1)
    assert np.allclose(vectors.vectors[:, vectors.places()["qx"]], expected, atol=1e-5)


def test_the_unknown_subword_is_the_vector_of_no_word(encoder):
    """The vocabulary has the word, but the tokenizer reads other letters for it, which it does not know."""
    tokenizer = copy.deepcopy(encoder.tokenizer)
    tokenizer.backend_tokenizer.normalizer = normalizers.Replace("garden", "ж")
    assert tokenizer.tokenize("garden") == [tokenizer.unk_token]
    before = table_vectors(encoder, language="en").words
    assert "garden" in before
    after = table_vectors(replace(encoder, tokenizer=tokenizer), language="en").words
    assert set(after) == set(before) - {"garden"}


def test_running_text_is_cut_at_spaces_and_punctuation():
    text = Corpus((Text(("«L'été, c'est l’été!» 3,5 x-y_z",), id="1"),), "fr", "fr")
    assert cut_words(text).sentences[0].words == (
        "«",
        "L'été",
        ",",
        "c'est",
        "l’été",
        "!",
        "»",
        "3",
        ",",
        "5",
        "x-y",
        "_",
        "z",
    )
    assert cut_words(CORPUS) is CORPUS


def test_static_vectors_are_read_with_and_without_their_sizes(tmp_path):
    for head in ("3 2\n", ""):
        (tmp_path / "a.vec").write_text(head + "the 1 2\ncat 3 4 \nthe 9 9\n", "utf-8")
        found = read_vectors(tmp_path / "a.vec", language="en")
        assert found.words == ("the", "cat")
        assert found.layers == (None,)
        assert found.vectors.tolist() == [[[1, 2], [3, 4]]]
        assert (found.name, found.language, found.counts.tolist()) == (str(tmp_path / "a.vec"), "en", [1, 1])
        assert found.vectors.dtype == np.float32
        assert [read_vectors(tmp_path / "a.vec", most=most).words for most in (1, 2, 3)] == [
            ("the",),
            ("the", "cat"),
            ("the", "cat"),
        ]
    (tmp_path / "b.vec").write_bytes("e\u0301te\u0301 1 2\n\u2028a\rb 5 6\n".encode() + b"caf\xe9 3 4\n")
    assert read_vectors(tmp_path / "b.vec").words == ("\u00e9t\u00e9", "\u2028a\rb", "caf\ufffd")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("the 1 2\ncat 3\n", "a.vec:2: 1 numbers after the word, where the first has 2"),
        ("2 2\nthe 1 2\ncat 3 4 5\n", "a.vec:3: 3 numbers after the word, where the first has 2"),
        ("the x y\n", "a.vec:1: 0 numbers"),
        ("the 1 2\n3 4\n", "a.vec:2: 1 numbers"),
        ("the 1 2\ncat nan 2\n", "a.vec:2: the vector has numbers that are not finite"),
        ("the inf 2\n", "a.vec:1: the vector has numbers that are not finite"),
        ("the 1e39 2\n", "a.vec:1: the vector has numbers that are not finite"),
        ("", "contains no vectors"),
    ],
)
def test_a_broken_file_of_vectors(tmp_path, content, reason):
    (tmp_path / "a.vec").write_text(content, "utf-8")
    with pytest.raises(DataError, match=reason):
        read_vectors(tmp_path / "a.vec")
    with pytest.raises(DataError, match="not found"):
        read_vectors(tmp_path / "none.vec")


def test_static_vectors_are_of_any_width(tmp_path):
    expected = np.random.default_rng(0).normal(size=(2, 700)).astype(np.float32)
    lines = [f"{word} {' '.join(map(str, row))}\n" for word, row in zip("ab", expected.tolist(), strict=True)]
    (tmp_path / "a.vec").write_text("".join(lines), "utf-8")
    np.testing.assert_array_equal(read_vectors(tmp_path / "a.vec").vectors, expected[None])


def test_a_vocabulary_is_split_once_for_all_languages_and_seeds(tiny_bert, monkeypatch):
    calls = []

    def counted(words, tokenizer):
        calls.append(len(words))
        return split_words(words, tokenizer)

    monkeypatch.setattr("crosslens.alignment.vectors.split_words", counted)
    encoder = load_encoder(tiny_bert, device="cpu")
    vectors = [table_vectors(encoder, language=language) for language in ("en", "fr")]
    assert list(untrained_vectors(encoder, encoder, languages=("en", "fr"), seeds=(3, 5)))
    assert len(calls) == 1
    assert vectors[0].words == vectors[1].words
    encoder.tokenizer.add_tokens("zebras")
    encoder.model.resize_token_embeddings(len(encoder.tokenizer))
    assert set(table_vectors(encoder, language="en").words) - set(vectors[0].words) == {"zebras"}


def test_a_text_is_given_by_name_too(encoder, tmp_path):
    (tmp_path / "en.txt").write_text("the cat sees\nthe dog\n", "utf-8")
    text = load_text(tmp_path / "en.txt", language="en")
    assert_same(load_vectors(encoder, language="en", text=str(tmp_path / "en.txt")), contextual_vectors(encoder, text))
