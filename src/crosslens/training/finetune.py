"""Fine-tune an encoder on a task in one language."""

import dataclasses
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from crosslens.corpora.catalogue import CorpusLike, load_corpus, name_split
from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Sentence
from crosslens.digests import digest, require_seed, stream_seed
from crosslens.encoders.encoder import Encoder, require_encoder
from crosslens.encoders.inputs import EncodedCorpus
from crosslens.encoders.matmul import slowness
from crosslens.encoders.models.adapters import begin_update, copy_to_train, end_update
from crosslens.encoders.models.language_specific import language_parts
from crosslens.encoders.models.quantize import refuse_trained
from crosslens.errors import DataError, RequestError, require_integer
from crosslens.initial_weights import initial_weights
from crosslens.progress import Listener, listening
from crosslens.tasks import Task, find_task
from crosslens.training.distributed import processes
from crosslens.training.epochs import DevData, Epochs
from crosslens.training.identity import run_id, training_identity
from crosslens.training.memory.estimate import memory_warning
from crosslens.training.model import TaskModel, model_digest
from crosslens.training.predict import read_for
from crosslens.training.recipe import DEFAULT, Recipe, default_recipe, find_recipe
from crosslens.training.sparse_embeddings import restrict_embeddings

Facts = dict[str, str | int | float]


@torch.inference_mode(mode=False)  # also where the caller switched gradients off
def finetune(
    encoder: Encoder,
    task: str | Task,
    *,
    train: CorpusLike,
    dev: CorpusLike | None = None,
    recipe: Recipe | str | Mapping[str, Any] | None = None,
    seed: int = 1,
    state: str | Path | None = None,
    save_every: int = 500,
    progress: Listener = None,
    stepped: Callable[[int, float], None] | None = None,
    validated: Callable[[int, Mapping[str, float]], None] | None = None,
) -> TaskModel:
    """Fine-tune a copy of an encoder with a new task head on one corpus.

    The same arguments give the same bits on the same machine with the same number of threads. The head, the batch
    order and dropout have separate random streams, so a run with re-initialised layers differs from its reference run
    in those layers only.

    Under `torchrun`, after `join_processes`, each process reads its share of every batch, and all return the same
    model. When memory runs out, micro-batches are halved. With dropout, several processes or halved micro-batches draw
    different masks under the same run id: a warning is reported, and the facts ``processes`` and ``halved_batches`` are
    part of every record.

    Args:
        encoder: the encoder, for example from `random_init` or `freeze`; it is not modified.
        task: a task or its name.
        train: training data in the source language: a name, a file, or anything else that `load_corpus` takes.
        dev: development data in the source language, if the recipe selects the best epoch; None: the dev split of
            ``train``, if that is a name such as ``ud/en_ewt``.
        recipe: settings of the fine-tuning; the name of a recipe; or a mapping of settings that differ from the task's
            default recipe, as in ``{"epochs": 1}``; None: the default. Task settings apply only when ``task`` is a
            name.
        seed: random seed for task head, batch order and dropout.
        state: file for the state of unfinished training. If it exists, training resumes from it, bit-identically on a
            CPU. It remains after training; the caller removes it once the model is saved.
        save_every: steps between two saved states. An interrupted training saves its state too.
        progress: listener for steps and epochs. If it raises KeyboardInterrupt, the state is saved first.
        stepped: called after every step with the number of steps done and the mean loss.
        validated: called after every epoch with dev data, with the number of steps done and the dev score in points by
            metric.

    Returns:
        The fine-tuned encoder with task head, labels and provenance.

    Raises:
        RequestError: for an unknown task or recipe; a recipe that needs missing dev data, or selects by an unknown
            score; the encoder of a fine-tuned model; the state of a different training run; an invalid seed, or
            ``save_every`` below 1.
        DataError: for a corpus without words or without the task's annotation.
        TrainingError: when the loss is not finite, or memory runs out.

    Examples:
        >>> train = xl.load_corpus("ud/en_ewt:train[:20]", data=sample)
        >>> recipe = xl.find_recipe("small", "pos", {"epochs": 1, "select": "last"})
        >>> tagger = xl.finetune(encoder, "pos", train=train, recipe=recipe, seed=1)
        >>> tagger.task.name, tagger.labels[:3]
        ('pos', ('ADJ', 'ADP', 'ADV'))

        A table of labelled texts:

        >>> texts = {"text": ["a good film", "a bad film"], "label": ["good", "bad"]}
        >>> classifier = xl.finetune(encoder, "document", train=texts, recipe="small")
        >>> classifier.labels
        ('bad', 'good')
    """
    encoder = _require_trainable(encoder)
    seed, save_every = require_seed(seed), require_integer(save_every, "save_every", least=1)
    task, recipe = _settings(task, recipe)
    whole, dev = _corpora(train, dev, task=task, recipe=recipe)
    train = whole.limited(recipe.limit)
    for corpus in (train, dev):
        if corpus is not None:
            if not any(corpus.lengths):
                raise DataError(f"{corpus.name} has no words")
            task.check(corpus)

    started = time.perf_counter()
    identity = training_identity(
        encoder=encoder.loaded_digest,
        condition=encoder.condition,
        seed=seed,
        task=task,
        recipe=recipe,
        train=whole.digest,
        dev=dev.digest if dev else None,
        drawn=[change.seed for change in encoder.changes if change.seed is not None],
        languages=(train.language, dev.language if dev else None) if encoder.language_specific else None,
    )
    model = _untrained_model(encoder, task, recipe, train, seed=seed)
    encoder = model.encoder
    listener = listening(progress)
    if (warning := slowness(model.computing_encoder.precision, encoder.device)) is not None:
        listener.say(warning)

    # Parameters frozen by the caller are not part of the run's identity, but the state file must match them.
    trained = [name for name, parameter in encoder.trained.named_parameters() if parameter.requires_grad]
    encoded = read_for(model, train)
    encoded_dev = [read_for(model, dev)] if dev else []
    with restrict_embeddings(encoder, encoded, *encoded_dev) as (restricted, *restricted_dev):
        warning = memory_warning(model.computing_encoder, recipe, restricted.windows, processes=processes().size)
        if warning is not None:
            listener.say(warning)
        epochs = Epochs(
            model,
            train,
            restricted,
            DevData.of(task, recipe, dev, restricted_dev[0]) if dev is not None else None,
            identity=digest([identity, trained]),
            state=Path(state) if state is not None else None,
            save_every=save_every,
            progress=listener,
            stepped=stepped,
            validated=validated,
        )
        epochs.run()
    if (warning := recipe.few_steps(len(train))) is not None:
        listener.say(warning)
    end_update(encoder)
    encoder.trained.eval()
    model.head.eval()
    facts = {
        "run": run_id(identity),
        "weights": model_digest(encoder, model.head),
        "encoder_digest": encoder.loaded_digest,
        **_corpus_facts(whole, train, encoded),
        "steps": epochs.loop.step,
        "last_loss": epochs.loop.losses[-1],
        "seconds": round(epochs.seconds_before + time.perf_counter() - started, 2),
        "halved_batches": int(epochs.loop.halved),
        "processes": processes().size,
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "semantics": identity["semantics"],
        "selection": recipe.selection(train=train, dev=dev),
        **(_dev_facts(dev, epochs.dev_scores, recipe) if dev is not None else {}),
        **({"dev_language": dev.language} if dev is not None and dev.language and encoder.language_specific else {}),
    }
    return dataclasses.replace(model, facts=facts)


def _require_trainable(encoder: Encoder) -> Encoder:
    require_encoder(encoder).condition.require_before_training()
    if encoder.trained_since:
        raise RequestError(
            f"this encoder is part of a model fine-tuned for {encoder.task}, whose run id a second training would have",
            hint="save the model, and fine-tune the encoder that crosslens.load_encoder reads from its folder",
        )
    return encoder


def _settings(task: str | Task, recipe: Recipe | str | Mapping[str, Any] | None) -> tuple[Task, Recipe]:
    """Find the recipe, and the task with the recipe's settings."""
    if isinstance(recipe, str):
        recipe = find_recipe(recipe, task)
    elif isinstance(recipe, Mapping):
        recipe = find_recipe(DEFAULT, task, recipe)
    recipe = recipe or default_recipe(find_task(task) if isinstance(task, str) else task)
    return find_task(task, recipe.task) if isinstance(task, str) else task, recipe


def _corpora(train: CorpusLike, dev: CorpusLike | None, *, task: Task, recipe: Recipe) -> tuple[Corpus, Corpus | None]:
    """Load the training and development data; a recipe that needs the latter has it beside training data by name."""
    if dev is None and recipe.needs_dev:
        if not isinstance(train, str):
            what = "selects the best epoch" if recipe.select == "best" else "lowers the learning rate"
            raise RequestError(
                f"the recipe {what} by dev scores, but there is no dev data",
                hint="give dev data, or set select=last and schedule=linear",
            )
        dev = name_split(train, "dev")
    loaded = load_corpus(train, split="train", format=task.format)
    return loaded, load_corpus(dev, split="dev", format=task.format) if dev is not None else None


def _untrained_model(encoder: Encoder, task: Task, recipe: Recipe, train: Corpus, *, seed: int) -> TaskModel:
    """Copy the encoder, and add a new task head."""
    encoder = encoder.for_language(train.language)
    refuse_trained(encoder)
    encoder = dataclasses.replace(
        copy_to_train(encoder), origin=encoder.loaded_digest, task=task.name, trained_since=True
    )
    begin_update(encoder, seed=seed)
    for parameter in language_parts(encoder.model):  # the target's parts stay untrained, so the source's must too
        parameter.requires_grad_(False)
    labels = task.labels(train)
    with initial_weights(stream_seed(seed, "head")):
        head = task.head(encoder.output_width, labels, dropout=recipe.head_dropout).to(encoder.device)
    return TaskModel(encoder, task, head, labels, recipe, train.language, seed, {}, trained_on=train.contents)


def _corpus_facts(whole: Corpus, train: Corpus, encoded: EncodedCorpus) -> Facts:
    """Describe the training data: the whole corpus, what training uses of it, and how the encoder reads that."""
    facts: Facts = {
        "train": whole.name,
        "train_digest": whole.digest,
        "train_sentences": len(train),
        "train_unknown_words": encoded.unknown,
        "train_cut_words": encoded.cut,
        "train_split_sentences": encoded.split,
    }
    if train.items and isinstance(train.items[0], Sentence):
        facts["train_words"] = train.words
    if train.release:
        facts["train_release"] = train.release
    return facts


def _dev_facts(dev: Corpus, scores: list[float], recipe: Recipe) -> Facts:
    """Describe the development data, with the score and the epoch of the weights that were selected."""
    index = int(np.argmax(scores)) if recipe.select == "best" else len(scores) - 1
    facts: Facts = {"dev": dev.name, "dev_digest": dev.digest, "dev_score": scores[index]}
    if recipe.select != "average":
        facts["epoch"] = index + 1
    return facts
