"""Warnings of test data that a model is trained on."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from crosslens.corpora.catalogue import split_joined
from crosslens.data.corpus import Corpus
from crosslens.formatting import counted
from crosslens.results.cautions import MUCH_TRAINED_ON
from crosslens.runs.question import CorpusRef

if TYPE_CHECKING:
    from crosslens.training.model import TaskModel


def training_names(name: str) -> set[str]:
    """Name of a training corpus, and of each part that it is joined from."""
    return {name, *split_joined(name)}


def training_corpus_warnings(tests: Iterable[CorpusRef], *, train: CorpusRef) -> Iterator[str]:
    """Yield a warning for each test corpus that is the training corpus, or a part that it is joined from."""
    for test in tests:
        if _is_training_corpus(test, train):
            yield f"{test.name} is also the training corpus, so its score says nothing about new sentences"


def _is_training_corpus(test: CorpusRef, train: CorpusRef) -> bool:
    return test.digest == train.digest or test.name in training_names(train.name)


def model_warnings(model: "TaskModel", tests: Iterable[Corpus]) -> Iterator[str]:
    """Yield a warning for each test corpus that a saved model was trained on, wholly or in large part."""
    if "train" not in model.facts:
        return
    tests, train = list(tests), CorpusRef(str(model.facts["train"]), str(model.facts["train_digest"]))
    yield from training_corpus_warnings(map(CorpusRef.of, tests), train=train)
    yield from _leakage_warnings(model.trained_on or frozenset(), tests, train=train)


def leakage_warnings(train: Corpus, tests: Iterable[Corpus], *, limit: int | None = None) -> Iterator[str]:
    """Yield a warning for each test corpus of which many items are also in the training data.

    The training corpus itself, or a part that it is joined from, is left to `training_corpus_warnings`.

    Args:
        limit: number of items of ``train`` that the model is trained on (`Corpus.limited`); None: all.
    """
    yield from _leakage_warnings(train.limited(limit).contents, tests, train=CorpusRef.of(train))


def _leakage_warnings(trained_on: frozenset[int], tests: Iterable[Corpus], *, train: CorpusRef) -> Iterator[str]:
    for test in tests:
        if _is_training_corpus(CorpusRef.of(test), train) or not len(test):
            continue
        shared = len(test.items_among(trained_on))
        if 100.0 * shared >= MUCH_TRAINED_ON * len(test):
            yield (
                f"{counted(shared, test.unit, f'{test.unit}s')} of {test.name} ({100.0 * shared / len(test):.0f} %)"
                f" {'is' if shared == 1 else 'are'} also in the training data ({train.name}), so its score says little"
                f" about new {test.unit}s"
            )
