"""One fine-tuning from names to results: what ``crosslens finetune`` does, as a function."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from crosslens.alignment.vectors import read_vectors
from crosslens.corpora.catalogue import match_corpora, name_split
from crosslens.encoders.condition import Condition
from crosslens.encoders.interventions.start import Start
from crosslens.encoders.models.bilstm import LAYERS as BILSTM_LAYERS
from crosslens.encoders.models.bilstm import Vectors, bilstm_digest
from crosslens.errors import RequestError
from crosslens.files import new_folder, refuse_existing
from crosslens.progress import Listener, listening
from crosslens.results.record import Results
from crosslens.runs.answer import Subject, answer
from crosslens.runs.corpora import Corpora
from crosslens.runs.make import digest_and_depth
from crosslens.runs.make import train as train_model
from crosslens.runs.question import CorpusRef, Score
from crosslens.runs.run import EncoderRef, ModelRun, Training
from crosslens.tasks import Task, find_task
from crosslens.training.checkpoint import save_model
from crosslens.training.distributed import join_processes, leave_processes, processes
from crosslens.training.model import TaskModel
from crosslens.training.prediction_files import prediction_files
from crosslens.training.provenance import describe_run
from crosslens.training.recipe import BILSTM, DEFAULT_RECIPE, Recipe, find_recipe

ODDITIES = {
    "train_split_sentences": "sentences read in several windows",
    "train_cut_words": "words of so many subwords that only the first ones were read",
}


@dataclass(frozen=True, slots=True)
class Request:
    """A fine-tuning that was checked, and not begun.

    Attributes:
        task: with the recipe's settings.
        recipe: how it is trained.
        train: name of the training data.
        dev: name of the development data; None: none is needed.
        tests: names of the test corpora.
        corpora: has read them.
    """

    task: Task
    recipe: Recipe
    train: str
    dev: str | None
    tests: tuple[str, ...]
    corpora: Corpora


def check_finetuning(
    task: str,
    *,
    train: str,
    tests: Sequence[str],
    dev: str | None = None,
    recipe: str | None = None,
    settings: Mapping[str, Any] | None = None,
    data: str | None = None,
    predictions: str | Path | None = None,
) -> Request:
    """Refuse what is asked wrongly before anything heavy is loaded. The arguments are `finetune_and_evaluate`'s.

    Raises:
        RequestError: for a task, recipe or setting that does not exist; for predictions of one name.
        DataError: for a corpus that is missing, or lacks the annotation.
    """
    how = find_recipe(recipe or DEFAULT_RECIPE, find_task(task), settings)
    chosen = find_task(task, how.task)
    corpora = Corpora(data, format=chosen.format)
    selects = how.select == "best" or how.schedule == "plateau"
    dev = dev or (name_split(train, "dev") if selects else None)
    names = tuple(name for pattern in tests for name in match_corpora(pattern, data=data))
    read = [corpora.corpus(train, split="train"), *([corpora.corpus(dev, split="dev")] if dev else [])]
    test_corpora = [corpora.corpus(name) for name in names]
    for corpus in (*read, *test_corpora):
        chosen.check(corpus)
    if predictions is not None:
        prediction_files(chosen, test_corpora)
    return Request(chosen, how, train, dev, names, corpora)


def finetune_and_evaluate(
    encoder: str | Path,
    task: str,
    *,
    train: str,
    tests: Sequence[str],
    dev: str | None = None,
    condition: Condition | str | Mapping[str, Any] = "none",
    recipe: str | None = None,
    settings: Mapping[str, Any] | None = None,
    vectors: str | Path | None = None,
    seed: int = 1,
    out: str | Path | None = None,
    keep: Literal["results", "model"] = "results",
    predictions: str | Path | None = None,
    save_every: int = 500,
    data: str | None = None,
    device: str | None = None,
    progress: Listener = None,
) -> Results:
    """Fine-tune an encoder on one language, and evaluate it on others.

    The same training has the same id here, in a study and by `crosslens.finetune`.

    Args:
        encoder: a hub name, a folder, or ``bilstm``: a network without pretraining.
        task: its name.
        train: name of the training data.
        tests: names of test corpora; ``ud/*_pud`` is every PUD treebank.
        dev: name of the development data; None: the same treebank's, where the recipe needs some.
        condition: what is done to the encoder before, as a study file writes it: ``{"layers": "1-2", "freeze": "0"}``.
        recipe: a named recipe; None: the task's usual one.
        settings: setting -> value, of the recipe or the task.
        vectors: given word vectors of a BiLSTM, in fastText's format.
        seed: of re-initialised layers, task head and data order.
        out: a folder to make, with ``results.csv``, ``run.json`` and perhaps ``model/``; None: nothing is written.
            While training goes on its state is in ``OUT.state``, from which the same call resumes.
        keep: ``model``: the fine-tuned model as well.
        predictions: a folder to make, with the predictions; None: they are not kept.
        save_every: steps between two states.
        data: a folder that is looked through first for corpora.
        device: None: a GPU where there is one.
        progress: hears how far it is.

    Returns:
        A record for each corpus and metric. In processes that `torchrun` started the first has them, and writes.

    Raises:
        RequestError: for what is asked wrongly; for a folder that exists.
        DataError: for a corpus that cannot be read, or lacks the annotation.
        EncoderError: for an encoder that cannot be loaded, or layers that it does not have.
        TrainingError: when the loss is no longer a number, or the memory is full.
    """
    for folder, name in ((out, "--out"), (predictions, "--predictions")):
        if folder is not None:
            refuse_existing(folder, what=name)
    parsed = Condition.read(condition)
    fresh = str(encoder) == BILSTM and not Path(encoder).exists()
    if vectors is not None and not fresh:
        raise RequestError("--vectors applies only to ENCODER bilstm; pretrained encoders have their own embeddings")
    if fresh:
        parsed = Condition.of((Start(start="bilstm"), *parsed.interventions))
    asked = check_finetuning(
        task,
        train=train,
        tests=tests,
        dev=dev,
        recipe=recipe or (BILSTM if fresh else None),
        settings=settings,
        data=data,
        predictions=predictions,
    )
    device = join_processes(device)
    given = read_vectors(vectors) if vectors is not None else None
    by_word = dict(zip(given.words, given.vectors[0], strict=True)) if given else None
    run = _run(asked, str(encoder), parsed, seed, vectors=by_word, device=device)
    listener = listening(progress)
    first = processes().rank == 0  # the others train along, and leave the rest to the first
    state = Path(f"{str(out).rstrip('/')}.state") if out is not None else None
    if first and state is not None and state.exists():
        listener.say(f"resuming from {state}")
    model = train_model(
        run, asked.corpora, device=device, state=state, save_every=save_every, vectors=by_word, progress=listener
    )
    leave_processes()
    if not first:
        return Results.of([])
    _say_facts(model, listener.say)
    with _folder(out) as made, _folder(predictions) as kept:
        results = _evaluate(run, model, asked, kept, listener)
        if made is not None:
            results.write(made / "results.csv")
            described = json.dumps(describe_run(model), indent=1, ensure_ascii=False, allow_nan=False)
            (made / "run.json").write_text(described + "\n", "utf-8")
            if keep == "model":
                save_model(model, made / "model")
    if state is not None:
        state.unlink(missing_ok=True)
    return results


def _run(
    asked: Request, encoder: str, condition: Condition, seed: int, *, vectors: Vectors | None, device: str | None
) -> ModelRun:
    """The run, once the encoder is loaded."""
    corpora, recipe = asked.corpora, asked.recipe
    train = corpora.corpus(asked.train, split="train")
    dev = corpora.corpus(asked.dev, split="dev") if asked.dev else None
    if condition.start == "bilstm":
        fresh = bilstm_digest(train.limited(recipe.limit), vectors)
        base, depth = EncoderRef(BILSTM, BILSTM, fresh, made=True, shared=False), BILSTM_LAYERS
    else:
        digest, depth = digest_and_depth(encoder, device)
        base = EncoderRef(encoder, encoder, digest)
    condition = condition.scaled(written_for=None, depth=depth)
    selection = recipe.select
    if dev is not None and recipe.select == "best" and dev.language != train.language:
        selection = f"oracle {dev.name}"  # zero-shot transfer has no labelled data of the target
    training = Training(
        asked.task.name,
        dict(asked.task.settings),
        train.language or "",
        train.language,
        CorpusRef(train.name, train.digest),
        CorpusRef(dev.name, dev.digest) if dev else None,
        recipe,
        selection,
    )
    return ModelRun(base, condition, seed, training)


def _evaluate(run: ModelRun, model: TaskModel, asked: Request, kept: Path | None, progress: Listener) -> Results:
    tests = [asked.corpora.corpus(name) for name in asked.tests]
    questions = tuple(Score(CorpusRef(test.name, test.digest), run.training.settings) for test in tests)
    subject = Subject(model.encoder, model)
    results, _ = answer(subject, questions, asked.corpora, predictions=kept, progress=progress)
    return results.with_columns(**run.columns)


def _say_facts(model: TaskModel, say: Any) -> None:
    facts = model.facts
    say(f"trained {facts['steps']} steps in {facts['seconds']} s")
    for fact, words in ODDITIES.items():
        if facts[fact]:
            say(f"{facts['train']}: {words}: {facts[fact]}")


@contextmanager
def _folder(path: str | Path | None) -> Iterator[Path | None]:
    with nullcontext() if path is None else new_folder(path) as made:
        yield made
