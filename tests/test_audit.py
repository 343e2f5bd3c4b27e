"""The check of pinned versions for known holes, with and without pip-audit's data."""

import json
import sys
from pathlib import Path

import pytest

from audit import ADVISORIES, audit, listed_holes, pinned

ROOT = Path(__file__).parent.parent
UNREACHABLE = (sys.executable, "-c", "import sys; print('no network', file=sys.stderr); sys.exit(1)")


def answering(**holes):
    """A pip-audit that looked up these packages alone."""
    packages = [{"name": name, "version": "1", "vulns": [{"id": id} for id in ids]} for name, ids in holes.items()]
    packages.append({"name": "unknown", "skip_reason": "not found"})
    return (sys.executable, "-c", f"print('''{json.dumps({'dependencies': packages})}''')")


@pytest.mark.parametrize("file", ["constraints.txt", "constraints-lowest.txt"])
def test_no_pinned_version_has_a_listed_hole(file):
    pins = pinned(ROOT / file)
    assert {"torch", "transformers", "numpy", "pyarrow"} <= set(pins)
    assert listed_holes(pins) == []


def test_a_version_with_a_listed_hole_is_named():
    assert listed_holes({"torch": "2.5.1", "numpy": "2.0"}) == ["torch 2.5.1: CVE-2025-32434"]
    assert listed_holes({"torch": "2.6.0"}) == []


def test_the_list_is_of_pinned_packages():
    rows = [line.split() for line in ADVISORIES.read_text("utf-8").splitlines() if not line.startswith("#")]
    assert len(rows) > 40
    assert all(len(row) == 3 for row in rows)
    assert {package for _, package, _ in rows} <= set(pinned(ROOT / "constraints.txt"))


@pytest.mark.parametrize(
    ("command", "strict", "status", "words"),
    [
        (
            UNREACHABLE,
            False,
            1,
            "0 of 2 versions looked up by pip-audit\n2 versions compared with advisories.txt alone",
        ),
        (UNREACHABLE, False, 1, "torch 2.5.1: CVE-2025-32434"),
        (answering(torch=[]), False, 0, "1 of 2 versions looked up"),
        (answering(torch=[]), True, 1, "no known holes"),
        (answering(torch=[], numpy=[]), True, 0, "2 of 2 versions looked up by pip-audit\nno known holes"),
        (answering(torch=["PYSEC-1"], numpy=[]), False, 1, "torch 2.5.1: PYSEC-1"),
    ],
)
def test_pip_audit_counts_where_it_has_data(tmp_path, capsys, command, strict, status, words):
    (tmp_path / "pins.txt").write_text("# a comment\ntorch==2.5.1\nnumpy==2.0\n")
    assert audit(tmp_path / "pins.txt", strict=strict, command=command) == status
    assert words in capsys.readouterr().out
