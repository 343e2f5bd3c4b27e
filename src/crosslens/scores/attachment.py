"""Unlabelled and labelled attachment scores (UAS, LAS) of dependency trees."""

from collections.abc import Sequence

import numpy as np

from crosslens.data.sentence import Sentence
from crosslens.errors import RequestError
from crosslens.scores.score import Score

PUNCTUATION = frozenset({"PUNCT", "SYM"})
"""Gold UPOS of words excluded from ``las_nopunct`` and ``uas_nopunct`` (Wu & Dredze 2019, section 4)."""

RELATIONS = ("universal", "full")
"""How relations are compared: without subtypes (CoNLL-2018) or with them (Muller et al. 2021)."""


def universal(relation: str) -> str:
    """Strip the subtype from a relation.

    >>> universal("nsubj:pass")
    'nsubj'
    """
    return relation.partition(":")[0]


def attachment_scores(
    gold: Sequence[Sentence],
    predicted: Sequence[Sentence],
    *,
    data: str,
    relations: str = "universal",
    words: str = "all",
    known: frozenset[str] | None = None,
) -> list[Score]:
    """Compute LAS and UAS, with and without punctuation.

    >>> gold = Sentence(("she", "sleeps"), heads=(2, 0), relations=("nsubj", "root"))
    >>> predicted = Sentence(("she", "sleeps"), heads=(2, 0), relations=("obj", "root"))
    >>> {score.metric: score.value for score in attachment_scores([gold], [predicted], data="toy")}
    {'las': 50.0, 'uas': 100.0}

    Args:
        gold: sentences with heads and relations.
        predicted: the same sentences with predicted heads and relations.
        data: digest of the gold data, for the signatures.
        relations: one of `RELATIONS`.
        words: rule by which the words of the sentences were chosen, for the signatures.
        known: relations seen in training; None if unknown. Other gold relations cannot be predicted;
            ``notes["unknown_gold"]`` is their number.

    Returns:
        ``las`` and ``uas``; also ``las_nopunct`` and ``uas_nopunct`` if the gold sentences have UPOS tags.

    Raises:
        RequestError: if ``relations`` is invalid.
    """
    if relations not in RELATIONS:
        raise RequestError(f"there is no rule {relations!r} for relations", hint="known: " + ", ".join(RELATIONS))
    form = universal if relations == "universal" else str
    known_forms = None if known is None else {form(relation) for relation in known}
    counts: dict[str, list[int]] = {
        name: [] for name in ("words", "uas", "las", "nopunct", "uas_nopunct", "las_nopunct")
    }
    unknown = 0
    tagged = all(sentence.upos is not None for sentence in gold)
    for sentence, prediction in zip(gold, predicted, strict=True):
        gold_relations = [form(relation) for relation in sentence.relations or ()]
        predicted_relations = [form(relation) for relation in prediction.relations or ()]
        heads = np.equal(sentence.heads or (), prediction.heads or ())
        labelled = heads & np.asarray([a == b for a, b in zip(gold_relations, predicted_relations, strict=True)])
        nopunct = np.asarray([tag not in PUNCTUATION for tag in sentence.upos or ()], bool)
        nopunct = nopunct if tagged else np.zeros(len(sentence), bool)
        for name, counted in (
            ("words", np.ones(len(sentence), bool)),
            ("uas", heads),
            ("las", labelled),
            ("nopunct", nopunct),
            ("uas_nopunct", heads & nopunct),
            ("las_nopunct", labelled & nopunct),
        ):
            counts[name].append(int(counted.sum()))
        if known_forms is not None:
            unknown += sum(relation not in known_forms for relation in gold_relations)
    arrays = {name: np.asarray(values, np.int64) for name, values in counts.items()}
    rule = f"task:parsing|words:{words}|relations:{relations}"
    notes = {} if known_forms is None else {"unknown_gold": unknown}
    scores = [Score(name, arrays[name], arrays["words"], rule, data, notes) for name in ("las", "uas")]
    if tagged:
        kept = "_".join([*([] if words == "all" else [words]), "no", *sorted(PUNCTUATION)])
        rule = f"task:parsing|words:{kept}|relations:{relations}"
        scores += [Score(name, arrays[name], arrays["nopunct"], rule, data) for name in ("las_nopunct", "uas_nopunct")]
    return scores
