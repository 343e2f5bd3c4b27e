"""Frozen layers: what they give is computed once, and nothing else changes."""

from dataclasses import replace

import pytest
import torch
import transformers

from crosslens.encoders import state_cache as module
from crosslens.encoders.batch import make_batch
from crosslens.encoders.condition import Condition
from crosslens.encoders.freeze import freeze
from crosslens.encoders.inputs import read_windows
from crosslens.encoders.load import load_encoder
from crosslens.encoders.readouts.scalar_mix_bilstm import as_features
from crosslens.encoders.readouts.transformer import as_tower
from crosslens.encoders.state_cache import StateCache, frozen_depth, frozen_parts
from crosslens.errors import RequestError
from crosslens.training.checkpoint import load_model, save_model
from crosslens.training.evaluate import evaluate
from crosslens.training.finetune import finetune
from crosslens.training.predict import predict
from crosslens.training.recipe import RECIPES, Recipe
from gradients import assert_same_gradients, assert_same_losses, recorded_gradients
from toy_architectures import fresh

FAST = Recipe(batch=2, learning_rate=3e-3, epochs=3, select="last", encoder_dropout="off")


def states_of(encoder, windows):
    batch = make_batch(windows, padding=encoder.padding, device=encoder.device)
    with torch.inference_mode():
        return batch, encoder.states(batch.ids, batch.mask)


def test_how_deep_it_is_frozen(encoder):
    assert frozen_depth(encoder) == 0
    assert frozen_depth(freeze(encoder, "0")) == 0
    assert frozen_depth(freeze(encoder, "0-2")) == 2
    assert frozen_depth(freeze(encoder, "1-2")) == 0  # the embeddings below them change
    assert frozen_depth(freeze(encoder, "0-1,3")) == 1
    assert frozen_depth(freeze(encoder, "0-4")) == 4


@pytest.mark.parametrize("kind", ["deberta-v2", "mt5"])
def test_layers_that_share_a_trained_parameter_are_not_frozen(kind, encoder, tmp_path):
    """Relative positions, which every layer reads."""
    fresh(kind, 0, encoder.tokenizer).save_pretrained(tmp_path)
    encoder.tokenizer.save_pretrained(tmp_path)
    frozen = freeze(load_encoder(tmp_path, device="cpu"), "0-2")
    assert frozen_depth(frozen) == 2
    for parameter in frozen.shared.values():
        parameter.requires_grad_(True)
    assert frozen_depth(frozen) == 0


@pytest.mark.rounding
@pytest.mark.parametrize("layers", ["0-1", "0-3", "0-4"])
def test_kept_states_are_those_that_are_computed(encoder, toy, layers):
    encoder = freeze(encoder, layers)
    windows = read_windows(encoder, toy()).windows
    states = StateCache(encoder)
    assert states.keep(windows)
    for some in (windows, windows[::-1], windows[2:3]):
        batch, whole = states_of(encoder, some)
        with torch.inference_mode():
            torch.testing.assert_close(states(batch)[batch.mask.bool()], whole[batch.mask.bool()], atol=1e-5, rtol=1e-5)


def test_what_is_kept_is_computed_without_dropout_whatever_the_mode(encoder, toy):
    encoder = freeze(encoder, "0-2")
    windows = read_windows(encoder, toy()).windows
    batch, whole = states_of(encoder, windows)
    assert any(part.p > 0 for part in encoder.model.modules() if isinstance(part, torch.nn.Dropout))
    encoder.model.train()
    states = StateCache(encoder)
    assert states.keep(windows)
    encoder.model.eval()
    with torch.inference_mode():
        torch.testing.assert_close(states(batch)[batch.mask.bool()], whole[batch.mask.bool()], atol=1e-5, rtol=1e-5)


def test_nothing_is_kept_where_layers_hand_on_more_than_states(encoder, toy):
    """The first layer gives the last one something that is gone when the first does no work."""
    encoder = freeze(encoder, "0-2")
    windows = read_windows(encoder, toy()).windows
    first, last = encoder.layers[0], encoder.layers[-1]
    handed = []

    def give(self, *given, **more):
        handed.append(0.5)
        return type(encoder.layers[1]).forward(self, *given, **more)

    def take(self, states, *given, **more):
        return type(encoder.layers[1]).forward(self, states + sum(handed), *given, **more)

    for layer, forward in ((first, give), (last, take)):
        layer.__class__ = type("Handing", (type(layer),), {"forward": forward})
    encoder.model.register_forward_pre_hook(lambda *_: handed.clear())
    states = StateCache(encoder)
    assert not states.keep(windows)
    batch, whole = states_of(encoder, windows)
    with torch.inference_mode():
        torch.testing.assert_close(states(batch), whole)


def test_the_frozen_layers_do_no_work_again(encoder, toy, monkeypatch):
    encoder = freeze(encoder, "0-2")
    windows, states = read_windows(encoder, toy()).windows, StateCache(encoder)
    states.keep(windows)
    worked = []
    encoder.model.embeddings.word_embeddings.register_forward_hook(lambda *_: worked.append(0))
    for number, layer in enumerate(encoder.layers, start=1):
        layer.attention.register_forward_hook(lambda *_, number=number: worked.append(number))
    states(make_batch(windows[:2], padding=encoder.padding, device=encoder.device))
    assert worked == [3, 4]


def test_windows_that_are_not_kept_are_read_whole(encoder, toy):
    encoder = freeze(encoder, "0-2")
    windows, states = read_windows(encoder, toy()).windows, StateCache(encoder)
    states.keep(windows[:3])
    batch, whole = states_of(encoder, windows)
    with torch.inference_mode():
        torch.testing.assert_close(states(batch), whole)


def test_no_later_window_is_taken_for_a_kept_one(encoder, toy):
    kept = [replace(window) for window in read_windows(encoder, toy()).windows]
    ids, states = set(map(id, kept)), StateCache(freeze(encoder, "0-2"))
    assert states.keep(kept)
    later = [replace(kept.pop()) for _ in range(len(kept))]  # Python gives ids of objects that are gone to new ones
    assert ids.isdisjoint(map(id, [*later, *map(replace, later), *map(replace, later)]))


def test_nothing_is_kept_where_nothing_is_frozen_or_the_disk_is_full(encoder, toy, monkeypatch):
    windows = read_windows(encoder, toy()).windows
    assert not StateCache(encoder).keep(windows)
    full = type("Full", (), {"free": 10})
    monkeypatch.setattr(module.shutil, "disk_usage", lambda _: full)
    assert not StateCache(freeze(encoder, "0-2")).keep(windows)


SMALL = {"vocab_size": 90, "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 48}


@pytest.mark.parametrize(
    ("config", "kept"),
    [
        (transformers.RobertaConfig(**SMALL, max_position_embeddings=80), True),
        (transformers.ElectraConfig(**SMALL, embedding_size=32), True),
        (transformers.ElectraConfig(**SMALL, embedding_size=16), True),
        (transformers.DistilBertConfig(vocab_size=90, dim=32, n_layers=3, n_heads=2, hidden_dim=48), True),
        (transformers.ModernBertConfig(**SMALL, pad_token_id=0), True),
        (transformers.XLMConfig(vocab_size=90, emb_dim=32, n_layers=3, n_heads=2, pad_index=0), False),
    ],
    ids=lambda value: getattr(value, "model_type", value),
)
def test_other_architectures(config, kept, encoder, toy, tmp_path):
    """Either it goes on from the middle to the same states, or it is computed whole."""
    torch.manual_seed(0)
    transformers.AutoModel.from_config(config).save_pretrained(tmp_path)
    encoder.tokenizer.save_pretrained(tmp_path)
    other = freeze(load_encoder(tmp_path, device="cpu"), "0-2")
    windows = read_windows(other, toy()).windows
    states = StateCache(other)
    assert states.keep(windows) is kept
    batch, whole = states_of(other, windows)
    with torch.inference_mode():
        torch.testing.assert_close(states(batch)[batch.mask.bool()], whole[batch.mask.bool()], atol=1e-4, rtol=1e-4)
    assert len(list(frozen_parts(other))) >= 3  # an ELECTRA may lack one of them


@pytest.mark.rounding
@pytest.mark.parametrize("dropout", ["off", "trained"])
def test_training_is_the_same_with_and_without_keeping(encoder, toy, monkeypatch, dropout):
    recipe = FAST.model_copy(update={"encoder_dropout": dropout, "clip": None})
    frozen = freeze(encoder, "0-2")
    trainings = []
    for keep in (True, False):
        if not keep:
            monkeypatch.setattr(StateCache, "keep", lambda *_: False)
        losses = []
        with recorded_gradients() as steps:
            finetune(frozen, "pos", train=toy(), recipe=recipe, stepped=lambda _, loss, to=losses: to.append(loss))
        trainings.append((steps[0], losses))
    (kept, kept_losses), (whole, losses) = trainings
    assert_same_gradients(kept, whole)
    assert_same_losses(kept_losses, losses)


def test_dropout_in_frozen_layers_is_a_choice(encoder, toy, monkeypatch):
    modes = {}

    class Watched(StateCache):
        def __call__(self, batch):
            if self.encoder.layers[3].training:
                modes[recipe.encoder_dropout] = [layer.training for layer in self.encoder.layers]
            return super().__call__(batch)

    monkeypatch.setattr("crosslens.training.epochs.StateCache", Watched)
    for dropout in ("checkpoint", "trained", "off"):
        recipe = FAST.model_copy(update={"encoder_dropout": dropout, "epochs": 1})
        finetune(freeze(encoder, "0-2"), "pos", train=toy(), recipe=recipe)
    assert modes == {"checkpoint": [True] * 4, "trained": [False, False, True, True]}


# Feature-based use


def test_features_begin_as_the_mean_of_all_layers_and_do_not_see_padding(encoder, toy):
    features = as_features(encoder, seed=1)
    windows = read_windows(features, toy()).windows
    batch, together = states_of(features, windows)
    assert together.shape == (*batch.ids.shape, 2 * encoder.width)
    for row, window in enumerate(windows):
        _, alone = states_of(features, [window])
        torch.testing.assert_close(together[row, : len(window)], alone[0], atol=1e-5, rtol=1e-5)
    assert torch.softmax(features.readout.mixture, 0).tolist() == pytest.approx([1 / 5] * 5)


def test_a_network_on_one_layer_has_no_other_computed_or_kept(encoder, toy, monkeypatch):
    tower = as_tower(encoder, 2, seed=1, height=1)
    windows = read_windows(tower, toy()).windows
    tower.readout.eval()
    batch, expected = states_of(tower, windows)
    worked = []
    for number, layer in enumerate(tower.layers, start=1):
        layer.attention.register_forward_hook(lambda *_, number=number: worked.append(number))
    _, again = states_of(tower, windows)
    assert worked == [1, 2]
    assert torch.equal(again, expected)
    sizes = []
    real = module.np.memmap
    monkeypatch.setattr(module.np, "memmap", lambda *args, shape: sizes.append(shape) or real(*args, shape=shape))
    states = StateCache(tower)
    tower.readout.train()  # as it is made, with dropout
    assert states.keep(windows)
    assert sizes == [(sum(map(len, windows)), tower.width)]
    with torch.inference_mode():
        there = batch.mask.bool()
        torch.testing.assert_close(states(batch)[there], expected[there], atol=1e-5, rtol=1e-5)
    assert set(worked) == {1, 2}


def test_only_the_network_on_the_features_learns(encoder, toy, tmp_path):
    recipe = RECIPES["small"].model_copy(update={"epochs": 40, "batch": 2, "learning_rate": 5e-3})
    features = as_features(encoder, seed=1)
    model = finetune(features, "pos", train=toy(), recipe=recipe)
    for mine, its in zip(encoder.model.parameters(), model.encoder.model.parameters(), strict=True):
        assert torch.equal(mine, its)
    assert not torch.equal(model.encoder.readout.mixture, features.readout.mixture)
    assert evaluate(model, [toy()]).to_pandas()["value"][0] > 90
    assert model.encoder.condition == Condition(use="features")
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model", device="cpu")
    assert again.encoder.condition == Condition(use="features")
    assert predict(again, toy()) == predict(model, toy())


def test_the_seed_draws_the_network(encoder):
    digests = [as_features(encoder, seed=seed).digest for seed in (1, 1, 2)]
    assert digests[0] == digests[1] != digests[2]
    assert digests[0] != encoder.digest


@pytest.mark.parametrize("task", ["document", "nli", "parsing", "ner"])
def test_features_serve_every_task(encoder, toy, task):
    recipe = RECIPES[f"wu2019-features.{task}"].model_copy(update={"epochs": 2, "window": None, "context": None})
    model = finetune(
        as_features(encoder, seed=1, hidden=8), task, train=toy(task=task), dev=toy("dev", task=task), recipe=recipe
    )
    assert predict(model, toy(task=task)).items


def test_the_learning_rate_is_halved_until_it_is_too_small(encoder, toy, tmp_path):
    """Wu & Dredze 2019, section 5.2: halved whenever dev does not improve, stopped below 1e-5."""
    recipe = RECIPES["wu2019-features.pos"].model_copy(
        update={"learning_rate": 4e-5, "floor": 1e-5, "batch": 3, "window": None, "context": None}
    )
    dev = []
    model = finetune(
        as_features(encoder, seed=1, hidden=4),
        "pos",
        train=toy(),
        dev=toy("dev"),
        recipe=recipe,
        validated=lambda step, scores: dev.append(scores["accuracy"]),
    )
    worse = sum(score <= max(dev[:place]) for place, score in enumerate(dev) if place)
    assert worse == 3  # 4e-5, 2e-5, 1e-5, and the end
    assert len(dev) < recipe.epochs
    assert dev[-1] <= max(dev[:-1])
    assert model.facts["dev_score"] == max(dev)


def test_a_plateau_needs_dev_data(encoder, toy):
    recipe = RECIPES["wu2019-features.pos"].model_copy(update={"select": "last"})
    with pytest.raises(RequestError, match="lowers the learning rate by dev scores, but there is no dev data"):
        finetune(as_features(encoder, seed=1), "pos", train=toy(), recipe=recipe)
