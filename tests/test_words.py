"""The words of the project: those of the field, in everything that a person reads."""

import ast
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "crosslens"

AVOIDED = {
    r"\banew\b": "re-initialised",
    r"\bnever (been )?seen labelled\b": "zero-shot; target languages",
    r"\bat home\b": "in the source language",
    r"\bnobody speaks\b": "artificial languages",
    r"\bnever met\b": "independently pretrained encoders",
    r"\bvoices?\b": "heads, tokenizers",
    r"(?<!there )(?<!it )\bis (no (?!longer\b|more\b)\w+|not to be had)\b": "is not a …, there is no …, unsupported",
    r"\bstands? the correction\b": "significant after correction",
    r"\bas printed\b": "published scores",
    r"\b(?<!`)towers?\b(?!`|:| on \{| on \(| on $| on 2)": "readout",
    r"\b(the|its|their|a) usual\b": "default",
    r"^Of ": "a noun phrase",
}
"""Pattern -> what is written instead."""

NAMES = {"its", "found", "told", "said", "mine"}
"""Names of variables that say nothing of what they hold."""


def sources():
    files = sorted(SOURCE.rglob("*.py"))
    assert len(files) > 150
    return [(str(file.relative_to(SOURCE)), file.read_text("utf-8")) for file in files]


def strings(text):
    """Strings of a source file with their lines: docstrings, messages, help; the parts of f-strings one by one."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value


def avoided(text):
    """The avoided words of a text, each with what is written instead."""
    for pattern, instead in AVOIDED.items():
        for match in re.finditer(pattern, text):
            yield f"{match[0]!r}: {instead}"


def prose(page):
    """A page without its code."""
    return re.sub(r"```.*?```|`[^`\n]*`", "", page, flags=re.DOTALL)


def pages():
    """README, the reference, guides and notebooks; pages of results are rewritten with their results."""
    notebooks = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))
    assert notebooks
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")), *notebooks]


def written(page):
    """The Markdown of a page or notebook."""
    text = page.read_text("utf-8")
    if page.suffix == ".md":
        return text
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown"]
    return "\n\n".join("".join(cell["source"]) for cell in cells)


def test_strings_in_the_source():
    lines = [
        f"{name}:{line}: {words}"
        for name, text in sources()
        for line, value in strings(text)
        for words in avoided(value)
    ]
    assert not lines, "\n".join(lines)


def test_comments_in_the_source():
    lines = [
        f"{name}:{number}: {words}"
        for name, text in sources()
        for number, line in enumerate(text.splitlines(), start=1)
        if "#" in line
        for words in avoided(line.partition("#")[2].strip())
    ]
    assert not lines, "\n".join(lines)


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_pages(page):
    assert list(avoided(prose(written(page)))) == []


@pytest.mark.parametrize(
    "text",
    [
        "Draw layers anew.",
        "Languages never seen labelled.",
        "'x' is no folder",
        "Of the page.",
        "the usual recipe",
        "stands the correction",
        "a tower of layers",
    ],
)
def test_the_list_would_notice(text):
    assert list(avoided(text))


def test_variables_say_what_they_hold():
    names = [
        f"{name}:{node.lineno}: {label}"
        for name, text in sources()
        for node in ast.walk(ast.parse(text))
        if (label := getattr(node, "id", None) or getattr(node, "arg", None)) in NAMES
        and (isinstance(node, ast.arg) or isinstance(getattr(node, "ctx", None), ast.Store))
    ]
    assert not names, "\n".join(names)
