"""One training, one id: by whichever door it is asked for, and of all that determines its weights."""

import json
import shutil

import pytest
from transformers import AutoModel, AutoTokenizer

from crosslens.encoders.freeze import freeze
from crosslens.encoders.load import load_encoder, save_encoder
from crosslens.encoders.models.bilstm import fresh_bilstm
from crosslens.encoders.readouts.scalar_mix_bilstm import as_features
from crosslens.encoders.reinit import random_init
from crosslens.errors import RequestError
from crosslens.runs.corpora import Corpora
from crosslens.runs.finetuning import finetune_and_evaluate
from crosslens.runs.run import ModelRun
from crosslens.runs.store import Store
from crosslens.studies.plan import plan
from crosslens.studies.run_study import run_study
from crosslens.studies.study import Study
from crosslens.training.distributed import threads
from crosslens.training.finetune import finetune
from crosslens.training.recipe import find_recipe
from toys import SENTENCES

SETTINGS = {"batch": 2, "epochs": 1}

WAYS = {
    "none": lambda encoder, train: encoder,
    "1-2": lambda encoder, train: random_init(encoder, "1-2", seed=2),
    "attention and frozen": lambda encoder, train: freeze(
        random_init(encoder, "all", seed=2, components="attention"), "0-1"
    ),
    "features": lambda encoder, train: as_features(encoder, seed=2),
    "bilstm": lambda encoder, train: fresh_bilstm(train, seed=2, device="cpu"),
    "bilstm of few": lambda encoder, train: fresh_bilstm(train.limited(3), seed=2, device="cpu"),
    "parser": lambda encoder, train: encoder,
}
CONDITIONS = {
    "none": "none",
    "1-2": "1-2",
    "features": {"use": "features"},
    "bilstm": {"start": "bilstm"},
    "attention and frozen": {"layers": "all", "components": "attention", "freeze": "0-1"},
    "bilstm of few": {"start": "bilstm"},
    "parser": "none",
}
OF_WAY = {"bilstm of few": {"limit": 3}, "parser": {"decode": "greedy"}}
"""Way -> settings of its recipe or task, which are part of the questions."""


def run_of(study, treebanks, store):
    (asked,) = plan(study, Store(store), corpora=Corpora(str(treebanks))).asked
    return asked.run


@pytest.mark.parametrize("way", WAYS)
def test_by_every_door(way, study, treebanks, tiny_bert, encoder, tmp_path):
    """A study, the function behind ``crosslens finetune`` and Python: one id, one model, the same scores."""
    condition, settings = CONDITIONS[way], {**SETTINGS, **OF_WAY.get(way, {})}
    bilstm, task = condition == {"start": "bilstm"}, "parsing" if way == "parser" else "pos"
    given = study.model_dump()
    given["data"]["tasks"] = {task: given["data"]["tasks"]["pos"]}
    one = Study.model_validate({**given, "conditions": [condition], "seeds": [2], "set": settings, "recipe": "small"})
    planned = run_of(one, treebanks, tmp_path / "store")
    assert isinstance(planned, ModelRun)
    run_study(one, tmp_path / "store", executor="serial", data=str(treebanks), device="cpu")
    store = Store(tmp_path / "store")
    described = store.describe(planned.id)

    name = "bilstm" if bilstm else "small"
    recipe = find_recipe(name, task, settings)
    corpora = Corpora(str(treebanks))
    train = corpora.corpus("ud/en_toy", split="train")
    with threads(1):
        model = finetune(WAYS[way](encoder, train), task, train=train, recipe=recipe, seed=2)
        records = finetune_and_evaluate(
            "bilstm" if bilstm else tiny_bert,
            task,
            train="ud/en_toy",
            tests=["ud/en_pud", "ud/fr_pud"],
            condition="none" if bilstm else condition,
            recipe=name,
            settings=settings,
            seed=2,
            data=str(treebanks),
            device="cpu",
            out=tmp_path / "out",
        )
    alone = json.loads((tmp_path / "out" / "run.json").read_text())
    assert planned.id == model.facts["run"] == alone["run"] == described["run"]
    assert planned.identity == alone["identity"] == described["identity"]
    assert model.facts["weights"] == alone["facts"]["weights"] == described["facts"]["weights"]
    theirs = store.collect("toy")
    for name in ("run", "question", "value", "low", "high", "condition", "train_digest", "settings", "recipe"):
        assert records.records[name].to_pylist() == theirs.records[name].to_pylist(), name


def saved(folder, *, tiny_bert, change):
    """The tiny encoder with the same parameters, and something else changed."""
    shutil.copytree(tiny_bert, folder)
    change(folder)
    return folder


def set_config(**settings):
    def change(folder):
        config = json.loads((folder / "config.json").read_text())
        assert all(config[name] != value for name, value in settings.items())
        (folder / "config.json").write_text(json.dumps({**config, **settings}))

    return change


def set_tokenizer(alter):
    def change(folder):
        described = json.loads((folder / "tokenizer.json").read_text())
        alter(described)
        (folder / "tokenizer.json").write_text(json.dumps(described))

    return change


def lower_case(described):
    described["normalizer"]["lowercase"] = True


def other_subwords(described):
    described["model"]["max_input_chars_per_word"] = 3


CHANGES = {
    "dropout": set_config(hidden_dropout_prob=0.0),
    "number of heads": set_config(num_attention_heads=4),
    "activation": set_config(hidden_act="relu"),
    "epsilon": set_config(layer_norm_eps=1e-5),
    "normaliser": set_tokenizer(lower_case),
    "segmentation": set_tokenizer(other_subwords),
}


def test_encoders_of_one_set_of_parameters_are_told_apart(tiny_bert, encoder, tmp_path, study, treebanks):
    digests, runs = {encoder.digest}, {run_of(of(study, tiny_bert), treebanks, tmp_path / "store").id}
    for name, change in CHANGES.items():
        folder = saved(tmp_path / name.replace(" ", "-"), tiny_bert=tiny_bert, change=change)
        digests.add(load_encoder(folder, device="cpu").digest)
        runs.add(run_of(of(study, folder), treebanks, tmp_path / "store").id)
    assert len(digests) == len(runs) == 1 + len(CHANGES)


def of(study, folder):
    return study.model_copy(update={"encoder": str(folder), "conditions": study.conditions[:1], "seeds": (1,)})


def test_names_versions_and_places_are_no_part_of_a_digest(tiny_bert, encoder, tmp_path):
    save_encoder(encoder, tmp_path / "again")
    model, tokenizer = (
        AutoModel.from_pretrained(tiny_bert, add_pooling_layer=False),
        AutoTokenizer.from_pretrained(tiny_bert),
    )
    model.config.id2label = {0: "A", 1: "B", 2: "C"}
    model.save_pretrained(tmp_path / "plain")
    tokenizer("a batch that was cut", truncation=True, max_length=4, padding="max_length")
    tokenizer.save_pretrained(tmp_path / "plain")
    for folder in ("again", "plain"):
        assert load_encoder(tmp_path / folder, device="cpu").digest == encoder.digest, folder


def test_another_seed_of_the_layers_than_of_the_training_is_another_training(encoder, toy):
    recipe = find_recipe("small", "pos", {"batch": 3, "epochs": 1})
    ids = {
        finetune(random_init(encoder, "1", seed=drawn), "pos", train=toy("train"), recipe=recipe, seed=1).facts["run"]
        for drawn in (1, 2)
    }
    assert len(ids) == 2


PRETRAINING = """
corpora: {en: en.txt, fr: fr.txt}
separate: "0"
vocabulary: {size: 240}
shape: {layers: 2, width: 16, heads: 2, positions: 32}
batch: 4
steps: 3
"""


def test_a_language_that_selects_parts_of_the_encoder_is_part_of_the_ids(tmp_path, treebanks):
    """The language given with a file decides weights and scores, whether the study pretrains the encoder or not."""
    train, test = (str(next(treebanks.glob(f"ud/*/en_{name}.conllu"))) for name in ("toy-ud-train", "pud-ud-test"))
    for language in ("en", "fr"):
        (tmp_path / f"{language}.txt").write_text("\n".join(SENTENCES[language] * 10), "utf-8")
    (tmp_path / "pre.yaml").write_text(PRETRAINING)
    sources = {tag: {"train": f"{tag}={train}", "tests": [f"{tag}={test}"]} for tag in ("en", "fr")}
    given = {
        "name": "files",
        "encoder": f"pretrain:{tmp_path / 'pre.yaml'}",
        "data": {"recipe": "small", "tasks": {"pos": sources}},
        "set": {**SETTINGS, "select": "last"},
        "seeds": [1],
    }
    store = Store(tmp_path / "store")
    report = run_study(Study.model_validate(given), store.folder, executor="serial", device="cpu")
    assert report.failed == ()
    pretrained, *runs = [each.run for each in report.plan.asked]
    folder = store.encoder(pretrained.id)
    scores = store.collect("files")
    assert scores.records["target"].to_pylist() == ["en", "fr"]
    assert len({store.describe(run.id)["facts"]["weights"] for run in runs}) == 2
    assert not any("share their runs" in note for note in report.plan.notes)

    existing = plan(Study.model_validate({**given, "encoder": str(folder)}), store)
    assert [each.run.id for each in existing.asked] == [run.id for run in runs]
    assert existing.left == ()
    for run, tag in zip(runs, sources, strict=True):
        asked = {"train": f"{tag}={train}", "tests": [f"{tag}={test}"]}
        options = {"recipe": "small", "settings": given["set"], "device": "cpu"}
        with threads(1):
            (record,) = finetune_and_evaluate(folder, "pos", **asked, **options)
        (theirs,) = scores.filter(target=tag)
        assert (record.run, record.question, record.value) == (run.id, theirs.question, theirs.value)


def test_a_wrong_condition_is_one_sentence(tiny_bert, treebanks):
    for condition, words in (
        ({"layer": "1"}, "layer: unknown setting; did you mean 'layers'"),
        ({"components": "attention"}, r"layers: required with components \(option --random-init\)"),
        ({"layers": "1", "components": "x"}, "components: input should be"),
        ({"start": "nothing"}, "start: input should be"),
    ):
        with pytest.raises(RequestError, match=words):
            finetune_and_evaluate(
                tiny_bert, "pos", train="ud/en_toy", tests=["ud/fr_pud"], condition=condition, data=str(treebanks)
            )
