"""Deterministic training of subword vocabularies from raw text."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tokenizers import Tokenizer, decoders, normalizers, pre_tokenizers, processors, trainers
from tokenizers.models import BPE, WordLevel, WordPiece
from transformers import PreTrainedTokenizerFast

from crosslens.errors import RequestError
from crosslens.mlm.pretrain_settings import Anchors

SPECIALS = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}


def train_bpe(lines: Sequence[str], *, size: int, positions: int) -> PreTrainedTokenizerFast:
    """Train a cased byte-pair encoding on NFKC-normalised text, with ``▁`` at the start of words."""
    tokenizer = Tokenizer(BPE(unk_token="[UNK]", fuse_unk=True))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.WhitespaceSplit(),
            pre_tokenizers.Metaspace(prepend_scheme="always"),
            pre_tokenizers.Punctuation(),
        ]
    )
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    tokenizer.train_from_iterator(
        lines, trainers.BpeTrainer(vocab_size=size, special_tokens=list(SPECIALS.values()), show_progress=False)
    )
    _require_size(tokenizer, size)
    return _finished(tokenizer, positions)


def train_word_piece(lines: Sequence[str], *, size: int, positions: int) -> PreTrainedTokenizerFast:
    """Train a cased WordPiece vocabulary with accents, pre-tokenized as in BERT.

    The trainer alone is not deterministic: it adds the characters that continue a word in random order, which decides
    ties. Adding them beforehand in sorted order makes it so.
    """
    normalizer = normalizers.BertNormalizer(lowercase=False, strip_accents=False)
    words = pre_tokenizers.BertPreTokenizer()
    characters = {
        character
        for line in lines
        for word, _ in words.pre_tokenize_str(normalizer.normalize_str(line))
        for character in word[1:]
    }
    trained = Tokenizer(WordPiece(unk_token="[UNK]"))
    trained.normalizer, trained.pre_tokenizer = normalizer, words
    reserved = [*SPECIALS.values(), *sorted(f"##{character}" for character in characters)]
    trained.train_from_iterator(
        lines, trainers.WordPieceTrainer(vocab_size=size, special_tokens=reserved, show_progress=False)
    )
    _require_size(trained, size)
    tokenizer = Tokenizer(WordPiece(trained.get_vocab(), unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, words
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens(list(SPECIALS.values()))
    return _finished(tokenizer, positions)


def take_words(lines: Sequence[str], *, size: int, positions: int) -> PreTrainedTokenizerFast:
    """Build a vocabulary of the most frequent words, separated by spaces; it suits artificial languages."""
    counts = Counter(word for line in lines for word in line.split())
    commonest = sorted(counts, key=lambda word: (-counts[word], word))[: size - len(SPECIALS)]
    vocabulary = {word: index for index, word in enumerate([*SPECIALS.values(), *commonest])}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.add_special_tokens(list(SPECIALS.values()))
    return _finished(tokenizer, positions)


VOCABULARIES = {"bpe": train_bpe, "wordpiece": train_word_piece, "words": take_words}

FOREIGN = "\x1f"
"""Marks subwords of other languages in a tokenizer's vocabulary. As white space, it never occurs within words."""


def make_vocabularies(
    text: Mapping[str, Sequence[str]], *, kind: str, size: int, positions: int, anchors: Anchors
) -> dict[str, PreTrainedTokenizerFast]:
    """Train a tokenizer for each language, with ids in one embedding table.

    Args:
        text: language -> lines.
        kind: key of `VOCABULARIES`.
        size: total number of subwords, special tokens included, divided equally between separate vocabularies.
        positions: maximum sequence length of the encoder.
        anchors: subwords that languages share; with ``joint``, all languages have the same tokenizer.

    Raises:
        RequestError: if the characters alone are more than there is room for.
    """
    train = VOCABULARIES[kind]
    if anchors == "joint":
        joint = train([line for lines in text.values() for line in lines], size=size, positions=positions)
        return dict.fromkeys(text, joint)
    share = size // len(text)
    separate = {language: train(lines, size=share, positions=positions) for language, lines in text.items()}
    table: dict[tuple[str, str], int] = {}
    ids: dict[str, dict[str, int]] = {}
    for language, tokenizer in separate.items():
        new_ids = ids[language] = {}
        for subword, _ in sorted(tokenizer.get_vocab().items(), key=lambda item: item[1]):
            shared = anchors == "default" or subword in SPECIALS.values()
            new_ids[subword] = table.setdefault(("" if shared else language, subword), len(table))
    merged = {}
    for language, tokenizer in separate.items():
        known = set(ids[language].values())
        foreign = {
            f"{FOREIGN}{other}{FOREIGN}{subword}": id for (other, subword), id in table.items() if id not in known
        }
        merged[language] = _renumbered(tokenizer, ids[language] | foreign, positions)
    return merged


def _renumbered(
    tokenizer: PreTrainedTokenizerFast, vocabulary: Mapping[str, int], positions: int
) -> PreTrainedTokenizerFast:
    """Copy a tokenizer with other ids; subwords may be added."""
    state = json.loads(tokenizer.backend_tokenizer.to_str())
    state["model"]["vocab"] = dict(sorted(vocabulary.items(), key=lambda item: item[1]))
    return _finished(Tokenizer.from_str(json.dumps(state)), positions)


def _require_size(tokenizer: Tokenizer, size: int) -> None:
    """Check that a trained vocabulary has at most ``size`` subwords: trainers keep every character in any case."""
    if tokenizer.get_vocab_size() > size:
        raise RequestError(
            f"a vocabulary of {size:,} subwords has no room for the characters of the text, which need"
            f" {tokenizer.get_vocab_size():,}",
            hint="raise vocabulary.size",
        )


def _finished(tokenizer: Tokenizer, positions: int) -> PreTrainedTokenizerFast:
    """Add the special tokens, and wrap the tokenizer for transformers."""
    first, last = (tokenizer.token_to_id(token) for token in ("[CLS]", "[SEP]"))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", first), ("[SEP]", last)]
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=positions, **SPECIALS)


def encode_lines(lines: Iterable[str], tokenizer: PreTrainedTokenizerFast) -> list[list[int]]:
    """Tokenize lines into ids, without special tokens; in half the time of the tokenizer's call, which makes masks."""
    if not tokenizer.is_fast:
        return tokenizer(list(lines), add_special_tokens=False, return_attention_mask=False, verbose=False)["input_ids"]
    backend: Any = tokenizer.backend_tokenizer
    backend.no_padding()
    backend.no_truncation()
    return [encoding.ids for encoding in backend.encode_batch_fast(list(lines), add_special_tokens=False)]
