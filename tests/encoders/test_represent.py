import numpy as np
import pytest
import torch

from conftest import SENTENCES
from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Sentence
from crosslens.encoders.ablation import random_init
from crosslens.encoders.represent import represent


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


def test_it_is_the_mean_of_every_layer_without_specials(encoder, sentences):
    vectors = represent(encoder, sentences)
    assert vectors.shape == (5, len(sentences), 32)
    assert vectors.vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, one_by_one(encoder, sentences), atol=1e-5)


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
