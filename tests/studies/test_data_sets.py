"""The shipped data have the languages of the papers' tables."""

import pytest

from crosslens.corpora.catalogue import load_corpus
from crosslens.corpora.collection import COLLECTIONS
from crosslens.encoders.condition import Condition
from crosslens.errors import RequestError
from crosslens.lab.presets import find_laboratory
from crosslens.report.papers import find_paper
from crosslens.studies.data_sets import LAB_TEST_SENTENCES, find_data
from crosslens.studies.study import Study, data_sets
from crosslens.tasks import find_task
from crosslens.training.recipe import find_recipe

WU = find_data("wu2019")


def test_models_of_artificial_languages_are_trained_with_their_recipe():
    study, data = Study(name="mine", encoder="lab:good", data="lab"), find_data("lab")
    recipes = {task: study.recipe_of(task, Condition(), default=data.recipe) for task in data.tasks}
    assert "pos" in recipes
    assert recipes == {task: find_recipe("lab", task) for task in data.tasks}


@pytest.mark.parametrize("name", sorted(data_sets()))
def test_every_corpus_has_a_reader(name):
    for sources in find_data(name).tasks.values():
        for source in sources.values():
            for corpus in (source.train, *source.tests):
                assert corpus.partition("/")[0] in COLLECTIONS


@pytest.mark.parametrize("task", sorted(WU.tasks))
def test_published_languages_are_sources(task):
    metric = "uas_nopunct" if task == "parsing" else find_task(task).metric
    setting = "translate-train" if task == "nli" else "in-language"
    published = {name for name in find_paper("wu2019").supervised(task, metric, setting) if "average" not in name}
    assert set(WU.tasks[task]) == published


@pytest.mark.parametrize("task", sorted(WU.tasks))
def test_sources_other_than_english_are_evaluated_on_their_own_test_set(task):
    english = WU.tasks[task]["en"]
    for name, source in WU.tasks[task].items():
        if name != "en":
            assert len(source.tests) == 1
            assert source.tests[0] in english.tests or english.tests == ("xnli/*",)
            assert (source.translated_from == "en") == (task == "nli")


def test_corpora_of_artificial_languages_have_what_their_tasks_need():
    tasks = find_data("lab").tasks
    assert {"pos", "document", "nli"} <= tasks.keys()
    for name, sources in tasks.items():
        for corpus in (load_corpus(test) for source in sources.values() for test in source.tests):
            find_task(name).check(corpus)


def test_models_are_trained_in_the_first_artificial_language_and_tested_in_all():
    first, *_ = languages = find_laboratory("good").languages
    whole = [(language, LAB_TEST_SENTENCES) for language in languages]
    for sources in find_data("lab").tasks.values():
        ((name, source),) = sources.items()
        assert (name, load_corpus(source.train, split="train").language) == (first, first)
        assert [(test.language, len(test)) for test in map(load_corpus, source.tests)] == whole


def test_one_source_of_a_set_is_chosen_by_its_name():
    chosen = find_data("wu2019:nl")
    assert chosen.tasks == {task: {"nl": sources["nl"]} for task, sources in WU.tasks.items() if "nl" in sources}
    assert len(WU.tasks) > len(chosen.tasks) > 1
    for name, reason in (
        ("wu2019:nll", "wu2019 has no source 'nll'"),
        ("wu2091", "there is no set of corpora 'wu2091'"),
        ("lab:goood", "unknown preset 'goood'"),
    ):
        with pytest.raises(RequestError, match=reason):
            find_data(name)
