"""Runs as jobs of a Slurm cluster, through submitit; without Slurm, as processes of this machine."""

from collections.abc import Generator, Mapping, Sequence

from crosslens.errors import RequestError
from crosslens.runs.execute import Context, Outcome, execute, lost
from crosslens.runs.run import Asked
from crosslens.runs.store import Store


class Slurm:
    """Runs as one array of jobs. Where there is no ``sbatch``, submitit starts them here.

    Args:
        workers: jobs at once; None: as many as the cluster gives.
        options: parameters of submitit: ``timeout_min=240``, ``slurm_partition=gpu``, ``gpus_per_node=1``.

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
        """Submit runs as one array, and yield what became of each as it ends."""
        import submitit

        executor = submitit.AutoExecutor(folder=Store(context.store).folder / "tmp" / "slurm")
        most = {"slurm_array_parallelism": self.workers} if self.workers else {}
        executor.update_parameters(name="crosslens", cpus_per_task=1, **most, **self.options)
        with executor.batch():
            jobs = [executor.submit(execute, run, context) for run in runs]
        labels = dict(zip(jobs, runs, strict=True))
        ended = set()
        try:
            for job in submitit.helpers.as_completed(jobs):
                ended.add(job)
                run = labels[job]
                try:
                    yield job.result()
                except Exception as error:  # whatever ended a job, the others go on
                    reason = f"its job {job.job_id} ended: {str(error).splitlines()[0] if str(error) else error!r}"
                    yield lost(run.run, context, reason)
        finally:
            for job in jobs:
                if job not in ended:
                    job.cancel(check=False)
