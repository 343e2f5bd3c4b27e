"""Word vectors from an embedding table, from contextual states averaged over a text, or from a file."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from crosslens.corpora.catalogue import load_text
from crosslens.corpora.collection import is_same_language
from crosslens.data.corpus import Corpus, require_corpus
from crosslens.data.formats.lines import normal
from crosslens.data.formats.text import cut_words, is_word
from crosslens.data.subwords import split_words
from crosslens.digests import require_seeds
from crosslens.encoders.encoder import Encoder
from crosslens.encoders.inputs import read_windows
from crosslens.encoders.load import load_encoder
from crosslens.encoders.matmul import inference
from crosslens.encoders.reinit import untrained_pair
from crosslens.encoders.represent import read_layers, read_words
from crosslens.errors import DataError, RequestError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

FASTTEXT = 200_000
"""Number of the most frequent words read from a file of static vectors, as in MUSE."""


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Word vectors at one or more layers.

    Attributes:
        words: unique words.
        vectors: ``(layers, words, width)`` float32.
        layers: layer numbers; 0: embeddings; None: static vectors.
        name: name of the encoder or file.
        counts: ``(words,)`` occurrences averaged for each word; 1 for table and static vectors.
        columns: columns of records that describe the encoder; empty for static vectors.
        text: name of the text that contextual states are averaged over; None for other vectors.
        seed: random seed of the last random change of the encoder; None without any.
    """

    words: tuple[str, ...]
    vectors: np.ndarray
    layers: tuple[int | None, ...]
    name: str
    language: str | None
    counts: np.ndarray
    columns: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    text: str | None = None
    seed: int | None = None

    def places(self) -> dict[str, int]:
        """Word -> row number."""
        return {word: row for row, word in enumerate(self.words)}


def is_static(name: str) -> bool:
    """Whether a name refers to a file of static vectors instead of an encoder.

    >>> is_static("wiki.fr.vec"), is_static("xlm-roberta-base")
    (True, False)
    """
    return name.endswith(".vec")


def load_vectors(
    encoder: Encoder | str | Path,
    *,
    language: str,
    text: Corpus | str | Path | None = None,
    device: str | torch.device | None = None,
) -> WordVectors:
    """Load word vectors of a language from an encoder or a file; words are lower-cased, as in dictionaries.

    Of words in a table or a file that differ only in case, the lower-case one counts, else the first.

    Args:
        encoder: encoder, its name or folder, or a ``.vec`` file of static vectors.
        language: language of the words.
        text: text in which a word's contextual states are averaged, or the name of raw text; None: use the encoder's
            embedding table.
        device: device for an encoder given by name; None: a GPU if available.

    Returns:
        Vectors for `word_translation`: of every layer with a text, else of layer 0; of no layer from a file.

    Raises:
        RequestError: if the text is in another language or contains no words, or the vocabulary has no whole word; for
            an encoder with interventions on states without a text.
        DataError: if a file is missing or malformed.

    Examples:
        >>> xl.load_vectors(encoder, language="en").layers
        (0,)
        >>> xl.load_vectors(encoder, language="en", text=xl.load_corpus("sample/en")).layers
        (0, 1, 2, 3, 4)
    """
    if isinstance(encoder, str | Path):
        if is_static(str(encoder)):
            return _lowered(read_vectors(encoder, language=language))
        encoder = load_encoder(encoder, device=device)
    if isinstance(text, str | Path):
        text = load_text(text, language=language)
    if text is None:
        if encoder.edited:
            raise RequestError(
                f"the embedding table has no states, which {encoder.edited[0].intervention.label} acts on",
                hint="give a text, in which the states of words are averaged",
            )
        return _lowered(table_vectors(encoder, language=language))
    return contextual_vectors(encoder, _in(require_corpus(text), language))


def _lowered(vectors: WordVectors) -> WordVectors:
    """Lower-case the words, and keep one row for each."""
    rows: dict[str, int] = {}
    for word, row in sorted(vectors.places().items(), key=lambda place: place[0] != place[0].lower()):
        rows.setdefault(word.lower(), row)
    if tuple(rows) == vectors.words:
        return vectors
    kept = list(rows.values())
    return replace(vectors, words=tuple(rows), vectors=vectors.vectors[:, kept], counts=vectors.counts[kept])


def _in(corpus: Corpus, language: str) -> Corpus:
    """A text as one of this language, which it may have with a script, such as sr-Latn; refuse that of another one."""
    if corpus.language is None:
        return replace(corpus, language=language)
    if not is_same_language(corpus.language, language):
        raise RequestError(f"{corpus.name} is in {corpus.language}, but vectors of {language} words were requested")
    return corpus


def untrained_vectors(
    source: Encoder,
    target: Encoder,
    *,
    languages: tuple[str, str],
    texts: Mapping[str, Corpus | str] = MappingProxyType({}),
    seeds: Iterable[int] = (1,),
) -> Iterator[tuple[int, WordVectors, WordVectors]]:
    """Load word vectors from re-initialised copies of two encoders, a baseline for `word_translation`.

    Args:
        source: encoder of the first language.
        target: encoder of the second language.
        languages: source and target language.
        texts: language -> ``text`` of `load_vectors`; languages without text use the embedding table.
        seeds: random seeds.

    Returns:
        Iterator over seeds, each with its source vectors and target vectors.

    Examples:
        >>> [(seed, *_)] = xl.untrained_vectors(encoder, encoder, languages=("en", "fr"), seeds=(3,))
        >>> seed
        3
    """
    for seed in require_seeds(seeds, "seeds"):
        encoders = untrained_pair(source, target, seed=seed)
        first, second = (
            load_vectors(encoder, language=language, text=texts.get(language))
            for encoder, language in zip(encoders, languages, strict=True)
        )
        yield seed, first, second


def table_vectors(encoder: Encoder, *, language: str | None = None) -> WordVectors:
    """Return the rows of an embedding table that are whole words (Conneau, Wu et al. 2020, section 5.1.1).

    Args:
        encoder: encoder; its word embeddings are used without position embeddings and normalisation.
        language: language of the words; required if each language has its own vocabulary.

    Raises:
        RequestError: if the vocabulary has no whole word.
    """
    encoder = encoder.for_language(language)
    if hasattr(encoder.model, "set_language"):
        encoder.model.set_language(language)  # pyright: ignore[reportCallIssue]
    table = encoder.model.get_input_embeddings().get_parameter("weight").detach().cpu().numpy()
    whole = _whole_words(encoder.tokenizer, len(encoder.tokenizer))
    if not whole:
        raise RequestError(f"the vocabulary of {encoder.name} has no subword that is a whole word")
    rows = table[list(whole.values())]
    vectors, counts = rows[None].astype(np.float32), np.ones(len(whole))
    described = encoder.given_name, language, counts, encoder.columns, None, encoder.seed
    return WordVectors(tuple(whole), vectors, (0,), *described)


@lru_cache(maxsize=2)
def _whole_words(tokenizer: "PreTrainedTokenizerBase", size: int) -> Mapping[str, int]:
    """Words that are one subword -> its id; kept for a tokenizer of a size, as languages and seeds often share one."""
    texts = dict.fromkeys(str(tokenizer.decode([number])).strip() for number in range(size))
    words = [text for text in texts if is_word(text)]
    split = split_words([[word] for word in words], tokenizer)
    unknown = tokenizer.unk_token_id
    whole = {word: int(subwords.ids[0]) for word, subwords in zip(words, split, strict=True) if len(subwords.ids) == 1}
    return MappingProxyType({word: number for word, number in whole.items() if number != unknown})


@inference()
def contextual_vectors(encoder: Encoder, corpus: Corpus) -> WordVectors:
    """Average the contextual states of each word over all its occurrences, at every layer.

    Words are lowercased, as in dictionaries, and consist of letters. The state of an occurrence is the mean over its
    subwords. Memory grows with the vocabulary, not with the text.

    Args:
        corpus: sentences of words, or raw text, which is split at spaces and punctuation.

    Raises:
        RequestError: if the text has no words.
    """
    sentences = cut_words(corpus)
    words = [word.lower() for sentence in sentences.sentences for word in sentence.words]
    counts = Counter(filter(is_word, words))
    if not counts:
        raise RequestError(f"{corpus.name} contains no words of letters")
    rows = {word: row for row, word in enumerate(counts)}
    row_of = np.asarray([rows.get(word, -1) for word in words])
    sums = torch.zeros(encoder.depth + 1, len(rows), encoder.width, dtype=torch.float32)
    for states, places, owners, shares in word_pieces(encoder, sentences):
        known = row_of[owners] >= 0
        index, weights = torch.from_numpy(row_of[owners[known]]), torch.from_numpy(shares[known])[:, None]
        for layer, layer_states in enumerate(states):
            picked = layer_states.flatten(0, 1)[torch.from_numpy(places[known]).to(layer_states.device)].float().cpu()
            sums[layer].index_add_(0, index, picked * weights)
    occurrences_of = np.asarray(list(counts.values()))
    vectors = (sums / torch.from_numpy(occurrences_of).float()[None, :, None]).numpy()
    layers = tuple(range(encoder.depth + 1))
    described = encoder.given_name, corpus.language, occurrences_of, encoder.columns, corpus.name, encoder.seed
    return WordVectors(tuple(rows), vectors, layers, *described)


@inference()
def occurrences(encoder: Encoder, corpus: Corpus, wanted: Sequence[tuple[int, int]]) -> np.ndarray:
    """Return the contextual states of single occurrences, ``(layers + 1, wanted, width)`` float32.

    The state of a word is that of its labelled subword, which taggers read (`represent_words`).

    Args:
        wanted: (sentence, word) indices.
    """
    sentences, words = np.asarray(wanted, np.int64).reshape(-1, 2).T
    lengths = [len(sentence) for sentence in corpus.sentences]
    # Indices of the wanted words in the corpus, each once, and the place of each wanted word among them.
    numbers, row_of = np.unique((np.cumsum(lengths) - lengths)[sentences] + words, return_inverse=True)
    vectors = np.zeros((encoder.depth + 1, len(numbers), encoder.width), np.float32)
    for indices, states in read_words(encoder, corpus):
        chosen = np.isin(indices, numbers)
        picked = states[:, torch.from_numpy(chosen).to(states.device)]
        vectors[:, np.searchsorted(numbers, indices[chosen])] = picked.cpu().numpy()
    return vectors[:, row_of]


def word_pieces(
    encoder: Encoder, corpus: Corpus
) -> Iterator[tuple[list[torch.Tensor], np.ndarray, np.ndarray, np.ndarray]]:
    """Compute the states of all layers batch by batch, with the word of each subword.

    Iterate within `inference`.

    Yields:
        A list of ``(layers + 1)`` tensors ``(windows, length, width)``; ``(subwords,)`` positions in the flattened
        windows, in word order; ``(subwords,)`` numbers of their words in the corpus; ``(subwords,)`` float32 weights
        that sum to 1 for each word.
    """
    encoder = encoder.for_language(corpus.language)
    windows = read_windows(encoder, corpus).windows
    firsts = np.cumsum([0, *map(len, corpus.sentences)])
    for _, batch, outputs in read_layers(encoder, corpus, windows):
        places, owners, shares = [], [], []
        for row, window in enumerate(batch.windows):
            lengths = np.diff(window.starts)
            places.append(row * batch.ids.shape[1] + np.arange(*window.span))
            owners.append(firsts[window.sentence] + np.repeat(np.arange(window.first, window.last), lengths))
            shares.append(np.repeat(1 / lengths, lengths).astype(np.float32))
        yield outputs, np.concatenate(places), np.concatenate(owners), np.concatenate(shares)


def read_vectors(path: str | Path, *, language: str | None = None, most: int = FASTTEXT) -> WordVectors:
    """Read static vectors in the text format of fastText and word2vec, with or without a header line.

    Args:
        most: maximum number of vectors to read; of duplicate words, the first counts.

    Raises:
        DataError: with file and line, if a line has no numbers, another number of them than the first, or numbers that
            are not finite; if the file is missing or empty.
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
                with np.errstate(over="ignore"):  # numbers beyond float32 are refused below
                    row = np.asarray(columns[1:], np.float32)
            except ValueError:
                row = np.empty(0, np.float32)
            if not len(row) or (rows and len(row) != len(rows[0])):
                width = f", where the first has {len(rows[0])}" if rows else ""
                raise DataError(f"{len(row)} numbers after the word{width}", file=str(path), line=number)
            if not np.isfinite(row).all():
                raise DataError("the vector has numbers that are not finite", file=str(path), line=number)
            words.append(normal(columns[0]))
            rows.append(row)
    if not rows:
        raise DataError("contains no vectors", file=str(path))
    first_of = {word: place for place, word in reversed(list(enumerate(words)))}
    order = sorted(first_of.values())
    vectors = np.stack([rows[place] for place in order])[None]
    return WordVectors(tuple(words[i] for i in order), vectors, (None,), str(path), language, np.ones(len(order)))
