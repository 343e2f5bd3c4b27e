"""Asking a probe of every layer of an encoder, and a control task beside it."""

from dataclasses import dataclass

import numpy as np

from crosslens import __version__
from crosslens.data.corpus import Corpus
from crosslens.data.records import Record, Results
from crosslens.encoders.encoder import Encoder
from crosslens.encoders.represent import represent
from crosslens.errors import DataError, RequestError
from crosslens.identity import stream_seed
from crosslens.probes import find_probe
from crosslens.probes.probe import Probe
from crosslens.probes.softmax import Fit, fit
from crosslens.progress import Listener, listening
from crosslens.scores import Score

HELD_OUT = 10
"""Without dev data one in so many training items is held out."""

FEWEST = 2
"""Items of an answer in the training data, so that one can be held out."""


@dataclass(frozen=True, slots=True, eq=False)
class Probed:
    """What a probe found.

    Attributes:
        results: for every layer ``accuracy`` over all test items with its interval; ``recall`` of every answer (the
            record's target); ``accuracy_shuffled`` and ``train_accuracy_shuffled``, of the control.
        confusion: ``(layers + 1, answers, answers)`` counts: right answer by given answer.
        answers: their names.
    """

    results: Results
    confusion: np.ndarray
    answers: tuple[str, ...]

    def confusion_rows(self) -> list[dict[str, str | int]]:
        """A row for each ``layer``, right ``answer`` and ``given`` answer that occur together, with their ``count``."""
        return [
            {"layer": int(layer), "answer": self.answers[right], "given": self.answers[given],
             "count": int(self.confusion[layer, right, given])}
            for layer, right, given in zip(*self.confusion.nonzero(), strict=True)
        ]  # fmt: skip


def probe(
    encoder: Encoder,
    asked: Probe | str,
    *,
    train: Corpus,
    test: Corpus,
    dev: Corpus | None = None,
    how: Fit | None = None,
    seed: int = 1,
    progress: Listener = None,
) -> Probed:
    """Train a linear layer on every layer's states, and on the same states with shuffled answers.

    A linear layer with enough inputs learns anything by heart. The control (after Hewitt & Liang 2019) shows how much:
    answers are shuffled among the items, so that on test items only chance is left, and what it knows of training items
    is memory.

    Args:
        encoder: read once, in evaluation mode.
        asked: a probe or its name.
        train: items with answers.
        test: others, whose answers all occur in ``train``.
        dev: on which the learning rate is lowered; None: a tenth of ``train``.
        how: None: as Wu & Dredze (2019).
        seed: of what is held out, the order and the shuffling.
        progress: hears of every corpus that is read and every epoch.

    Raises:
        DataError: with file and line: for an item without an answer, or with one that training never saw, or saw once.
        RequestError: for an unknown probe; when training and test data share an item; with fewer than two answers.
    """
    asked = find_probe(asked) if isinstance(asked, str) else asked
    how = how or Fit()
    listener = listening(progress)
    corpora = {"train": train, "test": test} | ({"dev": dev} if dev is not None else {})
    given = {name: asked.answers(corpus) for name, corpus in corpora.items()}
    classes = _classes(train, given["train"])
    number = {answer: place for place, answer in enumerate(classes)}
    for name in given:
        for item, answer in zip(corpora[name], given[name], strict=True):
            if answer not in number:
                file, line = item.where or (corpora[name].name, None)
                raise DataError(f"training never saw the answer {answer!r}", file=file, line=line)
    known = {item.text for item in train}
    shared = sum(item.text in known for item in test)
    if shared:
        raise RequestError(f"{shared} of the {len(test)} items of {test.name} are in {train.name} too")
    vectors = {}
    for name, corpus in corpora.items():
        listener.report(f"reading {corpus.name}", 0, len(corpus), "texts")
        vectors[name] = represent(encoder, asked.cut(corpus), pooling=asked.pooling).vectors
    y = {name: np.asarray([number[answer] for answer in its]) for name, its in given.items()}
    if dev is None:
        held = _held_out(y["train"], seed)
        for name, its in (("dev", held), ("train", ~held)):
            vectors[name], y[name] = vectors["train"][:, its], y["train"][its]

    if how.inputs == "scaled":
        mean, spread = vectors["train"].mean(1, keepdims=True), vectors["train"].std(1, keepdims=True)
        spread = np.where(spread > 0, spread, 1)
        vectors = {name: (its - mean) / spread for name, its in vectors.items()}

    def trained(answers: dict[str, np.ndarray], stage: str) -> tuple[np.ndarray, np.ndarray]:
        """Each layer's guesses for test and training items."""
        weights, biases = fit(
            vectors["train"], answers["train"], vectors["dev"], answers["dev"], classes=len(classes), how=how,
            seed=seed, stage=stage, progress=listener,
        )  # fmt: skip
        return tuple((vectors[name] @ weights + biases).argmax(-1) for name in ("test", "train"))

    guesses, _ = trained(y, "training the probe")
    generator = np.random.default_rng(stream_seed(seed, "probe-control"))
    shuffled = {name: generator.permutation(its) for name, its in y.items()}
    by_chance, by_heart = trained(shuffled, "training the control on shuffled answers")

    tags = {
        "corpus": test.name, "digest": test.digest, "training_train": train.name, "training_train_digest": train.digest,
        "condition": encoder.condition, "encoder_digest": encoder.digest, "crosslens": __version__,
        "pooling": asked.pooling, "classes": len(classes), "inputs": how.inputs,
    }  # fmt: skip
    confusion = np.zeros((len(guesses), len(classes), len(classes)), np.int64)
    for layer, guess in enumerate(guesses):
        np.add.at(confusion[layer], (y["test"], guess), 1)
    # Answer by answer, so that the samples of an interval are drawn once for as many items, not in every layer anew.
    asks: list[tuple[str, str | None, np.ndarray, Corpus]] = [
        ("accuracy", None, guesses == y["test"], test),
        ("accuracy_shuffled", None, by_chance == shuffled["test"], test),
        ("train_accuracy_shuffled", None, by_heart == shuffled["train"], train),
    ]
    for answer, place in number.items():
        its = y["test"] == place
        if its.any():
            asks.append(("recall", answer, guesses[:, its] == place, test))
    records = []
    for metric, answer, right, corpus in asks:
        for layer, its in enumerate(right):
            score = Score(metric, its.astype(np.int64), np.ones(len(its), np.int64), "texts:all", corpus.digest)
            low, high = score.interval or (None, None)
            records.append(
                Record(
                    encoder=encoder.name, target=answer, split=test.split, measure=f"probe {asked.name}", layer=layer,
                    ablation=encoder.ablation, components=encoder.components, seed=seed, metric=metric,
                    value=score.value, low=low, high=high, n=score.n, tags={**tags, "signature": score.signature},
                )
            )  # fmt: skip
    records.sort(key=lambda record: record.layer or 0)
    return Probed(Results.of(records), confusion, classes)


def _classes(train: Corpus, answers: list[str]) -> tuple[str, ...]:
    classes, counts = np.unique(answers, return_counts=True)
    if len(classes) < 2:
        raise RequestError(f"every item of {train.name} has the answer {classes[0]!r}, so there is nothing to ask")
    rare = {str(answer) for answer, count in zip(classes, counts, strict=True) if count < FEWEST}
    for item, answer in zip(train, answers, strict=True):
        if answer in rare:
            file, line = item.where or (train.name, None)
            raise DataError(f"{answer!r} is the answer of this item alone", file=file, line=line, hint="take it out")
    return tuple(str(answer) for answer in classes)


def _held_out(answers: np.ndarray, seed: int) -> np.ndarray:
    """``(items,)`` bool: of every answer one in `HELD_OUT`, at least one."""
    generator = np.random.default_rng(stream_seed(seed, "probe-held-out"))
    held = np.zeros(len(answers), bool)
    for answer in np.unique(answers):
        places = generator.permutation(np.flatnonzero(answers == answer))
        held[places[: max(1, len(places) // HELD_OUT)]] = True
    return held
