"""Extract representations: one vector per item and layer, pooled over subwords."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import torch

from crosslens.corpora.catalogue import CorpusLike, load_corpus
from crosslens.data.corpus import Corpus, item_error
from crosslens.data.sentence import Sentence
from crosslens.data.windows import Window
from crosslens.encoders.batch import Batch, reading_batches
from crosslens.encoders.encoder import Encoder, layer_outputs, require_encoder
from crosslens.encoders.inputs import read_doubled, read_windows
from crosslens.encoders.matmul import inference
from crosslens.encoders.options import LastLayer, Pooling
from crosslens.errors import DataError, EncoderError, RequestError, require_known
from crosslens.progress import Listener, listening


@dataclass(frozen=True, eq=False)
class Representations:
    """Vectors of a corpus at every layer, usable as a numpy array.

    Attributes:
        vectors: ``(layers + 1, items, hidden)`` float32, read-only; layer 0 is the embeddings.
        pooling: pooling method.
        encoder: name of the encoder.
        corpus: name of the corpus.
        language: language of the corpus.
        lengths: ``(items,)`` number of words of each sentence, or characters of each running text.
        subwords: ``(items,)`` number of subwords pooled.
    """

    vectors: np.ndarray
    pooling: Pooling
    encoder: str
    corpus: str
    language: str | None
    lengths: np.ndarray
    subwords: np.ndarray

    def __repr__(self) -> str:
        """Describe the vectors in one line."""
        layers, items, width = self.shape
        return (
            f"Representations of {self.corpus} by {self.encoder}, {self.pooling}:"
            f" {layers} layers (0: embeddings) × {items:,} items × {width} dimensions"
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.vectors, dtype=dtype, copy=copy)

    def __getitem__(self, index: Any) -> np.ndarray:
        return self.vectors[index]

    def __len__(self) -> int:
        """Number of layers, including the embeddings."""
        return len(self.vectors)

    @property
    def shape(self) -> tuple[int, ...]:
        """``(layers + 1, items, hidden)``."""
        return self.vectors.shape


@inference()
def represent(
    encoder: Encoder,
    corpus: CorpusLike,
    *,
    pooling: Pooling = "mean",
    last_layer: LastLayer = "raw",
    progress: Listener = None,
) -> Representations:
    """Compute one vector per item and layer.

    Vectors pool the raw output of each layer, before any final normalisation of the architecture, so that layers are
    comparable, unless ``last_layer`` says otherwise. Items longer than one window are pooled over all windows, each
    subword once. Peak memory is little more than the result.

    Args:
        encoder: encoder or decoder; set to evaluation mode.
        corpus: sentences of words, or running text: a name, a file, or anything else that `load_corpus` takes.
        pooling: see `Pooling`.
        last_layer: see `LastLayer`.
        progress: listener for the number of windows read.

    Returns:
        Vectors ``(layers + 1, items, hidden)`` float32, with their pooling and corpus.

    Raises:
        RequestError: for an unknown pooling or kind of last layer, or ``muller2021-code`` with repeated input.
        DataError: for an item without words, or pooling ``first`` on running text.
        EncoderError: for pooling ``cls`` if the tokenizer adds no token before the first word, or NaN or infinite
            states.

    Examples:
        >>> xl.represent(encoder, "sample/fr[:10]").shape  # (layers + 1, sentences, hidden)
        (5, 10, 32)
    """
    corpus = load_corpus(corpus)
    encoder = require_encoder(encoder).for_language(corpus.language)
    require_known(pooling, get_args(Pooling), "unknown pooling")
    if pooling == "first" and not all(isinstance(item, Sentence) for item in corpus):
        raise DataError(f"pooling 'first' needs sentences of words, but {corpus.name} is running text")
    if pooling == "muller2021-code" and encoder.reading.repeat > 1:
        raise RequestError("pooling 'muller2021-code' reads a text once, not repeatedly", hint="use the pooling mean")
    read = read_doubled if pooling == "muller2021-code" else read_windows
    windows = read(encoder, corpus).windows
    positions = _pooled_positions(windows, pooling)
    if len(windows) and pooling == "cls" and not all(window.before for window in windows):
        raise EncoderError(
            f"{encoder.name} has no special token before the first word", hint="use the pooling mean or last"
        )
    pooled = np.zeros((encoder.depth + 1, len(corpus), encoder.width), np.float32)
    counts = np.zeros(len(corpus), np.float32)
    for numbers, batch, outputs in read_layers(encoder, corpus, windows, last_layer=last_layer, progress=progress):
        weights = torch.zeros(batch.mask.shape, dtype=torch.float32)
        for row, number in enumerate(numbers):
            weights[row, torch.from_numpy(positions[number])] = 1
        sentences = np.asarray([window.sentence for window in batch.windows])
        np.add.at(counts, sentences, weights.sum(1).numpy())
        weights = weights.to(encoder.device)
        sums = torch.stack([torch.bmm(weights[:, None], states.float())[:, 0] for states in outputs])
        for layer, layer_sums in enumerate(sums.cpu().numpy()):  # one GPU synchronisation per batch
            np.add.at(pooled[layer], sentences, layer_sums)
    if not counts.all():
        item = corpus[int(counts.argmin())]
        raise item_error(corpus, item, "cannot represent an item without words", hint="remove it")
    pooled /= counts[None, :, None]
    _require_numbers(encoder, corpus, pooled, np.arange(len(corpus)))
    pooled.flags.writeable = False
    lengths = np.asarray(corpus.lengths)
    return Representations(
        pooled, pooling, encoder.given_name, corpus.name, corpus.language, lengths, counts.astype(np.int64)
    )


@inference()
def represent_words(
    encoder: Encoder, corpus: Corpus, *, last_layer: LastLayer = "raw", progress: Listener = None
) -> np.ndarray:
    """Compute one state per word and layer, that of the word's labelled subword, which taggers read.

    Args:
        encoder: encoder or decoder; set to evaluation mode.
        last_layer: see `LastLayer`.
        progress: listener for the number of windows read.

    Returns:
        ``(layers + 1, words, hidden)`` float32, sentence by sentence; layer 0 is the embeddings. The array is held in
        memory: about 0.8 GB for a thousand English sentences and an encoder of BERT's size.

    Raises:
        DataError: for running text, which has no words.
        EncoderError: for NaN or infinite states.
    """
    lengths = [len(sentence) for sentence in corpus.sentences]
    states = np.empty((encoder.depth + 1, corpus.words, encoder.width), np.float32)
    for words, word_states in read_words(encoder, corpus, last_layer=last_layer, progress=progress):
        states[:, words] = word_states.cpu().numpy()
    _require_numbers(encoder, corpus, states, np.repeat(np.arange(len(corpus)), lengths))
    return states


def read_words(
    encoder: Encoder, corpus: Corpus, *, last_layer: LastLayer = "raw", progress: Listener = None
) -> Iterator[tuple[np.ndarray, torch.Tensor]]:
    """Compute the states of a corpus's words at every layer, batch by batch; iterate inside `inference`.

    Yields:
        The indices of the words in the corpus, ``(words,)``; their states ``(layers + 1, words, width)`` float32, each
        that of the word's labelled subword.
    """
    encoder = encoder.for_language(corpus.language)
    firsts = np.cumsum([0, *map(len, corpus.sentences)])
    windows = read_windows(encoder, corpus).windows
    for _, batch, outputs in read_layers(encoder, corpus, windows, last_layer=last_layer, progress=progress):
        words = [firsts[window.sentence] + np.arange(window.first, window.last) for window in batch.windows]
        yield np.concatenate(words), torch.stack([batch.word_states(layer).float() for layer in outputs])


def read_layers(
    encoder: Encoder,
    corpus: Corpus,
    windows: Sequence[Window],
    *,
    last_layer: LastLayer = "raw",
    progress: Listener = None,
) -> Iterator[tuple[np.ndarray, Batch, list[torch.Tensor]]]:
    """Compute the states of a corpus's windows at every layer, batch by batch; iterate inside `inference`.

    Yields:
        The indices of the windows; their batch; ``(layers + 1)`` times its states ``(windows, length, width)``.
    """
    require_known(last_layer, get_args(LastLayer), "unknown kind of last layer")
    encoder.model.eval()
    encoder = encoder.prepared(windows, corpus)
    listener, stage, done = listening(progress), f"reading {corpus.name}", 0
    for numbers, batch in reading_batches(windows, padding=encoder.padding, device=encoder.device):
        listener.report(stage, done, len(windows), "windows")
        yield numbers, batch, layer_outputs(encoder, batch.ids, batch.mask, last_layer=last_layer)
        done += len(numbers)
    listener.report(stage, done, len(windows), "windows")


def _require_numbers(encoder: Encoder, corpus: Corpus, vectors: np.ndarray, item_of: np.ndarray) -> None:
    """Reject NaN and infinite values in ``(layers, vectors, width)``; ``item_of`` is the item index of each vector."""
    finite = np.isfinite(vectors).all(axis=2)
    if not finite.all():
        layer, vector = (int(axis[0]) for axis in np.nonzero(~finite))
        item = int(item_of[vector])
        raise EncoderError(
            f"{encoder.name}: layer {layer} of item {corpus[item].id or item + 1} of {corpus.name} is not a number",
            hint="check whether training diverged, or compute in float32 (--precision float32)",
        )


def _pooled_positions(windows: Sequence[Window], pooling: Pooling) -> list[np.ndarray]:
    """Return the positions of the pooled states of each window."""
    last = {window.sentence: number for number, window in enumerate(windows)}
    positions = []
    for number, window in enumerate(windows):
        begin, end = window.span
        if pooling == "first":
            positions.append(window.labelled)
        elif pooling == "cls":
            positions.append(np.arange(min(window.before, 1) if window.first == 0 else 0))
        elif pooling == "last":
            positions.append(np.arange(end - 1 if last[window.sentence] == number else end, end))
        else:
            positions.append(np.arange(begin, end))
    return positions
