"""Conditions that take layers or changes from an encoder that the study adapts."""

import json

import pytest

from crosslens.encoders.condition import Condition
from crosslens.encoders.load import load_encoder
from crosslens.errors import RequestError
from crosslens.results.record import read_results
from crosslens.runs.run import AdaptRun
from crosslens.runs.store import Store
from crosslens.studies.missing import MissingCorpora
from crosslens.studies.plan import plan
from crosslens.studies.run_study import run_study
from crosslens.studies.study import read_study
from crosslens.training.evaluate import evaluate
from crosslens.training.finetune import finetune
from crosslens.training.intervene import intervene
from crosslens.training.recipe import find_recipe
from toy_studies import results_of
from toys import SENTENCES

SWAP = """
name: swap
encoder: {encoder}
data:
  recipe: small
  tasks:
    pos:
      to-fr: {{train: ud/en_toy, tests: [ud/fr_pud], text: fr.txt}}
      to-en: {{train: ud/en_toy, tests: [ud/en_pud], text: en.txt}}
set: {{batch: 3, epochs: 1}}
conditions: {conditions}
adaptation: {{epochs: 1, length: 16}}
seeds: 1
"""


def swap_study(folder, encoder, *conditions):
    (folder / "swap.yaml").write_text(SWAP.format(encoder=encoder, conditions=json.dumps(conditions)), "utf-8")
    return read_study(folder / "swap.yaml")


def test_a_study_swaps_layers_with_the_encoder_adapted_to_the_text_of_each_source(folder, tiny_bert):
    """The same as by hand, with the encoders that the study adapted; fine-tuned once for both sources."""
    (folder / "en.txt").write_text("\n".join(SENTENCES["en"] * 20) + "\n", "utf-8")
    keys = {"swap": "0-2", "swap_from": "adapted"}
    added = {"add": "0-4", "add_from": "adapted", "add_scale": 0.5}
    study, store = swap_study(folder, tiny_bert, "none", keys, added), Store(folder / "runs")
    assert not run_study(study, store.folder, executor="serial", device="cpu").failed
    whole = plan(study, store)
    assert (whole.waiting, whole.left) == (0, ())
    adapted = {each.run.language: store.encoder(each.run.id) for each in whole.runs if isinstance(each.run, AdaptRun)}
    assert len(store.ids()) == 2 + 1
    recipe = find_recipe("small", "pos", {"batch": 3, "epochs": 1})
    model = finetune(load_encoder(tiny_bert, device="cpu"), "pos", train="ud/en_toy", recipe=recipe, seed=1)
    frame = read_results(results_of(store.folder, "swap")).filter(metric="accuracy").to_pandas()
    for condition, text in ((keys, "0-2:swap={}"), (added, "0-4:add={};scale=0.5")):
        rows = frame[frame["condition"] == Condition.read(condition).text]
        assert sorted(rows["target"]) == ["en", "fr"]
        for language, value in zip(rows["target"], rows["value"], strict=True):
            by_hand = intervene(model, text.format(adapted[language]))
            scores = evaluate(by_hand, f"ud/{language}_pud").filter(metric="accuracy").to_pandas()
            assert scores["value"].tolist() == [value]


def test_a_swap_without_raw_text_is_refused(folder, tiny_bert):
    study = swap_study(folder, tiny_bert, "none", {"swap": "1", "swap_from": "adapted"})
    with pytest.raises(MissingCorpora, match=r"en\.txt"):
        plan(study, Store(folder / "runs"))


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ({"swap": "1", "swap_from": "other"}, "write swap_from: adapted"),
        ({"swap": "1", "swap_from": "adapted", "erase": "1.output"}, "swap and add cannot be combined with"),
    ],
)
def test_other_swaps_are_refused(folder, tiny_bert, condition, reason):
    with pytest.raises(RequestError, match=reason):
        swap_study(folder, tiny_bert, "none", condition)
