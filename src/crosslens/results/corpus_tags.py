"""What the tags of records say of test corpora."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from crosslens.results.cells import disambiguated
from crosslens.results.record import Results


def tagged_corpora(scores: Results, tag: str, *columns: str) -> Iterator[tuple[tuple, dict[str, Any], int]]:
    """Yield each test corpus with the tags of its first record that has a tag, and the ``n`` of that record.

    Args:
        scores: records of earlier versions of crosslens may lack the tag.
        columns: further columns, of which every combination counts as a corpus.

    Returns:
        Language and corpus, as tables of these scores name them, and the values of ``columns``; tags; ``n``.
    """
    texts = scores.columns.coded("tags")
    tagged = np.flatnonzero(np.array([f'"{tag}"' in text for text in texts.values], bool)[texts.codes])
    corpora = disambiguated(scores).columns.together("target", "corpus", *columns).of(tagged)
    firsts = Results(scores.records.take(tagged[corpora.firsts]))
    yield from zip(corpora.values, firsts.tags(), firsts.records["n"].to_pylist(), strict=True)
