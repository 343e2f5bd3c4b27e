"""The lowest versions that pyproject.toml admits are those that `make lowest` runs the tests with."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
REQUIREMENTS = [*PROJECT["dependencies"], *EXTRAS["e5"], *EXTRAS["dev"]]
LOWEST = (ROOT / "constraints-lowest.txt").read_text(encoding="utf-8")


def normal(name):
    """The name of a package as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


PINS = {normal(name): version for name, version in re.findall(r"^([\w.-]+)==(\S+)$", LOWEST, re.M)}


@pytest.mark.parametrize("requirement", REQUIREMENTS)
def test_every_floor_is_tested(requirement):
    name, floor = re.fullmatch(r"([\w.-]+)[>=]=([\d.]+)(?:,.*)?", requirement).groups()
    tested = PINS[normal(name)]
    assert f"{tested}.".startswith(f"{floor}."), f"{name}: the tests run with {tested}, pyproject.toml admits {floor}"
