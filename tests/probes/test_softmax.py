"""The linear classifiers: which epoch is kept, when training stops, and that layers do not mix."""

import numpy as np
import pytest
import torch

from crosslens.digests import stream_seed
from crosslens.errors import RequestError
from crosslens.probes.probing import probe
from crosslens.probes.softmax import Fit, fit
from made_corpora import texts


def test_the_first_best_epoch_on_dev_is_kept():
    """Of as many epochs as there are, dev accuracy is the best so far; where it does not rise the weights stay."""
    generator = np.random.default_rng(3)
    vectors, dev = (generator.normal(size=(2, items, 6)).astype(np.float32) for items in (40, 12))
    answers, right = ((rows[0] + rows[1])[:, :3].argmax(1) for rows in (vectors, dev))
    found = [
        fit(vectors, answers, dev, right, classes=3, how=Fit(epochs=epochs, learning_rate=0.02), seed=1)
        for epochs in range(1, 13)
    ]
    best = np.asarray([((dev @ weights + biases).argmax(-1) == right).mean(1) for weights, biases in found])
    rises = np.diff(best, axis=0)
    assert (rises >= 0).all()
    assert (rises > 0).any()
    assert (rises == 0).any()
    for epoch, layer in zip(*np.nonzero(rises == 0), strict=True):
        before, after = found[epoch][0][layer], found[epoch + 1][0][layer]
        assert np.array_equal(before, after)


def test_the_first_epoch_is_kept_where_no_dev_item_is_ever_right():
    """Such as tags that training data lack: the classifier guesses all the same."""
    vectors = np.random.default_rng(3).normal(size=(2, 40, 6)).astype(np.float32)
    answers, never = (vectors[0, :, 0] > 0).astype(np.int64), np.full(40, 2)
    dev = np.zeros_like(vectors)
    once, more = (fit(vectors, answers, dev, never, classes=3, how=Fit(epochs=n), seed=1)[0] for n in (1, 4))
    assert np.array_equal(more, once)
    assert more.any(axis=(1, 2)).all()


@pytest.mark.rounding
def test_a_layer_learns_the_same_alone_and_among_others():
    generator = np.random.default_rng(0)
    vectors = generator.normal(size=(3, 60, 8)).astype(np.float32)
    dev = generator.normal(size=(3, 20, 8)).astype(np.float32)
    answers, right = generator.integers(4, size=60), generator.integers(4, size=20)
    how = Fit(epochs=15)
    together = fit(vectors, answers, dev, right, classes=4, how=how, seed=1)
    for layer in range(3):
        alone = fit(vectors[[layer]], answers, dev[[layer]], right, classes=4, how=how, seed=1)
        for mine, its in zip(together, alone, strict=True):
            np.testing.assert_allclose(mine[layer], its[0], rtol=1e-4, atol=1e-6)


def test_it_learns_the_same_with_another_default_number_format_of_the_caller():
    vectors = np.random.default_rng(0).normal(size=(2, 30, 4)).astype(np.float32)
    data = vectors, (vectors[0, :, 0] > 0).astype(np.int64)
    expected = fit(*data, *data, classes=2, how=Fit(epochs=3), seed=1)
    torch.set_default_dtype(torch.float64)
    try:
        found = fit(*data, *data, classes=2, how=Fit(epochs=3), seed=1)
    finally:
        torch.set_default_dtype(torch.float32)
    assert all(np.array_equal(ours, theirs) for ours, theirs in zip(found, expected, strict=True))


@pytest.mark.parametrize("without_gradients", [torch.no_grad, torch.inference_mode])
def test_it_learns_where_the_caller_switched_gradients_off(without_gradients):
    vectors = np.random.default_rng(0).normal(size=(2, 30, 4)).astype(np.float32)
    data = vectors, (vectors[0, :, 0] > 0).astype(np.int64)
    expected = fit(*data, *data, classes=2, how=Fit(epochs=3), seed=1)
    with without_gradients():
        found = fit(*data, *data, classes=2, how=Fit(epochs=3), seed=1)
    assert all(np.array_equal(ours, theirs) for ours, theirs in zip(found, expected, strict=True))


def test_it_stops_when_the_learning_rate_is_too_small():
    """Halved at every epoch without a rise: what never rises again is done after seven halvings of 1e-3."""
    vectors = np.ones((1, 8, 2), np.float32)
    answers = np.asarray([0, 1] * 4)
    epochs = []
    fit(
        vectors,
        answers,
        vectors,
        answers,
        classes=2,
        how=Fit(),
        seed=1,
        progress=lambda update: epochs.append(update.done),
    )
    assert len(epochs) == 1 + 7  # the first epoch is the best so far; 1e-3 / 2**7 < 1e-5


def one_by_one(vectors, answers, dev, right, *, classes, how, seed):
    """The training as it is described, for one layer: batches in a new order in each epoch, the first best epoch."""
    x, y, held_out = torch.from_numpy(vectors), torch.from_numpy(answers), torch.from_numpy(dev)
    linear = torch.nn.Linear(x.shape[-1], classes)
    torch.nn.init.zeros_(linear.weight)
    torch.nn.init.zeros_(linear.bias)
    adam = torch.optim.Adam(linear.parameters(), lr=how.learning_rate)
    generator = np.random.default_rng(stream_seed(seed, "probe"))
    best, kept = -1.0, None
    for _ in range(how.epochs):
        order = generator.permutation(len(answers))
        for start in range(0, len(order), how.batch):
            batch = order[start : start + how.batch]
            adam.zero_grad()
            torch.nn.functional.cross_entropy(linear(x[batch]), y[batch]).backward()
            adam.step()
        accuracy = (linear(held_out).argmax(-1).numpy() == right).mean()
        if accuracy > best:
            best, kept = accuracy, [each.detach().numpy().copy() for each in (linear.weight.T, linear.bias[None])]
        else:
            adam.param_groups[0]["lr"] /= 2
    return kept


@pytest.mark.rounding
@pytest.mark.parametrize("epochs", [1, 8])
def test_layers_learn_as_linear_classifiers_trained_one_by_one(epochs):
    """Of 40 items, the last batch of 16 has 8."""
    generator = np.random.default_rng(5)
    vectors, dev = (generator.normal(size=(2, items, 6)).astype(np.float32) for items in (40, 15))
    answers, right = ((rows[0] + rows[1])[:, :3].argmax(1) for rows in (vectors, dev))
    asked = {"classes": 3, "how": Fit(epochs=epochs, learning_rate=0.02, batch=16), "seed": 7}
    together = fit(vectors, answers, dev, right, **asked)
    for layer in range(2):
        alone = one_by_one(vectors[layer], answers, dev[layer], right, **asked)
        for ours, expected in zip(together, alone, strict=True):
            np.testing.assert_allclose(ours[layer], expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(
    "setting", [{"inputs": "scale"}, {"batch": 0}, {"epochs": 0}, {"learning_rate": -1.0}, {"floor": float("nan")}]
)
def test_what_no_classifier_can_be_trained_with_is_refused(setting):
    with pytest.raises(RequestError, match=next(iter(setting))):
        Fit(**setting)


def test_settings_may_be_a_mapping(encoder):
    data = {"train": texts(4, seed=1), "test": texts(2, seed=2)}
    for how in (Fit(epochs=2), {"epochs": 2}):
        settings = probe(encoder, "langid", **data, how=how).results.records["settings"].to_pylist()
        assert all("epochs=2" in each for each in settings)
    with pytest.raises(RequestError, match=r"a probe has no setting 'epcohs'.*did you mean 'epochs'"):
        probe(encoder, "langid", **data, how={"epcohs": 2})
