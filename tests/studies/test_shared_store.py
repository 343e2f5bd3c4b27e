"""The law of a shared store: a study gives the same bytes whatever else was run in its store, and in which order."""

import itertools
import json
import shutil

import pyarrow.compute as pc
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crosslens.report.findings import findings
from crosslens.report.page import make_page
from crosslens.report.render import to_csv, to_markdown
from crosslens.report.significance import read_significance
from crosslens.report.tables import all_tables
from crosslens.results.record import read_results
from crosslens.runs.store import Store
from crosslens.studies.run_study import run_study
from crosslens.studies.study import Study
from toys import SENTENCES

LEAST = {"recipe": "small", "set": {"batch": 6, "epochs": 1}, "seeds": [1], "conditions": ["none"]}
ENGLISH = {"train": "ud/en_toy", "tests": ["ud/en_pud", "ud/fr_pud"]}


def probe(**changed):
    asked = {
        "probe": "topic",
        "train": "lab_topics/src:train[:60]",
        "test": "lab_topics/src:test[:40]",
        "inputs": "scaled",
    }
    return [{**asked, **changed}]


@pytest.fixture(scope="module")
def pool(tiny_bert, treebanks, tmp_path_factory):
    """Studies that overlap in all that a store shares: runs, questions, names, encoders of the same parameters."""
    home = tmp_path_factory.mktemp("encoders")
    for name, file, change in (
        ("more-dropout", "config.json", lambda config: config.update(hidden_dropout_prob=0.6)),
        ("short-words", "tokenizer.json", lambda parts: parts["model"].update(max_input_chars_per_word=3)),
    ):
        shutil.copytree(tiny_bert, home / name)
        described = json.loads((home / name / file).read_text())
        change(described)
        (home / name / file).write_text(json.dumps(described))
    for language, tag in (("en", "en"), ("fr", "zh-Hant")):
        (home / f"{tag}.txt").write_text("\n".join(SENTENCES[language]) + "\n", "utf-8")
    copied = home / "mine.conllu"
    shutil.copy(next(treebanks.glob("ud/*/en_toy-ud-train.conllu")), copied)
    parallel = f"en={home}/en.txt,zh-Hant={home}/zh-Hant.txt"

    def study(name, *, tasks=None, parallel="ud/pud", **changed):
        data = {"parallel": parallel, "tasks": tasks or {"pos": {"en": ENGLISH}}}
        return Study.model_validate({"name": name, "encoder": str(tiny_bert), "data": data, **LEAST, **changed})

    dropout = {"batch": 3, "epochs": 2, "encoder_dropout": "checkpoint"}
    fewer = {"pos": {"en": {**ENGLISH, "tests": ["ud/fr_pud"]}}}
    renamed = {"pos": {"mine": {**ENGLISH, "train": str(copied)}, "en": ENGLISH}}
    both = {"pos": {"en": ENGLISH, "fr": {"train": "ud/fr_pud:test", "tests": ["ud/en_pud"]}}}
    return [
        study("base", seeds=[1, 2], conditions=["none", "1-2"]),
        study("fewer", tasks=fewer, seeds=[1, 3], conditions=["none", "1-2"]),  # W1
        study("dropout", set=dropout),
        study("more-dropout", encoder=str(home / "more-dropout"), set=dropout),  # W2
        study("short-words", encoder=str(home / "short-words")),
        study("recipes", conditions=["none", {"recipe": "lab"}, "1-2", {"layers": "1-2", "recipe": "lab"}]),  # W3
        study("rules", select=["last", "average"]),
        study("pairs", similarity={"of": ["pretrained", "fine-tuned"], "measures": ["cka"]}),  # W7
        study("more-pairs", tasks=both, similarity={"of": ["pretrained", "untrained"], "measures": ["cka", "rsa"]}),
        study("few-sentences", similarity={"of": ["pretrained"], "measures": ["cka"], "sentences": 5}),
        study("hyphen", parallel=parallel, similarity={"of": ["pretrained"], "measures": ["cka"]}),  # X1
        study("probe-mean", probes=probe()),
        study("probe-cls", probes=probe(set={"pooling": "cls"})),  # W8
        study("probe-seed", probes=probe(seed=7)),
        study("renamed", tasks=renamed, overlap=True),
    ]


def outputs(store, name):
    """Every file that a study gives, and what is made of its records."""
    home = store / "studies" / name
    results = read_results(home / "results.csv")
    said = findings(results)
    return {
        "results.csv": (home / "results.csv").read_bytes(),
        "summary.csv": (home / "summary.csv").read_bytes(),
        "collected": Store(store).collect(name).records,
        "tables": [to_csv(table) for table in all_tables(results)],
        "page": make_page(results, title=name, findings=said),
    }


def do(study, store, treebanks):
    report = run_study(study, store, executor="serial", data=str(treebanks), device="cpu")
    assert not report.failed, report.failed
    assert not report.plan.left
    return report


@pytest.fixture(scope="module")
def alone(pool, treebanks, tmp_path_factory):
    """Every study's outputs from a store of its own."""
    folder = tmp_path_factory.mktemp("alone")
    for study in pool:
        do(study, folder / study.name, treebanks)
    return {study.name: outputs(folder / study.name, study.name) for study in pool}


def check(studies, folder, alone, treebanks):
    for study in studies:
        do(study, folder, treebanks)
    for study in studies:  # also once the last one has run
        for name, value in outputs(folder, study.name).items():
            assert value == alone[study.name][name], f"{name} of {study.name} after {[each.name for each in studies]}"


@pytest.mark.timeout(900)
def test_all_studies_in_one_store_in_two_orders(pool, alone, treebanks, tmp_path):
    check(pool, tmp_path / "there", alone, treebanks)
    check(pool[::-1], tmp_path / "back", alone, treebanks)


@pytest.mark.slow
@pytest.mark.timeout(900)
@settings(max_examples=6, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_studies_in_any_order(data, pool, alone, treebanks, tmp_path_factory):
    studies = data.draw(st.lists(st.sampled_from(pool), min_size=2, max_size=4, unique_by=lambda study: study.name))
    check(studies, tmp_path_factory.mktemp("shared"), alone, treebanks)


def test_what_is_apart_has_other_numbers(alone):
    """The law would hold of a program that gave everybody the same numbers."""
    metrics = ("accuracy", "accuracy_shuffled")
    pairs = (
        ("more-dropout", "dropout"),
        ("short-words", "base"),
        ("probe-mean", "probe-cls"),
        ("probe-mean", "probe-seed"),
    )
    for names in pairs:
        records = [alone[name]["collected"].filter(pc.field("condition") == "none").to_pylist() for name in names]
        one, other = ([row["value"] for row in rows if row["metric"] in metrics] for rows in records)
        assert one != other, names


def test_sources_of_the_same_data_each_have_their_own_rows(alone):
    rows = alone["renamed"]["collected"].to_pylist()
    scores = [row for row in rows if row["measure"] is None]
    assert len({row["run"] for row in scores}) == 1
    by_source = {
        train: [row["value"] for row in scores if row["train"] == train] for train in {row["train"] for row in scores}
    }
    assert len(by_source) == 2
    for first, second in itertools.combinations(by_source.values(), 2):
        assert len(first) == 2
        assert first == second


def test_intervals_in_tables_are_those_of_the_encoder_that_they_stand_beside(pool, treebanks, tmp_path):
    """W4: two studies of one store name the same task, source, corpora and conditions."""
    conditions = {"conditions": ("none", "1-2"), "seeds": (1, 2)}
    studies = [
        Study.model_validate({**study.model_dump(), **conditions})
        for study in pool
        if study.name in ("base", "short-words")
    ]
    assert len(studies) == 2

    def tables(store, name):
        significance = read_significance([store])
        made = all_tables(read_results(store / "studies" / name / "results.csv"), significance=significance)
        return [to_markdown(table, spread="interval") for table in made]

    for study in studies:
        do(study, tmp_path / study.name, treebanks)
        do(study, tmp_path / "both", treebanks)
    alone = {study.name: tables(tmp_path / study.name, study.name) for study in studies}
    assert all(any("[" in text for text in texts) for texts in alone.values())
    assert alone["base"] != alone["short-words"]
    for study in studies:
        assert tables(tmp_path / "both", study.name) == alone[study.name]
