"""Linear softmax classifiers for all layers, trained together."""

from typing import Literal

import numpy as np
import torch
from torch.nn import functional

from crosslens.digests import stream_seed
from crosslens.progress import Listener, listening
from crosslens.settings import Count, Positive, Strict


class Fit(Strict):
    """Training settings of linear probes (Wu & Dredze 2019, sections 5.2 and 5.3).

    Attributes:
        inputs: ``scaled``: features have mean 0 and variance 1 over training items, so that layers with different
            scales train alike; ``raw``: unscaled, as in the paper.
        learning_rate: initial learning rate of Adam, halved for a layer after every epoch without better dev accuracy.
        floor: learning rate below which training of a layer stops.
        batch: items per step.
        epochs: maximum number of epochs.
    """

    inputs: Literal["scaled", "raw"] = "scaled"
    learning_rate: Positive = 1e-3
    floor: Positive = 1e-5
    batch: Count = 32
    epochs: Count = 200


@torch.inference_mode(mode=False)  # also where the caller switched gradients off
def fit(
    vectors: np.ndarray,
    answers: np.ndarray,
    dev: np.ndarray,
    dev_answers: np.ndarray,
    *,
    classes: int,
    how: Fit,
    seed: int,
    stage: str = "training linear classifiers",
    progress: Listener = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Train a classifier for each layer; keep each layer's best epoch on dev data.

    Args:
        vectors: ``(layers, items, hidden)`` float32 training vectors.
        answers: ``(items,)`` class indices.
        dev: ``(layers, dev items, hidden)`` float32 dev vectors.
        dev_answers: ``(dev items,)`` class indices.
        how: training settings.
        seed: random seed for the data order; weights are initialised to zero.
        stage: name of the training in progress reports.

    Returns:
        ``(layers, hidden, classes)`` weights and ``(layers, 1, classes)`` biases.
    """
    listener = listening(progress)
    layers, items, hidden = vectors.shape
    x, y = torch.from_numpy(np.ascontiguousarray(vectors)), torch.from_numpy(answers)
    held_out, right = torch.from_numpy(np.ascontiguousarray(dev)), torch.from_numpy(dev_answers)
    weights = [x.new_zeros(hidden, classes, requires_grad=True) for _ in range(layers)]
    biases = [x.new_zeros(1, classes, requires_grad=True) for _ in range(layers)]
    groups = [{"params": [weight, bias]} for weight, bias in zip(weights, biases, strict=True)]
    adam = torch.optim.Adam(groups, lr=how.learning_rate, fused=True)
    best = x.new_full((layers,), -1.0)
    kept = x.new_zeros(layers, hidden, classes), x.new_zeros(layers, 1, classes)
    generator = np.random.default_rng(stream_seed(seed, "probe"))
    for epoch in range(how.epochs):
        order = torch.from_numpy(generator.permutation(items))
        for numbers in order.split(how.batch):
            logits = torch.baddbmm(torch.stack(biases), x[:, numbers], torch.stack(weights))
            gold = y[numbers].expand(layers, -1).flatten()
            # The sum of each layer's mean loss, so that layers train independently.
            loss = functional.cross_entropy(logits.flatten(0, 1), gold, reduction="sum") / len(numbers)
            loss.backward()
            adam.step()
            adam.zero_grad(set_to_none=True)
        with torch.inference_mode():
            guess = torch.baddbmm(torch.stack(biases), held_out, torch.stack(weights)).argmax(-1)
            accuracy = (guess == right).to(x).mean(1)
            better = accuracy > best
            for layer in torch.nonzero(better).flatten().tolist():
                kept[0][layer], kept[1][layer] = weights[layer], biases[layer]
        best = torch.where(better, accuracy, best)
        for group, rose in zip(adam.param_groups, better.tolist(), strict=True):
            group["lr"] *= 1.0 if rose else 0.5
            group["lr"] = 0.0 if group["lr"] < how.floor else group["lr"]
        learning = sum(group["lr"] > 0 for group in adam.param_groups)
        listener.report(stage, epoch + 1, how.epochs, "epochs", f"{learning} of {layers} layers still training")
        if not learning:
            break
    return kept[0].numpy(), kept[1].numpy()
