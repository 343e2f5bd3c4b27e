"""How sure part-of-speech probes of a source are of a text: evidence of zero-shot accuracy that needs no labels.

Linear probes are trained on the frozen states of an encoder on a labelled source, then read the text. Two things are
measured. Confidence: the share of words with a confidence above a threshold, which is chosen so that on held-out
sentences of the source that share is the accuracy (average thresholded confidence, Garg et al. 2022). Agreement: the
share of words on which single probes agree with the vote of all (disagreement predicts error; Baek et al. 2022).
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import softmax

from crosslens.data.corpus import Corpus
from crosslens.data.formats.text import cut_words
from crosslens.data.sentence import UPOS
from crosslens.encoders.encoder import Encoder
from crosslens.encoders.represent import represent_words
from crosslens.errors import RequestError
from crosslens.probes.softmax import Fit, fit
from crosslens.probes.upos import PartsOfSpeech

TRAIN_SENTENCES = 1000
"""Sentences of a source that probes are trained on: as many as the measured taggers had."""

TEXT_SENTENCES = 200
"""Sentences of a text that probes read."""

HELD_OUT = 5
"""One in so many sentences of the source is held out."""

HALVES = 2
"""Probes of a layer, each trained on sentences of its own, so that they can disagree."""

FIT = Fit(learning_rate=2e-3, batch=64, epochs=12)
"""How probes are trained: the evidence needs a fast probe, not the best one."""


@dataclass(frozen=True, slots=True, eq=False)
class SourceProbes:
    """Part-of-speech probes of one source, on layers from half to three quarters of the depth of an encoder.

    Attributes:
        layers: numbers of the layers.
        mean: ``(layers, 1, width)``, subtracted from states.
        spread: ``(layers, 1, width)``, by which states are divided.
        weights: ``(halves, layers, width, tags)``.
        biases: ``(halves, layers, 1, tags)``.
        accuracy: of the vote of all probes on held-out sentences of the source, in points.
        threshold: confidence that ``accuracy`` percent of the held-out words exceed.
    """

    layers: tuple[int, ...]
    mean: np.ndarray
    spread: np.ndarray
    weights: np.ndarray
    biases: np.ndarray
    accuracy: float
    threshold: float


@dataclass(frozen=True, slots=True)
class Confidence:
    """What the probes of a source make of a text.

    Attributes:
        confident: words above the threshold, in percent: the accuracy to expect if confidence means the same as on the
            source.
        agreement: agreement of single probes with the vote of all, in percent of the words.
    """

    confident: float
    agreement: float


def probed_layers(depth: int) -> tuple[int, ...]:
    """Layers from half to three quarters of the depth."""
    return tuple(range(max(1, depth // 2), max(1, 3 * depth // 4) + 1))


def train_probes(encoder: Encoder, source: Corpus) -> SourceProbes:
    """Train the probes of a source on its first `TRAIN_SENTENCES` sentences.

    Args:
        encoder: read in evaluation mode.
        source: sentences with parts of speech.

    Raises:
        RequestError: for fewer than five sentences.
        DataError: for a sentence without parts of speech.
    """
    corpus = source[:TRAIN_SENTENCES]
    if len(corpus) < HELD_OUT:
        raise RequestError(f"{source.name} has {len(corpus)} sentences, but probes need at least {HELD_OUT}")
    tags = PartsOfSpeech().answers(corpus)
    names = sorted({*UPOS, *tags})
    answers = np.searchsorted(names, tags)
    sentence = np.repeat(np.arange(len(corpus)), corpus.lengths)
    held_out = sentence % HELD_OUT == HELD_OUT - 1
    layers = probed_layers(encoder.depth)
    states = represent_words(encoder, corpus)[list(layers)]
    mean, spread = states[:, ~held_out].mean(1, keepdims=True), states[:, ~held_out].std(1, keepdims=True)
    spread[spread == 0] = 1
    states = (states - mean) / spread
    dev, right = states[:, held_out], answers[held_out]
    parts = [~held_out & (sentence % HALVES == half) for half in range(HALVES)]
    fitted = [
        fit(states[:, part], answers[part], dev, right, classes=len(names), how=FIT, seed=half)
        for half, part in enumerate(parts)
    ]
    weights, biases = (np.stack(part) for part in zip(*fitted, strict=True))
    vote = _probabilities(dev, weights, biases).mean((0, 1))
    accuracy = float((vote.argmax(-1) == right).mean())
    threshold = float(np.quantile(vote.max(-1), 1 - accuracy))
    return SourceProbes(layers, mean, spread, weights, biases, 100 * accuracy, threshold)


def read_states(encoder: Encoder, text: Corpus) -> np.ndarray:
    """``(layers, words, width)``: states of the first `TEXT_SENTENCES` sentences at `probed_layers`."""
    words = cut_words(text[:TEXT_SENTENCES])
    words = replace(words, items=tuple(sentence for sentence in words.sentences if len(sentence)))
    return represent_words(encoder, words)[list(probed_layers(encoder.depth))]


def measure_confidence(probes: SourceProbes, states: np.ndarray) -> Confidence:
    """What the probes of a source make of a text.

    Args:
        probes: of the same encoder.
        states: of the text, from `read_states`.
    """
    single = _probabilities((states - probes.mean) / probes.spread, probes.weights, probes.biases)
    vote = single.mean((0, 1))
    return Confidence(
        confident=100 * float((vote.max(-1) >= probes.threshold).mean()),
        agreement=100 * float((single.argmax(-1) == vote.argmax(-1)).mean()),
    )


def _probabilities(states: np.ndarray, weights: np.ndarray, biases: np.ndarray) -> np.ndarray:
    """``(halves, layers, words, tags)``."""
    return softmax(states @ weights + biases, axis=-1)
