"""One run after another, in this process: for debuggers, and for whoever wants to see where it fails."""

from collections.abc import Generator, Mapping, Sequence

from crosslens.errors import RequestError
from crosslens.runs.execute import Context, Outcome, execute
from crosslens.runs.run import Asked


class Serial:
    """Runs one after another.

    Args:
        workers: not used; there is one.
        options: there are none.
    """

    def __init__(self, workers: int | None = None, options: Mapping[str, str] | None = None) -> None:
        if options:
            raise RequestError(f"the executor serial takes no options, but got {', '.join(options)}")
        self.workers = 1

    def submit(self, runs: Sequence[Asked], context: Context) -> Generator[Outcome, None, None]:
        """Do runs in their order."""
        for run in runs:
            outcome = execute(run, context)
            yield outcome
            if outcome.state == "stopped":  # it was this process that was asked to
                raise KeyboardInterrupt
