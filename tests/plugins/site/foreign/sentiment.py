"""A task: the label of a text, in a file format of its own, with a setting and a default recipe."""

from typing import Literal

from crosslens.data.corpus import Corpus
from crosslens.data.formats import Format
from crosslens.data.sentence import Item, Text, Where
from crosslens.files import write_text
from crosslens.tasks.classification import Classification


def read(path, *, name=None, language=None, split=None) -> Corpus:
    """A text a line, its label before a colon."""
    items = []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            label, _, text = line.rstrip("\n").partition(": ")
            items.append(Text((text,), label, str(number), Where(str(path), number)))
    return Corpus(tuple(items), name or str(path), language, split)


def write(corpus: Corpus, path) -> None:
    """As they are read."""
    write_text(path, "".join(f"{text.label}: {text.text}\n" for text in corpus.texts))


class Sentiment(Classification):
    """The task ``sentiment``; ``labels`` may be read in small letters."""

    case: Literal["kept", "lower"] = "kept"

    @property
    def name(self) -> str:
        return "sentiment"

    @property
    def recipe(self) -> dict:
        return {"batch": 2, "epochs": 3, "learning_rate": 1e-3, "select": "last", "encoder_dropout": "off"}

    @property
    def format(self) -> Format:
        return Format(".sent", read, write)

    def gold(self, item: Item) -> tuple[str, ...]:
        return tuple(label.lower() if self.case == "lower" else label for label in super().gold(item))
