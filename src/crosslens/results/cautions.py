"""Corpora whose numbers say little: those that an encoder largely cannot read, and test data that was trained on."""

from collections.abc import Iterable, Mapping

from crosslens.results.cells import without_digest
from crosslens.results.corpus_tags import tagged_corpora
from crosslens.results.record import Results, remembered

UNKNOWN = "unknown_subwords"
"""Tag of a record: how many of the ``subwords`` of its corpus are the unknown token."""

TRAINED = "trained_sentences"
"""Tag of a score: how many of the ``sentences`` of its corpus, or texts, are also in the training data."""

SOURCE = "source_"
"""Prefix of the tags on the source of a pair of parallel corpora."""

MUCH_UNKNOWN = 10.0
"""Percentage of unknown subwords from which a corpus is named."""

MUCH_TRAINED_ON = 5.0
"""Percentage of sentences that are also in the training data from which a corpus is named.

Short sentences recur in every corpus: of the test set of English-EWT 4.0 % are also among 8,104 sentences of its
training data, and of 1,000 test sentences of German WikiANN 3.8 % among 2,000.
"""


def tags_of_pair(*, source: Mapping[str, int], target: Mapping[str, int]) -> dict[str, int]:
    """The tags of a comparison of parallel corpora, from the counts of both."""
    return {**target, **{f"{SOURCE}{name}": count for name, count in source.items()}}


@remembered
def unread(results: Results) -> dict[str, float]:
    """Corpus -> percentage of unknown subwords if it is at least `MUCH_UNKNOWN`; the largest of several vocabularies.

    A parallel corpus has an entry for each such language.
    """
    shares = []
    for column, prefix in (("target", ""), ("source", SOURCE)):
        tagged = tagged_corpora(results, f"{prefix}{UNKNOWN}", "encoder", "start", language=column)
        for (language, corpus, *_), tags, _ in tagged:
            # Each pair of languages of a parallel corpus has a digest of its own.
            name = f"{language} in {without_digest(corpus)}" if f"{SOURCE}{UNKNOWN}" in tags else str(corpus)
            shares.append({name: 100.0 * tags[f"{prefix}{UNKNOWN}"] / max(tags[f"{prefix}subwords"], 1)})
    return {corpus: share for corpus, share in _largest(shares).items() if share >= MUCH_UNKNOWN}


@remembered
def trained_on(results: Results) -> dict[str, float]:
    """Corpus -> percentage of items that are also in the training data if it is at least `MUCH_TRAINED_ON`.

    Of several training data, the largest.
    """
    tagged = tagged_corpora(results, TRAINED, "train", "train_digest", "settings")
    shares = ({str(corpus): 100.0 * tags[TRAINED] / max(tags["sentences"], 1)} for (_, corpus, *_), tags, _ in tagged)
    return {corpus: share for corpus, share in _largest(shares).items() if share >= MUCH_TRAINED_ON}


def cautions(*results: Results) -> list[str]:
    """The notes of a table on such corpora."""
    unknown = [f"{corpus} ({share:.0f} %)" for corpus, share in _largest(map(unread, results)).items()]
    known = [f"{share:.0f} % of {corpus}" for corpus, share in _largest(map(trained_on, results)).items()]
    notes = {"subwords that the encoder does not know": unknown, "also in the training data": known}
    return [f"{words}: {', '.join(corpora)}" for words, corpora in notes.items() if corpora]


def _largest(shares: Iterable[Mapping[str, float]]) -> dict[str, float]:
    largest: dict[str, float] = {}
    for each in shares:
        for corpus, share in each.items():
            largest[corpus] = max(share, largest.get(corpus, 0.0))
    return largest
