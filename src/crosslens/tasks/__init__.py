"""One file a task, and one a head. A new task is one file here and one row in `TASKS`, or a plug-in."""

from collections.abc import Mapping
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

_ALL: tuple[Task, ...] = (PartOfSpeech(), Parsing(), NamedEntities(), Documents(), Inference())
TASKS: Registry[Task] = Registry("task", {task.name: task for task in _ALL}, contracts=(Task, BaseModel))
"""Name -> task with its default settings: the built-in ones, and those of the entry points ``crosslens.tasks``."""


def find_task(name: str, settings: Mapping[str, Any] | None = None) -> Task:
    """The task of this name.

    Args:
        name: one of `TASKS`.
        settings: settings to replace.

    Raises:
        RequestError: when there is none, or it has no such setting, or a setting does not take such a value.
    """
    return choose(name, TASKS, settings or {}, kind="task")


__all__ = ["TASKS", "Task", "find_task"]
