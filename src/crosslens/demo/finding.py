"""What a demonstration found, in words that its records decide."""

# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportCallIssue=false, reportIndexIssue=false
# pyright: reportOperatorIssue=false, reportReturnType=false, reportGeneralTypeIssues=false
# (pandas brings no types of its own, and what is inferred from its source is wrong half of the time)

import math
from dataclasses import dataclass
from statistics import mean, stdev
from typing import TYPE_CHECKING

from crosslens.data.records import Results
from crosslens.tasks import find_task

if TYPE_CHECKING:
    import pandas

PAIRS = ("1-2", "3-4", "5-6")
MUCH = 5.0
"""Points by which a mean must fall to be called a loss."""

STUDENT = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}
"""The 97.5 % quantile of Student's t for so many seeds."""


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
        number = f"{self.mean:+.1f}".replace("-", "−")
        n = len(self.values)
        if n < 2:
            return number
        half = STUDENT.get(n, 1.96) * stdev(self.values) / math.sqrt(n)
        return f"{number} ± {half:.1f}"


@dataclass(frozen=True, slots=True)
class Effect:
    """What drawing layers anew did to one task.

    Attributes:
        task: its name.
        metric: its score.
        reference: same-language and cross-language mean of the reference, in points.
        same: layers -> change of the same-language score.
        cross: layers -> change of the mean over the other languages.
    """

    task: str
    metric: str
    reference: tuple[float, float]
    same: dict[str, Estimate]
    cross: dict[str, Estimate]


def effects(results: Results) -> list[Effect]:
    """The effect on each task, from the records."""
    found = []
    for (task,), records in results.groups("task"):
        if task is None:
            continue
        metric = find_task(task).metric
        frame = records.filter(metric=metric).to_pandas()
        frame["ablation"] = frame["ablation"].fillna("")
        frame["same"] = frame["target"] == frame["source"]
        means = frame.groupby(["ablation", "same", "seed"])["value"].mean()
        changes = {
            same: {
                layers: Estimate(tuple((means[layers, same] - means["", same]).tolist()))
                for layers in dict.fromkeys(frame["ablation"])
                if layers
            }
            for same in (True, False)
        }
        reference = (float(means["", True].mean()), float(means["", False].mean()))
        found.append(Effect(task, metric, reference, changes[True], changes[False]))
    return found


def describe(effect: Effect) -> list[str]:
    """The finding of one task, sentence by sentence: what happened, and whether it is what the paper found."""
    lowest, *others = (pair for pair in PAIRS if pair in effect.cross)
    same, cross = effect.same[lowest], effect.cross[lowest]
    sentences = [
        f"{effect.task}: the reference has {effect.metric} {effect.reference[0]:.1f} in the source language and"
        f" {effect.reference[1]:.1f} in the mean of the languages it has never seen labelled.",
        f"Drawing layers {lowest} anew changes the source by {same} and the others by {cross}; "
        + "; ".join(f"layers {pair} by {effect.same[pair]} and {effect.cross[pair]}" for pair in others)
        + ".",
    ]
    highest = others[-1] if others else lowest
    hurt = cross.mean < -MUCH and cross.mean < same.mean - MUCH
    spared = effect.cross[highest].mean > -MUCH
    lowest_most = all(cross.mean < effect.cross[pair].mean for pair in others)
    if hurt and spared and lowest_most:
        sentences.append(
            "So the lowest layers carry the transfer here: without them the other languages lose far more than the"
            " source, and the highest layers can be replaced."
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
    if "1-6" in effect.cross and "0-6" in effect.cross:
        every, scratch = effect.cross["1-6"], effect.cross["0-6"]
        sentences.append(
            f"All layers drawn anew, embeddings kept, change the others by {every}, everything drawn anew by {scratch}."
        )
    return sentences


def describe_similarity(frame: "pandas.DataFrame") -> str:
    """Trained against untrained similarity, from the mean over pairs: ``(state, measure)`` by layer."""
    trained, untrained = frame.loc[("pretrained", "cka")], frame.loc[("untrained", "cka")]
    widest = int((trained - untrained).idxmax())
    return (
        f"Translations have a CKA of {trained[0]:.2f} in the embeddings and {trained.iloc[-1]:.2f} at the top; an"
        f" untrained encoder, which only knows the words that languages share, has {untrained[0]:.2f} and"
        f" {untrained.iloc[-1]:.2f}. Pretraining adds most at layer {widest}"
        f" ({trained[widest]:.2f} against {untrained[widest]:.2f})."
    )


def similarity_means(results: Results) -> "pandas.DataFrame":
    """Mean over pairs: a row for each encoder and measure, a column a layer."""
    frame = results.filter(metric="similarity").to_pandas()
    frame["state"] = frame["ablation"].isna().map({True: "pretrained", False: "untrained"})
    return frame.pivot_table(index=["state", "measure"], columns="layer", values="value")
