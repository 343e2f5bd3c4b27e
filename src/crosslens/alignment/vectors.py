"""A vector a word: from the embedding table, averaged over all places where the word stands, or from a file."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import torch

from crosslens.data.corpus import Corpus
from crosslens.data.formats.lines import normal
from crosslens.data.formats.text import cut_words
from crosslens.data.subwords import split_words
from crosslens.encoders.encoder import Encoder
from crosslens.encoders.inputs import cut_subwords, read_windows
from crosslens.encoders.load import load_encoder
from crosslens.encoders.matmul import inference
from crosslens.encoders.reinit import untrained_pair
from crosslens.encoders.represent import read_layers
from crosslens.errors import DataError, RequestError

FASTTEXT = 200_000
"""Rows read of a file of static vectors: the commonest words, as in MUSE."""


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Vectors of words, perhaps at several layers.

    Attributes:
        words: each once.
        vectors: ``(layers, words, width)`` float32.
        layers: the number of each layer; 0 is the embeddings, None what has no layers.
        name: of what made them.
        language: of the words.
        counts: ``(words,)``: how often each was read; 1 in a table.
        columns: what records say of the encoder that made them; none of static vectors.
    """

    words: tuple[str, ...]
    vectors: np.ndarray
    layers: tuple[int | None, ...]
    name: str
    language: str | None
    counts: np.ndarray
    columns: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def places(self) -> dict[str, int]:
        """Word -> its row."""
        return {word: place for place, word in enumerate(self.words)}


def is_static(name: str) -> bool:
    """Whether a name is that of a file of static vectors, and not of an encoder."""
    return name.endswith(".vec")


def load_vectors(
    encoder: Encoder | str, *, language: str, text: Corpus | None = None, device: str | torch.device | None = None
) -> WordVectors:
    """A vector for each word of a language, from an encoder or from a file.

    Args:
        encoder: one, its name or folder, or a file of static vectors that ends in ``.vec``.
        language: of the words.
        text: raw text, over whose places the states of a word are averaged; None: the encoder's embedding table.
        device: of an encoder that is loaded here; None: a GPU where there is one.
    """
    if isinstance(encoder, str):
        if is_static(encoder):
            return read_vectors(encoder, language=language)
        encoder = load_encoder(encoder, device=device)
    return contextual_vectors(encoder, text) if text is not None else table_vectors(encoder, language=language)


def untrained_vectors(
    source: Encoder, target: Encoder, *, languages: tuple[str, str], texts: Mapping[str, Corpus], seeds: Iterable[int]
) -> Iterator[tuple[int, WordVectors, WordVectors]]:
    """The vectors of both encoders re-initialised, one seed at a time: a baseline of `word_translation`.

    Args:
        source: reads the first language.
        target: reads the second.
        languages: of the words.
        texts: by language, as the ``text`` of `load_vectors`; none of a language: its encoder's embedding table.
        seeds: random seeds.

    Yields:
        A seed, the source's vectors and the target's.
    """
    for seed in seeds:
        encoders = untrained_pair(source, target, seed=seed)
        first, second = (
            load_vectors(encoder, language=language, text=texts.get(language))
            for encoder, language in zip(encoders, languages, strict=True)
        )
        yield seed, first, second


def table_vectors(encoder: Encoder, *, language: str | None = None) -> WordVectors:
    """The rows of the embedding table that are whole words (Conneau, Wu et al. 2020, section 5.1.1).

    Args:
        encoder: its table of word embeddings, as it is: without positions and normalisation.
        language: of the words; needed where each language has a vocabulary of its own.

    Raises:
        RequestError: when the vocabulary has no whole word.
    """
    encoder = encoder.for_language(language)
    tokenizer = encoder.tokenizer
    if hasattr(encoder.model, "speak"):
        encoder.model.set_language(language)  # pyright: ignore[reportCallIssue]
    table = encoder.model.get_input_embeddings().get_parameter("weight").detach().cpu().numpy()
    texts = dict.fromkeys(str(tokenizer.decode([number])).strip() for number in range(len(tokenizer)))
    words = [text for text in texts if text.isalpha()]
    pieces = split_words([[word] for word in words], tokenizer)
    unknown = tokenizer.unk_token_id
    whole = {word: int(p.ids[0]) for word, p in zip(words, pieces, strict=True) if len(p.ids) == 1}
    whole = {word: number for word, number in whole.items() if number != unknown}
    if not whole:
        raise RequestError(f"the vocabulary of {encoder.name} has no subword that is a whole word")
    rows = table[list(whole.values())]
    vectors, counts = rows[None].astype(np.float32), np.ones(len(whole))
    return WordVectors(tuple(whole), vectors, (0,), encoder.name, language, counts, encoder.columns)


@inference()
def contextual_vectors(
    encoder: Encoder, corpus: Corpus, *, words: Collection[str] | None = None, case: Literal["lower", "kept"] = "lower"
) -> WordVectors:
    """Each word's states, the mean of its subwords', averaged over all places where it stands, at every layer.

    The text is gone through once, and only sums are kept: memory is that of the vocabulary, however long the text.

    Args:
        encoder: pretrained.
        corpus: sentences of words, or running text, which is cut at spaces and punctuation.
        words: only these; None: all that consist of letters.
        case: whether ``The`` is ``the``; dictionaries are lowercased.

    Raises:
        RequestError: when no such word is in the text.
    """
    sentences = cut_words(corpus)

    def fold(word: str) -> str:
        return word.lower() if case == "lower" else word

    kept = None if words is None else {fold(word) for word in words}
    counts: dict[str, int] = {}
    for sentence in sentences.sentences:
        for word in map(fold, sentence.words):
            if word in kept if kept is not None else word.isalpha():
                counts[word] = counts.get(word, 0) + 1
    if not counts:
        raise RequestError(f"{corpus.name} contains none of the words")
    rows = {word: row for row, word in enumerate(counts)}
    row_of = np.asarray([rows.get(fold(word), -1) for sentence in sentences.sentences for word in sentence.words])
    sums = torch.zeros(encoder.depth + 1, len(rows), encoder.width)
    for states, places, owners, shares in word_pieces(encoder, sentences):
        known = row_of[owners] >= 0
        index, weights = torch.from_numpy(row_of[owners[known]]), torch.from_numpy(shares[known])[:, None]
        for layer, layer_states in enumerate(states):
            picked = layer_states.flatten(0, 1)[torch.from_numpy(places[known]).to(layer_states.device)].float().cpu()
            sums[layer].index_add_(0, index, picked * weights)
    often = np.asarray(list(counts.values()))
    vectors = (sums / torch.from_numpy(often).float()[None, :, None]).numpy()
    layers = tuple(range(encoder.depth + 1))
    return WordVectors(tuple(rows), vectors, layers, encoder.name, corpus.language, often, encoder.columns)


@inference()
def occurrences(
    encoder: Encoder, corpus: Corpus, wanted: Sequence[tuple[int, int]], *, piece: Literal["first", "mean"] = "first"
) -> np.ndarray:
    """The states of single words in their sentences, ``(layers + 1, wanted, width)`` float32.

    Args:
        encoder: pretrained.
        corpus: sentences of words.
        wanted: (sentence, word) numbers.
        piece: the state of a word's first subword, as taggers read it; or the mean of all.
    """
    sentences, words = np.asarray(wanted, np.int64).reshape(-1, 2).T
    lengths = [len(sentence) for sentence in corpus.sentences]
    # Each word that is wanted once, by its number in the corpus; and which of them each row of the result is.
    numbers, row_of = np.unique((np.cumsum(lengths) - lengths)[sentences] + words, return_inverse=True)
    vectors = np.zeros((encoder.depth + 1, len(numbers), encoder.width), np.float32)
    for states, places, owners, shares in word_pieces(encoder, corpus):
        chosen = np.isin(owners, numbers)
        if piece == "first":
            chosen &= np.diff(owners, prepend=-1) != 0
            shares = np.ones_like(shares)
        into = np.searchsorted(numbers, owners[chosen])
        for layer, layer_states in enumerate(states):
            picked = (
                layer_states.flatten(0, 1)[torch.from_numpy(places[chosen]).to(layer_states.device)]
                .float()
                .cpu()
                .numpy()
            )
            np.add.at(vectors[layer], into, picked * shares[chosen, None])
    return vectors[:, row_of]


def word_pieces(
    encoder: Encoder, corpus: Corpus
) -> Iterator[tuple[list[torch.Tensor], np.ndarray, np.ndarray, np.ndarray]]:
    """Batch by batch the states of all layers, and which subwords of them belong to which word.

    Go through it within `inference`: nothing is trained.

    Yields:
        ``(layers + 1)`` times ``(windows, length, width)``; ``(subwords,)`` places in the flattened windows, a word's
        together; ``(subwords,)``: the number of each one's word, counted through the corpus; ``(subwords,)`` float32
        shares that sum to 1 for each word.
    """
    encoder = encoder.for_language(corpus.language)
    pieces = cut_subwords(encoder, corpus)
    windows = read_windows(encoder, corpus).windows
    firsts = np.cumsum([0, *(len(ids) for ids in pieces)])
    for _, batch, outputs in read_layers(encoder, windows):
        places, owners, shares = [], [], []
        for row, window in enumerate(batch.windows):
            lengths = np.diff(pieces[window.sentence].starts[window.first : window.last + 1])
            places.append(row * batch.ids.shape[1] + np.arange(*window.span))
            owners.append(firsts[window.sentence] + np.repeat(np.arange(window.first, window.last), lengths))
            shares.append(np.repeat(1 / lengths, lengths).astype(np.float32))
        yield outputs, np.concatenate(places), np.concatenate(owners), np.concatenate(shares)


def read_vectors(path: str | Path, *, language: str | None = None, most: int = FASTTEXT) -> WordVectors:
    """Static vectors in fastText's and word2vec's text format: a line a word, perhaps a line of sizes before them.

    Args:
        path: a ``.vec`` file.
        language: of the words.
        most: how many lines are read.

    Raises:
        DataError: with file and line: for a line without a word and its numbers, or with another number of them;
            for a file that is missing or empty.
    """
    words: list[str] = []
    rows: list[np.ndarray] = []
    if not Path(path).is_file():
        raise DataError("file not found", file=str(path))
    with open(path, encoding="utf-8", newline="\n", errors="replace") as stream:
        for number, line in enumerate(stream, start=1):
            columns = line.rstrip().split(" ")
            if number == 1 and len(columns) == 2:
                continue
            if len(words) == most:
                break
            try:
                row = np.asarray(columns[1:], np.float32)
            except ValueError:
                row = np.empty(0, np.float32)
            if not len(row) or (rows and len(row) != len(rows[0])):
                width = f", where the first has {len(rows[0])}" if rows else ""
                raise DataError(f"{len(row)} numbers after the word{width}", file=str(path), line=number)
            words.append(normal(columns[0]))
            rows.append(row)
    if not rows:
        raise DataError("contains no vectors", file=str(path))
    known = {word: place for place, word in reversed(list(enumerate(words)))}  # of a word twice, the first
    order = sorted(known.values())
    kept = np.stack([rows[place] for place in order])[None]
    return WordVectors(tuple(words[i] for i in order), kept, (None,), str(path), language, np.ones(len(order)))
