"""Conclusions that the effects of re-initialised layers support, and their wording."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from crosslens.encoders.layers import format_layers
from crosslens.report.findings.effects import MUCH, Change, Effect

LayerSet = tuple[int, ...] | str
"""Layer numbers, or the label of a condition if the depth of the encoder is unknown."""


Kind = Literal["loses transfer", "loses source", "costs most", "lowest carry", "lowest spare", "in embeddings"]


@dataclass(frozen=True, slots=True)
class Conclusion:
    """A claim about sets of re-initialised layers.

    Attributes:
        kind: What is claimed: re-initialising any of the sets ``loses transfer``, or ``loses source``, so that the task
            is not learnt in the source language either; the first of equally large sets ``costs most``; the first set,
            the lowest layers, carries transfer, and the second, as many of the highest, can be replaced (``lowest
            carry``); transfer does not depend on the lowest layers (``lowest spare``), or rests ``in embeddings``.
        sets: Sets of layers that the claim is about.
        text: The claim as a sentence.
    """

    kind: Kind
    sets: tuple[LayerSet, ...]
    text: str


def conclusions(effect: Effect) -> list[Conclusion]:
    """Draw the conclusions that an effect supports.

    A single seed and incomplete conditions support none. Claims about the lowest, the highest or all layers need the
    depth of the encoder.

    Returns:
        Claims in the order in which they are written.
    """
    hurting = [change for change in effect.complete if change.hurts]
    claims: list[Conclusion] = []
    if hurting:
        sets = tuple(change.layers or change.label for change in hurting)
        text = (
            f"Re-initialising {layer_names(sets, 'or')} lowers the zero-shot score by more than {MUCH:.0f} points, and"
            f" by over {MUCH:.0f} points more than the {effect.source} score."
        )
        claims.append(Conclusion("loses transfer", sets, text))
    if unlearnt := tuple(change.layers or change.label for change in effect.complete if change.unlearnt):
        text = (
            f"Re-initialising {layer_names(unlearnt, 'or')} lowers the {effect.source} score itself by more than"
            f" {4 * MUCH:.0f} points, so nothing can be concluded about transfer."
        )
        claims.append(Conclusion("loses source", unlearnt, text))
    return claims if effect.depth is None else claims + _by_position(effect, effect.depth, hurting)


def _by_position(effect: Effect, depth: int, hurting: Sequence[Change]) -> list[Conclusion]:
    """Claims about the lowest, the highest and all layers."""
    claims: list[Conclusion] = []
    by_layers = {change.layers: change for change in effect.complete}
    bottoms = [by_layers[layers] for size in range(1, depth) if (layers := tuple(range(1, size + 1))) in by_layers]
    carried: Conclusion | None = None
    for size in range(1, depth):
        runs = [tuple(range(low, low + size)) for low in range(1, depth - size + 2)]
        compared = [by_layers[run] for run in runs if run in by_layers]
        if len(compared) < 2:
            continue
        worst = min(compared, key=lambda change: change.cross.mean)
        if worst.hurts and all(change is worst or (worst.cross - change.cross).below(0) for change in compared):
            among = layer_names([change.layers for change in compared], "and")
            text = f"Among {among}, re-initialising {format_layers(worst.layers)} lowers the zero-shot score most."
            sets = (worst.layers, *(change.layers for change in compared if change is not worst))
            claims.append(Conclusion("costs most", sets, text))
            covers_all = {layer for change in compared for layer in change.layers} == set(range(1, depth + 1))
            highest = [tuple(range(depth - n + 1, depth + 1)) for n in range(1, size + 1)]
            highest_spared = all(by_layers[layers].spares for layers in highest if layers in by_layers)
            lowest_hurt = all(bottom.hurts for bottom in bottoms if len(bottom.layers) >= size)
            if carried is None and covers_all and worst.layers == runs[0] and highest_spared and lowest_hurt:
                text = (
                    f"Thus the lowest layers ({format_layers(runs[0])}) carry cross-lingual transfer here, and the"
                    f" highest ({format_layers(runs[-1])}) can be re-initialised at a cost of less than {MUCH:.0f}"
                    " points."
                )
                carried = Conclusion("lowest carry", (runs[0], runs[-1]), text)
    spared = [
        bottom
        for bottom in bottoms
        if not bottom.unlearnt and (bottom.spares or (bottom.cross - bottom.same).above(-MUCH))
    ]
    if carried:
        claims.append(carried)
    elif spared and len(spared) == len(bottoms):
        sets = tuple(change.layers for change in spared)
        text = (
            f"Thus transfer does not depend on the lowest layers here: re-initialising {layer_names(sets, 'or')} lowers"
            f" the zero-shot score by less than {MUCH:.0f} points, or by less than {MUCH:.0f} points more than the"
            f" {effect.source} score."
        )
        claims.append(Conclusion("lowest spare", sets, text))
    every, scratch = by_layers.get(tuple(range(1, depth + 1))), by_layers.get(tuple(range(depth + 1)))
    if every and scratch and every.spares and scratch.hurts and all(change is scratch for change in hurting):
        text = (
            f"Thus transfer rests on the embeddings here: all layers above them ({format_layers(every.layers)}) can be"
            f" re-initialised at a cost of less than {MUCH:.0f} points."
        )
        claims.append(Conclusion("in embeddings", (every.layers,), text))
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
