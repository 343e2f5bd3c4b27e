"""Corpora that an encoder reads largely as its unknown token, so that their scores say little about the language."""

from crosslens.results.corpus_tags import tagged_corpora
from crosslens.results.record import Results, remembered

TAG = "unknown_subwords"
"""Tag of a record: how many of the ``subwords`` of its corpus are the unknown token."""

MUCH = 10.0
"""Percentage of unknown subwords from which a corpus is named."""


@remembered
def unread(scores: Results) -> dict[str, float]:
    """Corpus -> percentage of unknown subwords if it is at least `MUCH`; where vocabularies differ, the largest."""
    shares: dict[str, float] = {}
    for (_, corpus, *_), tags, _ in tagged_corpora(scores, TAG, "encoder", "start"):
        share = 100.0 * tags[TAG] / max(tags["subwords"], 1)
        if share >= MUCH:
            shares[str(corpus)] = max(share, shares.get(str(corpus), 0.0))
    return shares


def unread_note(*scores: Results) -> str:
    """The note of a table on such corpora; "" without any."""
    shares: dict[str, float] = {}
    for each in scores:
        for corpus, share in unread(each).items():
            shares[corpus] = max(share, shares.get(corpus, 0.0))
    named = ", ".join(f"{corpus} ({share:.0f} %)" for corpus, share in shares.items())
    return f"subwords that the encoder does not know: {named}" if named else ""
