"""Finding translations among many candidates: nearest neighbours by cosine, or by CSLS."""

from collections.abc import Collection, Sequence
from typing import Literal

import numpy as np
import torch

from crosslens.errors import RequestError

Method = Literal["csls", "cosine"]

NEIGHBOURS = 10
"""Of CSLS (Conneau et al. 2018); fewer where there are fewer candidates."""

BLOCK = 2048
"""Queries that are compared with all candidates at once."""


def ranked(queries: np.ndarray, candidates: np.ndarray, *, method: Method = "csls", best: int = 10) -> np.ndarray:
    """The candidates nearest to each query, the nearest first.

    CSLS (Conneau et al. 2018, equation 5) is twice the cosine minus the mean cosine of the candidate with its nearest
    queries; what it subtracts for the query changes nothing in its own ranking. The mean is over all of ``queries``.

    Args:
        queries: ``(n, width)``.
        candidates: ``(m, width)``.
        method: ``csls`` or ``cosine``.
        best: how many.

    Returns:
        ``(n, min(best, m))`` places in ``candidates``.

    Raises:
        RequestError: when there is nothing to find, or nothing to look for.
    """
    if not len(queries) or not len(candidates):
        raise RequestError(f"{len(queries)} queries and {len(candidates)} candidates: there is nothing to retrieve")
    x, y = (_unit(torch.as_tensor(np.ascontiguousarray(rows), dtype=torch.float32)) for rows in (queries, candidates))
    penalty = torch.zeros(len(y))
    if method == "csls":
        nearest = min(NEIGHBOURS, len(x))
        for first in range(0, len(y), BLOCK):
            cosines = y[first : first + BLOCK] @ x.T
            penalty[first : first + BLOCK] = cosines.topk(nearest, sorted=False).values.mean(1)
    found = [
        (2 * (x[first : first + BLOCK] @ y.T) - penalty).topk(min(best, len(y))).indices
        for first in range(0, len(x), BLOCK)
    ]
    return torch.cat(found).numpy()


def hits(found: np.ndarray, right: Sequence[Collection[int]], *, at: int) -> np.ndarray:
    """``(n,)`` 0 or 1: whether a right candidate is among the first ``at`` found for each query."""
    return np.asarray(
        [bool(set(row[:at].tolist()) & set(its)) for row, its in zip(found, right, strict=True)], np.int64
    )


def _unit(rows: torch.Tensor) -> torch.Tensor:
    return rows / rows.norm(dim=1, keepdim=True).clamp_min(1e-12)
