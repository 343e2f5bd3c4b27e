"""Small corpora, tokenizers and encoders that the tests make themselves."""

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

SENTENCES = {
    "en": [
        "the cat sees a small dog .",
        "a dog sleeps in the old house .",
        "she reads two books in the garden .",
        "the old man sees the garden .",
        "a small cat sleeps .",
        "he reads in the house .",
    ],
    "fr": [
        "le chat voit un petit chien .",
        "un chien dort dans la vieille maison .",
        "elle lit deux livres au jardin .",
        "le vieil homme voit le jardin .",
        "un petit chat dort .",
        "il lit dans la maison .",
    ],
}
UPOS = {
    "the": "DET",
    "a": "DET",
    "le": "DET",
    "la": "DET",
    "un": "DET",
    ".": "PUNCT",
    "in": "ADP",
    "dans": "ADP",
    "au": "ADP",
    "two": "NUM",
    "deux": "NUM",
    "she": "PRON",
    "he": "PRON",
    "elle": "PRON",
    "il": "PRON",
    "small": "ADJ",
    "old": "ADJ",
    "petit": "ADJ",
    "vieille": "ADJ",
    "vieil": "ADJ",
    "sees": "VERB",
    "voit": "VERB",
    "sleeps": "VERB",
    "dort": "VERB",
    "reads": "VERB",
    "lit": "VERB",
}


RELATIONS = {"DET": "det", "ADJ": "amod", "NUM": "nummod", "ADP": "case", "PUNCT": "punct", "PRON": "nsubj"}
ENTITIES = {"cat": "ANIMAL", "dog": "ANIMAL", "chat": "ANIMAL", "chien": "ANIMAL", "garden": "PLACE", "jardin": "PLACE"}


def conllu_text(language: str) -> str:
    """The sentences above as CoNLL-U: nouns, pronouns and full stops hang from the verb, all else from its noun."""
    blocks = []
    for number, sentence in enumerate(SENTENCES[language], start=1):
        rows = [f"# sent_id = n{number:02}", f"# text = {sentence}"]
        words = sentence.split()
        tags = [UPOS.get(word, "NOUN") for word in words]
        verb = tags.index("VERB") + 1
        for index, (word, tag) in enumerate(zip(words, tags, strict=True), start=1):
            if tag == "VERB":
                head, relation = 0, "root"
            elif tag in ("NOUN", "PRON", "PUNCT"):
                head, relation = verb, RELATIONS.get(tag, "nsubj" if index < verb else "obl:arg")
            else:
                head, relation = tags.index("NOUN", index) + 1, RELATIONS[tag]
            rows.append(f"{index}\t{word}\t_\t{tag}\t_\t_\t{head}\t{relation}\t_\t_")
        blocks.append("\n".join(rows) + "\n\n")
    return "".join(blocks)


def iob_text(language: str) -> str:
    """The sentences above in UNER's layout: an entity is its noun and the adjective before it."""
    blocks = []
    for number, sentence in enumerate(SENTENCES[language], start=1):
        rows = [f"# sent_id = n{number:02}", f"# text = {sentence}"]
        words = sentence.split()
        for index, word in enumerate(words, start=1):
            kind, follows = ENTITIES.get(word), ENTITIES.get(words[index]) if index < len(words) else None
            adjective = UPOS.get(words[index - 2]) == "ADJ" and index > 1
            tag = f"{'I' if adjective else 'B'}-{kind}" if kind else "O"
            tag = f"B-{follows}" if follows and UPOS.get(word) == "ADJ" else tag
            rows.append(f"{index}\t{word}\t{tag}\t-\tannotator")
        blocks.append("\n".join(rows) + "\n\n")
    return "".join(blocks)


def topic(sentence: str) -> str:
    """What a sentence is about."""
    words = set(sentence.split())
    return "reading" if words & {"reads", "lit"} else "animals" if words & {"dog", "cat", "chien", "chat"} else "people"


def topics_text(language: str) -> str:
    """The sentences above in SIB-200's layout."""
    rows = [f"{number}\t{topic(sentence)}\t{sentence}" for number, sentence in enumerate(SENTENCES[language])]
    return "\n".join(["index_id\tcategory\ttext", *rows]) + "\n"


def pairs_text(language: str) -> str:
    """The sentences above in XNLI's layout: a sentence entails itself, and contradicts those of another topic."""
    sentences = SENTENCES[language]
    rows = []
    for premise, hypothesis in zip(sentences, [sentences[0], *sentences[2:], sentences[5]], strict=True):
        same = "neutral" if topic(premise) == topic(hypothesis) else "contradiction"
        rows.append(f"{premise}\t{hypothesis}\t{'entailment' if premise == hypothesis else same}")
    return "\n".join(rows) + "\n"


def word_piece(specials: tuple[str, ...] = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")) -> PreTrainedTokenizerFast:
    """A WordPiece vocabulary of characters and the commonest words, cased, that drops control characters."""
    words = sorted({word for sentences in SENTENCES.values() for s in sentences for word in s.split()})
    letters = "abcdefghijklmnopqrstuvwxyz."
    pieces = [*specials, *letters, *(f"##{letter}" for letter in letters), *words[::2]]
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
    )
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=64, **dict(zip(names, specials, strict=True))
    )


def metaspace() -> PreTrainedTokenizerFast:
    """A unigram vocabulary that cuts a lone ``▁`` before words it does not know whole, as XLM-R's does."""
    pieces = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -2.0), ("▁the", -3.0), ("▁cat", -3.0)]
    pieces += [(letter, -5.0) for letter in "abcdefghijklmnopqrstuvwxyz.狗猫"] + [("<mask>", 0.0)]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=3))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        cls_token="<s>",
        eos_token="</s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token="<mask>",
        model_max_length=64,
    )


def byte_level() -> PreTrainedTokenizerFast:
    """A byte-level BPE that, as published, was saved without the space before the first word."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=330,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([s for sentences in SENTENCES.values() for s in sentences], trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        model_max_length=64,
    )


def loaded_with(tokenizer, folder):
    """An encoder of one layer with this tokenizer, saved and loaded."""
    from crosslens.encoders.load import load_encoder

    config = BertConfig(
        vocab_size=len(tokenizer) + 8, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return load_encoder(folder, device="cpu")
