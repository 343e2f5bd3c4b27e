"""Epochs: the order of their batches, the one whose weights are kept, and what a kept state is good for."""

import dataclasses
from typing import ClassVar

import pytest
import torch

from crosslens.encoders.reinit import random_init
from crosslens.errors import RequestError
from crosslens.training import epochs as module
from crosslens.training.evaluate import evaluate
from crosslens.training.finetune import finetune
from crosslens.training.recipe import Recipe
from toy_trainings import assert_equal

EPOCH = 3  # steps: six sentences, two a batch
RECIPE = Recipe(batch=2, learning_rate=1e-3, epochs=4, encoder_dropout="off", head_dropout=0.0)
STILL = RECIPE.model_copy(update={"select": "last", "learning_rate": 1e-30, "epochs": 1})  # moves nothing


@pytest.fixture
def scripted(monkeypatch):
    """Dev scores by hand, one an epoch; the head's weights at each of them."""

    class Script:
        scores: ClassVar[list[float]] = []
        heads: ClassVar[list[torch.Tensor]] = []

    def score(dev, model, states):
        Script.heads.append(model.head.classifier.weight.detach().clone())
        return Script.scores.pop(0)

    Script.scores, Script.heads = [], []
    monkeypatch.setattr(module.DevData, "score", score)
    return Script


def train(encoder, toy, **settings):
    given = {"dev": toy("dev"), "recipe": RECIPE, "seed": 1}
    return finetune(encoder, "pos", train=toy(), **{**given, **settings})


@pytest.mark.parametrize(
    ("select", "scores", "epoch"),
    [
        ("best", [50, 80, 80, 60], 2),
        ("best", [90, 80, 85, 60], 1),
        ("best", [50, 60, 70, 80], 4),
        ("best", [0, 0, 0, 0], 1),
        ("last", [50, 80, 80, 60], 4),
    ],
)
def test_the_weights_of_the_first_best_epoch_are_kept(scripted, encoder, toy, select, scores, epoch):
    scripted.scores = [*map(float, scores)]
    model = train(encoder, toy, recipe=RECIPE.model_copy(update={"select": select}))
    heads = scripted.heads
    assert len(heads) == 4
    assert [torch.equal(model.head.classifier.weight, head) for head in heads] == [n == epoch for n in (1, 2, 3, 4)]
    assert (model.facts["epoch"], model.facts["dev_score"]) == (epoch, scores[epoch - 1])


@pytest.mark.parametrize(("select", "schedule"), [("best", "linear"), ("last", "plateau")])
def test_resumed_after_a_dev_score_fell_it_goes_on_to_the_same_bits(scripted, encoder, toy, tmp_path, select, schedule):
    """The learning rate that fell, and the weights of the best epoch, are part of the state."""
    recipe = RECIPE.model_copy(update={"select": select, "schedule": schedule, "floor": 1e-9})
    scores = [80.0, 50.0, 60.0, 70.0]
    scripted.scores = list(scores)
    whole = train(encoder, toy, recipe=recipe)

    def die(update):
        if update.done == 7:
            raise KeyboardInterrupt

    scripted.scores = list(scores)
    with pytest.raises(KeyboardInterrupt):
        train(encoder, toy, recipe=recipe, state=tmp_path / "state", progress=die)
    assert len(scripted.scores) == 4 - 7 // EPOCH
    again = train(encoder, toy, recipe=recipe, state=tmp_path / "state")
    assert again.facts["weights"] == whole.facts["weights"]
    assert (again.facts["epoch"], again.facts["dev_score"]) == (whole.facts["epoch"], whole.facts["dev_score"])


@pytest.mark.parametrize(("select", "epoch"), [("best", 2), ("last", 5)])
def test_the_learning_rate_halves_where_a_score_does_not_rise_and_ends_the_training_below_the_floor(
    scripted, encoder, toy, monkeypatch, select, epoch
):
    """Rates of 1e-3, 5e-4 and 2.5e-4, and then one below the floor."""
    scales = []

    class Watched(module.Loop):
        def _update(self, *given):
            scales.append(self.scale)
            return super()._update(*given)

    monkeypatch.setattr(module, "Loop", Watched)
    scripted.scores = [50.0, 60.0, 60.0, 55.0, 58.0, 70.0]
    recipe = RECIPE.model_copy(update={"schedule": "plateau", "floor": 2e-4, "epochs": 6, "select": select})
    model = train(encoder, toy, recipe=recipe)
    assert scales[::EPOCH] == [1.0, 1.0, 1.0, 0.5, 0.25]
    assert model.facts["steps"] == 5 * EPOCH
    assert model.facts["epoch"] == epoch


def test_a_plateau_ends_where_the_higher_of_the_two_rates_is_below_the_floor(scripted, encoder, toy):
    """Rates of the head: 4e-3, 4e-3, 2e-3, and then one below the floor."""
    scripted.scores = [50.0] * 6
    changes = {"schedule": "plateau", "floor": 1.5e-3, "epochs": 6, "head_learning_rate": 4e-3}
    model = train(encoder, toy, recipe=RECIPE.model_copy(update=changes))
    assert model.facts["steps"] == 3 * EPOCH


def test_dev_data_add_no_labels(encoder, toy):
    gold = toy("dev")
    strange = dataclasses.replace(gold, items=tuple(dataclasses.replace(s, upos=("SYM",) * len(s)) for s in gold.items))
    alone, held_out = (
        train(encoder, toy, dev=None, recipe=RECIPE.model_copy(update={"select": "last"})),
        train(encoder, toy, dev=strange),
    )
    assert "SYM" not in alone.labels
    assert held_out.labels == alone.labels
    assert held_out.facts["dev_score"] == 0.0


def test_a_state_fits_one_training_only(encoder, toy, tmp_path):
    """Another seed, encoder, training or dev corpus, or task setting: refused, and the file stays as it is."""
    state = tmp_path / "state"
    recipe = RECIPE.model_copy(update={"epochs": 1})
    model = train(encoder, toy, recipe=recipe, state=state, save_every=1)
    kept = state.read_bytes()
    fewer = dataclasses.replace(toy(), items=toy().items[:-1])
    others = {
        "seed": {"seed": 2},
        "encoder": {"encoder": random_init(encoder, "1", seed=1)},
        "data": {"train": fewer},
        "dev": {"dev": dataclasses.replace(toy("dev"), items=toy("dev").items[:-1])},
        "no dev": {"dev": None, "recipe": recipe.model_copy(update={"select": "last"})},
        "settings": {"recipe": recipe.model_copy(update={"learning_rate": 2e-3})},
    }
    for name, other in others.items():
        given = {"encoder": encoder, "train": toy(), "dev": toy("dev"), "recipe": recipe, "seed": 1, **other}
        with pytest.raises(RequestError, match="unfinished training with other settings or data"):
            finetune(given.pop("encoder"), "pos", state=state, **given)
        assert state.read_bytes() == kept, name
    again = train(encoder, toy, recipe=recipe, state=state)
    assert again.facts["weights"] == model.facts["weights"]


def test_every_epoch_reads_every_sentence_once_in_an_order_of_its_own(encoder, toy, monkeypatch):
    read = []
    original = module.task_batch

    def watch(model, corpus, windows):
        read.append([window.sentence for window in windows])
        return original(model, corpus, windows)

    monkeypatch.setattr(module, "task_batch", watch)
    orders = {}
    for seed in (1, 2):
        read.clear()
        train(encoder, toy, dev=None, recipe=RECIPE.model_copy(update={"select": "last"}), seed=seed)
        epochs = [read[start : start + EPOCH] for start in range(0, len(read), EPOCH)]
        assert len(epochs) == 4
        for epoch in epochs:
            assert sorted(sentence for batch in epoch for sentence in batch) == list(range(6))
        orders[seed] = epochs
        assert len({str(epoch) for epoch in epochs}) > 1
    assert orders[1] != orders[2]


def test_the_seed_draws_the_head(encoder, toy):
    """Before a step is made: a learning rate of next to nothing."""
    first, again, other = (
        train(encoder, toy, dev=None, recipe=STILL, seed=seed).head.classifier.weight for seed in (1, 1, 2)
    )
    assert torch.equal(first, again)
    assert not torch.allclose(first, other)


def test_the_optimiser_is_the_recipes(encoder, toy, monkeypatch):
    """Every setting that both have, each with a value that is not its default."""
    made = {}

    class Watched(module.Optimiser):
        def __init__(self, **given):
            made.update(given)
            super().__init__(**given)

    monkeypatch.setattr(module, "Optimiser", Watched)
    given = {
        "warmup": 0.3,
        "betas": (0.8, 0.95),
        "epsilon": 1e-7,
        "weight_decay": 0.02,
        "clip": 0.5,
        "schedule": "constant",
    }
    assert all(value != getattr(RECIPE, name) for name, value in given.items())
    shared = {field.name for field in dataclasses.fields(module.Optimiser)} & set(Recipe.model_fields)
    model = train(encoder, toy, dev=None, recipe=RECIPE.model_copy(update={"select": "last", "epochs": 2, **given}))
    assert shared == set(given)
    assert made == {**given, "steps": 2 * EPOCH}
    assert model.facts["steps"] == 2 * EPOCH


def test_facts_name_the_data_and_how_they_were_read(encoder, toy):
    recipe = STILL.model_copy(update={"limit": 4, "window": 12, "context": 4})
    model = train(encoder, toy, dev=None, recipe=recipe)
    facts = {name: model.facts[name] for name in model.facts if name.startswith("train")}
    words = sum(len(toy().items[place]) for place in (0, 1, 3, 4))
    assert facts == {
        "train": toy().name,
        "train_digest": toy().digest,
        "train_sentences": 4,
        "train_words": words,
        "train_unknown_words": 0,
        "train_cut_words": 0,
        "train_split_sentences": facts["train_split_sentences"],
    }
    assert facts["train_split_sentences"] > 0
    assert model.facts["last_loss"] > 0
    assert "dev" not in model.facts


def test_the_head_has_a_learning_rate_of_its_own(encoder, toy):
    first = train(encoder, toy, dev=None, recipe=STILL).head.classifier.weight
    before = encoder.layers[-1].state_dict()
    for rates, head_moves in (({"head_learning_rate": 1e-2}, True), ({"learning_rate": 1e-2}, False)):
        recipe = STILL.model_copy(update={"head_learning_rate": 1e-30, **rates})
        model = train(encoder, toy, dev=None, recipe=recipe)
        after = model.encoder.layers[-1].state_dict()
        assert torch.allclose(model.head.classifier.weight, first) is not head_moves
        assert all(torch.allclose(after[name], before[name]) for name in before) is head_moves


@pytest.mark.parametrize(("limit", "places"), [(4, [0, 2, 5, 7]), (3, [0, 3, 6]), (1, [0]), (9, [*range(9)])])
def test_a_limit_takes_sentences_from_everywhere(toy, limit, places):
    """Ten sentences: as far from one another as from the end."""
    ten = dataclasses.replace(toy(), items=(*toy().items, *toy("dev").items)[:10])
    assert ten.limited(limit).items == tuple(ten.items[place] for place in places)
    assert ten.limited(10) is ten.limited(None) is ten


@pytest.mark.parametrize("mode", [True, False])
def test_a_model_is_in_evaluation_mode_and_the_callers_encoder_in_its_own(encoder, toy, mode):
    given = random_init(encoder, "1", seed=1)
    given.trained.train(mode)
    recipe = RECIPE.model_copy(update={"epochs": 1, "encoder_dropout": "checkpoint", "select": "last"})
    model = train(given, toy, dev=None, recipe=recipe)
    parts = [*model.encoder.trained.modules(), *model.head.modules()]
    assert len(parts) > 10
    assert not any(part.training for part in parts)
    assert {part.training for part in given.trained.modules()} == {mode}


AVERAGED = Recipe(batch=2, learning_rate=3e-3, epochs=4, select="average", encoder_dropout="off")


def test_the_average_is_the_mean_of_the_weights_of_all_epochs(encoder, toy, monkeypatch):
    seen = []
    original = module._running_mean

    def watch(mean, weights, count):
        seen.append({name: value.detach().clone() for name, value in weights.items()})
        return original(mean, weights, count)

    monkeypatch.setattr(module, "_running_mean", watch)
    model = finetune(encoder, "pos", train=toy(), dev=toy("dev"), recipe=AVERAGED)
    assert len(seen) == AVERAGED.epochs
    for name, value in model.head.state_dict().items():
        mean = torch.stack([weights[f"1.{name}"] for weights in seen]).mean(0)
        assert torch.allclose(value, mean, atol=1e-6)
    assert any(not torch.equal(v, seen[-1][f"1.{name}"]) for name, v in model.head.state_dict().items())
    score = evaluate(model, [toy("dev")]).records["value"][0].as_py()
    assert model.facts["dev_score"] == score
    assert "epoch" not in model.facts
    assert_equal(finetune(encoder, "pos", train=toy(), recipe=AVERAGED), model)  # dev data select nothing here
