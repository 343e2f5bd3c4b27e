"""Transfer gap against similarity, from records alone (Muller et al. 2021, section 4.3, Table 4 and Figure 3)."""

# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportReturnType=false, reportCallIssue=false
# pyright: reportGeneralTypeIssues=false, reportIndexIssue=false
# (pandas brings no types of its own, and what is inferred from its source is wrong half of the time)

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import pyarrow as pa

from crosslens.errors import RequestError, suggest
from crosslens.results.record import Results
from crosslens.results.table import variants_of
from crosslens.similarity.correlate import Coefficient, Correlation, correlate
from crosslens.tasks import find_task

if TYPE_CHECKING:
    import pandas

Layers = Literal["mean", "each"]

OVERLAPS = ("overlap_types", "overlap_tokens")
"""Of all different subwords of the test data, and of all their occurrences, the share that training saw, in percent."""

CONFOUNDS: Mapping[str, tuple[str, Callable[[dict], float]]] = {
    "length-ratio": ("the target's words over those of the source's parallel sentences",
                     lambda tags: tags["length"] / tags["source_length"]),
    "fertility": ("subwords a word in the target's parallel sentences", lambda tags: tags["subwords"] / tags["length"]),
    "test-size": ("words, or spans, that the target's score is taken over", lambda tags: tags["n"]),
}  # fmt: skip
"""What similarity and gap may both hang on: what it is, and how the records say it."""


@dataclass(frozen=True, slots=True)
class Correlated:
    """A correlation, and of what.

    Attributes:
        task: whose gap.
        source: the language trained on.
        encoder: its name.
        state: whose similarity: ``pretrained``, or ``fine-tuned`` for the same task and source.
        measure: of similarity.
        layer: None: the mean of all.
        gaps: target language -> gap, in points.
        similarities: target language -> similarity with the source.
        found: their correlation.
        variant: what tells these models from others of the task and source in the records, such as settings; else "".
    """

    task: str
    source: str
    encoder: str
    state: str
    measure: str
    layer: int | None
    gaps: Mapping[str, float]
    similarities: Mapping[str, float]
    found: Correlation
    variant: str = ""

    @property
    def called(self) -> str:
        """The task, and what tells its models from others."""
        return ", ".join(filter(None, (self.task, self.variant)))


def transfer_gaps(results: Results, *, task: str, source: str, encoder: str | None = None) -> dict[str, float]:
    """The reference's gap to each target language: same-language mean minus the target's own score, in points.

    Args:
        results: records of scores; those of encoders with layers drawn anew or frozen are passed over.
        task: its name.
        source: the language trained on.
        encoder: its name; None: whichever.

    Raises:
        RequestError: when the records hold no score of the task in the source language, or none in another.
    """
    its = results if encoder is None else results.filter(encoder=encoder)
    its = its.filter(task=task, source=source, metric=find_task(task).metric)
    frame = _reference(its).to_pandas()
    means = frame[frame["measure"].isna()].groupby("target")["value"].mean().to_dict()
    if source not in means or len(means) < 2:
        raise RequestError(f"these results have no {task} scores of {source} models in {source} and another language")
    return {str(target): means[source] - value for target, value in means.items() if target != source}


def correlations(
    results: Results,
    *,
    measures: Sequence[str] = ("cka",),
    layers: Layers = "mean",
    control: Sequence[str] = (),
    coefficient: Coefficient = "spearman",
) -> list[Correlated]:
    """The correlation of gap and similarity for every task, source, encoder and measure that records hold.

    A gap goes with the similarity of the pretrained encoder, and with that of the models fine-tuned for its task and
    source, where there is either.

    Args:
        results: scores and similarities, of a study or put together.
        measures: of similarity.
        layers: ``mean``: over all, the embeddings among them; ``each``: layer by layer.
        control: names from `CONFOUNDS`.
        coefficient: rank correlation unless said otherwise.

    Raises:
        RequestError: for a confound that there is not, or that the records do not say; when the records hold nothing
            to correlate; with too few languages.
    """
    for name in control:
        if name not in CONFOUNDS:
            raise RequestError(f"there is no confound {name!r}", hint=suggest(name, CONFOUNDS))
    found = []
    untouched = _reference(results)
    for (task, source, encoder), scores in results.groups("task", "source", "encoder"):
        if task is None or scores.records["measure"].null_count == 0:
            continue
        variants = list(_variants(scores, find_task(task).metric))
        for variant, its_own in variants:
            targets = set(its_own.records["target"].to_pylist())
            if len(variants) > 1 and not (source in targets and len(targets) > 1):
                continue  # these models were not evaluated on both sides
            found += _of_models(
                its_own, variant, untouched, task=task, source=source, encoder=encoder, measures=measures,
                layers=layers, control=control, coefficient=coefficient,
            )  # fmt: skip
    if not found:
        raise RequestError(
            f"these results hold no scores and similarities ({', '.join(measures)}) of one source and encoder",
            hint="put those of `crosslens finetune` and `crosslens compare` together, or name a study's folder",
        )
    return found


def _variants(scores: Results, metric: str) -> Iterator[tuple[str, Results]]:
    """The scores of models that are not to be averaged over, apart; those of references alone."""
    whole = _reference(scores.filter(metric=metric, measure=None))
    tags = [json.loads(text) for text in whole.records["tags"].to_pylist()]
    variants = variants_of(tags, ["reference"] * len(tags))
    for variant in dict.fromkeys(variants):
        yield variant, Results(whole.records.filter(pa.array([its == variant for its in variants], pa.bool_())))


def _of_models(
    scores: Results, variant: str, untouched: Results, *, task: str, source: str, encoder: str,
    measures: Sequence[str], layers: Layers, control: Sequence[str], coefficient: Coefficient,
) -> list[Correlated]:  # fmt: skip
    """`correlations` of models that differ in their seeds alone."""
    gaps = transfer_gaps(scores, task=task, source=source)
    sizes = scores.to_pandas().groupby("target")["n"].mean().to_dict()
    found = []
    for state, whose in (("pretrained", None), ("fine-tuned", task)):
        similar = untouched.filter(encoder=encoder, source=source, task=whose)
        for measure in measures:
            frame = similar.filter(measure=measure).to_pandas()
            frame = frame[frame["target"] != source]
            frame = frame[_of_the_same_training(frame, scores)]
            if frame.empty:
                continue
            confounds = {name: _confound(name, frame, sizes) for name in control}
            for layer, its in _by_layer(frame, layers):
                values = its.groupby("target")["value"].mean().to_dict()
                how = correlate(gaps, values, control=confounds, coefficient=coefficient)
                found.append(Correlated(task, source, encoder, state, measure, layer, gaps, values, how, variant))
    return found


def _of_the_same_training(frame: "pandas.DataFrame", scores: Results) -> list[bool]:
    """Which records fit the scores: what subwords are shared hangs on the training corpus, similarity does not."""
    trained_on = {json.loads(tags).get("training_train") for tags in scores.records["tags"].to_pylist()}
    overlaps = frame["metric"] == "overlap"
    named = [json.loads(tags).get("training_train") in trained_on for tags in frame["tags"]]
    return [not overlap or same for overlap, same in zip(overlaps, named, strict=True)]


def _reference(results: Results) -> Results:
    """The records of encoders that nothing was done to before training."""
    whole = results.filter(ablation=None)
    conditions = (json.loads(tags).get("condition", "reference") for tags in whole.records["tags"].to_pylist())
    kept = pa.array([condition == "reference" for condition in conditions], pa.bool_())
    return Results(whole.records.filter(kept))


def _by_layer(frame: "pandas.DataFrame", layers: Layers) -> "Iterator[tuple[int | None, pandas.DataFrame]]":
    if layers == "mean":
        yield None, frame
    else:
        yield from ((int(layer), its) for layer, its in frame.groupby("layer"))


def _confound(name: str, frame: "pandas.DataFrame", sizes: dict[str, float]) -> dict[str, float]:
    values = {}
    for target, text in zip(frame["target"], frame["tags"], strict=True):
        try:
            values[target] = CONFOUNDS[name][1]({**json.loads(text), "n": sizes.get(target)})
        except KeyError as missing:
            raise RequestError(
                f"these records do not say the {missing.args[0]} that {name} needs", hint="compare once more"
            ) from None
    return {target: value for target, value in values.items() if value is not None}
