"""Nearest-neighbour retrieval of translations by cosine or CSLS."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch

from crosslens.errors import RequestError

Method = Literal["csls", "cosine"]

NEIGHBOURS = 10
"""Number of neighbours for CSLS (Conneau et al. 2018), or all if there are fewer."""

BLOCK = 2048
"""Maximum number of rows compared at once with all rows of the other side."""

CELLS = 2**26
"""Maximum number of cosines in memory: 256 MiB."""


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """The candidates most similar to each query, the most similar first.

    Attributes:
        candidates: their indices, ``(queries, best)``.
        scores: their similarities, ``(queries, best)``.
    """

    candidates: np.ndarray
    scores: np.ndarray

    def hits(self, right: Sequence[Collection[int]], *, at: int) -> np.ndarray:
        """``(queries,)`` 0 or 1: whether a correct candidate is above all but ``at - 1`` wrong ones.

        Of equally similar candidates, wrong ones come first. So the ranking must hold at least ``at`` candidates more
        than a query has correct ones.

        >>> ranking = Ranking(np.array([[2, 0, 1], [1, 2, 0]]), np.array([[0.9, 0.6, 0.3], [0.8, 0.5, 0.5]]))
        >>> ranking.hits([{0}, {2}], at=2).tolist()
        [1, 0]
        """
        hit = []
        for candidates, scores, correct in zip(self.candidates, self.scores, right, strict=True):
            is_right = np.isin(candidates, list(correct))
            highest = scores[is_right].max(initial=-np.inf)
            hit.append((scores[~is_right] >= highest).sum() < at)
        return np.asarray(hit, np.int64)


def ranked(
    queries: np.ndarray,
    candidates: np.ndarray,
    *,
    among: np.ndarray | None = None,
    method: Method = "csls",
    best: int = 10,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> Ranking:
    """Rank candidates by similarity to each query.

    CSLS (Conneau et al. 2018, equation 5) corrects for hubs: it is twice the cosine minus the mean cosine of the
    candidate with its nearest neighbours on the queries' side. The query's own term is omitted, as it does not affect
    the ranking. As in MUSE, neighbours come from the whole vocabulary, not only from test queries.

    Args:
        queries: ``(n, width)`` vectors.
        candidates: ``(m, width)`` vectors.
        among: ``(k, width)`` vectors in which CSLS finds neighbours of candidates; None: the queries.
        method: ``csls`` or ``cosine``.
        best: number of candidates to return.
        progress: called during CSLS with the number of candidates compared so far, and of all.

    Returns:
        ``min(best, m)`` candidates of each query.

    Raises:
        RequestError: without queries or candidates.

    >>> ranked(np.eye(2), np.array([[0.0, 2.0], [3.0, 0.0]]), method="cosine", best=1).candidates.tolist()
    [[1], [0]]
    """
    if not len(queries) or not len(candidates):
        raise RequestError(f"{len(queries)} queries and {len(candidates)} candidates leave nothing to retrieve")
    x, y = _unit(queries), _unit(candidates)
    penalty = torch.zeros(len(y))
    if method == "csls":
        others = x if among is None else _unit(among)
        nearest = min(NEIGHBOURS, len(others))
        cosines = ((rows @ others.T).topk(nearest, sorted=False).values.mean(1) for rows in _blocks(y, len(others)))
        done = 0
        for means in cosines:
            penalty[done : done + len(means)] = means
            done += len(means)
            progress(done, len(y))
    parts = [(2 * (rows @ y.T) - penalty).topk(min(best, len(y))) for rows in _blocks(x, len(y))]
    scores, candidates = (torch.cat(side).numpy() for side in zip(*parts, strict=True))
    return Ranking(candidates, scores)


def _blocks(rows: torch.Tensor, others: int) -> tuple[torch.Tensor, ...]:
    return rows.split(min(BLOCK, max(1, CELLS // others)))


def _unit(vectors: np.ndarray) -> torch.Tensor:
    rows = torch.as_tensor(np.ascontiguousarray(vectors), dtype=torch.float32)
    return rows / rows.norm(dim=1, keepdim=True).clamp_min(1e-12)
