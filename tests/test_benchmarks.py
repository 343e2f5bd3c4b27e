"""The benchmarks that need nothing from outside run, and their table says what it should."""

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SAMPLE = ROOT / "src/crosslens/demo/sample/ud"


def run(name, *words):
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / name, *map(str, words)], capture_output=True, text=True, timeout=300
    )
    return done.returncode, done.stdout, done.stderr


def test_what_they_import_of_the_package_exists():
    """Also of those that need other programs, and are seldom run."""
    files = sorted((ROOT / "benchmarks").glob("*.py"))
    imports = [
        (file.name, node.module, alias.name)
        for file in files
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("crosslens")
        for alias in node.names
    ]
    assert len({name for name, _, _ in imports}) > 10
    missing = [each for each in imports if not hasattr(importlib.import_module(each[1]), each[2])]
    assert not [each for each in missing if importlib.util.find_spec(f"{each[1]}.{each[2]}") is None]


def cells(row):
    return [cell.strip() for cell in row.strip("|").split("|")]


@pytest.fixture
def ratios(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import ratios  # pyright: ignore[reportMissingImports]

    return ratios


def test_a_row_has_medians_their_ratio_and_its_range(ratios, capsys):
    turns = {"beside": [5.0, 5.0, 10.0], "peer": "other", "goal": ">= 5", "share": 0.567}
    ratios.row("reading", "per second", [30.0, 10.0, 20.0], **turns)
    assert cells(capsys.readouterr().out.strip()) == [
        "reading",
        "per second",
        "20",
        "other: 5",
        "**4.00** (2.00 to 6.00)",
        ">= 5",
        "**no**",
        "57 %",
    ]


def test_a_goal_may_be_of_the_figure_itself(ratios, capsys):
    ratios.row("starting", "seconds", [0.2], beside=[0.01], peer="python", goal="< 0.3", of="figure")
    ratios.row("starting", "seconds", [0.3], goal="< 0.3", of="figure")
    first, second = capsys.readouterr().out.splitlines()
    assert cells(first)[-2:] == ["yes", ""]
    assert cells(second)[-2] == "**no**"


def test_every_row_has_the_columns_of_the_head(ratios, capsys):
    ratios.row("work", "unit", [1.0])
    assert len(cells(capsys.readouterr().out.strip())) == len(cells(ratios.HEAD.splitlines()[0]))


def test_reading_is_measured_against_the_library():
    code, out, err = run("reading.py", SAMPLE / "UD_French-PUD/fr_pud-ud-test.conllu")
    assert code == 0, err
    row = cells(out.splitlines()[0])
    assert row[0] == "reading CoNLL-U, 100 sentences"
    assert row[3].startswith("conllu: ")


def test_trees_are_decoded_as_well_as_by_another_decoder():
    pytest.importorskip("ufal.chu_liu_edmonds", reason="it is measured against ufal.chu_liu_edmonds")
    treebank = SAMPLE / "UD_French-PUD/fr_pud-ud-test.conllu"
    code, out, err = run("decoding.py", treebank, "--sentences", 50, "--epochs", 1)
    assert code == 0, err
    assert cells(out.splitlines()[0])[3].startswith("ufal: ")
    assert float(out.rsplit("by ", 1)[1].split()[0]) < 1e-9


@pytest.mark.slow
def test_what_measures_a_gpu_runs_without_one():
    batch = "8"
    code, out, err = run(
        "gpu.py",
        SAMPLE / "UD_English-EWT/en_ewt-ud-train.conllu",
        SAMPLE / "UD_French-PUD/fr_pud-ud-test.conllu",
        "--device",
        "cpu",
        "--layers",
        "1",
        "--width",
        "32",
        "--vocabulary",
        "100",
        "--sentences",
        "32",
        "--batches",
        batch,
        "--turns",
        "0",
    )
    assert code == 0, err
    rows = [cells(line) for line in out.splitlines() if line.startswith("| POS") or line.startswith("| the grid")]
    assert [row[0] for row in rows] == [
        f"POS training, steps, float32, batches of {batch}",
        f"POS training, everything, float32, batches of {batch}",
        f"POS evaluation, float32, batches of {batch}",
        f"POS training, steps, float32, batches of {batch}: share of a large product",
        f"POS evaluation, float32, batches of {batch}: share of a large product",
        f"POS training, batches of {batch}: padding",
        f"the grid of Muller et al. (2021), batches of {batch}",
    ]
    figures = [float(row[2].replace(",", "")) for row in rows]
    assert all(figure > 0 for figure in figures)
    assert figures[0] > figures[1]
    assert all(figure < 1 for figure in figures[3:6])  # no share is over the whole


@pytest.mark.skipif("__import__('torch').cuda.is_available()", reason="there is a GPU here")
def test_without_a_gpu_it_says_how_to_try():
    code, _, err = run("gpu.py", "a.conllu", "b.conllu")
    assert code == 1
    assert err.splitlines() == ["there is no GPU here (--device cpu --layers 2 --width 64 tries the code)"]
