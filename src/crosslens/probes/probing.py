"""Asking a probe of every layer of an encoder, and a control task beside it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from crosslens import __version__
from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Item, Sentence
from crosslens.digests import stream_seed
from crosslens.encoders.encoder import Encoder
from crosslens.encoders.represent import represent, represent_words
from crosslens.errors import DataError, RequestError
from crosslens.probes import find_probe
from crosslens.probes.probe import Probe
from crosslens.probes.softmax import Fit, fit
from crosslens.progress import Listener, listening
from crosslens.results.record import Record, Results
from crosslens.scores import Score

HELD_OUT = 10
"""Without dev data one in so many texts of every answer, or sentences, of the training data is held out."""

BESIDE = {"train": (), "test": ("train",), "dev": ("train", "test")}
"""What data may share no item with which others; those that do are left out."""

FEWEST = 2
"""Texts of an answer in the training data, so that one can be held out."""


@dataclass(frozen=True, slots=True, eq=False)
class Probed:
    """What a probe found.

    Attributes:
        results: for every layer ``accuracy`` over all test texts, or words, with its interval over texts, or sentences;
            ``recall`` of every answer (the record's target); ``accuracy_shuffled`` and ``train_accuracy_shuffled``, of
            the control.
        confusion: ``(layers + 1, answers, answers)`` counts: right answer by given answer.
        answers: their names.
    """

    results: Results
    confusion: np.ndarray
    answers: tuple[str, ...]

    def confusion_rows(self) -> list[dict[str, str | int]]:
        """A row for each ``layer``, right ``answer`` and ``given`` answer that occur together, with their ``count``."""
        return [
            {
                "layer": int(layer),
                "answer": self.answers[right],
                "given": self.answers[given],
                "count": int(self.confusion[layer, right, given]),
            }
            for layer, right, given in zip(*self.confusion.nonzero(), strict=True)
        ]


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
    answers are shuffled among the texts, or among the words, each occurrence for itself, so that on test data only
    chance is left, and what it knows of training data is memory.

    Test sentences that are training sentences too are left out where words are labelled, as treebanks repeat short
    ones, and so are texts that are equal in what of them is read; the tag ``shared_sentences`` counts them. Items of
    ``dev`` that are training or test items too are left out as well, and the tag ``shared_dev`` counts those. Answers
    that only test words have are counted as errors.

    Args:
        encoder: read once, in evaluation mode.
        asked: a probe or its name.
        train: texts, or sentences of words, with answers.
        test: others; the answers of texts all occur in ``train``.
        dev: on which the learning rate is lowered; None: a tenth of ``train``, of words whole sentences.
        how: None: as Wu & Dredze (2019).
        seed: of what is held out, the order and the shuffling.
        progress: hears of every corpus that is read and every epoch.

    Returns:
        Scores by layer as results, and the confusion of answers by layer.

    Raises:
        DataError: with file and line: for an item without an answer; for a text with one that training never saw, or
            saw once.
        RequestError: for an unknown probe; when training and test data share a text, or all their sentences, or
            nothing of ``dev`` is left; with fewer than two answers.

    Example:
        >>> words = {split: xl.load_corpus(f"ud/en_ewt:{split}[:60]", data=sample) for split in ("train", "test")}
        >>> probed = xl.probe(encoder, "upos", **words, seed=1)
        >>> probed.answers[:3], len(probed.confusion)  # the embeddings and four layers
        (('ADJ', 'ADP', 'ADV'), 5)
    """
    asked = find_probe(asked) if isinstance(asked, str) else asked
    how = how or Fit()
    listener = listening(progress)
    corpora = {"train": train, "test": test} | ({"dev": dev} if dev is not None else {})
    words = asked.unit == "word"
    whole = () if words else _shared(test, train)
    read = {name: asked.cut(corpus) for name, corpus in corpora.items()}
    shared = {name: _shared(read[name], *(read[other] for other in BESIDE[name])) for name in corpora}
    if whole or len(shared["test"]) == len(test):
        count = len(whole or shared["test"])
        raise RequestError(f"{count} of the {len(test)} items of {test.name} are also in {train.name}")
    if dev is not None and len(shared["dev"]) == len(dev):
        raise RequestError(f"all {len(dev)} items of {dev.name} are also in {train.name} or {test.name}")
    corpora, read = ({name: _without(of[name], shared[name]) for name in of} for of in (corpora, read))
    given = {name: asked.answers(corpus) for name, corpus in corpora.items()}
    classes = _word_classes(train, given) if words else _classes(train, given["train"])
    number = {answer: place for place, answer in enumerate(classes)}
    for name in () if words else given:
        for item, answer in zip(corpora[name], given[name], strict=True):
            if answer not in number:
                file, line = item.where or (corpora[name].name, None)
                raise DataError(f"the label {answer!r} does not occur in the training data", file=file, line=line)
    vectors = {}
    for name, corpus in corpora.items():
        listener.report(f"reading {corpus.name}", 0, len(corpus), "sentences" if words else "texts")
        vectors[name] = (
            represent_words(encoder, read[name])
            if words
            else represent(encoder, read[name], pooling=asked.pooling).vectors
        )
    y = {name: np.asarray([number[answer] for answer in answers]) for name, answers in given.items()}
    # The text of each answer, or the sentence of each word.
    item_of = {
        name: np.repeat(np.arange(len(corpus)), corpus.lengths if words else 1) for name, corpus in corpora.items()
    }
    if dev is None:
        held = _held_out_sentences(item_of["train"], seed) if words else _held_out(y["train"], seed)
        for name, chosen in (("dev", held), ("train", ~held)):
            vectors[name], y[name] = vectors["train"][:, chosen], y["train"][chosen]
            item_of[name] = item_of["train"][chosen]

    if how.inputs == "scaled":
        mean, spread = vectors["train"].mean(1, keepdims=True), vectors["train"].std(1, keepdims=True)
        spread = np.where(spread > 0, spread, 1)
        vectors = {name: (states - mean) / spread for name, states in vectors.items()}

    def trained(answers: dict[str, np.ndarray], stage: str) -> tuple[np.ndarray, np.ndarray]:
        """Each layer's guesses for test and training items."""
        weights, biases = fit(
            vectors["train"],
            answers["train"],
            vectors["dev"],
            answers["dev"],
            classes=len(classes),
            how=how,
            seed=seed,
            stage=stage,
            progress=listener,
        )
        return tuple((vectors[name] @ weights + biases).argmax(-1) for name in ("test", "train"))

    guesses, _ = trained(y, "training the probe")
    generator = np.random.default_rng(stream_seed(seed, "probe-control"))
    shuffled = {name: generator.permutation(answers) for name, answers in y.items()}
    by_chance, by_heart = trained(shuffled, "training the control on shuffled answers")

    replaced = asked.model_dump(mode="json", exclude_defaults=True)  # pyright: ignore[reportAttributeAccessIssue]
    settings = " ".join(f"{name}={value}" for name, value in {**replaced, "inputs": how.inputs}.items())
    tags = {"classes": len(classes), "crosslens": __version__}
    for name, tag in (("test", "shared_sentences"), ("dev", "shared_dev")):
        tags |= {tag: len(shared[name])} if shared.get(name) else {}
    columns = {
        **encoder.columns,
        "settings": settings,
        "corpus": test.name,
        "corpus_digest": test.digest,
        "train": train.name,
        "train_digest": train.digest,
        "dev": dev.name if dev is not None else None,
        "split": test.split,
        "seed": seed,
        "measure": f"probe {asked.name}",
    }
    confusion = np.zeros((len(guesses), len(classes), len(classes)), np.int64)
    for layer, guess in enumerate(guesses):
        np.add.at(confusion[layer], (y["test"], guess), 1)
    # Answer by answer, so that the samples of an interval are drawn once for as many items, not again in every layer.
    test_items, train_items = item_of["test"], item_of["train"]
    asks: list[tuple[str, str | None, np.ndarray, np.ndarray, Corpus]] = [
        ("accuracy", None, guesses == y["test"], test_items, test),
        ("accuracy_shuffled", None, by_chance == shuffled["test"], test_items, test),
        ("train_accuracy_shuffled", None, by_heart == shuffled["train"], train_items, train),
    ]
    for answer, place in number.items():
        chosen = y["test"] == place
        if chosen.any():
            asks.append(("recall", answer, guesses[:, chosen] == place, test_items[chosen], test))
    rule = f"{asked.unit}s:" + (("unseen-sentences" if words else "unseen-texts") if shared["test"] else "all")
    records = []
    for metric, answer, right, items, corpus in asks:
        _, item = np.unique(items, return_inverse=True)
        total = np.bincount(item)
        for layer, correct in enumerate(right):
            count = np.bincount(item, weights=correct).astype(np.int64)
            score = Score(metric, count, total, rule, corpus.digest)
            low, high = score.interval or (None, None)
            records.append(
                Record(
                    **columns,
                    target=answer,
                    layer=layer,
                    metric=metric,
                    value=score.value,
                    low=low,
                    high=high,
                    n=score.n,
                    signature=score.signature,
                    tags=tags,
                )
            )
    records.sort(key=lambda record: record.layer or 0)
    return Probed(Results.of(records), confusion, classes)


def _shared(corpus: Corpus, *others: Corpus) -> set[int]:
    """The numbers of the items that other corpora have too: the same text, or the same words."""

    def content(item: Item) -> str | tuple[str, ...]:
        return item.words if isinstance(item, Sentence) else item.text

    known = {content(item) for other in others for item in other}
    return {number for number, item in enumerate(corpus) if content(item) in known}


def _without(corpus: Corpus, numbers: Collection[int]) -> Corpus:
    """The corpus without the items of these numbers."""
    return replace(corpus, items=tuple(item for number, item in enumerate(corpus) if number not in numbers))


def _word_classes(train: Corpus, answers: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The answers of all words, those that training lacks too: of them none is ever right."""
    if len(set(answers["train"])) < 2:
        raise RequestError(f"every word of {train.name} has the same label, so there is nothing to probe")
    if len(train) < 2:
        raise RequestError(f"{train.name} has a single sentence, so none can be held out")
    return tuple(sorted({answer for of_split in answers.values() for answer in of_split}))


def _classes(train: Corpus, answers: list[str]) -> tuple[str, ...]:
    classes, counts = np.unique(answers, return_counts=True)
    if len(classes) < 2:
        raise RequestError(
            f"every item of {train.name} has the label {str(classes[0])!r}, so there is nothing to probe"
        )
    rare = {str(answer) for answer, count in zip(classes, counts, strict=True) if count < FEWEST}
    for item, answer in zip(train, answers, strict=True):
        if answer in rare:
            file, line = item.where or (train.name, None)
            raise DataError(f"the label {answer!r} occurs only once", file=file, line=line, hint="remove this item")
    return tuple(str(answer) for answer in classes)


def _held_out(answers: np.ndarray, seed: int) -> np.ndarray:
    """``(items,)`` bool: of every answer one in `HELD_OUT`, at least one."""
    generator = np.random.default_rng(stream_seed(seed, "probe-held-out"))
    held = np.zeros(len(answers), bool)
    for answer in np.unique(answers):
        places = generator.permutation(np.flatnonzero(answers == answer))
        held[places[: max(1, len(places) // HELD_OUT)]] = True
    return held


def _held_out_sentences(sentence_of: np.ndarray, seed: int) -> np.ndarray:
    """``(words,)`` bool: the words of one in `HELD_OUT` sentences, of one at least."""
    generator = np.random.default_rng(stream_seed(seed, "probe-held-out"))
    sentences = generator.permutation(np.unique(sentence_of))
    return np.isin(sentence_of, sentences[: max(1, len(sentences) // HELD_OUT)])
