import numpy as np
import pytest
import torch

from crosslens.alignment.vectors import contextual_vectors, occurrences, read_vectors, table_vectors
from crosslens.data.corpus import Corpus
from crosslens.data.formats.text import cut_words
from crosslens.data.sentence import Sentence, Text
from crosslens.encoders.encoder import layer_outputs
from crosslens.encoders.load import load_encoder
from crosslens.errors import DataError, RequestError
from toys import SENTENCES


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


def test_case_is_folded_and_only_the_words_asked_for_are_kept(encoder):
    loud = Corpus((Sentence(("The", "the", "THE", "cat")),), "loud", "en")
    assert contextual_vectors(encoder, loud).counts.tolist() == [3, 1]
    assert contextual_vectors(encoder, loud, case="kept").words == ("The", "the", "THE", "cat")
    assert contextual_vectors(encoder, loud, words=["cat"]).words == ("cat",)
    with pytest.raises(RequestError, match="loud contains none of the words"):
        contextual_vectors(encoder, loud, words=["dog"])


@pytest.mark.parametrize("piece", ["first", "mean"])
def test_occurrences_are_states_in_their_sentence(encoder, piece):
    wanted = [(4, 1), (0, 2), (0, 0), (0, 2)]
    found = occurrences(encoder, CORPUS, wanted, piece=piece)
    for row, (number, word) in enumerate(wanted):
        states, owners = states_of(encoder, CORPUS.sentences[number].words)
        its = [i for i, owner in enumerate(owners) if owner == word]
        expected = states[:, its[:1] if piece == "first" else its].mean(1)
        assert np.allclose(found[:, row], expected, atol=1e-5)


def test_the_table_has_the_rows_of_whole_words(encoder):
    found = table_vectors(encoder, language="en")
    table = encoder.model.get_input_embeddings().weight.detach().numpy()
    assert found.words
    for word, row in zip(found.words, found.vectors[0], strict=True):
        ids = encoder.tokenizer(word, add_special_tokens=False)["input_ids"]
        assert len(ids) == 1
        assert np.array_equal(table[ids[0]], row)


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
    assert read_vectors(tmp_path / "a.vec", most=1).words == ("the",)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("the 1 2\ncat 3\n", "a.vec:2: 1 numbers after the word, where the first has 2"),
        ("the x y\n", "a.vec:1: 0 numbers"),
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
