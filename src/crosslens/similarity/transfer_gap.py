"""Transfer gap against similarity, from records alone (Muller et al. 2021, section 4.3, Table 4 and Figure 3)."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa

from crosslens.encoders.condition import Condition
from crosslens.errors import RequestError, suggest
from crosslens.results.cells import VARIANTS, Key, cells, groups_of, mean_of, refuse_several, told_apart, variants_of
from crosslens.results.record import Results
from crosslens.similarity.correlate import Coefficient, Correlation, correlate
from crosslens.tasks import find_task

Layers = Literal["mean", "each"]

OVERLAPS = ("overlap_types", "overlap_tokens")
"""Share of the test data's subword types and tokens that occur in the training data, in percent."""

CONFOUNDS: Mapping[str, tuple[str, str]] = {
    "length-ratio": ("the target's words over those of the source's parallel sentences", "length_ratio"),
    "fertility": ("subwords per word in the target's parallel sentences", "fertility"),
    "test-size": ("words, or gold spans, of the target's test data", "n"),
}
"""What similarity and gap may both depend on: what it is, and the column of the records that holds it."""

OF_MODEL = ("train", "selection", "recipe", "settings")
"""Columns by which a fine-tuned similarity and a score are of the same models, where no run says it."""

TO_MATCH = ("target", "metric", "task", "run", *OF_MODEL)
"""Columns that say whether a similarity and a score are of the same models."""

OF_SIMILARITY = ("against", "against_condition", "pooling")
"""Settings of a similarity itself."""


@dataclass(frozen=True, slots=True)
class Gaps:
    """The transfer gaps of models that differ in their seeds alone.

    Attributes:
        points: target language -> same-language score minus the target's own, in points.
        partners: target language -> the other language of the bilingual encoder; None of a multilingual one.
        same_language: the test corpora of the same-language score, which is the mean over them.
    """

    points: Mapping[str, float]
    partners: Mapping[str, str | None]
    same_language: tuple[str, ...]


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
        correlation: their correlation.
        variant: what tells these models from others of the task and source in the records, such as settings; else "".
        same_language: the test corpora of the same-language score, which is the mean over them.
    """

    task: str
    source: str
    encoder: str
    state: str
    measure: str
    layer: int | None
    gaps: Mapping[str, float]
    similarities: Mapping[str, float]
    correlation: Correlation
    variant: str = ""
    same_language: tuple[str, ...] = ()

    @property
    def called(self) -> str:
        """The task, and what tells its models from others."""
        return ", ".join(filter(None, (self.task, self.variant)))


def transfer_gaps(results: Results, *, task: str, source: str, encoder: str | None = None) -> dict[str, float]:
    """The reference's gap to each target language: same-language score minus the target's own, in points.

    Both are on the same split, and of the same encoder where encoders are bilingual. Gaps are within seeds, and
    averaged over them. Where the source language has several test corpora, its score is the mean over them.

    Args:
        results: records of scores; those of encoders that something was done to are passed over.
        task: its name.
        source: the language trained on.
        encoder: its name; None: the only one.

    Raises:
        RequestError: when the records hold no score of the task in the source language, or none in another; when a
            target has several corpora or splits, or the models differ in more than seeds.
    """
    scores = _reference(results) if encoder is None else _reference(results).filter(encoder=encoder)
    scores = scores.filter(task=task, source=source, metric=find_task(task).metric, measure=None)
    return dict(_gaps(scores, task=task, source=source).points)


def correlations(
    results: Results,
    *,
    measures: Sequence[str] = ("cka",),
    layers: Layers = "mean",
    control: Sequence[str] = (),
    coefficient: Coefficient = "spearman",
) -> list[Correlated]:
    """The correlation of gap and similarity for every task, source, encoder and measure that records hold.

    A gap goes with the similarity of the pretrained encoder, and with that of the same models that were scored, where
    there is either.

    Args:
        results: scores and similarities, of a study or put together.
        measures: of similarity.
        layers: ``mean``: over all, the embeddings among them; ``each``: layer by layer.
        control: names from `CONFOUNDS`.
        coefficient: rank correlation unless said otherwise.

    Returns:
        One correlation for each task, source, encoder, state, measure and layer in the results.

    Raises:
        RequestError: for an unknown confound, or one that the records do not hold; when the records hold nothing
            to correlate; with too few languages; when a language has several corpora or splits.

    Examples:
        >>> languages = ("en", "ar", "de", "es", "fi", "fr", "hi", "ru", "zh")
        >>> scores = xl.evaluate(tagger, [xl.load_corpus(f"ud/{tag}_pud[:50]", data=sample) for tag in languages])
        >>> similarity = xl.compare(encoder, "ud/pud", pairs=["en-*"], measures=["cka"], sentences=50, data=sample)
        >>> (correlated,) = xl.correlations(scores + similarity)
        >>> correlated.source, sorted(correlated.gaps)
        ('en', ['ar', 'de', 'es', 'fi', 'fr', 'hi', 'ru', 'zh'])
    """
    correlated = find_correlations(results, measures=measures, layers=layers, control=control, coefficient=coefficient)
    if not correlated:
        raise RequestError(
            f"these results have no scores and similarities ({', '.join(measures)}) for the same source and encoder",
            hint="combine results of `crosslens finetune` and `crosslens compare`, or name the folder of a study",
        )
    return correlated


def find_correlations(
    results: Results,
    *,
    measures: Sequence[str] = ("cka",),
    layers: Layers = "mean",
    control: Sequence[str] = (),
    coefficient: Coefficient = "spearman",
) -> list[Correlated]:
    """As `correlations`; an empty list where the records hold nothing to correlate."""
    for name in control:
        if name not in CONFOUNDS:
            raise RequestError(f"there is no confound {name!r}", hint=suggest(name, CONFOUNDS))
    correlated: list[Correlated] = []
    for (encoder,), records in groups_of(_reference(results), "encoder"):
        for (task, source), scores in records.filter(measure=None).groups("task", "source"):
            if task is None:
                continue
            kinds = list(_variants(scores.filter(metric=find_task(task).metric)))
            for variant, models in kinds:
                targets = set(models.records["target"].to_pylist())
                if len(kinds) > 1 and not (source in targets and len(targets) > 1):
                    continue  # these models were not evaluated on both sides
                gaps = _gaps(models, task=task, source=source)
                for state, measure, layer, similarities, confounds in _similarities(
                    records,
                    models,
                    _sized(scores, models),
                    gaps,
                    task=task,
                    source=source,
                    measures=measures,
                    layers=layers,
                    control=control,
                    alone=len(kinds) == 1,
                ):
                    how = correlate(gaps.points, similarities, control=confounds, coefficient=coefficient)
                    correlated.append(
                        Correlated(
                            task,
                            source,
                            encoder,
                            state,
                            measure,
                            layer,
                            gaps.points,
                            similarities,
                            how,
                            variant,
                            gaps.same_language,
                        )
                    )
    return correlated


def _reference(results: Results) -> Results:
    """The records of encoders that nothing was done to before training."""
    return results.filter(condition=[Condition().text, None])


def _variants(scores: Results) -> Iterator[tuple[str, Results]]:
    """The scores of models that are not to be averaged over, apart."""
    variants = variants_of(told_apart(scores))
    for variant in dict.fromkeys(variants):
        yield variant, _where(scores, [each == variant for each in variants])


def _where(results: Results, kept: Sequence[bool]) -> Results:
    return Results(results.records.filter(pa.array(kept, pa.bool_())))


def _gaps(scores: Results, *, task: str, source: str) -> Gaps:
    """The gaps of models that differ in their seeds alone."""
    table = cells(scores, rows=("target", "partner", "split", "corpus"))
    column, *others = table.columns or (None,)
    for axis in VARIANTS if others else ():
        refuse_several(told_apart(scores), axis)
    points: dict[str, float] = {}
    partners: dict[str, str | None] = {}
    same_language: dict[str, None] = {}
    rows: dict[str, list[Key]] = {}
    for row in table.rows:
        if row[0] is not None:
            rows.setdefault(row[0], []).append(row)
    own = rows.pop(source, [])
    for target, several in rows.items():
        for place, axis in enumerate(("partner", "split", "corpus"), start=1):
            values = dict.fromkeys(str(row[place]) for row in several)
            if len(values) > 1:
                raise RequestError(
                    f"the transfer gap to {target} needs a single {axis}, but there are several: {', '.join(values)}",
                    hint=f"filter({axis}=…) picks one",
                )
        (row,) = several
        alike = [each for each in own if each[1:3] == row[1:3]]
        gap = mean_of([table.get(each, column) for each in alike]).minus(table.get(row, column)).mean
        if gap is not None:
            points[target], partners[target] = gap, row[1]
            same_language |= dict.fromkeys(str(each[3]) for each in alike if each[3] is not None)
    if not points:
        raise RequestError(
            f"cannot compute the transfer gap: there are no {task} scores of {source} models in {source} and another"
            " language",
            hint=f"evaluate the same models on {source} too, on the same split",
        )
    return Gaps(points, partners, tuple(same_language))


def _similarities(
    records: Results,
    models: Results,
    sized: Results,
    gaps: Gaps,
    *,
    task: str,
    source: str,
    measures: Sequence[str],
    layers: Layers,
    control: Sequence[str],
    alone: bool,
) -> Iterator[tuple[str, str, int | None, dict[str, float], dict[str, dict[str, float]]]]:
    """State, measure, layer, and of each target language its similarity and confounds."""
    scored = models.records.select(list(TO_MATCH)).to_pylist()
    for state, whose in (("pretrained", None), ("fine-tuned", task)):
        similar = records.filter(source=source, task=whose)
        for measure in measures:
            kept = similar.filter(measure=measure)
            rows = kept.records.select(list(TO_MATCH)).to_pylist()
            fits = [row["target"] != source and _of_same_models(row, scored, alone=alone) for row in rows]
            kept = _where(kept, fits)
            if not len(kept):
                continue
            table = cells(kept, rows=("target", "partner"), columns=("layer",))
            confounds = {name: _confound(name, kept, sized) for name in control}
            each = [(layer, (layer,)) for layer in table.columns if layer is not None]
            for layer, columns in [(None, table.columns)] if layers == "mean" else each:
                means = {row: mean_of([table.get(row, column) for column in columns]).mean for row in table.rows}
                # Similarities of a multilingual encoder, and of bilingual ones of version 1, have no partner.
                ours = {
                    target: means.get((target, partner), means.get((target, None)))
                    for target, partner in gaps.partners.items()
                }
                yield state, measure, layer, {t: value for t, value in ours.items() if value is not None}, confounds


def _of_same_models(record: Mapping[str, Any], models: Sequence[Mapping[str, Any]], *, alone: bool) -> bool:
    """Whether a similarity belongs to the models that were scored; ``alone``: the records hold no others."""
    if record["metric"] == "overlap":  # which subwords are shared depends on the training data
        return record["train"] in {model["train"] for model in models}
    if record["task"] is None:
        return True
    runs = {model["run"] for model in models} - {None}
    if record["run"] is not None and runs:
        return record["run"] in runs
    if record["train"] is None:
        return alone
    return _of_model(record) in map(_of_model, models)


def _of_model(record: Mapping[str, Any]) -> tuple:
    words = (record["settings"] or "").split()
    training = frozenset(word for word in words if word.partition("=")[0] not in OF_SIMILARITY)
    return (*(record[name] for name in OF_MODEL if name != "settings"), training)


def _sized(scores: Results, models: Results) -> Results:
    """The records that count the units of the test data alone: an F1 counts what was predicted too, its recall not."""
    if set(models.records["metric"].to_pylist()) != {"f1"}:
        return models
    return scores.filter(metric="recall", corpus=list(dict.fromkeys(models.records["corpus"].to_pylist())))


def _confound(name: str, similar: Results, sized: Results) -> dict[str, float]:
    column = CONFOUNDS[name][1]
    values: dict[str, set[float]] = {}
    for record in (sized if column == "n" else similar).records.select(["target", column]).to_pylist():
        if record[column] is None:
            raise RequestError(
                f"these records lack the column {column} that {name} needs", hint="run `crosslens compare` again"
            )
        values.setdefault(record["target"], set()).add(record[column])
    return {target: statistics.fmean(each) for target, each in values.items()}
