"""The corpora of a study by language and task."""

import pytest

from crosslens.corpora.catalogue import load_corpus, named_language
from crosslens.studies.languages import MISSING, count_by_language
from crosslens.studies.study import Data


@pytest.fixture(autouse=True)
def only_the_toys(monkeypatch, tmp_path):
    monkeypatch.delenv("CROSSLENS_DATA", raising=False)
    monkeypatch.setattr("crosslens.corpora.catalogue.cache_folder", lambda: tmp_path / "no-cache")


@pytest.mark.parametrize("order", [("pos", "nli"), ("nli", "pos")])
def test_sentences_are_summed_by_language(treebanks, order):
    tasks = {
        "pos": {
            "en": {"train": "ud/en_toy[:4]", "tests": ["ud/en_toy[:2]", "ud/*_pud"]},
            "again": {"train": "ud/en_toy:train[:4]", "tests": ["ud/fr_pud", "ud/en_pud:test"]},  # counted already
            "zz": {"train": "ud/de_none", "tests": ["ud/fr_none", "ud/*_none"]},
            "ru": {"train": "ud/ru_none", "tests": ["ud/ru_none"]},
        },
        "nli": {"fr": {"train": "xnli/fr", "tests": ["xnli/fr", "xnli/es"], "translated_from": "en"}},
    }
    pud = len(load_corpus("ud/en_pud", data=treebanks))
    pairs = len(load_corpus("xnli/fr", data=treebanks))
    data = Data.model_validate({"tasks": {task: tasks[task] for task in order}})
    assert count_by_language(data, folder=str(treebanks)) == {
        "de": {"pos": MISSING},  # its tests match nothing, so nobody knows
        "en": {"pos": f"4 + {2 + pud}"},
        "es": {"nli": MISSING},
        "fr": {"pos": MISSING, "nli": str(pairs)},
        "ru": {"pos": MISSING},
    }


def test_languages_of_names():
    names = (
        "conll2002/nl:train[:3]",
        "masakhaner/wol",
        "sib200/zho_Hant",
        "wo=x.conllu",
        "ud/*_pud",
        "wili/all",
        "x.tsv",
    )
    assert [named_language(name) for name in names] == ["nl", "wo", "zh-Hant", "wo", None, None, None]
