"""Subword vocabularies trained from text, the same bits every time."""

from collections import Counter
from collections.abc import Iterable, Sequence

from tokenizers import Tokenizer, decoders, normalizers, pre_tokenizers, processors, trainers
from tokenizers.models import BPE, WordLevel, WordPiece
from transformers import PreTrainedTokenizerFast

SPECIALS = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}


def train_bpe(lines: Sequence[str], *, size: int, positions: int) -> PreTrainedTokenizerFast:
    """Byte-pair encoding over words that begin with ``▁``, cased, NFKC-normalised.

    Args:
        lines: the text.
        size: pieces, special tokens included.
        positions: longest sequence the encoder takes.
    """
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
    return _finished(tokenizer, positions)


def train_word_piece(lines: Sequence[str], *, size: int, positions: int) -> PreTrainedTokenizerFast:
    """WordPiece as BERT's, cased, accents kept.

    The trainer alone gives another vocabulary in every run: the order in which it meets the pieces that continue a
    word is random, and ties follow it. Given those pieces beforehand, sorted, it has nothing left to draw.
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
    tokenizer = Tokenizer(WordPiece(trained.get_vocab(), unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, words
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens(list(SPECIALS.values()))
    return _finished(tokenizer, positions)


def take_words(lines: Sequence[str], *, size: int, positions: int) -> PreTrainedTokenizerFast:
    """Whole words between spaces, the commonest first: for languages that have few, as artificial ones."""
    counts = Counter(word for line in lines for word in line.split())
    commonest = sorted(counts, key=lambda word: (-counts[word], word))[: size - len(SPECIALS)]
    vocabulary = {word: number for number, word in enumerate([*SPECIALS.values(), *commonest])}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.add_special_tokens(list(SPECIALS.values()))
    return _finished(tokenizer, positions)


VOCABULARIES = {"bpe": train_bpe, "wordpiece": train_word_piece, "words": take_words}


def _finished(tokenizer: Tokenizer, positions: int) -> PreTrainedTokenizerFast:
    first, last = (tokenizer.token_to_id(piece) for piece in ("[CLS]", "[SEP]"))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", first), ("[SEP]", last)]
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=positions, **SPECIALS)


def encode_lines(lines: Iterable[str], tokenizer: PreTrainedTokenizerFast) -> list[list[int]]:
    """The ids of each line, without special tokens."""
    return tokenizer(list(lines), add_special_tokens=False, return_attention_mask=False, verbose=False)["input_ids"]
