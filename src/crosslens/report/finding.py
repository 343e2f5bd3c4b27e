"""What was found, in words that the records decide."""

# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportCallIssue=false, reportIndexIssue=false
# pyright: reportOperatorIssue=false, reportReturnType=false, reportGeneralTypeIssues=false
# (pandas brings no types of its own, and what is inferred from its source is wrong half of the time)

import json
import math
from dataclasses import dataclass
from statistics import mean, stdev
from typing import TYPE_CHECKING

from scipy import stats

from crosslens.numbers import plain, signed
from crosslens.results.record import Results
from crosslens.results.table import conditions_of, variants_of
from crosslens.similarity.correlate import correlate
from crosslens.tasks import find_task

if TYPE_CHECKING:
    import pandas

MUCH = 5.0
"""Points by which a mean must fall to be called a loss."""


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

    def __str__(self) -> str:
        half = self.half_width
        return signed(self.mean) if half is None else f"{signed(self.mean)} ± {half:.1f}"

    @property
    def half_width(self) -> float | None:
        """Half of the 95 % interval of the mean (Student's t); None where there is one value."""
        n = len(self.values)
        return float(stats.t.ppf(0.975, n - 1)) * stdev(self.values) / math.sqrt(n) if n > 1 else None


@dataclass(frozen=True, slots=True)
class Effect:
    """What drawing layers anew did to one task.

    Attributes:
        task: its name.
        metric: its score.
        reference: same-language and cross-language mean of the reference, in points.
        same: layers -> change of the same-language score.
        cross: layers -> change of the mean over the other languages.
        gaps: other language -> same-language score minus its own, of the reference.
    """

    task: str
    metric: str
    reference: tuple[float, float]
    same: dict[str, Estimate]
    cross: dict[str, Estimate]
    gaps: dict[str, float]

    @property
    def pairs(self) -> list[str]:
        """The pairs of neighbouring layers that were drawn anew, from the bottom up."""
        runs = [(layers, layers.split("-")) for layers in self.cross if "," not in layers]
        found = [(int(ends[0]), layers) for layers, ends in runs if len(ends) == 2 and int(ends[1]) == int(ends[0]) + 1]
        return [layers for _, layers in sorted(found)]

    @property
    def all_layers(self) -> str | None:
        """The largest set of layers that leaves the embeddings alone, beyond pairs; None where none was drawn anew."""
        runs = [layers for layers in self.cross if layers.startswith("1-") and layers not in self.pairs]
        return max(runs, key=lambda layers: int(layers.split("-")[1]), default=None)

    @property
    def scratch(self) -> str | None:
        """Everything, embeddings too; None where that was not drawn anew."""
        return next((layers for layers in self.cross if layers.startswith("0-")), None)


def effects(results: Results) -> list[Effect]:
    """The effect on each task, from the records."""
    found = []
    for (task,), records in results.groups("task"):
        if task is None:
            continue
        metric = find_task(task).metric
        frame = records.filter(metric=metric).to_pandas()
        conditions = conditions_of(frame)
        # Whole layers drawn anew, and the reference: parts of layers, frozen ones and features are no part of this.
        frame = frame[frame["ablation"].fillna("reference") == conditions]
        variants = variants_of([json.loads(text) for text in frame["tags"]], frame["ablation"].fillna("reference"))
        for variant in dict.fromkeys(variants):
            its = frame[[name == variant for name in variants]].assign(ablation=lambda its: its["ablation"].fillna(""))
            effect = _effect(", ".join(filter(None, (task, variant))), metric, its)
            found += [] if effect is None else [effect]
    return found


def _effect(task: str, metric: str, frame: "pandas.DataFrame") -> Effect | None:
    """Of models that differ in layers drawn anew and seeds; None without a reference in the source and in others."""
    frame = frame.assign(same=frame["target"] == frame["source"])
    means = frame.groupby(["ablation", "same", "seed"])["value"].mean()
    if not {("", True), ("", False)} <= set(means.index.droplevel("seed")):
        return None
    changes = {
        same: {
            layers: Estimate(tuple((means[layers, same] - means["", same]).tolist()))
            for layers in dict.fromkeys(frame["ablation"])
            if layers
        }
        for same in (True, False)
    }
    reference = (float(means["", True].mean()), float(means["", False].mean()))
    own = frame[frame["ablation"] == ""].groupby(["same", "target"])["value"].mean()
    gaps = {str(target): float(own[True].mean() - value) for target, value in own[False].items()}
    return Effect(task, metric, reference, changes[True], changes[False], gaps)


def describe(effect: Effect) -> list[str]:
    """The finding of one task, sentence by sentence: what happened, and whether it is what the paper found."""
    lowest, *others = effect.pairs
    same, cross = effect.same[lowest], effect.cross[lowest]
    sentences = [
        f"{effect.task}: the reference has {effect.metric} {effect.reference[0]:.1f} in the source language and"
        f" {effect.reference[1]:.1f} in the mean of the languages it has never seen labelled.",
        f"Drawing layers {lowest} anew changes the source by {same} and the others by {cross}"
        + "".join(f"; layers {pair} by {effect.same[pair]} and {effect.cross[pair]}" for pair in others)
        + ".",
    ]
    highest = others[-1] if others else lowest
    hurt = cross.mean < -MUCH and cross.mean < same.mean - MUCH
    spared = effect.cross[highest].mean > -MUCH
    lowest_most = all(cross.mean < effect.cross[pair].mean for pair in others)
    if hurt and not others:
        sentences.append(
            f"So without layers {lowest} the other languages lose far more than the source; no other layers were drawn"
            " anew to compare them with."
        )
    elif hurt and spared and lowest_most:
        sentences.append(
            "So the lowest layers carry the transfer here: without them the other languages lose far more than the"
            " source, and the highest layers can be replaced."
        )
    elif same.mean < -4 * MUCH:
        sentences.append(
            f"So transfer cannot be judged here: without layers {lowest} the task was not learnt in the source either."
        )
    elif not hurt:
        sentences.append(
            f"So the effect did not appear here: without layers {lowest} the other languages lose no more than"
            f" {MUCH:.0f} points, or no more than that beyond the source."
        )
    elif not lowest_most:
        worst = min(others, key=lambda pair: effect.cross[pair].mean)
        sentences.append(f"So the effect appeared, but not in the lowest layers: {worst} cost the most.")
    else:
        sentences.append(f"So the effect appeared at the bottom, but layers {highest} matter as well here.")
    if effect.all_layers and effect.scratch:
        every, scratch = effect.cross[effect.all_layers], effect.cross[effect.scratch]
        sentences.append(
            f"All layers drawn anew, embeddings kept, change the others by {every}, everything drawn anew by {scratch}."
        )
        if every.mean > -MUCH > scratch.mean:
            sentences.append(
                "So what transfers here sits in the embeddings: the layers above them can all be replaced."
            )
    return sentences


def findings(results: Results) -> list[str]:
    """What records say, a paragraph a task, source and encoder, then of similarity and of both together.

    Nothing is said of what they do not hold: pairs of neighbouring layers drawn anew and their reference, similarity of
    the pretrained and the untrained encoder.
    """
    paragraphs = []
    groups = [key for key, _ in results.groups("source", "encoder", "task") if key[2] is not None]
    for source, encoder in dict.fromkeys(key[:2] for key in groups):
        its = results.filter(source=source, encoder=encoder)
        several = f"Source {source}, {encoder}: " if len({key[:2] for key in groups}) > 1 else ""
        for effect in effects(its):
            if effect.pairs:
                paragraphs.append(several + " ".join(describe(effect)))
            if "cka" in set(its.filter(task=None, ablation=None).records["measure"].to_pylist()):
                paragraphs.append(several + describe_correlation(its, effect))
    alike = similarity_means(results) if len(results.filter(metric="similarity", task=None)) else None
    wanted = {("pretrained", "cka"), ("untrained", "cka"), ("pretrained", "cka_length_matched")}
    if alike is not None and wanted <= set(alike.index):
        paragraphs.append(describe_similarity(alike))
    return paragraphs


def describe_similarity(frame: "pandas.DataFrame") -> str:
    """Trained against untrained similarity, from the mean over pairs: ``(state, measure)`` by layer."""
    trained, untrained = frame.loc[("pretrained", "cka")], frame.loc[("untrained", "cka")]
    widest = int((trained - untrained).idxmax())
    null = frame.loc[("pretrained", "cka_length_matched")]
    return (
        f"Translations have a CKA of {trained[0]:.2f} in the embeddings and {trained.iloc[-1]:.2f} at the top; an"
        f" untrained encoder, which only knows the words that languages share, has {untrained[0]:.2f} and"
        f" {untrained.iloc[-1]:.2f}. Pretraining adds most at layer {widest}"
        f" ({trained[widest]:.2f} against {untrained[widest]:.2f}). Unrelated sentences of like length have"
        f" {null[0]:.2f} in the embeddings and {null.iloc[-1]:.2f} at the top."
    )


def describe_correlation(results: Results, effect: Effect) -> str:
    """How a task's gap and the pretrained encoder's similarity go together over languages, from the records."""
    frame = results.filter(metric="similarity", measure="cka", task=None, ablation=None).to_pandas()
    similar = {str(target): float(value) for target, value in frame.groupby("target")["value"].mean().items()}
    if len(set(similar) & set(effect.gaps)) < 3:
        return f"{effect.task}: too few languages to correlate the gap with similarity."
    found = correlate(effect.gaps, similar)
    interval = f" (95 % interval over languages {plain(found.low, decimals=2)} to"
    interval += f" {plain(found.high, decimals=2)}, permutation p {found.p:.3f})"
    text = (
        f"{effect.task}: the gap to the source and the CKA with it (mean over layers) have a Spearman correlation of"
        f" {plain(found.value, decimals=2)}{'' if found.warning else interval} over {len(found.languages)} languages"
    )
    direction = "; negative means that similar languages transfer better"
    return text + (f": {found.warning}." if found.warning else f"{direction}.")


def similarity_means(results: Results) -> "pandas.DataFrame":
    """Mean over pairs: a row for each encoder and measure, a column a layer."""
    frame = results.filter(metric="similarity", task=None).to_pandas()
    frame["state"] = frame["ablation"].isna().map({True: "pretrained", False: "untrained"})
    return frame.pivot_table(index=["state", "measure"], columns="layer", values="value")
