"""A BiLSTM over words and their characters, without pretraining: what a pretrained encoder must be better than.

A word is read by its characters (a BiLSTM), by an embedding of its own where the training data has it more than once,
and by a given vector where there is one; a stack of BiLSTMs reads the sentence (Dozat et al. 2017; Qi et al. 2020). Its
subwords are single characters behind a mark that a word begins, and every character carries the state of its word, so
whatever works on an encoder works on it, and all tasks' heads: Dozat & Manning's (2017) biaffine parser among them.
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
from crosslens.data.formats.text import cut_words
from crosslens.data.subwords import LONGEST_WORD
from crosslens.digests import canonical_json, digest, digest_chunks, stream_seed
from crosslens.encoders.encoder import Encoder, default_device
from crosslens.encoders.families import find_family
from crosslens.encoders.interventions.change import Change
from crosslens.encoders.interventions.start import Start
from crosslens.errors import DataError, RequestError

BEGIN = "▁"
SPECIALS = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
LONGEST = 20_000
"""Characters of a sentence that are read at once: no text of a treebank is as long."""

SHORTEST = -(2**63)

LAYERS = 3
"""As many as it has where nothing else is asked for."""

Vectors = Mapping[str, np.ndarray]
"""Word -> its given vector, all of one size."""


class BilstmConfig(PreTrainedConfig):
    """How large a BiLSTM is.

    Args:
        hidden_size: of a layer's state, half of it from either direction.
        num_hidden_layers: how many.
        character_size: of a character's embedding.
        character_hidden: of a word's state from its characters, half of it from either direction.
        word_size: of a word's own embedding.
        words: words that have one.
        vector_size: of given vectors; 0: there are none.
        vectors: words that have one.
        begins: ids that begin a word: the mark, and special tokens.
        dropout: of what every layer reads; the same of all words of a sentence (Gal & Ghahramani 2016).
        word_dropout: share of the words whose own embedding is hidden in training, so that that of unknown words is
            learnt.
    """

    model_type = "bilstm"
    pad_token_id: int = 0

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
    """Where the words of a batch are.

    Attributes:
        characters: ``(words, longest)`` ids, filled up with padding.
        lengths: ``(words,)`` characters of each.
        counts: ``(sentences,)`` words of each.
        row: ``(words,)`` the sentence that each is in.
        place: ``(words,)`` which of its words it is.
        start: ``(words,)`` which of its characters it begins with.
        of: ``(sentences, length)`` the number of the word that each character is in.
    """

    characters: torch.Tensor
    lengths: torch.Tensor
    counts: torch.Tensor
    row: torch.Tensor
    place: torch.Tensor
    start: torch.Tensor
    of: torch.Tensor

    @classmethod
    def of_batch(cls, ids: torch.Tensor, mask: torch.Tensor, config: BilstmConfig) -> "_Words":
        begins = torch.isin(ids, torch.tensor(config.begins, device=ids.device)) & mask.bool()
        begins[:, 0] = True
        row, start = begins.nonzero(as_tuple=True)
        counts = begins.sum(1)
        offsets = counts.cumsum(0) - counts
        of = begins.cumsum(1) - 1 + offsets[:, None]
        at_row, at = mask.nonzero(as_tuple=True)
        word = of[at_row, at]
        within = at - start[word]
        lengths = torch.bincount(word, minlength=len(row))
        characters = ids.new_full((len(row), int(lengths.max())), config.pad_token_id)
        characters[word, within] = ids[at_row, at]
        return cls(
            characters, lengths, counts, row, torch.arange(len(row), device=ids.device) - offsets[row], start, of
        )

    def padded(self, states: torch.Tensor) -> torch.Tensor:
        """``(words, width)`` to ``(sentences, most words, width)``."""
        whole = states.new_zeros(len(self.counts), int(self.counts.max()), states.shape[-1])
        whole[self.row, self.place] = states
        return whole


def _run(lstm: nn.LSTM, inputs: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Outputs ``(rows, length, width)`` and last states ``(rows, width)``, each direction at its own end."""
    packed = pack_padded_sequence(inputs, lengths.cpu(), batch_first=True, enforce_sorted=False)
    outputs, (last, _) = lstm(packed)
    return pad_packed_sequence(outputs, batch_first=True)[0], last.transpose(0, 1).flatten(1)


def _dropped(states: torch.Tensor, share: float, training: bool) -> torch.Tensor:
    """``(sentences, words, width)`` with the same places of all words of a sentence hidden."""
    if not training or not share:
        return states
    kept = torch.rand(states.shape[0], 1, states.shape[2], device=states.device) >= share
    return states * kept / (1 - share)


class BilstmEmbeddings(nn.Module):
    """A word from its characters, from its own embedding, and from a given vector."""

    word_keys: torch.Tensor
    vector_keys: torch.Tensor

    def __init__(self, config: BilstmConfig) -> None:
        super().__init__()
        self.config = config
        self.characters = nn.Embedding(config.vocab_size, config.character_size, padding_idx=config.pad_token_id)
        self.spelling = nn.LSTM(
            config.character_size, config.character_hidden // 2, batch_first=True, bidirectional=True
        )
        self.words = nn.Embedding(config.words + 1, config.word_size)  # the last one is of all words unknown
        width = 2 * (config.character_hidden // 2) + config.word_size + config.vector_size
        if config.vector_size:
            self.vectors = nn.Parameter(torch.zeros(config.vectors, config.vector_size))
            self.register_buffer("vector_keys", torch.full((config.vectors,), SHORTEST))
        self.register_buffer("word_keys", torch.full((config.words,), SHORTEST))
        self.projection = nn.Linear(width, config.hidden_size)

    def forward(self, words: _Words) -> torch.Tensor:
        """``(words, hidden_size)``."""
        spelt = _run(self.spelling, self.characters(words.characters), words.lengths)[1]
        keys = spelling_keys(words.characters, self.config.pad_token_id)
        own = _find(self.word_keys, keys)
        if self.training:
            own = torch.where(
                torch.rand(own.shape, device=own.device) < self.config.word_dropout, len(self.word_keys), own
            )  # pyright: ignore
        parts = [spelt, self.words(own)]
        if self.config.vector_size:
            given = _find(self.vector_keys, keys)
            table = torch.cat([self.vectors, self.vectors.new_zeros(1, self.config.vector_size)])
            parts.append(table[given].detach())  # they are given, and not trained
        return self.projection(torch.cat(parts, -1))


def spelling_keys(characters: torch.Tensor, padding: int) -> torch.Tensor:
    """A number for each row of characters, ``(rows, length)`` to ``(rows,)`` int64; two words have two (up to 2^-64).

    A polynomial in an odd number, whose powers wrap around.
    """
    powers = torch.ones(characters.shape[1], dtype=torch.int64, device=characters.device)
    powers[1:] = 6364136223846793005
    powers = powers.cumprod(0)
    shifted = torch.where(characters == padding, 0, (characters + 1) * 1442695040888963407)
    return (shifted * powers).sum(1)


def _find(keys: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """The place of each in sorted keys; one behind the last where it is not there."""
    if not len(keys):
        return torch.zeros_like(wanted)
    place = torch.searchsorted(keys, wanted).clamp(max=len(keys) - 1)
    return torch.where(keys[place] == wanted, place, len(keys))


class BilstmLayer(nn.Module):
    """One BiLSTM over the words of a sentence."""

    def __init__(self, config: BilstmConfig) -> None:
        super().__init__()
        self.share = config.dropout
        self.lstm = nn.LSTM(config.hidden_size, config.hidden_size // 2, batch_first=True, bidirectional=True)

    def forward(self, hidden_states: torch.Tensor, words: _Words) -> torch.Tensor:
        """``(sentences, length, hidden_size)``: all characters of a word have its state."""
        read = _dropped(words.padded(hidden_states[words.row, words.start]), self.share, self.training)
        outputs, _ = _run(self.lstm, read, words.counts)
        return outputs[words.row, words.place][words.of]


class BilstmModel(PreTrainedModel):
    """The stack, as a Hugging Face model."""

    config_class = BilstmConfig
    config: BilstmConfig
    base_model_prefix = "bilstm"

    def __init__(self, config: BilstmConfig) -> None:
        super().__init__(config)
        self.embeddings = BilstmEmbeddings(config)
        self.layers = nn.ModuleList(BilstmLayer(config) for _ in range(config.num_hidden_layers))
        self.post_init()

    def get_input_embeddings(self) -> nn.Embedding:
        """The characters'."""
        return self.embeddings.characters

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor | None = None, *, output_hidden_states: bool = False
    ) -> BaseModelOutput:
        """States ``(sentences, length, hidden_size)``."""
        mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        words = _Words.of_batch(input_ids, mask, self.config)
        states = self.embeddings(words)[words.of]
        every = [states]
        for layer in self.layers:
            every.append(layer(every[-1], words))
        hidden_states = tuple(every) if output_hidden_states else None
        return BaseModelOutput(last_hidden_state=every[-1], hidden_states=hidden_states)  # pyright: ignore[reportArgumentType]

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
                    nn.init.constant_(parameter[forget], 0.5)  # two biases are added: what was read is kept at first
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
    """An untrained BiLSTM for what is in a training corpus: its characters, and the words it has more than once.

    Args:
        train: sentences of words, or running text: all that it is trained on, and no more, which is
            ``corpus.limited(limit)`` where a recipe has a ``limit``.
        seed: of its weights.
        vectors: word -> its given vector, all of one size; they stay as they are. None: none.
        device: None: a GPU where there is one.
        **sizes: of `BilstmConfig`.

    Returns:
        An encoder of the family ``bilstm``, randomly initialised.

    Raises:
        DataError: for a corpus without a word.
        RequestError: for vectors of several sizes, or of none.

    Example:
        >>> bilstm = xl.fresh_bilstm(xl.load_corpus("ud/en_ewt:train[:40]", data=sample), seed=1, device="cpu")
        >>> bilstm.family.name, bilstm.depth
        ('bilstm', 3)
    """
    words = Counter(word for sentence in cut_words(train).sentences for word in sentence.words)
    if not words:
        raise DataError(f"{train.name} contains no words to train on")
    characters = Counter(character for word, count in words.items() for character in word * count)
    tokenizer = _tokenizer(sorted(c for c, count in characters.items() if count > 1 and not c.isspace()))
    known = [word for word, count in words.items() if count > 1]
    lengths = {np.shape(vector) for vector in (vectors or {}).values()}
    if vectors is not None and (len(lengths) != 1 or len(next(iter(lengths))) != 1):
        raise RequestError("word vectors must have one row per word and equal lengths")
    config = BilstmConfig(
        vocab_size=len(tokenizer),
        words=len(known),
        vectors=len(vectors or {}),
        vector_size=next(iter(lengths))[0] if lengths else 0,
        begins=tuple(sorted(tokenizer.get_vocab()[piece] for piece in (BEGIN, "[CLS]", "[SEP]"))),
        **sizes,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(stream_seed(seed, "bilstm", train.digest))  # so that what words it knows is in its digest
        model = BilstmModel(config)
    embeddings = model.embeddings
    keys, _ = _keys(known, tokenizer)
    embeddings.word_keys.copy_(keys)
    if vectors:
        keys, order = _keys(list(vectors), tokenizer)
        table = np.stack(list(vectors.values()))[order]
        with torch.no_grad():
            embeddings.vector_keys.copy_(keys)
            embeddings.vectors.copy_(torch.from_numpy(table))
    return Encoder(
        model.to(device or default_device()).eval(),  # pyright: ignore[reportArgumentType] (transformers wraps `to`)
        tokenizer,
        find_family("bilstm"),
        "bilstm",
        changes=(Change(Start(start="bilstm"), seed),),
        origin=bilstm_digest(train, vectors, **sizes),
    )


def bilstm_digest(train: Corpus, vectors: Vectors | None = None, **sizes: Any) -> str:
    """What an untrained BiLSTM is known by, whatever its seed: all that `fresh_bilstm` makes it of."""
    rows = (part for word, vector in (vectors or {}).items() for part in (canonical_json(word), vector.tobytes()))
    known = {"family": "bilstm", "train": train.digest, "sizes": sizes, "vectors": digest_chunks(rows)}
    return digest(known)


def _keys(words: list[str], tokenizer: PreTrainedTokenizerFast) -> tuple[torch.Tensor, np.ndarray]:
    """The sorted keys of words, and the order that sorts them."""
    ids = tokenizer(words, add_special_tokens=False)["input_ids"] if words else []
    rows = np.zeros((len(words), LONGEST_WORD), np.int64)
    for row, spelling in zip(rows, ids, strict=True):
        row[: len(spelling[:LONGEST_WORD])] = spelling[:LONGEST_WORD]
    keys = spelling_keys(torch.from_numpy(rows), 0)
    order = keys.argsort()
    return keys[order], order.numpy()


def _tokenizer(characters: list[str]) -> PreTrainedTokenizerFast:
    pieces = [*SPECIALS.values(), BEGIN, *(c for c in characters if c != BEGIN)]
    tokenizer = Tokenizer(WordLevel({piece: number for number, piece in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Metaspace(replacement=BEGIN, prepend_scheme="always"),
            pre_tokenizers.Split(Regex("."), "isolated"),
        ]
    )  # pyright: ignore[reportArgumentType]
    tokenizer.add_special_tokens(list(SPECIALS.values()))
    places = [(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=places
    )  # pyright: ignore[reportArgumentType]
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=LONGEST, **SPECIALS)


AutoConfig.register(BilstmConfig.model_type, BilstmConfig)
AutoModel.register(BilstmConfig, BilstmModel)
