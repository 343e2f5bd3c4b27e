"""Fixtures: every task."""

import pytest

from crosslens.tasks import TASKS


@pytest.fixture(params=sorted(TASKS))
def task(request):
    return request.param
