"""Finding translations among many candidates: nearest neighbours by cosine, or by CSLS."""

from collections.abc import Collection, Sequence
from typing import Literal

import numpy as np
import torch

from crosslens.errors import RequestError

Method = Literal["csls", "cosine"]

NEIGHBOURS = 10
"""Neighbours of CSLS (Conneau et al. 2018); fewer where there are fewer candidates."""

BLOCK = 2048
"""Rows that are compared with all rows of the other side at once; fewer where that is more than `CELLS` cosines."""

CELLS = 2**26
"""Cosines that are kept at once: 256 MiB."""


def ranked(
    queries: np.ndarray,
    candidates: np.ndarray,
    *,
    among: np.ndarray | None = None,
    method: Method = "csls",
    best: int = 10,
) -> np.ndarray:
    """The candidates nearest to each query, the nearest first.

    CSLS (Conneau et al. 2018, equation 5) is twice the cosine minus the mean cosine of the candidate with its nearest
    neighbours of the other side, which hubs have high; what it subtracts for the query changes nothing in its own
    ranking. As in MUSE those neighbours come from the whole other side, and not from the queries of a test alone.

    Args:
        queries: ``(n, width)``.
        candidates: ``(m, width)``.
        among: ``(k, width)``: all of the queries' side, such as its whole vocabulary, for CSLS; None: the queries are.
        method: ``csls`` or ``cosine``.
        best: how many.

    Returns:
        ``(n, min(best, m))`` places in ``candidates``.

    Raises:
        RequestError: when there is nothing to find, or nothing to look for.
    """
    if not len(queries) or not len(candidates):
        raise RequestError(f"{len(queries)} queries and {len(candidates)} candidates leave nothing to retrieve")
    x, y = _unit(queries), _unit(candidates)
    penalty = torch.zeros(len(y))
    if method == "csls":
        others = x if among is None else _unit(among)
        nearest = min(NEIGHBOURS, len(others))
        cosines = ((rows @ others.T).topk(nearest, sorted=False).values.mean(1) for rows in _blocks(y, len(others)))
        penalty = torch.cat(list(cosines))
    indices = [(2 * (rows @ y.T) - penalty).topk(min(best, len(y))).indices for rows in _blocks(x, len(y))]
    return torch.cat(indices).numpy()


def hits(ranking: np.ndarray, right: Sequence[Collection[int]], *, at: int) -> np.ndarray:
    """``(n,)`` 0 or 1: whether a right candidate is among the first ``at`` found for each query."""
    return np.asarray(
        [bool(set(row[:at].tolist()) & set(correct)) for row, correct in zip(ranking, right, strict=True)], np.int64
    )


def _blocks(rows: torch.Tensor, others: int) -> tuple[torch.Tensor, ...]:
    return rows.split(min(BLOCK, max(1, CELLS // others)))


def _unit(given: np.ndarray) -> torch.Tensor:
    rows = torch.as_tensor(np.ascontiguousarray(given), dtype=torch.float32)
    return rows / rows.norm(dim=1, keepdim=True).clamp_min(1e-12)
