"""Linear probing of every layer of an encoder, with a control task."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

import numpy as np

from crosslens import __version__
from crosslens.corpora.catalogue import CorpusLike, load_corpus
from crosslens.data.corpus import Corpus, item_error
from crosslens.data.sentence import Item, Sentence
from crosslens.digests import stream_seed
from crosslens.encoders.encoder import Encoder, require_encoder
from crosslens.encoders.options import LastLayer
from crosslens.encoders.represent import represent, represent_words
from crosslens.errors import RequestError
from crosslens.probes import find_probe
from crosslens.probes.probe import Probe
from crosslens.probes.softmax import Fit, fit
from crosslens.progress import Listener, listening
from crosslens.results.record import Record, Results
from crosslens.scores import Score

HELD_OUT = 10
"""Without dev data, one in `HELD_OUT` training texts of every label, or training sentences, is held out."""

DISJOINT_FROM = {"train": (), "test": ("train",), "dev": ("train", "test")}
"""Split -> splits from which it must be disjoint; shared items are left out of it."""

FEWEST = 2
"""Minimum number of training texts per label, so that one can be held out."""


@dataclass(frozen=True, slots=True, eq=False)
class Probed:
    """Results of a probe.

    Attributes:
        results: for every layer ``accuracy`` over test texts or words, with a confidence interval over texts or
            sentences; ``recall`` of every label (the record's target); ``accuracy_shuffled`` and
            ``train_accuracy_shuffled`` of the control task.
        confusion: ``(layers + 1, labels, labels)`` counts of gold by predicted label.
        answers: names of the labels.
    """

    results: Results
    confusion: np.ndarray = field(repr=False)  # thousands of numbers
    answers: tuple[str, ...]

    def confusion_rows(self) -> list[dict[str, str | int]]:
        """Rows with ``layer``, gold ``answer``, predicted label ``given``, and their ``count`` if not zero."""
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
    train: CorpusLike,
    test: CorpusLike,
    dev: CorpusLike | None = None,
    how: Fit | None = None,
    last_layer: LastLayer = "raw",
    seed: int = 1,
    progress: Listener = None,
) -> Probed:
    """Train a linear probe and a control task on the states of every layer.

    The control task (after Hewitt & Liang 2019) shows how much a probe memorises. Its labels are shuffled over texts,
    or over word occurrences, so test accuracy is chance and training accuracy is memorisation.

    Test sentences that also occur in the training data are left out, as are texts whose selected parts are the same;
    the tag ``shared_sentences`` counts them. Dev items that occur in training or test data are left out too, counted by
    ``shared_dev``. Labels that only test words have count as errors.

    Args:
        encoder: encoder, used in evaluation mode.
        asked: probe or its name.
        train: labelled texts, or sentences of labelled words: a name, or anything else that `load_corpus` takes.
        test: test data; labels of texts must occur in ``train``.
        dev: data for the learning-rate schedule and epoch selection; None: a tenth of ``train``, in whole sentences.
        how: training settings; None: the defaults, after Wu & Dredze (2019). The records' settings name those that
            differ, and ``inputs``.
        last_layer: states of the last layer: ``raw``, or ``normalised`` as task heads read them; then the records'
            settings name it.
        seed: random seed for the held-out data, data order and shuffling.
        progress: listener for corpora and epochs.

    Returns:
        Scores and confusion matrices by layer.

    Raises:
        DataError: with file and line, if an item has no label, or a text has one that the training data have at most
            once.
        RequestError: if the probe is unknown, training and test data share a text or all sentences, no dev item is
            left, or there are fewer than two labels.

    Examples:
        >>> probed = xl.probe(encoder, "upos", train="sample/en:train[:60]", test="sample/fr:test[:60]", seed=1)
        >>> probed.answers[:3], len(probed.confusion)  # the embeddings and four layers
        (('ADJ', 'ADP', 'ADV'), 5)
    """
    require_encoder(encoder)
    asked = find_probe(asked) if isinstance(asked, str) else asked
    how = how or Fit()
    listener = listening(progress)
    train, test = (load_corpus(of, split=split) for split, of in (("train", train), ("test", test)))
    dev = None if dev is None else load_corpus(dev, split="dev")
    corpora = {"train": train, "test": test} | ({"dev": dev} if dev is not None else {})
    words = asked.unit == "word"
    whole = () if words else _shared(test, train)
    read = {name: asked.cut(corpus) for name, corpus in corpora.items()}
    shared = {name: _shared(read[name], *(read[other] for other in DISJOINT_FROM[name])) for name in corpora}
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
                raise item_error(corpora[name], item, f"the label {answer!r} does not occur in the training data")
    vectors = {}
    for name in corpora:
        vectors[name] = (
            represent_words(encoder, read[name], last_layer=last_layer, progress=listener)
            if words
            else represent(encoder, read[name], pooling=asked.pooling, last_layer=last_layer, progress=listener).vectors
        )
    y = {name: np.asarray([number[answer] for answer in answers]) for name, answers in given.items()}
    # Index of each label's text, or of each word's sentence.
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
        """Train on these labels; return ``(layers, items)`` predictions for test and training items."""
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
    training = {name: value for name, value in asdict(how).items() if value != getattr(Fit(), name)}
    replaced |= {"inputs": how.inputs, **training} | ({} if last_layer == "raw" else {"last_layer": last_layer})
    settings = " ".join(f"{name}={value}" for name, value in replaced.items())
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
    # All layers of a label in turn, so that bootstrap samples for the same number of items are cached.
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
            records.append(Record(**columns, **score.columns, target=answer, layer=layer, tags=tags))
    records.sort(key=lambda record: record.layer or 0)
    return Probed(Results.of(records), confusion, classes)


def _shared(corpus: Corpus, *others: Corpus) -> set[int]:
    """Indices of the items that occur in other corpora, with the same text or the same words."""

    def content(item: Item) -> str | tuple[str, ...]:
        return item.words if isinstance(item, Sentence) else item.text

    known = {content(item) for other in others for item in other}
    return {number for number, item in enumerate(corpus) if content(item) in known}


def _without(corpus: Corpus, numbers: Collection[int]) -> Corpus:
    """Copy a corpus without the items at these indices."""
    return replace(corpus, items=tuple(item for number, item in enumerate(corpus) if number not in numbers))


def _word_classes(train: Corpus, answers: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Labels of all words, including those that training lacks and that are never predicted correctly."""
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
            raise item_error(train, item, f"the label {answer!r} occurs only once", hint="remove this item")
    return tuple(str(answer) for answer in classes)


def _held_out(answers: np.ndarray, seed: int) -> np.ndarray:
    """``(items,)`` bool: one in `HELD_OUT` items of every label, at least one."""
    generator = np.random.default_rng(stream_seed(seed, "probe-held-out"))
    held = np.zeros(len(answers), bool)
    for answer in np.unique(answers):
        places = generator.permutation(np.flatnonzero(answers == answer))
        held[places[: max(1, len(places) // HELD_OUT)]] = True
    return held


def _held_out_sentences(sentence_of: np.ndarray, seed: int) -> np.ndarray:
    """``(words,)`` bool: the words of one in `HELD_OUT` sentences, at least one."""
    generator = np.random.default_rng(stream_seed(seed, "probe-held-out"))
    sentences = generator.permutation(np.unique(sentence_of))
    return np.isin(sentence_of, sentences[: max(1, len(sentences) // HELD_OUT)])
