"""Checkpoints of pretraining: ``FOLDER@STEP`` of an encoder pretrained here, ``NAME@REVISION`` on the hub."""

import re
from pathlib import Path
from typing import ClassVar

from pydantic import field_validator

from crosslens.encoders.interventions.intervention import Intervention, Name
from crosslens.errors import EncoderError, suggest

CHECKPOINTS = "checkpoints"
"""Subfolder of an encoder's folder with one folder for each step that `crosslens.mlm.pretrain` kept."""


class Checkpoint(Intervention):
    """Start from the weights after some steps of pretraining, not from the last ones.

    A condition with a checkpoint is compared with the reference of the same checkpoint.

    Attributes:
        name: step that `pretrain` kept (``500``), or revision on the hub whose name holds the step (``step1000``).
    """

    kind = "checkpoint"
    stage = "pretraining"
    keys: ClassVar = {"checkpoint": "name"}
    follows = True
    of_reference = True
    once = "checkpoint"

    name: Name

    @field_validator("name")
    @classmethod
    def _has_step(cls, value: str) -> str:
        if not re.search(r"\d", value):
            raise ValueError(f"{value!r} does not name a step of pretraining, such as 500 or step1000")
        return value

    @property
    def step(self) -> int:
        """Steps of pretraining: the number behind ``step``, or else the first number of the name.

        >>> Checkpoint(name="stage1-step1000-tokens4B").step
        1000
        """
        (number, *_) = re.findall(r"step-?_?(\d+)", self.name) or re.findall(r"\d+", self.name)
        return int(number)

    @property
    def label(self) -> str:
        """Name in tables.

        >>> [Checkpoint(name=name).label for name in ("500", "step1000")]
        ['step 500', 'step1000']
        """
        return self.name if "step" in self.name else f"step {self.name}"


def locate(name: str, revision: str | None = None) -> tuple[str, str | None]:
    """Find the folder or hub name, and the revision, of a name that may hold a checkpoint.

    >>> locate("EleutherAI/pythia-70m@step1000")
    ('EleutherAI/pythia-70m', 'step1000')

    Args:
        name: folder or hub name, with ``@STEP`` or ``@REVISION`` for a checkpoint.
        revision: revision given besides.

    Raises:
        EncoderError: when the folder has no such checkpoint, or two revisions are given.
    """
    base, at, checkpoint = name.rpartition("@")
    if not at or Path(name).exists():
        return name, revision
    if Path(base).is_dir():
        folder = Path(base) / CHECKPOINTS / checkpoint
        if not folder.is_dir():
            steps = kept_steps(base)
            hint = suggest(checkpoint, steps) if steps else "pretrain it with --set checkpoints=STEPS"
            raise EncoderError(f"{base} has no checkpoint {checkpoint}", hint=hint)
        return str(folder), revision
    if revision not in (None, checkpoint):
        raise EncoderError(f"{name}: two revisions, {checkpoint} and {revision}", hint="give one of them")
    return base, checkpoint


def kept_steps(folder: str | Path) -> tuple[str, ...]:
    """Return the steps whose weights are kept in an encoder's folder, ascending; none for a hub name."""
    steps = (entry.name for entry in (Path(folder) / CHECKPOINTS).glob("*/"))
    return tuple(sorted((step for step in steps if step.isdecimal()), key=int))
