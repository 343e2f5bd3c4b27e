import subprocess
import sys

import pytest

import crosslens


def test_every_public_name_is_there_and_sorted():
    names = [name for name in crosslens.__all__ if name != "__version__"]
    assert names == sorted(names)
    for name in crosslens.__all__:
        assert getattr(crosslens, name) is not None
    assert set(crosslens.__all__) <= set(dir(crosslens))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = crosslens.nothing


def test_importing_costs_nothing():
    code = "import sys, crosslens; print({'torch', 'numpy'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "set()"
