"""A linear softmax classifier for every layer, all of them trained in one pass over the vectors."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch.nn import functional

from crosslens.digests import stream_seed
from crosslens.progress import Listener, listening


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """How they are trained: Wu & Dredze (2019), sections 5.2 and 5.3.

    Attributes:
        inputs: ``scaled``: every feature to mean 0 and variance 1 over the training items, which a linear layer could
            undo, so that layers of other sizes learn alike; ``raw``, as in the paper.
        learning_rate: Adam's; each layer's own is halved after every epoch in which its dev accuracy does not rise.
        floor: a layer whose learning rate is below this is done.
        batch: items a step.
        epochs: the most that are made.
    """

    inputs: Literal["scaled", "raw"] = "scaled"
    learning_rate: float = 1e-3
    floor: float = 1e-5
    batch: int = 32
    epochs: int = 200


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
    """Train them; what is kept of each layer is its best epoch on dev.

    Args:
        vectors: ``(layers, items, hidden)`` float32.
        answers: ``(items,)`` numbers of classes.
        dev: ``(layers, dev items, hidden)`` float32.
        dev_answers: ``(dev items,)``.
        classes: how many there are.
        how: settings.
        seed: of the order; the weights begin at zero.
        stage: what it is called where progress is reported.
        progress: hears of every epoch.

    Returns:
        ``(layers, hidden, classes)`` and ``(layers, 1, classes)``: weights and biases.
    """
    listener = listening(progress)
    layers, items, hidden = vectors.shape
    x, y = torch.from_numpy(np.ascontiguousarray(vectors)), torch.from_numpy(answers)
    held_out, right = torch.from_numpy(np.ascontiguousarray(dev)), torch.from_numpy(dev_answers)
    weights = [torch.zeros(hidden, classes, requires_grad=True) for _ in range(layers)]
    biases = [torch.zeros(1, classes, requires_grad=True) for _ in range(layers)]
    groups = [{"params": [weight, bias]} for weight, bias in zip(weights, biases, strict=True)]
    adam = torch.optim.Adam(groups, lr=how.learning_rate, fused=True)
    best = torch.full((layers,), -1.0)
    kept = torch.zeros(layers, hidden, classes), torch.zeros(layers, 1, classes)
    generator = np.random.default_rng(stream_seed(seed, "probe"))
    for epoch in range(how.epochs):
        order = torch.from_numpy(generator.permutation(items))
        for numbers in order.split(how.batch):
            logits = torch.baddbmm(torch.stack(biases), x[:, numbers], torch.stack(weights))
            gold = y[numbers].expand(layers, -1).flatten()
            # Each layer's own mean: no layer's learning hangs on another's.
            loss = functional.cross_entropy(logits.flatten(0, 1), gold, reduction="sum") / len(numbers)
            loss.backward()
            adam.step()
            adam.zero_grad(set_to_none=True)
        with torch.inference_mode():
            guess = torch.baddbmm(torch.stack(biases), held_out, torch.stack(weights)).argmax(-1)
            accuracy = (guess == right).float().mean(1)
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
