"""Named-entity spans out of IOB tags, by one of three rules for tags that follow nothing, and their F1."""

from collections.abc import Callable, Sequence

import numpy as np

from crosslens.errors import RequestError
from crosslens.scores.score import Score

Span = tuple[int, int, str]
"""First word, one past the last, type."""


def conll_spans(tags: Sequence[str]) -> list[Span]:
    """As `conlleval` reads (Tjong Kim Sang & De Meulder 2003): an I- that continues nothing begins a span.

    ``B-X I-Y I-Z`` is three spans, X, Y and Z. IOB1 reads right as well.
    """
    return _typed_spans(tags, beginning=("B", "I"))


def last_type_spans(tags: Sequence[str]) -> list[Span]:
    """As Conneau, Wu et al. (2020) repair: an I- after a span continues it, and the last word's type is the span's.

    ``B-X I-Y I-Z`` is one span of type Z; an I- that follows O begins a span.
    """
    spans: list[Span] = []
    start, kind = 0, None
    for place, tag in enumerate([*tags, "O"]):
        prefix, _, label = tag.partition("-")
        if kind is not None and prefix != "I":
            spans.append((start, place, kind))
            kind = None
        if prefix != "O":
            start = place if kind is None else start
            kind = label
    return spans


def strict_spans(tags: Sequence[str]) -> list[Span]:
    """Strict IOB2: a span begins with B- and goes on with I- of its type; an I- that continues none starts no span."""
    return _typed_spans(tags, beginning=("B",))


def _typed_spans(tags: Sequence[str], *, beginning: tuple[str, ...]) -> list[Span]:
    """Spans that go on with I- of their type, and begin with one of these prefixes."""
    spans: list[Span] = []
    start, kind = 0, None
    for place, tag in enumerate([*tags, "O"]):
        prefix, _, label = tag.partition("-")
        if kind is not None and (prefix != "I" or label != kind):
            spans.append((start, place, kind))
            kind = None
        if prefix in beginning and kind is None:
            start, kind = place, label
    return spans


REPAIRS: dict[str, Callable[[Sequence[str]], list[Span]]] = {
    "conll": conll_spans,
    "conneau-last-type": last_type_spans,
    "strict": strict_spans,
}
"""How tags that are no IOB2 are read; on tags that are, all of them agree."""


def span_scores(
    gold: Sequence[Sequence[str]],
    predicted: Sequence[Sequence[str]],
    *,
    data: str,
    repair: str = "conll",
    known: frozenset[str] | None = None,
) -> list[Score]:
    """Span F1, precision and recall; a span is correct when both boundaries and its type are correct.

    >>> scores = span_scores([["B-PER", "I-PER", "O"]], [["B-PER", "O", "B-LOC"]], data="toy")
    >>> [(score.metric, score.value) for score in scores[:3]]
    [('f1', 0.0), ('precision', 0.0), ('recall', 0.0)]

    Args:
        gold: IOB tags, sentence by sentence.
        predicted: as many for each sentence.
        data: digest of the gold data, for the signatures.
        repair: one of `REPAIRS`; gold and predicted tags are read by the same.
        known: the types that training saw; None: all. Gold spans of another type count as missed, and
            ``notes["unknown_gold"]`` says how many there are.

    Returns:
        ``f1``, ``precision``, ``recall``, ``f1_strict`` (IOB2 read strictly, whatever ``repair`` is), and ``f1_TYPE``
        for each type there is.

    Raises:
        RequestError: when the two are not of one shape, or there is no such rule.
    """
    if repair not in REPAIRS:
        raise RequestError(f"there is no rule {repair!r} for illegal tags", hint="known: " + ", ".join(REPAIRS))
    if [len(tags) for tags in gold] != [len(tags) for tags in predicted]:
        raise RequestError("gold and predicted tags are not of one shape: sentences differ in number or length")
    spans = _pairs(gold, predicted, repair)
    rule = f"task:ner|spans|repair:{repair}"
    notes = {}
    if known is not None:
        notes["unknown_gold"] = sum(kind not in known for right, _ in spans for _, _, kind in right)
    kinds = sorted({span[2] for pair in spans for side in pair for span in side})
    both, right, guess = _counts(spans)
    strict = _counts(_pairs(gold, predicted, "strict"))
    scores = [
        Score("f1", 2 * both, right + guess, rule, data, notes),
        Score("precision", both, guess, rule, data),
        Score("recall", both, right, rule, data),
        Score("f1_strict", 2 * strict[0], strict[1] + strict[2], "task:ner|spans|repair:strict", data),
    ]
    for kind in kinds:
        both, right, guess = _counts([tuple([s for s in side if s[2] == kind] for side in pair) for pair in spans])
        scores.append(Score(f"f1_{kind}", 2 * both, right + guess, rule, data))
    return scores


def _pairs(
    gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], repair: str
) -> list[tuple[list[Span], list[Span]]]:
    read = REPAIRS[repair]
    return [(read(right), read(guess)) for right, guess in zip(gold, predicted, strict=True)]


def _counts(spans: Sequence[tuple]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Per sentence: spans that both have, gold ones, predicted ones."""
    both = np.asarray([len(set(right) & set(guess)) for right, guess in spans], np.int64)
    right = np.asarray([len(right) for right, _ in spans], np.int64)
    return both, right, np.asarray([len(guess) for _, guess in spans], np.int64)
