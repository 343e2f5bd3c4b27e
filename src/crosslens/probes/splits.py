"""The data of a probe: disjoint splits, their labels, and the states of every layer."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np

from crosslens.data.corpus import Corpus, item_error, shared_items
from crosslens.digests import stream_seed
from crosslens.errors import RequestError
from crosslens.probes.probe import Probe, Unit

HELD_OUT = 10
"""Without dev data, one in `HELD_OUT` training texts of every label, or training sentences, is held out."""

DISJOINT_FROM = {"train": (), "test": ("train",), "dev": ("train", "test")}
"""Split -> splits from which it must be disjoint; shared items are left out of it."""

FEWEST = 2
"""Minimum number of training texts per label, so that one can be held out."""

Corpora = Mapping[str, Corpus]
"""Split -> corpus: ``train``, ``test`` and maybe ``dev``."""


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Inputs and outputs of the classifiers.

    Attributes:
        states: ``(layers + 1, texts or words, hidden)``.
        labels: ``(texts or words,)`` class indices.
        item_of: ``(texts or words,)`` index of the text, or of the word's sentence.
    """

    states: np.ndarray
    labels: np.ndarray
    item_of: np.ndarray

    def select(self, chosen: np.ndarray) -> "Split":
        """Select texts or words by a mask."""
        return Split(self.states[:, chosen], self.labels[chosen], self.item_of[chosen])


def disjoint(asked: Probe, corpora: Corpora) -> tuple[Corpora, Corpora, dict[str, int]]:
    """Leave items out of test and dev data that `DISJOINT_FROM` forbids.

    Returns:
        The corpora, the inputs that the probe selects from them, and how many items were left out of each split.

    Raises:
        RequestError: if texts of training and test data are the same as a whole, or no item is left.
    """
    read = {split: asked.cut(corpus) for split, corpus in corpora.items()}
    shared = {split: shared_items(read[split], *(read[other] for other in DISJOINT_FROM[split])) for split in read}
    train, test, dev = corpora["train"], corpora["test"], corpora.get("dev")
    whole = set() if asked.unit == "word" else shared_items(test, train)
    if whole or len(shared["test"]) == len(test):
        count = len(whole or shared["test"])
        raise RequestError(f"{count} of the {len(test)} items of {test.name} are also in {train.name}")
    if dev is not None and len(shared["dev"]) == len(dev):
        raise RequestError(f"all {len(dev)} items of {dev.name} are also in {train.name} or {test.name}")
    corpora, read = ({split: _without(of[split], shared[split]) for split in of} for of in (corpora, read))
    return corpora, read, {split: len(items) for split, items in shared.items()}


def _without(corpus: Corpus, numbers: Collection[int]) -> Corpus:
    """Copy a corpus without the items at these indices."""
    return replace(corpus, items=tuple(item for number, item in enumerate(corpus) if number not in numbers))


def find_classes(unit: Unit, corpora: Corpora, answers: Mapping[str, list[str]]) -> tuple[str, ...]:
    """Labels of all words, including those that training lacks and that are never predicted correctly; or of texts.

    Args:
        unit: labelled unit.
        corpora: disjoint splits.
        answers: gold label of every text or word of each split.

    Raises:
        DataError: with file and line, if a text has a label that the training data have at most once.
        RequestError: if there are fewer than two labels, or a single sentence of words.
    """
    train = corpora["train"]
    counts = Counter(answers["train"])
    if len(counts) < 2:
        same = "every word" if unit == "word" else "every item"
        label = "the same label" if unit == "word" else f"the label {answers['train'][0]!r}"
        raise RequestError(f"{same} of {train.name} has {label}, so there is nothing to probe")
    if unit == "word":
        if len(train) < 2:
            raise RequestError(f"{train.name} has a single sentence, so none can be held out")
        return tuple(sorted(set().union(*answers.values())))
    for split, corpus in corpora.items():
        for item, answer in zip(corpus, answers[split], strict=True):
            if not counts[answer]:
                raise item_error(corpus, item, f"the label {answer!r} does not occur in the training data")
            if counts[answer] < FEWEST:
                raise item_error(train, item, f"the label {answer!r} occurs only once", hint="remove this item")
    return tuple(sorted(counts))


def hold_out(train: Split, unit: Unit, *, seed: int) -> tuple[Split, Split]:
    """Part training data into data to train on and held-out dev data."""
    held = held_out_sentences(train.item_of, seed) if unit == "word" else held_out_texts(train.labels, seed)
    return train.select(~held), train.select(held)


def held_out_texts(answers: np.ndarray, seed: int) -> np.ndarray:
    """``(texts,)`` bool: one in `HELD_OUT` texts of every label, at least one."""
    generator = np.random.default_rng(stream_seed(seed, "probe-held-out"))
    held = np.zeros(len(answers), bool)
    for answer in np.unique(answers):
        places = generator.permutation(np.flatnonzero(answers == answer))
        held[places[: max(1, len(places) // HELD_OUT)]] = True
    return held


def held_out_sentences(sentence_of: np.ndarray, seed: int) -> np.ndarray:
    """``(words,)`` bool: the words of one in `HELD_OUT` sentences, at least one."""
    generator = np.random.default_rng(stream_seed(seed, "probe-held-out"))
    sentences = generator.permutation(np.unique(sentence_of))
    return np.isin(sentence_of, sentences[: max(1, len(sentences) // HELD_OUT)])


def scale(splits: Mapping[str, Split]) -> dict[str, Split]:
    """Scale every feature to mean 0 and variance 1 over the training items."""
    states = splits["train"].states
    mean, spread = states.mean(1, keepdims=True), states.std(1, keepdims=True)
    spread = np.where(spread > 0, spread, 1)
    return {name: replace(split, states=(split.states - mean) / spread) for name, split in splits.items()}
