"""Span F1 for named entities, with three rules for reading invalid IOB2 tags."""

from collections.abc import Callable, Sequence

import numpy as np

from crosslens.errors import RequestError
from crosslens.scores.score import Score

Span = tuple[int, int, str]
"""Start (inclusive), end (exclusive) and entity type."""


def conll_spans(tags: Sequence[str]) -> list[Span]:
    """Extract spans as conlleval does (Tjong Kim Sang & De Meulder 2003): an I- that continues no span begins one.

    IOB1 tags are read correctly as well.

    >>> conll_spans(["B-X", "I-Y", "I-Z"])
    [(0, 1, 'X'), (1, 2, 'Y'), (2, 3, 'Z')]
    """
    return _typed_spans(tags, prefixes=("B", "I"))


def last_type_spans(tags: Sequence[str]) -> list[Span]:
    """Extract spans as Conneau, Wu et al. (2020) do: an I- of any type continues a span, and the last type counts.

    An I- after O begins a span.

    >>> last_type_spans(["B-X", "I-Y", "I-Z"])
    [(0, 3, 'Z')]
    """
    spans: list[Span] = []
    start, kind = 0, None
    for position, tag in enumerate([*tags, "O"]):
        prefix, _, label = tag.partition("-")
        if kind is not None and prefix != "I":
            spans.append((start, position, kind))
            kind = None
        if prefix != "O":
            start = position if kind is None else start
            kind = label
    return spans


def strict_spans(tags: Sequence[str]) -> list[Span]:
    """Extract spans of strict IOB2: B- begins a span, I- of its type continues it, and any other I- is ignored.

    >>> strict_spans(["B-X", "I-Y", "I-Z"])
    [(0, 1, 'X')]
    """
    return _typed_spans(tags, prefixes=("B",))


def _typed_spans(tags: Sequence[str], *, prefixes: tuple[str, ...]) -> list[Span]:
    """Spans that begin with one of the prefixes and are continued by I- of the same type."""
    spans: list[Span] = []
    start, kind = 0, None
    for position, tag in enumerate([*tags, "O"]):
        prefix, _, label = tag.partition("-")
        if kind is not None and (prefix != "I" or label != kind):
            spans.append((start, position, kind))
            kind = None
        if prefix in prefixes and kind is None:
            start, kind = position, label
    return spans


REPAIRS: dict[str, Callable[[Sequence[str]], list[Span]]] = {
    "conll": conll_spans,
    "conneau-last-type": last_type_spans,
    "strict": strict_spans,
}
"""Rules for invalid IOB2 tags; they agree on valid tags."""


def span_scores(
    gold: Sequence[Sequence[str]],
    predicted: Sequence[Sequence[str]],
    *,
    data: str,
    repair: str = "conll",
    known: frozenset[str] | None = None,
) -> list[Score]:
    """Compute span F1, precision and recall; a span is correct if both boundaries and its type are correct.

    >>> scores = span_scores([["B-PER", "I-PER", "O"]], [["B-PER", "O", "B-LOC"]], data="toy")
    >>> [(score.metric, score.value) for score in scores[:3]]
    [('f1', 0.0), ('precision', 0.0), ('recall', 0.0)]

    Args:
        gold: IOB tags, sentence by sentence.
        predicted: predicted tags of the same sentences.
        data: digest of the gold data, for the signatures.
        repair: one of `REPAIRS`, for gold and predicted tags.
        known: entity types seen in training; None if unknown. Gold spans of other types count as missed;
            ``notes["unknown_gold"]`` is their number.

    Returns:
        ``f1``, ``precision``, ``recall``, ``f1_strict`` (with ``repair="strict"``), and ``f1_TYPE`` for each type.

    Raises:
        RequestError: if gold and predicted tags differ in shape, or ``repair`` is invalid.
    """
    if repair not in REPAIRS:
        raise RequestError(f"there is no rule {repair!r} for illegal tags", hint="known: " + ", ".join(REPAIRS))
    if [len(tags) for tags in gold] != [len(tags) for tags in predicted]:
        raise RequestError("gold and predicted tags are not of one shape: sentences differ in number or length")
    spans = _pairs(gold, predicted, repair)
    rule = f"task:ner|spans|repair:{repair}"
    notes = {}
    if known is not None:
        notes["unknown_gold"] = sum(kind not in known for gold_spans, _ in spans for _, _, kind in gold_spans)
    kinds = sorted({span[2] for pair in spans for side in pair for span in side})
    correct, n_gold, n_predicted = _counts(spans)
    strict = _counts(_pairs(gold, predicted, "strict"))
    scores = [
        Score("f1", 2 * correct, n_gold + n_predicted, rule, data, notes),
        Score("precision", correct, n_predicted, rule, data),
        Score("recall", correct, n_gold, rule, data),
        Score("f1_strict", 2 * strict[0], strict[1] + strict[2], "task:ner|spans|repair:strict", data),
    ]
    for kind in kinds:
        of_kind = [tuple([span for span in side if span[2] == kind] for side in pair) for pair in spans]
        correct, n_gold, n_predicted = _counts(of_kind)
        scores.append(Score(f"f1_{kind}", 2 * correct, n_gold + n_predicted, rule, data))
    return scores


def _pairs(
    gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], repair: str
) -> list[tuple[list[Span], list[Span]]]:
    extract = REPAIRS[repair]
    return [(extract(tags), extract(predictions)) for tags, predictions in zip(gold, predicted, strict=True)]


def _counts(spans: Sequence[tuple]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Number of correct, gold and predicted spans of each sentence."""
    correct = np.asarray([len(set(gold) & set(predicted)) for gold, predicted in spans], np.int64)
    n_gold = np.asarray([len(gold) for gold, _ in spans], np.int64)
    return correct, n_gold, np.asarray([len(predicted) for _, predicted in spans], np.int64)
