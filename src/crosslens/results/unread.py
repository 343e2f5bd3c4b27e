"""Corpora that an encoder reads largely as its unknown token, so that numbers say little about the language."""

from collections.abc import Mapping

from crosslens.results.cells import without_digest
from crosslens.results.corpus_tags import tagged_corpora
from crosslens.results.record import Results, remembered

TAG = "unknown_subwords"
"""Tag of a record: how many of the ``subwords`` of its corpus are the unknown token."""

MUCH = 10.0
"""Percentage of unknown subwords from which a corpus is named."""

SOURCE = "source_"
"""Prefix of the tags on the source of a pair of parallel corpora."""


def tags_of_pair(*, source: Mapping[str, int], target: Mapping[str, int]) -> dict[str, int]:
    """The tags of a comparison of parallel corpora, from the counts of both."""
    return {**target, **{f"{SOURCE}{name}": count for name, count in source.items()}}


@remembered
def unread(results: Results) -> dict[str, float]:
    """Corpus -> percentage of unknown subwords if it is at least `MUCH`; where vocabularies differ, the largest.

    A parallel corpus has an entry for each such language.
    """
    shares: dict[str, float] = {}
    for column, prefix in (("target", ""), ("source", SOURCE)):
        tagged = tagged_corpora(results, f"{prefix}{TAG}", "encoder", "start", language=column)
        for (language, corpus, *_), tags, _ in tagged:
            share = 100.0 * tags[f"{prefix}{TAG}"] / max(tags[f"{prefix}subwords"], 1)
            # Each pair of languages of a parallel corpus has a digest of its own.
            name = f"{language} in {without_digest(corpus)}" if f"{SOURCE}{TAG}" in tags else str(corpus)
            if share >= MUCH:
                shares[name] = max(share, shares.get(name, 0.0))
    return shares


def unread_note(*results: Results) -> str:
    """The note of a table on such corpora; "" without any."""
    shares: dict[str, float] = {}
    for each in results:
        for corpus, share in unread(each).items():
            shares[corpus] = max(share, shares.get(corpus, 0.0))
    named = ", ".join(f"{corpus} ({share:.0f} %)" for corpus, share in shares.items())
    return f"subwords that the encoder does not know: {named}" if named else ""
