"""Made-up labelled corpora whose labels follow from the words."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa

from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Sentence, Text, Where

LETTERS = {"aa": "cat dog", "bb": "jardin maison", "cc": "zzz qqq"}
LENGTHS = {**LETTERS, "cc": "zzzzzzz qqqqqqq"}


def texts(count, *, seed, answers=LETTERS):
    """Texts of words that only their answer has."""
    generator = np.random.default_rng(seed)
    items = []
    for number in range(count):
        for answer, words in answers.items():
            chosen = generator.choice(words.split(), 6)
            text = " ".join(chosen) + " " + " ".join("abcdefg"[i] for i in generator.integers(7, size=4))
            items.append(Text((text,), answer, f"{number}{answer}", Where("file.tsv", len(items) + 1)))
    return Corpus(tuple(items), f"toy{seed}", None, "test")


def sentences(count, *, seed, answers=LENGTHS):
    """Sentences with two words of every answer, which is the word's tag; its length tells it too."""
    generator = np.random.default_rng(seed)
    items = []
    for number in range(count):
        tagged = [(word, answer) for answer, words in answers.items() for word in generator.choice(words.split(), 2)]
        words, tags = zip(*generator.permutation(tagged).tolist(), strict=True)
        items.append(Sentence(words, upos=tags, id=str(number), where=Where("file.conllu", number + 1)))
    return Corpus(tuple(items), f"toy{seed}", None, "test")


def but(corpus, place, **changes):
    return replace(corpus, items=tuple(replace(t, **changes) if i == place else t for i, t in enumerate(corpus.items)))


def write_texts(folder, train, test):
    folder.mkdir(parents=True)
    for split, corpus in (("train", train), ("test", test)):
        rows = "".join(f"{text.label}\t{text.text}\n" for text in corpus.texts)
        (folder / f"{split}.tsv").write_text("label\ttext\n" + rows, "utf-8")
        (folder / f"x_{split}.txt").write_text("".join(f"{text.text}\n" for text in corpus.texts), "utf-8")
        (folder / f"y_{split}.txt").write_text("".join(f"{text.label}\n" for text in corpus.texts), "utf-8")


def write_arrow(path, columns, labels=None, *, listed=False):
    """Write a file of the library ``datasets`` as the library does: stream format, label names in dataset_info.json."""
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.table(columns)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table)
    features: dict[str, dict] = {name: {"dtype": "string", "_type": "Value"} for name in columns}
    for name, names in (labels or {}).items():
        feature = {"names": names, "_type": "ClassLabel"}
        features[name] = {"feature": feature, "_type": "List"} if listed else feature
    path.with_name("dataset_info.json").write_text(json.dumps({"features": features}), "utf-8")


def identified(language, **sentences):
    """Sentences with ids."""
    return Corpus(tuple(Sentence(tuple(text.split()), id=id) for id, text in sentences.items()), language, language)
