"""Attention heads that other languages need and the source language does not, chosen on other seeds."""

from collections.abc import Mapping, Sequence

import numpy as np

from crosslens.report.conditions.heads import HeadEffects, head_effects
from crosslens.report.table import Notes, Row, Table, over_seeds
from crosslens.results import cells
from crosslens.results.pivot import mean_row
from crosslens.results.record import Results

CAPTION = (
    "Change in points when one attention head of the fine-tuned model is ablated. Chosen: for each seed, the head whose"
    " ablation costs other languages most beyond what it costs the source language in the other seeds, so that the"
    " choice does not flatter it. Beyond: zero-shot minus same language. Noise of dose 1 changes a head as much as"
    " zeroing it, in a random direction."
)
HEAD = ("same language", "zero-shot", "beyond")

Head = tuple[int, int]
"""Layer and head."""

Changes = Mapping[Head, np.ndarray]
"""Head -> change in points, one per seed."""


def language_heads(results: Results) -> list[Table]:
    """Tabulate for each treatment the mean over heads, and the head that other languages need most beyond the source.

    Returns:
        One table; none where no single heads were ablated with several seeds, or one language was tested.
    """
    groups: dict[str, tuple[Row, ...]] = {}
    notes = Notes()
    for effect in head_effects(results):
        changes = changes_of(effect)
        if changes is None:
            continue
        same, cross = changes
        chosen = chosen_elsewhere({head: cross[head] - same[head] for head in same})
        lines = {
            "mean of all heads": [np.mean([part[head] for head in part], axis=0) for part in (same, cross)],
            f"chosen: {named(chosen)}": [
                np.asarray([part[head][seed] for seed, head in enumerate(chosen)]) for part in (same, cross)
            ],
        }
        most = effect.block.scores.most_seeds
        groups[effect.title] = tuple(row(label, parts, notes, most) for label, parts in lines.items())
    return [Table("language-heads", CAPTION, HEAD, groups, tuple(notes.texts))] if groups else []


def changes_of(effect: HeadEffects) -> tuple[Changes, Changes] | None:
    """The changes of each head in the source language and in others; None without both, or with one seed or head."""
    block = effect.block
    parts = [
        {head: mean_row(block.compared, keys, column).by_seed for head, column in effect.columns.items()}
        for keys in (block.same, block.cross)
    ]
    seeds = set.intersection(*(set(values) for part in parts for values in part.values()))
    ordered = sorted(seeds, key=str)
    if len(ordered) < 2 or len(effect.columns) < 2:
        return None
    same, cross = ({head: np.asarray([by[seed] for seed in ordered]) for head, by in part.items()} for part in parts)
    return same, cross


def chosen_elsewhere(excess: Changes) -> list[Head]:
    """For each seed, the head with the lowest mean in the other seeds; the first of equal ones.

    >>> chosen_elsewhere({(1, 0): np.array([-9.0, 0.0, 0.0]), (1, 1): np.array([-1.0, -1.0, -1.0])})
    [(1, 1), (1, 0), (1, 0)]
    """
    heads = sorted(excess)
    values = np.stack([excess[head] for head in heads])  # (heads, seeds)
    return [heads[int(np.delete(values, seed, axis=1).mean(1).argmin())] for seed in range(values.shape[1])]


def named(chosen: Sequence[Head]) -> str:
    """Name heads, each once: ``3.attention.head.1``."""
    return ", ".join(f"{layer}.attention.head.{head}" for layer, head in dict.fromkeys(chosen))


def row(label: str, parts: Sequence[np.ndarray], notes: Notes, most: int) -> Row:
    """A row of means over seeds with their intervals: same language, zero-shot, and the difference."""
    same, cross = parts
    means = [cells.Cell(dict(enumerate(values.tolist()))) for values in (same, cross, cross - same)]
    return Row(label, tuple(over_seeds(mean, "difference", notes, most=most) for mean in means))
