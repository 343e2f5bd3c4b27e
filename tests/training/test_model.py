"""What a fine-tuned model says of itself."""

import copy
import dataclasses

import pytest
import torch

from crosslens.encoders.reinit import random_init
from crosslens.errors import RequestError
from crosslens.training.evaluate import evaluate
from crosslens.training.model import LABELS_SHOWN, NAMED, in_precision, model_digest


def test_a_model_shows_its_training_and_labels(tagger):
    lines = repr(tagger).splitlines()
    assert lines[0] == f"TaskModel pos, fine-tuned on {tagger.facts['train']}, seed 1"
    assert lines[1].strip().startswith(f"{len(tagger.labels)} labels: {tagger.labels[0]}, ")
    assert lines[2].strip().startswith(f"encoder {tagger.encoder.name}: bert, 4 layers × 32")
    assert [line.strip() for line in lines[3:]] == ["fine-tuned for pos"]
    ablated = dataclasses.replace(tagger, encoder=random_init(tagger.encoder, "3"))
    assert repr(ablated).splitlines()[-1].strip() == "re-initialised: 16 tensors of layers 3; fine-tuned for pos"


def test_only_the_first_labels_are_shown(tagger):
    many = dataclasses.replace(tagger, labels=tuple(f"L{number}" for number in range(LABELS_SHOWN + 1)))
    assert repr(many).splitlines()[1].strip().endswith(f"L{LABELS_SHOWN - 1}, …")
    few = dataclasses.replace(tagger, labels=("a", "b"))
    assert repr(few).splitlines()[1].strip() == "2 labels: a, b"


def test_a_model_trained_in_bfloat16_predicts_in_nothing_else(tagger, monkeypatch):
    monkeypatch.setattr("crosslens.encoders.matmul.has_fast_bfloat16", lambda device: True)  # else there is a warning
    coarse = dataclasses.replace(tagger, recipe=tagger.recipe.model_copy(update={"precision": "bfloat16"}))
    assert in_precision(coarse, None) is coarse
    assert in_precision(coarse, "bfloat16").computing_encoder.precision == "bfloat16"
    assert in_precision(tagger, "bfloat16").computing_encoder.precision == "bfloat16"
    assert in_precision(tagger, "float32").computing_encoder.precision == "float32"
    read_coarsely = in_precision(tagger, "bfloat16")
    assert in_precision(read_coarsely, "float32").computing_encoder.precision == "float32"
    with pytest.raises(RequestError, match="was trained with precision=bfloat16"):
        in_precision(coarse, "float32")


def test_tags_of_records_are_facts_without_a_column_and_the_same_on_every_machine(tagger, toy):
    (tags,) = evaluate(tagger, toy("test")).tags()
    training = {name.removeprefix("training_") for name in tags if name.startswith("training_")}
    assert training == set(tagger.facts) - NAMED


def test_the_digest_of_a_model_is_that_of_all_its_weights(tagger):
    seen = {model_digest(tagger.encoder, tagger.head)}
    for module in (tagger.encoder.model, tagger.head):
        parameters = dict(module.named_parameters())
        assert len(parameters) > 1
        for name, parameter in list(parameters.items())[:20]:
            changed = copy.deepcopy(module)
            with torch.no_grad():
                dict(changed.named_parameters())[name].view(-1)[-1] += 1
            parts = (tagger.encoder, changed) if module is tagger.head else (at(tagger.encoder, changed), tagger.head)
            seen.add(model_digest(*parts))
            assert parameter.numel() > 0
    assert len(seen) == 1 + 20 + len(dict(tagger.head.named_parameters()))


def at(encoder, model):
    return dataclasses.replace(encoder, model=model)
