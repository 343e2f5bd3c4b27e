"""Execute runs one after another in this process, for debugging."""

from collections.abc import Generator, Mapping, Sequence

from crosslens.errors import RequestError
from crosslens.runs.execute import Context, Outcome, execute
from crosslens.runs.run import Asked


class Serial:
    """Execute runs one after another.

    Args:
        workers: ignored; there is always one.
        options: not supported.
    """

    def __init__(self, workers: int | None = None, options: Mapping[str, str] | None = None) -> None:
        if options:
            raise RequestError(f"the executor serial takes no options, but got {', '.join(options)}")

    def submit(self, runs: Sequence[Asked], context: Context) -> Generator[Outcome, None, None]:
        """Execute runs in order."""
        for run in runs:
            outcome = execute(run, context)
            yield outcome
            if outcome.state == "stopped":  # the interrupt was meant for this process
                raise KeyboardInterrupt
