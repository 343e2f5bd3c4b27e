"""Conclusions that the effects of re-initialised layers support, and their wording."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from crosslens.encoders.layers import format_layers
from crosslens.formatting import plain
from crosslens.report.findings.effects import MUCH, Change, Effect

LayerSet = tuple[int, ...] | str
"""Layer numbers, or the label of a condition if the depth of the encoder is unknown."""


Kind = Literal[
    "loses transfer", "loses source", "costs most", "lowest carry", "lowest spare", "in embeddings", "no transfer"
]


@dataclass(frozen=True, slots=True)
class Conclusion:
    """A claim about sets of re-initialised layers.

    Attributes:
        kind: What is claimed: the reference has ``no transfer`` that could be lost; re-initialising any of the sets
            ``loses transfer``, or ``loses source``, so that the task is not learnt in the source language either; the
            first of equally large sets ``costs most``; the first set, the lowest layers, carries transfer, and the
            second, as many of the highest, can be replaced (``lowest carry``); transfer does not depend on the lowest
            layers (``lowest spare``), or rests ``in embeddings``.
        sets: Sets of layers that the claim is about.
        text: The claim as a sentence.
    """

    kind: Kind
    sets: tuple[LayerSet, ...]
    text: str


def conclusions(effect: Effect) -> list[Conclusion]:
    """Draw the conclusions that an effect supports.

    A single seed and incomplete conditions support none. Claims about the lowest, the highest or all layers need the
    depth of the encoder. A zero-shot score that has no `MUCH` points to lose, down to the baseline, shows nothing.

    Returns:
        Claims in the order in which they are written.
    """
    if effect.complete and effect.cross.mean - effect.baseline < MUCH:
        return [_no_transfer(effect)]
    claims = [_loses_transfer(effect), _loses_source(effect)]
    if effect.depth is not None:
        by_layers = {change.layers: change for change in effect.complete}
        worst = _worst_of_equal_sizes(by_layers, effect.depth)
        claims += [_costs_most(change, compared) for change, compared in worst]
        claims += [
            _lowest_carry(effect, by_layers, effect.depth, worst) or _lowest_spare(effect, by_layers, effect.depth),
            _in_embeddings(effect, by_layers, effect.depth),
        ]
    return [claim for claim in claims if claim is not None]


ByLayers = Mapping[tuple[int, ...], Change]
"""Re-initialised layers -> change of the scores, for sets of layers with the scores of all seeds."""


def _no_transfer(effect: Effect) -> Conclusion:
    always = f"that of always predicting the most frequent label ({plain(effect.baseline)})"
    text = (
        f"The zero-shot score of the reference ({plain(effect.cross.mean)}) is less than {MUCH:.0f} points above"
        f" {always if effect.baseline else 0}, so nothing can be concluded about transfer."
    )
    return Conclusion("no transfer", (), text)


def _loses_transfer(effect: Effect) -> Conclusion | None:
    sets = tuple(change.layers or change.label for change in effect.complete if change.hurts)
    if not sets:
        return None
    text = (
        f"Re-initialising {layer_names(sets, 'or')} lowers the zero-shot score by more than {MUCH:.0f} points, and"
        f" by over {MUCH:.0f} points more than the {effect.source} score."
    )
    return Conclusion("loses transfer", sets, text)


def _loses_source(effect: Effect) -> Conclusion | None:
    sets = tuple(change.layers or change.label for change in effect.complete if change.unlearnt)
    if not sets:
        return None
    text = (
        f"Re-initialising {layer_names(sets, 'or')} lowers the {effect.source} score itself by more than"
        f" {4 * MUCH:.0f} points, so nothing can be concluded about transfer."
    )
    return Conclusion("loses source", sets, text)


def _worst_of_equal_sizes(by_layers: ByLayers, depth: int) -> list[tuple[Change, list[Change]]]:
    """For each number of adjacent layers: the set that costs most for certain, if any, and all that were compared."""
    worst_of = []
    for size in range(1, depth):
        runs = [tuple(range(low, low + size)) for low in range(1, depth - size + 2)]
        compared = [by_layers[run] for run in runs if run in by_layers]
        if len(compared) < 2:
            continue
        worst = min(compared, key=lambda change: change.cross.mean)
        if worst.hurts and all(change is worst or (worst.cross - change.cross).below(0) for change in compared):
            worst_of.append((worst, compared))
    return worst_of


def _costs_most(worst: Change, compared: Sequence[Change]) -> Conclusion:
    among = layer_names([change.layers for change in compared], "and")
    text = f"Among {among}, re-initialising {format_layers(worst.layers)} lowers the zero-shot score most."
    return Conclusion(
        "costs most", (worst.layers, *(change.layers for change in compared if change is not worst)), text
    )


def _lowest_carry(
    effect: Effect, by_layers: ByLayers, depth: int, worst_of: Sequence[tuple[Change, Sequence[Change]]]
) -> Conclusion | None:
    """The lowest layers cost most of sets that cover the encoder, larger ones cost much too, and the highest little."""
    for worst, compared in worst_of:
        size = len(worst.layers)
        covers_all = {layer for change in compared for layer in change.layers} == set(range(1, depth + 1))
        highest = [tuple(range(depth - n + 1, depth + 1)) for n in range(1, size + 1)]
        highest_spared = all(effect.spared_by(by_layers[layers]) for layers in highest if layers in by_layers)
        lowest_hurt = all(change.hurts for change in _lowest(by_layers, depth) if len(change.layers) >= size)
        if covers_all and worst.layers == tuple(range(1, size + 1)) and highest_spared and lowest_hurt:
            text = (
                f"Thus the lowest layers ({format_layers(worst.layers)}) carry cross-lingual transfer here, and the"
                f" highest ({format_layers(highest[-1])}) can be re-initialised at a zero-shot cost of less than"
                f" {MUCH:.0f} points."
            )
            return Conclusion("lowest carry", (worst.layers, highest[-1]), text)
    return None


def _lowest_spare(effect: Effect, by_layers: ByLayers, depth: int) -> Conclusion | None:
    """Every set of the lowest layers can be re-initialised at little cost, or costs transfer little and leaves most."""
    lowest = _lowest(by_layers, depth)
    if not lowest or not all(
        effect.mostly_left_by(change) and (change.spares or (change.cross - change.same).above(-MUCH))
        for change in lowest
    ):
        return None
    sets = tuple(change.layers for change in lowest)
    text = (
        f"Thus transfer does not depend on the lowest layers here: re-initialising {layer_names(sets, 'or')} lowers"
        f" the zero-shot score by less than {MUCH:.0f} points, or by less than {MUCH:.0f} points more than the"
        f" {effect.source} score."
    )
    return Conclusion("lowest spare", sets, text)


def _in_embeddings(effect: Effect, by_layers: ByLayers, depth: int) -> Conclusion | None:
    """All layers above the embeddings can be re-initialised, but not the embeddings with them."""
    every, scratch = by_layers.get(tuple(range(1, depth + 1))), by_layers.get(tuple(range(depth + 1)))
    others_hurt = any(change.hurts for change in effect.complete if change is not scratch)
    if every is None or scratch is None or not effect.spared_by(every) or not scratch.hurts or others_hurt:
        return None
    text = (
        f"Thus transfer rests on the embeddings here: all layers above them ({format_layers(every.layers)}) can be"
        f" re-initialised at a zero-shot cost of less than {MUCH:.0f} points."
    )
    return Conclusion("in embeddings", (every.layers,), text)


def _lowest(by_layers: ByLayers, depth: int) -> list[Change]:
    """Changes where layers 1 to n are re-initialised, for each n below the depth."""
    return [by_layers[layers] for n in range(1, depth) if (layers := tuple(range(1, n + 1))) in by_layers]


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
