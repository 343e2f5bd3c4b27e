"""Similarity of translations, layer by layer: the structural half of Muller et al. (2021, section 4.2)."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np

from crosslens import __version__
from crosslens.corpora.parallel import list_languages, load_parallel
from crosslens.data.language_pairs import expand_pairs, split_pair
from crosslens.data.parallel import Parallel
from crosslens.digests import digest
from crosslens.encoders.encoder import Encoder
from crosslens.encoders.options import Pooling
from crosslens.encoders.reinit import untrained_pair
from crosslens.encoders.represent import Representations, represent
from crosslens.errors import RequestError
from crosslens.files import new_folder
from crosslens.progress import Listener, listening
from crosslens.results.record import Record, Results
from crosslens.similarity.cka import Centred, centre
from crosslens.similarity.measures import Measure, Null, choose_measures
from crosslens.similarity.sampling import jackknife

State = Literal["pretrained", "fine-tuned", "untrained"]

FEWEST = 3
"""Items that can be compared at all: two are alike up to rotation, whatever they are."""


def compare(
    encoder: Encoder,
    corpus: Parallel | str,
    *,
    pairs: Sequence[str],
    measures: Sequence[str] | None = None,
    nulls: Sequence[Null] = (),
    against: Encoder | None = None,
    pooling: Pooling = "mean",
    interval: Literal["none", "jackknife"] = "none",
    original: str | None = None,
    sentences: int | None = None,
    seed: int = 1,
    data: str | Path | None = None,
    export: str | Path | None = None,
    state: State | None = None,
    progress: Listener = None,
    represented: Callable[[Representations], None] | None = None,
) -> Results:
    """How alike an encoder represents sentences and their translations, for every layer.

    Each language is read once by each encoder, whatever the number of pairs and measures. What later pairs need again
    waits on disk, so that no more than two languages are in memory.

    Args:
        encoder: pretrained, ablated or fine-tuned.
        corpus: parallel sentences, or their name such as ``ud/pud``.
        pairs: languages as ``en-fr``; ``en-*`` is English with all others; ``en-en`` with another encoder against it.
        measures: names from `MEASURES`, or one with ``_shuffled`` or ``_length_matched`` behind it for its null; None:
            CKA and debiased CKA, with the nulls of CKA unless ``nulls`` names others.
        nulls: baselines of each measure: its value for ``shuffled`` pairs, for ``length-matched`` pairs, and for the
            ``untrained`` encoder, whose parameters are all re-initialised.
        against: the encoder of a pair's second language, layer against layer; None: the same.
        pooling: what of an item's states is compared.
        interval: ``jackknife``: a 95 % interval over sentences, for twenty times the computing. It is that of the
            measure's mean over samples of as many sentences: see `crosslens.similarity.sampling.jackknife`.
        original: only sentences of PUD that were written in this language.
        sentences: only the first so many.
        seed: random seed of the untrained encoder; that of ``against`` is re-initialised independently.
        data: a folder that is looked through first for a named corpus.
        export: a folder to make, with the vectors of every language as ``LANGUAGE.npy``; those of ``against`` are
            ``against-LANGUAGE.npy``.
        state: what records say that the encoder is; None: ``untrained`` where everything of it was re-initialised, and
            else ``pretrained``.
        progress: hears of every language that is read and every pair that is compared.
        represented: called after each language is read, with its representations.

    Returns:
        A record for each pair, layer (0 is the embeddings) and measure. Its value is None where the measure is not
        defined, as for vectors that are all one.

    Raises:
        RequestError: for an unknown measure or null; a pair that is none; fewer than 3 items; encoders of different
            depths, or of different widths where a measure compares neuron with neuron; an ``export`` that exists.
        DataError: for a language that the corpus does not have.
        EncoderError: for a representation that is not a number.

    Example:
        >>> results = xl.compare(encoder, "ud/pud", pairs=["en-fr"], measures=["cka"], data=sample)
        >>> results.to_pandas()[["layer", "measure", "n"]].values.tolist()[:2]
        [[0, 'cka', 100], [1, 'cka', 100]]
    """
    chosen = choose_measures(measures, nulls)
    parallel = select_sentences(corpus, pairs, original=original, sentences=sentences, data=data)
    wanted = [split_pair(pair, parallel.languages) for pair in expand_pairs(pairs, parallel.languages)]
    if against is not None:
        _refuse_different(encoder, against, chosen)
    states = [(encoder, against)]
    if "untrained" in nulls:
        untrained = untrained_pair(encoder, against or encoder, seed=seed)
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
                first, second, parallel, wanted, chosen, pooling, interval, state if trained else None, after_reading
            )
            for pair, similarities in compared:
                records[pair] = similarities
                finished.append(pair)
                listener.report("comparing", len(finished), total, "pairs", "-".join(pair))
            results += Results.of(record for pair in wanted for record in records[pair])
    return results


def select_sentences(
    corpus: Parallel | str,
    pairs: Sequence[str],
    *,
    original: str | None = None,
    sentences: int | None = None,
    data: str | Path | None = None,
) -> Parallel:
    """The parallel sentences that `compare` reads.

    Args:
        corpus: parallel sentences, or their name; of a named corpus only the languages of the pairs are read.
        pairs: of languages.
        original: only sentences of PUD that were written in this language.
        sentences: only the first so many.
        data: a folder that is looked through first for a named corpus.

    Raises:
        RequestError: for a pair that is none; fewer than 3 items.
        DataError: for a language that the corpus does not have.
    """
    there = list_languages(corpus, data=data) if isinstance(corpus, str) else corpus.languages
    wanted = [split_pair(pair, there) for pair in expand_pairs(pairs, there)]
    languages = sorted({language for pair in wanted for language in pair})
    parallel = load_parallel(corpus, languages=languages, data=data) if isinstance(corpus, str) else corpus
    for language in languages:
        parallel[language]  # refused before anything is read
    parallel = parallel.originally(original) if original else parallel
    parallel = parallel.head(sentences) if sentences else parallel
    if len(parallel) < FEWEST:
        raise RequestError(f"similarity needs at least {FEWEST} items, but {parallel.name} has {len(parallel)}")
    return parallel


def _compared(
    encoder: Encoder,
    against: Encoder | None,
    parallel: Parallel,
    pairs: Sequence[tuple[str, str]],
    measures: Mapping[str, Measure],
    pooling: Pooling,
    interval: Literal["none", "jackknife"],
    state: State | None,
    after_reading: Callable[[int, Representations], None],
) -> Iterator[tuple[tuple[str, str], list[Record]]]:
    """Pairs with their records, as they are compared."""
    sources = list(dict.fromkeys(source for source, _ in pairs))
    by_source = sorted(pairs, key=lambda pair: sources.index(pair[0]))
    poolings: list[Pooling] = list(dict.fromkeys(measure.pooling or pooling for measure in measures.values()))
    settings = {} if pooling == "mean" else {"pooling": pooling}
    if against is not None:
        settings |= {"against": against.name}
        settings |= {} if against.condition.is_reference else {"against_condition": against.condition.text}
    columns = {**encoder.columns, "settings": " ".join(f"{name}={value}" for name, value in settings.items()) or None}
    columns |= {"state": state} if state else {}
    with TemporaryDirectory(prefix="crosslens-") as folder:
        sides = _Sides(
            parallel, by_source, [encoder] if against is None else [encoder, against], poolings, folder, after_reading
        )
        for source, target in by_source:
            ready = sides.pair(source, target)
            length, source_length = (max(1, sum(parallel[language].lengths)) for language in (target, source))
            described = {
                **columns,
                "source": source,
                "target": target,
                "metric": "similarity",
                "n": len(parallel),
                "corpus": parallel.name,
                "corpus_digest": digest([parallel[source].digest, parallel[target].digest]),
                "length_ratio": length / source_length,
                "tags": {"crosslens": __version__},
            }
            fertility = {pooled: both.subwords / length for pooled, both in ready.items()}
            layers: list[dict[Pooling, tuple[Centred, Centred]]] = [
                {pooled: both.at(layer) for pooled, both in ready.items()} for layer in range(encoder.depth + 1)
            ]
            yield (
                (source, target),
                [
                    Record(
                        **described,
                        measure=name,
                        layer=layer,
                        fertility=fertility[measure.pooling or pooling],
                        **values[name],
                    )
                    for layer, sides_of in enumerate(layers)
                    for values in [_values(measures, sides_of, pooling, interval)]
                    for name, measure in measures.items()
                ],
            )


def _values(
    measures: Mapping[str, Measure],
    sides: Mapping[Pooling, tuple[Centred, Centred]],
    usual: Pooling,
    interval: Literal["none", "jackknife"],
) -> dict[str, dict[str, Any]]:
    """By the measures' names their values, and with intervals how low and how high they may be."""
    by_measure: dict[str, dict[str, Any]] = {}
    for pooling, (x, y) in sides.items():
        names = [name for name, measure in measures.items() if (measure.pooling or usual) == pooling]
        computes = [measures[name].compute for name in names]
        reach = jackknife(computes, x, y).tolist() if interval == "jackknife" else [None] * len(names)
        for name, compute, far in zip(names, computes, reach, strict=True):
            value = compute(x, y)
            values = {"value": value} if far is None else {"value": value, "low": value - far, "high": value + far}
            by_measure[name] = {
                which: number if number == number else None for which, number in values.items()
            }  # NaN: no value
    return by_measure


def _refuse_different(encoder: Encoder, against: Encoder, measures: Mapping[str, Measure]) -> None:
    if encoder.depth != against.depth:
        raise RequestError(
            f"encoders must have the same number of layers, but {encoder.name}"
            f" has {encoder.depth}, {against.name} {against.depth}"
        )
    for name, measure in measures.items():
        if measure.same_width and encoder.width != against.width:
            raise RequestError(
                f"{name} needs encoders of the same width, but {encoder.name}"
                f" has {encoder.width}, {against.name} {against.width}",
                hint="use cka, procrustes, svcca or rsa",
            )


@dataclass(frozen=True, slots=True)
class _Side:
    """A language as an encoder has it: layers prepared for comparison, and the subwords that were read."""

    layers: list[Centred]
    subwords: int


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two languages, ready to be compared."""

    source: _Side
    target: _Side

    def at(self, layer: int) -> tuple[Centred, Centred]:
        return self.source.layers[layer], self.target.layers[layer]

    @property
    def subwords(self) -> int:
        return self.target.subwords


class _Sides:
    """The languages of pairs, each read once by each encoder, and no more than two of them in memory.

    Args:
        parallel: the sentences.
        pairs: those that will be asked for, sorted by source.
        encoders: of the first and, where it is another, of the second language of a pair.
        poolings: of every language.
        folder: for what is needed again later.
        after_reading: called after each language is read, with the number of its encoder and the representations.
    """

    def __init__(
        self,
        parallel: Parallel,
        pairs: Sequence[tuple[str, str]],
        encoders: Sequence[Encoder],
        poolings: Collection[Pooling],
        folder: str,
        after_reading: Callable[[int, Representations], None],
    ) -> None:
        self._parallel, self._encoders, self._poolings, self._after_reading = (
            parallel,
            encoders,
            poolings,
            after_reading,
        )
        self._folder = Path(folder)
        self._needed = Counter((0, source) for source in dict.fromkeys(source for source, _ in pairs))
        self._needed += Counter((len(encoders) - 1, target) for _, target in pairs)
        self._ready: dict[tuple[int, str], dict[Pooling, _Side]] = {}

    def pair(self, source: str, target: str) -> dict[Pooling, _Pair]:
        """Both languages, in every pooling."""
        wanted = (0, source), (len(self._encoders) - 1, target)
        self._ready = {at: side for at, side in self._ready.items() if at in wanted}
        for at in wanted:
            if at not in self._ready:
                self._ready[at] = {pooling: self._side(at, pooling) for pooling in self._poolings}
        first, second = (self._ready[at] for at in wanted)
        return {pooling: _Pair(first[pooling], second[pooling]) for pooling in self._poolings}

    def _side(self, at: tuple[int, str], pooling: Pooling) -> _Side:
        number, language = at
        corpus = self._parallel[language]
        waiting = self._folder / f"{number} {language} {pooling}.npz"
        if waiting.exists():
            with np.load(waiting) as file:
                vectors, subwords = file["vectors"], int(file["subwords"])
        else:
            representations = represent(self._encoders[number], corpus, pooling=pooling)
            vectors, subwords = representations.vectors, int(representations.subwords.sum())
            if self._needed[at] > 1:
                np.savez(waiting, vectors=vectors, subwords=subwords)
            self._after_reading(number, representations)
        return _Side([centre(layer, lengths=corpus.lengths) for layer in vectors], subwords)
