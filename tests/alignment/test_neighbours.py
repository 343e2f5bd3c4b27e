from dataclasses import replace

import numpy as np
import pytest

from crosslens.alignment.baselines import BASELINES, choose_baselines
from crosslens.alignment.measure import word_translation
from crosslens.alignment.neighbours import hits, ranked
from crosslens.alignment.rotation import fit_rotation
from crosslens.alignment.vectors import WordVectors
from crosslens.data.dictionary import Dictionary, of_words
from crosslens.errors import RequestError

GENERATOR = np.random.default_rng(0)


def csls(x, y, k=10, *, among=None):
    """MUSE's definition, pair by pair; ``among`` are all words of the source."""
    x, y, among = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (x, y, x if among is None else among))
    cosines = x @ y.T
    near_x = np.sort(cosines, 1)[:, -k:].mean(1)
    near_y = np.sort(among @ y.T, 0)[-k:].mean(0)
    return 2 * cosines - near_x[:, None] - near_y[None]


@pytest.mark.parametrize("sizes", [(30, 50), (50, 30), (4, 5), (2500, 40), (40, 2500)])
@pytest.mark.parametrize("method", ["csls", "cosine"])
def test_the_ranking_is_that_of_brute_force(sizes, method):
    x, y = (GENERATOR.normal(size=(size, 6)) for size in sizes)
    unit = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (x, y)]
    scores = csls(x, y, k=min(10, len(x))) if method == "csls" else unit[0] @ unit[1].T
    found = ranked(x, y, method=method, best=3)
    for row, its in zip(scores, found, strict=True):
        assert np.allclose(row[its], np.sort(row)[::-1][:3], atol=1e-5)


@pytest.mark.parametrize("cells", [2**26, 300])
def test_hubs_are_known_by_all_of_the_source_side(monkeypatch, cells):
    monkeypatch.setattr("crosslens.alignment.neighbours.CELLS", cells)
    everything, candidates = (GENERATOR.normal(size=(size, 6)) for size in (120, 90))
    queries = everything[:15]
    scores = csls(queries, candidates, among=everything)
    assert np.array_equal(ranked(queries, candidates, among=everything), np.argsort(-scores, 1)[:, :10])
    assert not np.array_equal(ranked(queries, candidates), ranked(queries, candidates, among=everything))


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


def test_hits_count_any_right_answer_within_reach():
    found = np.asarray([[3, 1, 2], [0, 1, 2]])
    assert hits(found, [{2, 9}, {5}], at=1).tolist() == [0, 0]
    assert hits(found, [{2, 9}, {5}], at=3).tolist() == [1, 0]
    assert [hits(found, [{1}, {2}], at=at).tolist() for at in (1, 2, 3)] == [[0, 0], [1, 0], [1, 1]]  # ranks 2 and 3


def test_nothing_to_find_is_refused():
    with pytest.raises(RequestError, match="0 queries and 3 candidates"):
        ranked(np.empty((0, 2)), np.ones((3, 2)))


def vectors(words, rows, language="en"):
    rows = np.asarray(rows, np.float32)
    return WordVectors(tuple(words), rows[None], (0,), "made", language, np.ones(len(words)))


WORDS = [f"w{i}" for i in range(60)]
SPACE = GENERATOR.normal(size=(60, 6))
TURNED = vectors([f"t{i}" for i in range(60)], SPACE @ np.linalg.qr(GENERATOR.normal(size=(6, 6)))[0], "fr")
PLAIN = vectors(WORDS, SPACE)
PAIRS = [(f"w{i}", f"t{i}") for i in range(60)]


def precision(results):
    return {row["metric"]: row["value"] for row in results.records.to_pylist()}


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


def test_a_dictionary_that_shares_no_pair_is_refused():
    train = of_words(PAIRS[:40], name="train")
    with pytest.raises(RequestError, match=r"none of the 1 word pairs of other has vectors on both sides"):
        word_translation(PLAIN, TURNED, train=train, test=of_words([("x", "y")], name="other"))
    with pytest.raises(RequestError, match="layer is aligned with layer of one width"):
        word_translation(PLAIN, vectors(["t0"], np.ones((1, 3))), train=train, test=train)


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


def test_without_a_mapping_nothing_is_shuffled_and_unknown_baselines_are_refused():
    assert choose_baselines(BASELINES, mapping="identity") == ("untrained",)
    assert choose_baselines(("identity", "untrained"), mapping="procrustes") == ("untrained", "identity")
    with pytest.raises(RequestError, match="there is no baseline 'shuffle'") as refused:
        choose_baselines(("shuffle",), mapping="procrustes")
    assert "'shuffled'" in str(refused.value.hint)
