"""Tasks and their heads, one per file. To add a task, add a file here and a row in `TASKS`, or write a plug-in."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel

from crosslens.plugins import Registry
from crosslens.settings import choose
from crosslens.tasks.documents import Documents
from crosslens.tasks.ner import NamedEntities
from crosslens.tasks.nli import Inference
from crosslens.tasks.parsing import Parsing
from crosslens.tasks.pos import PartOfSpeech
from crosslens.tasks.task import Task

# A constant of a class does for a property of the protocol, which pyright denies.
_ALL: tuple[Task, ...] = (PartOfSpeech(), Parsing(), NamedEntities(), Documents(), Inference())  # pyright: ignore[reportAssignmentType]
TASKS: Registry[Task] = Registry("task", {task.name: task for task in _ALL}, contracts=(Task, BaseModel))
"""Name -> task with default settings: built-in tasks and those of the entry point group ``crosslens.tasks``."""


def find_task(name: str, settings: Mapping[str, Any] | None = None) -> Task:
    """Find a task by name.

    >>> find_task("parsing", {"decode": "greedy"}).settings["decode"]
    'greedy'

    Args:
        name: one of `TASKS`.
        settings: settings to change.

    Raises:
        RequestError: if there is no such task or setting, or a value is invalid.
    """
    return choose(name, TASKS, settings or {}, kind="task")


@cache
def main_metric(task: str | None) -> str | None:
    """The metric shown in the tables of a task; None if it is not a task."""
    return find_task(task).metric if task is not None and task in TASKS else None


__all__ = ["TASKS", "Task", "find_task", "main_metric"]
