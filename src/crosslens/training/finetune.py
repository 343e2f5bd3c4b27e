"""Fine-tuning an encoder on a task in one language."""

import copy
import dataclasses
import time
from collections.abc import Callable, Sequence

import numpy as np
import torch

from crosslens.catalogue import load_corpus
from crosslens.data.batching import training_batches
from crosslens.data.corpus import Corpus
from crosslens.encoders.batch import Batch, make_batch
from crosslens.encoders.encoder import Encoder
from crosslens.encoders.reading import Reading, read_windows
from crosslens.errors import DataError, RequestError
from crosslens.identity import stream_seed
from crosslens.tasks import Task, find_task, window_targets
from crosslens.training.loop import Loop, Optimiser, parameter_groups
from crosslens.training.model import TaskModel
from crosslens.training.predict import predict_windows
from crosslens.training.recipe import RECIPES, Recipe
from crosslens.training.rows import only_used_rows

SEMANTICS = 1
"""Raised by hand whenever the same request gives other weights than before."""


@dataclasses.dataclass(frozen=True, slots=True)
class Progress:
    """What a caller is told after every step.

    Attributes:
        step: steps done.
        steps: steps in all.
        loss: the step's mean loss.
        dev: the source's dev score in points, after the last step of an epoch.
    """

    step: int
    steps: int
    loss: float
    dev: float | None


def finetune(
    encoder: Encoder,
    task: str | Task,
    *,
    train: Corpus | str,
    dev: Corpus | str | None = None,
    recipe: Recipe | None = None,
    seed: int = 1,
    progress: Callable[[Progress], None] | None = None,
) -> TaskModel:
    """Train a copy of an encoder, and a fresh head, on one corpus.

    The same arguments give the same bits on one machine with one number of threads. The head, the order of the
    batches and dropout each draw from a stream of their own, so a run with layers drawn anew differs from its
    reference in those layers and in nothing else.

    Args:
        encoder: the encoder, perhaps from `random_init` or `freeze`; it is not changed.
        task: a task or its name.
        train: the source language's training data, or its name.
        dev: the source language's development data; needed where the recipe selects the best epoch.
        recipe: None: the first paper's for this task.
        seed: of the head, the order and dropout.
        progress: called after every step.

    Raises:
        RequestError: for an unknown task, or a recipe that selects by dev scores where there is no dev.
        DataError: for a corpus without the annotation, or without a sentence.
        TrainingError: when the loss is no longer a number.
    """
    task = find_task(task) if isinstance(task, str) else task
    recipe = recipe or RECIPES[f"muller2021.{task.name}"]
    if recipe.select == "best" and dev is None:
        raise RequestError("the best epoch is selected on dev data, and none is given", hint="give dev, or select=last")
    train = _limit(load_corpus(train, split="train") if isinstance(train, str) else train, recipe.limit)
    dev = load_corpus(dev, split="dev") if isinstance(dev, str) else dev
    for corpus in (train, dev):
        if corpus is not None:
            if not corpus.words:
                raise DataError(f"{corpus.name} has no words to train on")
            corpus.require(*task.needs)

    started = time.perf_counter()
    encoder_digest = encoder.digest
    encoder = dataclasses.replace(encoder, model=copy.deepcopy(encoder.model))
    labels = task.labels(train)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(stream_seed(seed, "head"))
        head = task.head(encoder.width, labels, dropout=recipe.head_dropout).to(encoder.device)
    model = TaskModel(encoder, task, head, labels, recipe, train.language, seed, {})

    reading = read_windows(encoder, train, window=recipe.window, context=recipe.context)
    dev_reading = read_windows(encoder, dev, window=recipe.window, context=recipe.context) if dev else None
    both = [reading] if dev_reading is None else [reading, dev_reading]
    with only_used_rows(encoder, *both) as (small, *small_dev):
        held_out = (dev, small_dev[0]) if dev is not None else None
        loop, dev_scores = _train(model, train, small, held_out, progress)
    encoder.model.eval()
    head.eval()
    facts: dict[str, str | int | float] = {
        "encoder_digest": encoder_digest,
        "train": train.name, "train_digest": train.digest, "train_sentences": len(train), "train_words": train.words,
        "train_unknown_words": reading.unknown, "train_cut_words": reading.cut, "train_split_sentences": reading.split,
        "steps": loop.step, "last_loss": loop.losses[-1], "seconds": round(time.perf_counter() - started, 2),
        "threads": torch.get_num_threads(), "torch": torch.__version__, "semantics": SEMANTICS,
    }  # fmt: skip
    if train.release:
        facts["train_release"] = train.release
    if dev is not None:
        chosen_epoch = int(np.argmax(dev_scores)) + 1 if recipe.select == "best" else recipe.epochs
        facts |= {"dev": dev.name, "dev_digest": dev.digest, "dev_score": dev_scores[chosen_epoch - 1]}
        facts["epoch"] = chosen_epoch
    return dataclasses.replace(model, facts=facts)


def _train(
    model: TaskModel,
    train: Corpus,
    reading: Reading,
    held_out: tuple[Corpus, Reading] | None,
    progress: Callable[[Progress], None] | None,
) -> tuple[Loop, list[float]]:
    """Train a model in place; the loop at its end, and the dev score of every epoch."""
    encoder, task, recipe = model.encoder, model.task, model.recipe
    lengths = [len(window) for window in reading.windows]
    targets = [task.targets(sentence, model.labels) for sentence in train.sentences]
    epoch_steps = -(-len(lengths) // recipe.batch)
    optimiser = Optimiser(
        steps=recipe.epochs * epoch_steps, warmup=recipe.warmup, betas=recipe.betas, epsilon=recipe.epsilon,
        weight_decay=recipe.weight_decay, clip=recipe.clip,
    )  # fmt: skip
    rates = ((encoder.model, recipe.learning_rate), (model.head, recipe.head_learning_rate or recipe.learning_rate))
    groups = [
        group
        for module, rate in rates
        for group in parameter_groups(module, learning_rate=rate, weight_decay=recipe.weight_decay)
    ]
    both = torch.nn.ModuleList([encoder.model, model.head])
    loop: Loop[np.ndarray] = Loop(both, groups, optimiser, seed=model.seed)

    order: dict[int, list[np.ndarray]] = {}

    def batches(step: int) -> Sequence[np.ndarray]:
        epoch, place = divmod(step, epoch_steps)
        if epoch not in order:
            order.clear()
            order[epoch] = training_batches(lengths, batch=recipe.batch, seed=model.seed, epoch=epoch)
        return [order[epoch][place]]

    def loss(numbers: np.ndarray) -> tuple[torch.Tensor, int]:
        chosen = [reading.windows[i] for i in numbers]
        batch: Batch = make_batch(chosen, padding=encoder.padding, device=encoder.device)
        gold = torch.from_numpy(window_targets(chosen, targets)).to(encoder.device)
        return task.loss(model.head, encoder.states(batch.ids, batch.mask), batch, gold)

    dev_scores: list[float] = []
    best: dict[str, torch.Tensor] | None = None

    def after_step(step: int, mean: float) -> None:
        nonlocal best
        score = None
        if held_out is not None and step % epoch_steps == 0:
            dev, dev_reading = held_out
            predicted = predict_windows(model, dev, dev_reading)
            score = task.score(dev, predicted, known=frozenset(model.labels))[0].value or 0.0
            if recipe.select == "best" and score > max(dev_scores, default=-1.0):
                # The last epoch's weights are in place already.
                last = step == optimiser.steps
                best = None if last else {name: v.detach().clone() for name, v in both.state_dict().items()}
            dev_scores.append(score)
            _training_mode(model)
        if progress is not None:
            progress(Progress(step, optimiser.steps, mean, score))

    _training_mode(model)
    loop.run(batches, loss, after_step=after_step)
    if best is not None:
        both.load_state_dict(best)
    return loop, dev_scores


def _training_mode(model: TaskModel) -> None:
    model.encoder.model.train(model.recipe.encoder_dropout == "checkpoint")
    model.head.train()


def _limit(corpus: Corpus, limit: int | None) -> Corpus:
    """At most ``limit`` sentences, spread evenly over the corpus."""
    if limit is None or limit >= len(corpus):
        return corpus
    places = np.linspace(0, len(corpus), limit, endpoint=False).astype(int)
    return dataclasses.replace(corpus, items=tuple(corpus.items[i] for i in places))
