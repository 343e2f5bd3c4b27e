"""Word translation between two spaces of vectors, and its baselines."""

from dataclasses import replace

import numpy as np
import pytest

from crosslens.alignment.measure import word_translation
from crosslens.alignment.rotation import fit_rotation
from crosslens.corpora.dictionaries import load_dictionary
from crosslens.data.dictionary import Dictionary, of_words
from crosslens.errors import RequestError
from toy_vectors import csls, precision, vectors

GENERATOR = np.random.default_rng(0)
WORDS = [f"w{i}" for i in range(60)]
SPACE = GENERATOR.normal(size=(60, 6))
TURNED = vectors([f"t{i}" for i in range(60)], SPACE @ np.linalg.qr(GENERATOR.normal(size=(6, 6)))[0], "fr")
PLAIN = vectors(WORDS, SPACE)
PAIRS = [(f"w{i}", f"t{i}") for i in range(60)]


def test_a_space_and_its_turned_copy_translate_without_a_fault_after_the_rotation_only():
    train, test = of_words(PAIRS[:40], name="train"), of_words(PAIRS[40:], name="test")
    found = word_translation(PLAIN, TURNED, train=train, test=test, baselines=())
    assert precision(found) == {"precision@1": 100.0, "precision@5": 100.0, "precision@10": 100.0}
    assert precision(word_translation(PLAIN, TURNED, train=train, test=test, mapping="identity"))["precision@1"] < 50


def test_unique_source_words_any_translation_and_coverage():
    pairs = [*PAIRS[40:43], ("w40", "t7"), ("unheard", "t1"), ("w44", "unheard")]
    test = Dictionary(tuple((a, b, 1.0) for a, b in pairs), "test")
    found = word_translation(PLAIN, TURNED, train=of_words(PAIRS[:40], name="train"), test=test)
    row = found.records.to_pylist()[0]
    assert row["n"] == 3
    assert row["value"] == 100.0
    assert '"coverage": 60.0' in row["tags"]  # 3 of 5 distinct source words


@pytest.mark.parametrize("method", ["csls", "cosine"])
def test_a_word_with_the_vector_of_a_translation_comes_before_it(method):
    """Of eleven equal words with ten translations among them, the best translation is second."""
    names = [f"{side}{i}" for i in range(5) for side in "abcdefghijk"]
    source, target = vectors(WORDS[:5], SPACE[:5]), vectors(names, np.repeat(SPACE[:5], 11, axis=0), "fr")
    test = of_words([(f"w{i}", f"{side}{i}") for i in range(5) for side in "abcdefghij"], name="test")
    found = word_translation(source, target, train=test, test=test, mapping="identity", method=method)
    assert precision(found) == {"precision@1": 0.0, "precision@5": 100.0, "precision@10": 100.0}


def test_a_dictionary_that_shares_no_pair_is_refused():
    train = of_words(PAIRS[:40], name="train")
    with pytest.raises(RequestError, match=r"none of the 1 word pairs of other has vectors on both sides"):
        word_translation(PLAIN, TURNED, train=train, test=of_words([("x", "y")], name="other"))
    with pytest.raises(RequestError, match=r"same width, but .* has 1 × 6, .* has 1 × 3"):
        word_translation(PLAIN, vectors(["t0"], np.ones((1, 3))), train=train, test=train)


def test_a_dictionary_of_other_languages_or_the_other_direction_is_refused(tmp_path):
    """Two languages with one table have the words of both directions."""
    (tmp_path / "muse").mkdir()
    for pair in ("en-fr", "fr-en", "en-de"):
        (tmp_path / "muse" / f"{pair}.txt").write_text("w1 w2\nw3 w4\n", "utf-8")
    files = {name: load_dictionary(f"muse/{name}", data=tmp_path) for name in ("en-fr", "fr-en", "en-de")}
    french = replace(PLAIN, language="fr-CA")
    for name, own in (("fr-en", "fr to en"), ("en-de", "en to de")):
        with pytest.raises(RequestError, match=f"muse/{name} translates {own}, not en to fr-CA .name a dictionary"):
            word_translation(PLAIN, french, train=files["en-fr"], test=files[name], mapping="identity")
    for test in (files["en-fr"], files["fr-en"].reversed(), of_words([("w1", "w2")], name="own")):
        word_translation(PLAIN, french, train=files["en-fr"], test=test, mapping="identity", baselines=())
    with pytest.raises(RequestError, match="lab/src-adj translates src to adj, not en to fr-CA"):
        word_translation(PLAIN, french, train=load_dictionary("lab/src-adj"), test=files["en-fr"])


def by_measure(results):
    rows = results.filter(metric="precision@1").records.to_pylist()
    return {(row["measure"], row["state"], row["seed"]): row["value"] for row in rows}


def test_the_baselines_are_a_shuffled_dictionary_no_mapping_and_untrained_vectors():
    """Of two spaces that are one up to a rotation, only the rotation learnt from translations finds the words."""
    train, test = of_words(PAIRS[:40], name="train"), of_words(PAIRS[40:], name="test")

    def fresh(side):
        return replace(side, vectors=GENERATOR.normal(size=(1, 60, 6)), columns={"state": "untrained"})

    untrained = [(seed, fresh(PLAIN), fresh(TURNED)) for seed in (3, 4)]
    values = by_measure(
        word_translation(PLAIN, TURNED, train=train, test=test, baseline_seeds=(3, 4), untrained=untrained)
    )
    assert list(values) == [
        ("words procrustes", None, None),
        ("words procrustes_shuffled", None, 3),
        ("words procrustes_shuffled", None, 4),
        ("words identity", None, None),
        ("words procrustes", "untrained", 3),
        ("words procrustes", "untrained", 4),
    ]
    measured, *baselines = values.values()
    assert measured == 100
    assert all(value < 50 for value in baselines)
    assert (
        values["words identity", None, None]
        == by_measure(word_translation(PLAIN, TURNED, train=train, test=test, mapping="identity"))[
            "words identity", None, None
        ]
    )
    alone = by_measure(word_translation(PLAIN, TURNED, train=train, test=test, baselines=(), untrained=untrained))
    assert list(alone) == [("words procrustes", None, None)]


def test_words_are_translated_with_all_source_words_about():
    """MUSE takes the mean over the source's whole vocabulary, of which the test dictionary is a part."""
    generator, size, learnt = np.random.default_rng(0), 400, 300
    rows = generator.normal(size=(size, 10))
    near = rows + 0.9 * generator.normal(size=rows.shape)
    pairs = [(f"s{i}", f"t{i}") for i in range(size)]
    train, test = of_words(pairs[:learnt], name="train"), of_words(pairs[learnt:], name="test")
    source, target = vectors([a for a, _ in pairs], rows), vectors([b for _, b in pairs], near, "fr")
    rotation = fit_rotation(source.vectors[0][:learnt], target.vectors[0][:learnt])
    x, y = rotation(source.vectors[0]), rotation.target(target.vectors[0])
    own = np.arange(learnt, size)
    right = (csls(x[learnt:], y, among=x).argmax(1) == own).mean()
    assert right != (csls(x[learnt:], y).argmax(1) == own).mean()
    found = word_translation(source, target, train=train, test=test, baselines=())
    assert precision(found)["precision@1"] == pytest.approx(100 * right)


def test_a_training_pair_whose_source_word_is_tested_is_left_out_and_counted():
    train, test = of_words(PAIRS[:40], name="train"), of_words(PAIRS[40:], name="test")
    leaking = of_words([*PAIRS[:45], ("w50", "t3")], name="leaking")
    clean, leaked = (word_translation(PLAIN, TURNED, train=of, test=test, baselines=()) for of in (train, leaking))
    assert leaked.records["value"].equals(clean.records["value"])
    assert [(tags["pairs"], tags.get("shared_pairs")) for tags in (clean.tags()[0], leaked.tags()[0])] == [
        (40, None),
        (40, 6),
    ]
    with pytest.raises(RequestError, match="all 20 pairs of test are also in test"):
        word_translation(PLAIN, TURNED, train=test, test=test)
    unmapped = word_translation(PLAIN, TURNED, train=test, test=test, mapping="identity")  # learns from no pair
    assert "shared_pairs" not in unmapped.tags()[0]


def test_progress_counts_the_words_within_a_layer():
    train, test = of_words(PAIRS[:40], name="train"), of_words(PAIRS[40:], name="test")
    updates = []
    word_translation(PLAIN, TURNED, train=train, test=test, baselines=("identity",), progress=updates.append)
    assert [str(update) for update in updates] == [
        "translating words: 0 of 1 layer",
        "translating words: 0 of 1 layer, 60 of 60 words, procrustes",
        "translating words: 0 of 1 layer, 60 of 60 words, identity",
        "translating words: 1 of 1 layer",
    ]
