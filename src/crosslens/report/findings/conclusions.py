"""Conclusions that the effects of re-initialised layers support, and their wording."""

from collections.abc import Sequence
from dataclasses import dataclass

from crosslens.encoders.layers import format_layers
from crosslens.report.findings.effects import MUCH, Change, Effect

LayerSet = tuple[int, ...] | str
"""Layer numbers, or the label of a condition if the depth of the encoder is unknown."""


@dataclass(frozen=True, slots=True)
class LosesTransfer:
    """Re-initialising any of these sets of layers lowers the zero-shot score, and more than the same-language score."""

    sets: tuple[LayerSet, ...]
    source: str

    @property
    def text(self) -> str:
        return (
            f"Re-initialising {layer_names(self.sets, 'or')} lowers the zero-shot score by more than {MUCH:.0f} points,"
            f" and by over {MUCH:.0f} points more than the {self.source} score."
        )


@dataclass(frozen=True, slots=True)
class LosesSource:
    """After re-initialising any of these sets of layers the task is not learnt in the source language either."""

    sets: tuple[LayerSet, ...]
    source: str

    @property
    def text(self) -> str:
        return (
            f"Re-initialising {layer_names(self.sets, 'or')} lowers the {self.source} score itself by more than"
            f" {4 * MUCH:.0f} points, so nothing can be concluded about transfer."
        )


@dataclass(frozen=True, slots=True)
class CostsMost:
    """Among equally large sets of layers, one lowers the zero-shot score most.

    Attributes:
        layers: That set.
        among: All sets compared, including `layers`.
    """

    layers: tuple[int, ...]
    among: tuple[tuple[int, ...], ...]

    @property
    def text(self) -> str:
        return (
            f"Among {layer_names(self.among, 'and')}, re-initialising {format_layers(self.layers)} lowers the zero-shot"
            " score most."
        )


@dataclass(frozen=True, slots=True)
class LowestCarry:
    """The lowest layers carry cross-lingual transfer, and the highest can be replaced.

    Attributes:
        lowest: The lowest layers.
        highest: Equally many of the highest layers.
    """

    lowest: tuple[int, ...]
    highest: tuple[int, ...]

    @property
    def text(self) -> str:
        return (
            f"Thus the lowest layers ({format_layers(self.lowest)}) carry cross-lingual transfer here, and the highest"
            f" ({format_layers(self.highest)}) can be re-initialised at a cost of less than {MUCH:.0f} points."
        )


@dataclass(frozen=True, slots=True)
class LowestSpare:
    """Cross-lingual transfer does not depend on the lowest layers.

    Attributes:
        sets: Sets of the lowest layers.
        source: Source language.
    """

    sets: tuple[tuple[int, ...], ...]
    source: str

    @property
    def text(self) -> str:
        return (
            f"Thus transfer does not depend on the lowest layers here: re-initialising {layer_names(self.sets, 'or')}"
            f" lowers the zero-shot score by less than {MUCH:.0f} points, or by less than {MUCH:.0f} points more than"
            f" the {self.source} score."
        )


@dataclass(frozen=True, slots=True)
class InEmbeddings:
    """Cross-lingual transfer rests on the embeddings.

    Attributes:
        layers: All layers above the embeddings.
    """

    layers: tuple[int, ...]

    @property
    def text(self) -> str:
        return (
            f"Thus transfer rests on the embeddings here: all layers above them ({format_layers(self.layers)}) can be"
            f" re-initialised at a cost of less than {MUCH:.0f} points."
        )


Conclusion = LosesTransfer | LosesSource | CostsMost | LowestCarry | LowestSpare | InEmbeddings


def conclusions(effect: Effect) -> list[Conclusion]:
    """Draw the conclusions that an effect supports.

    A single seed and incomplete conditions support none. Claims about the lowest, the highest or all layers need the
    depth of the encoder.

    Returns:
        Claims in the order in which they are written.
    """
    hurting = [change for change in effect.complete if change.hurts]
    unlearnt = [change for change in effect.complete if change.unlearnt]
    claims: list[Conclusion] = []
    if hurting:
        claims.append(LosesTransfer(tuple(change.layers or change.label for change in hurting), effect.source))
    if unlearnt:
        claims.append(LosesSource(tuple(change.layers or change.label for change in unlearnt), effect.source))
    return claims if effect.depth is None else claims + _by_position(effect, effect.depth, hurting)


def _by_position(effect: Effect, depth: int, hurting: Sequence[Change]) -> list[Conclusion]:
    """Claims about the lowest, the highest and all layers."""
    claims: list[Conclusion] = []
    by_layers = {change.layers: change for change in effect.complete}
    bottoms = [by_layers[layers] for size in range(1, depth) if (layers := tuple(range(1, size + 1))) in by_layers]
    carried: LowestCarry | None = None
    for size in range(1, depth):
        runs = [tuple(range(low, low + size)) for low in range(1, depth - size + 2)]
        compared = [by_layers[run] for run in runs if run in by_layers]
        if len(compared) < 2:
            continue
        worst = min(compared, key=lambda change: change.cross.mean)
        if worst.hurts and all(change is worst or (worst.cross - change.cross).below(0) for change in compared):
            claims.append(CostsMost(worst.layers, tuple(change.layers for change in compared)))
            covers_all = {layer for change in compared for layer in change.layers} == set(range(1, depth + 1))
            highest = [tuple(range(depth - n + 1, depth + 1)) for n in range(1, size + 1)]
            highest_spared = all(by_layers[layers].spares for layers in highest if layers in by_layers)
            lowest_hurt = all(bottom.hurts for bottom in bottoms if len(bottom.layers) >= size)
            if carried is None and covers_all and worst.layers == runs[0] and highest_spared and lowest_hurt:
                carried = LowestCarry(runs[0], runs[-1])
    spared = [
        bottom
        for bottom in bottoms
        if not bottom.unlearnt and (bottom.spares or (bottom.cross - bottom.same).above(-MUCH))
    ]
    if carried:
        claims.append(carried)
    elif spared and len(spared) == len(bottoms):
        claims.append(LowestSpare(tuple(change.layers for change in spared), effect.source))
    every, scratch = by_layers.get(tuple(range(1, depth + 1))), by_layers.get(tuple(range(depth + 1)))
    if every and scratch and every.spares and scratch.hurts and all(change is scratch for change in hurting):
        claims.append(InEmbeddings(every.layers))
    return claims


def layer_names(sets: Sequence[LayerSet], conjunction: str) -> str:
    """Sets of layers as a list in prose.

    >>> layer_names([(1, 2), (3, 4), (5, 6)], "or")
    'layers 1-2, 3-4 or 5-6'
    >>> layer_names([(1,)], "or")
    'layer 1'
    """
    names = [layers if isinstance(layers, str) else format_layers(layers) for layers in sets]
    noun = "layer" if len(names) == 1 and names[0].isdecimal() else "layers"
    return f"{noun} " + f" {conjunction} ".join(filter(None, (", ".join(names[:-1]), names[-1])))
