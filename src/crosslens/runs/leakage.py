"""Warnings of test data that a model is trained on."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from crosslens.corpora.catalogue import load_corpus, split_joined
from crosslens.corpora.collection import is_trained_language
from crosslens.data.corpus import Corpus, shared_items
from crosslens.errors import CrosslensError
from crosslens.formatting import counted
from crosslens.runs.question import CorpusRef

if TYPE_CHECKING:
    from crosslens.training.model import TaskModel

MUCH = 5.0
"""Percentage of shared items from which a warning is due.

Short sentences recur in every corpus: of the test set of English-EWT 4.0 % are also among 8,104 sentences of its
training data, and of 1,000 test sentences of German WikiANN 3.8 % among 2,000.
"""


def training_names(name: str) -> set[str]:
    """Name of a training corpus, and of each part that it is joined from."""
    return {name, *split_joined(name)}


def training_corpus_warnings(tests: Iterable[CorpusRef], *, train: CorpusRef) -> Iterator[str]:
    """Yield a warning for each test corpus that is the training corpus, or a part that it is joined from."""
    for test in tests:
        if _is_training_corpus(test, train):
            yield f"{test.name} is also the training corpus, so its score says nothing about new sentences"


def _is_training_corpus(test: Corpus | CorpusRef, train: Corpus | CorpusRef) -> bool:
    return test.digest == train.digest or test.name in training_names(train.name)


def model_warnings(model: "TaskModel", tests: Iterable[Corpus], *, data: str | None = None) -> Iterator[str]:
    """Yield a warning for each test corpus that a saved model was trained on, wholly or in large part.

    Shared items are counted if the name of the training data still gives the same corpus.

    Args:
        data: folder that is searched first for the training data.
    """
    if "train" not in model.facts:
        return
    tests, planned = list(tests), CorpusRef(str(model.facts["train"]), str(model.facts["train_digest"]))
    yield from training_corpus_warnings(map(CorpusRef.of, tests), train=planned)
    try:
        train = load_corpus(planned.name, split="train", data=data, format=model.task.format)
    except CrosslensError:
        return
    if train.digest == planned.digest:
        yield from leakage_warnings(train, tests, limit=model.recipe.limit)


def leakage_warnings(train: Corpus, tests: Iterable[Corpus], *, limit: int | None = None) -> Iterator[str]:
    """Yield a warning for each test corpus of which many items are also in the training data.

    Test corpora in other languages than the training data are not searched. The training corpus itself, or a part
    that it is joined from, is left to `training_corpus_warnings`.

    Args:
        limit: number of items of ``train`` that the model is trained on (`Corpus.limited`); None: all.
    """
    trained = train.limited(limit)
    for test in tests:
        other = test.language and train.language and not is_trained_language(test.language, train.language)
        if other or _is_training_corpus(test, train) or not len(test):
            continue
        shared = len(shared_items(test, trained))
        if 100.0 * shared >= MUCH * len(test):
            yield (
                f"{counted(shared, test.unit, f'{test.unit}s')} of {test.name} ({100.0 * shared / len(test):.0f} %)"
                f" {'is' if shared == 1 else 'are'} also in the training data ({train.name}), so its score says little"
                f" about new {test.unit}s"
            )
