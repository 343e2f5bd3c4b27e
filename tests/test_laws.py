"""What holds of the whole source, and no type checker can see."""

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "crosslens"

PARSERS = {
    "encoders/condition.py",  # the one parser of conditions
    "encoders/layers.py",  # … of layers
    "data/language_pairs.py",  # … of pairs of languages
    "similarity/measures.py",  # … of names of measures
    "results/record.py",  # writes and reads tags
}
"""The files that take text apart, each of one kind."""

SHOWN = {
    "report/page.py",
    "cli/_display.py",
    "cli/align.py",
    "report/learning_curves.py",
    "report/atlas/every_eval_ever.py",
    "results/corpus_tags.py",
}
"""The files that show provenance, or, as the last one, what follows from it for test corpora."""

TAKEN_APART = {"startswith", "endswith", "removeprefix", "removesuffix", "split", "rsplit", "partition", "rpartition"}
WORDS = re.compile(r"\b(conditions?|label|ablation|measure|pair|state|head|column|variant|tags)\b", re.IGNORECASE)


def files():
    found = sorted(path for path in SOURCE.rglob("*.py"))
    assert len(found) > 150
    return [(str(path.relative_to(SOURCE)), path.read_text("utf-8")) for path in found]


def offences(name, text):
    """What of a file takes labels, conditions, pairs or tags apart, or compares with their names."""
    tree = ast.parse(text)
    blocks = [node for node in ast.walk(tree) if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef))]
    docstrings = {id(block.body[0].value) for block in blocks if block.body and isinstance(block.body[0], ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in TAKEN_APART:
            value = ast.get_source_segment(text, node.func.value) or ""
            if WORDS.search(value.rpartition(".")[2].strip("\"'[]()")) or ".label" in value:
                yield f"{name}:{node.lineno}: {ast.get_source_segment(text, node)}"
        if isinstance(node, ast.Compare):
            for side in (node.left, *node.comparators):
                if isinstance(side, ast.Constant) and side.value in ("reference", "Δ", "Δ "):
                    yield f"{name}:{node.lineno}: {ast.get_source_segment(text, node)}"
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value == "tags":
            yield f"{name}:{node.lineno}: {ast.get_source_segment(text, node)}"
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "tags"
            and not node.args
            and name not in SHOWN
        ):
            yield f"{name}:{node.lineno}: {ast.get_source_segment(text, node)}"
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in docstrings
            and node.value == "reference"
        ):
            yield f"{name}:{node.lineno}: the literal 'reference'"


def test_no_code_reads_a_label_a_condition_a_pair_or_tags():
    found = [offence for name, text in files() if name not in PARSERS for offence in offences(name, text)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "line",
    [
        "x = condition.label.startswith('0-')",
        "a, b = pair.split('-')",
        "y = condition == 'reference'",
        "z = json.loads(row['tags'])",
        "w = row['measure'].startswith('probe ')",
        "v = head.removeprefix('Δ ')",
    ],
)
def test_the_law_would_notice(line):
    assert list(offences("x.py", line))
