"""Accuracy over words."""

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

    A gold label outside ``known`` cannot be predicted and counts as an error; ``notes["unknown_gold"]`` counts them.

    >>> accuracy([["DET", "NOUN"], ["VERB", "ADV"]], [["DET", "NOUN"], ["NOUN", "ADV"]], data="toy").value
    75.0

    Args:
        gold: labels, sentence by sentence.
        predicted: as many labels for each sentence.
        data: digest of the gold data, for the signature.
        rule: what was counted, for the signature.
        known: labels seen in training; None: all.

    Raises:
        RequestError: when gold and predicted labels differ in number, naming the first such sentence.
    """
    if len(gold) != len(predicted):
        raise RequestError(f"{len(gold)} gold sentences but {len(predicted)} predicted ones")
    for number, (right, guess) in enumerate(zip(gold, predicted, strict=True), start=1):
        if len(right) != len(guess):
            raise RequestError(f"sentence {number}: {len(right)} gold labels but {len(guess)} predicted ones")
    correct = [sum(map(str.__eq__, right, guess)) for right, guess in zip(gold, predicted, strict=True)]
    notes = {}
    if known is not None:
        notes["unknown_gold"] = sum(label not in known for right in gold for label in right)
    return Score(
        metric="accuracy",
        numerator=np.asarray(correct, np.int64),
        denominator=np.asarray([len(right) for right in gold], np.int64),
        rule=rule,
        data=data,
        notes=notes,
    )
