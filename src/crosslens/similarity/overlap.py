"""Subwords that a target's test data share with the source's training data (Wu & Dredze 2019, section 5.4)."""

from collections.abc import Sequence

import numpy as np

from crosslens import __version__
from crosslens.data.corpus import Corpus
from crosslens.encoders.encoder import Encoder
from crosslens.encoders.inputs import cut_subwords
from crosslens.errors import RequestError
from crosslens.results.record import Record, Results
from crosslens.scores.score import bootstrap_interval


def subword_overlap(encoder: Encoder, *, train: Corpus, tests: Sequence[Corpus]) -> Results:
    """Both shares for every test corpus.

    Special tokens are left out. A subword that the vocabulary does not have is read as the unknown token; it counts as
    a subword of the test data, and as one that training never saw: two unknown words have nothing in common.

    Args:
        encoder: whose tokenizer is used.
        train: the source's training data.
        tests: corpora of any languages.

    Returns:
        Two records a corpus, of the measures `crosslens.similarity.transfer_gap.OVERLAPS`; their tag ``unknown`` is the
        share of unknown tokens, in percent. The interval of ``overlap_tokens`` is by bootstrap over sentences.

    Raises:
        RequestError: when there is no test corpus.

    Example:
        >>> train, test = (xl.load_corpus(f"ud/{name}[:20]", data=sample) for name in ("en_ewt:train", "fr_pud"))
        >>> xl.subword_overlap(encoder, train=train, tests=[test]).to_pandas()[["target", "measure"]].values.tolist()[0]
        ['fr', 'overlap_types']
    """
    if not tests:
        raise RequestError("subword overlap needs at least one test corpus")
    unknown = encoder.tokenizer.unk_token_id
    seen = np.unique(np.concatenate([subwords.ids for subwords in cut_subwords(encoder, train)]))
    seen = seen[seen != unknown] if unknown is not None else seen
    records = []
    for test in tests:
        pieces = cut_subwords(encoder, test)
        types = np.unique(np.concatenate([subwords.ids for subwords in pieces]))
        shared = np.asarray([np.isin(subwords.ids, seen).sum() for subwords in pieces], np.int64)
        counts = np.asarray([len(subwords.ids) for subwords in pieces], np.int64)
        low, high = bootstrap_interval(shared, counts) or (None, None)
        unread = sum(int((subwords.ids == unknown).sum()) for subwords in pieces)
        tags = {"unknown": round(100.0 * unread / max(1, int(counts.sum())), 2), "crosslens": __version__}
        values = (
            ("overlap_types", 100.0 * np.isin(types, seen).mean(), None, None, len(types)),
            ("overlap_tokens", 100.0 * shared.sum() / counts.sum(), low, high, int(counts.sum())),
        )
        records += [
            Record(
                **encoder.columns,
                source=train.language,
                target=test.language,
                split=test.split,
                measure=measure,
                metric="overlap",
                value=float(value),
                low=low,
                high=high,
                n=n,
                corpus=test.name,
                corpus_digest=test.digest,
                train=train.name,
                train_digest=train.digest,
                fertility=int(counts.sum()) / max(1, sum(test.lengths)),
                tags=tags,
            )
            for measure, value, low, high, n in values
        ]
    return Results.of(records)
