"""Correlate the transfer gap with similarity in results (Muller et al. 2021, section 4.3, Table 4 and Figure 3)."""

import statistics
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any, Literal, get_args

import numpy as np

from crosslens.corpora.collection import is_trained_language
from crosslens.encoders.condition import REFERENCE
from crosslens.errors import RequestError, require_known
from crosslens.results.cells import (
    EMPTY,
    VARIANTS,
    Cell,
    Key,
    by_variant,
    cells,
    condition_of,
    disambiguated,
    groups_of,
    mean_of,
    nothing_first,
    pick_one,
    references,
    refuse_several,
)
from crosslens.results.pivot import with_split_of_files
from crosslens.results.record import Results
from crosslens.results.record_settings import SECOND_ENCODER, settings_of, settings_text
from crosslens.similarity.correlate import Coefficient, Correlation, correlate
from crosslens.similarity.word_order import WORD_ORDER
from crosslens.tasks import find_task

Layers = Literal["mean", "each"]

Outcome = Literal["gap", "score"]
"""What is correlated with similarity: the transfer gap, or the score in the target language itself."""

OVERLAPS = ("overlap_types", "overlap_tokens")
"""Measures of subword overlap: percentage of the test data's subword types and tokens that occur in training data."""

OF_TEXT = {WORD_ORDER: "treebanks", **dict.fromkeys(OVERLAPS, "subwords")}
"""Measures that compare no layers of an encoder -> what they compare."""

_PLURALS = {**dict.fromkeys(OVERLAPS, "overlaps"), WORD_ORDER: "word-order distances"}

CONFOUNDS: Mapping[str, tuple[str, str]] = {
    "length-ratio": ("target words divided by source words in parallel sentences", "length_ratio"),
    "fertility": ("subwords per word in the target's parallel sentences", "fertility"),
    "test-size": ("words, gold spans or texts in the target's test data", "n"),
}
"""Possible confounds of similarity and gap: name -> description and record column."""

MODEL_COLUMNS = ("train", "selection", "recipe", "settings")
"""Columns that identify a fine-tuned model in records without a run id."""

MATCHED_COLUMNS: tuple[str, ...] = ("target", "corpus", "metric", "task", "run", *MODEL_COLUMNS)
"""Columns for deciding whether a similarity and a score belong to the same model."""

SIMILARITY_SETTINGS = (*SECOND_ENCODER, "pooling", "last_layer")
"""Settings of the similarity rather than of the model."""


@dataclass(frozen=True, slots=True)
class Gaps:
    """Transfer gaps of models that differ only in seed.

    Attributes:
        points: target language -> same-language score minus target score, in points, by seed.
        scores: target language -> target score, by seed.
        partners: target language -> partner language of the bilingual encoder; None for a multilingual encoder.
        same_language: test corpora over which the same-language score is averaged.
    """

    points: Mapping[str, Cell]
    scores: Mapping[str, Cell]
    partners: Mapping[str, str | None]
    same_language: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Correlated:
    """Correlation of transfer gap, or score, and similarity over target languages.

    Attributes:
        encoder: encoder name; None if the records name none.
        state: encoder that was compared: ``pretrained``, or ``fine-tuned`` for the same task and source; for a measure
            of `OF_TEXT`, what it compares instead.
        layer: layer number; None for the mean over layers, or for a measure without layers.
        gaps: target language -> transfer gap, in points.
        similarities: target language -> similarity with the source.
        correlation: coefficient, interval and p-value.
        variant: settings that distinguish these models from others of the same task and source, or "".
        same_language: test corpora over which the same-language score is averaged.
        scores: target language -> score.
        outcome: what was correlated with similarity.
        excluded: number of seeds of fine-tuned models that have either scores or similarities, and so count in neither.
        corpora: parallel corpora that the similarities were measured on, with their sizes where one has several.
        seeds: numbers of seeds of the scores, ascending, where languages differ in them; else empty.
        train: training corpus of the scored models; None if the records name none.
    """

    task: str
    source: str
    encoder: str | None
    state: str
    measure: str
    layer: int | None
    gaps: Mapping[str, float]
    similarities: Mapping[str, float]
    correlation: Correlation
    variant: str = ""
    same_language: tuple[str, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict)
    outcome: Outcome = "gap"
    excluded: int = 0
    corpora: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()
    train: str | None = None

    @property
    def called(self) -> str:
        """Task and variant, as shown in tables."""
        return ", ".join(filter(None, (self.task, self.variant)))

    @property
    def outcomes(self) -> Mapping[str, float]:
        """Target language -> what was correlated with similarity."""
        return self.gaps if self.outcome == "gap" else self.scores

    @property
    def undefined(self) -> str | None:
        """Why there is no coefficient, or None if there is one."""
        if not self.correlation.constant:
            return None
        names = {
            "gap": "transfer gaps" if self.outcome == "gap" else "scores",
            "similarity": _PLURALS.get(self.measure, "similarities"),
        }
        constant = " and all ".join(names[side] for side in self.correlation.constant)
        control = self.correlation.control
        given = f" after controlling for {', '.join(control)}" if control else ""
        return f"no coefficient: all {constant} are equal{given}"

    @property
    def warnings(self) -> tuple[str, ...]:
        """Whether there are too few languages, how many seeds are excluded, and whether seeds or corpora of languages
        differ.
        """
        excluded = f"number of seeds excluded for lack of a score or similarity: {self.excluded}"
        corpora = f"languages differ in the corpus of their similarities: {', '.join(self.corpora)}"
        fewest_and_most = " to ".join(map(str, self.seeds[:1] + self.seeds[1:][-1:]))
        seeds = f"languages differ in the seeds of their scores: {fewest_and_most}"
        others = {excluded: self.excluded, seeds: self.seeds, corpora: len(self.corpora) > 1}
        return tuple(filter(None, (self.correlation.warning, *(text for text, holds in others.items() if holds))))

    @property
    def caveats(self) -> tuple[str, ...]:
        """Why there is no coefficient, and all warnings."""
        return tuple(filter(None, (self.undefined, *self.warnings)))


def correlations(
    results: Results,
    *,
    measures: Sequence[str] = ("cka",),
    layers: Layers = "mean",
    control: Sequence[str] = (),
    coefficient: Coefficient = "spearman",
    outcome: Outcome = "gap",
    required: bool = True,
    skipped: Callable[[str], None] = lambda reason: None,
) -> list[Correlated]:
    """Correlate transfer gap and similarity for every task, source language, encoder and measure in the results.

    Gaps are correlated with the similarities of the pretrained encoder and with those of the scored models
    themselves, whichever the results contain.

    Args:
        results: scores and similarities, of one study or combined.
        measures: similarity measures.
        layers: ``mean`` over all layers, including the embeddings, or ``each`` layer separately; measures of texts have
            none.
        control: names from `CONFOUNDS`, for partial correlation.
        coefficient: correlation coefficient.
        outcome: ``gap``, or ``score`` for the target score itself, which needs no same-language score.
        required: whether results with nothing to correlate are refused.
        skipped: called with the reason where a task and source has no correlation although another one has, and where
            scores and similarities of an encoder were measured under different conditions, such as precisions.

    Returns:
        One correlation for each task, source, encoder, state, measure and layer.

    Raises:
        RequestError: for an unknown confound or other option; if there is nothing to correlate, and it is ``required``;
            if every task and source has too few languages, several corpora or splits of one language, or records
            without a confound.

    Examples:
        >>> languages = ("en", "ar", "de", "es", "fi", "fr", "hi", "ru", "zh")
        >>> scores = xl.evaluate(tagger, [xl.load_corpus(f"ud/{tag}_pud[:50]", data=sample) for tag in languages])
        >>> similarity = xl.compare(encoder, "ud/pud", pairs=["en-*"], measures=["cka"], sentences=50, data=sample)
        >>> (correlated,) = xl.correlations(scores + similarity)
        >>> correlated.source, sorted(correlated.gaps)
        ('en', ['ar', 'de', 'es', 'fi', 'fr', 'hi', 'ru', 'zh'])
    """
    require_known(layers, get_args(Layers), "unknown choice of layers")
    require_known(coefficient, get_args(Coefficient), "unknown coefficient")
    require_known(outcome, get_args(Outcome), "unknown outcome")
    for name in control:
        require_known(name, CONFOUNDS, "there is no confound")
    results = with_split_of_files(results)
    measured = partial(
        _correlated, measures=measures, layers=layers, control=control, coefficient=coefficient, outcome=outcome
    )
    correlated: list[Correlated] = []
    refused: dict[str, RequestError] = {}
    of_treebanks = results.filter(measure=WORD_ORDER)  # which belongs to every encoder
    of_encoders = [
        (encoder, setting, records)
        for (encoder,), own in groups_of(references(results), "encoder")
        for setting, records in _by_setting(own)
    ]
    for encoder, setting, own in of_encoders:
        records = own if encoder is None else own + of_treebanks
        if not len(records.filter(measure=list(measures))):
            continue  # without similarities, gaps are not needed, and may be undefined
        for (task, source), scores in records.filter(measure=None).groups("task", "source"):
            if task is None:
                continue
            variants = by_variant(scores.filter(metric=find_task(task).metric), within=())
            for variant, models in variants:
                named = ", ".join(filter(None, (setting, variant)))
                targets = set(models.records["target"].to_pylist()) - {None}
                trained = {target for target in targets if is_trained_language(target, source)}
                if len(variants) > 1 and (targets == trained or (outcome == "gap" and not trained)):
                    continue  # without scores in the source and another language there is no gap
                try:
                    correlated += measured(
                        records,
                        models,
                        _test_sizes(scores, models),
                        of=(task, source, encoder, named),
                        only_variant=len(variants) == 1,
                    )
                except RequestError as error:
                    refused[", ".join(filter(None, (task, named, f"source {source}")))] = error
    if refused and not correlated:
        raise next(iter(refused.values()))
    if required and not correlated:
        raise RequestError(
            f"these results have no scores and similarities ({', '.join(measures)}) for the same source and encoder"
            " (with the same precision and checkpoint)",
            hint="combine results of `crosslens finetune` and `crosslens compare`, or name the folder of a study;"
            " an overlap belongs to the scores of its training and test corpora and limit",
        )
    for models, error in refused.items():
        skipped(f"{models}: {error}")
    for reason in _of_other_settings(of_encoders, measures):
        skipped(reason)
    return correlated


def _of_other_settings(
    of_encoders: Sequence[tuple[str | None, str, Results]], measures: Sequence[str]
) -> Iterator[str]:
    """Yield a sentence for each encoder whose scores and similarities have no setting in common."""
    scored: dict[str | None, list[str]] = {}
    compared: dict[str | None, list[str]] = {}
    for encoder, setting, records in of_encoders:
        if any(task is not None for (task,), _ in records.filter(measure=None).groups("task")):
            scored.setdefault(encoder, []).append(setting or REFERENCE)
        if len(records.filter(measure=list(measures))):
            compared.setdefault(encoder, []).append(setting or REFERENCE)
    for encoder in scored.keys() & compared.keys():
        if not set(scored[encoder]) & set(compared[encoder]):
            yield (
                f"scores and similarities of {encoder or 'the encoder'} are not correlated, because their conditions"
                f" differ (scores: {', '.join(scored[encoder])}; similarities: {', '.join(compared[encoder])})"
            )


def _correlated(
    records: Results,
    models: Results,
    test_sizes: Results,
    *,
    of: tuple[str, str, str | None, str],
    only_variant: bool,
    measures: Sequence[str],
    layers: Layers,
    control: Sequence[str],
    coefficient: Coefficient,
    outcome: Outcome,
) -> Iterator[Correlated]:
    """Correlations of models that differ only in seed; ``of`` is their task, source, encoder and variant."""
    task, source, encoder, variant = of
    gaps = _gaps(models, task=task, source=source, outcome=outcome)
    outcomes = gaps.points if outcome == "gap" else gaps.scores
    for (state, trained_for), measure in product((("pretrained", None), ("fine-tuned", task)), measures):
        similar = records.filter(source=source, task=trained_for, measure=measure, target_layer=None)
        targets = similar.columns.coded("target")
        others = [target is None or not is_trained_language(target, source) for target in targets.values]
        similar = similar.where(np.array(others, bool)[targets.codes])
        similar = of_same_models(similar, models, only_variant=only_variant)
        if not len(similar):
            continue
        table = cells(similar, rows=("target", "partner"), columns=("layer",))
        corpora = () if measure in OF_TEXT else _measured_alike(similar, gaps.partners)
        confounds = {name: _confound(name, similar, test_sizes, measure) for name in control}
        by_layer: dict[int | None, tuple] = {None: table.columns}
        if layers == "each" and measure not in OF_TEXT:
            by_layer = {layer: (layer,) for layer in table.columns if layer is not None}
        for layer, columns in by_layer.items():
            means = {row: mean_of([table.get(row, column) for column in columns]) for row in table.rows}
            # Multilingual encoders have no partner here.
            by_target = {
                target: means.get((target, partner), means.get((target, None), EMPTY))
                for target, partner in gaps.partners.items()
            }
            excluded: dict[str, frozenset[int | None]] = {}
            if trained_for is not None:  # both are of the models of a seed
                excluded = {target: _unpaired(cell, by_target[target]) for target, cell in outcomes.items()}
            points, scores, similarities = (_means(each, excluded) for each in (gaps.points, gaps.scores, by_target))
            correlated = points if outcome == "gap" else scores
            if excluded and not correlated.keys() & similarities.keys():
                _refuse_seeds(outcomes, by_target)
            correlation = correlate(correlated, similarities, control=confounds, coefficient=coefficient)
            seeds = {frozenset(outcomes[of].by_seed).difference(excluded.get(of, ())) for of in correlation.languages}
            yield Correlated(
                task,
                source,
                encoder,
                OF_TEXT.get(measure, state),
                measure,
                layer,
                points,
                similarities,
                correlation,
                variant,
                gaps.same_language,
                scores,
                outcome,
                len(frozenset().union(*excluded.values())),
                corpora,
                tuple(sorted(set(map(len, seeds)))) if len(seeds) > 1 else (),
                models[0].train,
            )


def _measured_alike(similar: Results, targets: Container[str]) -> tuple[str, ...]:
    """The parallel corpora of the similarities of these languages, with their sizes where one has several.

    Raises:
        RequestError: where settings differ by language, besides those of a second encoder.
    """
    columns = similar.columns.together("target", "corpus", "n", "settings")
    described = [row[1:] for row in columns.values if row[0] in targets]
    measured = [
        {name: value for name, value in settings_of(text).items() if name not in SECOND_ENCODER}
        for *_, text in described
    ]
    refuse_several([{"settings": settings_text(settings)} for settings in measured], "settings")
    corpora = dict.fromkeys((corpus, n) for corpus, n, _ in described if corpus is not None)
    sizes = Counter(corpus for corpus, _ in corpora)
    return tuple(f"{corpus} ({n} items)" if sizes[corpus] > 1 else corpus for corpus, n in corpora)


def _unpaired(outcome: Cell, similarity: Cell) -> frozenset[int | None]:
    """Seeds that only one side has, of two sides that are both known by seed."""
    by_seed = (outcome.by_seed, similarity.by_seed)
    return outcome.minus(similarity).excluded if all(side and None not in side for side in by_seed) else frozenset()


def _refuse_seeds(outcomes: Mapping[str, Cell], similarities: Mapping[str, Cell]) -> None:
    """Raise an error if no seed has both a score and a similarity of a language that has both."""
    common = [target for target, cell in outcomes.items() if cell.by_seed and similarities[target].by_seed]
    if common:
        scored, compared = (
            sorted({seed for target in common for seed in cells[target].by_seed}, key=nothing_first)
            for cells in (outcomes, similarities)
        )
        raise RequestError(
            "the scores and the similarities of fine-tuned models have no seed in common: the scores are of"
            f" {', '.join(map(str, scored))}, the similarities of {', '.join(map(str, compared))}",
            hint="compare the models that were scored",
        )


def _means(of_targets: Mapping[str, Cell], excluded: Mapping[str, Container[int | None]]) -> dict[str, float]:
    """Means over seeds, without excluded seeds and targets that have no other seed."""
    kept = {
        target: [value for seed, value in cell.by_seed.items() if seed not in excluded.get(target, ())]
        for target, cell in of_targets.items()
    }
    return {target: statistics.fmean(values) for target, values in kept.items() if values}


def _by_setting(references: Results) -> list[tuple[str, Results]]:
    """Divide references by the settings that they have, such as ``precision=bfloat16``; "" without any."""
    conditions = references.columns.coded("condition")
    return references.divided(conditions.changed([condition_of(text).change for text in conditions.values]))


def _gaps(scores: Results, *, task: str, source: str, outcome: Outcome) -> Gaps:
    """Gaps of models that differ only in seed."""
    table = cells(scores, rows=("target", "partner", "split", "corpus"))
    column, *other_columns = table.columns or (None,)
    for axis in VARIANTS if other_columns else ():
        refuse_several(disambiguated(scores), axis)
    points: dict[str, Cell] = {}
    target_scores: dict[str, Cell] = {}
    partners: dict[str, str | None] = {}
    same_language: dict[str, None] = {}
    by_target: dict[str, list[Key]] = {}
    for row in table.rows:
        if row[0] is not None:
            by_target.setdefault(row[0], []).append(row)
    trained = [target for target in by_target if is_trained_language(target, source)]
    source_rows = [row for target in trained for row in by_target.pop(target)]
    for target, rows in by_target.items():
        for position, axis in enumerate(("partner", "split", "corpus"), start=1):
            values = dict.fromkeys(str(row[position]) for row in rows)
            if len(values) > 1:
                raise RequestError(
                    f"the transfer gap to {target} needs a single {axis}, but there are several: {', '.join(values)}",
                    hint=pick_one(axis),
                )
        (row,) = rows
        comparable = [source_row for source_row in source_rows if source_row[1:3] == row[1:3]]
        score = table.get(row, column)
        gap = mean_of([table.get(source_row, column) for source_row in comparable]).minus(score)
        if score.by_seed:
            target_scores[target], partners[target] = score, row[1]
        if gap.by_seed:
            points[target] = gap
            same_language |= dict.fromkeys(str(corpus) for *_, corpus in comparable if corpus is not None)
    if outcome == "score" and not target_scores:
        raise RequestError(
            f"there are no {task} scores of {source} models in another language",
            hint="evaluate the same models on other languages",
        )
    if outcome == "gap" and not points:
        raise RequestError(
            f"cannot compute the transfer gap: there are no {task} scores of {source} models in {source} and another"
            " language",
            hint=f"evaluate the same models on {source} too, on the same split",
        )
    return Gaps(points, target_scores, partners, tuple(same_language))


def of_same_models(similar: Results, models: Results, *, only_variant: bool) -> Results:
    """Select the similarities that were measured on the scored models, or on no fine-tuned model.

    Args:
        similar: similarities of the encoder, source and task of the models.
        models: scores of models that differ only in seed and condition.
        only_variant: whether there are no other models of this encoder, source and task.
    """
    rows, scored = (results.columns.together(*MATCHED_COLUMNS) for results in (similar, models))
    described, known = (
        [dict(zip(MATCHED_COLUMNS, values, strict=True)) for values in coded.values] for coded in (rows, scored)
    )
    matching = np.array([_of_same_models(record, known, only_variant=only_variant) for record in described], bool)
    limits = set(map(_limit, known))
    of_limit = [record["metric"] == "overlap" and _limit(record) in limits for record in described]
    exact = matching & np.array(of_limit, bool)  # else overlaps with all sentences, which older records have
    return similar.where((exact if exact.any() else matching)[rows.codes])


def _of_same_models(record: Mapping[str, Any], models: Sequence[Mapping[str, Any]], *, only_variant: bool) -> bool:
    """Whether a similarity was measured on the scored models, which may be the only ones in the records."""
    if record["metric"] == "overlap":  # overlap depends on the training data, not on the model
        corpora = {model["corpus"] for model in models}
        scored = record["corpus"] in corpora or None in (record["corpus"], *corpora)  # other tasks have other corpora
        counted = _limit(record) in {None, *map(_limit, models)}
        return scored and counted and record["train"] in {model["train"] for model in models}
    if record["task"] is None:
        return True
    runs = {model["run"] for model in models}
    if record["run"] in runs - {None}:
        return True
    if record["run"] is not None and None not in runs:  # else it may be of a model whose scores name no run
        return False
    if record["train"] is None:
        return only_variant
    return _model_key(record) in map(_model_key, models)


def _limit(record: Mapping[str, Any]) -> str | None:
    """Number of training sentences; None: all."""
    return settings_of(record["settings"]).get("limit")


def _model_key(record: Mapping[str, Any]) -> tuple:
    settings = settings_of(record["settings"])
    training = frozenset(pair for pair in settings.items() if pair[0] not in SIMILARITY_SETTINGS)
    return (*(record[name] for name in MODEL_COLUMNS if name != "settings"), training)


def _test_sizes(scores: Results, models: Results) -> Results:
    """Records whose ``n`` counts gold units only: F1 also counts predicted spans, recall does not."""
    if set(models.records["metric"].to_pylist()) != {"f1"}:
        return models
    return scores.filter(metric="recall", corpus=list(dict.fromkeys(models.records["corpus"].to_pylist())))


def _confound(name: str, similar: Results, test_sizes: Results, measure: str) -> dict[str, float]:
    column = CONFOUNDS[name][1]
    by_target: dict[str, set[float]] = {}
    for record in (test_sizes if column == "n" else similar).records.select(["target", column]).to_pylist():
        if record[column] is None:
            hint = (
                f"leave out the control {name}: {measure} has none"
                if measure in OF_TEXT
                else "run `crosslens compare` again, on text with spaces between words"
            )
            raise RequestError(f"these records lack the column {column} that {name} needs", hint=hint)
        by_target.setdefault(record["target"], set()).add(record[column])
    return {target: statistics.fmean(values) for target, values in by_target.items()}
