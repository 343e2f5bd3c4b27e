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
    others = [test for test in tests if not _is_training_corpus(CorpusRef.of(test), train)]
    yield from _shared(others, model.trained_on or frozenset(), f"training data ({train.name})")


def leakage_warnings(
    train: Corpus, tests: Iterable[Corpus], *, limit: int | None = None, dev: Corpus | None = None
) -> Iterator[str]:
    """Yield a warning for each test corpus of which many items are also in the training or development data.

    The training corpus itself, or a part that it is joined from, is left to `training_corpus_warnings`.

    Args:
        limit: number of items of ``train`` that the model is trained on (`Corpus.limited`); None: all.
        dev: the data on which weights are selected, which are searched for training data too; None: none.
    """
    trained_on = train.limited(limit).contents
    others = [test for test in tests if not _is_training_corpus(CorpusRef.of(test), CorpusRef.of(train))]
    if dev is not None:
        yield from _shared([dev], trained_on, f"training data ({train.name})")
        yield from _shared(others, dev.contents, f"development data ({dev.name})")
    yield from _shared(others, trained_on, f"training data ({train.name})")


def _shared(corpora: Iterable[Corpus], contents: frozenset[int], where: str) -> Iterator[str]:
    for corpus in corpora:
        shared = len(corpus.items_among(contents))
        if shared and 100.0 * shared >= MUCH_TRAINED_ON * len(corpus):
            yield (
                f"{counted(shared, corpus.unit, f'{corpus.unit}s')} of {corpus.name}"
                f" ({100.0 * shared / len(corpus):.0f} %) {'is' if shared == 1 else 'are'} also in the {where}, so its"
                f" score says little about new {corpus.unit}s"
            )
