"""Fixtures: every task."""

import pytest

from crosslens.tasks import TASKS
from crosslens.training.finetune import finetune
from toy_trainings import FAST


@pytest.fixture(params=sorted(TASKS))
def task(request):
    return request.param


@pytest.fixture(scope="module")
def tagger(encoder, toy):
    return finetune(encoder, "pos", train=toy(), recipe=FAST, seed=1)
