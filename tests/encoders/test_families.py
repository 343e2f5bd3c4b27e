"""The families of architectures that the tests cover."""

from crosslens.encoders.families import FAMILIES
from toy_architectures import SETTINGS


def test_every_family_is_tested():
    assert set(SETTINGS) | {"routed-bert"} == set(FAMILIES)  # that one has a file of its own
