"""The layout of the package: folders that one can take in, names that say one thing."""

import ast
import io
import sys
import tokenize
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "crosslens"

TWO_FLOORS = {
    "conllu",  # the format, and its public name `crosslens.data.conllu`
    "freeze",  # the intervention as a value, and what it does
    "reinit",  # likewise
    "parallel",  # parallel text, and finding it by name
    "typology",  # the classes of languages, and a study's runs that decide them
}
"""Names that two files share because they are one idea on two floors; so are those of a command and its function."""


NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def modules():
    files = [file for file in sorted(SOURCE.rglob("*.py")) if not file.name.startswith("__")]
    assert len(files) > 150
    return files


def test_no_folder_is_too_wide():
    folders = defaultdict(list)
    for file in modules():
        folders[file.parent].append(file.name)
    wide = {folder.name: len(names) for folder, names in folders.items() if len(names) > 15 and folder.name != "cli"}
    assert not wide


def test_files_of_one_name_are_one_idea():
    names = defaultdict(list)
    for file in modules():
        if file.parent.name != "cli":
            names[file.stem].append(str(file.relative_to(SOURCE)))
    assert {name: files for name, files in names.items() if len(files) > 1 and name not in TWO_FLOORS} == {}


def test_no_name_of_the_standard_library():
    assert [file.name for file in modules() if file.stem in sys.stdlib_module_names] == []


def paths_of_tests():
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    assert len(files) > 150
    return files


def lines_of_code(file):
    """How many lines hold code: neither comments, nor docstrings, nor nothing."""
    text = file.read_text("utf-8")
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines.difference_update(range(node.lineno, node.end_lineno + 1))
    return len(lines)


def test_tests_are_where_their_module_is():
    folders = {file.parent.relative_to(SOURCE) for file in modules()} | {Path(".")}
    assert [str(test) for test in paths_of_tests() if test.parent.relative_to(ROOT / "tests") not in folders] == []


def test_every_module_has_a_test_file_of_its_name():
    expected = {
        str(file.relative_to(SOURCE)): file.relative_to(SOURCE).with_name(f"test_{file.name.lstrip('_')}")
        for file in modules()
        if lines_of_code(file) >= 60
    }
    there = {test.relative_to(ROOT / "tests") for test in paths_of_tests()}
    assert len(expected) > 80
    assert {module for module, test in expected.items() if test not in there} == set()


def test_no_test_file_is_too_long():
    assert {file.name for file in paths_of_tests() if len(file.read_text("utf-8").splitlines()) > 300} == set()
