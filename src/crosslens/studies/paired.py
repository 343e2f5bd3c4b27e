"""Paired tests: the difference between two results on the same seeds and sentences."""

import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from crosslens.corpora.collection import is_trained_language
from crosslens.encoders.condition import REFERENCE
from crosslens.errors import DataError, RequestError
from crosslens.results.cells import VARIANTS, WHOLE, cells
from crosslens.results.pivot import common_split, mean_name
from crosslens.results.record import Record, Results, concatenated, value_of
from crosslens.runs.recorded import recorded
from crosslens.scores.intervals import linearised
from crosslens.studies.summary import corrected, difference, pooled

if TYPE_CHECKING:
    import pandas

COLUMNS = ("metric", "target", "corpus", "a", "b", "difference", "low", "high", "p", "q", "seeds", "sentences")
"""Columns of a table of tests."""

MOST_VALUES = 8
"""Number of values of a column that a hint names."""

CLOSE = 1e-6
"""Maximum difference, in points, of a score and its counts per sentence."""

Source = Results | str | Path | Sequence[str | Path]
"""Results with counts, or files and folders that have them."""


@dataclass(frozen=True, slots=True, eq=False)
class _Scores:
    """The scores of one side on one corpus.

    Attributes:
        record: its first record.
        by_seed: seed -> contribution of each sentence to the score, in points.
    """

    record: Record
    by_seed: Mapping[int, np.ndarray]


def test(
    a: Source,
    b: Source,
    *,
    where_a: Mapping[str, Any] | None = None,  # noqa: PT028  (not a test of pytest)
    where_b: Mapping[str, Any] | None = None,  # noqa: PT028
    metric: str | None = None,  # noqa: PT028
) -> "pandas.DataFrame":
    """Test the difference between two results on the same seeds and sentences.

    The procedure is that of studies (`crosslens.scores.intervals`): the interval covers seeds and sentences. With one
    seed it covers sentences alone and there is no p-value, because nothing is known of other seeds.

    Args:
        a: results of `evaluate`, one for each seed, joined by ``+``; or folders that `crosslens finetune`, `crosslens
            evaluate` or `crosslens run` wrote.
        b: the results compared with ``a``.
        where_a: column -> value, which select the records of ``a``, such as ``{"condition": "none"}``.
        where_b: the same for ``b``.
        metric: metric to test; None: all.

    Returns:
        A frame with one row for each corpus and metric, then one for the mean over the corpora in the source language
        of both sides, if they are several, and one for the mean over those in the source language of neither. ``a``
        and ``b`` are the means over the common seeds, ``difference`` is b − a with its 95 % interval from ``low`` to
        ``high``, ``q`` is ``p`` after Benjamini-Hochberg correction over the corpora, or over the means. Scores are in
        points.

    Raises:
        RequestError: when a side has several models of one seed, or the sides have no corpus or no seed in common; when
            a side selects another metric.
        DataError: for results without counts per sentence, such as those of earlier versions.

    Examples:
        >>> from crosslens.studies.paired import test
        >>> names = ["sample/en[:30]", "sample/fr[:30]", "sample/de[:30]"]
        >>> ablated = xl.random_init(encoder, layers="1-2")
        >>> other = xl.finetune(ablated, "pos", train="sample/en:train[:20]", recipe=tagger.recipe)
        >>> table = test(xl.evaluate(tagger, names), xl.evaluate(other, names))
        >>> table[["target", "seeds", "sentences"]].values.tolist()[-1]
        ['mean of 2 languages', 1, 30]
    """
    for name, where in (("A", where_a), ("B", where_b)):
        if where is not None and not isinstance(where, Mapping):
            option = f"where_{name.lower()}"
            raise RequestError(f"{option} is {where!r}, not a mapping", hint=f'{option}={{"condition": "none"}}')
        selected = (where or {}).get("metric", metric)
        if metric is not None and selected != metric:
            raise RequestError(f"{name} selects metric={selected}, but the metric to test is {metric}")
    sides = [
        _scores(_read(source, {**(where or {}), **({"metric": metric} if metric else {})}, name), name)
        for source, where, name in ((a, where_a, "A"), (b, where_b, "B"))
    ]
    common = [key for key in sides[0] if key in sides[1]]
    if not common:
        raise RequestError("A and B have no test corpus and metric in common", hint="evaluate both on the same corpora")
    pairs = {key: (sides[0][key], sides[1][key]) for key in common}
    single = [_row([pair]) for pair in pairs.values()]
    means = [_row(group) for group in _averaged(pairs.values())]
    return corrected([single, means], COLUMNS)


def _read(source: Source, columns: Mapping[str, Any], side: str) -> Results:
    """Read the selected records of one side, with their counts.

    Raises:
        RequestError: when there are none.
    """
    selected = {name: value_of(name, value) if isinstance(value, str) else value for name, value in columns.items()}
    if isinstance(source, Results):
        scores = source.filter(measure=None)
        results = scores.filter(**selected)
    else:
        paths = [source] if isinstance(source, str | Path) else source
        places = [place.filter(measure=None) for path in paths for place in recorded(path)]
        scores = concatenated(place.results for place in places)
        results = reduce(add, (place.filter(**selected).counted() for place in places), Results.of([]))
    if not len(results):
        raise RequestError(f"{side} selects no scores", hint=_values(scores, selected))
    return results


def _values(scores: Results, columns: Iterable[str]) -> str:
    """The values of columns of which a selection found none, for a hint."""
    if not len(scores):
        return "these results have no scores"
    known = {name: _distinct(scores, name)[:MOST_VALUES] for name in columns}
    written = {name: " or ".join("empty" if value is None else str(value) for value in known[name]) for name in known}
    return "in these results, " + "; ".join(f"{name} is {values}" for name, values in written.items())


def _distinct(results: Results, column: str) -> list[Any]:
    """The values of a column, each once."""
    return list(dict.fromkeys(results.records[column].to_pylist()))


def _scores(results: Results, side: str) -> dict[tuple[str | None, ...], _Scores]:
    """Return the scores of a side by metric, corpus digest and other language of a bilingual encoder.

    Raises:
        RequestError: when several models have the same seed.
        DataError: when a score has no counts.
    """
    option = side.lower()
    try:
        models = cells(results, rows=("metric", "target", "corpus", "partner")).columns
    except RequestError as error:
        several = (f"{axis}={known[0]}" for axis in WHOLE if len(known := _distinct(results, axis)) > 1)
        hint = f"select one with another --{option}, such as {next(several, 'task=pos')} (where_{option} in Python)"
        raise RequestError(f"{side}: {error.message}", hint=hint) from None
    if len(models) > 1:
        labels = "; ".join(column.label for column in models)
        options = [f"--{option} {shlex.quote(choice)}" for choice in _telling_apart(results)]
        another = " or ablation=1-2" if options == [f"--{option} condition={REFERENCE}"] else ""
        hint = f"select one with {' '.join(options)}{another} (where_{option} in Python)"
        raise RequestError(f"{side} has several conditions: {labels}", hint=hint)
    scores: dict[tuple[str | None, ...], _Scores] = {}
    for record in results:
        counts = results.counts.get((record.run, record.condition, record.corpus_digest, record.metric))
        if record.value is None:
            continue
        if counts is None or abs(100.0 * counts[0].sum() / counts[1].sum() - record.value) > CLOSE:
            raise DataError(
                f"{side} has no counts per sentence for {record.metric} on {record.corpus}",
                hint="give the folder that was written, not a file or results read from it; or evaluate again",
            )
        key = (record.metric, record.corpus_digest, record.partner)
        first = scores.setdefault(key, _Scores(record, {}))
        values = {**first.by_seed, record.seed or 0: linearised(counts[:1], counts[1:])[0]}
        scores[key] = replace(first, by_seed=values)
    return scores


def _telling_apart(results: Results) -> Iterator[str]:
    """Yield ``column=value`` that together select one of several models, for a hint; no empty value can be written."""
    for name in ("condition", *VARIANTS):
        values = _distinct(results, name)
        if len(values) > 1:
            value = REFERENCE if REFERENCE in values else next(value for value in values if value is not None)
            yield f"{name}={value}"
            results = results.filter(**{name: value})


def _averaged(pairs: Collection[tuple[_Scores, _Scores]]) -> list[list[tuple[_Scores, _Scores]]]:
    """Group the corpora of each metric and split: those in the source language of both sides, and those of neither.

    Single corpora, and corpora without a seed that all have, have no mean. Bilingual encoders have one mean over all
    encoders in the other languages, and one of each encoder in the source language.
    """
    groups: dict[tuple, list[tuple[_Scores, _Scores]]] = {}
    of_files = common_split(first.record.split for first, _ in pairs)
    for first, second in pairs:
        record = first.record
        if record.target is None:
            continue
        same = {is_trained_language(record.target, side.record.source) for side in (first, second)}
        if len(same) == 1:
            partner = record.partner if True in same else None
            groups.setdefault((record.metric, record.split or of_files, *same, partner), []).append((first, second))
    return [group for group in groups.values() if len(group) > 1 and _common_seeds(group)]


def _common_seeds(pairs: Sequence[tuple[_Scores, _Scores]]) -> list[int]:
    """Seeds that both sides have on every corpus."""
    return [seed for seed in pairs[0][0].by_seed if all(seed in side.by_seed for pair in pairs for side in pair)]


def _row(pairs: Sequence[tuple[_Scores, _Scores]]) -> dict[str, Any]:
    """Test one corpus, or the mean over several."""
    record = pairs[0][0].record
    seeds, sample = _common_seeds(pairs), pooled([difference(second.by_seed, first.by_seed) for first, second in pairs])
    if sample is None:
        raise RequestError(
            f"A and B have no seed in common on {record.corpus}", hint="fine-tune both with the same seeds"
        )
    means = [
        float(np.mean([side.by_seed[seed].mean() for side in sides for seed in seeds]))
        for sides in zip(*pairs, strict=True)
    ]
    delta = sample.estimate()
    single = len(pairs) == 1
    target = f"{record.target} with {record.partner}" if record.partner else record.target
    return {
        "metric": record.metric,
        "target": target if single else mean_name([a.record.target for a, _ in pairs], None, source=record.source),
        "corpus": record.corpus if single else common_split(a.record.split for a, _ in pairs),
        "a": means[0],
        "b": means[1],
        "difference": delta.mean,
        "low": delta.low,
        "high": delta.high,
        "p": delta.p,
        "seeds": delta.seeds,
        "sentences": sample.sentences,
    }
