"""Published scores of the papers, one module per paper, for comparison with ours."""

from collections.abc import Mapping

from crosslens.errors import require_known
from crosslens.report.papers.conneau2020 import CONNEAU_2020
from crosslens.report.papers.muller2021 import MULLER_2021
from crosslens.report.papers.paper import Paper, Printed, read_published
from crosslens.report.papers.wu2019 import WU_2019

__all__ = ["PAPERS", "Paper", "Printed", "find_paper", "read_published"]

PAPERS: Mapping[str, Paper] = {paper.name: paper for paper in (MULLER_2021, WU_2019, CONNEAU_2020)}


def find_paper(name: str) -> Paper:
    """Find a paper by its short name.

    Raises:
        RequestError: when there is none of that name.
    """
    require_known(name, PAPERS, "crosslens has no numbers of")
    return PAPERS[name]
