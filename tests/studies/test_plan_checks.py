"""Sources with the same training data: what they share, and what is refused."""

import json

import pandas as pd
import pytest

from crosslens.corpora.catalogue import load_corpus
from crosslens.errors import EncoderError, RequestError
from crosslens.runs.store import Store
from crosslens.studies.plan import plan
from crosslens.studies.run_study import run_study
from crosslens.studies.study import read_study
from crosslens.training.recipe import find_recipe
from toy_architectures import fresh
from toys import SENTENCES, word_piece

TWO = """
name: two
encoder: {encoder}
data:
  recipe: small
  tasks:
    pos:
      to-fr: {{train: ud/en_toy, tests: {tests}, text: fr.txt}}
      to-en: {{train: ud/en_toy, tests: [ud/en_pud], text: en.txt}}
set: {{batch: 3, epochs: 1}}
conditions: {conditions}
adaptation: {{epochs: 1, length: 16}}
seeds: 1
"""


def two_sources(folder, encoder, *conditions, tests="[ud/fr_pud]"):
    (folder / "en.txt").write_text("\n".join(SENTENCES["en"] * 20) + "\n", "utf-8")
    text = TWO.format(encoder=encoder, tests=tests, conditions=json.dumps(["none", *conditions]))
    (folder / "two.yaml").write_text(text, "utf-8")
    return read_study(folder / "two.yaml"), Store(folder / "runs")


def test_sources_that_share_their_training_data_share_their_reference(folder, tiny_bert):
    """Zero-shot from one treebank to two languages, the encoder adapted to each: both are compared with one run."""
    study, store = two_sources(folder, tiny_bert, {"start": "adapted"})
    run_study(study, store.folder, executor="serial")
    assert len(store.ids()) == 2 + 1 + 2
    summary = pd.read_csv(folder / "runs" / "studies" / "two" / "summary.csv")
    assert sorted(summary["source"]) == ["to-en", "to-en", "to-fr", "to-fr"]
    (note,) = [note for note in plan(study, store).notes if "share" in note]
    assert note == (
        "pos: these sources have the same training data and share their runs: to-fr (ud/en_toy:train), to-en"
        " (ud/en_toy:train)"
    )
    assert summary[summary["label"] == "adapted"]["delta"].notna().all()


def test_training_data_are_the_same_under_another_name(folder, treebanks, tiny_bert):
    (folder / "copy.conllu").write_bytes((treebanks / "ud" / "UD_EN-toy" / "en_toy-ud-train.conllu").read_bytes())
    _, store = two_sources(folder, tiny_bert)
    text = (folder / "two.yaml").read_text("utf-8").replace("to-en: {train: ud/en_toy", "to-en: {train: en=copy.conllu")
    (folder / "two.yaml").write_text(text, "utf-8")
    (note,) = [note for note in plan(read_study(folder / "two.yaml"), store).notes if "share" in note]
    assert note.endswith("share their runs: to-fr (ud/en_toy:train), to-en (copy.conllu)")


def test_one_test_corpus_for_encoders_of_several_languages_is_refused(folder, tiny_bert):
    """Its scores would have the same names; without such a condition, the sources share their runs and scores."""
    for keys, refused in (({"swap": "1", "swap_from": "adapted"}, True), ({"start": "adapted"}, True), ({}, False)):
        conditions = [keys] if keys else []
        study, store = two_sources(folder, tiny_bert, *conditions, tests="[ud/fr_pud, ud/en_pud]")
        if not refused:
            assert len(plan(study, store).runs) == 1
            continue
        with pytest.raises(
            RequestError, match=r"to-fr and to-en test encoders made from .*fr\.txt and .*en\.txt on ud/en_pud"
        ):
            plan(study, store)


def test_layers_that_an_encoder_lacks_are_refused_with_their_condition(folder, tiny_bert):
    """Only the encoder's depth tells whether they exist, so the study file was read without an error."""
    study, store = two_sources(folder, tiny_bert, {"mean": "0-9"})
    with pytest.raises(RequestError, match=r"^two: condition mean 0-9: layer 9 does not exist"):
        plan(study, store)


def test_corpora_without_a_language_are_named_before_they_are_left_out_of_tables(folder, tiny_bert, treebanks):
    """The key of a source in a study does not say its language."""
    study, store = two_sources(folder, tiny_bert)
    for file, language in (("mine.conllu", "fr"), ("test.conllu", "en")):
        (path,) = treebanks.glob(f"ud/*/{language}_pud-ud-test.conllu")
        (folder / file).write_bytes(path.read_bytes())

    def notes(train, test):
        data = {"tasks": {"pos": {"fr": {"train": train, "dev": "ud/en_toy:dev", "tests": [test]}}}}
        changed = study.model_copy(update={"data": type(study.data).model_validate(data)})
        return [note for note in plan(changed, store).notes if "unknown" in note]

    assert notes("mine.conllu", "test.conllu") == [
        "pos: the language of mine.conllu is unknown, so source fr is left out of most tables of a report: name it,"
        " as in fr=FILE",
        "test.conllu: language unknown, so its scores are in no mean: name it, as in fr=test.conllu",
    ]
    assert notes("fr=mine.conllu", "en=test.conllu") == []


@pytest.mark.parametrize(
    ("settings", "conditions", "notes"),
    [
        ({}, [], ["adaptation has no effect: no condition starts from an adapted encoder (start: adapted)"]),
        ({}, [{"start": "adapted"}], []),
        ({}, [{"swap": "1", "swap_from": "adapted"}], []),
        (
            {"adaptation": {}, "scratch": {"steps": 3}, "starts": "one", "pretrained": "one"},
            [{"layers": "1"}],
            [
                "scratch has no effect: no condition pretrains an encoder from scratch (start: scratch)",
                "starts has no effect: no condition starts from an adapted encoder or one pretrained from scratch"
                " (start: adapted or scratch)",
                "pretrained has no effect: the study pretrains no encoders (encoder: pretrain:SETTINGS)",
            ],
        ),
        (
            {"adaptation": {}, "factors": {"short": {"steps": 3}}},
            [],
            ["factors: short has no effect: no condition has this factor"],
        ),
    ],
)
def test_settings_that_no_condition_uses_are_noted(folder, tiny_bert, settings, conditions, notes):
    study, store = two_sources(folder, tiny_bert, *conditions)
    planned = plan(study.model_copy(update=settings), store)
    assert [note for note in planned.notes if "has no effect" in note] == notes


def test_an_encoder_that_cannot_be_computed_in_the_precision_is_refused_by_the_plan(folder):
    """Not by each run."""
    tokenizer = word_piece()
    for part in (fresh("deberta", 0, tokenizer), tokenizer):
        part.save_pretrained(folder / "deberta")
    study, store = two_sources(folder, folder / "deberta")
    with pytest.raises(EncoderError, match="cannot compute deberta in bfloat16"):
        plan(study.model_copy(update={"precision": "bfloat16"}), store)


def test_trainings_with_few_steps_are_named_with_their_source(folder, tiny_bert):
    """Whoever reads the table of a study sees no log of its runs; a condition can have a recipe of its own."""
    study, store = two_sources(folder, tiny_bert, {"freeze": "1", "recipe": "bilstm"})
    train = load_corpus("ud/en_toy:train")

    def notes(**settings):
        changed = study.model_copy(update={"set": {"batch": 3, **settings}})
        return [note for note in plan(changed, store).notes if "under-trained" in note]

    warning = find_recipe("small", "pos", {"batch": 3, "epochs": 1, "limit": 6}).few_steps(len(train))
    assert warning == "with 2 steps (1 epoch) of training, the model is probably under-trained; set epochs=50"
    assert notes(epochs=1, limit=6) == [f"pos, source to-fr: {warning}", f"pos, source to-en: {warning}"]
    assert notes(epochs=25, limit=6) == []
