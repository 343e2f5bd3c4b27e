"""What the tags of records say of test corpora."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from crosslens.results.cells import disambiguated
from crosslens.results.record import Results


def tagged_corpora(
    results: Results, tag: str, *columns: str, language: str = "target"
) -> Iterator[tuple[tuple, dict[str, Any], int]]:
    """Yield each test corpus with the tags of its first record that has a tag, and the ``n`` of that record.

    Args:
        results: records of earlier versions of crosslens may lack the tag.
        columns: further columns, of which every combination counts as a corpus.
        language: column of the language that the tag is about: ``target``, or ``source`` of parallel corpora.

    Returns:
        Language and corpus, as tables of these results name them, and the values of ``columns``; tags; ``n``.
    """
    texts = results.columns.coded("tags")
    tagged = np.flatnonzero(np.array([f'"{tag}"' in text for text in texts.values], bool)[texts.codes])
    if not len(tagged):
        return
    corpora = disambiguated(results).columns.together(language, "corpus", *columns).of(tagged)
    firsts = Results(results.records.take(tagged[corpora.firsts]))
    yield from zip(corpora.values, firsts.tags(), firsts.records["n"].to_pylist(), strict=True)
