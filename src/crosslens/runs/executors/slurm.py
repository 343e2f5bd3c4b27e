"""Execute runs as Slurm jobs with submitit, or as local processes without Slurm."""

import signal
import subprocess
import sys
import time
from collections.abc import Generator, Mapping, Sequence

from crosslens.errors import RequestError, WorkError
from crosslens.runs.execute import Context, Outcome, execute, lost
from crosslens.runs.run import Asked
from crosslens.runs.store import Store

POLL = 2.0
"""Seconds between two looks at the jobs; Slurm's queue is asked every fifth time."""


class Slurm:
    """Execute runs as one job array; without ``srun``, submitit starts them on this machine.

    A job that Slurm preempts, requeues, or ends at its time limit saves its training state and resumes.

    Args:
        workers: maximum number of concurrent jobs; None: limited by the cluster only.
        options: submitit parameters, such as ``timeout_min=240``, ``slurm_partition=gpu`` or ``gpus_per_node=1``.

    Raises:
        RequestError: when submitit is not installed.
    """

    def __init__(self, workers: int | None = None, options: Mapping[str, str] | None = None) -> None:
        try:
            import submitit  # noqa: F401
        except ImportError:
            raise RequestError("the executor slurm needs submitit", hint="pip install 'crosslens[slurm]'") from None
        self.workers = workers
        self.options = {name: _value(value) for name, value in (options or {}).items()}

    def submit(self, runs: Sequence[Asked], context: Context) -> Generator[Outcome, None, None]:
        """Submit runs as one job array, and yield the outcome of each as it ends."""
        import submitit
        from submitit.core.utils import FailedJobError

        executor = submitit.AutoExecutor(folder=Store(context.store).folder / "tmp" / "slurm")
        parallelism = {"slurm_array_parallelism": self.workers} if self.workers else {}
        parameters = {"name": "crosslens", "cpus_per_task": 1, **parallelism, **self.options}
        try:
            executor.update_parameters(**parameters)
        except (AssertionError, NameError, TypeError, ValueError) as error:
            # The lines after the first list all parameters.
            raise RequestError(f"slurm options: {str(error).splitlines()[0]}") from None
        try:
            with executor.batch():
                jobs = [executor.submit(_Job(), run, context) for run in runs]
        except FailedJobError as error:
            reason = (str(error).splitlines() or ["no reason given"])[-1]
            raise WorkError(
                f"sbatch refused the jobs: {reason}", hint="`sinfo` shows partitions; `--with` sets options"
            ) from None
        run_of = dict(zip(jobs, runs, strict=True))
        absent = dict.fromkeys(jobs, 0)  # how often in a row an unfinished job was not in the queue
        look = 0
        try:
            while run_of:
                look += 1
                queue = _queue() if executor.cluster == "slurm" and look % 5 == 0 else None
                for job, run in list(run_of.items()):
                    if job.done():
                        del run_of[job]
                        try:
                            yield job.result()
                        except Exception as error:  # a failed job does not stop the others
                            lines = str(error).splitlines()
                            yield lost(
                                run.run, context, f"its job {job.job_id} ended: {lines[0] if lines else error!r}"
                            )
                    elif queue is not None:
                        absent[job] = 0 if job.job_id in queue else absent[job] + 1
                        if absent[job] == 3:  # not at the first time: shared file systems show results late
                            del run_of[job]
                            reason = f"its job {job.job_id} left the queue without a result; see {job.paths.stderr}"
                            yield lost(run.run, context, reason)
                if run_of:
                    time.sleep(POLL)
        finally:
            for job in run_of:
                job.cancel(check=False)


class _Job:
    """A run as a job that can be interrupted.

    Slurm signals a job before its time is over, and when it preempts, requeues or cancels it. Training then saves its
    state, and the job ends without an outcome. Requeued, it resumes.
    """

    def __call__(self, run: Asked, context: Context) -> Outcome:
        import submitit

        time_is_over = signal.Signals[f"SIG{submitit.JobEnvironment.USR_SIG}"]
        requeue = signal.getsignal(time_is_over)
        received: list[int] = []
        for number in (time_is_over, signal.SIGTERM):
            signal.signal(number, lambda number, frame: received.append(number))
        outcome = execute(run, context, stop=lambda: bool(received))
        if outcome.state == "stopped" and received:
            if time_is_over in received and callable(requeue):
                requeue(time_is_over, None)
            sys.exit(1)
        return outcome

    def checkpoint(self, run: Asked, context: Context) -> object:
        """Return what submitit queues again when the time of the job is over."""
        import submitit

        return submitit.helpers.DelayedSubmission(self, run, context)


def _value(text: str) -> str | bool | int | float:
    """Convert the text of an option to the type that submitit expects."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return int(text) if text.isdecimal() else float(text) if text.replace(".", "", 1).isdecimal() else text


def _queue() -> set[str] | None:
    """The ids of this user's jobs in Slurm's queue; None where it cannot be asked.

    submitit asks ``sacct``, which many clusters do not have, and waits for ever for a job that died without it.
    """
    try:
        listed = subprocess.run(
            ["squeue", "--me", "--noheader", "--array", "--format=%i"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return set(listed.stdout.split())
