"""Masked and causal language modelling: loss, perplexity, and the training loop of pretraining and adaptation."""

import math
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from transformers import PreTrainedModel
from transformers.modeling_outputs import BaseModelOutputWithPastAndCrossAttentions

from crosslens.encoders.entering import forward_replaced
from crosslens.encoders.gpu.cuda_graphs import TrainingGraphs, can_record
from crosslens.encoders.matmul import computed_in, inference, slowness
from crosslens.encoders.models.language_specific import RoutedBertForMaskedLM
from crosslens.encoders.options import Precision
from crosslens.errors import RequestError
from crosslens.files import locked, new_folder, write_text
from crosslens.formatting import with_commas
from crosslens.mlm.pretrain_settings import Validation
from crosslens.progress import Listener, held_interrupts, listening
from crosslens.training.distributed import processes
from crosslens.training.loop import Loop

Batch = tuple[str | None, np.ndarray, np.ndarray, np.ndarray]
"""Language (None: possibly mixed), and three ``(sequences, length)`` arrays: ids to predict, input ids, and bool
positions to predict."""

Perplexities = Mapping[str, float]
"""Language -> perplexity."""


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """The encoder or decoder of a language model, without its head, as `TrainingGraphs` records it.

    Attributes:
        capacity: 0: sequences are read as they are.
        padding: not used.
    """

    model: PreTrainedModel
    precision: Precision
    capacity: int = 0
    padding: int = 0

    @property
    def name(self) -> str:
        """The model's kind."""
        return self.model.config.model_type

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        return next(self.model.parameters()).device

    @property
    def trained(self) -> nn.Module:
        """The module."""
        return self.model.base_model

    def states(self, ids: torch.Tensor, mask: torch.Tensor, segments: torch.Tensor | None = None) -> torch.Tensor:
        """Compute ``(sequences, length, hidden size)`` last states of sequences without padding."""
        with computed_in(self.precision, ids.device):
            return self.model.base_model(input_ids=ids).last_hidden_state

    def graphs(self, *, say: Callable[[str], None]) -> TrainingGraphs | None:
        """Graphs of the passes, on a GPU, where these can be recorded and something is trained."""
        recordable = can_record(self.trained, self.name, self.device)
        return TrainingGraphs(self, say=say) if recordable else None


def prediction_loss(
    model: PreTrainedModel, batch: Batch, *, precision: Precision = "float32", graphs: TrainingGraphs | None = None
) -> tuple[torch.Tensor, int]:
    """Return the summed cross-entropy and the number of the predicted subwords of a batch.

    Args:
        graphs: graphs of the model's `Body`; None: it is computed without.
    """
    language, wanted, ids, predicted = batch
    device = next(model.parameters()).device
    keywords = {"language": language} if isinstance(model, RoutedBertForMaskedLM) else {}
    places = torch.from_numpy(np.flatnonzero(predicted)).to(device)
    inputs = torch.from_numpy(ids).to(device)
    replayed: AbstractContextManager[None] = nullcontext()
    if graphs is not None:  # the head is computed on these states, in any architecture
        states = BaseModelOutputWithPastAndCrossAttentions(last_hidden_state=graphs(inputs, torch.ones_like(inputs)))
        replayed = forward_replaced({model.base_model: lambda *arguments, **keywords: states})
    with computed_in(precision, device), _head_on(model, places), replayed:
        logits = model(input_ids=inputs, **keywords).logits[0]
    gold = torch.from_numpy(wanted[predicted]).to(device)
    return functional.cross_entropy(logits.float(), gold, reduction="sum"), len(gold)


def _head_on(model: PreTrainedModel, places: torch.Tensor) -> AbstractContextManager:
    """Compute the head, the widest matrix of a small encoder, at some positions only, in any architecture."""

    def select(module: nn.Module, arguments: Any, output: Any) -> Any:
        output.last_hidden_state = output.last_hidden_state.flatten(0, 1)[places][None]
        return output

    return model.base_model.register_forward_hook(select)


def perplexities(model: PreTrainedModel, batches: Mapping[str, list[Batch]]) -> dict[str, float]:
    """Compute each language's perplexity: exp of the mean cross-entropy of the predicted subwords."""
    model.eval()
    values = {}
    with inference():
        for language, held_out in batches.items():
            parts = [prediction_loss(model, batch) for batch in held_out]
            total = sum(float(summed) for summed, _ in parts) / sum(count for _, count in parts)
            values[language] = math.exp(min(total, 700.0))
    model.train()
    return values


def describe_perplexities(values: Perplexities) -> str:
    """Format perplexities as text.

    >>> describe_perplexities({"en": 12.3, "fr": 20.11})
    'perplexity en 12.30, fr 20.11'
    >>> describe_perplexities({"en": 1e300})
    'perplexity en 1e+300'
    """
    return "perplexity " + ", ".join(
        f"{language} {with_commas(value, decimals=2)}" for language, value in values.items()
    )


@dataclass
class Best:
    """Best weights of a training so far.

    Attributes:
        step: number of steps at that evaluation; 0: no evaluation yet.
        score: perplexity used for selection; 0 without selection, when the last weights are kept.
        perplexities: each language's perplexity at that step.
        weights: best weights; None: the model's current ones.
    """

    step: int = 0
    score: float = math.inf
    perplexities: Perplexities | None = None
    weights: dict[str, torch.Tensor] | None = None

    def after(self, step: int, measured: Perplexities, model: nn.Module, select: str | None) -> "Best":
        """Update after an evaluation: the better of the two, or the latest without selection.

        Args:
            select: language whose perplexity selects; ``mean``: the geometric mean; None: no selection.
        """
        if select is None:
            return Best(step, 0.0, measured)
        score = (
            measured[select]
            if select in measured
            else math.exp(np.mean([math.log(value) for value in measured.values()]))
        )
        if self.score <= score:
            return self
        weights = {name: value.detach().clone() for name, value in model.state_dict().items()}
        return Best(step, float(score), measured, weights)


def train_language_model(
    loop: Loop[Batch],
    model: PreTrainedModel,
    batches: Callable[[int], Sequence[Batch]],
    *,
    partial: Path,
    unseen: Mapping[str, list[Batch]],
    validation: Validation | None,
    precision: Precision = "float32",
    save_every: int,
    stage: str,
    note: Callable[[float], str] = lambda loss: f"loss {loss:.3f}",
    progress: Listener = None,
    reached: Callable[[int], None] = lambda step: None,
    stepped: Callable[[int, float], None] | None = None,
    validated: Callable[[int, Perplexities], None] | None = None,
) -> dict[str, Any]:
    """Train a language model in place, resuming from its checkpoint if there is one.

    Args:
        batches: step, counted from 0 -> its micro-batches.
        partial: folder of the checkpoint, reserved with `claimed`.
        unseen: held-out batches of each language.
        validation: settings of evaluation, selection and early stopping; None: none.
        save_every: steps between checkpoints.
        stage: name of the training in progress reports.
        note: loss -> text for progress reports.
        reached: called with the number of steps at the beginning and after every step, in the first process, before
            the training state is saved.
        stepped: called after every step with the number of steps and the loss.
        validated: called after every evaluation with the number of steps and each language's perplexity.

    Returns:
        ``loss`` (mean over the last hundred steps) and ``steps``; with validation ``perplexity LANGUAGE`` of the kept
        weights, and ``kept_step``.
    """
    listener = listening(progress)
    if (warning := slowness(precision, model.device)) is not None:
        listener.say(warning)
    best = Best()
    group = processes()
    steps = loop.settings.steps
    if (partial / "state.pt").exists():
        best = Best(**loop.load(partial / "state.pt")["best"])
    group.wait()
    if group.rank == 0:
        reached(loop.step)

    def after_step(step: int, mean: float) -> None:
        nonlocal best
        if group.rank == 0:
            reached(step)
        if validation is not None and (step % validation.every == 0 or step == steps):
            measured = perplexities(model, unseen)
            best = best.after(step, measured, model, validation.select)
            loop.over = bool(validation.patience) and step - best.step >= validation.patience * validation.every  # pyright: ignore
            listener.say(f"step {step} of {steps}: {describe_perplexities(measured)}")
            if validated is not None:
                validated(step, measured)
        if step % save_every == 0 and step < steps and group.rank == 0:
            loop.save(partial / "state.pt", best=vars(best))
        if stepped is not None:
            stepped(step, mean)
        try:
            raise_interrupt()
            listener.report(stage, step, steps, "steps", note(mean))
        except KeyboardInterrupt:
            if group.rank == 0:
                loop.save(partial / "state.pt", best=vars(best))
            raise

    graphs = Body(model, precision).graphs(say=listener.say)
    with held_interrupts() as raise_interrupt:
        loop.run(
            batches,
            lambda batch: prediction_loss(model, batch, precision=precision, graphs=graphs),
            after_step=after_step,
        )
    facts: dict[str, Any] = {"loss": float(np.mean(loop.losses)), "steps": loop.step}
    if best.weights:
        model.load_state_dict(best.weights)
    if best.perplexities:
        facts |= {f"perplexity {language}": value for language, value in best.perplexities.items()}
        facts["kept_step"] = best.step
    return facts


@contextmanager
def claimed(partial: Path, identity: str) -> Iterator[None]:
    """Hold the folder of a running training, new or that of the same training; remove it when the block succeeds.

    Raises:
        RequestError: if it belongs to a different training, another process trains in it, or it holds other files.
    """
    note = partial / "identity.txt"
    if not note.exists():
        if partial.exists() and any(partial.iterdir()):
            raise RequestError(f"{partial} holds files that do not belong to a training", hint="choose another folder")
        with new_folder(partial) as folder:  # at once with its note, without which no later call would resume it
            write_text(folder / note.name, identity)
    elif note.read_text() != identity:
        raise RequestError(
            f"{partial} holds an unfinished training with other settings or text",
            hint="remove it to start again, or choose another folder",
        )
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(partial))
        except BlockingIOError:
            raise RequestError(
                f"another process is training in {partial}", hint="wait until it ends, or choose another folder"
            ) from None
        yield
        shutil.rmtree(partial)
