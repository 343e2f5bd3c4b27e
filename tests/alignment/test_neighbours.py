import numpy as np
import pytest

from crosslens.alignment.neighbours import Ranking, ranked
from crosslens.errors import RequestError
from toy_vectors import csls

GENERATOR = np.random.default_rng(0)


@pytest.mark.parametrize("sizes", [(30, 50), (50, 30), (4, 5), (5, 2), (2500, 40), (40, 2500)])
@pytest.mark.parametrize("method", ["csls", "cosine"])
def test_the_ranking_is_that_of_brute_force(sizes, method):
    x, y = (GENERATOR.normal(size=(size, 6)) for size in sizes)
    unit = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (x, y)]
    scores = csls(x, y, k=min(10, len(x))) if method == "csls" else unit[0] @ unit[1].T
    found = ranked(x, y, method=method, best=3).candidates
    assert found.shape == (sizes[0], min(3, sizes[1]))
    for row, best in zip(scores, found, strict=True):
        assert np.allclose(row[best], np.sort(row)[::-1][:3], atol=1e-5)


@pytest.mark.parametrize("cells", [2**26, 300])
def test_hubs_are_known_by_all_of_the_source_side(monkeypatch, cells):
    monkeypatch.setattr("crosslens.alignment.neighbours.CELLS", cells)
    everything, candidates = (GENERATOR.normal(size=(size, 6)) for size in (120, 90))
    queries = everything[:15]
    scores = csls(queries, candidates, among=everything)
    ranking = ranked(queries, candidates, among=everything).candidates
    assert np.array_equal(ranking, np.argsort(-scores, 1)[:, :10])
    assert not np.array_equal(ranking, ranked(queries, candidates).candidates)


def test_hits_count_any_right_answer_within_reach():
    found = Ranking(np.asarray([[3, 1, 2], [0, 1, 2]]), np.asarray([[0.9, 0.8, 0.7]] * 2))
    assert found.hits([{2, 9}, {5}], at=1).tolist() == [0, 0]
    assert found.hits([{2, 9}, {5}], at=3).tolist() == [1, 0]
    assert [found.hits([{1}, {2}], at=at).tolist() for at in (1, 2, 3)] == [[0, 0], [1, 0], [1, 1]]  # ranks 2 and 3


@pytest.mark.parametrize("method", ["csls", "cosine"])
@pytest.mark.parametrize("at", [1, 2, 5])
def test_wrong_candidates_come_first_in_a_tie(method, at):
    """By counting in all scores; of forty candidates most are equal to several others."""
    y = np.random.default_rng(1).integers(0, 2, size=(40, 4)) + 1.0
    x = y[:25] + 1e-3
    right = [{number, (3 * number) % 40} for number in range(len(x))]
    ranking = ranked(x, y, method=method, best=at + 2)
    whole = ranked(x, y, method=method, best=len(y))
    for row, (candidates, scores) in enumerate(zip(whole.candidates, whole.scores, strict=True)):
        of = dict(zip(candidates.tolist(), scores.tolist(), strict=True))
        above = sum(of[wrong] >= max(of[number] for number in right[row]) for wrong in set(of) - right[row])
        assert ranking.hits(right, at=at)[row] == (above < at)
    assert 0 < ranking.hits(right, at=at).sum() < len(x)


def test_of_a_collapsed_space_nothing_is_retrieved():
    same = np.ones((6, 3))
    assert not ranked(same, same, method="cosine", best=2).hits([{number} for number in range(6)], at=1).any()


def test_nothing_to_find_is_refused():
    with pytest.raises(RequestError, match="0 queries and 3 candidates"):
        ranked(np.empty((0, 2)), np.ones((3, 2)))


def test_progress_counts_the_candidates_compared(monkeypatch):
    monkeypatch.setattr("crosslens.alignment.neighbours.BLOCK", 40)
    vectors = GENERATOR.normal(size=(90, 6))
    counts = []
    ranking = ranked(vectors[:5], vectors, among=vectors, progress=lambda *count: counts.append(count))
    assert counts == [(40, 90), (80, 90), (90, 90)]
    assert np.array_equal(ranking.candidates, ranked(vectors[:5], vectors, among=vectors).candidates)
