"""How well spaces align: translations of words and of sentences retrieved after a rotation, layer by layer."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from crosslens import __version__
from crosslens.alignment.retrieval import Method, hits, ranked
from crosslens.alignment.rotation import Rotation, fit_rotation, refuse_different
from crosslens.alignment.vectors import WordVectors
from crosslens.data.dictionary import Dictionary
from crosslens.data.parallel import Parallel
from crosslens.encoders.encoder import Encoder
from crosslens.encoders.represent import represent
from crosslens.errors import RequestError
from crosslens.identity import digest
from crosslens.progress import Listener, listening
from crosslens.results.record import Record, Results
from crosslens.scores import Score

AT = (1, 5, 10)
"""The ranks at which precision is told."""

Mapping = Literal["procrustes", "none"]


def word_translation(
    source: WordVectors,
    target: WordVectors,
    *,
    train: Dictionary,
    test: Dictionary,
    mapping: Mapping = "procrustes",
    method: Method = "csls",
    progress: Listener = None,
) -> Results:
    """Bilingual dictionary induction (Conneau, Wu et al. 2020, section 5.1.1; the protocol of MUSE).

    For every source word of the test dictionary that has a vector, all words of the target are ranked; any listed
    translation counts. Words without a vector are left out, and the share of those that are left is told.

    Args:
        source: vectors of the source's words; CSLS is over all of them, tested or not.
        target: vectors of the target's words, at as many layers; all of them are candidates.
        train: word pairs that the rotation is learnt from.
        test: word pairs that it is tested on.
        mapping: ``none``: the spaces as they are, normalised; for one encoder that reads both languages.
        method: of retrieval.
        progress: hears of every layer.

    Returns:
        For each layer ``precision@1``, ``@5`` and ``@10`` in points, over unique source words.

    Raises:
        RequestError: when a dictionary shares no pair with the vocabularies, or layers or widths differ.
    """
    if source.vectors.shape[0] != target.vectors.shape[0] or source.vectors.shape[2] != target.vectors.shape[2]:
        raise RequestError(
            f"layer is aligned with layer of one width: {source.name} has {source.vectors.shape[::2]} layers and width,"
            f" {target.name} {target.vectors.shape[::2]}"
        )
    rows, columns = source.places(), target.places()
    pairs = _pairs(train, rows, columns, source, target)
    answers: dict[int, set[int]] = {}
    for i, j in _pairs(test, rows, columns, source, target):
        answers.setdefault(i, set()).add(j)
    queries = list(answers)
    right = [answers[i] for i in queries]
    asked = len(test.translations)
    described = {"corpus": test.name, "corpus_digest": digest([list(pair) for pair in test.pairs]), "train": train.name}
    tags = {"pairs": len(pairs), "coverage": round(100 * len(queries) / asked, 1), "candidates": len(columns)}
    left, into = (list(side) for side in zip(*pairs, strict=True))
    records = []
    listener = listening(progress)
    for place, layer in enumerate(source.layers):
        listener.report("translating words", place, len(source.layers), "layers")
        x, y = source.vectors[place], target.vectors[place]
        rotation = fit_rotation(x[left], y[into])
        moved, kept = _moved(rotation, x, y, mapping)
        found = ranked(moved[queries], kept, among=moved, method=method, best=max(AT))
        records += _records(
            {f"precision@{at}": hits(found, right, at=at) for at in AT}, described, tags,
            level="words", layer=layer, names=(source.name, target.name),
            languages=(source.language, target.language), mapping=mapping, method=method,
        )  # fmt: skip
    listener.report("translating words", len(source.layers), len(source.layers), "layers")
    return Results.of(records)


def sentence_retrieval(
    source: Encoder,
    target: Encoder,
    *,
    train: Parallel,
    test: Parallel,
    pair: tuple[str, str],
    mapping: Mapping = "procrustes",
    method: Method = "cosine",
    progress: Listener = None,
) -> Results:
    """Retrieval of parallel sentences (section 5.1.3): mean-pooled vectors, a rotation a layer, both directions.

    Args:
        source: reads the first language.
        target: reads the second; the same encoder where it reads both.
        train: sentences that the rotation is learnt from.
        test: sentences that are looked for among all of their language.
        pair: the languages.
        mapping: see `word_translation`.
        method: of retrieval; the paper's is by cosine.
        progress: hears of every corpus that is read, and of every layer.

    Returns:
        For each layer and direction ``precision@1`` in points.

    Raises:
        RequestError: when the encoders differ in layers or width.
        DataError: for a language that a corpus does not have.
    """
    refuse_different(source, target)
    listener = listening(progress)
    sides = []
    for parallel in (train, test):
        for encoder, language in zip((source, target), pair, strict=True):
            listener.report("reading sentences", len(sides), 4, "corpora", parallel[language].name)
            sides.append(represent(encoder, parallel[language]).vectors)
    described = {"corpus": test.name, "corpus_digest": test[pair[1]].digest, "train": train.name}
    tags = {"pairs": len(train), "candidates": len(test)}
    right = [{number} for number in range(len(test))]
    records = []
    for layer in range(source.depth + 1):
        listener.report("retrieving translations", layer, source.depth + 1, "layers")
        rotation = fit_rotation(sides[0][layer], sides[1][layer])
        x, y = _moved(rotation, sides[2][layer], sides[3][layer], mapping)
        for queries, candidates, names, languages in (
            (x, y, (source.name, target.name), pair), (y, x, (target.name, source.name), pair[::-1]),
        ):  # fmt: skip
            found = ranked(queries, candidates, method=method, best=1)
            records += _records(
                {"precision@1": hits(found, right, at=1)}, described, tags, level="sentences", layer=layer,
                names=names, languages=languages, mapping=mapping, method=method,
            )  # fmt: skip
    listener.report("retrieving translations", source.depth + 1, source.depth + 1, "layers")
    return Results.of(records)


def _moved(rotation: Rotation, x: np.ndarray, y: np.ndarray, mapping: Mapping) -> tuple[np.ndarray, np.ndarray]:
    if mapping == "none":  # each side is centred all the same, which hides the languages but rotates nothing
        return rotation.source(x), rotation.target(y)
    return rotation(x), rotation.target(y)


def _pairs(
    dictionary: Dictionary, rows: dict[str, int], columns: dict[str, int], source: WordVectors, target: WordVectors
) -> list[tuple[int, int]]:
    found = [(rows[a], columns[b]) for a, b, _ in dictionary.pairs if a in rows and b in columns]
    if not found:
        raise RequestError(
            f"none of the {len(dictionary)} pairs of {dictionary.name} has vectors on both sides"
            f" ({len(rows)} words of {source.language}, {len(columns)} of {target.language})",
            hint="is it the other way round, of other languages, or in another case?",
        )
    return list(dict.fromkeys(found))


def _records(
    scores: dict[str, np.ndarray],
    described: dict[str, Any],
    tags: dict[str, Any],
    *,
    level: str,
    layer: int | None,
    names: tuple[str, str],
    languages: Sequence[str | None],
    mapping: str,
    method: str,
) -> list[Record]:
    found = []
    for metric, right in scores.items():
        score = Score(metric, right, np.ones(len(right), np.int64), f"{level}:{method}", described["corpus_digest"])
        low, high = score.interval or (None, None)
        found.append(
            Record(
                **described, encoder=names[0], source=languages[0], target=languages[1], measure=f"{level} {mapping}",
                layer=layer, metric=metric, value=score.value, low=low, high=high, n=score.n,
                settings=f"against={names[1]} method={method}", signature=score.signature,
                tags={**tags, "crosslens": __version__},
            )
        )  # fmt: skip
    return found
