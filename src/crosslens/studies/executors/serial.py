"""One run after another, in this process: for debuggers, and for whoever wants to see where it fails."""

from collections.abc import Iterator, Sequence

from crosslens.studies.execute import Outcome, Surroundings, execute
from crosslens.studies.run import Run


class Serial:
    """Runs one after another.

    Args:
        workers: not used; there is one.
    """

    def __init__(self, workers: int | None = None) -> None:
        self.workers = 1

    def submit(self, runs: Sequence[Run], around: Surroundings) -> Iterator[Outcome]:
        """Do runs in their order."""
        for run in runs:
            yield execute(run, around)
