"""One file a task. A new task is one file here and one row in `TASKS`."""

from crosslens.errors import RequestError, suggest
from crosslens.tasks.pos import PartOfSpeech
from crosslens.tasks.task import Task, window_targets

TASKS: dict[str, Task] = {task.name: task for task in (PartOfSpeech(),)}


def find_task(name: str) -> Task:
    """The task of this name.

    Raises:
        RequestError: when there is none.
    """
    if name not in TASKS:
        raise RequestError(f"there is no task {name!r}", hint=suggest(name, TASKS))
    return TASKS[name]


__all__ = ["TASKS", "Task", "find_task", "window_targets"]
