"""Memory of a training step, estimated before it begins from a forward pass on the ``meta`` device."""

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import nn

from crosslens.data.windows import Window, by_sentence
from crosslens.encoders.encoder import Encoder
from crosslens.encoders.models.int8_weight import Int8Weight
from crosslens.encoders.models.quantize import Quantize
from crosslens.training.memory.recompute import recomputed
from crosslens.training.recipe import Recipe

GIB = 2**30
CONTROL_GROUP = Path("/sys/fs/cgroup")
"""Folder in which Linux says how much memory a container may use, and uses."""

SMALL = 0.25
"""Share of the free memory below which a rough count saves the estimate."""

ROUGH = 40
"""Numbers that a layer keeps for each subword and dimension, at most, without attention weights."""

LESS_IN_BFLOAT16 = 0.6
"""Size of activations in bfloat16 relative to float32: normalisations and softmax stay float32."""


@dataclass(frozen=True, slots=True)
class TrainingMemory:
    """Estimated bytes of a training step.

    Attributes:
        weights: parameters and buffers of the encoder, and copies of the layers in bfloat16 with their gradients.
        gradients: gradients of the trained parameters.
        optimiser: AdamW's two moments of the trained parameters.
        activations: what the forward pass of a micro-batch keeps for the backward pass.
        working: largest intermediate results of the backward pass.
        dense: the largest weight in eight bits, made float32 while its layer computes.
        merged: copies of weights that a low-rank update is added to, after the last step.
    """

    weights: int
    gradients: int
    optimiser: int
    activations: int
    working: int
    dense: int = 0
    merged: int = 0

    @property
    def peak(self) -> int:
        """Bytes at the peak, if gradients of earlier micro-batches are held while activations are."""
        held = self.weights + self.gradients + self.optimiser
        return held + max(self.activations + self.working + self.dense, self.merged)

    def of_share(self, share: float) -> "TrainingMemory":
        """Return the memory of a smaller micro-batch, of this share of its size."""
        return replace(self, activations=round(self.activations * share), working=round(self.working * share))


def training_memory(encoder: Encoder, recipe: Recipe, *, length: int, rows: int | None = None) -> TrainingMemory | None:
    """Estimate the memory of a training step, without the task head.

    Args:
        encoder: encoder whose frozen parameters are set.
        length: subwords of each window.
        rows: windows in a micro-batch; None: one for each of the sentences.

    Returns:
        The estimate; None for an architecture whose forward pass cannot run without numbers.
    """
    on_meta = replace(encoder, model=_on_meta(encoder.model), readout=_on_meta(encoder.readout))
    rows = rows or sentences_at_once(recipe)
    checkpointed = recipe.gradient_checkpointing == "layers"
    on_meta.trained.train(recipe.encoder_dropout != "off")
    try:
        kept = _kept(on_meta, rows, length)
        largest = max(kept, default=0)
        if checkpointed:
            one_layer = sum(kept) // encoder.depth
            with recomputed(on_meta):
                kept = _kept(on_meta, rows, length)
            kept += [rows * length * encoder.width * 4] * encoder.depth + [one_layer]
    except (RuntimeError, NotImplementedError, TypeError):
        return None
    parameters = list(encoder.trained.parameters())
    trained = _bytes(parameter for parameter in parameters if parameter.requires_grad)
    weights = _bytes([*parameters, *encoder.trained.buffers()])
    activations = sum(kept)
    int8 = [parameter for parameter in parameters if isinstance(parameter, Int8Weight)]
    made_dense = 4 * max((parameter.numel() for parameter in int8), default=0)
    if encoder.precision == "bfloat16" or recipe.precision == "bfloat16":
        activations = round(LESS_IN_BFLOAT16 * activations)
        in_layers = (parameter for layer in encoder.layers for parameter in layer.parameters())
        copied = (parameter for parameter in in_layers if not isinstance(parameter, Int8Weight))
        weights += _bytes(parameter for parameter in copied if parameter.dtype == torch.float32)
        made_dense += made_dense // 2
    named = encoder.model.named_parameters()
    updated = (parameter for name, parameter in named if name.endswith(".base_layer.weight"))  # as PEFT names them
    merged = _bytes(parameter for parameter in updated if not isinstance(parameter, Int8Weight))
    return TrainingMemory(weights, trained, 2 * trained, activations, 2 * largest, dense=made_dense, merged=merged)


def memory_warning(encoder: Encoder, recipe: Recipe, windows: Sequence[Window], *, processes: int = 1) -> str | None:
    """Return a warning if a training will probably run out of memory; None otherwise.

    Args:
        windows: windows of the training data.
        processes: number of processes that share a batch.
    """
    free = free_memory(encoder.device)
    sentences = sentences_at_once(recipe, processes)
    rows, length = _largest_micro_batch(windows, sentences)
    if free is None or _roughly(encoder, rows, length) < SMALL * free:
        return None
    estimate = training_memory(encoder, recipe, rows=rows, length=length)
    if estimate is None:
        return None
    there = free + _bytes(encoder.trained.parameters())  # the weights are loaded already
    if estimate.peak <= there:
        return None
    needs = f"training needs about {estimate.peak / GIB:.1f} GiB of memory; the device has {there / GIB:.1f}"
    return f"{needs}: {_advice(encoder, estimate, recipe, there, sentences=sentences, length=length)}"


def sentences_at_once(recipe: Recipe, processes: int = 1) -> int:
    """Sentences in a micro-batch of one of the processes that share a batch."""
    share = -(-recipe.batch // processes)
    return min(recipe.micro_batch or share, share)


def _largest_micro_batch(windows: Sequence[Window], sentences: int) -> tuple[int, int]:
    """Windows and their length in the largest micro-batch: batches group sentences by length, the longest ones too."""
    longest = sorted(by_sentence(windows), key=lambda parts: sum(map(len, parts)))[-sentences:]
    return sum(map(len, longest)), max((len(window) for parts in longest for window in parts), default=0)


def _advice(
    encoder: Encoder, estimate: TrainingMemory, recipe: Recipe, there: int, *, sentences: int, length: int
) -> str:
    sizes = [2**power for power in range(sentences.bit_length()) if 2**power < sentences]
    fitting = [size for size in sizes if estimate.of_share(size / sentences).peak <= there]
    if fitting:
        return f"use the setting micro_batch={max(fitting)} (--set micro_batch={max(fitting)})"
    if recipe.gradient_checkpointing == "off":
        options = "--set micro_batch=1 --set gradient_checkpointing=layers"
        return f"use the settings micro_batch=1 and gradient_checkpointing=layers ({options})"
    shorter = max(length // 2, 8)
    window = f"use a shorter window (the setting window={shorter}, or --set window={shorter})"
    if encoder.condition.find(Quantize) is None:
        eight_bits = "train a low-rank update (lora: --lora 8) and hold the weights in eight bits (--quantize int8)"
        return f"freeze layers, {eight_bits}, or {window}"
    return window


def free_memory(device: torch.device) -> int | None:
    """Return the free bytes of a device, as far as the system tells; of a CPU within the limit of its container."""
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        return free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    if device.type != "cpu":
        return None
    amounts = []
    if (file := Path("/proc/meminfo")).exists():
        lines = dict(line.split(":") for line in file.read_text().splitlines())
        amounts.append(int(lines["MemAvailable"].split()[0]) * 1024)
    limit, used, kinds = (CONTROL_GROUP / name for name in ("memory.max", "memory.current", "memory.stat"))
    if limit.exists() and used.exists() and (words := limit.read_text().strip()).isdigit():
        by_kind = dict(line.split() for line in kinds.read_text().splitlines()) if kinds.exists() else {}
        reclaimable = int(by_kind.get("inactive_file", 0))  # pages of files, which are dropped where memory is short
        amounts.append(int(words) - int(used.read_text()) + reclaimable)
    return min(amounts, default=None)


def _roughly(encoder: Encoder, rows: int, length: int) -> int:
    """Bytes beside the weights, generously."""
    positions = rows * length
    heads = getattr(encoder.model.config, "num_attention_heads", None) or 1
    a_layer = ROUGH * encoder.width + 4 * heads * length
    return 3 * _bytes(encoder.trained.parameters()) + 4 * positions * encoder.depth * a_layer


def _on_meta(module: nn.Module | None) -> nn.Module | None:
    """Copy a module without its numbers."""
    if module is None:
        return None
    copies: dict[int, torch.Tensor] = {}
    for parameter in module.parameters():
        numberless = torch.empty(parameter.shape, device="meta")  # float32, in which that device computes
        copies[id(parameter)] = nn.Parameter(numberless, requires_grad=parameter.requires_grad)
    copies |= {id(buffer): buffer.to("meta") for buffer in module.buffers()}
    return copy.deepcopy(module, copies)


def _kept(encoder: Encoder, rows: int, length: int) -> list[int]:
    """Bytes of each storage that a forward pass keeps for the backward pass, without the parameters."""
    parameters = [parameter.untyped_storage() for parameter in encoder.trained.parameters()]
    known = {id(storage) for storage in parameters}
    storages: dict[int, torch.UntypedStorage] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if id(storage) not in known:
            storages[id(storage)] = storage  # held, so that its id stays unique
        return tensor

    ids = torch.zeros((rows, length), dtype=torch.int64, device="meta")
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        encoder.states(ids, torch.ones_like(ids))
    return [storage.nbytes() for storage in storages.values()]


def _bytes(tensors: Iterable[torch.Tensor]) -> int:
    return sum(tensor.nbytes for tensor in tensors)
