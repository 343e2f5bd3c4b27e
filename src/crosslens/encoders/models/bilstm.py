"""BiLSTM baseline without pretraining, over words and their characters.

A word is represented by a BiLSTM over its characters, a trained embedding if the word occurs more than once in the
training data, and a pretrained word vector if available. A stack of BiLSTMs encodes the sentence (Dozat et al. 2017; Qi
et al. 2020). Subwords are single characters, with a mark before each word, and every character has the state of its
word, so that all operations on encoders and all task heads apply, such as Dozat & Manning's (2017) biaffine parser.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from tokenizers import Regex, Tokenizer, pre_tokenizers, processors
from tokenizers.models import WordLevel
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from transformers import AutoConfig, AutoModel, PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerFast
from transformers.modeling_outputs import BaseModelOutput

from crosslens.data.corpus import Corpus
from crosslens.data.formats.lines import normal
from crosslens.data.formats.text import cut_words
from crosslens.data.sentence import Sentence
from crosslens.data.subwords import LONGEST_WORD
from crosslens.digests import canonical_json, digest, digest_chunks, require_seed, stream_seed
from crosslens.encoders.encoder import Encoder, find_device
from crosslens.encoders.families import find_family
from crosslens.encoders.gpu.lstm import store_together
from crosslens.encoders.interventions.change import Change
from crosslens.encoders.interventions.start import Start
from crosslens.errors import DataError, RequestError, require_integer, suggest
from crosslens.initial_weights import initial_weights

BEGIN = "▁"
SPECIALS = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
UNKNOWN = list(SPECIALS).index("unk_token")
"""Id of every unknown character."""

MAX_CHARACTERS = 20_000
"""Maximum characters of an input, more than any text in a treebank."""

SMALLEST_KEY = -(2**63)

LAYERS = 3
"""Default number of layers."""

SIZES = frozenset(
    {
        "hidden_size",
        "num_hidden_layers",
        "character_size",
        "character_hidden",
        "word_size",
        "dropout",
        "word_dropout",
    }
)
"""Settings of `BilstmConfig` that do not follow from the training corpus and the vectors."""

DROPOUTS = frozenset({"dropout", "word_dropout"})
"""Settings that are shares; all others are integers."""
BIDIRECTIONAL = frozenset({"hidden_size", "character_hidden"})
"""Sizes of which each direction of an LSTM has half."""

Vectors = Mapping[str, np.ndarray]
"""Word -> pretrained vector, all of one size."""


class BilstmConfig(PreTrainedConfig):
    """Configuration of a BiLSTM.

    Args:
        vocab_size: number of ids: characters, word mark and special tokens.
        hidden_size: state size of a layer, half of it for each direction.
        num_hidden_layers: number of layers.
        character_size: size of character embeddings.
        character_hidden: state size of the character BiLSTM, half of it for each direction.
        word_size: size of trained word embeddings.
        words: number of words with a trained embedding.
        vector_size: size of pretrained word vectors; 0 without vectors.
        vectors: number of pretrained word vectors.
        begins: ids that begin a word: the mark and special tokens.
        dropout: dropout rate on the input of each layer, with one mask per sentence (Gal & Ghahramani 2016).
        word_dropout: share of words read as unknown in training, so that the embedding of unknown words is learnt.
        pad_token_id: padding id.
    """

    model_type = "bilstm"

    def __init__(
        self,
        vocab_size: int = 100,
        hidden_size: int = 400,
        num_hidden_layers: int = LAYERS,
        character_size: int = 50,
        character_hidden: int = 100,
        word_size: int = 100,
        words: int = 0,
        vector_size: int = 0,
        vectors: int = 0,
        begins: tuple[int, ...] = (2, 3, 4),
        dropout: float = 0.33,
        word_dropout: float = 0.15,
        pad_token_id: int = 0,
        **kwargs: Any,
    ) -> None:
        self.vocab_size, self.pad_token_id = vocab_size, pad_token_id
        self.hidden_size, self.num_hidden_layers = hidden_size, num_hidden_layers
        self.character_size, self.character_hidden = character_size, character_hidden
        self.word_size, self.words = word_size, words
        self.vector_size, self.vectors = vector_size, vectors
        self.begins = tuple(begins)
        self.dropout, self.word_dropout = dropout, word_dropout
        super().__init__(pad_token_id=pad_token_id, **kwargs)  # pyright: ignore[reportCallIssue]


@dataclass(frozen=True, slots=True, eq=False)
class _Words:
    """The words of a batch.

    Attributes:
        characters: ``(words, longest)`` character ids, padded.
        lengths: ``(words,)`` characters of each word.
        counts: ``(sentences,)`` words of each sentence.
        row: ``(words,)`` sentence of each word.
        position: ``(words,)`` position of each word in its sentence.
        start: ``(words,)`` position of the first character of each word in its sentence.
        word_index: ``(sentences, length)`` word that each character belongs to.
    """

    characters: torch.Tensor
    lengths: torch.Tensor
    counts: torch.Tensor
    row: torch.Tensor
    position: torch.Tensor
    start: torch.Tensor
    word_index: torch.Tensor

    @classmethod
    def of_batch(cls, ids: torch.Tensor, mask: torch.Tensor, config: BilstmConfig) -> "_Words":
        begins = torch.isin(ids, torch.tensor(config.begins, device=ids.device)) & mask.bool()
        begins[:, 0] = True
        row, start = begins.nonzero(as_tuple=True)
        counts = begins.sum(1)
        offsets = counts.cumsum(0) - counts
        word_index = begins.cumsum(1) - 1 + offsets[:, None]
        sentence, column = mask.nonzero(as_tuple=True)
        word = word_index[sentence, column]
        within = column - start[word]
        lengths = torch.bincount(word, minlength=len(row))
        characters = ids.new_full((len(row), int(lengths.max())), config.pad_token_id)
        characters[word, within] = ids[sentence, column]
        position = torch.arange(len(row), device=ids.device) - offsets[row]
        return cls(characters, lengths, counts, row, position, start, word_index)

    def padded(self, states: torch.Tensor) -> torch.Tensor:
        """Arrange ``(words, width)`` as ``(sentences, maximum words, width)``."""
        padded = states.new_zeros(len(self.counts), int(self.counts.max()), states.shape[-1])
        padded[self.row, self.position] = states
        return padded


def _run(lstm: nn.LSTM, inputs: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return outputs ``(rows, length, width)`` and each direction's last state, ``(rows, width)`` together."""
    packed = pack_padded_sequence(inputs, lengths.cpu(), batch_first=True, enforce_sorted=False)
    outputs, (last, _) = lstm(packed)
    return pad_packed_sequence(outputs, batch_first=True)[0], last.transpose(0, 1).flatten(1)


def _shared_dropout(states: torch.Tensor, share: float, training: bool) -> torch.Tensor:
    """Apply dropout to ``(sentences, words, width)`` with the same mask for all words of a sentence."""
    if not training or not share:
        return states
    kept = torch.rand(states.shape[0], 1, states.shape[2], device=states.device) >= share
    return states * kept / (1 - share)


class BilstmEmbeddings(nn.Module):
    """Word representations from characters, trained word embeddings and pretrained vectors."""

    word_keys: torch.Tensor
    vector_keys: torch.Tensor

    def __init__(self, config: BilstmConfig) -> None:
        super().__init__()
        self.config = config
        self.characters = nn.Embedding(config.vocab_size, config.character_size, padding_idx=config.pad_token_id)
        self.spelling = nn.LSTM(
            config.character_size, config.character_hidden // 2, batch_first=True, bidirectional=True
        )
        self.words = nn.Embedding(config.words + 1, config.word_size)  # the last row is for unknown words
        width = 2 * (config.character_hidden // 2) + config.word_size + config.vector_size
        if config.vector_size:
            self.vectors = nn.Parameter(torch.zeros(config.vectors, config.vector_size))
            self.register_buffer("vector_keys", torch.full((config.vectors,), SMALLEST_KEY))
        self.register_buffer("word_keys", torch.full((config.words,), SMALLEST_KEY))
        self.projection = nn.Linear(width, config.hidden_size)

    def forward(self, words: _Words) -> torch.Tensor:
        """Compute the word representations, ``(words, hidden_size)``."""
        spelling = _run(self.spelling, self.characters(words.characters), words.lengths)[1]
        keys = spelling_keys(words.characters, self.config.pad_token_id)
        index = _find(self.word_keys, keys)
        if self.training:
            dropped = torch.rand(index.shape, device=index.device) < self.config.word_dropout
            index = torch.where(dropped, len(self.word_keys), index)
        parts = [spelling, self.words(index)]
        if self.config.vector_size:
            index = _find(self.vector_keys, keys)
            unknown = (words.characters == UNKNOWN).any(1)  # it may be any word with as many characters
            unknown |= index == len(self.vector_keys)
            rows = self.vectors.detach()[index.clamp(max=len(self.vectors) - 1)]  # not trained
            parts.append(rows.masked_fill(unknown[:, None], 0))
        return self.projection(torch.cat(parts, -1))


def spelling_keys(characters: torch.Tensor, padding: int) -> torch.Tensor:
    """Hash each row of characters, ``(rows, length)`` to ``(rows,)`` int64; two words collide at about 2^-64.

    The hash is a polynomial in an odd number, with powers modulo 2^64.
    """
    powers = torch.ones(characters.shape[1], dtype=torch.int64, device=characters.device)
    powers[1:] = 6364136223846793005
    powers = powers.cumprod(0)
    shifted = torch.where(characters == padding, 0, (characters + 1) * 1442695040888963407)
    return (shifted * powers).sum(1)


def _find(keys: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """Return the index of each wanted key in sorted ``keys``; ``len(keys)`` if it is missing."""
    if not len(keys):
        return torch.zeros_like(wanted)
    index = torch.searchsorted(keys, wanted).clamp(max=len(keys) - 1)
    return torch.where(keys[index] == wanted, index, len(keys))


class BilstmLayer(nn.Module):
    """One BiLSTM over the words of a sentence."""

    def __init__(self, config: BilstmConfig) -> None:
        super().__init__()
        self.share = config.dropout
        self.lstm = nn.LSTM(config.hidden_size, config.hidden_size // 2, batch_first=True, bidirectional=True)

    def forward(self, hidden_states: torch.Tensor, words: _Words) -> torch.Tensor:
        """Compute ``(sentences, length, hidden_size)`` states, equal for all characters of a word."""
        inputs = _shared_dropout(words.padded(hidden_states[words.row, words.start]), self.share, self.training)
        outputs, _ = _run(self.lstm, inputs, words.counts)
        return outputs[words.row, words.position][words.word_index]


class BilstmModel(PreTrainedModel):
    """The BiLSTM as a Hugging Face model."""

    config_class = BilstmConfig
    config: BilstmConfig
    base_model_prefix = "bilstm"

    def __init__(self, config: BilstmConfig) -> None:
        super().__init__(config)
        self.embeddings = BilstmEmbeddings(config)
        self.layers = nn.ModuleList(BilstmLayer(config) for _ in range(config.num_hidden_layers))
        self.post_init()

    def train(self, mode: bool = True) -> "BilstmModel":
        """Set training or evaluation mode."""
        super().train(mode)
        store_together(self)
        return self

    def get_input_embeddings(self) -> nn.Embedding:
        """Return the character embeddings."""
        return self.embeddings.characters

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor | None = None, *, output_hidden_states: bool = False
    ) -> BaseModelOutput:
        """Compute the states of all characters, ``(sentences, length, hidden_size)``."""
        mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        words = _Words.of_batch(input_ids, mask, self.config)
        states = self.embeddings(words)[words.word_index]
        outputs = [states]
        for layer in self.layers:
            outputs.append(layer(outputs[-1], words))
        hidden_states = tuple(outputs) if output_hidden_states else None
        return BaseModelOutput(last_hidden_state=outputs[-1], hidden_states=hidden_states)  # pyright: ignore[reportArgumentType]

    def _init_weights(self, module: nn.Module) -> None:
        if isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=0.1)
            if module.padding_idx is not None:
                nn.init.zeros_(module.weight[module.padding_idx])
        elif isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            nn.init.zeros_(module.bias)
        elif isinstance(module, nn.LSTM):
            for name, parameter in module.named_parameters():
                if parameter.ndim > 1:
                    (nn.init.orthogonal_ if "_hh" in name else nn.init.xavier_uniform_)(parameter)
                else:
                    nn.init.zeros_(parameter)
                    forget = slice(len(parameter) // 4, len(parameter) // 2)
                    nn.init.constant_(parameter[forget], 0.5)  # PyTorch adds two biases: forget-gate bias 1
        elif isinstance(module, BilstmEmbeddings) and module.config.vector_size:
            nn.init.zeros_(module.vectors)


def fresh_bilstm(
    train: Corpus,
    *,
    seed: int = 1,
    vectors: Vectors | None = None,
    device: str | torch.device | None = None,
    **sizes: Any,
) -> Encoder:
    """Create an untrained BiLSTM for the characters and repeated words of a training corpus.

    Args:
        train: exactly the training data, sentences of words or running text; ``corpus.limited(limit)`` if the recipe
            has a ``limit``.
        seed: random seed of the weights.
        vectors: word -> pretrained vector, all of one size; they are not trained. None: no vectors.
        device: device of the model; None: a GPU if available.
        **sizes: settings of `BilstmConfig`: `SIZES`.

    Returns:
        An encoder of the family ``bilstm``, randomly initialised.

    Raises:
        DataError: for a corpus without words.
        RequestError: for vectors of different sizes, an empty mapping, an unknown setting, a size that is not a
            positive integer, or odd where two directions share it, a dropout outside [0, 1), or a name in place of a
            corpus.

    Examples:
        >>> bilstm = xl.fresh_bilstm(xl.load_corpus("ud/en_ewt:train[:40]", data=sample), seed=1, device="cpu")
        >>> bilstm.family.name, bilstm.depth
        ('bilstm', 3)
    """
    seed = require_seed(seed)
    _require_sizes(sizes)
    sentences = cut_words(train).sentences
    vectors = vectors and {normal(word): vector for word, vector in vectors.items()}
    # A word with a space inside, as in Vietnamese, is read as several, because the tokenizer splits text at spaces.
    words = Counter(part for sentence in sentences for word in sentence.words for part in word.split(" ") if part)
    if not words:
        raise DataError(f"{train.name} contains no words to train on")
    characters = Counter(character for word, count in words.items() for character in word * count)
    alphabet = {c for c, count in characters.items() if count > 1}.union(*(vectors or {}))
    tokenizer = _tokenizer(sorted(c for c in alphabet if not c.isspace()))
    repeated = [word for word, count in words.items() if count > 1]
    lengths = {np.shape(vector) for vector in (vectors or {}).values()}
    if vectors is not None and (len(lengths) != 1 or len(next(iter(lengths))) != 1):
        raise RequestError("word vectors must have one row per word and equal lengths")
    config = BilstmConfig(
        vocab_size=len(tokenizer),
        words=len(repeated),
        vectors=len(vectors or {}),
        vector_size=next(iter(lengths))[0] if lengths else 0,
        begins=tuple(sorted(tokenizer.get_vocab()[token] for token in (BEGIN, "[CLS]", "[SEP]"))),
        **sizes,
    )
    # The words are in the seed, so that the digest depends on those that are known.
    with initial_weights(stream_seed(seed, "bilstm", train.digest)):
        model = BilstmModel(config)
    embeddings = model.embeddings
    keys, _ = _keys(repeated, tokenizer)
    embeddings.word_keys.copy_(keys)
    if vectors:
        keys, order = _keys(list(vectors), tokenizer)
        table = np.stack(list(vectors.values()))[order]
        with torch.no_grad():
            embeddings.vector_keys.copy_(keys)
            embeddings.vectors.copy_(torch.from_numpy(table))
    return Encoder(
        model.to(find_device(device)).eval(),  # pyright: ignore[reportArgumentType] (transformers wraps `to`)
        tokenizer,
        find_family("bilstm"),
        "bilstm",
        changes=(Change(Start(start="bilstm"), seed),),
        origin=bilstm_digest(train, vectors, **sizes),
    )


def _require_sizes(sizes: Mapping[str, object]) -> None:
    if unknown := sorted(sizes.keys() - SIZES):
        raise RequestError(f"a BiLSTM has no setting {unknown[0]!r}", hint=suggest(unknown[0], SIZES))
    for name, value in sizes.items():
        if name not in DROPOUTS:
            if require_integer(value, name, least=1) % 2 and name in BIDIRECTIONAL:
                raise RequestError(f"{name} cannot be {value}", hint="it is even: each direction has half of it")
        elif not (isinstance(value, (int, float)) and 0 <= value < 1):
            raise RequestError(f"{name} cannot be {value!r}", hint="it is a share below 1, such as 0.33")


def bilstm_digest(train: Corpus, vectors: Vectors | None = None, **sizes: Any) -> str:
    """Digest everything that determines an untrained BiLSTM of `fresh_bilstm`, except its seed."""
    rows = (part for word, vector in (vectors or {}).items() for part in (canonical_json(word), vector.tobytes()))
    facts = {"family": "bilstm", "train": train.digest, "sizes": sizes, "vectors": digest_chunks(rows)}
    spaced = any(" " in word for item in train if isinstance(item, Sentence) for word in item.words)
    if vectors or spaced:  # only these have other characters and words than in `versions.BILSTM` 2
        facts["version"] = 3
    return digest(facts)


def _keys(words: list[str], tokenizer: PreTrainedTokenizerFast) -> tuple[torch.Tensor, np.ndarray]:
    """Return the sorted keys of words and the order that sorts them."""
    ids = tokenizer(words, add_special_tokens=False)["input_ids"] if words else []
    rows = np.zeros((len(words), LONGEST_WORD), np.int64)
    for row, spelling in zip(rows, ids, strict=True):
        row[: len(spelling[:LONGEST_WORD])] = spelling[:LONGEST_WORD]
    keys = spelling_keys(torch.from_numpy(rows), 0)
    order = keys.argsort()
    return keys[order], order.numpy()


def _tokenizer(characters: list[str]) -> PreTrainedTokenizerFast:
    tokens = [*SPECIALS.values(), BEGIN, *(c for c in characters if c != BEGIN)]
    tokenizer = Tokenizer(WordLevel({token: number for number, token in enumerate(tokens)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Metaspace(replacement=BEGIN, prepend_scheme="always"),
            pre_tokenizers.Split(Regex("."), "isolated"),
        ]
    )  # pyright: ignore[reportArgumentType]
    tokenizer.add_special_tokens(list(SPECIALS.values()))
    special_tokens = [(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=special_tokens
    )  # pyright: ignore[reportArgumentType]
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=MAX_CHARACTERS, **SPECIALS)


AutoConfig.register(BilstmConfig.model_type, BilstmConfig)
AutoModel.register(BilstmConfig, BilstmModel)
