"""An id knows every field that can change a result: over all fields there are, those that are added later too."""

from dataclasses import fields, replace
from typing import Literal, get_args, get_origin

import pytest
from pydantic import BaseModel, ValidationError

from crosslens.encoders.condition import Condition
from crosslens.encoders.interventions import INTERVENTIONS
from crosslens.mlm.adapt_settings import Adaptation
from crosslens.mlm.pretrain_settings import Pretraining
from crosslens.runs.question import CorpusRef, Overlap, ProbeQuestion, Question, Score, Similarity
from crosslens.runs.run import AdaptRun, EncoderRef, EncoderRun, ModelRun, PretrainRun, Training
from crosslens.tasks import TASKS
from crosslens.training.identity import run_id, training_identity
from crosslens.training.recipe import RECIPES, Recipe

BASE = EncoderRef("folder", "name", "c" * 64)
TRAIN, DEV, TEST = (CorpusRef(f"ud/en_ewt:{split}", split[0] * 64) for split in ("train", "dev", "test"))
RECIPE = RECIPES["muller2021.pos"]
TRAINING = Training("pos", {}, "en", "en", TRAIN, DEV, RECIPE, "best")

KEYS = {
    "factor": {"factor": ("no-anchors", "default")},
    "checkpoint": {"checkpoint": ("500", "1000")},
    "lora": {
        "lora": (2, 4),
        "lora_layers": ("1-2", "1"),
        "lora_components": ("attention", "ffn"),
        "lora_alpha": (8.0, 16.0),
    },
    "start": {"start": ("adapted", "scratch")},
    "reinit": {"layers": ("1-2", "1"), "components": ("attention", "ffn"), "init": ("torch", "architecture")},
    "freeze": {"freeze": ("0", "0-1")},
    "features": {"use": ("features", None), "hidden": (64, 32)},
    "tower": {
        "tower": (1, 2),
        "height": (2, 3),
        "mapped_from": ("one", "other"),
        "mapping": ("a", "b"),
        "mapped_by": ("identity", "shuffled"),
    },
    "revert": {"revert": ("1-2", "1")},
    "swap": {"swap": ("1-2", "1"), "swap_from": ("a", "b"), "swap_digest": ("ab", "cd")},
    "add": {"add": ("1-2", "1"), "add_from": ("a", "b"), "add_digest": ("ab", "cd"), "add_scale": (0.5, 2.0)},
    "zero": {"zero": ("1-2", "1.ffn")},
    "mean": {"mean": ("1-2", "1.ffn")},
    "resample": {"resample": ("1-2", "1.ffn"), "resample_seed": (2, 3)},
    "noise": {"noise": ("1-2", "1.ffn"), "noise_dose": (0.5, 1.0), "noise_seed": (2, 3)},
    "rotate": {"rotate": ("1-2", "1.ffn"), "degrees": (30.0, 60.0), "rotate_seed": (2, 3)},
    "erase": {
        "erase": ("1-2", "1.ffn"),
        "erase_to": ("a", "b"),
        "erase_digest": ("ab", "cd"),
        "erase_dose": (0.5, 2.0),
        "erase_control": ("random", None),
        "erase_seed": (2, 3),
    },
    "patch": {
        "patch": ("1-2", "1.ffn"),
        "patch_from": ("a", "b"),
        "patch_digest": ("ab", "cd"),
        "patch_by": ("words", "sentences"),
        "patch_links": ("a", "b"),
    },
    "reading": {"bidirectional": ("1-2", "all"), "repeat": (2, 3), "subword": ("last", None)},
    "precision": {"precision": ("bfloat16", None)},
    "quantize": {"quantize": ("int8", None)},
}
"""Intervention -> each of its keys with two values."""


def run_of(**changes):
    return ModelRun(**{"base": BASE, "condition": Condition(), "seed": 1, "training": TRAINING, **changes})


def others(model: BaseModel, name: str, *, most: int = 1):
    """Copies of a value with other values of one field, so many at most, and of each field of a value in it."""
    value = getattr(model, name)
    if isinstance(value, BaseModel):
        for inner in type(value).model_fields:
            for other in others(value, inner):
                yield f"{name}.{inner}", model.model_copy(update={name: other[1]})
        return
    annotation = type(model).model_fields[name].annotation
    literal = [a for part in (annotation, *get_args(annotation)) if get_origin(part) is Literal for a in get_args(part)]
    numbers = (3, 12, 60, 0.5, 0.25, 1e-3, (0.8, 0.9)) if not isinstance(value, bool) else (not value,)
    tried = [value]
    for candidate in (*literal, *numbers, "1", "en", {"en": "x"}, {"en-fr": "another"}, None):
        try:
            other = type(model).model_validate({**model.model_dump(), name: candidate})
        except ValidationError:
            continue
        if getattr(other, name) not in tried and len(tried) <= most:
            tried.append(getattr(other, name))
            yield name, other
    assert len(tried) > 1, f"no other value of {name} is known here: {value!r}"


def test_every_key_of_every_intervention_is_part_of_the_id():
    assert set(KEYS) == set(INTERVENTIONS.built_in)
    for kind, keys in KEYS.items():
        assert set(keys) == set(INTERVENTIONS[kind].keys), kind
        usual = {key: first for key, (first, _) in keys.items()}
        conditions = [usual, *({**usual, key: other} for key, (_, other) in keys.items() if other is not None)]
        for make in (run_of, lambda condition: EncoderRun(BASE, condition, 1)):
            ids = {make(condition=Condition.read(each)).id for each in (*conditions, "none")}
            assert len(ids) == len(conditions) + 1, kind


def test_a_default_that_is_spelt_out_is_none():
    """So a setting that is added later leaves old ids as they were."""
    written = 0
    for kind in INTERVENTIONS.built_in:
        fields_of = {key: INTERVENTIONS[kind].model_fields[field] for key, field in INTERVENTIONS[kind].keys.items()}
        needed = {key: KEYS[kind][key][0] for key, field in fields_of.items() if field.is_required()}
        defaults = {key: field.default for key, field in fields_of.items() if not field.is_required()}
        bare, spelt = Condition.read(needed), Condition.read({**needed, **defaults})
        assert bare.text == spelt.text
        assert bare.plain == needed if needed else bare.text == Condition().text
        assert run_of(condition=bare).id == run_of(condition=spelt).id
        written += len(defaults)
    assert written > 4


def test_the_order_in_which_a_condition_is_written_is_none():
    first, second = {"layers": "1-2", "init": "torch", "freeze": "0"}, {"freeze": "0", "init": "torch", "layers": "1-2"}
    assert run_of(condition=Condition.read(first)).id == run_of(condition=Condition.read(second)).id
    assert run_of(condition=Condition.read(first)).id != run_of(condition=Condition.read({"layers": "1-2"})).id


def test_every_setting_of_a_recipe_is_part_of_the_id_but_its_name():
    changed = [pair for name in Recipe.model_fields if name not in ("name", "task") for pair in others(RECIPE, name)]
    assert len(changed) == len(Recipe.model_fields) - 2
    ids = {name: run_of(training=replace(TRAINING, recipe=recipe)).id for name, recipe in changed}
    assert len({run_of().id, *ids.values()}) == 1 + len(ids)
    renamed = RECIPE.model_copy(update={"name": "another"})
    assert run_of(training=replace(TRAINING, recipe=renamed)).id == run_of().id


@pytest.mark.parametrize("task", TASKS.built_in)
def test_every_setting_of_a_task_is_part_of_the_id(task):
    usual = type(TASKS[task])()
    names = [name for name in type(usual).model_fields if name in usual.settings]
    assert set(names) == set(usual.settings)
    changed = [other.settings for name in names for _, other in others(usual, name, most=2)]
    trainings = [replace(TRAINING, task=task, recipe=Recipe(task=settings)) for settings in ({}, *changed)]
    assert len({run_of(training=training).id for training in trainings}) == 1 + len(changed)
    assert len(changed) >= len(names)


def test_a_seed_of_the_layers_is_part_of_the_id_where_it_is_not_the_trainings():
    def identity(*drawn):
        return training_identity(
            encoder="e",
            condition=Condition(layers="1"),
            seed=1,
            task=TASKS["pos"],
            recipe=RECIPE,
            train="t",
            dev=None,
            drawn=drawn,
        )

    assert identity() == identity(1) == identity(1, 1)
    assert len({run_id(identity(*drawn)) for drawn in ((), (2,), (3,), (2, 1), (1, 2))}) == 5


def test_every_field_of_a_training_is_one_that_determines_it_or_a_name():
    determines = {"task": "ner", "train": DEV, "dev": None, "recipe": RECIPES["small"]}
    names = {"settings": {"x": 1}, "source": "english", "language": "xx", "selection": "last", "translated_from": "fr"}
    names |= {"compared": ("batch", "select")}
    assert {field.name for field in fields(Training)} == {*determines, *names}
    assert len({run_of(training=replace(TRAINING, **{f: v})).id for f, v in determines.items()} | {run_of().id}) == 5
    assert {run_of(training=replace(TRAINING, **{f: v})).id for f, v in names.items()} == {run_of().id}
    # A name of the same data is a name.
    same = replace(TRAINING, train=replace(TRAIN, name="x"), dev=replace(DEV, name="y"))
    assert run_of(training=same, base=replace(BASE, path="x", name="y", made=True)).id == run_of().id


def test_every_setting_of_a_pretraining_and_of_an_adaptation_is_part_of_the_id():
    texts = {"en": "1" * 64, "fr": "2" * 64}
    given = {"dictionaries": {"en-fr": "muse/en-fr"}, "extra_anchors": {}, "validation": {"select": "mean"}}
    pretraining = Pretraining(corpora={"en": "en.txt", "fr": "fr.txt"}, **given)
    names = [name for name in Pretraining.model_fields if name != "corpora"]
    changed = [pair for name in names for pair in others(pretraining, name)]
    runs = {name: PretrainRun(other, "", texts, Condition(), "toy") for name, other in changed}
    runs |= {"": PretrainRun(pretraining, "", texts, Condition(), "toy")}
    runs |= {"text": PretrainRun(pretraining, "", {**texts, "fr": "3" * 64}, Condition(), "toy")}
    assert len(runs) > len(names)
    assert len({run.id for run in runs.values()}) == len(runs)
    elsewhere = Pretraining(corpora={"en": "a", "fr": "b"}, **given)
    assert PretrainRun(elsewhere, "home", texts, Condition(), "other", "fr").id == runs[""].id
    reordered = Pretraining(corpora={"fr": "fr.txt", "en": "en.txt"}, **given)
    assert PretrainRun(reordered, "", texts, Condition(), "toy").id not in {run.id for run in runs.values()}

    adaptation = Adaptation()
    changed = [pair for name in Adaptation.model_fields for pair in others(adaptation, name)]
    adapted = AdaptRun(BASE, adaptation, "fr", TEST, Condition())
    ids = {replace(adapted, settings=other).id for _, other in changed}
    ids |= {replace(adapted, base=replace(BASE, digest="0")).id, replace(adapted, text=DEV).id, adapted.id}
    assert len(changed) > len(Adaptation.model_fields)
    assert len(ids) == len(changed) + 3


QUESTIONS: list[tuple[Question, dict[str, object]]] = [
    (Score(TEST, {}), {"corpus": DEV, "settings": {"punct": "exclude"}}),
    (
        Similarity("ud/pud", "en", "fr", ("1", "2"), "cka", None),
        {"corpus": "x", "source": "de", "target": "de", "digests": ("1", "3"), "measure": "rsa", "sentences": 9},
    ),
    (
        ProbeQuestion("langid", {}, TRAIN, TEST, None, "scaled", 1),
        {
            "name": "topic",
            "settings": {"pooling": "cls"},
            "train": DEV,
            "test": DEV,
            "dev": DEV,
            "inputs": "raw",
            "seed": 2,
        },
    ),
    (Overlap(TRAIN, TEST), {"train": DEV, "test": DEV, "limit": 9}),
]


@pytest.mark.parametrize(("question", "other"), QUESTIONS, ids=[question.kind for question, _ in QUESTIONS])
def test_every_field_of_a_question_is_part_of_its_id(question, other):
    assert {field.name for field in fields(question)} == set(other)
    assert len({question.id, *(replace(question, **{f: v}).id for f, v in other.items())}) == 1 + len(other)
