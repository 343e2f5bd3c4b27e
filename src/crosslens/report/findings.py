"""What the records say, as claims that are computed: a sentence is written from a claim, and a claim from cells."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import mean, stdev

from crosslens.encoders.condition import Condition
from crosslens.encoders.layers import format_layers
from crosslens.errors import RequestError
from crosslens.formatting import plain, signed
from crosslens.report.blocks import Block, score_blocks
from crosslens.results.cells import Cell, Cells, Column, cells, condition_of, encoders_apart, mean_of
from crosslens.results.pivot import mean_row, parts_of, score_cells
from crosslens.results.record import Results
from crosslens.scores.intervals import half_width
from crosslens.similarity.transfer_gap import Correlated, correlations

MUCH = 5.0
"""Points by which a score must fall to be called a loss."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over seeds.

    Attributes:
        values: one a seed.
    """

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Their mean."""
        return mean(self.values)

    @property
    def half_width(self) -> float | None:
        """Half of the 95 % interval of the mean, over seeds; None of one value."""
        n = len(self.values)
        return float(half_width(stdev(self.values) ** 2 / n, n)) if n > 1 else None

    @property
    def spread(self) -> str:
        """`` ± 1.2``; empty of one value."""
        return "" if self.half_width is None else f" ± {self.half_width:.1f}"

    def __str__(self) -> str:
        return signed(self.mean) + self.spread

    def __sub__(self, other: "Estimate") -> "Estimate":
        return Estimate(tuple(a - b for a, b in zip(self.values, other.values, strict=True)))

    def below(self, limit: float) -> bool:
        """Whether its whole interval is below a limit; nothing is, of one value."""
        return self.half_width is not None and self.mean + self.half_width < limit

    def above(self, limit: float) -> bool:
        """Whether its whole interval is above a limit; nothing is, of one value."""
        return self.half_width is not None and self.mean - self.half_width > limit


@dataclass(frozen=True, slots=True)
class Change:
    """What re-initialising layers changed.

    Attributes:
        label: the layers as the condition names them.
        layers: the layers; () where the encoder's depth is not known.
        same: change of the in-language score.
        cross: change of the zero-shot score.
    """

    label: str
    layers: tuple[int, ...]
    same: Estimate
    cross: Estimate

    @property
    def hurts(self) -> bool:
        """Whether zero-shot transfer loses, and loses more than the source does."""
        beyond = self.cross - self.same
        return max(self.cross.mean, beyond.mean) < -MUCH and self.cross.below(0) and beyond.below(0)

    @property
    def spares(self) -> bool:
        """Whether zero-shot transfer loses little."""
        return self.cross.above(-MUCH)

    @property
    def unlearnt(self) -> bool:
        """Whether the source loses so much that nothing follows for transfer."""
        return self.same.mean < -4 * MUCH and not self.hurts


@dataclass(frozen=True, slots=True)
class Incomplete:
    """A condition with fewer scores than the reference, which supports no conclusion.

    Attributes:
        label: its name.
        seeds: how many seeds it shares with the reference.
        of: how many the reference has.
        corpora: how many corpora of the reference have no score.
    """

    label: str
    seeds: int
    of: int
    corpora: int

    @property
    def text(self) -> str:
        """As a sentence."""
        if self.corpora:
            return f"{self.label} lacks scores of {_count(self.corpora, 'corpus', 'corpora')}."
        return f"{self.label} has {self.seeds} of {_count(self.of, 'seed', 'seeds')}."


@dataclass(frozen=True, slots=True)
class Effect:
    """The scores of models that differ only in which layers were re-initialised, and in seeds.

    Attributes:
        task: its name.
        metric: its score.
        source: the language trained on.
        encoder: its name.
        apart: what else tells these models from others: a partner language, settings, …
        depth: how many layers the encoder has; None: not known.
        targets: how many languages the zero-shot score is a mean over.
        corpora: over how many corpora.
        same: in-language score of the reference.
        cross: zero-shot score of the reference.
        changes: each condition against the reference, on the seeds that both have.
        incomplete: the conditions that lack seeds or corpora.
    """

    task: str
    metric: str
    source: str
    encoder: str | None
    apart: str
    depth: int | None
    targets: int
    corpora: int
    same: Estimate
    cross: Estimate
    changes: tuple[Change, ...]
    incomplete: tuple[Incomplete, ...]

    @property
    def seeds(self) -> int:
        """How many seeds the reference has."""
        return len(self.cross.values)

    @property
    def complete(self) -> tuple[Change, ...]:
        """The changes that conclusions may stand on."""
        lacking = {condition.label for condition in self.incomplete}
        return tuple(change for change in self.changes if change.label not in lacking) if self.seeds > 1 else ()


def effects(results: Results) -> list[Effect]:
    """The effect of re-initialised layers on each task, source, encoder, partner language and kind of model."""
    found = []
    for block in score_blocks(results):
        partners = [partner for (partner,), _ in block.results.groups("partner")]
        for partner in partners:
            texts = set(block.results.records["condition"].to_pylist())
            asked = [text for text in texts if _is_compared(condition_of(text))]
            records = block.results.filter(partner=partner, condition=asked)
            if not len(records):
                continue
            table = score_cells(records)
            depths = set(records.records["depth"].to_pylist()) - {None}
            depth = depths.pop() if len(depths) == 1 else None
            for variant in dict.fromkeys(column.variant for column in table.columns):
                with_partner = f"with {partner}" if partner and len(partners) > 1 else ""
                effect = _effect(block, table, depth, variant, ", ".join(filter(None, (with_partner, variant))))
                found += [] if effect is None else [effect]
    return found


def _effect(block: Block, table: Cells, depth: int | None, variant: str, apart: str) -> Effect | None:
    """Of models of one variant; None without a reference that has both an in-language and a zero-shot score."""
    reference = Column(Condition(), variant)
    same, cross, _ = (
        [row for row in part if table.get(row, reference).by_seed] for part in parts_of(table, block.source)
    )
    known = _both(mean_row(table, same, reference), mean_row(table, cross, reference))
    if known is None or block.source is None:
        return None
    changes, incomplete = [], []
    for column in table.columns:
        if column.variant != variant or column.condition.is_reference:
            continue
        parts = [
            mean_of([table.get(row, column).minus(table.get(row, reference)) for row in rows]) for rows in (same, cross)
        ]
        layers = column.condition.reinitialised(depth) if depth else ()
        label = format_layers(layers) or column.condition.label
        both = _both(*parts)
        lacking = sum(not table.get(row, column).by_seed for row in (*same, *cross))
        seeds = len(both[0].values) if both else 0
        if lacking or seeds < len(known[0].values):
            incomplete.append(Incomplete(label, seeds, len(known[0].values), lacking))
        if both:
            changes.append(Change(label, layers, *both))
    return Effect(
        block.task, block.metric, block.source, block.encoder,
        ", ".join(filter(None, (block.kind, apart))),
        depth, len({row[0] for row in cross}), len(cross), *known, tuple(changes), tuple(incomplete),
    )  # fmt: skip


def _is_compared(condition: Condition) -> bool:
    """Whether it is the reference, or re-initialises whole layers in the usual way and does nothing else."""
    reinit = condition.reinit
    if reinit is None or condition.recipe is not None:
        return condition.is_reference
    return reinit.components == "all" and reinit.init == "architecture"


def _both(same: Cell, cross: Cell) -> tuple[Estimate, Estimate] | None:
    """Two cells on the seeds that both have; None where there is none."""
    seeds = [seed for seed in same.by_seed if seed in cross.by_seed]
    if not seeds:
        return None
    return Estimate(tuple(same.by_seed[seed] for seed in seeds)), Estimate(tuple(cross.by_seed[seed] for seed in seeds))


@dataclass(frozen=True, slots=True)
class Beyond:
    """Without any of these sets of layers zero-shot transfer loses, and loses more than the source.

    Attributes:
        sets: the sets.
        source: the language trained on.
    """

    sets: tuple[tuple[int, ...] | str, ...]
    source: str

    @property
    def text(self) -> str:
        """As a sentence."""
        return (
            f"Re-initialising {_layers(self.sets, 'or')} costs zero-shot transfer more than {MUCH:.0f} points, and over"
            f" {MUCH:.0f} points more than {self.source}."
        )


@dataclass(frozen=True, slots=True)
class Unlearnt:
    """Without any of these sets of layers the task is not learnt in the source either.

    Attributes:
        sets: the sets.
        source: the language trained on.
    """

    sets: tuple[tuple[int, ...] | str, ...]
    source: str

    @property
    def text(self) -> str:
        """As a sentence."""
        return (
            f"Re-initialising {_layers(self.sets, 'or')} costs {self.source} itself more than {4 * MUCH:.0f} points, so"
            " nothing follows for transfer."
        )


@dataclass(frozen=True, slots=True)
class CostsMost:
    """Of sets of as many layers each, one costs zero-shot transfer most.

    Attributes:
        layers: which.
        among: all that were compared, itself among them.
    """

    layers: tuple[int, ...]
    among: tuple[tuple[int, ...], ...]

    @property
    def text(self) -> str:
        """As a sentence."""
        return (
            f"Of {_layers(self.among, 'and')}, re-initialising {format_layers(self.layers)} costs zero-shot transfer"
            " most."
        )


@dataclass(frozen=True, slots=True)
class LowestCarry:
    """The lowest layers carry the transfer, and the highest can be replaced.

    Attributes:
        lowest: the lowest layers.
        highest: as many of the highest.
    """

    lowest: tuple[int, ...]
    highest: tuple[int, ...]

    @property
    def text(self) -> str:
        """As a sentence."""
        return (
            f"So the lowest layers carry cross-lingual transfer here, {format_layers(self.lowest)}, and the highest,"
            f" {format_layers(self.highest)}, can be re-initialised at a cost of less than {MUCH:.0f} points."
        )


@dataclass(frozen=True, slots=True)
class LowestSpare:
    """Transfer does not depend on the lowest layers.

    Attributes:
        sets: sets of the lowest layers.
        source: the language trained on.
    """

    sets: tuple[tuple[int, ...], ...]
    source: str

    @property
    def text(self) -> str:
        """As a sentence."""
        return (
            f"So transfer does not depend on the lowest layers here: re-initialising {_layers(self.sets, 'or')} costs"
            f" it less than {MUCH:.0f} points, or less than {MUCH:.0f} points more than {self.source}."
        )


@dataclass(frozen=True, slots=True)
class InEmbeddings:
    """What transfers sits in the embeddings.

    Attributes:
        layers: all layers.
    """

    layers: tuple[int, ...]

    @property
    def text(self) -> str:
        """As a sentence."""
        return (
            f"So what transfers here sits in the embeddings: all layers above them, {format_layers(self.layers)}, can"
            f" be re-initialised at a cost of less than {MUCH:.0f} points."
        )


Conclusion = Beyond | Unlearnt | CostsMost | LowestCarry | LowestSpare | InEmbeddings


def conclusions(effect: Effect) -> list[Conclusion]:
    """What follows from the changes: nothing from one seed, nothing from a condition that lacks some.

    What names the lowest, the highest or all layers needs the encoder's depth, and the comparison that it rests on.
    """
    changes, depth = effect.complete, effect.depth
    hurting = [change for change in changes if change.hurts]
    unlearnt = [change for change in changes if change.unlearnt]
    claims: list[Conclusion] = []
    if hurting:
        claims.append(Beyond(tuple(change.layers or change.label for change in hurting), effect.source))
    if unlearnt:
        claims.append(Unlearnt(tuple(change.layers or change.label for change in unlearnt), effect.source))
    if depth is None:
        return claims
    by_layers = {change.layers: change for change in changes}
    bottoms = [by_layers[layers] for size in range(1, depth) if (layers := tuple(range(1, size + 1))) in by_layers]
    carried: LowestCarry | None = None
    for size in range(1, depth):
        runs = [tuple(range(low, low + size)) for low in range(1, depth - size + 2)]
        compared = [by_layers[run] for run in runs if run in by_layers]
        if len(compared) < 2:
            continue
        worst = min(compared, key=lambda change: change.cross.mean)
        if worst.hurts and all(each is worst or (worst.cross - each.cross).below(0) for each in compared):
            claims.append(CostsMost(worst.layers, tuple(each.layers for each in compared)))
            whole = {layer for each in compared for layer in each.layers} == set(range(1, depth + 1))
            tops = [
                by_layers[run]
                for n in range(1, size + 1)
                if (run := tuple(range(depth - n + 1, depth + 1))) in by_layers
            ]
            if (
                carried is None and whole and worst.layers == runs[0] and all(top.spares for top in tops)
                and all(bottom.hurts for bottom in bottoms if len(bottom.layers) >= size)
            ):  # fmt: skip
                carried = LowestCarry(runs[0], runs[-1])
    spared = [c for c in bottoms if not c.unlearnt and (c.spares or (c.cross - c.same).above(-MUCH))]
    every, scratch = by_layers.get(tuple(range(1, depth + 1))), by_layers.get(tuple(range(depth + 1)))
    if carried:
        claims.append(carried)
    elif spared and len(spared) == len(bottoms):
        claims.append(LowestSpare(tuple(change.layers for change in spared), effect.source))
    if every and scratch and every.spares and scratch.hurts and all(change is scratch for change in hurting):
        claims.append(InEmbeddings(every.layers))
    return claims


def describe(effect: Effect) -> list[str]:
    """The finding of one task, sentence by sentence: scores, changes, what is missing, what follows."""
    called = ", ".join(filter(None, (effect.task, effect.apart)))
    metric = _METRICS.get(effect.metric, effect.metric)
    over = _count(effect.targets, "language", "languages")
    over += f" ({effect.corpora} corpora)" if effect.corpora != effect.targets else ""
    sentences = [
        f"{called}: the reference has {metric} {plain(effect.same.mean)} in {effect.source} and"
        f" {plain(effect.cross.mean)} zero-shot (mean of {over};"
        + (" one seed, from which nothing is concluded)." if effect.seeds == 1
           else f" {effect.seeds} seeds, ± half of the 95 % interval over them).")
    ]  # fmt: skip
    for change in effect.changes[:1]:
        (verb, cross), (second, same) = (
            _moves(change.cross, f"zero-shot {metric}", f" on average over {over}"), _moves(change.same, effect.source)
        )  # fmt: skip
        again = "" if second == verb else f"{second} "
        sentences.append(f"Re-initialising {_of(effect, change)} {verb} {cross}, and {again}{same}.")
    if len(effect.changes) > 1:
        others = "; ".join(f"{_of(effect, each)} {each.cross} and {each.same}" for each in effect.changes[1:])
        sentences.append(f"Changes of the zero-shot score and of {effect.source} from the others: {others}.")
    sentences += [condition.text for condition in effect.incomplete]
    return sentences + [claim.text for claim in conclusions(effect)]


_METRICS = {"las": "LAS", "f1": "F1"}


def _of(effect: Effect, change: Change) -> str:
    """The layers of a change, named as all of them only where the depth is known."""
    if effect.depth is not None and change.layers == tuple(range(1, effect.depth + 1)):
        return f"all layers ({change.label}), embeddings kept,"
    if effect.depth is not None and change.layers == tuple(range(effect.depth + 1)):
        return f"everything ({change.label}), embeddings included,"
    return _layers([change.layers or change.label], "and")


def _moves(change: Estimate, what: str, over: str = "") -> tuple[str, str]:
    """``lowers`` and ``English by 1.9 ± 0.3 points``."""
    size = plain(abs(change.mean))
    if size == plain(0.0):
        return "leaves", f"{what} as it is ({signed(0.0)}{change.spread} points{over})"
    return "lowers" if change.mean < 0 else "raises", f"{what} by {size}{change.spread} points{over}"


def _layers(sets: Iterable[tuple[int, ...] | str], joined: str) -> str:
    """``layers 1-2, 3-4 or 5-6``."""
    names = [each if isinstance(each, str) else format_layers(each) for each in sets]
    noun = "layer" if len(names) == 1 and names[0].isdecimal() else "layers"
    return f"{noun} {_listed(names, joined)}"


def _listed(names: Sequence[str], joined: str) -> str:
    return f" {joined} ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def findings(results: Results) -> list[str]:
    """What records say, a paragraph a task, source and encoder, then of similarity and of both together.

    Nothing is said of what they do not hold: re-initialised layers and their reference, similarity of the pretrained
    and the untrained encoder.
    """
    known = effects(results)
    places = dict.fromkeys((effect.source, effect.encoder) for effect in known)
    records = encoders_apart(results)
    paragraphs = []
    for source, encoder in places:
        head = f"Source {source}, {encoder}: " if len(places) > 1 else ""
        here = [effect for effect in known if (effect.source, effect.encoder) == (source, encoder)]
        paragraphs += [head + " ".join(describe(effect)) for effect in here if effect.changes or effect.incomplete]
        for task in dict.fromkeys(effect.task for effect in here):
            models = records.filter(source=source, encoder=encoder, task=[task, None])
            paragraphs += [head + text for text in describe_correlations(models)]
    return paragraphs + describe_similarity(results)


def describe_similarity(results: Results) -> list[str]:
    """Pretrained against untrained similarity: a paragraph for each encoder, corpus and setting that has both."""
    similar = encoders_apart(results).filter(metric="similarity", task=None)
    groups = similar.groups("encoder", "corpus", "partner", "settings")
    apart = [place for place in range(4) if len({key[place] for key, _ in groups}) > 1]
    paragraphs = []
    for key, records in groups:
        head = ", ".join(str(key[place]) for place in apart if key[place])
        text = _similarity_text(records)
        paragraphs += [f"{head}: {text}" if head else text] if text else []
    return paragraphs


UNRELATED = "cka_length_matched"


def _similarity_text(records: Results) -> str | None:
    """None where the records do not hold both encoders at the same pairs and layers, from the embeddings to the top."""
    depths = set(records.records["depth"].to_pylist()) - {None}
    if len(depths) != 1:
        return None
    layers = range(depths.pop() + 1)
    reference = Condition().text
    untrained = [
        text
        for (text, state), _ in records.groups("condition", "state")
        if state == "untrained" and condition_of(text).is_untrained(len(layers) - 1) and condition_of(text).reinit
    ]
    if len(untrained) != 1:
        return None
    tables = {
        (state, measure): cells(
            records.filter(condition=condition, state=state, measure=measure),
            rows=("source", "target"),
            columns=("layer",),
        )
        for state, condition in (("pretrained", reference), ("untrained", untrained[0]))
        for measure in ("cka", UNRELATED)
    }
    pairs = [
        row
        for row in tables["pretrained", "cka"].rows
        if row[0] != row[1]
        and all(
            table.get(row, layer).by_seed
            for kind, table in tables.items() if kind != ("untrained", UNRELATED)
            for layer in layers
        )
    ]  # fmt: skip
    if not pairs:
        return None
    means = {kind: [mean_row(table, pairs, layer).mean for layer in layers] for kind, table in tables.items()}
    wanted = (("pretrained", "cka"), ("untrained", "cka"), ("pretrained", UNRELATED))
    curves = [[value for value in means[kind] if value is not None] for kind in wanted]
    if any(len(values) < len(layers) for values in curves):  # pairs that share no seed
        return None
    widest = max(layers, key=lambda layer: abs(curves[0][layer] - curves[1][layer]))
    over = _count(len(pairs), "language pair", "language pairs")
    trained, fresh, unrelated = ([plain(value, decimals=2) for value in curve] for curve in curves)
    return (
        f"In the pretrained encoder translations have a CKA of {trained[0]} in the embeddings and {trained[-1]} in the"
        f" last layer (mean of {over}); in the untrained encoder {fresh[0]} and {fresh[-1]}. The two differ most in"
        f" layer {widest} ({trained[widest]} against {fresh[widest]}). Unrelated sentences of like length have"
        f" {unrelated[0]} and {unrelated[-1]} in the pretrained encoder."
    )


def describe_correlations(results: Results) -> list[str]:
    """How the transfer gap of a task and the similarity of the pretrained encoder go together over languages."""
    try:
        return [_correlation_text(each) for each in correlations(results) if each.state == "pretrained"]
    except RequestError:  # there is no similarity, or there are too few languages
        return []


def _correlation_text(correlated: Correlated) -> str:
    found = correlated.found
    interval = f" (95 % interval over languages {plain(found.low, decimals=2)} to {plain(found.high, decimals=2)},"
    interval += f" permutation p {found.p:.3f})"
    return (
        f"{correlated.called}: the transfer gap and the CKA with {correlated.source} (mean over layers) have a Spearman"
        f" correlation of {plain(found.value, decimals=2)}{'' if found.warning else interval} over"
        f" {len(found.languages)} languages"
        + (f": {found.warning}." if found.warning else "; negative means that similar languages transfer better.")
    )
