"""Fine-tune an encoder and evaluate it on test corpora: the function behind ``crosslens finetune``."""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from crosslens.alignment.vectors import read_vectors
from crosslens.corpora.catalogue import name_split
from crosslens.data.corpus import Corpus
from crosslens.digests import require_seed
from crosslens.encoders.condition import Condition
from crosslens.encoders.encoder import find_device
from crosslens.encoders.interventions.start import Start
from crosslens.encoders.load import check_encoder
from crosslens.encoders.matmul import find_precision
from crosslens.encoders.models.bilstm import LAYERS as BILSTM_LAYERS
from crosslens.encoders.models.bilstm import Vectors, bilstm_digest
from crosslens.errors import RequestError, require_known
from crosslens.files import refuse_existing, refuse_inside, write_folder
from crosslens.formatting import counted
from crosslens.lab.export import pretraining_settings
from crosslens.lab.presets import given_name
from crosslens.mlm.lab_encoder import encoder_folder, laboratory_of
from crosslens.progress import Listener, listening
from crosslens.results.record import Results, concatenated
from crosslens.runs.corpora import Corpora
from crosslens.runs.leakage import leakage_warnings
from crosslens.runs.make import describe_encoder
from crosslens.runs.make import train as train_model
from crosslens.runs.question import CorpusRef, Score
from crosslens.runs.recorded import write_recorded
from crosslens.runs.run import EncoderRef, ModelRun, Training
from crosslens.runs.tracking import Tracker, tracking
from crosslens.tasks import Task, find_task
from crosslens.tasks.prediction_files import prediction_files
from crosslens.training.checkpoint import save_model
from crosslens.training.distributed import join_processes, leave_processes, processes
from crosslens.training.evaluate import evaluate
from crosslens.training.model import TaskModel
from crosslens.training.provenance import describe_run
from crosslens.training.recipe import BILSTM, DEFAULT_RECIPE, Recipe, find_recipe

ODDITIES = {
    "train_split_sentences": "sentences read in several windows",
    "train_cut_words": "words of so many subwords that only the first ones were read",
}


@dataclass(frozen=True, slots=True)
class Request:
    """A valid request for fine-tuning.

    Attributes:
        task: the task, with the recipe's settings.
        dev: name of the development data; None: not needed.
        tests: names of the test corpora.
    """

    task: Task
    recipe: Recipe
    train: str
    dev: str | None
    tests: tuple[str, ...]
    corpora: Corpora

    @property
    def test_corpora(self) -> list[Corpus]:
        """The test corpora, each loaded once."""
        return [self.corpora.corpus(name) for name in self.tests]


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
    """Check the arguments of `finetune_and_evaluate` before an encoder is loaded.

    Raises:
        RequestError: for an unknown task, recipe or setting; when two prediction files would have the same name.
        DataError: when a corpus is missing or lacks the annotation.
    """
    checked_recipe = find_recipe(recipe or DEFAULT_RECIPE, find_task(task), settings)
    checked_task = find_task(task, checked_recipe.task)
    corpora = Corpora(data, format=checked_task.format)
    if not train:
        raise RequestError("the name of the training data is empty")
    names = tuple(corpora.matching(tests))
    test_corpora = [corpora.corpus(name) for name in names]
    given = [corpora.corpus(train, split="train"), *([corpora.corpus(dev, split="dev")] if dev else []), *test_corpora]
    for corpus in given:
        checked_task.check(corpus)
    if not dev and checked_recipe.needs_dev:
        dev = name_split(train, "dev")  # after the names that are given, so that a wrong one is reported first
        checked_task.check(corpora.corpus(dev, split="dev"))
    if predictions is not None:
        prediction_files(checked_task, test_corpora)
    return Request(checked_task, checked_recipe, train, dev, names, corpora)


def finetune_and_evaluate(
    encoder: str | Path,
    task: str,
    *,
    train: str,
    tests: str | Sequence[str],
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
    track: str | None = None,
    progress: Listener = None,
) -> Results:
    """Fine-tune an encoder on one language, and evaluate it on others.

    The run has the same id here, in a study and with `crosslens.finetune`.

    Args:
        encoder: hub name, folder, ``lab:good`` for the encoder of a laboratory, which is pretrained once, or ``bilstm``
            for a BiLSTM baseline without pretraining.
        task: name of the task.
        train: name of the training data.
        tests: name of a test corpus, or several; ``ud/*_pud`` matches every PUD treebank.
        dev: name of the development data; None: the dev split of ``train``, if the recipe needs it.
        condition: interventions before training, as in a study file: ``{"layers": "1-2", "freeze": "0"}``. Here, the
            precision may also be ``auto``.
        recipe: name of a recipe; None: the default recipe of the task.
        settings: setting -> value, for recipe or task.
        vectors: file of pretrained word vectors for a BiLSTM, in fastText's format.
        seed: random seed for re-initialised layers, task head and data order.
        out: new folder for ``results.csv``, ``counts.npz``, ``run.json`` and ``model/``; None: nothing is written. The
            training state is kept in ``OUT.state`` until the run ends; the same call resumes from it.
        keep: ``model`` also saves the fine-tuned model.
        predictions: new folder for the predictions; None: predictions are not written.
        save_every: steps between two saved states.
        data: folder that is searched first for corpora.
        device: torch device; None: a GPU if available.
        track: experiment tracker that receives losses, dev scores and test scores, such as ``wandb`` or
            ``tensorboard=logs`` (see `crosslens.runs.tracking.tracking`); None: none.
        progress: progress listener.

    Returns:
        A record for each corpus and metric. Under `torchrun`, only the first process returns records and writes files.

    Raises:
        RequestError: for an invalid argument, or a folder that exists.
        DataError: when a corpus cannot be read or lacks the annotation.
        EncoderError: when the encoder cannot be loaded or lacks the layers.
        TrainingError: when the loss is not finite, or memory runs out.
    """
    seed = require_seed(seed)
    require_known(keep, ("results", "model"), "unknown choice of what to keep")
    for folder in (out, predictions):
        if folder is not None:
            refuse_existing(folder)
    refuse_inside(predictions, out, what="predictions (--predictions)")
    fresh = str(encoder) == BILSTM and not Path(encoder).exists()
    laboratory = laboratory_of(encoder)
    precision = condition.get("precision") if isinstance(condition, Mapping) else None
    if isinstance(condition, Mapping) and precision is not None:
        if "precision" in (settings or {}):
            raise RequestError(
                "the precision is given twice: by --precision and by --set precision", hint="leave out --set precision"
            )
        family = check_encoder(encoder) if precision == "auto" and not (fresh or laboratory) else None
        condition = {**condition, "precision": find_precision(precision, find_device(device), family=family)}
    parsed = Condition.read(condition).require_before_training()
    if vectors is not None and not fresh:
        raise RequestError("--vectors applies only to ENCODER bilstm; pretrained encoders have their own embeddings")
    if fresh:
        parsed = Condition.of((Start(start="bilstm"), *parsed.interventions))
    elif laboratory is None:
        check_encoder(encoder)
    else:
        parsed.scaled(written_for=None, depth=pretraining_settings(laboratory)["shape"]["layers"])  # refuses others
    request = check_finetuning(
        task,
        train=train,
        tests=[tests] if isinstance(tests, str) else tests,
        dev=dev,
        recipe=recipe or (BILSTM if fresh else None),
        settings=settings,
        data=data,
        predictions=predictions,
    )
    listener = listening(progress)
    if laboratory is not None:  # pretrained last, which takes a minute
        find_device(device)
        encoder = encoder_folder(encoder, progress=listener)
    device = join_processes(device)
    table = read_vectors(vectors) if vectors is not None else None
    by_word = dict(zip(table.words, table.vectors[0], strict=True)) if table else None
    run = _run(request, str(encoder), parsed, seed, vectors=by_word, device=device)
    trained = request.corpora.corpus(request.train, split="train")
    selecting = request.dev if request.recipe.needs_dev else None
    leaked = leakage_warnings(
        trained,
        request.test_corpora,
        limit=request.recipe.limit,
        dev=request.corpora.corpus(selecting, split="dev") if selecting else None,
    )
    for warning in (*run.training.warnings(map(CorpusRef.of, request.test_corpora)), *leaked):
        listener.say(warning)
    first = processes().rank == 0  # only the first process evaluates and writes
    state = Path(f"{str(out).rstrip('/')}.state") if out is not None else None
    if first and state is not None and state.exists():
        listener.say(f"resuming from {state}")
    with _tracking(track if first else None, run, out) as tracker:
        model = train_model(
            run,
            request.corpora,
            device=device,
            state=state,
            save_every=save_every,
            vectors=by_word,
            progress=listener,
            tracker=tracker,
        )
        leave_processes()
        if not first:
            return Results.of([])
        _say_facts(model, listener.say)
        results = _evaluate(run, model, request, predictions, listener)
        if tracker is not None:
            with _removed_if_it_fails(predictions):
                tracker.evaluated(int(model.facts["steps"]), results)

    def write(folder: Path) -> None:
        write_recorded(results, folder)
        described = json.dumps(describe_run(model), indent=1, ensure_ascii=False, allow_nan=False)
        (folder / "run.json").write_text(described + "\n", "utf-8")
        if keep == "model":
            save_model(model, folder / "model")

    if out is not None:
        with _removed_if_it_fails(predictions):
            write_folder(out, write)
    if state is not None:
        state.unlink(missing_ok=True)
    return results


@contextmanager
def _removed_if_it_fails(predictions: str | Path | None) -> Iterator[None]:
    """Remove the written predictions if the rest cannot be written, so that the same call writes all."""
    try:
        yield
    except BaseException:
        if predictions is not None:
            shutil.rmtree(predictions, ignore_errors=True)
        raise


def _run(
    request: Request, encoder: str, condition: Condition, seed: int, *, vectors: Vectors | None, device: str | None
) -> ModelRun:
    """Build the run; loads the encoder for its digest and depth."""
    corpora, recipe = request.corpora, request.recipe
    train = corpora.corpus(request.train, split="train")
    dev = corpora.corpus(request.dev, split="dev") if request.dev else None
    if condition.start == "bilstm":
        fresh = bilstm_digest(train.limited(recipe.limit), vectors)
        base, depth = EncoderRef(BILSTM, BILSTM, fresh, made=True, shared=False), BILSTM_LAYERS
    else:
        described = describe_encoder(encoder, device, condition=condition)
        specific, depth = described.language_specific, described.depth
        base = EncoderRef(encoder, given_name(encoder), described.digest, language_specific=specific)
    condition = condition.scaled(written_for=None, depth=depth)
    training = Training(
        request.task.name,
        dict(request.task.settings),
        train.language or "",
        train.language,
        CorpusRef.of(train),
        CorpusRef.of(dev) if dev else None,
        recipe,
        recipe.selection(train=train, dev=dev),
    )
    return ModelRun(base, condition, seed, training)


def _tracking(track: str | None, run: ModelRun, out: str | Path | None) -> AbstractContextManager[Tracker | None]:
    """Start a run of an experiment tracker, named as the folder of the results."""
    if track is None:
        return nullcontext()
    described = {name: value for name, value in run.columns.items() if value is not None}
    settings = {**run.training.recipe.model_dump(mode="json", exclude={"name", "task"}), **run.training.settings}
    name = Path(out).name if out is not None else run.label.replace(" ", "-")
    return tracking(track, run=name, settings={**described, **settings})


def _evaluate(
    run: ModelRun, model: TaskModel, request: Request, predictions: str | Path | None, progress: Listener
) -> Results:
    tests = request.test_corpora
    results = evaluate(model, tests, predictions=predictions, progress=progress)
    questions = {(test.name, test.language): Score(CorpusRef.of(test), run.training.settings) for test in tests}
    ids = {key: run.base.question(question).id for key, question in questions.items()}
    asked = (records.with_columns(question=ids[key]) for key, records in results.groups("corpus", "target"))
    return concatenated(asked).with_columns(**run.columns)


def _say_facts(model: TaskModel, say: Callable[[str], None]) -> None:
    facts = model.facts
    say(f"trained {counted(int(facts['steps']), 'step', 'steps')} in {facts['seconds']} s")
    for fact, words in ODDITIES.items():
        if facts[fact]:
            say(f"{facts['train']}: {words}: {facts[fact]}")
