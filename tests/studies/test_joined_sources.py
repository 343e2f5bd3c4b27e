"""Studies whose models are trained on several treebanks, one of them in a target language."""

import pandas as pd
import pytest

from crosslens.errors import DataError, RequestError
from crosslens.results.record import read_results
from crosslens.runs.corpora import Corpora
from crosslens.runs.store import Store
from crosslens.studies.languages import count_by_language
from crosslens.studies.plan import plan
from crosslens.studies.run_study import run_study
from crosslens.studies.study import Data, Study
from toys import conllu_text


def study(encoder, train, *, tests=("ud/en_pud", "ud/fr_pud"), **more):
    source = {"train": train, "tests": list(tests), **more.pop("source", {})}
    settings = {
        "name": "joined",
        "encoder": str(encoder),
        "recipe": "small",
        "set": {"batch": 3, "epochs": 1, **more.pop("set", {})},
        "seeds": 1,
        "conditions": ["none"],
        "data": {"tasks": {"pos": {"both": source}}, "parallel": "ud/pud"},
    }
    return Study.model_validate({**settings, **more})


def test_it_is_trained_as_on_the_sentences_in_one_file(folder, tiny_bert):
    """Run id and scores are those of one file; only the languages trained on are known in addition."""
    (folder / "both.conllu").write_text(conllu_text("en") + conllu_text("fr"), "utf-8")
    (folder / "fr.conllu").write_text(conllu_text("fr"), "utf-8")
    found = {}
    for name, train in (("joined", "ud/en_toy:train+fr=fr.conllu"), ("file", "en=both.conllu")):
        run_study(study(tiny_bert, train), folder / name, executor="serial")
        found[name] = read_results(folder / name / "studies" / "joined" / "results.csv")
    joined, file = (found[name].records.to_pylist() for name in ("joined", "file"))
    assert [(record["run"], record["value"]) for record in joined] == [(r["run"], r["value"]) for r in file] != []
    assert {record["source"] for record in joined} == {"en+fr"}
    assert {record["train"] for record in joined} == {"ud/en_toy:train+fr=fr.conllu".replace("fr=", "")}


def test_means_are_over_languages_that_were_trained_on_and_over_others(folder, tiny_bert, treebanks):
    """Of five corpora two are in the languages trained on."""
    for language in ("de", "wo", "fi"):
        (folder / f"{language}.conllu").write_text(conllu_text("en"), "utf-8")
    tests = ("ud/en_pud", "ud/fr_pud", *(f"{language}={language}.conllu" for language in ("de", "wo", "fi")))
    run_study(study(tiny_bert, "ud/en_toy:train+ud/fr_pud:test[:2]", tests=tests), folder / "runs", executor="serial")
    summary = pd.read_csv(folder / "runs" / "studies" / "joined" / "summary.csv")
    values = summary.set_index("corpus")["mean"]
    assert sum(name.startswith("mean of") for name in values.index) == 2
    assert values["mean of 3 languages:test"] == pytest.approx(values[["de.conllu", "wo.conllu", "fi.conllu"]].mean())
    of_trained = values[["ud/en_pud:test", "ud/fr_pud:test"]].mean()
    assert values["mean of 2 source-language corpora:test"] == pytest.approx(of_trained)


def test_a_test_corpus_that_is_part_of_the_training_data_is_noted(folder, tiny_bert):
    few_steps, copied, note = plan(study(tiny_bert, "ud/en_toy:train+ud/fr_pud:test"), Store(folder / "runs")).notes
    assert "under-trained" in few_steps
    assert copied.startswith("6 sentences of ud/en_pud:test (100 %) are also in the training data")
    assert note == "ud/fr_pud:test is also the training corpus, so its score says nothing about new sentences"


def test_a_file_with_a_plus_in_its_name_has_no_parts(folder, tiny_bert):
    """Its name ends like that of the test file."""
    for name, language in (("en+fr.conllu", "en"), ("fr.conllu", "fr")):
        (folder / name).write_text(conllu_text(language), "utf-8")
    (few_steps,) = plan(study(tiny_bert, "en=en+fr.conllu", tests=["fr=fr.conllu"]), Store(folder / "runs")).notes
    assert "under-trained" in few_steps


def test_each_missing_part_is_named_and_its_source_left_out(folder, tiny_bert):
    chosen = study(tiny_bert, "ud/en_toy+ud/xx_none[:5]", set={"select": "best"})
    with pytest.raises(DataError, match=r"ud/xx_none:train, ud/xx_none:dev|ud/xx_none:dev, ud/xx_none:train"):
        plan(chosen, Store(folder / "runs"))
    whole = {"train": "ud/en_toy", "tests": ["ud/fr_pud"]}
    tasks = {"pos": {**chosen.data.tasks["pos"], "en": whole}}
    kept = Study.model_validate({**chosen.model_dump(mode="json"), "data": {"tasks": tasks}})
    left = plan(kept, Store(folder / "runs"), skip_missing=True)
    assert {asked.run.training.source for asked in left.asked} == {"en"}
    assert [missing.corpus for missing in left.missing] == ["ud/xx_none:train", "ud/xx_none:dev"]


def test_the_development_data_are_those_of_every_part(folder, tiny_bert):
    (asked,) = plan(study(tiny_bert, "ud/en_toy+ud/en_toy[:2]", set={"select": "best"}), Store(folder / "runs")).asked
    assert asked.run.training.dev.name == "ud/en_toy:dev+ud/en_toy:dev"
    assert asked.run.training.selection == "best"


def test_similarity_is_measured_from_every_language_trained_on(folder, tiny_bert):
    chosen = study(tiny_bert, "ud/en_toy:train+ud/fr_pud:test", similarity={"of": ["pretrained"], "measures": ["cka"]})
    compared, *_ = plan(chosen, Store(folder / "runs")).asked
    assert [(question.source, question.target) for question in compared.questions] == [("en", "fr"), ("fr", "en")]


def test_the_sentences_of_each_part_count_for_their_language(treebanks):
    data = Data.model_validate(
        {"tasks": {"pos": {"both": {"train": "ud/en_toy[:4]+ud/fr_pud:test", "tests": ["ud/fr_pud"]}}}}
    )
    french = len(Corpora(str(treebanks)).corpus("ud/fr_pud"))
    assert count_by_language(data, folder=str(treebanks)) == {
        "en": {"pos": "4 + 0"},
        "fr": {"pos": f"{french} + {french}"},
    }


def test_an_oracle_in_any_language_trained_on_is_none(folder, tiny_bert):
    chosen = study(tiny_bert, "ud/en_toy:train+ud/fr_pud:test", select={"oracle": "ud/fr_pud:test"})
    with pytest.raises(RequestError, match="ud/fr_pud:test is in the language of ud/en_toy:train"):
        plan(chosen, Store(folder / "runs"))
