"""Produce the encoder or the fine-tuned model of a run."""

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from crosslens.encoders.condition import Condition
from crosslens.encoders.encoder import Encoder
from crosslens.encoders.interventions.checkpoints import kept_steps, locate
from crosslens.encoders.load import load_encoder
from crosslens.encoders.models.adapters import adapted_encoder
from crosslens.encoders.models.bilstm import Vectors, fresh_bilstm
from crosslens.encoders.models.quantize import Quantize
from crosslens.encoders.options import Precision
from crosslens.errors import StoreError
from crosslens.mlm.adapt import adapt
from crosslens.mlm.pretrain import pretrain
from crosslens.progress import Listener, listening
from crosslens.results.record import Record, Results
from crosslens.runs.corpora import Corpora, refuse_changed
from crosslens.runs.question import Perplexity
from crosslens.runs.run import AdaptRun, EncoderRun, ModelRun, PretrainRun
from crosslens.runs.tracking import Tracker
from crosslens.training.finetune import finetune
from crosslens.training.model import TaskModel

SAVE_EVERY = 200
"""Steps between two saved training states."""


def begin(
    run: ModelRun | EncoderRun, corpora: Corpora, *, device: str | None, vectors: Vectors | None = None
) -> Encoder:
    """Load the run's encoder, and apply the interventions of its condition.

    Args:
        device: torch device; None: a GPU if available.
        vectors: pretrained word vectors of a BiLSTM.

    Raises:
        StoreError: when the encoder has changed since the run was planned.
        EncoderError: when the encoder lacks the layers or components.
    """
    if run.condition.start == "bilstm":
        assert isinstance(run, ModelRun)
        train = corpora.planned(run.training.train, split="train")
        encoder = fresh_bilstm(train.limited(run.training.recipe.limit), seed=run.seed, vectors=vectors, device=device)
    else:
        encoder = _loaded(run.base.path, device, run.condition)
    refuse_changed(f"the encoder {run.base.path}", encoder.loaded_digest, run.base.digest)
    applied = [change.intervention for change in encoder.changes]
    for intervention in run.condition.interventions:
        if intervention not in applied:
            encoder = intervention.apply(encoder, seed=run.seed)
    return replace(encoder, name=run.base.name)


def train(
    run: ModelRun,
    corpora: Corpora,
    *,
    device: str | None = None,
    state: Path | None = None,
    save_every: int = SAVE_EVERY,
    vectors: Vectors | None = None,
    progress: Listener = None,
    tracker: Tracker | None = None,
) -> TaskModel:
    """Fine-tune the run's model.

    Args:
        state: file for the training state, as in `finetune`.
        save_every: steps between two saved states.
        tracker: experiment tracker that receives losses and dev scores.

    Raises:
        StoreError: when data have changed since the run was planned.
    """
    training, listener = run.training, listening(progress)
    encoder = begin(run, corpora, device=device, vectors=vectors)
    for change in encoder.changes:
        if change.tensors:
            listener.say(change.described)
    model = finetune(
        encoder,
        training.value,
        train=corpora.planned(training.train, split="train"),
        dev=corpora.planned(training.dev, split="dev") if training.dev else None,
        recipe=training.recipe,
        seed=run.seed,
        state=state,
        save_every=save_every,
        progress=listener,
        stepped=tracker.stepped if tracker else None,
        validated=tracker.validated if tracker else None,
    )
    if model.facts["run"] != run.id:
        raise StoreError(f"{run.label} was planned as run {run.id}, but its training is run {model.facts['run']}")
    return model


def make_encoder(
    run: PretrainRun | AdaptRun, folder: Path, corpora: Corpora, *, device: str | None, progress: Listener = None
) -> tuple[dict[str, Any], Results]:
    """Pretrain or adapt an encoder, and save it to a folder.

    Returns:
        The facts for ``run.json``, and the perplexity in each language.

    Raises:
        StoreError: when text has changed since the run was planned.
    """
    described: dict[str, Any] = {}
    options: dict[str, Any] = {"device": device, "progress": progress}
    if isinstance(run, AdaptRun):
        text = corpora.text(run.text.name)
        refuse_changed(run.text.name, text.digest, run.text.digest)
        texts = {run.language: (run.text.name, run.text.digest)}
        facts = adapt(run.base.path, {run.language: text}, folder, settings=run.settings, **options)
        described["words"] = facts[f"words {run.language}"]
    else:
        names = run.settings.corpora
        texts = {language: (name, run.texts[language]) for language, name in names.items()}
        facts = pretrain(run.settings, folder, base=run.home, data=corpora.data, save_every=SAVE_EVERY, **options)
    encoder = load_encoder(folder, device="cpu")
    records = [
        Record(
            target=language,
            measure="perplexity",
            metric="perplexity",
            value=facts[f"perplexity {language}"],
            seed=run.settings.seed,
            depth=encoder.depth,
            state="pretrained",
            corpus=name,
            corpus_digest=digest,
            question=Perplexity().id,
        )
        for language, (name, digest) in texts.items()
        if f"perplexity {language}" in facts
    ]
    checkpoints = {step: load_encoder(f"{folder}@{step}", device="cpu").digest for step in kept_steps(folder)}
    described |= {"checkpoints": checkpoints} if checkpoints else {}
    return {**described, "encoder_digest": encoder.digest, "facts": facts}, Results.of(records)


def _loaded(path: str, device: str | None, condition: Condition) -> Encoder:
    """Load an encoder, with as little memory as a condition allows; the last one stays in memory for the next run."""
    quantize = condition.find(Quantize)
    return _last_loaded(path, device, condition.precision, quantize.quantize if quantize else None, _files(path))


Files = tuple[tuple[str, int, int], ...]
"""Path, size and time of change of each file."""


def _files(path: str) -> Files:
    """The files of an encoder's folder, by which a folder that was replaced is noticed; none for a hub name.

    Those of a folder of PEFT's are also the files of the encoder that it was made for.
    """
    folder = locate(path)[0]
    files = [(file, file.stat()) for file in sorted(Path(folder).glob("*")) if file.exists()]
    pretrained = adapted_encoder(folder)
    return (
        *((str(file), status.st_size, status.st_mtime_ns) for file, status in files),
        *(_files(pretrained) if pretrained is not None else ()),
    )


@lru_cache(maxsize=1)
def _last_loaded(
    path: str, device: str | None, precision: Precision, quantize: Literal["int8"] | None, files: Files
) -> Encoder:
    return load_encoder(path, precision=precision, quantize=quantize, device=device)


@dataclass(frozen=True, slots=True)
class DescribedEncoder:
    """What plans need to know of an encoder.

    Attributes:
        digest: its digest as loaded.
        depth: number of layers.
        heads: number of attention heads of a layer.
        language_specific: whether it has parts for each language.
    """

    digest: str
    depth: int
    heads: int
    language_specific: bool


def describe_encoder(path: str, device: str | None, *, condition: Condition) -> DescribedEncoder:
    """Load and describe an encoder.

    Args:
        condition: condition of the next run, for which the encoder stays loaded.
    """
    encoder = _loaded(path, device, condition)
    heads = int(encoder.model.config.num_attention_heads)
    return DescribedEncoder(encoder.loaded_digest, encoder.depth, heads, encoder.language_specific)
