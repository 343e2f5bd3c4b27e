"""Small tokenizers with the pipelines of published ones: which steps stand before the model, and who marks a word."""

import json

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers
from transformers import (
    ByT5Tokenizer,
    CamembertTokenizer,
    DebertaTokenizer,
    DebertaV2Tokenizer,
    GemmaTokenizer,
    LlamaTokenizer,
    PreTrainedTokenizerFast,
    Qwen2Tokenizer,
    RemBertTokenizer,
    RobertaTokenizer,
    T5Tokenizer,
    XLMRobertaTokenizer,
    XLNetTokenizer,
)

from toys import word_piece

SENTENCES = [
    "I love my cat .",
    "( The U.S. ' s 10,000 small dogs ) , they 're … 3.5 % !",
    "l' eau d' été , œuvre n° 7 ?",
    "я люблю кота — и собаку .",
    "Ο σκύλος κοιμάται .",
    "我 爱 我的 猫 。",
    "ฉัน รัก แมว ของ ฉัน",
    "これ は 本 です 。",
    "אני אוהב את החתול שלי .",
    "أحب قِطَّتي كثيرا ؟",
    "मैं अपनी बिल्ली से प्यार करता हूँ ।",
    "나는 고양이를 사랑한다 .",
    "the cat 🐈 sees 👩‍👧 e\u0301te\u0301 I I I cat",
]
WORDS = [sentence.split() for sentence in SENTENCES] + [["it", "cost", "10 000", "dogs", "in", "New York", "."]]
SPECIALS = {"unk_token": "<unk>", "pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>"}
BYTES = pre_tokenizers.ByteLevel.alphabet()
QWEN = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3 = QWEN.replace(r"|\p{N}|", r"|\p{N}{1,3}|")


def trained(kind, letters, *, size=700):
    """A BPE whose merges end where the pre-tokenizer splits."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = kind
    special = list(SPECIALS.values())
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=special, initial_alphabet=letters, show_progress=False
    )
    tokenizer.train_from_iterator([*SENTENCES * 3, *map(" ".join, WORDS)], trainer)
    return tokenizer


BY_SPACES = trained(pre_tokenizers.Metaspace(), ["▁"])
BY_BYTES = trained(pre_tokenizers.ByteLevel(), BYTES)
ACROSS = trained(pre_tokenizers.Metaspace(split=False), ["▁"], size=900)
"""Its merges go from one word into the next."""


def pipeline(model, before, *, normalizer=None):
    """The trained model behind other steps; as `PreTrainedTokenizerFast` saves it, they are read from its file."""
    state = json.loads(model.to_str())
    tokenizer = Tokenizer.from_str(json.dumps({**state, "pre_tokenizer": None, "normalizer": None}))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    if before is not None:
        tokenizer.pre_tokenizer = before
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **SPECIALS)


def bpe(kind, model, **more):
    """A class of transformers, which brings the steps itself."""
    state = json.loads(model.to_str())["model"]
    return kind(vocab=state["vocab"], merges=[tuple(merge) for merge in state["merges"]], **SPECIALS, **more)


def unigram_pieces():
    letters = sorted(set("".join(map("".join, WORDS))) - {" "})
    pieces = [*((piece, 0.0) for piece in SPECIALS.values()), ("▁", -2.0), *((letter, -5.0) for letter in letters)]
    return [*pieces, *((piece, -3.0) for piece in ("▁I", "▁love", "▁my", "▁cat", "▁the", "▁猫", "▁я"))]


def unigram(kind):
    return kind(vocab=unigram_pieces(), unk_token="<unk>", pad_token="<pad>")


def unigram_pipeline(before, **more):
    tokenizer = Tokenizer(models.Unigram(unigram_pieces(), unk_id=0))
    tokenizer.pre_tokenizer = before
    return pipeline(tokenizer, before, **more)


def then_bytes(regex):
    return pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(regex), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )


SPACES, MARK = normalizers.Replace(" ", "▁"), pre_tokenizers.Metaspace
NO_CHANGES = normalizers.Precompiled((1024).to_bytes(4, "little") + bytes(1024) + b"\0")  # a table without an entry
LEGACY = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), MARK(prepend_scheme="always")])
MARKED = {
    "BERT": word_piece,
    "RoBERTa, ModernBERT": lambda: pipeline(BY_BYTES, pre_tokenizers.ByteLevel(add_prefix_space=False)),
    "RobertaTokenizer": lambda: bpe(RobertaTokenizer, BY_BYTES),
    "DebertaTokenizer": lambda: bpe(DebertaTokenizer, BY_BYTES),
    "XLM-R": lambda: unigram_pipeline(MARK(prepend_scheme="always")),
    "XLM-R, legacy": lambda: unigram_pipeline(LEGACY, normalizer=NO_CHANGES),
    "first": lambda: unigram_pipeline(MARK(prepend_scheme="first")),
    "XLMRobertaTokenizer": lambda: unigram(XLMRobertaTokenizer),
    "CamembertTokenizer": lambda: unigram(CamembertTokenizer),
    "T5Tokenizer": lambda: unigram(T5Tokenizer),
    "XLNetTokenizer": lambda: unigram(XLNetTokenizer),
    "RemBertTokenizer": lambda: unigram(RemBertTokenizer),
    "DebertaV2Tokenizer": lambda: unigram(DebertaV2Tokenizer),
    "LlamaTokenizer": lambda: bpe(LlamaTokenizer, BY_SPACES),
    "Llama 2": lambda: pipeline(
        BY_SPACES, None, normalizer=normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    ),
}
"""Their words begin with a mark on their own, or need none."""
UNMARKED = {
    "never": lambda: unigram_pipeline(MARK(prepend_scheme="never")),
    "Qwen": lambda: pipeline(BY_BYTES, then_bytes(QWEN), normalizer=normalizers.NFC()),
    "Llama 3, EuroBERT": lambda: pipeline(BY_BYTES, then_bytes(LLAMA3)),
    "Qwen2Tokenizer": lambda: bpe(Qwen2Tokenizer, BY_BYTES),
    "Gemma 2, mmBERT": lambda: pipeline(
        BY_SPACES, pre_tokenizers.Split(" ", "merged_with_previous"), normalizer=SPACES
    ),
    "Gemma 3": lambda: pipeline(BY_SPACES, None, normalizer=SPACES),
    "GemmaTokenizer": lambda: bpe(GemmaTokenizer, BY_SPACES),
    "ByT5Tokenizer": ByT5Tokenizer,
}
KINDS = MARKED | UNMARKED
