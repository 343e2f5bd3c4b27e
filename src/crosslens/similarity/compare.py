"""Compare representations of translations, layer by layer (Muller et al. 2021, section 4.2)."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, get_args

import numpy as np

from crosslens import __version__
from crosslens.corpora.parallel import ParallelLike, list_languages, load_parallel
from crosslens.data.formats.text import count_words
from crosslens.data.language_pairs import expand_pairs, split_pair
from crosslens.data.parallel import Parallel
from crosslens.digests import digest, require_seed
from crosslens.encoders.coverage import count_unknown, fertility
from crosslens.encoders.encoder import Encoder, require_encoder
from crosslens.encoders.layers import LayerPairs, name_layer, pair_layers
from crosslens.encoders.options import LastLayer, Pooling
from crosslens.encoders.reinit import untrained_pair
from crosslens.encoders.represent import Representations, represent
from crosslens.errors import RequestError, require_known
from crosslens.files import new_folder
from crosslens.heap import release_heap
from crosslens.progress import Listener, listening
from crosslens.results.cautions import tags_of_pair
from crosslens.results.record import Record, Results
from crosslens.results.record_settings import second_encoder, settings_text
from crosslens.similarity.cka import Centred, centre
from crosslens.similarity.measures import Baseline, Measure, choose_measures
from crosslens.similarity.sampling import jackknife

FEWEST_LEFT_OUT = 5
"""Minimum number of items of a jackknife, which leaves one out and so needs one more than the measures."""


def compare(
    encoder: Encoder,
    corpus: ParallelLike,
    *,
    pairs: str | Sequence[str],
    measures: str | Sequence[str] | None = None,
    baselines: Baseline | Sequence[Baseline] = (),
    against: Encoder | None = None,
    layers: LayerPairs = "same",
    pooling: Pooling = "mean",
    last_layer: LastLayer = "raw",
    interval: Literal["none", "jackknife"] = "none",
    original: str | None = None,
    sentences: int | None = None,
    seed: int = 1,
    data: str | Path | None = None,
    export: str | Path | None = None,
    progress: Listener = None,
    represented: Callable[[Representations], None] | None = None,
) -> Results:
    """Measure how similarly an encoder represents sentences and their translations, at every layer.

    Each encoder reads each language once, for all pairs and measures. Vectors that later pairs need are cached on
    disk, so that at most two languages are in memory.

    Args:
        encoder: pretrained, ablated or fine-tuned encoder.
        corpus: parallel sentences: the name of a corpus, such as ``ud/pud``, or what else `load_parallel` takes, such
            as ``{"en": ["A cat.", …], "fr": ["Un chat.", …]}``.
        pairs: language pairs, such as ``en-fr``. ``en-*`` pairs English with every other language; ``en-en``
            compares two encoders, the second of which is ``against``.
        measures: names from `MEASURES`, with the suffix ``_shuffled`` or ``_length_matched`` for a baseline; None for
            CKA and debiased CKA, with the baselines of CKA unless ``baselines`` is given.
        baselines: for each measure ``shuffled`` sentence pairs, ``length-matched`` pairs, or an ``untrained`` encoder
            with all parameters re-initialised, unless ``encoder`` is that.
        against: encoder of the second language; None for the same encoder.
        layers: compared layers, see `crosslens.encoders.layers.pair_layers`. Encoders of different depth need
            ``relative`` or ``all-pairs``.
        pooling: pooling of subword states into one vector per item.
        last_layer: states of the last layer: ``raw``, or ``normalised`` as task heads read them; then the records'
            settings name it.
        interval: ``jackknife`` for 95 % intervals over sentences, at twenty times the computation. They are intervals
            of the mean over samples of the same size; see `crosslens.similarity.sampling.jackknife`.
        original: keep only PUD sentences originally written in this language.
        sentences: keep only this many sentences, from the start.
        seed: random seed of the untrained encoder; that of ``against`` is re-initialised independently.
        data: folder searched first for a named corpus.
        export: new folder for the vectors of each language, ``LANGUAGE.npy``, and ``against-LANGUAGE.npy`` for those
            of ``against``.
        progress: listener notified after each language read and each pair compared.
        represented: function called with the representations of each language.

    Returns:
        A record for each language pair, layer (0 is the embeddings) or pair of layers, and measure. ``seed`` is that of
        the last random change of the encoder, such as re-initialised layers, else of ``against``. ``layer`` is that
        of ``encoder``, ``target_layer`` that of the second encoder unless it is the same. The value is None where the
        measure is undefined, for example when all vectors are equal.

    Raises:
        RequestError: for an unknown measure, baseline or other option; an invalid pair; fewer items than a measure
            needs: 3, 4 for debiased CKA, 8 for ``cka=muller2021-code``, and with intervals one more, at least 5;
            encoders of different depth with ``layers="same"``, or of different width with retrieval, MEXA, cosine or
            ANC; an existing ``export`` folder, or no measure of the pooling that it would hold.
        DataError: for a language that is missing from the corpus, or no item originally written in ``original``.
        EncoderError: for a representation that contains NaN.

    Examples:
        >>> results = xl.compare(encoder, "ud/pud", pairs=["en-fr"], measures=["cka"], data=sample)
        >>> results.to_pandas()[["layer", "measure", "n"]].values.tolist()[:2]
        [[0, 'cka', 100], [1, 'cka', 100]]
    """
    require_encoder(encoder)
    require_known(last_layer, get_args(LastLayer), "unknown kind of last layer")
    require_known(interval, ("none", "jackknife"), "unknown interval")
    seed = require_seed(seed)
    pairs = [pairs] if isinstance(pairs, str) else list(pairs)
    baselines = [baselines] if isinstance(baselines, str) else list(baselines)
    chosen = choose_measures(measures, baselines)
    if export and all((measure.pooling or pooling) != pooling for measure in chosen.values()):
        raise RequestError(
            f"export writes vectors of the pooling {pooling}, which no measure reads",
            hint=f"choose the pooling {next(iter(chosen.values())).pooling}",
        )
    parallel = select_sentences(
        corpus, pairs, measures=chosen, interval=interval, original=original, sentences=sentences, data=data
    )
    wanted = [split_pair(pair, parallel.languages) for pair in expand_pairs(pairs, parallel.languages)]
    if against is not None:
        _refuse_different_widths(encoder, against, chosen)
    paired = pair_layers(encoder, against or encoder, layers=layers)
    states = [(encoder, against)]
    if "untrained" in baselines:
        untrained = untrained_pair(encoder, against or encoder, seed=seed)
        if against is not None or untrained[0].digest != encoder.digest:  # else it is the measurement itself
            states.append((untrained[0], against and untrained[1]))
    listener, total = listening(progress), len(states) * len(wanted)
    finished: list[tuple[str, str]] = []
    results = Results.of([])
    with new_folder(export) if export else nullcontext() as folder:
        for first, second in states:
            trained = first is encoder

            def after_reading(side: int, read: Representations, *, trained: bool = trained) -> None:
                listener.report("comparing", len(finished), total, "pairs", f"read {read.language}")
                if folder is not None and trained and read.pooling == pooling:
                    np.save(folder / f"{'against-' * side}{read.language}.npy", read.vectors)
                if represented is not None:
                    represented(read)

            records: dict[tuple[str, str], list[Record]] = {}
            compared = _compared(
                first, second, parallel, wanted, paired, chosen, pooling, last_layer, interval, after_reading
            )
            for pair, similarities in compared:
                records[pair] = similarities
                finished.append(pair)
                listener.report("comparing", len(finished), total, "pairs", "-".join(pair))
            results += Results.of(record for pair in wanted for record in records[pair])
    return results


def select_sentences(
    corpus: ParallelLike,
    pairs: str | Sequence[str],
    *,
    measures: Mapping[str, Measure],
    interval: Literal["none", "jackknife"] = "none",
    original: str | None = None,
    sentences: int | None = None,
    data: str | Path | None = None,
) -> Parallel:
    """Select the parallel sentences that `compare` reads.

    Args:
        corpus: parallel sentences, or the name of a corpus; only the languages of the pairs are loaded.
        measures: measures to compute, each of which needs some number of items.
        interval: intervals to compute: the jackknife needs more items, because it leaves some out.

    Raises:
        RequestError: for an invalid pair, or fewer items than a measure needs, or than the jackknife needs.
        DataError: for a language that is missing from the corpus.
    """
    if not isinstance(corpus, str):
        corpus = load_parallel(corpus)
    available = list_languages(corpus, data=data) if isinstance(corpus, str) else corpus.languages
    wanted = [split_pair(pair, available) for pair in expand_pairs(pairs, available)]
    languages = sorted({language for pair in wanted for language in pair})
    parallel = load_parallel(corpus, languages=languages, data=data)
    for language in languages:
        parallel[language]  # raise for missing languages before any is read
    parallel = parallel.originally(original) if original else parallel
    parallel = parallel.head(sentences) if sentences is not None else parallel
    fewest, what = max((measure.fewest, name) for name, measure in measures.items())
    if interval == "jackknife":
        fewest, what = max(FEWEST_LEFT_OUT, fewest + 1), "an interval"
    if len(parallel) < fewest:
        raise RequestError(f"{what} needs at least {fewest} items, but {parallel.name} has {len(parallel)}")
    return parallel


def _compared(
    encoder: Encoder,
    against: Encoder | None,
    parallel: Parallel,
    pairs: Sequence[tuple[str, str]],
    paired_layers: Sequence[tuple[int, int]],
    measures: Mapping[str, Measure],
    pooling: Pooling,
    last_layer: LastLayer,
    interval: Literal["none", "jackknife"],
    after_reading: Callable[[int, Representations], None],
) -> Iterator[tuple[tuple[str, str], list[Record]]]:
    """Compare the pairs and yield each with its records."""
    sources = list(dict.fromkeys(source for source, _ in pairs))
    encoders = [encoder] if against is None else [encoder, against]
    needed = Counter((0, source) for source in sources)
    needed += Counter((len(encoders) - 1, target) for _, target in pairs)
    by_source = sorted(pairs, key=lambda pair: sources.index(pair[0]))
    poolings: list[Pooling] = list(dict.fromkeys(measure.pooling or pooling for measure in measures.values()))
    read = {} if last_layer == "raw" else {"last_layer": last_layer}
    if against is not None:
        read |= second_encoder(against.columns)
    settings = {
        name: settings_text(({} if pooling == "mean" or measure.pooling else {"pooling": pooling}) | read)
        for name, measure in measures.items()
    }
    seed = encoder.seed if against is None or encoder.seed is not None else against.seed
    columns = {**encoder.columns, "seed": seed}

    @cache  # a source is part of many pairs
    def unknown(reader: Encoder, language: str) -> dict[str, int]:
        return count_unknown(reader, parallel[language])

    with TemporaryDirectory(prefix="crosslens-") as folder:
        sides = _Sides(parallel, needed, encoders, poolings, last_layer, Path(folder), after_reading)
        for source, target in by_source:
            ready = sides.pair(source, target)
            words, source_words = (count_words(parallel[language]) for language in (target, source))
            shared_columns = {
                **columns,
                "source": source,
                "target": target,
                "metric": "similarity",
                "n": len(parallel),
                "corpus": parallel.name,
                "corpus_digest": digest([parallel[source].digest, parallel[target].digest]),
                "length_ratio": words / source_words if words and source_words else None,
                "fertility": fertility(against or encoder, parallel[target]),
                "tags": {
                    **tags_of_pair(source=unknown(encoder, source), target=unknown(encoders[-1], target)),
                    "crosslens": __version__,
                },
            }
            compared: list[tuple[tuple[int, int], dict[Pooling, tuple[Centred, Centred]]]] = [
                (layers, {pooling: (x[layers[0]], y[layers[1]]) for pooling, (x, y) in ready.items()})
                for layers in paired_layers
            ]
            yield (
                (source, target),
                [
                    Record(
                        **shared_columns,
                        measure=name,
                        settings=settings[name],
                        **name_layer(layers, encoder, against or encoder),
                        **values[name],
                    )
                    for layers, by_pooling in compared
                    for values in [_values(measures, by_pooling, pooling, interval)]
                    for name, measure in measures.items()
                ],
            )


def _values(
    measures: Mapping[str, Measure],
    sides: Mapping[Pooling, tuple[Centred, Centred]],
    default_pooling: Pooling,
    interval: Literal["none", "jackknife"],
) -> dict[str, dict[str, Any]]:
    """Measure name -> ``value``, and with intervals ``low`` and ``high``; None in place of NaN."""
    by_measure: dict[str, dict[str, Any]] = {}
    for pooling, (x, y) in sides.items():
        names = [name for name, measure in measures.items() if (measure.pooling or default_pooling) == pooling]
        computes = [measures[name].compute for name in names]
        widths = jackknife(computes, x, y).tolist() if interval == "jackknife" else [None] * len(names)
        for name, compute, width in zip(names, computes, widths, strict=True):
            value = compute(x, y)
            values = {"value": value}
            if width is not None:  # what no value can reach needs no covering
                lowest, highest = (measures[name].low, measures[name].high) if measures[name].bounded else (-inf, inf)
                values |= {"low": max(value - width, lowest), "high": min(value + width, highest)}
            by_measure[name] = {column: None if np.isnan(number) else number for column, number in values.items()}
    return by_measure


def _refuse_different_widths(encoder: Encoder, against: Encoder, measures: Mapping[str, Measure]) -> None:
    for name, measure in measures.items():
        if measure.same_width and encoder.width != against.width:
            raise RequestError(
                f"{name} needs encoders of the same width, but {encoder.name}"
                f" has {encoder.width}, {against.name} {against.width}",
                hint="use cka, procrustes, svcca or rsa",
            )


@dataclass(slots=True)
class _Sides:
    """Representations of the languages in all pairs, each read once per encoder and at most two in memory.

    Attributes:
        needed: encoder's index and language -> number of pairs that need it, those of a source as one.
        encoders: encoder of the first language and, if different, of the second.
        folder: folder for vectors that are needed again.
        after_reading: function called with the encoder's index and the representations of each language read.
    """

    parallel: Parallel
    needed: Counter[tuple[int, str]]
    encoders: Sequence[Encoder]
    poolings: Collection[Pooling]
    last_layer: LastLayer
    folder: Path
    after_reading: Callable[[int, Representations], None]
    ready: dict[tuple[int, str], dict[Pooling, list[Centred]]] = field(default_factory=dict)

    def pair(self, source: str, target: str) -> dict[Pooling, tuple[list[Centred], list[Centred]]]:
        """The layers of both languages, in every pooling."""
        wanted = (0, source), (len(self.encoders) - 1, target)
        self.ready = {key: side for key, side in self.ready.items() if key in wanted}
        for key in wanted:
            if key not in self.ready:
                self.ready[key] = {pooling: self._side(key, pooling) for pooling in self.poolings}
        first, second = (self.ready[key] for key in wanted)
        return {pooling: (first[pooling], second[pooling]) for pooling in self.poolings}

    def _side(self, key: tuple[int, str], pooling: Pooling) -> list[Centred]:
        encoder, language = key
        corpus = self.parallel[language]
        cached = self.folder / f"{encoder} {language} {pooling}.npy"
        if cached.exists():
            vectors = np.load(cached)
        else:
            representations = represent(self.encoders[encoder], corpus, pooling=pooling, last_layer=self.last_layer)
            vectors = representations.vectors
            if self.needed[key] > 1:
                np.save(cached, vectors)
            self.after_reading(encoder, representations)
            release_heap()
        return [centre(layer, lengths=corpus.lengths) for layer in vectors]
