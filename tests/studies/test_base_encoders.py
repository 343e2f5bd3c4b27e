"""Conditions that begin with another encoder: what is made first, what waits for it, and the typology of the end."""

import json
import re

import pandas as pd
import pytest
from click.testing import CliRunner

from crosslens.cli import cli
from crosslens.cli._study import mean_seconds
from crosslens.corpora.catalogue import load_corpus
from crosslens.encoders.condition import Condition
from crosslens.encoders.load import load_encoder
from crosslens.encoders.models.bilstm import bilstm_digest
from crosslens.errors import RequestError
from crosslens.progress import SILENT
from crosslens.runs.corpora import Corpora
from crosslens.runs.run import AdaptRun, ModelRun, PretrainRun
from crosslens.runs.store import Store
from crosslens.studies.base_encoders import BaseEncoders
from crosslens.studies.plan import plan
from crosslens.studies.run_study import run_study
from crosslens.studies.study import read_study
from crosslens.studies.typology import read_typology
from toys import SENTENCES

STUDY = """
name: starts
encoder: {encoder}
data:
  recipe: small
  tasks:
    pos:
      fr: {{train: ud/fr_pud:test, tests: [ud/fr_pud], text: {text}}}
set: {{batch: 3, epochs: 2}}
conditions: [none, {{start: adapted}}, {{start: scratch}}, {{start: bilstm}}]
adaptation: {{epochs: 2, length: 16, learning_rate: 1e-3}}
scratch:
  steps: 6
  vocabulary: {{size: 200}}
  shape: {{layers: 2, width: 16, heads: 2, positions: 32}}
  validation: {{lines: 10, every: 3, select: mean}}
seeds: 2
"""


def read(folder, encoder, text="fr.txt", more=""):
    (folder / "starts.yaml").write_text(STUDY.format(encoder=encoder, text=text) + more, "utf-8")
    return read_study(folder / "starts.yaml")


def finish(store, run, digest):
    """As if a run had made an encoder."""
    store.path(run.id).mkdir()
    described = {"identity": run.identity, "label": run.label, "encoder_digest": digest}
    (store.path(run.id) / "run.json").write_text(json.dumps(described))


def of_one_encoder(planned):
    """The notes on seeds that start from one encoder, without those on test corpora and on few steps."""
    return tuple(note for note in planned.notes if not re.search("is also the training corpus|under-trained", note))


def test_encoders_are_made_first_and_once(folder, tiny_bert):
    study, store = read(folder, tiny_bert), Store(folder / "runs")
    first = plan(study, store)
    assert [each.run.label for each in first.runs[:4]] == [
        "adapt to fr.txt adapted seed 1",
        "adapt to fr.txt adapted seed 2",
        "pretrain fr from scratch seed 1",
        "pretrain fr from scratch seed 2",
    ]
    assert first.waiting == 4  # two seeds of what begins with either
    assert {each.run.condition.label for each in first.runs[4:]} == {"reference", "BiLSTM"}

    outcome = run_study(study, store.folder, executor="serial")
    assert not outcome.failed
    assert len(store.ids()) == 2 * 2 + 4 * 2
    whole = plan(study, store)
    assert (whole.waiting, whole.left) == (0, ())
    adapted = {each.run.settings.seed: each.run for each in whole.runs if isinstance(each.run, AdaptRun)}
    encoders = {seed: store.path(run.id) / "encoder" for seed, run in adapted.items()}
    digests = {seed: load_encoder(folder).digest for seed, folder in encoders.items()}
    assert digests == {seed: store.describe(run.id)["encoder_digest"] for seed, run in adapted.items()}
    models = [
        each.run for each in whole.runs if isinstance(each.run, ModelRun) and each.run.condition.start == "adapted"
    ]
    assert {run.seed: run.base.digest for run in models} == digests
    assert len({*digests.values(), load_encoder(tiny_bert).digest}) == 3
    assert of_one_encoder(whole) == ()

    assert set(mean_seconds(store)) == {"pos"}  # what made an encoder was no task

    found = read_typology(store)
    assert len(found) == 1
    row = found.iloc[0]
    assert (row["language"], row["script"], row["task"], row["seeds"]) == ("fr", "Latin", "pos", 2)
    assert row["text"] == 20 * sum(len(s.split()) for s in SENTENCES["fr"])
    assert row["class"] in ("easy", "intermediate", "hard", "undecided")
    assert row["adapted encoders"] == 2
    assert {"encoder", "adapted", "from scratch", "BiLSTM"} <= set(found.columns)
    summary = pd.read_csv(folder / "runs" / "studies" / "starts" / "summary.csv")
    encoders = dict(zip(summary["label"], summary["encoders"], strict=True))
    assert encoders == {"reference": "one", "adapted": "each", "from scratch": "each", "BiLSTM": "each"}


def test_seeds_that_share_one_adapted_encoder_say_so(folder, tiny_bert):
    """How adapted encoders differ is then in no interval: the plan, the summary and the typology each say it."""
    study, store = read(folder, tiny_bert, more="starts: one\n"), Store(folder / "runs")
    assert not run_study(study, store.folder, executor="serial").failed
    assert len(store.ids()) == 2 + 4 * 2
    assert of_one_encoder(plan(study, store)) == tuple(
        f"{label}: all 2 seeds start from one encoder; intervals and tests do not include variation between such"
        " encoders (starts: one)"
        for label in ("adapted", "from scratch")
    )
    assert of_one_encoder(plan(study.model_copy(update={"seeds": (1,)}), store)) == ()  # nothing varies over one seed
    summary = pd.read_csv(folder / "runs" / "studies" / "starts" / "summary.csv")
    encoders = dict(zip(summary["label"], summary["encoders"], strict=True))
    assert encoders == {"reference": "one", "adapted": "one", "from scratch": "one", "BiLSTM": "each"}
    assert read_typology(store).iloc[0]["adapted encoders"] == 1
    shown = CliRunner().invoke(cli, ["typology", str(store.folder)])
    assert "in 1 of 1 rows all seeds share one adapted encoder" in shown.output


def test_a_search_for_an_adapted_encoders_recipe_has_an_adapted_encoder(folder, tiny_bert):
    grid = "grid: {each: condition, seed: 7, epochs: [1, 2]}\n"
    study = read(folder, tiny_bert, text="fr.txt, dev: ud/fr_pud:test", more=grid)
    labels = [each.run.label for each in plan(study, Store(folder / "runs")).runs]
    assert "adapt to fr.txt adapted seed 7" in labels


def test_the_bilingual_encoder_of_a_study_is_adapted_and_no_other(folder):
    shape = "{layers: 2, width: 16, heads: 2, positions: 32}"
    (folder / "three.yaml").write_text(f"corpora: {{fr: fr.txt, en: fr.txt, de: fr.txt}}\nsteps: 4\nshape: {shape}\n")
    study = read(folder, f"pretrain:{folder / 'three.yaml'}", more="bilingual: [en]\n")
    store = Store(folder / "runs")
    runs = [each.run for each in plan(study, store).runs]
    pretrained = [run for run in runs if isinstance(run, PretrainRun) and run.partner == "en"]
    assert [run.settings.seed for run in pretrained] == [1, 2]
    for run in pretrained:
        finish(store, run, f"of {run.settings.seed}")
    encoders = BaseEncoders(study, store, Corpora(), None, SILENT)
    asked, source = Condition(start="adapted"), study.data.tasks["pos"]["fr"]
    adapted = [encoders.producer_run(asked, seed, source, "en") for seed in (1, 2)]
    assert [run.base.digest for run in adapted] == ["of 1", "of 2"]
    assert encoders.base(asked, 2, source, "en") is None
    finish(store, adapted[1], "adapted")
    base = encoders.base(asked, 2, source, "en")
    assert (base.digest, base.made, base.shared) == ("adapted", True, False)


@pytest.mark.parametrize("more", ["", "recipe: small\n"])
def test_the_usual_recipe_of_a_bilstm_is_its_own(folder, tiny_bert, more):
    """Whether the data or the study name the recipe of the others."""
    runs = plan(read(folder, tiny_bert, more=more), Store(folder / "runs")).runs
    models = [each.run for each in runs if isinstance(each.run, ModelRun)]
    (bilstm, other) = (next(run for run in models if run.condition.start == start) for start in ("bilstm", "encoder"))
    assert bilstm.training.recipe.learning_rate == 3e-3
    assert other.training.recipe.learning_rate == 2e-4
    assert bilstm.training.recipe.epochs == other.training.recipe.epochs == 2


def test_other_text_is_another_run(folder, tiny_bert):
    a = plan(read(folder, tiny_bert), Store(folder / "runs")).runs[0].run
    (folder / "fr.txt").write_text("\n".join(SENTENCES["fr"] * 21) + "\n", "utf-8")
    b = plan(read(folder, tiny_bert), Store(folder / "runs")).runs[0].run
    c = plan(read(folder, tiny_bert, more="tasks: [pos]\n"), Store(folder / "runs")).runs[0].run
    assert a.id != b.id == c.id
    assert json.loads(json.dumps(a.identity))["adaptation"]["epochs"] == 2


def test_a_source_without_text_is_refused(folder, tiny_bert):
    (folder / "s.yaml").write_text(
        STUDY.format(encoder=tiny_bert, text="fr.txt").replace(", text: fr.txt", ""), "utf-8"
    )
    with pytest.raises(RequestError, match=r"starts: adapted needs raw text.*has none"):
        plan(read_study(folder / "s.yaml"), Store(folder / "runs"))


def test_wrong_settings_are_refused(folder, tiny_bert):
    study = read(folder, tiny_bert).model_copy(update={"adaptation": {"epoch": 3}})
    with pytest.raises(RequestError, match="an adaptation has no setting 'epoch'"):
        plan(study, Store(folder / "runs"))


def test_labels():
    assert Condition(start="adapted").label == "adapted"
    assert Condition(start="adapted", layers="1-2").label == "adapted;1-2"
    assert Condition(start="bilstm").label == "BiLSTM"
    assert Condition(start="scratch").label == "from scratch"
    assert Condition().label == "reference"


def test_a_bilstm_is_made_of_the_sentences_that_it_is_trained_on(folder, tiny_bert):
    """Its vocabulary does not depend on sentences that the limit leaves out."""
    read(folder, tiny_bert)
    train = load_corpus("ud/fr_pud:test")
    digests = {}
    for limit in (2, 3, None):
        study = read_study(folder / "starts.yaml", overrides={"set.limit": str(limit)} if limit else {})
        runs = [each.run for each in plan(study, Store(folder / "runs")).runs]
        (digests[limit],) = {run.base.digest for run in runs if run.condition.start == "bilstm"}
        assert digests[limit] == bilstm_digest(train.limited(limit))
    assert len(set(digests.values())) == 3


def test_one_search_for_all_conditions_adapts_no_encoder_of_its_own(folder, tiny_bert):
    """Its models start from the encoder as it is."""
    study = read(folder, tiny_bert, text="fr.txt, dev: ud/fr_pud:test", more="grid: {seed: 7, epochs: [1, 2]}\n")
    labels = [each.run.label for each in plan(study, Store(folder / "runs")).runs]
    assert [label for label in labels if label.endswith("seed 7") and not label.startswith("pos")] == []
    assert "adapt to fr.txt adapted seed 1" in labels


def test_one_search_for_all_conditions_leaves_out_a_bilstm_which_is_searched_itself(folder, tiny_bert):
    """The best setting of a pretrained encoder says nothing of a BiLSTM, and has another recipe."""
    study = read(folder, tiny_bert, text="fr.txt, dev: ud/fr_pud:test", more="grid: {seed: 7, epochs: [1, 2]}\n")
    runs = [each.run for each in plan(study, Store(folder / "runs")).runs if isinstance(each.run, ModelRun)]
    tried = {
        run.condition.label: {other.training.recipe.learning_rate for other in runs if other.condition == run.condition}
        for run in runs
    }
    assert tried["BiLSTM"] == {3e-3}
    assert tried["reference"].isdisjoint(tried["BiLSTM"])
