"""How much of the zero-shot gap the states of translations recover, layer by layer."""

from collections.abc import Sequence

from crosslens.encoders.condition import Condition
from crosslens.encoders.states.patch import Patch
from crosslens.encoders.states.resample import Resample
from crosslens.report.conditions.comparison import Comparison
from crosslens.report.conditions.interventions import changed_after_training, lowest, treated
from crosslens.report.table import Cell, Notes, Row, Table, over_seeds
from crosslens.results import cells
from crosslens.results.cells import Column, Key
from crosslens.results.pivot import mean_row
from crosslens.results.record import Results

CAPTION = (
    "Percent of the gap between the same-language and the zero-shot score that is recovered when the states of the"
    " translation (patch) or, as a baseline, of an unrelated sentence (resample) stand in."
)


def gap_recovered(results: Results) -> list[Table]:
    """Tabulate the recovered share of the zero-shot gap: a group for each treatment, one row per language, one column
    per place. The baseline stands behind the patches.

    The share of a seed is the change of the zero-shot score divided by the difference between the same-language score
    on the corpus of translations and the zero-shot score, both without interventions. A mean over languages is the mean
    change divided by the mean gap.

    Returns:
        One table, or none where no translations were patched.
    """
    every = [(block, treated(block)) for block in changed_after_training(results)]
    blocks = [
        (block, columns)
        for block, columns in every
        if any(of_kind(column.condition, Patch) for column in columns.values())
    ]
    addresses = dict.fromkeys(address for _, columns in blocks for _, address in columns)
    groups: dict[str, tuple[Row, ...]] = {}
    notes = Notes()
    head = tuple(sorted(addresses, key=lowest))
    for block, columns in blocks:
        shown = [name for (name, _), column in columns.items() if of_kind(column.condition, Patch, Resample)]
        for treatment in sorted(dict.fromkeys(shown), key=lambda name: name.startswith(Resample.kind)):
            ordered = [columns.get((treatment, address)) for address in head]
            lines = {block.name(key): [key] for key in block.cross}
            lines |= {f"mean of {block.over(block.cross)}": block.cross} if len(block.cross) > 1 else {}
            rows = [
                Row(
                    name,
                    tuple(share(block, keys, column, notes) for column in ordered),
                    "mean" if len(keys) > 1 else "plain",
                )
                for name, keys in lines.items()
            ]
            if rows := [row for row in rows if any(cell.value is not None for cell in row.cells)]:  # there is a gap
                groups[f"{block.heading}: {treatment}"] = tuple(rows)
    return [Table("gap-recovered", CAPTION, head, groups, tuple(notes.texts))] if groups else []


def of_kind(condition: Condition, *kinds: type) -> bool:
    """Whether a condition is one intervention of these kinds."""
    return len(condition.interventions) == 1 and isinstance(condition.interventions[0], kinds)


def share(block: Comparison, keys: Sequence[Key], column: Column | None, notes: Notes) -> Cell:
    """Percent of the gap that a column recovers, with a 95 % interval over seeds; empty where there is no gap."""
    reference = None if column is None else block.scores.reference_of(column)
    translated = [key for key in block.same if column is not None and block.compared.get(key, column).by_seed]
    if column is None or reference is None or not translated or not keys:
        return Cell(None, "score")
    change = mean_row(block.compared, keys, column).by_seed
    zero_shot, same = (mean_row(block.scores, part, reference).by_seed for part in (keys, translated))
    seeds = sorted(change.keys() & zero_shot.keys() & same.keys(), key=str)
    gaps = [same[seed] - zero_shot[seed] for seed in seeds]
    if not seeds or min(gaps) <= 0:
        return Cell(None, "score")
    shares = {seed: 100 * change[seed] / gap for seed, gap in zip(seeds, gaps, strict=True)}
    return over_seeds(cells.Cell(shares), "score", notes, most=block.scores.most_seeds)
