"""What a fine-tuned model says of its training, fact by fact, and what finetune makes of its arguments."""

import dataclasses

import pytest
import torch

from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Sentence, Text
from crosslens.digests import stream_seed
from crosslens.encoders.freeze import freeze
from crosslens.encoders.reinit import random_init
from crosslens.errors import DataError, RequestError
from crosslens.tasks import find_task
from crosslens.training import finetune as module
from crosslens.training import versions
from crosslens.training.finetune import finetune
from crosslens.training.identity import run_id, training_identity
from crosslens.training.model import model_digest
from crosslens.training.predict import read_for
from crosslens.training.recipe import default_recipe, find_recipe
from toy_trainings import FAST

ONE = FAST.model_copy(update={"epochs": 1})
BEST = FAST.model_copy(update={"select": "best", "epochs": 2, "batch": 6})


def test_every_fact_of_a_training(encoder, toy):
    """Of a limited corpus with a word that is cut, an unknown one and a sentence in two windows; without dev data."""
    odd = (Sentence(("x" * 300, "\u200b"), upos=("X", "X")), Sentence(("the",) * 80, upos=("DET",) * 80))
    corpus = dataclasses.replace(toy(), items=(odd[0], toy()[0], odd[1], *toy()[1:6]), release="2.99")
    recipe, losses = ONE.model_copy(update={"limit": 4}), []
    ablated = random_init(encoder, "1", seed=5)
    model = finetune(ablated, "pos", train=corpus, recipe=recipe, seed=2, stepped=lambda _, loss: losses.append(loss))
    facts = dict(model.facts)
    assert 0 < facts.pop("seconds") < 300
    read = read_for(model, corpus.limited(4))
    assert (read.unknown > 0, read.split > 0) == (True, True)
    identity = training_identity(
        encoder=encoder.digest,
        condition=ablated.condition,
        seed=2,
        task=find_task("pos"),
        recipe=recipe,
        train=corpus.digest,
        dev=None,
        drawn=[5],
    )
    assert facts == {
        "run": run_id(identity),
        "weights": model_digest(model.encoder, model.head),
        "encoder_digest": encoder.digest,
        "train": corpus.name,
        "train_digest": corpus.digest,
        "train_sentences": 4,
        "train_words": corpus.limited(4).words,
        "train_release": "2.99",
        "train_unknown_words": read.unknown,
        "train_cut_words": read.cut,
        "train_split_sentences": read.split,
        "steps": 2,
        "last_loss": losses[-1],
        "halved_batches": 0,
        "processes": 1,
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "semantics": versions.FINE_TUNING,
        "selection": "last",
    }
    assert (model.seed, model.source, model.recipe, model.labels) == (
        2,
        "en",
        recipe,
        find_task("pos").labels(corpus.limited(4)),
    )
    assert not model.encoder.model.training
    assert not model.head.training


def test_the_facts_of_development_data(encoder, toy):
    """Selecting by data of another language than that of training is called an oracle, and so is stopping by them."""
    theirs, unknown = (dataclasses.replace(toy("dev"), language=language, name="theirs") for language in ("fr", None))
    for select, schedule, dev, selection in (
        ("best", "linear", toy("dev"), "best"),
        ("best", "linear", theirs, "oracle theirs"),
        ("best", "linear", unknown, "best"),
        ("last", "linear", theirs, "last"),
        ("last", "plateau", theirs, "last, oracle theirs"),
        ("last", "plateau", toy("dev"), "last"),
        ("average", "linear", toy("dev"), "average"),
    ):
        scores = []
        recipe = BEST.model_copy(update={"select": select, "schedule": schedule})
        facts = finetune(
            encoder,
            "pos",
            train=toy(),
            dev=dev,
            recipe=recipe,
            validated=lambda _, by_metric, to=scores: to.append(by_metric["accuracy"]),
        ).facts
        epoch = {"best": scores.index(max(scores)) + 1, "last": 2, "average": None}[select]
        assert (facts["dev"], facts["dev_digest"], facts["selection"]) == (dev.name, dev.digest, selection)
        assert (facts.get("epoch"), facts["dev_score"]) == (epoch, scores[epoch - 1 if epoch else -1])


def test_texts_have_no_words_to_count_and_no_release(encoder):
    texts = Corpus(tuple(Text((text,), label=label) for text, label in (("a cat", "x"), ("a dog", "y"))), "texts", "en")
    facts = finetune(encoder, "document", train=texts, recipe=ONE).facts
    assert not {"train_words", "train_release", "dev", "dev_digest", "dev_score", "epoch"} & set(facts)
    assert facts["train_sentences"] == 2


@pytest.fixture
def begin(monkeypatch):
    """Call finetune up to where training begins; return the model, the training data and the development data."""
    begun = []

    def stop(model, train, encoded, dev, **_):
        begun.append((model, train, dev.corpus if dev else None))
        raise KeyboardInterrupt

    def call(*args, **settings):
        monkeypatch.setattr(module, "Epochs", stop)
        with pytest.raises(KeyboardInterrupt):
            finetune(*args, **settings)
        return begun[-1]

    return call


def test_dev_data_are_the_dev_split_of_a_named_corpus_where_they_are_needed(encoder, treebanks, monkeypatch, begin):
    monkeypatch.setenv("CROSSLENS_DATA", str(treebanks))
    plateau = FAST.model_copy(update={"schedule": "plateau"})
    for recipe, given, name in (
        (plateau, None, "ud/en_toy:dev"),
        (BEST, None, "ud/en_toy:dev"),
        (ONE, None, None),
        (ONE, "ud/en_toy", "ud/en_toy:dev"),
    ):
        _, train, dev = begin(encoder, "pos", train="ud/en_toy", dev=given, recipe=recipe)
        assert train.name == "ud/en_toy:train"
        assert (dev.name if dev else None) == name


@pytest.mark.parametrize(
    ("changes", "what"),
    [({"select": "best"}, "selects the best epoch"), ({"schedule": "plateau"}, "lowers the learning rate")],
)
def test_what_needs_dev_data_says_so(encoder, toy, changes, what):
    with pytest.raises(RequestError) as refused:
        finetune(encoder, "pos", train=toy(), recipe=FAST.model_copy(update=changes))
    assert refused.value.message == f"the recipe {what} by dev scores, but there is no dev data"
    assert refused.value.hint == "give dev data, or set select=last and schedule=linear"


def test_dev_data_are_checked_as_training_data_are(encoder, toy):
    bare = Corpus((Sentence(("a", "b")),), "bare", "en")
    with pytest.raises(DataError, match="bare has no UPOS tags"):
        finetune(encoder, "pos", train=toy(), dev=bare, recipe=FAST)
    with pytest.raises(DataError, match="nothing has no words"):
        finetune(encoder, "pos", train=toy(), dev=Corpus((), "nothing", "en"), recipe=FAST)


def test_a_recipe_by_name_and_a_tasks_own_settings(encoder, toy, begin):
    """A task that is given keeps its settings; a named one takes the recipe's."""
    given = find_task("parsing", {"arc_size": 8})
    recipe = ONE.model_copy(update={"task": given.settings})
    for task, asked, used, settings in (
        ("parsing", "small", find_recipe("small", "parsing"), find_task("parsing")),
        ("parsing", None, default_recipe(find_task("parsing")), find_task("parsing")),
        (find_task("parsing"), recipe, recipe, find_task("parsing")),
        ("parsing", recipe, recipe, given),
        (given, ONE, ONE, given),
    ):
        data = {"train": toy(task="parsing"), "dev": toy("dev", task="parsing")}
        model, _, _ = begin(encoder, task, **data, recipe=asked)
        assert (model.recipe, model.task) == (used, settings)


def test_head_and_low_rank_updates_have_streams_of_random_numbers_of_their_own(encoder, toy, monkeypatch):
    paths = []
    updates = []
    monkeypatch.setattr(module, "stream_seed", lambda *path: paths.append(path) or stream_seed(*path))
    monkeypatch.setattr(module, "begin_update", lambda encoder, *, seed: updates.append(seed))
    state = torch.random.get_rng_state()
    finetune(encoder, "pos", train=toy(), recipe=ONE, seed=7)
    assert (paths, updates) == ([(7, "head")], [7])
    assert torch.equal(torch.random.get_rng_state(), state)


def test_a_state_of_other_trained_parameters_is_refused(encoder, toy, tmp_path):
    """Freezing by hand is no part of a run's identity, but a state of more or fewer parameters does not fit."""
    recipe = ONE

    def stop(update):
        if update.done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        finetune(encoder, "pos", train=toy(), recipe=recipe, state=str(tmp_path / "state"), save_every=1, progress=stop)
    assert (tmp_path / "state").exists()
    by_hand = dataclasses.replace(freeze(encoder, "0"), changes=(), origin=None)
    with pytest.raises(RequestError, match="holds an unfinished training with other settings"):
        finetune(by_hand, "pos", train=toy(), recipe=recipe, state=tmp_path / "state")
    resumed = finetune(encoder, "pos", train=toy(), recipe=recipe, state=tmp_path / "state")
    whole = finetune(encoder, "pos", train=toy(), recipe=recipe)
    assert resumed.facts["weights"] == whole.facts["weights"]
