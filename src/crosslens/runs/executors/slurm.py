"""Execute runs as Slurm jobs with submitit, or as local processes without Slurm."""

from collections.abc import Generator, Mapping, Sequence

from crosslens.errors import RequestError
from crosslens.runs.execute import Context, Outcome, execute, lost
from crosslens.runs.run import Asked
from crosslens.runs.store import Store


class Slurm:
    """Execute runs as one job array; without ``sbatch``, submitit starts them on this machine.

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
        self.options = {name: int(value) if value.isdecimal() else value for name, value in (options or {}).items()}

    def submit(self, runs: Sequence[Asked], context: Context) -> Generator[Outcome, None, None]:
        """Submit runs as one job array, and yield the outcome of each as it ends."""
        import submitit

        executor = submitit.AutoExecutor(folder=Store(context.store).folder / "tmp" / "slurm")
        parallelism = {"slurm_array_parallelism": self.workers} if self.workers else {}
        executor.update_parameters(name="crosslens", cpus_per_task=1, **parallelism, **self.options)
        with executor.batch():
            jobs = [executor.submit(execute, run, context) for run in runs]
        run_of = dict(zip(jobs, runs, strict=True))
        finished = set()
        try:
            for job in submitit.helpers.as_completed(jobs):
                finished.add(job)
                run = run_of[job]
                try:
                    yield job.result()
                except Exception as error:  # a failed job does not stop the others
                    reason = f"its job {job.job_id} ended: {str(error).splitlines()[0] if str(error) else error!r}"
                    yield lost(run.run, context, reason)
        finally:
            for job in jobs:
                if job not in finished:
                    job.cancel(check=False)
