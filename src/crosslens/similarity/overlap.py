"""Subword overlap of target test data with source training data (Wu & Dredze 2019, section 5.4)."""

import numpy as np

from crosslens import __version__
from crosslens.corpora.catalogue import CorpusLike, load_corpora, load_corpus
from crosslens.data.corpus import Corpus
from crosslens.data.subwords import lone_prefixes
from crosslens.encoders.coverage import fertility
from crosslens.encoders.encoder import Encoder, require_encoder
from crosslens.encoders.inputs import cut_subwords
from crosslens.errors import RequestError, require_integer
from crosslens.results.record import Record, Results
from crosslens.results.record_settings import settings_text
from crosslens.scores.score import bootstrap_interval


def subword_overlap(encoder: Encoder, *, train: CorpusLike, tests: CorpusLike, limit: int | None = None) -> Results:
    """Compute the percentage of each test corpus's subword types and tokens that occur in the training data.

    Special tokens are ignored, and so are lone word-start marks, such as XLM-R's before most Chinese words. The unknown
    token counts as a subword of the test data that does not occur in training, because two unknown words have nothing
    in common. Languages that each have their own embeddings share no subword: their vocabularies are numbered
    independently.

    Args:
        encoder: encoder that provides the tokenizer.
        train: training data in the source language, as `load_corpus` takes it.
        tests: one or several test corpora, in any languages.
        limit: number of training sentences to count, those that a recipe with this limit trains on; None: all.

    Returns:
        Two records per corpus, one for each measure in `crosslens.similarity.transfer_gap.OVERLAPS`. The tag
        ``unknown`` is the percentage of unknown tokens. ``overlap_tokens`` has a bootstrap interval over sentences.

    Raises:
        RequestError: if there is no test corpus, for an invalid limit, or for another object than an encoder.
        DataError: if a corpus cannot be read.

    Examples:
        >>> train, test = (xl.load_corpus(f"ud/{name}[:20]", data=sample) for name in ("en_ewt:train", "fr_pud"))
        >>> xl.subword_overlap(encoder, train=train, tests=[test]).to_pandas()[["target", "measure"]].values.tolist()[0]
        ['fr', 'overlap_types']
    """
    require_encoder(encoder)
    train, tests = load_corpus(train, split="train"), load_corpora(tests)
    if not tests:
        raise RequestError("subword overlap needs at least one test corpus")
    limit = None if limit is None else require_integer(limit, "limit", least=1)
    unknown = encoder.tokenizer.unk_token_id
    seen = np.unique(np.concatenate(_subwords_of(encoder, train.limited(limit))))
    seen = seen[seen != unknown] if unknown is not None else seen
    separate = 0 in getattr(encoder.model.config, "separate", ())
    records = []
    for test in tests:
        ids = _subwords_of(encoder, test)
        types = np.unique(np.concatenate(ids))
        known = seen[:0] if separate and test.language != train.language else seen
        shared = np.asarray([np.isin(sentence, known).sum() for sentence in ids], np.int64)
        counts = np.asarray([len(sentence) for sentence in ids], np.int64)
        low, high = bootstrap_interval(shared, counts) or (None, None)
        n_unknown = sum(int((sentence == unknown).sum()) for sentence in ids)
        tags = {"unknown": round(100.0 * n_unknown / max(1, int(counts.sum())), 2), "crosslens": __version__}
        of_types = of_tokens = None  # of text without subwords, such as zero-width characters
        if len(types):
            of_types = 100.0 * float(np.isin(types, known).mean())
            of_tokens = float(100.0 * shared.sum() / counts.sum())
        values = (
            ("overlap_types", of_types, None, None, len(types)),
            ("overlap_tokens", of_tokens, low, high, int(counts.sum())),
        )
        records += [
            Record(
                **encoder.columns,
                source=train.language,
                target=test.language,
                split=test.split,
                measure=measure,
                metric="overlap",
                value=value,
                low=low,
                high=high,
                n=n,
                corpus=test.name,
                corpus_digest=test.digest,
                train=train.name,
                train_digest=train.digest,
                settings=None if limit is None else settings_text({"limit": limit}),
                fertility=fertility(encoder, test),
                tags=tags,
            )
            for measure, value, low, high, n in values
        ]
    return Results.of(records)


def _subwords_of(encoder: Encoder, corpus: Corpus) -> list[np.ndarray]:
    """Ids of the subwords with characters, by sentence."""
    marks = lone_prefixes(encoder.for_language(corpus.language).tokenizer)
    cut = [subwords.ids for subwords in cut_subwords(encoder, corpus)]
    return [ids[~np.isin(ids, marks)] for ids in cut]
