"""Both directions of retrieval, and pairs of a dictionary that come twice."""

import copy
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from crosslens.alignment.measure import sentence_retrieval, word_translation
from crosslens.alignment.neighbours import ranked
from crosslens.alignment.rotation import fit_rotation
from crosslens.alignment.transplant import transfer_by_layer
from crosslens.alignment.vectors import WordVectors
from crosslens.corpora.catalogue import load_corpus
from crosslens.corpora.parallel import load_parallel
from crosslens.data.dictionary import Dictionary
from crosslens.digests import digest
from crosslens.encoders.represent import represent
from crosslens.errors import RequestError
from crosslens.training.recipe import Recipe


def halves(treebanks):
    """Three sentence pairs for training, and three for testing."""
    return load_parallel("ud/pud[:3]", data=treebanks), load_parallel("ud/pud[3:]", data=treebanks)


def main(results, measure):
    """The records of the trained encoders under the mapping asked for, without baselines."""
    rows = results.records.to_pylist()
    return [row for row in rows if row["measure"] == measure and row["state"] in (None, "pretrained")]


@pytest.mark.parametrize("method", ["csls", "cosine"])
def test_sentences_are_looked_for_in_both_directions(encoder, treebanks, method, monkeypatch):
    """Step by step: the way back looks for the first language's sentences with the second's.

    With drawn vectors, the same on every machine, so that the two directions surely differ.
    """
    train, sides = halves(treebanks)

    def represent(encoder, corpus):
        generator = np.random.default_rng([*map(ord, corpus[0].text), *map(ord, corpus.language)])
        return SimpleNamespace(vectors=generator.normal(size=(encoder.depth + 1, len(corpus), 4)).astype(np.float32))

    monkeypatch.setattr("crosslens.alignment.measure.represent", represent)
    found = sentence_retrieval(encoder, encoder, train=train, test=sides, pair=("en", "fr"), method=method)
    values = {(row["layer"], row["source"], row["target"]): row["value"] for row in main(found, "sentences procrustes")}
    assert len(values) == 2 * (encoder.depth + 1)
    vectors = {
        (name, language): represent(encoder, corpora[language]).vectors
        for name, corpora in (("train", train), ("test", sides))
        for language in ("en", "fr")
    }
    right = [{number} for number in range(len(sides))]
    for layer in range(encoder.depth + 1):
        rotation = fit_rotation(vectors["train", "en"][layer], vectors["train", "fr"][layer])
        x, y = rotation(vectors["test", "en"][layer]), rotation.target(vectors["test", "fr"][layer])
        for queries, candidates, pair in ((x, y, ("en", "fr")), (y, x, ("fr", "en"))):
            expected = 100 * ranked(queries, candidates, method=method).hits(right, at=1).mean()
            assert values[layer, *pair] == pytest.approx(expected)
    assert any(values[layer, "en", "fr"] != values[layer, "fr", "en"] for layer in range(encoder.depth + 1))


def test_a_sentence_that_is_not_told_from_another_is_not_retrieved(encoder, treebanks, monkeypatch):
    train, sides = halves(treebanks)

    def represent(encoder, corpus):
        rows = np.random.default_rng(len(corpus)).normal(size=(len(corpus), 8))
        rows[0] = rows[1]
        return SimpleNamespace(vectors=np.stack([rows] * (encoder.depth + 1)))

    monkeypatch.setattr("crosslens.alignment.measure.represent", represent)
    results = sentence_retrieval(encoder, encoder, train=train, test=sides, pair=("en", "fr"), baselines=())
    assert set(results.to_pandas()["value"]) == {100 * (len(sides) - 2) / len(sides)}


def test_sentence_pairs_that_are_tested_are_not_learnt_from(encoder, treebanks):
    sides = load_parallel("ud/pud", data=treebanks)
    asked = {"test": load_parallel("ud/pud[4:]", data=treebanks), "pair": ("en", "fr"), "baselines": ()}
    clean, leaked = (sentence_retrieval(encoder, encoder, train=of, **asked) for of in (sides.head(4), sides))
    assert leaked.records["value"].equals(clean.records["value"])
    assert (leaked.tags()[0]["pairs"], leaked.tags()[0]["shared_pairs"]) == (4, 2)
    assert "shared_pairs" not in clean.tags()[0]
    whole = digest([sides[language].digest for language in ("en", "fr")])
    assert set(leaked.records["train_digest"].to_pylist()) == {whole}  # of the corpus that was named
    unmapped = sentence_retrieval(encoder, encoder, train=asked["test"], mapping="identity", **asked)
    assert "shared_pairs" not in unmapped.tags()[0]  # learns from no pair
    with pytest.raises(RequestError, match=r"all 2 pairs of ud/pud\[4:\] are also in ud/pud\[4:\]"):
        sentence_retrieval(encoder, encoder, train=asked["test"], **asked)


def test_another_translation_of_a_tested_sentence_is_learnt_from(encoder, treebanks):
    """A pair is tested only if both of its sentences are."""
    test = load_parallel("ud/pud[4:]", data=treebanks)
    crossed = replace(test, corpora={"en": test["en"], "fr": test["fr"][::-1]}, name="crossed")
    found = sentence_retrieval(encoder, encoder, train=crossed, test=test, pair=("en", "fr"), baselines=())
    assert {(tags["pairs"], tags.get("shared_pairs")) for tags in found.tags()} == {(2, None)}


def test_a_record_says_how_its_number_came_about(encoder, treebanks):
    train, sides = halves(treebanks)
    found = sentence_retrieval(encoder, encoder, train=train, test=sides, pair=("en", "fr"), method="csls")
    for row in main(found, "sentences procrustes"):
        assert row["signature"].startswith("precision@1|sentences:csls|data:")
        assert row["corpus_digest"][:12] in row["signature"]
        assert row["n"] == len(sides)
        assert row["low"] <= row["value"] <= row["high"]


def test_a_pair_that_a_dictionary_has_twice_is_one_pair():
    generator = np.random.default_rng(0)
    space = generator.normal(size=(30, 5)).astype(np.float32)
    noisy = space + generator.normal(size=space.shape).astype(np.float32)
    source, target = (
        WordVectors(tuple(f"{letter}{i}" for i in range(30)), rows[None], (0,), "made", language, np.ones(30))
        for letter, rows, language in (("w", space, "en"), ("t", noisy, "fr"))
    )
    pairs = [(f"w{i}", f"t{i}", 1.0) for i in range(30)]
    test = Dictionary(tuple(pairs[20:]), "test")
    once, twice = (
        main(word_translation(source, target, train=Dictionary(tuple(train), "train"), test=test), "words procrustes")
        for train in (pairs[:20], [*pairs[:20], *((a, b, 0.5) for a, b, _ in pairs[:3]), *pairs[:2]])
    )
    assert len(once) == 3
    assert [(row["value"], row["n"], row["tags"]) for row in once] == [
        (row["value"], row["n"], row["tags"]) for row in twice
    ]


def test_the_seed_of_transfer_by_layer_is_that_of_every_training(encoder, toy, treebanks):
    recipe = Recipe(batch=6, epochs=1, select="last")
    rows = [
        transfer_by_layer(
            encoder,
            "pos",
            pair=("en", "fr"),
            train=toy(),
            tests=[load_corpus("ud/fr_pud", data=treebanks)],
            layers="0,2",
            recipe=recipe,
            seed=seed,
            baselines=(),
        ).records.to_pylist()
        for seed in (1, 2)
    ]
    assert [[row["seed"] for row in each] for each in rows] == [[1, 1], [2, 2]]
    assert [row["layer"] for row in rows[0]] == [0, 2]


def test_encoders_of_different_depth_are_aligned_at_the_same_relative_depth(encoder, shallow, treebanks):
    train, sides = halves(treebanks)
    asked = {"train": train, "test": sides, "pair": ("en", "fr"), "layers": "relative", "baselines": ()}
    with pytest.raises(RequestError, match=r"same hidden size, but .* has 32, .* 16"):
        sentence_retrieval(encoder, shallow, **asked)
    lower = replace(encoder, model=copy.deepcopy(encoder.model))
    del lower.model.encoder.layer[2:]
    rows = sentence_retrieval(encoder, lower, **asked).records.to_pylist()
    assert [(row["layer"], row["target_layer"]) for row in rows if row["source"] == "en"] == [(0, 0), (2, 1), (4, 2)]
    assert [(row["layer"], row["target_layer"]) for row in rows if row["source"] == "fr"] == [(0, 0), (1, 2), (2, 4)]
    learnt_x, learnt_y, x, y = (
        represent(each, corpora[language]).vectors
        for corpora in (train, sides)
        for each, language in ((encoder, "en"), (lower, "fr"))
    )
    for row, (first, second) in zip(rows[::2], [(0, 0), (2, 1), (4, 2)], strict=True):
        rotation = fit_rotation(learnt_x[first], learnt_y[second])
        ranking = ranked(rotation(x[first]), rotation.target(y[second]), method="cosine")
        assert row["value"] == pytest.approx(100 * ranking.hits([{i} for i in range(len(sides))], at=1).mean())


def test_parallel_sentences_may_be_named_and_all_of_them_are_counted(encoder):
    updates = []
    asked = {"test": "sample/test[4:8]", "pair": ("en", "fr"), "baselines": (), "progress": updates.append}
    named = sentence_retrieval(encoder, encoder, train="sample/test[:4]", **asked)
    loaded = sentence_retrieval(encoder, encoder, train=load_parallel("sample/test[:4]"), **asked)
    assert named.records.equals(loaded.records)
    assert [update.done for update in updates if update.stage == "reading sentences"] == 2 * [0, 1, 2, 3, 4]
    with pytest.raises(RequestError, match="'my-encoder' is a str and not an encoder"):
        sentence_retrieval("my-encoder", encoder, train="sample/test[:4]", **asked)
    with pytest.raises(RequestError, match="a pair is two languages, not the text 'en-fr'"):
        sentence_retrieval(encoder, encoder, train="sample/test[:4]", **asked | {"pair": "en-fr"})
