"""Warnings of test items that are also in the training data."""

from collections.abc import Iterable, Iterator

from crosslens.corpora.catalogue import split_joined
from crosslens.corpora.collection import is_trained_language
from crosslens.data.corpus import Corpus, shared_items
from crosslens.formatting import counted

MUCH = 5.0
"""Percentage of shared items from which a warning is due.

Short sentences recur in every corpus: of the test set of English-EWT 4.0 % are also in its training data, and of German
WikiANN 3.8 %.
"""


def leakage_warnings(train: Corpus, tests: Iterable[Corpus], *, limit: int | None = None) -> Iterator[str]:
    """Yield a warning for each test corpus of which many items are also in the training data.

    Test corpora in other languages than the training data are not searched. The training corpus itself, or a corpus
    that it is joined from, is left to `crosslens.runs.run.Training.warnings`.

    Args:
        limit: number of items of ``train`` that the model is trained on (`Corpus.limited`); None: all.
    """
    trained = train.limited(limit)
    parts = {train.name, *split_joined(train.name)}
    for test in tests:
        other = test.language and train.language and not is_trained_language(test.language, train.language)
        if other or test.digest == train.digest or test.name in parts or not len(test):
            continue
        shared = len(shared_items(test, trained))
        if 100.0 * shared >= MUCH * len(test):
            yield (
                f"{counted(shared, test.unit, f'{test.unit}s')} of {test.name} ({100.0 * shared / len(test):.0f} %)"
                f" {'is' if shared == 1 else 'are'} also in the training data ({train.name}), so its score says little"
                f" about new {test.unit}s"
            )
