"""Linear probing of every layer of an encoder, with a control task."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from crosslens import __version__
from crosslens.corpora.catalogue import CorpusLike, load_corpus
from crosslens.data.corpus import Corpus
from crosslens.digests import require_seed, stream_seed
from crosslens.encoders.encoder import Encoder, require_encoder
from crosslens.encoders.options import LastLayer
from crosslens.encoders.represent import represent, represent_words
from crosslens.probes import find_probe
from crosslens.probes.probe import Probe
from crosslens.probes.softmax import Fit, fit
from crosslens.probes.splits import Split, disjoint, find_classes, hold_out, scale
from crosslens.probes.text_labels import LanguageIdentification
from crosslens.progress import Listener, listening
from crosslens.results.record import Record, Results
from crosslens.scores import Score
from crosslens.settings import replace_settings

if TYPE_CHECKING:
    import altair

_ITEMS = {"text": "texts", "word": "sentences"}
"""Labelled unit -> the items that splits must not share."""

_SHARED_TAGS = {"test": "shared_sentences", "dev": "shared_dev"}
"""Split -> tag with the number of its items that were left out."""


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

    def plot(self) -> "altair.TopLevelMixin":
        """Plot the accuracy by layer, and that of the control task dashed.

        Raises:
            RequestError: when altair is not installed.

        Examples:
            >>> probed = xl.probe(encoder, "upos", train="sample/en:train[:60]", test="sample/fr:test[:60]", seed=1)
            >>> probed.plot().to_dict()["spec"]["layer"][-1]["mark"]["type"]
            'point'
        """
        return self.results.plot()

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
    how: Fit | Mapping[str, Any] | None = None,
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
        how: training settings, or a mapping of those that differ from the defaults, as in ``{"epochs": 50}``; None:
            the defaults, after Wu & Dredze (2019). The records' settings name those that differ, and ``inputs``.
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
    seed = require_seed(seed)
    asked = find_probe(asked) if isinstance(asked, str) else asked
    how = how if isinstance(how, Fit) else replace_settings(Fit(), how or {}, what="a probe")
    listener = listening(progress)
    named = {"train": train, "test": test, "dev": dev}
    corpora = {split: load_corpus(corpus, split=split) for split, corpus in named.items() if corpus is not None}
    kept, read, shared = disjoint(asked, corpora)
    answers = {split: asked.answers(corpus) for split, corpus in kept.items()}
    classes = find_classes(asked.unit, kept, answers)
    number = {answer: place for place, answer in enumerate(classes)}

    def states(corpus: Corpus, answers: Sequence[str]) -> np.ndarray:
        """``(layers + 1, texts or words, hidden)``."""
        if asked.unit == "word":
            return represent_words(encoder, corpus, last_layer=last_layer, progress=listener)
        read_whole = partial(represent, encoder, pooling=asked.pooling, last_layer=last_layer, progress=listener)
        if not (encoder.edited and isinstance(asked, LanguageIdentification)):
            return read_whole(corpus).vectors
        # Interventions on states, such as means, are of one language: the texts of each are a corpus of their own.
        parts = [np.flatnonzero(np.asarray(answers) == language) for language in dict.fromkeys(answers)]
        vectors = [read_whole(replace(corpus, items=tuple(corpus[i] for i in part.tolist()))).vectors for part in parts]
        return np.concatenate(vectors, axis=1)[:, np.argsort(np.concatenate(parts))]

    splits = {
        split: Split(
            states(read[split], answers[split]),
            np.asarray([number[answer] for answer in answers[split]]),
            np.repeat(np.arange(len(corpus)), corpus.lengths if asked.unit == "word" else 1),
        )
        for split, corpus in kept.items()
    }
    if "dev" not in splits:
        splits["train"], splits["dev"] = hold_out(splits["train"], asked.unit, seed=seed)
    if how.inputs == "scaled":
        splits = scale(splits)

    def predict(splits: Mapping[str, Split], stage: str) -> tuple[np.ndarray, np.ndarray]:
        """Train on these labels; return ``(layers + 1, texts or words)`` predictions for test and training data."""
        train, test, dev = (splits[split] for split in named)
        weights, biases = fit(
            train.states,
            train.labels,
            dev.states,
            dev.labels,
            classes=len(classes),
            how=how,
            seed=seed,
            stage=stage,
            progress=listener,
        )
        return (test.states @ weights + biases).argmax(-1), (train.states @ weights + biases).argmax(-1)

    guesses, _ = predict(splits, "training the probe")
    generator = np.random.default_rng(stream_seed(seed, "probe-control"))
    shuffled = {name: replace(split, labels=generator.permutation(split.labels)) for name, split in splits.items()}
    by_chance, by_heart = predict(shuffled, "training the control on shuffled answers")

    gold = splits["test"].labels
    confusion = np.zeros((len(guesses), len(classes), len(classes)), np.int64)
    for layer, guess in enumerate(guesses):
        np.add.at(confusion[layer], (gold, guess), 1)
    rule = f"{asked.unit}s:" + (f"unseen-{_ITEMS[asked.unit]}" if shared["test"] else "all")
    columns = {
        **encoder.columns,
        "settings": _settings(asked, how, last_layer),
        "corpus": corpora["test"].name,
        "corpus_digest": corpora["test"].digest,
        "train": corpora["train"].name,
        "train_digest": corpora["train"].digest,
        "dev": corpora["dev"].name if "dev" in corpora else None,
        "split": corpora["test"].split,
        "seed": seed,
        "measure": f"probe {asked.name}",
        "tags": {"classes": len(classes), "crosslens": __version__}
        | {tag: shared[split] for split, tag in _SHARED_TAGS.items() if shared.get(split)},
    }
    # All layers of a label in turn, so that bootstrap samples for the same number of items are cached.
    item_of = splits["test"].item_of
    judged = [
        ("accuracy", None, guesses == gold, item_of, "test"),
        ("accuracy_shuffled", None, by_chance == shuffled["test"].labels, item_of, "test"),
        ("train_accuracy_shuffled", None, by_heart == shuffled["train"].labels, splits["train"].item_of, "train"),
        *(
            ("recall", answer, guesses[:, chosen] == place, item_of[chosen], "test")
            for answer, place in number.items()
            if (chosen := gold == place).any()
        ),
    ]
    records = [
        Record(**columns, **score.columns, target=answer, layer=layer)
        for metric, answer, right, items, split in judged
        for layer, score in enumerate(_scores(metric, right, items, rule=rule, data=corpora[split].digest))
    ]
    records.sort(key=lambda record: record.layer or 0)
    return Probed(Results.of(records), confusion, classes)


def _settings(asked: Probe, how: Fit, last_layer: LastLayer) -> str:
    """Settings of the probe and its training that differ from the defaults, and the scale of the inputs."""
    replaced = asked.model_dump(mode="json", exclude_defaults=True)  # pyright: ignore[reportAttributeAccessIssue]
    replaced |= {"inputs": how.inputs}
    replaced |= how.model_dump(exclude_defaults=True)
    replaced |= {} if last_layer == "raw" else {"last_layer": last_layer}
    return " ".join(f"{name}={value}" for name, value in replaced.items())


def _scores(metric: str, right: np.ndarray, item_of: np.ndarray, *, rule: str, data: str) -> Iterator[Score]:
    """For every layer, correct words or texts of all items.

    Args:
        metric: name of the score.
        right: ``(layers + 1, texts or words)`` whether each is predicted correctly.
        item_of: ``(texts or words,)`` index of the text, or of the word's sentence.
        rule: counting rule.
        data: digest of the gold data.
    """
    _, item = np.unique(item_of, return_inverse=True)
    total = np.bincount(item)
    for correct in right:
        yield Score(metric, np.bincount(item, weights=correct).astype(np.int64), total, rule, data)
