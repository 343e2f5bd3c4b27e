"""Confidence of part-of-speech probes on unlabelled text, as evidence of zero-shot accuracy.

Linear probes are trained on frozen states of an encoder for a labelled source corpus, and applied to the text.
Confidence is the fraction of words above a threshold, chosen so that on held-out source sentences this
fraction equals the accuracy (average thresholded confidence, Garg et al. 2022). Agreement is the fraction of words on
which single probes agree with the vote of all (disagreement predicts error; Baek et al. 2022).
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
from crosslens.formatting import counted
from crosslens.probes.softmax import Fit, fit
from crosslens.probes.upos import PartsOfSpeech

TRAIN_SENTENCES = 1000
"""Maximum number of source sentences for probes, as for the taggers that the shipped rule was fitted to."""

TEXT_SENTENCES = 200
"""Maximum number of text sentences for probes."""

HELD_OUT = 5
"""One in `HELD_OUT` source sentences is held out."""

HALVES = 2
"""Number of probes per layer, trained on disjoint sentences, so that they can disagree."""

FIT = Fit(learning_rate=2e-3, batch=64, epochs=12)
"""Training settings of probes, chosen for speed."""


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
    """Confidence and agreement of a source's probes on a text.

    Attributes:
        confident: percentage of words above the threshold; the expected accuracy, if probes are as well calibrated on
            the text as on the source.
        agreement: percentage of words on which single probes agree with the vote of all.
    """

    confident: float
    agreement: float


def probed_layers(depth: int) -> tuple[int, ...]:
    """Layers from half to three quarters of the depth."""
    return tuple(range(max(1, depth // 2), max(1, 3 * depth // 4) + 1))


def train_probes(encoder: Encoder, source: Corpus) -> SourceProbes:
    """Train the probes of a source on its first `TRAIN_SENTENCES` sentences.

    Raises:
        RequestError: for fewer than five sentences.
        DataError: for a sentence without parts of speech.
    """
    corpus = source[:TRAIN_SENTENCES]
    if len(corpus) < HELD_OUT:
        raise RequestError(
            f"{source.name} has {counted(len(corpus), 'sentence', 'sentences')}, but probes need at least {HELD_OUT}"
        )
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
    """Measure the confidence and agreement of a source's probes on a text.

    Args:
        probes: probes of the same encoder.
        states: ``(layers, words, width)`` states of the text, from `read_states`.
    """
    single = _probabilities((states - probes.mean) / probes.spread, probes.weights, probes.biases)
    vote = single.mean((0, 1))
    return Confidence(
        confident=100 * float((vote.max(-1) >= probes.threshold).mean()),
        agreement=100 * float((single.argmax(-1) == vote.argmax(-1)).mean()),
    )


def _probabilities(states: np.ndarray, weights: np.ndarray, biases: np.ndarray) -> np.ndarray:
    """``(halves, layers, words, tags)`` probabilities."""
    return softmax(states @ weights + biases, axis=-1)
