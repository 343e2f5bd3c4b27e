"""Word translation and sentence retrieval between aligned spaces, layer by layer."""

from collections.abc import Iterable, Sequence, Sized
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, Literal, NoReturn, get_args

import numpy as np

from crosslens import __version__
from crosslens.alignment.baselines import BASELINES, Baseline, Mapping, choose_baselines, fit_rotations
from crosslens.alignment.neighbours import Method, ranked
from crosslens.alignment.rotation import refuse_different_widths
from crosslens.alignment.vectors import WordVectors
from crosslens.corpora.dictionaries import require_languages
from crosslens.corpora.parallel import load_parallel
from crosslens.data.dictionary import Dictionary
from crosslens.data.parallel import Parallel
from crosslens.digests import digest, require_seeds
from crosslens.encoders.coverage import count_unknown
from crosslens.encoders.encoder import Encoder, require_encoder
from crosslens.encoders.layers import name_layer, pair_layers
from crosslens.encoders.reinit import untrained_pair
from crosslens.encoders.represent import represent
from crosslens.errors import RequestError, require_known
from crosslens.progress import Listener, Progress, listening
from crosslens.results.cautions import tags_of_pair
from crosslens.results.record import Record, Results
from crosslens.results.record_settings import second_encoder, settings_text
from crosslens.scores import Score

AT = (1, 5, 10)
"""Ranks at which precision is reported."""


def word_translation(
    source: WordVectors,
    target: WordVectors,
    *,
    train: Dictionary,
    test: Dictionary,
    mapping: Mapping = "procrustes",
    method: Method = "csls",
    baselines: Baseline | Sequence[Baseline] = BASELINES,
    baseline_seeds: Sequence[int] = (1,),
    untrained: Iterable[tuple[int, WordVectors, WordVectors]] = (),
    progress: Listener = None,
) -> Results:
    """Bilingual dictionary induction (Conneau, Wu et al. 2020, section 5.1.1; the protocol of MUSE).

    For every source word in the test dictionary, all target words are ranked; any listed translation is correct, and
    wrong words that are equally similar come first. Words without a vector are skipped, and the tag ``coverage`` is the
    percentage of source words tested. Pairs of ``train`` whose source word is tested are left out, and the tag
    ``shared_pairs`` counts them.

    Args:
        source: source vectors, from `load_vectors`; CSLS uses all of them.
        target: target vectors at as many layers; all of them are candidates.
        train: word pairs that the rotation is fitted to; without a mapping, only the normalisation.
        test: word pairs for evaluation.
        mapping: ``procrustes``, or ``identity`` to only normalise the spaces, for an encoder that reads both languages.
        method: retrieval method.
        baselines: ``shuffled``: the mapping is fitted to a shuffled dictionary; ``identity``: no mapping;
            ``untrained``: the vectors in ``untrained``.
        baseline_seeds: random seeds, each of which shuffles the dictionary once.
        untrained: random seeds with source and target vectors of re-initialised encoders, from `untrained_vectors`.
        progress: listener for layers.

    Returns:
        ``precision@1``, ``@5`` and ``@10`` of each layer in points, over unique source words. Baselines have the
        measure ``words procrustes_shuffled`` or ``words identity``, or the state ``untrained``.
        ``seed`` is that of the baseline, else of the last random change of the source encoder, else of the target's.

    Raises:
        RequestError: if a dictionary has other languages or no pair with vectors, every pair of ``train`` is tested,
            layers or widths differ, or a baseline, mapping or method is unknown.

    Examples:
        >>> vectors = [xl.load_vectors(encoder, language=language, text=xl.load_corpus(f"sample/{language}"))
        ...            for language in ("en", "fr")]
        >>> train = xl.Dictionary((("the", "le", 1.0), ("in", "dans", 1.0)), "train")
        >>> test = xl.Dictionary((("of", "de", 1.0), ("of", "du", 1.0)), "test")
        >>> results = xl.word_translation(*vectors, train=train, test=test)
        >>> sorted(set(results.to_pandas()["measure"]))
        ['words identity', 'words procrustes', 'words procrustes_shuffled']
    """
    for dictionary in (train, test):
        require_languages(dictionary, source.language, target.language)
    chosen = choose_baselines(baselines, mapping=mapping)
    require_known(method, get_args(Method), "unknown method")
    baseline_seeds = require_seeds(baseline_seeds, "baseline_seeds")
    listener = listening(progress)
    described = _described(train, test, [digest([list(pair) for pair in each.pairs]) for each in (train, test)])
    records: list[Record] = []
    for untrained_seed, first, second in chain([(None, source, target)], untrained if "untrained" in chosen else ()):
        refuse_different_shapes(
            *((space.name, (space.vectors.shape[0], space.vectors.shape[2])) for space in (first, second))
        )
        rows, columns = first.places(), second.places()
        learnt = train if mapping == "identity" else _untested_words(train, test)
        pairs = _pairs(learnt, rows, columns, first, second)
        answers: dict[int, set[int]] = {}
        for i, j in _pairs(test, rows, columns, first, second):
            answers.setdefault(i, set()).add(j)
        queries, right = list(answers), list(answers.values())
        coverage = round(100 * len(queries) / len(test.translations), 1)
        tags = {"pairs": len(pairs), "coverage": coverage, "candidates": len(columns), **count_shared(train, learnt)}
        left, into = (list(side) for side in zip(*pairs, strict=True))
        stage, wanted = _stage("translating words", untrained_seed), chosen if untrained_seed is None else ()
        for place, layer in enumerate(first.layers):
            listener.report(stage, place, len(first.layers), "layers")
            x, y = first.vectors[place], second.vectors[place]
            for named in fit_rotations(x[left], y[into], mapping=mapping, baselines=wanted, seeds=baseline_seeds):
                moved = named.rotation(x)
                ranking = ranked(
                    moved[queries],
                    named.rotation.target(y),
                    among=moved,
                    method=method,
                    best=max(AT) + max(map(len, right)),  # as ties need
                    progress=partial(_report_words, listener, stage, (place, len(first.layers)), named.name),
                )
                records += _records(
                    {f"precision@{at}": ranking.hits(right, at=at) for at in AT},
                    described,
                    tags,
                    sides=(first, second),
                    languages=(first.language, second.language),
                    layers={"layer": layer},
                    level="words",
                    mapping=named.name,
                    method=method,
                    seed=named.seed if untrained_seed is None else untrained_seed,
                )
        listener.report(stage, len(first.layers), len(first.layers), "layers")
    return Results.of(records)


def refuse_different_shapes(source: tuple[str, tuple[int, int]], target: tuple[str, tuple[int, int]]) -> None:
    """Check the number of layers and the width of two spaces, each given by name and ``(layers, width)``.

    Raises:
        RequestError: if they differ.
    """
    if source[1] != target[1]:
        named = ", ".join(f"{name} has {layers} × {width}" for name, (layers, width) in (source, target))
        raise RequestError(
            "an orthogonal mapping needs word vectors of equally many layers and of the same width, but"
            f" {named} (layers × width)",
            hint="encoders of the same width have one layer each without a text: that of their embedding tables"
            if source[1][1] == target[1][1]
            else None,
        )


def require_pair(pair: object) -> None:
    """Refuse a text in place of two languages.

    Raises:
        RequestError: for a text.
    """
    if isinstance(pair, str):
        raise RequestError(f"a pair is two languages, not the text {pair!r}", hint='pair=("en", "fr")')


def sentence_retrieval(
    source: Encoder,
    target: Encoder,
    *,
    train: Parallel | str,
    test: Parallel | str,
    pair: tuple[str, str],
    layers: Literal["same", "relative"] = "same",
    mapping: Mapping = "procrustes",
    method: Method = "cosine",
    baselines: Baseline | Sequence[Baseline] = BASELINES,
    baseline_seeds: Sequence[int] = (1,),
    progress: Listener = None,
) -> Results:
    """Retrieve parallel sentences by mean-pooled vectors, in both directions (Conneau, Wu et al. 2020, section 5.1.3).

    A tie with another sentence counts as a miss. Pairs of ``train`` that are also in ``test`` are left out, and the tag
    ``shared_pairs`` counts them.

    Args:
        source: encoder of the first language.
        target: encoder of the second language; may be the same.
        train: parallel sentences that the rotation of each layer is fitted to, or their name; without a mapping, only
            the normalisation.
        test: parallel sentences for evaluation, or their name; all sentences of the other language are candidates.
        pair: source and target language.
        layers: aligned layers, see `crosslens.encoders.layers.pair_layers`; encoders of different depth need
            ``relative``.
        mapping: see `word_translation`.
        method: retrieval method; the paper uses cosine.
        baselines: ``untrained``: both encoders are re-initialised; ``shuffled``: the mapping is fitted to shuffled
            pairs; ``identity``: no mapping.
        baseline_seeds: random seeds, each of which re-initialises the encoders and shuffles the pairs once.
        progress: listener for corpora and layers.

    Returns:
        ``precision@1`` of each layer and direction in points. Baselines have the measure
        ``sentences procrustes_shuffled`` or ``sentences identity``, or the state ``untrained``.
        ``seed`` is that of the baseline, else of the last random change of the encoder that read the queries, else of
        the other.

    Raises:
        RequestError: if the encoders differ in width, or in depth with ``layers="same"``; every pair of ``train`` is
            tested; or a baseline, mapping, method or pairing of layers is unknown.
        DataError: if a corpus lacks a language.

    Examples:
        >>> halves = {"train": "sample/test[:60]", "test": "sample/test[60:]"}
        >>> results = xl.sentence_retrieval(encoder, encoder, **halves, pair=("en", "fr"), baselines=())
        >>> sorted(set(results.to_pandas()["measure"]))
        ['sentences procrustes']
    """
    for encoder in (source, target):
        require_encoder(encoder)
    require_pair(pair)
    train, test = (load_parallel(parallel, languages=pair) for parallel in (train, test))
    refuse_different_widths(source, target)
    paired = pair_layers(source, target, layers=layers)
    chosen = choose_baselines(baselines, mapping=mapping)
    require_known(method, get_args(Method), "unknown method")
    baseline_seeds = require_seeds(baseline_seeds, "baseline_seeds")
    listener = listening(progress)
    described = _described(
        train, test, [digest([each[language].digest for language in pair]) for each in (train, test)]
    )
    learnt = train if mapping == "identity" else _untested_sentences(train, test, pair)
    right = [{number} for number in range(len(test))]
    unknown = [count_unknown(encoder, test[language]) for encoder, language in zip((source, target), pair, strict=True)]
    seeds = baseline_seeds if "untrained" in chosen else ()
    untrained = ((seed, *untrained_pair(source, target, seed=seed)) for seed in seeds)
    records: list[Record] = []
    for untrained_seed, first, second in chain([(None, source, target)], untrained):
        stage = _stage("reading sentences", untrained_seed)
        sides = []
        for parallel in (learnt, test):
            for encoder, language in zip((first, second), pair, strict=True):
                listener.report(stage, len(sides), 4, "corpora", parallel[language].name)
                sides.append(represent(encoder, parallel[language]).vectors)
        listener.report(stage, len(sides), 4, "corpora")
        tags = {"pairs": len(learnt), "candidates": len(test), **count_shared(train, learnt)}
        stage, wanted = _stage("retrieving translations", untrained_seed), chosen if untrained_seed is None else ()
        for place, read in enumerate(paired):
            listener.report(stage, place, len(paired), "layers")
            train_x, train_y, test_x, test_y = (side[layer] for side, layer in zip(sides, read * 2, strict=True))
            for named in fit_rotations(train_x, train_y, mapping=mapping, baselines=wanted, seeds=baseline_seeds):
                x, y = named.rotation(test_x), named.rotation.target(test_y)
                for queries, candidates, encoders, languages, layers_read, (source_counts, target_counts) in (
                    (x, y, (first, second), pair, read, unknown),
                    (y, x, (second, first), pair[::-1], (read[1], read[0]), unknown[::-1]),
                ):
                    ranking = ranked(queries, candidates, method=method, best=2)  # as ties need
                    records += _records(
                        {"precision@1": ranking.hits(right, at=1)},
                        described,
                        tags | tags_of_pair(source=source_counts, target=target_counts),
                        sides=encoders,
                        languages=languages,
                        layers=name_layer(layers_read, *encoders),
                        level="sentences",
                        mapping=named.name,
                        method=method,
                        seed=named.seed if untrained_seed is None else untrained_seed,
                    )
        listener.report(stage, len(paired), len(paired), "layers")
    return Results.of(records)


def _report_words(listener: Progress, stage: str, layers: tuple[int, int], mapping: str, done: int, total: int) -> None:
    """Report the progress within a layer, which takes minutes for a large vocabulary."""
    listener.report(stage, *layers, "layers", f"{done:,} of {total:,} words, {mapping.replace('_', ' ')}")


def _stage(name: str, untrained_seed: int | None) -> str:
    return name if untrained_seed is None else f"{name}, untrained"


def _described(train: Dictionary | Parallel, test: Dictionary | Parallel, digests: Sequence[str]) -> dict[str, Any]:
    return {"corpus": test.name, "corpus_digest": digests[1], "train": train.name, "train_digest": digests[0]}


def _untested_words(train: Dictionary, test: Dictionary) -> Dictionary:
    """Leave out training pairs whose source word is tested."""
    kept = tuple(pair for pair in train.pairs if pair[0] not in test.translations)
    if not kept:
        _refuse_tested(train, test)
    return replace(train, pairs=kept)


def _untested_sentences(train: Parallel, test: Parallel, pair: tuple[str, str]) -> Parallel:
    """Leave out training pairs that are tested."""

    def texts(parallel: Parallel) -> list[tuple[str, str]]:
        return [(x.text, y.text) for x, y in zip(parallel[pair[0]], parallel[pair[1]], strict=True)]

    tested = set(texts(test))
    kept = [number for number, both in enumerate(texts(train)) if both not in tested]
    if not kept:
        _refuse_tested(train, test)
    return train.select(kept)


def _refuse_tested(train: Dictionary | Parallel, test: Dictionary | Parallel) -> NoReturn:
    raise RequestError(
        f"all {len(train)} pairs of {train.name} are also in {test.name}", hint="learn the mapping from other pairs"
    )


def count_shared(train: Sized, learnt: Sized) -> dict[str, int]:
    """The tag ``shared_pairs``, which counts the pairs left out of the training data; empty if there are none."""
    return {"shared_pairs": len(train) - len(learnt)} if len(learnt) < len(train) else {}


def _pairs(
    dictionary: Dictionary, rows: dict[str, int], columns: dict[str, int], source: WordVectors, target: WordVectors
) -> list[tuple[int, int]]:
    indices = [(rows[a], columns[b]) for a, b, _ in dictionary.pairs if a in rows and b in columns]
    if not indices:
        raise RequestError(
            f"none of the {len(dictionary)} word pairs of {dictionary.name} has vectors on both sides"
            f" ({len(rows)} words of {source.language}, {len(columns)} of {target.language})",
            hint="check the direction, languages and letter case of the dictionary",
        )
    return list(dict.fromkeys(indices))


def _records(
    scores: dict[str, np.ndarray],
    described: dict[str, Any],
    tags: dict[str, Any],
    *,
    sides: tuple[Encoder | WordVectors, Encoder | WordVectors],
    languages: Sequence[str | None],
    layers: dict[str, Any],
    level: str,
    mapping: str,
    method: str,
    seed: int | None,
) -> list[Record]:
    queries, candidates = sides
    changed = queries.seed if queries.seed is not None else candidates.seed
    settings = second_encoder({"encoder": candidates.name, **candidates.columns}) | {"method": method}
    texts = [side.text for side in sides if isinstance(side, WordVectors) and side.text is not None]
    settings |= {"text": ",".join(texts)} if texts else {}
    records = []
    for metric, right in scores.items():
        score = Score(metric, right, np.ones(len(right), np.int64), f"{level}:{method}", described["corpus_digest"])
        records.append(
            Record(
                **described,
                **{"encoder": queries.name, **queries.columns},
                **score.columns,
                source=languages[0],
                target=languages[1],
                measure=f"{level} {mapping}",
                **layers,
                seed=changed if seed is None else seed,
                settings=settings_text(settings),
                tags={**tags, "crosslens": __version__},
            )
        )
    return records
