"""The epochs of a fine-tuning: batch order, loss, model selection on development data, and resumable state."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from crosslens.data.batching import training_batches
from crosslens.data.corpus import Corpus
from crosslens.data.windows import by_sentence
from crosslens.encoders.batch import Batch
from crosslens.encoders.gpu.cuda_graphs import TrainingGraphs, has_graphs
from crosslens.encoders.inputs import EncodedCorpus
from crosslens.encoders.state_cache import StateCache, frozen_parts
from crosslens.errors import RequestError, suggest
from crosslens.progress import Progress, held_interrupts
from crosslens.tasks import Task
from crosslens.training.distributed import processes
from crosslens.training.loop import Loop, Optimiser, parameter_groups, trained_weights
from crosslens.training.memory.estimate import sentences_at_once
from crosslens.training.memory.recompute import recomputed
from crosslens.training.model import TaskModel
from crosslens.training.predict import predict_windows, task_batch
from crosslens.training.recipe import Recipe

Weights = dict[str, torch.Tensor]

LONG = 10.0
"""Seconds of training from which the last state is saved even after few steps: the evaluation may be interrupted."""


@dataclass(frozen=True, slots=True)
class DevData:
    """Development data, and the metric by which epochs are compared."""

    corpus: Corpus
    encoded: EncodedCorpus
    metric: str

    @classmethod
    def of(cls, task: Task, recipe: Recipe, corpus: Corpus, encoded: EncodedCorpus) -> "DevData":
        """Choose the metric for a recipe; see `selecting_metric`."""
        return cls(corpus, encoded, selecting_metric(task, recipe, corpus))

    def score(self, model: TaskModel, states: StateCache) -> float:
        """Score a model, in points; 0 if there is nothing to score."""
        predicted = predict_windows(model, self.corpus, self.encoded, states=states)
        scores = model.task.score(self.corpus, predicted, known=frozenset(model.labels))
        return next(score.value for score in scores if score.metric == self.metric) or 0.0


def selecting_metric(task: Task, recipe: Recipe, corpus: Corpus) -> str:
    """Return the metric by which epochs are compared on development data.

    Raises:
        RequestError: when the task has no such score on this corpus.
    """
    metric = recipe.select_by or task.metric
    metrics = [score.metric for score in task.score(corpus, corpus)]
    if metric not in metrics:
        raise RequestError(f"{task.name} has no score {metric!r} on {corpus.name}", hint=suggest(metric, metrics))
    return metric


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """The micro-batches of a step, as sentence indices, and as tensors on the device."""

    step: int
    micro_batches: Sequence[np.ndarray]
    batches: Sequence[Batch]

    def batch_of(self, numbers: np.ndarray) -> Batch | None:
        """The tensors of one of the micro-batches; None of any other."""
        pairs = zip(self.micro_batches, self.batches, strict=True)
        return next((batch for own, batch in pairs if own is numbers), None)


class Epochs:
    """Train a model in place, epoch by epoch.

    Args:
        identity: digest that the state file must match.
        state: file for the state of unfinished training; None: no state is saved.
        save_every: steps between two saved states.
        progress: listener for steps, epochs and warnings.
        stepped: called after every step with the number of steps done and the mean loss.
        validated: called after every epoch with the number of steps done and the dev score by metric.

    Attributes:
        dev_scores: the dev score of every epoch; with ``select="average"`` the score of the mean weights comes last.
        seconds_before: training time up to the saved state that `run` resumed from; 0 without one.
    """

    def __init__(
        self,
        model: TaskModel,
        train: Corpus,
        encoded: EncodedCorpus,
        dev: DevData | None,
        *,
        identity: str,
        state: Path | None,
        save_every: int,
        progress: Progress,
        stepped: Callable[[int, float], None] | None,
        validated: Callable[[int, Mapping[str, float]], None] | None,
    ) -> None:
        recipe = model.recipe
        self.dev_scores: list[float] = []
        self.seconds_before = 0.0
        self._started = time.perf_counter()
        self._model, self._train, self._dev = model, train, dev
        self._state, self._save_every = state, save_every
        self._progress, self._stepped, self._validated = progress, stepped, validated
        self._sentences = by_sentence(encoded.windows)
        self._lengths = [sum(map(len, windows)) for windows in self._sentences]
        self._targets = [model.task.targets(item, model.labels) for item in train]
        self._epoch_steps = -(-len(self._lengths) // recipe.batch)
        self._order: tuple[int, list[np.ndarray]] = (-1, [])  # an epoch and its batches
        self._selected: Weights | None = None  # weights to load at the end; None: the current ones
        self._warned = False  # whether the user knows that memory ran out

        rates = (recipe.learning_rate, recipe.head_learning_rate or recipe.learning_rate)
        self._peak = max(rates)
        self._module = torch.nn.ModuleList([model.encoder.trained, model.head])
        groups = [
            group
            for module, rate in zip(self._module, rates, strict=True)
            for group in parameter_groups(module, learning_rate=rate, weight_decay=recipe.weight_decay)
        ]
        optimiser = Optimiser(
            steps=recipe.epochs * self._epoch_steps,
            warmup=recipe.warmup,
            betas=recipe.betas,
            epsilon=recipe.epsilon,
            weight_decay=recipe.weight_decay,
            clip=recipe.clip,
            schedule=recipe.schedule,
        )
        self.loop: Loop[np.ndarray] = Loop(
            self._module,
            groups,
            optimiser,
            seed=model.seed,
            identity=identity,
            halve=lambda numbers: [half for half in np.array_split(numbers, 2) if len(half)],
        )
        self._next: _Step | None = None
        self._states = StateCache(model.computing_encoder)
        cached = False
        if recipe.encoder_dropout != "checkpoint":
            kept = [*encoded.windows]
            if dev is not None and model.encoder.for_language(dev.corpus.language).language == model.encoder.language:
                kept += dev.encoded.windows  # an encoder may read other languages with other parameters
            cached = self._states.keep(kept)
        recordable = has_graphs(self._states.encoder) and not cached and recipe.gradient_checkpointing == "off"
        self._graphs = TrainingGraphs(self._states.encoder, say=progress.say) if recordable else None

    def run(self) -> None:
        """Train to the end, resuming from a saved state if there is one, and load the selected weights."""
        recipe = self._model.recipe
        if self._state is not None and self._state.exists():
            saved = self.loop.load(self._state)
            self.dev_scores, self._selected, self._warned = saved["dev_scores"], saved["best"], self.loop.halved
            self.seconds_before = saved["seconds"]
        _set_training_mode(self._model)
        if processes().size > 1 and recipe.may_drop_out:
            self._progress.say(
                f"with dropout, weights trained by {processes().size} processes differ from those trained by one, under"
                " the same run id"
            )
        if not self.loop.over and self.loop.step < self.loop.settings.steps:  # before the first step, which can be long
            self._progress.report("fine-tuning", self.loop.step, self.loop.settings.steps, "steps")
        checkpointed = recipe.gradient_checkpointing == "layers"
        with (
            recomputed(self._states.encoder) if checkpointed else nullcontext(),
            held_interrupts() as self._raise_interrupt,
        ):
            on_gpu = self._states.encoder.device.type == "cuda"
            self.loop.run(
                self._micro_batches,
                self._loss,
                after_step=self._after_step,
                meanwhile=self._make_next if on_gpu else None,
            )
        if self._selected is not None:
            self._module.load_state_dict(self._selected, strict=False)  # without what is frozen
        if self._dev is not None and recipe.select == "average":
            self.dev_scores.append(self._dev.score(self._model, self._states))

    def _micro_batches(self, step: int) -> Sequence[np.ndarray]:
        """Return this process's micro-batches of a step, as sentence indices."""
        if self._next is not None and self._next.step == step:
            return self._next.micro_batches
        recipe = self._model.recipe
        epoch, index = divmod(step, self._epoch_steps)
        if self._order[0] != epoch:
            batches = training_batches(self._lengths, batch=recipe.batch, seed=self._model.seed, epoch=epoch)
            self._order = (epoch, batches)
        group = processes()
        share = self._order[1][index][group.rank :: group.size]
        size = recipe.micro_batch or recipe.batch
        return [share[start : start + size] for start in range(0, len(share), size)]

    def _make_next(self, step: int) -> None:
        """Make the batches of the next step and copy them to the device."""
        micro_batches = self._micro_batches(step)
        self._next = _Step(step, micro_batches, [self._batch(numbers) for numbers in micro_batches])

    def _batch(self, numbers: np.ndarray) -> Batch:
        made = self._next.batch_of(numbers) if self._next is not None else None
        if made is not None:
            return made
        windows = [window for number in numbers for window in self._sentences[number]]
        return task_batch(self._model, self._train, windows)

    def _loss(self, numbers: np.ndarray) -> tuple[torch.Tensor, int]:
        batch = self._batch(numbers)
        graphs = self._graphs
        states = self._states(batch) if graphs is None else graphs(batch.ids, batch.mask, batch.segments)
        targets = np.concatenate([self._targets[self._sentences[number][0].sentence] for number in numbers])
        return self._model.task.loss(self._model.head, states, batch, targets)

    def _after_step(self, step: int, mean: float) -> None:
        if self.loop.halved and not self._warned:
            note = _halving_note(self._model.recipe, processes().size)
            self._progress.say(f"step {step}: out of memory; micro-batches are halved from now on{note}")
            self._warned = True
        if step % self._epoch_steps == 0:
            self._end_epoch(step)
        last, every = self.loop.settings.steps, self._save_every
        ended = self.loop.over or step == last
        if step % every == 0 or (ended and step > every):
            self._save()
        elif ended and self._seconds() >= LONG:
            with suppress(OSError):  # a full disk costs nothing unless the evaluation is interrupted
                self._save()
        if self._stepped is not None:
            self._stepped(step, mean)
        try:
            self._raise_interrupt()
            self._progress.report("fine-tuning", step, last, "steps", f"loss {mean:.3f}")
        except KeyboardInterrupt:
            self._save()
            raise

    def _end_epoch(self, step: int) -> None:
        """Score the dev data, select weights, and lower the learning rate, as the recipe requires."""
        recipe, epoch = self._model.recipe, step // self._epoch_steps
        if recipe.select == "average":
            self._selected = _running_mean(self._selected, trained_weights(self._module), epoch)
        if self._dev is None:
            return
        score = self._dev.score(self._model, self._states)
        if recipe.schedule == "plateau" and self.dev_scores and score <= max(self.dev_scores):
            self.loop.scale /= 2
            self.loop.over = self._peak * self.loop.scale < recipe.floor
        if recipe.select == "best" and score > max(self.dev_scores, default=-1.0):
            # The module already has the weights of the last epoch.
            last = step == self.loop.settings.steps
            self._selected = None if last else _copy(trained_weights(self._module))
        self.dev_scores.append(score)
        self._progress.say(f"epoch {epoch} of {recipe.epochs}: dev {self._dev.metric} {score:.2f}")
        if self._validated is not None:
            self._validated(step, {self._dev.metric: score})
        _set_training_mode(self._model)

    def _save(self) -> None:
        if self._state is not None and processes().rank == 0:
            self.loop.save(self._state, dev_scores=self.dev_scores, best=self._selected, seconds=self._seconds())

    def _seconds(self) -> float:
        return self.seconds_before + time.perf_counter() - self._started


def _halving_note(recipe: Recipe, processes: int) -> str:
    """Explain how halved micro-batches change the result.

    Args:
        processes: number of processes that share a batch.
    """
    if not recipe.may_drop_out:
        return "; the result is the same up to rounding"
    half = -(-sentences_at_once(recipe, processes) // 2)
    return (
        ". With dropout the result differs from that of a machine with more memory, under the same run id;"
        f" micro_batch={half} gives the same result on both"
    )


def _copy(weights: Weights) -> Weights:
    return {name: tensor.detach().clone() for name, tensor in weights.items()}


def _running_mean(mean: Weights | None, weights: Weights, count: int) -> Weights:
    """Update the mean of ``count`` sets of weights by the last set; integers are copied from the last set."""
    if mean is None:
        return _copy(weights)
    return {
        name: value + (mean[name] - value) * ((count - 1) / count)
        if value.is_floating_point()
        else value.detach().clone()
        for name, value in weights.items()
    }


def _set_training_mode(model: TaskModel) -> None:
    model.encoder.trained.train(model.recipe.encoder_dropout != "off")
    if model.recipe.encoder_dropout == "trained":
        for part in frozen_parts(model.encoder):
            part.eval()
    model.head.train()
