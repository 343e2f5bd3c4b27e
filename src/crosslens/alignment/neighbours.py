"""Nearest-neighbour retrieval of translations by cosine or CSLS."""

from collections.abc import Callable, Collection, Sequence
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


def ranked(
    queries: np.ndarray,
    candidates: np.ndarray,
    *,
    among: np.ndarray | None = None,
    method: Method = "csls",
    best: int = 10,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> np.ndarray:
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
        ``(n, min(best, m))`` indices of candidates, the most similar first.

    Raises:
        RequestError: without queries or candidates.

    >>> ranked(np.eye(2), np.array([[0.0, 2.0], [3.0, 0.0]]), method="cosine", best=1).tolist()
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
    indices = [(2 * (rows @ y.T) - penalty).topk(min(best, len(y))).indices for rows in _blocks(x, len(y))]
    return torch.cat(indices).numpy()


def hits(ranking: np.ndarray, right: Sequence[Collection[int]], *, at: int) -> np.ndarray:
    """``(n,)`` 0 or 1: whether a correct candidate is among the first ``at`` of each query.

    >>> hits(np.array([[2, 0], [1, 2]]), [{0}, {0}], at=2).tolist()
    [1, 0]
    """
    return np.asarray(
        [bool(set(row[:at].tolist()) & set(correct)) for row, correct in zip(ranking, right, strict=True)], np.int64
    )


def _blocks(rows: torch.Tensor, others: int) -> tuple[torch.Tensor, ...]:
    return rows.split(min(BLOCK, max(1, CELLS // others)))


def _unit(vectors: np.ndarray) -> torch.Tensor:
    rows = torch.as_tensor(np.ascontiguousarray(vectors), dtype=torch.float32)
    return rows / rows.norm(dim=1, keepdim=True).clamp_min(1e-12)
