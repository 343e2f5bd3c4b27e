"""Execute runs in worker processes that keep torch and the encoder in memory.

By default there is one worker per GPU, or else one single-threaded worker per CPU core that the process may use.
"""

import os
import signal
import sys
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import connection, current_process, get_context, parent_process

from crosslens.errors import RequestError
from crosslens.heap import collect_rarely
from crosslens.runs.execute import Context, Outcome, execute, lost
from crosslens.runs.run import Asked

PATIENCE = 60.0
"""Seconds that a worker gets to save its training state when asked to stop."""

NESTED = 77
"""Exit status of a worker that would start workers: it runs the user's script, which has no guard against that."""

_stopping = threading.Event()


class Processes:
    """Execute runs in separate processes.

    Every slot is a pool of one process, so that a crash affects only one run.

    Args:
        workers: number of processes; None: one per GPU, or else one per CPU core.
        options: not supported.
    """

    def __init__(self, workers: int | None = None, options: Mapping[str, str] | None = None) -> None:
        if options:
            raise RequestError(f"the executor processes takes no options, but got {', '.join(options)}")
        if getattr(current_process(), "_inheriting", False):  # it is being started, and imports the script
            sys.exit(NESTED)
        script = getattr(sys.modules["__main__"], "__file__", None)
        if script is not None and os.path.basename(script) == "<stdin>":
            raise RequestError(
                "worker processes cannot import a script that is read from standard input",
                hint='save it as a file, or call run_study with executor="serial"',
            )
        self.workers = workers

    def submit(self, runs: Sequence[Asked], context: Context) -> Generator[Outcome, None, None]:
        """Execute runs in order, as slots become free."""
        waiting = list(reversed(runs))
        devices = _devices(context.device, self.workers)
        pools: dict[int, ProcessPoolExecutor] = {}
        running: dict[Future[Outcome], tuple[int, Asked]] = {}

        def start(slot: int) -> None:
            run = waiting.pop()
            on_device = replace(context, device=devices[slot])
            try:
                if slot not in pools:
                    pools[slot] = ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_prepare)
                running[pools[slot].submit(_work, run, on_device)] = (slot, run)
            except BrokenProcessPool:  # the process died between two runs
                pools.pop(slot).shutdown(wait=False)
                waiting.append(run)
                start(slot)

        with _one_thread():
            try:
                for slot in range(min(len(devices), len(runs))):
                    start(slot)
                while running:
                    finished, _ = wait(running, return_when=FIRST_COMPLETED)
                    for future in finished:
                        slot, run = running.pop(future)
                        try:
                            outcome = future.result()
                        except BrokenProcessPool:
                            statuses = _exit_statuses(pools.pop(slot))
                            if NESTED in statuses:
                                raise RequestError(
                                    "each worker process runs this script again, and with it run_study",
                                    hint='call run_study below `if __name__ == "__main__":`, or with executor="serial"',
                                ) from None
                            reason = "its process died: killed, or out of memory"
                            if 1 in statuses:  # of a Python error: runs end with an outcome, so it is the script's
                                reason = "its process ended with an error (printed above) when it imported the script"
                            outcome = lost(run.run, context, reason)
                        if waiting and outcome.state != "stopped":
                            start(slot)
                        yield outcome
            finally:
                _stop(list(pools.values()), list(running))


def _stop(pools: list[ProcessPoolExecutor], running: list[Future[Outcome]]) -> None:
    """Ask workers to stop, and kill them after `PATIENCE` seconds."""
    processes = [process for pool in pools for process in (pool._processes or {}).values()]
    if running:
        for process in processes:
            if process.is_alive() and process.pid:
                os.kill(process.pid, signal.SIGTERM)
        wait(running, timeout=PATIENCE)
    for pool in pools:
        pool.shutdown(wait=not running, cancel_futures=True)
    for process in processes:
        if process.is_alive():
            process.kill()


def _exit_statuses(pool: ProcessPoolExecutor) -> list[int | None]:
    """Wait for the processes of a broken pool, and return how they ended."""
    processes = list((pool._processes or {}).values())
    pool.shutdown()
    return [process.exitcode for process in processes]


def _devices(device: str | None, workers: int | None) -> list[str]:
    """Assign a device to each slot."""
    import torch

    if device in (None, "cuda") and torch.cuda.is_available():
        count = torch.cuda.device_count()
        return [f"cuda:{slot % count}" for slot in range(workers or count)]
    if device not in (None, "cpu"):
        return [device] * (workers or 1)
    # A container or a job on a cluster may use some of the cores only; not every system can tell.
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return [device or "cpu"] * (workers or cores or 1)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Make processes that start within the block use one thread."""
    before = os.environ.get("OMP_NUM_THREADS")
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        yield
    finally:
        os.environ.pop("OMP_NUM_THREADS")
        if before is not None:
            os.environ["OMP_NUM_THREADS"] = before


def _prepare() -> None:
    """Set up a worker: stop on SIGTERM, and exit when the parent process ends for any reason."""
    collect_rarely()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the parent forwards it as SIGTERM
    signal.signal(signal.SIGTERM, lambda *_: _stopping.set())
    parent = parent_process()

    def watch() -> None:
        if parent is not None:
            connection.wait([parent.sentinel])
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _work(run: Asked, context: Context) -> Outcome:
    return execute(run, context, stop=_stopping.is_set)
