"""Notebooks: their outputs are kept, and they run as they are (`-m slow`, or `make notebooks`)."""

import ast
import importlib.util
import json
import re
from pathlib import Path

import pytest

import crosslens

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))


def cells(path, kind):
    return [cell for cell in json.loads(path.read_text("utf-8"))["cells"] if cell["cell_type"] == kind]


def python(cell):
    """The source of a cell, without the lines of IPython."""
    lines = "".join(cell["source"]).split("\n")
    return "\n".join("    pass" if line.startswith("    %") else line for line in lines if not line.startswith("!"))


def test_there_are_three():
    assert len(NOTEBOOKS) == 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_was_run_without_errors_in_order(path):
    code = cells(path, "code")
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell["outputs"]]
    assert len(outputs) > 4
    assert {output["output_type"] for output in outputs} <= {"execute_result", "display_data", "stream"}
    assert not [output for output in outputs if output.get("name") == "stderr"]
    if path.stem != "your-treebank":
        assert any("image/png" in output.get("data", {}) for output in outputs)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_code_uses_public_names_and_links_lead_to_pages(path):
    used = set()
    for cell in cells(path, "code"):
        for node in ast.walk(ast.parse(python(cell))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "xl":
                used.add(node.attr)
    assert used
    assert used <= set(crosslens.__all__)
    for cell in cells(path, "markdown"):
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", "".join(cell["source"])):
            assert (path.parent / target).exists(), target


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs(path, tmp_path):
    pytest.importorskip("nbclient")
    spec = importlib.util.spec_from_file_location("make_notebooks", ROOT / "docs/make_notebooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    before, after = cells(path, "code"), module.executed(path, str(tmp_path)).cells
    kinds = [[output["output_type"] for output in cell["outputs"]] for cell in before]
    assert [
        [output["output_type"] for output in cell["outputs"] if output.get("name") != "stderr"]
        for cell in after
        if cell["cell_type"] == "code"
    ] == kinds
