"""The loss of masked and causal language modelling."""

import math

import numpy as np
import pytest
import torch
from torch import nn
from transformers import AutoConfig, AutoModelForMaskedLM, BertConfig, BertForMaskedLM

from crosslens.errors import RequestError
from crosslens.mlm import objective
from crosslens.mlm.objective import Best, claimed, perplexities, prediction_loss, train_language_model
from crosslens.mlm.pretrain_settings import Validation
from crosslens.training.loop import Loop, Optimiser, parameter_groups
from toy_architectures import SETTINGS
from toys import word_piece


@pytest.mark.parametrize("kind", ["bert", "xlm-roberta", "distilbert", "electra", "deberta-v2", "modernbert", "xlm"])
def test_the_head_reads_only_what_is_hidden(kind):
    """Whatever the architecture calls it: the loss is that of all logits, at the hidden places."""
    tokenizer = word_piece()
    config = AutoConfig.for_model(kind, vocab_size=len(tokenizer) + 4, **SETTINGS[kind])
    torch.manual_seed(0)
    model = AutoModelForMaskedLM.from_config(config).eval()
    ids = np.random.default_rng(0).integers(5, 40, size=(3, 12))
    chosen = np.random.default_rng(1).random(ids.shape) < 0.3
    with torch.inference_mode():
        logits = model(input_ids=torch.from_numpy(ids)).logits
        wanted = torch.nn.functional.cross_entropy(
            logits[torch.from_numpy(chosen)], torch.from_numpy(ids[chosen]), reduction="sum"
        )
        found, count = prediction_loss(model, (None, ids, ids, chosen))
    assert count == chosen.sum()
    assert float(found) == pytest.approx(float(wanted), rel=1e-5)
    assert model(input_ids=torch.from_numpy(ids)).logits.shape[:2] == (3, 12)  # nothing is left behind


def test_perplexity_is_that_of_all_subwords_however_they_are_batched():
    """A batch with few subwords to predict does not count as much as one with many; dropout is off."""
    torch.manual_seed(0)
    model = BertForMaskedLM(BertConfig(vocab_size=40, **SETTINGS["bert"] | {"initializer_range": 0.5})).train()
    ids = np.random.default_rng(0).integers(5, 40, size=(6, 12))
    chosen = np.random.default_rng(1).random(ids.shape) < np.array([[0.1]] + [[0.9]] * 5)
    parts = [slice(0, 1), slice(1, 2), slice(2, 6)]
    cut = perplexities(model, {"en": [(None, ids[part], ids[part], chosen[part]) for part in parts]})
    assert model.training
    with torch.inference_mode():
        total, count = prediction_loss(model.eval(), (None, ids, ids, chosen))
    assert cut == {"en": pytest.approx(math.exp(float(total) / count), rel=1e-5)}


def test_a_perplexity_beyond_all_numbers_is_the_largest_that_is_written():
    """A training that diverges is evaluated too; the cross-entropy of its subwords may be any number."""
    model = BertForMaskedLM(BertConfig(vocab_size=40, **SETTINGS["bert"]))
    with torch.no_grad():
        model.cls.predictions.bias[7] = -1000.0
    ids = np.full((2, 8), 7)
    assert perplexities(model, {"en": [(None, ids, ids, np.ones(ids.shape, bool))]}) == {"en": math.exp(700)}


def test_the_mean_that_selects_is_geometric():
    """A language of many subwords does not decide alone: 10 and 1000 are better than 100 and 200."""
    model = nn.Linear(1, 1)
    first = Best().after(1, {"en": 10.0, "fr": 1000.0}, model, "mean")
    assert first.score == pytest.approx(100)
    assert first.after(2, {"en": 100.0, "fr": 200.0}, model, "mean") is first
    french = Best().after(1, {"en": 10.0, "fr": 1000.0}, model, "fr")
    assert french.after(2, {"en": 100.0, "fr": 200.0}, model, "fr").step == 2


def test_of_equally_good_weights_the_earlier_are_kept():
    model = nn.Linear(1, 1)
    first = Best().after(1, {"en": 10.0}, model, "en")
    assert first.after(2, {"en": 10.0}, model, "en") is first
    assert first.after(2, {"en": 9.9}, model, "en").step == 2


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_losses_are_summed_in_float32(precision):
    torch.manual_seed(0)
    model = BertForMaskedLM(BertConfig(vocab_size=40, **SETTINGS["bert"])).eval()
    ids = np.random.default_rng(0).integers(5, 40, size=(6, 12))
    batch = (None, ids, ids, np.ones(ids.shape, bool))
    loss, _ = prediction_loss(model, batch, precision=precision)
    assert loss.dtype == torch.float32
    assert float(loss.detach()) == pytest.approx(float(prediction_loss(model, batch)[0].detach()), rel=0.02)


@pytest.fixture
def train(tmp_path, monkeypatch):
    """Train for seven steps with perplexities by hand at every second step and the last one."""
    ids = np.random.default_rng(0).integers(5, 40, size=(4, 12))
    batch = (None, ids, ids, np.random.default_rng(1).random(ids.shape) < 0.3)
    scores = {2: 9.0, 4: 5.0, 6: 8.0, 7: 7.0}

    def call(*, folder="whole", select="en", **options):
        torch.manual_seed(0)
        model = BertForMaskedLM(BertConfig(vocab_size=40, **SETTINGS["bert"]))
        groups = parameter_groups(model, learning_rate=1e-2, weight_decay=0.0)
        loop = Loop(model, groups, Optimiser(steps=7), seed=1)
        monkeypatch.setattr(objective, "perplexities", lambda model, unseen: {"en": scores[loop.step]})
        (tmp_path / folder).mkdir(exist_ok=True)
        validation = Validation(lines=1, every=2, select=select)
        more = {"partial": tmp_path / folder, "unseen": {}, "validation": validation, "stage": "s", "save_every": 99}
        return model, train_language_model(loop, model, lambda step: [batch], **more | options)

    return call


def table(model):
    return model.base_model.embeddings.word_embeddings.weight.detach().clone()


def test_the_last_step_is_evaluated_too(train):
    """Also where it is not one of every so many."""
    seen = []
    _, facts = train(select=None, validated=lambda step, measured: seen.append((step, measured["en"])))
    assert seen == [(2, 9.0), (4, 5.0), (6, 8.0), (7, 7.0)]
    assert (facts["kept_step"], facts["perplexity en"], facts["steps"]) == (7, 7.0, 7)


def test_every_number_of_steps_is_reached_once_from_the_first_on(train):
    """So that the weights before training can be kept, and after an interruption those that it was stopped at."""
    steps = []
    train(reached=steps.append)
    assert steps == [*range(8)]

    def stop(update):
        if update.done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(folder="stopped", progress=stop)
    steps.clear()
    train(folder="stopped", reached=steps.append)
    assert steps == [*range(3, 8)]


def test_the_loss_is_the_mean_over_steps(train):
    losses = []
    _, facts = train(stepped=lambda step, loss: losses.append(loss))
    assert len(losses) == 7
    assert facts["loss"] == pytest.approx(np.mean(losses))
    assert facts["loss"] != pytest.approx(losses[-1], rel=1e-3)


@pytest.mark.parametrize("at", [4, 5, 7])
def test_the_best_weights_are_those_of_their_step_also_after_an_interruption(train, tmp_path, at):
    """Training goes on after them, and neither changes them nor forgets them; also where no step is left."""
    model, facts = train()
    assert (facts["kept_step"], facts["perplexity en"]) == (4, 5.0)

    def stop(update):
        if update.done == at:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(folder="stopped", progress=stop)
    saved = torch.load(tmp_path / "stopped" / "state.pt", weights_only=True)
    name = "bert.embeddings.word_embeddings.weight"
    assert torch.equal(table(model), saved["more"]["best"]["weights"][name])
    assert torch.equal(table(model), saved["module"][name]) == (at == 4)
    resumed, again = train(folder="stopped")
    assert torch.equal(table(resumed), table(model))
    assert again == facts


def test_killed_it_goes_on_from_the_last_saved_state_which_has_the_best_weights(train):
    """Those of step 4, in the state of step 5; a later evaluation finds no better ones."""
    model, facts = train()

    class Killed(Exception):
        pass

    def kill(update):
        if update.done == 6:
            raise Killed

    steps = []
    with pytest.raises(Killed):
        train(folder="killed", save_every=5, progress=kill)
    resumed, again = train(folder="killed", reached=steps.append)
    assert steps == [5, 6, 7]
    assert torch.equal(table(resumed), table(model))
    assert again == facts


def test_an_empty_folder_is_claimed(tmp_path):
    """Nothing in it could be someone else's."""
    partial = tmp_path / "out.partial"
    partial.mkdir()
    with claimed(partial, "one training"):
        assert (partial / "identity.txt").read_text() == "one training"


def test_a_training_that_another_process_works_on_is_left_to_it(tmp_path):
    partial = tmp_path / "out.partial"
    with claimed(partial, "one training"):
        with (
            pytest.raises(RequestError, match=r"another process is training in .*out.partial"),
            claimed(partial, "one training"),
        ):
            pass
        assert (partial / "identity.txt").exists()
    assert not partial.exists()
    with pytest.raises(KeyboardInterrupt), claimed(partial, "one training"):
        raise KeyboardInterrupt
    with claimed(partial, "one training"):  # resumed, also by the same process
        assert partial.exists()
