"""What may be done to an encoder after loading, and how tables call it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Components = Literal["all", "attention", "ffn", "norms", "embeddings"]
"""Which parts of a layer are drawn anew."""

Init = Literal["architecture", "torch"]
"""How they are drawn: see `crosslens.encoders.ablation.random_init`."""


@dataclass(frozen=True, slots=True)
class Change:
    """What was done to an encoder after loading.

    Attributes:
        kind: ``random_init``, ``freeze``, ``features``, ``tower``, or ``pretrain`` for another way of pretraining.
        layers: as `format_layers` writes them.
        components: ``all``, ``attention``, ``ffn``, ``norms`` or ``embeddings``.
        init: how the layers were drawn, what reads the features, or which factor; None for a freeze.
        seed: of the drawing; None for a freeze.
        tensors: names of the parameters changed.
    """

    kind: str
    layers: str
    components: str = "all"
    init: str | None = None
    seed: int | None = None
    tensors: tuple[str, ...] = ()


def describe_changes(changes: Iterable[Change]) -> str:
    """Changes as tables head their columns: ``reference`` where no layer is drawn anew, then what is unusual."""
    drawn, rest = [], []
    for change in changes:
        if change.kind == "pretrain":
            drawn.append(str(change.init))
            continue
        if change.kind != "random_init":
            words = {"freeze": f"frozen {change.layers}", "tower": f"tower on {change.layers}"}
            rest.append(words.get(change.kind, change.kind))
            continue
        words = [change.layers]
        words += [change.components] if change.components != "all" else []
        words += [f"init={change.init}"] if change.init not in (None, "architecture") else []
        drawn.append(" ".join(words))
    return " ".join([";".join(drawn) or "reference", *rest])
