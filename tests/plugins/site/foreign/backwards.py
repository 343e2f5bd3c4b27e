"""An executor: one run after another in this process, the last one first."""

from collections.abc import Generator, Mapping, Sequence

from crosslens.errors import RequestError
from crosslens.runs.execute import Context, Outcome, execute
from crosslens.runs.run import Asked


class Backwards:
    """Runs in the opposite order."""

    def __init__(self, workers: int | None = None, options: Mapping[str, str] | None = None) -> None:
        if options:
            raise RequestError(f"the executor backwards has no options, and {', '.join(options)} was given")

    def submit(self, runs: Sequence[Asked], context: Context) -> Generator[Outcome, None, None]:
        for run in reversed(runs):
            yield execute(run, context)
