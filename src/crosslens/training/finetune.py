"""Fine-tuning an encoder on a task in one language."""

import copy
import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch

from crosslens.corpora.catalogue import load_corpus
from crosslens.data.batching import training_batches
from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Sentence
from crosslens.data.windows import by_sentence
from crosslens.digests import digest, stream_seed
from crosslens.encoders.encoder import Encoder
from crosslens.encoders.inputs import EncodedCorpus
from crosslens.encoders.models.language_specific import language_parts
from crosslens.encoders.state_cache import StateCache, frozen_parts
from crosslens.errors import DataError, RequestError, suggest
from crosslens.progress import Listener, Progress, listening
from crosslens.tasks import Task, find_task
from crosslens.training.distributed import processes
from crosslens.training.identity import run_id, training_identity
from crosslens.training.loop import Loop, Optimiser, parameter_groups
from crosslens.training.model import TaskModel, model_digest
from crosslens.training.predict import predict_windows, read_for, task_batch
from crosslens.training.recipe import Recipe, default_recipe
from crosslens.training.sparse_embeddings import restrict_embeddings


def finetune(
    encoder: Encoder,
    task: str | Task,
    *,
    train: Corpus | str,
    dev: Corpus | str | None = None,
    recipe: Recipe | None = None,
    seed: int = 1,
    state: str | Path | None = None,
    save_every: int = 500,
    progress: Listener = None,
    stepped: Callable[[int, float], None] | None = None,
    validated: Callable[[int, Mapping[str, float]], None] | None = None,
) -> TaskModel:
    """Train a copy of an encoder, and a fresh head, on one corpus.

    The same arguments give the same bits on one machine with one number of threads. The head, the order of the
    batches and dropout each draw from a stream of their own, so a run with layers drawn anew differs from its
    reference in those layers and in nothing else.

    In processes that `torchrun` started and `join_processes` joined, each reads its share of every batch; all of them
    return the same model. When memory runs out, micro-batches are halved. With dropout, several processes and halved
    micro-batches draw other masks under the same run id: progress hears a warning, and the model's facts
    (``processes``, ``halved_batches``) stand with every record.

    Args:
        encoder: the encoder, perhaps from `random_init` or `freeze`; it is not changed.
        task: a task or its name.
        train: the source language's training data, or its name.
        dev: the source language's development data; needed where the recipe selects the best epoch.
        recipe: None: the task's usual one. Its settings of the task apply to a task that is named.
        seed: of the head, the order and dropout.
        state: a file that keeps the training's state while it runs. Where it is there already, training goes on from
            it, to the same bits on a CPU. It stays when training is done: the caller removes it when the model is
            safe.
        save_every: steps between two states kept; a training of fewer keeps none.
        progress: hears of every step and epoch. Where it raises KeyboardInterrupt, the state is saved first.
        stepped: called after every step with steps done and the mean loss.
        validated: called after every epoch with dev data, with steps done and the dev score in points by its metric.

    Raises:
        RequestError: for an unknown task; a recipe that selects by dev scores where there is no dev, or by a score
            that there is not; a state of another training.
        DataError: for a corpus without the annotation, or without a sentence.
        TrainingError: when the loss is no longer a number, or the memory is full.
    """
    named = find_task(task) if isinstance(task, str) else task
    recipe = recipe or default_recipe(named)
    task = find_task(task, recipe.task) if isinstance(task, str) else task
    if dev is None and (recipe.select == "best" or recipe.schedule == "plateau"):
        what = "the best epoch is selected" if recipe.select == "best" else "the learning rate falls by the scores"
        raise RequestError(f"{what} on dev data, and none is given", hint="give dev, or select=last schedule=linear")
    whole = load_corpus(train, split="train", format=task.format) if isinstance(train, str) else train
    train = whole.limited(recipe.limit)
    dev = load_corpus(dev, split="dev", format=task.format) if isinstance(dev, str) else dev
    for corpus in (train, dev):
        if corpus is not None:
            if not any(corpus.lengths):
                raise DataError(f"{corpus.name} has no words to train on")
            task.check(corpus)

    started = time.perf_counter()
    identity = training_identity(
        encoder=encoder.loaded_digest, condition=encoder.condition, seed=seed, task=task, recipe=recipe,
        train=whole.digest, dev=dev.digest if dev else None,
        drawn=[change.seed for change in encoder.changes if change.seed is not None],
    )  # fmt: skip
    encoder = encoder.for_language(train.language)
    encoder = dataclasses.replace(
        encoder,
        model=copy.deepcopy(encoder.model),
        readout=copy.deepcopy(encoder.readout),
        origin=encoder.loaded_digest,
    )  # fmt: skip
    for parameter in language_parts(encoder.model):  # the target's will not be trained, so the source's are not either
        parameter.requires_grad_(False)
    labels = task.labels(train)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(stream_seed(seed, "head"))
        head = task.head(encoder.output_width, labels, dropout=recipe.head_dropout).to(encoder.device)
    model = TaskModel(encoder, task, head, labels, recipe, train.language, seed, {})

    # Parameters that somebody froze by hand are no part of the identity, but a state of theirs fits no other training.
    trained = [name for name, parameter in encoder.trained.named_parameters() if parameter.requires_grad]
    keeping = (Path(state), save_every) if state is not None else None
    reading = read_for(model, train)
    dev_reading = read_for(model, dev) if dev else None
    both = [reading] if dev_reading is None else [reading, dev_reading]
    with restrict_embeddings(encoder, *both) as (small, *small_dev):
        held_out = _HeldOut.of(task, recipe, dev, small_dev[0]) if dev is not None else None
        loop, dev_scores = _train(
            model, train, small, held_out, digest([identity, trained]), keeping, listening(progress), stepped, validated
        )
    encoder.trained.eval()
    head.eval()
    facts: dict[str, str | int | float] = {
        "run": run_id(identity), "weights": model_digest(encoder, head), "encoder_digest": encoder.loaded_digest,
        "train": whole.name, "train_digest": whole.digest, "train_sentences": len(train),
        "train_unknown_words": reading.unknown, "train_cut_words": reading.cut, "train_split_sentences": reading.split,
        "steps": loop.step, "last_loss": loop.losses[-1], "seconds": round(time.perf_counter() - started, 2),
        "halved_batches": int(loop.halved), "processes": processes().size,
        "threads": torch.get_num_threads(), "torch": torch.__version__, "semantics": identity["semantics"],
        "selection": recipe.select,
    }  # fmt: skip
    if train.items and isinstance(train.items[0], Sentence):
        facts["train_words"] = train.words
    if train.release:
        facts["train_release"] = train.release
    if dev is not None:
        chosen = int(np.argmax(dev_scores)) if recipe.select == "best" else -1
        facts |= {"dev": dev.name, "dev_digest": dev.digest, "dev_score": dev_scores[chosen]}
        facts |= {"epoch": range(1, recipe.epochs + 1)[chosen]} if recipe.select != "average" else {}
        if recipe.select == "best" and dev.language != train.language:
            facts["selection"] = f"oracle {dev.name}"  # zero-shot transfer has no labelled data of the target
    return dataclasses.replace(model, facts=facts)


@dataclasses.dataclass(frozen=True, slots=True)
class _HeldOut:
    """The source's dev data, and the score that the epochs are compared by."""

    corpus: Corpus
    reading: EncodedCorpus
    metric: str

    @classmethod
    def of(cls, task: Task, recipe: Recipe, corpus: Corpus, reading: EncodedCorpus) -> "_HeldOut":
        metric = recipe.select_by or task.metric
        known = [score.metric for score in task.score(corpus, corpus)]
        if metric not in known:
            raise RequestError(f"{task.name} has no score {metric!r} on {corpus.name}", hint=suggest(metric, known))
        return cls(corpus, reading, metric)

    def score(self, model: TaskModel, states: StateCache) -> float:
        predicted = predict_windows(model, self.corpus, self.reading, states=states)
        scores = model.task.score(self.corpus, predicted, known=frozenset(model.labels))
        return next(score.value for score in scores if score.metric == self.metric) or 0.0


def _train(
    model: TaskModel,
    train: Corpus,
    reading: EncodedCorpus,
    held_out: _HeldOut | None,
    identity: str,
    keeping: tuple[Path, int] | None,
    progress: Progress,
    stepped: Callable[[int, float], None] | None,
    validated: Callable[[int, Mapping[str, float]], None] | None,
) -> tuple[Loop, list[float]]:
    """Train a model in place; the loop at its end, and the dev score of every epoch."""
    encoder, task, recipe = model.encoder, model.task, model.recipe
    units = by_sentence(reading.windows)
    lengths = [sum(map(len, unit)) for unit in units]
    targets = [task.targets(item, model.labels) for item in train]
    epoch_steps = -(-len(lengths) // recipe.batch)
    optimiser = Optimiser(
        steps=recipe.epochs * epoch_steps, warmup=recipe.warmup, betas=recipe.betas, epsilon=recipe.epsilon,
        weight_decay=recipe.weight_decay, clip=recipe.clip, schedule=recipe.schedule,
    )  # fmt: skip
    rates = ((encoder.trained, recipe.learning_rate), (model.head, recipe.head_learning_rate or recipe.learning_rate))
    groups = [
        group
        for module, rate in rates
        for group in parameter_groups(module, learning_rate=rate, weight_decay=recipe.weight_decay)
    ]
    both = torch.nn.ModuleList([encoder.trained, model.head])
    loop: Loop[np.ndarray] = Loop(
        both, groups, optimiser, seed=model.seed, identity=identity,
        halve=lambda numbers: [half for half in np.array_split(numbers, 2) if len(half)],
    )  # fmt: skip

    states = StateCache(encoder, precision=recipe.precision)
    if recipe.encoder_dropout != "checkpoint":
        states.keep([*reading.windows, *(held_out.reading.windows if held_out is not None else ())])
    order: dict[int, list[np.ndarray]] = {}

    def batches(step: int) -> Sequence[np.ndarray]:
        epoch, place = divmod(step, epoch_steps)
        if epoch not in order:
            order.clear()
            order[epoch] = training_batches(lengths, batch=recipe.batch, seed=model.seed, epoch=epoch)
        among = processes()
        share = order[epoch][place][among.rank :: among.size]
        micro = recipe.micro_batch or recipe.batch
        return [share[start : start + micro] for start in range(0, len(share), micro)]

    def loss(numbers: np.ndarray) -> tuple[torch.Tensor, int]:
        windows = [window for i in numbers for window in units[i]]
        batch = task_batch(model, train, windows)
        gold = np.concatenate([targets[units[i][0].sentence] for i in numbers])
        return task.loss(model.head, states(batch), batch, gold)

    dev_scores: list[float] = []
    best: dict[str, torch.Tensor] | None = None
    warned = False  # that memory ran out

    def after_step(step: int, mean: float) -> None:
        nonlocal best, warned
        if loop.halved and not warned:
            progress.say(f"step {step}: memory ran out; micro-batches are halved from here on{_halving_note(recipe)}")
            warned = True
        if recipe.select == "average" and step % epoch_steps == 0:
            best = _towards_mean(best, both.state_dict(), step // epoch_steps)
        if held_out is not None and step % epoch_steps == 0:
            score = held_out.score(model, states)
            if recipe.schedule == "plateau" and dev_scores and score <= max(dev_scores):
                loop.scale /= 2
                loop.over = max(rate for _, rate in rates) * loop.scale < recipe.floor
            if recipe.select == "best" and score > max(dev_scores, default=-1.0):
                # The last epoch's weights are in place already.
                last = step == optimiser.steps
                best = None if last else {name: v.detach().clone() for name, v in both.state_dict().items()}
            dev_scores.append(score)
            progress.say(f"epoch {step // epoch_steps} of {recipe.epochs}: dev {held_out.metric} {score:.2f}")
            if validated is not None:
                validated(step, {held_out.metric: score})
            _training_mode(model)
        if keeping is not None and processes().rank == 0:
            state, every = keeping
            if step % every == 0 or (step == optimiser.steps and step > every):
                loop.save(state, dev_scores=dev_scores, best=best)
        if stepped is not None:
            stepped(step, mean)
        try:
            progress.report("fine-tuning", step, optimiser.steps, "steps", f"loss {mean:.3f}")
        except KeyboardInterrupt:
            if keeping is not None and processes().rank == 0:
                loop.save(keeping[0], dev_scores=dev_scores, best=best)
            raise

    if keeping is not None and keeping[0].exists():
        kept = loop.load(keeping[0])
        dev_scores, best, warned = kept["dev_scores"], kept["best"], loop.halved
    _training_mode(model)
    if processes().size > 1 and recipe.may_drop_out:
        progress.say(f"with dropout, {processes().size} processes give other weights than one, under the same run id")
    loop.run(batches, loss, after_step=after_step)
    if best is not None:
        both.load_state_dict(best)
    if held_out is not None and recipe.select == "average":
        dev_scores.append(held_out.score(model, states))
    return loop, dev_scores


def _halving_note(recipe: Recipe) -> str:
    """What halved micro-batches do to the result."""
    if not recipe.may_drop_out:
        return ", with the same result up to rounding"
    half = -(-(recipe.micro_batch or recipe.batch) // 2)
    return (
        ". With dropout the result differs from that of a machine with more memory, under the same run id;"
        f" micro_batch={half} gives one result on both"
    )


def _towards_mean(
    mean: dict[str, torch.Tensor] | None, weights: dict[str, torch.Tensor], count: int
) -> dict[str, torch.Tensor]:
    """The mean of ``count`` sets of weights, from that of all but the last; what is no number is the last's."""
    return {
        name: value + (mean[name] - value) * ((count - 1) / count) if mean and value.is_floating_point()
        else value.detach().clone()
        for name, value in weights.items()
    }  # fmt: skip


def _training_mode(model: TaskModel) -> None:
    model.encoder.trained.train(model.recipe.encoder_dropout != "off")
    if model.recipe.encoder_dropout == "trained":
        for part in frozen_parts(model.encoder):
            part.eval()
    model.head.train()
