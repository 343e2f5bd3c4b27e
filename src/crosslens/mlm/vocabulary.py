"""Subword vocabularies trained from text, the same bits every time."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from tokenizers import Tokenizer, decoders, normalizers, pre_tokenizers, processors, trainers
from tokenizers.models import BPE, WordLevel, WordPiece
from transformers import PreTrainedTokenizerFast

from crosslens.mlm.pretrain_settings import Anchors

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

FOREIGN = "\x1f"
"""Stands before the subwords of other languages, which no text of this one is cut into; it is white space in itself."""


def make_vocabularies(
    text: Mapping[str, Sequence[str]], *, kind: str, size: int, positions: int, anchors: Anchors
) -> dict[str, PreTrainedTokenizerFast]:
    """A tokenizer for each language, whose ids are those of one table of embeddings.

    Args:
        text: language -> lines.
        kind: one of `VOCABULARIES`.
        size: pieces of all together, special tokens included; where each has its own, they have equal shares.
        positions: longest sequence the encoder takes.
        anchors: what they share; with ``joint`` all languages have the same tokenizer.
    """
    train = VOCABULARIES[kind]
    if anchors == "joint":
        joint = train([line for lines in text.values() for line in lines], size=size, positions=positions)
        return dict.fromkeys(text, joint)
    share = size // len(text)
    own = {language: train(lines, size=share, positions=positions) for language, lines in text.items()}
    table: dict[tuple[str, str], int] = {}
    ids: dict[str, dict[str, int]] = {}
    for language, tokenizer in own.items():
        new_ids = ids[language] = {}
        for piece, _ in sorted(tokenizer.get_vocab().items(), key=lambda item: item[1]):
            shared = anchors == "default" or piece in SPECIALS.values()
            new_ids[piece] = table.setdefault(("" if shared else language, piece), len(table))
    united = {}
    for language, tokenizer in own.items():
        known = set(ids[language].values())
        others = {f"{FOREIGN}{where}{FOREIGN}{p}": id for (where, p), id in table.items() if id not in known}
        united[language] = _renumbered(tokenizer, ids[language] | others, positions)
    return united


def _renumbered(
    tokenizer: PreTrainedTokenizerFast, vocabulary: Mapping[str, int], positions: int
) -> PreTrainedTokenizerFast:
    """The same segmentation with other ids, and perhaps more pieces."""
    state = json.loads(tokenizer.backend_tokenizer.to_str())
    state["model"]["vocab"] = dict(sorted(vocabulary.items(), key=lambda item: item[1]))
    return _finished(Tokenizer.from_str(json.dumps(state)), positions)


def _finished(tokenizer: Tokenizer, positions: int) -> PreTrainedTokenizerFast:
    first, last = (tokenizer.token_to_id(piece) for piece in ("[CLS]", "[SEP]"))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", first), ("[SEP]", last)]
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=positions, **SPECIALS)


def encode_lines(lines: Iterable[str], tokenizer: PreTrainedTokenizerFast) -> list[list[int]]:
    """The ids of each line, without special tokens."""
    return tokenizer(list(lines), add_special_tokens=False, return_attention_mask=False, verbose=False)["input_ids"]
