"""Worker processes that keep torch and the encoder in memory: one thread each on a CPU, one run each on a GPU."""

import os
import signal
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import connection, get_context, parent_process

from crosslens.errors import RequestError
from crosslens.runs.execute import Context, Outcome, execute, lost
from crosslens.runs.run import Asked

PATIENCE = 60.0
"""Seconds that a worker has for saving its training's state when it is asked to stop."""

_stopping = threading.Event()


class Processes:
    """Runs in processes of their own.

    Every slot is a pool of one process, so that a process that dies takes nothing but its own run along.

    Args:
        workers: processes at once; None: one a GPU, or one a core.
        options: there are none.
    """

    def __init__(self, workers: int | None = None, options: Mapping[str, str] | None = None) -> None:
        if options:
            raise RequestError(f"the executor processes takes no options, but got {', '.join(options)}")
        self.workers = workers

    def submit(self, runs: Sequence[Asked], context: Context) -> Generator[Outcome, None, None]:
        """Do runs in their order, as slots become free."""
        waiting = list(reversed(runs))
        devices = _devices(context.device, self.workers)
        slots: dict[int, ProcessPoolExecutor] = {}
        going: dict[Future[Outcome], tuple[int, Asked]] = {}

        def start(slot: int) -> None:
            run = waiting.pop()
            on_device = replace(context, device=devices[slot])
            try:
                if slot not in slots:
                    slots[slot] = ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_prepare)
                going[slots[slot].submit(_work, run, on_device)] = (slot, run)
            except BrokenProcessPool:  # it died between two runs
                slots.pop(slot).shutdown(wait=False)
                waiting.append(run)
                start(slot)

        with _one_thread():
            try:
                for slot in range(min(len(devices), len(runs))):
                    start(slot)
                while going:
                    finished, _ = wait(going, return_when=FIRST_COMPLETED)
                    for future in finished:
                        slot, run = going.pop(future)
                        try:
                            outcome = future.result()
                        except BrokenProcessPool:
                            slots.pop(slot).shutdown(wait=False)
                            outcome = lost(run.run, context, "its process died: killed, or out of memory")
                        if waiting and outcome.state != "stopped":
                            start(slot)
                        yield outcome
            finally:
                _stop(list(slots.values()), list(going))


def _stop(pools: list[ProcessPoolExecutor], going: list[Future]) -> None:
    """Ask workers to stop, wait a while, then make them."""
    processes = [process for pool in pools for process in (pool._processes or {}).values()]
    if going:
        for process in processes:
            if process.is_alive() and process.pid:
                os.kill(process.pid, signal.SIGTERM)
        wait(going, timeout=PATIENCE)
    for pool in pools:
        pool.shutdown(wait=not going, cancel_futures=True)
    for process in processes:
        if process.is_alive():
            process.kill()


def _devices(device: str | None, workers: int | None) -> list[str]:
    """The device of each slot."""
    import torch

    if device in (None, "cuda") and torch.cuda.is_available():
        count = torch.cuda.device_count()
        return [f"cuda:{slot % count}" for slot in range(workers or count)]
    return [device or "cpu"] * (workers or os.cpu_count() or 1)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Processes that start meanwhile compute with one thread: they read the setting when they start."""
    before = os.environ.get("OMP_NUM_THREADS")
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        yield
    finally:
        os.environ.pop("OMP_NUM_THREADS")
        if before is not None:
            os.environ["OMP_NUM_THREADS"] = before


def _prepare() -> None:
    """In a worker: listen for the request to stop, and end when the parent does, however it does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all; the parent passes it on
    signal.signal(signal.SIGTERM, lambda *_: _stopping.set())
    parent = parent_process()

    def watch() -> None:
        if parent is not None:
            connection.wait([parent.sentinel])
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _work(run: Asked, context: Context) -> Outcome:
    return execute(run, context, stop=_stopping.is_set)
