"""The description of a run, ``run.json``."""

from dataclasses import replace

from crosslens.encoders.freeze import freeze
from crosslens.encoders.reinit import random_init
from crosslens.training.finetune import finetune
from crosslens.training.provenance import describe_run
from toy_trainings import FAST


def test_the_described_run_is_the_one_that_was_trained(encoder, toy):
    """Its id is made again from what the model knows: seeds, data, settings and changes."""
    best = FAST.model_copy(update={"select": "best", "epochs": 1, "limit": 4})
    others = {
        "plain": (encoder, {"recipe": FAST.model_copy(update={"epochs": 1})}),
        "bfloat16": (encoder, {"recipe": FAST.model_copy(update={"epochs": 1, "precision": "bfloat16"})}),
        "dev": (encoder, {"recipe": best, "dev": toy("dev")}),
        "seeds": (random_init(freeze(encoder, "1"), "2", seed=5), {"recipe": best, "dev": toy("dev"), "seed": 2}),
    }
    runs = set()
    for given, options in others.values():
        model = finetune(given, "pos", train=toy(), **options)
        described = describe_run(model)
        assert described["run"] == model.facts["run"]
        assert described["facts"] == dict(model.facts)
        runs.add(described["run"])
    assert len(runs) == len(others)


def test_tensors_are_listed_under_every_change(tagger):
    encoder = freeze(random_init(tagger.encoder, "1", seed=5), "2")
    changes = tuple(replace(change, shared=change.tensors[:number]) for number, change in enumerate(encoder.changes))
    described = describe_run(replace(tagger, encoder=replace(encoder, changes=changes)))
    assert [len(names) for names in described["changed_tensors"].values()] == [16, 16]
    assert list(described["shared_tensors"].values()) == [[changes[1].tensors[0]]]
