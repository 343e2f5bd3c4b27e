"""Accuracy over words: every word counts once."""

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
    """The share of words whose predicted label is the gold one.

    A gold label that training never saw (one that is not in ``known``) cannot be predicted: it counts as an error,
    and ``notes["unknown_gold"]`` says how often that happened.

    Args:
        gold: labels, sentence by sentence.
        predicted: as many labels for each sentence.
        data: digest of the gold data, for the signature.
        rule: what was counted, for the signature.
        known: the labels that training saw; None: all.

    Raises:
        RequestError: when the two are not of one shape: the first sentence that differs is named.
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
