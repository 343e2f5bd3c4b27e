"""Word accuracy."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from crosslens.errors import RequestError
from crosslens.scores.score import Score


def accuracy(
    gold: Sequence[Sequence[str]],
    predicted: Sequence[Sequence[str]],
    *,
    data: str,
    rule: str = "words:all",
    known: frozenset[str] | None = None,
) -> Score:
    """Percentage of words whose predicted label equals the gold label.

    Gold labels outside ``known`` cannot be predicted and count as errors; ``notes["unknown_gold"]`` is their number.
    ``notes["most_frequent_gold"]`` is the number of the most frequent gold label: a baseline always predicts that one.
    Where all gold labels are the same, ``notes["same_gold"]`` is their number: such a score says nothing of the others.

    >>> accuracy([["DET", "NOUN"], ["VERB", "ADV"]], [["DET", "NOUN"], ["NOUN", "ADV"]], data="toy").value
    75.0

    Args:
        gold: labels, sentence by sentence.
        predicted: predicted labels of the same sentences.
        data: digest of the gold data, for the signature.
        rule: counting rule, for the signature.
        known: labels seen in training; None if unknown.

    Raises:
        RequestError: if gold and predicted labels differ in number, naming the first such sentence.
    """
    if len(gold) != len(predicted):
        raise RequestError(f"{len(gold)} gold sentences but {len(predicted)} predicted ones")
    for number, (labels, predictions) in enumerate(zip(gold, predicted, strict=True), start=1):
        if len(labels) != len(predictions):
            raise RequestError(f"sentence {number}: {len(labels)} gold labels but {len(predictions)} predicted ones")
    correct = [sum(map(str.__eq__, labels, predictions)) for labels, predictions in zip(gold, predicted, strict=True)]
    frequencies = Counter(label for labels in gold for label in labels)
    notes = {}
    if known is not None:
        notes["unknown_gold"] = sum(number for label, number in frequencies.items() if label not in known)
    if frequencies:
        notes["most_frequent_gold"] = max(frequencies.values())
    if len(frequencies) == 1 and frequencies.total() > 1:
        notes["same_gold"] = frequencies.total()
    return Score(
        metric="accuracy",
        numerator=np.asarray(correct, np.int64),
        denominator=np.asarray([len(labels) for labels in gold], np.int64),
        rule=rule,
        data=data,
        notes=notes,
    )
