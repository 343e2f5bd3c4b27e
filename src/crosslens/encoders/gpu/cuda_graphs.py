"""Record the passes of training as CUDA graphs, and replay them.

Sentences are short, so a GPU computes a step of training sooner than the processor can launch its thousands of kernels
one by one: on an H200, a step of 16 sentences with an encoder of BERT's size took 40 ms, and 9 ms from CUDA graphs. A
graph launches all kernels of a forward or backward pass at once, for one shape of the batch and always in the same
memory.

A graph computes what the passes it was recorded from compute, with the same dropout masks. Windows are padded to a
multiple of `MULTIPLE` subwords, so that there are few shapes.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import torch
from torch import nn
from torch.nn import functional

from crosslens.encoders.encoder import Encoder
from crosslens.environment import switch
from crosslens.memory_errors import is_exhausted

MULTIPLE = 8
"""Windows are padded to a multiple of so many subwords."""

EAGER = 4
"""Batches of a shape that are computed before it is recorded: recording takes as long as five of them."""


WAITING = frozenset({"bilstm", "deberta-v2", "routed-bert", "xlm"})
"""Families with passes that wait for the device, or whose parameters depend on the language."""


class Recordable(Protocol):
    """What is trained from graphs: an `Encoder`, or the body of a language model.

    Attributes:
        name: its name in messages.
        device: the GPU.
        trained: the module with the trained parameters.
        padding: subword id of padding.
        capacity: number of subwords up to which windows may be padded.
    """

    @property
    def name(self) -> str: ...
    @property
    def device(self) -> torch.device: ...
    @property
    def trained(self) -> nn.Module: ...
    @property
    def padding(self) -> int: ...
    @property
    def capacity(self) -> int: ...
    def states(self, ids: torch.Tensor, mask: torch.Tensor, segments: torch.Tensor | None = None) -> torch.Tensor:
        """Compute ``(windows, length, output width)`` states."""
        ...


def has_graphs(encoder: Encoder) -> bool:
    """Whether the passes of an encoder can be recorded: `can_record` holds, and no pass runs Python code of its own.

    Interventions on states do in every pass, and readouts may contain a BiLSTM.
    """
    own_code = encoder.edited or encoder.readout is not None
    return not own_code and can_record(encoder.trained, encoder.family.name, encoder.device)


def can_record(module: nn.Module, family: str, device: torch.device) -> bool:
    """Whether a module's passes can be recorded: `uses_graphs`, something is trained, and no pass waits."""
    trained = any(parameter.requires_grad for parameter in module.parameters())
    return uses_graphs(device) and trained and family not in WAITING


def uses_graphs(device: torch.device) -> bool:
    """Whether work on a device is recorded: on a GPU, unless CROSSLENS_CUDA_GRAPHS=0 switches graphs off."""
    return device.type == "cuda" and switch("CROSSLENS_CUDA_GRAPHS") is not False


class TrainingGraphs:
    """Compute the states of training batches, with gradients, from CUDA graphs for shapes that occur often.

    Args:
        encoder: in training mode; `has_graphs` or `can_record` holds for it. Until the last call its parameters stay
            in place and trainable as they are; their values may change.
        say: called with a line where the passes cannot be recorded, as those of some families cannot in some versions
            of transformers, which copy numbers to the device within a pass. They are computed without graphs then.

    Attributes:
        recorded: number of recorded shapes.
        replayed: number of batches whose states came from a graph.
    """

    def __init__(self, encoder: Recordable, *, say: Callable[[str], None] = lambda line: None) -> None:
        self.recorded = self.replayed = 0
        self._encoder, self._say = encoder, say
        self._recordable = True
        self._parameters = [parameter for parameter in encoder.trained.parameters() if parameter.requires_grad]
        self._gradients: dict[nn.Parameter, torch.Tensor] = {}  # one memory for all graphs
        self._uses: Counter[tuple[int, ...]] = Counter()
        self._shapes: dict[tuple[int, ...], _Recording] = {}
        self._recorder = Recorder(encoder.device)
        # autograd calls a function's backward pass only if an input needs a gradient.
        self._anchor = torch.zeros((), device=encoder.device, requires_grad=True)

    def __call__(self, ids: torch.Tensor, mask: torch.Tensor, segments: torch.Tensor | None = None) -> torch.Tensor:
        """Compute ``(windows, length, output width)`` float32, as `Encoder.states` does."""
        length = ids.shape[1]
        missing = min(-length % MULTIPLE, max(0, self._encoder.capacity - length))
        inputs = [functional.pad(ids, (0, missing), value=self._encoder.padding), functional.pad(mask, (0, missing))]
        if segments is not None:
            inputs.append(functional.pad(segments, (0, missing)))
        shape = (*inputs[0].shape, len(inputs))
        self._uses[shape] += 1
        if self._recordable and shape not in self._shapes and self._uses[shape] > EAGER:
            self._record(shape, inputs)
        recording = self._shapes.get(shape)
        if recording is None:
            return self._encoder.states(*inputs)[:, :length]
        self.replayed += 1
        recording.fill(inputs)
        return _Replayed.apply(self._anchor, recording)[:, :length]  # pyright: ignore[reportOptionalSubscript]

    def _record(self, shape: tuple[int, ...], inputs: Sequence[torch.Tensor]) -> None:
        try:
            recording = _Recording(self._encoder, self._parameters, self._gradients, inputs, self._recorder)
        except RuntimeError as error:
            if is_exhausted(error):
                raise
            self._recordable = False
            reason = str(error).splitlines()[0]
            self._say(f"{self._encoder.name} is trained without CUDA graphs, which cannot record its passes: {reason}")
            return
        self._shapes[shape] = recording
        self.recorded += 1


class _Recording:
    """The graphs of the passes of one shape.

    Args:
        parameters: its trained parameters.
        gradients: memory for the gradients of parameters, shared by all shapes; those that are missing are added.
        inputs: the inputs of `Encoder.states`, of the shape.
        recorder: records work; its graphs share memory.
    """

    def __init__(
        self,
        encoder: Recordable,
        parameters: Sequence[nn.Parameter],
        gradients: dict[nn.Parameter, torch.Tensor],
        inputs: Sequence[torch.Tensor],
        recorder: "Recorder",
    ) -> None:
        self._encoder, self._gradients = encoder, gradients
        self._inputs = [tensor.clone() for tensor in inputs]
        self._used: list[nn.Parameter] = []
        recorder.prepare(lambda: self._find_used(parameters))
        for parameter in self._used:
            if parameter not in gradients:
                gradients[parameter] = torch.empty_like(parameter)
        self._forward = recorder.record(self._compute_states)
        self._gradient = torch.empty_like(self._states)
        self._backward = recorder.record(self._compute_gradients)
        self._states = self._states.detach()

    def fill(self, inputs: Sequence[torch.Tensor]) -> None:
        """Copy a batch to where the graphs read it."""
        for own, tensor in zip(self._inputs, inputs, strict=True):
            own.copy_(tensor)

    def forward(self) -> torch.Tensor:
        """Compute the states; the next forward pass overwrites them."""
        self._forward()
        return self._states.detach()

    def backward(self, gradient: torch.Tensor) -> None:
        """Add to the gradients of the parameters."""
        earlier = {}  # of other micro-batches of the step, and of other uses of the parameters
        for parameter in self._used:
            if (own := parameter.grad) is not None:
                earlier[parameter] = own.clone() if own is self._gradients[parameter] else own
        self._gradient.copy_(gradient)
        self._backward()
        for parameter in self._used:
            parameter.grad = self._gradients[parameter]
            if parameter in earlier:
                parameter.grad.add_(earlier[parameter])

    def _find_used(self, parameters: Sequence[nn.Parameter]) -> None:
        states = self._encoder.states(*self._inputs)
        gradients = torch.autograd.grad(states, parameters, torch.zeros_like(states), allow_unused=True)
        self._used = [p for p, gradient in zip(parameters, gradients, strict=True) if gradient is not None]

    def _compute_states(self) -> None:
        self._states = self._encoder.states(*self._inputs)

    def _compute_gradients(self) -> None:
        gradients = torch.autograd.grad(self._states, self._used, self._gradient)
        torch._foreach_copy_([self._gradients[p] for p in self._used], list(gradients))  # pyright: ignore


class _Replayed(torch.autograd.Function):
    """Replay both passes; the backward pass adds to the gradients of the parameters itself."""

    @staticmethod
    def forward(ctx: Any, anchor: torch.Tensor, recording: _Recording) -> torch.Tensor:
        ctx.recording = recording
        return recording.forward()

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[None, None]:  # pyright: ignore
        ctx.recording.backward(gradient)
        return None, None


class Recorder:
    """Record work as CUDA graphs, which share memory because only one of them is replayed at a time.

    Args:
        device: the GPU that does the work, which need not be the current one.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        with torch.cuda.device(device):
            self._pool = torch.cuda.graph_pool_handle()
            self._stream = torch.cuda.Stream()

    def prepare(self, work: Callable[[], None]) -> None:
        """Do work before it is recorded, so that libraries choose and load their kernels, with no effect on others.

        CUDA requires another stream than the default one. Random generators stay where they are.
        """
        with torch.cuda.device(self._device):
            outside = torch.cuda.current_stream()
            self._stream.wait_stream(outside)
            with torch.random.fork_rng([torch.cuda.current_device()]), torch.cuda.stream(self._stream):
                for _ in range(2):
                    work()
            outside.wait_stream(self._stream)

    def record(self, work: Callable[[], None]) -> Callable[[], None]:
        """Record work, and return a function that does it again."""
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.device(self._device), torch.cuda.graph(graph, pool=self._pool, stream=self._stream):
            work()
        return graph.replay
