"""The layout of the package: folders that one can take in, names that say one thing."""

import sys
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


def test_tests_are_where_their_module_is():
    folders = {file.parent.relative_to(SOURCE) for file in modules()} | {Path(".")}
    tests = sorted((ROOT / "tests").rglob("test_*.py"))
    assert len(tests) > 80
    strangers = [str(test) for test in tests if test.parent.relative_to(ROOT / "tests") not in folders]
    assert strangers == [str(ROOT / "tests" / "plugins" / "test_plugins.py")]
