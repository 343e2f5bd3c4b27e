"""Attachment scores of dependency trees: heads (UAS), and heads with their relations (LAS)."""

from collections.abc import Sequence

import numpy as np

from crosslens.data.sentence import Sentence
from crosslens.errors import RequestError
from crosslens.scores.score import Score

PUNCTUATION = frozenset({"PUNCT", "SYM"})
"""Gold UPOS of the words that ``las_nopunct`` leaves out (Wu & Dredze 2019, section 4)."""

RELATIONS = ("universal", "full")
"""Relations are compared without their subtypes (the CoNLL-2018 rule), or whole (Muller et al. 2021)."""


def universal(relation: str) -> str:
    """A relation without its subtype: ``nsubj:pass`` is an ``nsubj``."""
    return relation.partition(":")[0]


def attachment_scores(
    gold: Sequence[Sentence],
    predicted: Sequence[Sentence],
    *,
    data: str,
    relations: str = "universal",
    known: frozenset[str] | None = None,
) -> list[Score]:
    """LAS and UAS, with and without punctuation.

    >>> gold = Sentence(("she", "sleeps"), heads=(2, 0), relations=("nsubj", "root"))
    >>> predicted = Sentence(("she", "sleeps"), heads=(2, 0), relations=("obj", "root"))
    >>> {score.metric: score.value for score in attachment_scores([gold], [predicted], data="toy")}
    {'las': 50.0, 'uas': 100.0}

    Args:
        gold: sentences with heads and relations.
        predicted: the same sentences with predicted ones.
        data: digest of the gold data, for the signatures.
        relations: one of `RELATIONS`.
        known: the relations that training saw; None: all. A gold relation that is none of them cannot be right,
            and ``notes["unknown_gold"]`` says how often that is.

    Returns:
        ``las``, ``uas``, ``las_nopunct``, ``uas_nopunct``; the last two where the gold sentences have UPOS.

    Raises:
        RequestError: when there is no such rule.
    """
    if relations not in RELATIONS:
        raise RequestError(f"there is no rule {relations!r} for relations", hint="known: " + ", ".join(RELATIONS))
    form = universal if relations == "universal" else str
    seen = None if known is None else {form(relation) for relation in known}
    counts: dict[str, list[int]] = {name: [] for name in ("words", "uas", "las", "real", "uas_real", "las_real")}
    unknown = 0
    tagged = all(sentence.upos is not None for sentence in gold)
    for right, guess in zip(gold, predicted, strict=True):
        relations_of = [form(relation) for relation in right.relations or ()]
        heads = np.equal(right.heads or (), guess.heads or ())
        labelled = heads & np.asarray([a == form(b) for a, b in zip(relations_of, guess.relations or (), strict=True)])
        real = np.asarray([tag not in PUNCTUATION for tag in right.upos or ()], bool)
        real = real if tagged else np.zeros(len(right), bool)
        for name, counted in (
            ("words", np.ones(len(right), bool)),
            ("uas", heads),
            ("las", labelled),
            ("real", real),
            ("uas_real", heads & real),
            ("las_real", labelled & real),
        ):
            counts[name].append(int(counted.sum()))
        if seen is not None:
            unknown += sum(relation not in seen for relation in relations_of)
    arrays = {name: np.asarray(values, np.int64) for name, values in counts.items()}
    rule = f"task:parsing|words:all|relations:{relations}"
    notes = {} if seen is None else {"unknown_gold": unknown}
    scores = [Score(name, arrays[name], arrays["words"], rule, data, notes) for name in ("las", "uas")]
    if tagged:
        rule = f"task:parsing|words:no_{'_'.join(sorted(PUNCTUATION))}|relations:{relations}"
        scores += [
            Score(f"{name}_nopunct", arrays[f"{name}_real"], arrays["real"], rule, data) for name in ("las", "uas")
        ]
    return scores
