"""The effect of re-initialising layers, computed from records: estimates, changes and missing scores."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import mean, stdev

from crosslens.encoders.condition import Condition
from crosslens.encoders.layers import format_layers
from crosslens.formatting import counted, signed
from crosslens.report.blocks import Block, score_blocks
from crosslens.results.cells import Cell, Column, Key, condition_of, mean_of, without_digest
from crosslens.results.most_frequent_label import most_frequent_label
from crosslens.results.pivot import mean_row, number_of_languages, parts_of, score_cells
from crosslens.results.record import Results
from crosslens.scores.intervals import half_width

MUCH = 5.0
"""Smallest fall of a score, in points, that counts as a loss."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over seeds, with its confidence interval.

    Attributes:
        values: One value per seed; estimates of the same seeds have them in the same order.

    >>> str(Estimate((-10.0, -12.0, -11.0)))
    '−11.0 ± 2.5'
    >>> str(Estimate((-10.0,)))
    '−10.0'
    """

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean over seeds."""
        return mean(self.values)

    @property
    def half_width(self) -> float | None:
        """Half the width of the 95 % confidence interval of the mean over seeds; None for a single seed."""
        n = len(self.values)
        return float(half_width(stdev(self.values) ** 2 / n, n)) if n > 1 else None

    @property
    def spread(self) -> str:
        """The half width as text, such as `` ± 1.2``; empty for a single seed."""
        return "" if self.half_width is None else f" ± {self.half_width:.1f}"

    def __str__(self) -> str:
        return signed(self.mean) + self.spread

    def __sub__(self, other: "Estimate") -> "Estimate":
        return Estimate(tuple(a - b for a, b in zip(self.values, other.values, strict=True)))

    def below(self, limit: float) -> bool:
        """Whether the whole interval lies below `limit`; False for a single seed."""
        return self.half_width is not None and self.mean + self.half_width < limit

    def above(self, limit: float) -> bool:
        """Whether the whole interval lies above `limit`; False for a single seed."""
        return self.half_width is not None and self.mean - self.half_width > limit


@dataclass(frozen=True, slots=True)
class Change:
    """Changes in score when layers are re-initialised.

    Attributes:
        label: Layers as the condition names them.
        layers: Layer numbers; () if the depth of the encoder is unknown.
        same: Change in the same-language score, in points.
        cross: Change in the zero-shot score, in points.
        by_target: Change in the score of each target corpus (language, corpus, partner), in points.
        size: Number of re-initialised layers, as far as it is known.
    """

    label: str
    layers: tuple[int, ...]
    same: Estimate
    cross: Estimate
    by_target: Mapping[Key, float] = field(default_factory=dict)
    size: int = 0

    @property
    def hurts(self) -> bool:
        """Whether the zero-shot score falls, and falls further than the same-language score."""
        gap = self.cross - self.same
        return max(self.cross.mean, gap.mean) < -MUCH and self.cross.below(0) and gap.below(0)

    @property
    def spares(self) -> bool:
        """Whether the zero-shot score falls by less than a loss."""
        return self.cross.above(-MUCH)

    @property
    def unlearnt(self) -> bool:
        """Whether the same-language score falls so far that transfer cannot be judged."""
        return self.same.mean < -4 * MUCH and not self.hurts


@dataclass(frozen=True, slots=True)
class Incomplete:
    """A condition with fewer scores than the reference. It is excluded from conclusions.

    Attributes:
        label: Name of the condition.
        seeds: Number of seeds shared with the reference.
        of: Number of seeds of the reference.
        corpora: Number of corpora that have a reference score but none here.
    """

    label: str
    seeds: int
    of: int
    corpora: int

    @property
    def text(self) -> str:
        """What is missing, as a sentence."""
        if self.corpora:
            missing = f"has no score for {counted(self.corpora, 'corpus', 'corpora')}"
        else:
            missing = f"has {self.seeds} of {counted(self.of, 'seed', 'seeds')}"
        return f"{self.label} {missing} and is excluded from conclusions."


@dataclass(frozen=True, slots=True)
class Effect:
    """Scores of models that differ only in the re-initialised layers and the seed.

    Attributes:
        task: Task, such as ``pos``.
        apart: Further properties of these models, such as a partner language or settings; may be empty.
        depth: Number of layers of the encoder; None if unknown.
        targets: Number of languages in the zero-shot mean.
        corpora: Number of corpora in the zero-shot mean.
        own: Number of corpora in the same-language mean.
        same: Same-language score of the reference.
        cross: Zero-shot score of the reference.
        baseline: Zero-shot mean of always predicting the most frequent label of a corpus; 0 where it is unknown.
        changes: Each condition against the reference, on shared seeds.
        incomplete: Conditions with missing seeds or corpora.
    """

    task: str
    metric: str
    source: str
    encoder: str | None
    apart: str
    depth: int | None
    targets: int
    corpora: int
    own: int
    same: Estimate
    cross: Estimate
    changes: tuple[Change, ...]
    incomplete: tuple[Incomplete, ...]
    baseline: float = 0.0

    @property
    def seeds(self) -> int:
        """Number of seeds of the reference."""
        return len(self.cross.values)

    @property
    def largest_loss(self) -> Change | None:
        """Change that lowers the zero-shot score most among those that keep part of the encoder; None without a loss.

        Re-initialising all layers, or the whole encoder, does not show which layers matter. Changes with missing scores
        do not count.
        """
        everything = () if self.depth is None else tuple(range(1, self.depth + 1))
        losses = [
            change
            for change in self._whole
            if change.cross.mean < 0 and not (everything and set(everything) <= set(change.layers))
        ]
        return min(losses, key=lambda change: change.cross.mean, default=None)

    def mostly_left_by(self, change: Change) -> bool:
        """Whether the task is still learnt, and most of the zero-shot score above the baseline is left."""
        return not change.unlearnt and change.cross.above((self.baseline - self.cross.mean) / 2)

    def spared_by(self, change: Change) -> bool:
        """Whether the zero-shot score falls by less than a loss, and most of it is left."""
        return change.spares and self.mostly_left_by(change)

    @property
    def complete(self) -> tuple[Change, ...]:
        """Changes without missing scores; none with a single seed."""
        return self._whole if self.seeds > 1 else ()

    @property
    def _whole(self) -> tuple[Change, ...]:
        incomplete = {condition.label for condition in self.incomplete}
        return tuple(change for change in self.changes if change.label not in incomplete)


def effects(results: Results, *, skipped: Callable[[str], None] = lambda reason: None) -> list[Effect]:
    """Compute the effect of re-initialising layers, separately for each task, source, encoder, partner and variant.

    Args:
        skipped: Called with the reason where scores have no effect because no seed has all scores of the reference.

    Returns:
        One effect per group of comparable models that has a reference with same-language and zero-shot scores.
    """
    computed: list[Effect] = []
    for block in score_blocks(results):
        partners = [partner for (partner,), _ in block.results.groups("partner")]
        for partner in partners:
            texts = block.results.columns.coded("condition").values
            differences = {text: condition_of(text).difference for text in texts}
            compared = [text for text, each in differences.items() if each.is_reference or each.whole_layers]
            records = block.results.filter(partner=partner, condition=compared)
            if not len(records):
                continue
            table = score_cells(records)
            depths = set(records.columns.coded("depth").values) - {None}
            depth = depths.pop() if len(depths) == 1 else None
            for variant in dict.fromkeys(column.variant for column in table.columns):
                with_partner = f"with {partner}" if partner and len(partners) > 1 else ""
                apart = ", ".join(filter(None, (with_partner, variant)))
                effect = _effect(block, records, depth, variant, apart, skipped)
                computed += [] if effect is None else [effect]
    return computed


def _effect(
    block: Block, records: Results, depth: int | None, variant: str, apart: str, skipped: Callable[[str], None]
) -> Effect | None:
    """The effect for one variant; None without a reference that has same-language and zero-shot scores."""
    table, baselines = score_cells(records), most_frequent_label(records)
    reference = Column(Condition(), variant)
    same, cross, _ = (
        [row for row in part if table.get(row, reference).by_seed] for part in parts_of(table, block.source)
    )
    scores = _on_shared_seeds(mean_row(table, same, reference), mean_row(table, cross, reference))
    compared = [each for each in table.columns if each.variant == variant and not each.condition.is_reference]
    if scores is None or block.source is None:
        if same and cross and compared:
            names = [str(corpus) for _, corpus, _ in (*same, *cross)]
            versions = [name for name in dict.fromkeys(names) if name != without_digest(name)]
            choose = f"; choose one version of each corpus: {', '.join(versions)}" if versions else ""
            models = ", ".join(filter(None, (block.task, f"source {block.source}", block.encoder, block.kind, apart)))
            skipped(f"{models}: no findings, because no seed of the reference has scores on all corpora{choose}")
        return None
    n_seeds = len(scores[0].values)
    changes, incomplete = [], []
    for column in compared:
        same_change, cross_change = (
            mean_of([table.get(row, column).minus(table.get(row, reference)) for row in rows]) for rows in (same, cross)
        )
        layers = column.condition.reinitialised(depth) if depth else ()
        label = format_layers(layers) or column.condition.label
        differences = _on_shared_seeds(same_change, cross_change)
        missing = sum(not table.get(row, column).by_seed for row in (*same, *cross))
        shared = len(differences[0].values) if differences else 0
        if shared < n_seeds:  # and so wherever a corpus is missing: a mean that lacks one has no value
            incomplete.append(Incomplete(label, shared, n_seeds, missing))
        if differences:
            by_row = {row: table.get(row, column).minus(table.get(row, reference)).mean for row in cross}
            by_target = {row: mean for row, mean in by_row.items() if mean is not None}
            changes.append(Change(label, layers, *differences, by_target, len(layers) or column.order[1]))
    return Effect(
        task=block.task,
        metric=block.metric,
        source=block.source,
        encoder=block.encoder,
        apart=", ".join(filter(None, (block.kind, apart))),
        depth=depth,
        targets=number_of_languages(row[0] for row in cross),
        corpora=len(cross),
        own=len(same),
        same=scores[0],
        cross=scores[1],
        changes=tuple(changes),
        incomplete=tuple(incomplete),
        baseline=mean(baselines.get(row[:2], 0.0) for row in cross),
    )


def _on_shared_seeds(same: Cell, cross: Cell) -> tuple[Estimate, Estimate] | None:
    """Two cells restricted to their shared seeds, in one order for all conditions; None without any."""
    seeds = sorted(same.by_seed.keys() & cross.by_seed.keys(), key=str)
    if not seeds:
        return None
    return Estimate(tuple(same.by_seed[seed] for seed in seeds)), Estimate(tuple(cross.by_seed[seed] for seed in seeds))
