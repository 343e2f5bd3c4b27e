"""Immutable corpora of sentences or texts, with name, language and digest."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from typing import Literal, overload

import numpy as np

from crosslens.data.sentence import ANNOTATIONS, Item, Sentence, Text, on_one_line
from crosslens.digests import canonical_json, digest_chunks, short_digest
from crosslens.errors import DataError, RequestError
from crosslens.formatting import counted

JOIN = "+"
"""Joins the names of corpora that are read as one, and their languages."""

SELECTIONS = {"upos": ("upos",), "heads": ("heads", "relations"), "entities": ("entities",)}
"""What a name such as ``my.conllu[upos]`` selects -> layers that the selected sentences have."""


@dataclass(frozen=True, repr=False)
class Corpus(Sequence[Item]):
    """An immutable sequence of sentences or texts, in the order of their source.

    >>> from crosslens.data.sentence import Sentence
    >>> corpus = Corpus((Sentence(("Dogs", "bark")), Sentence(("Go",))), name="toy", language="en")
    >>> len(corpus), corpus.words, corpus[:1].words
    (2, 3, 2)

    Attributes:
        items: the sentences or texts.
        name: corpus name such as ``ud/fr_pud:test``, or a path.
        language: BCP 47 tag such as ``fr``, or None if unknown.
        split: ``train``, ``dev`` or ``test``, or None.
        release: release of the treebank, such as ``2.14``, or None if unknown.
    """

    items: tuple[Item, ...]
    name: str
    language: str | None = None
    split: str | None = None
    release: str | None = None

    def __repr__(self) -> str:
        language = f" ({self.language})" if self.language else ""
        words = f", {self.words} words" if self.unit == "sentence" else ""
        return f"Corpus {self.name}{language}: {len(self)} {self.unit}{'s' * (len(self) != 1)}{words}"

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> "Corpus": ...
    def __getitem__(self, index: int | slice) -> "Item | Corpus":
        """Item at an index, or corpus of a slice with the same name."""
        if isinstance(index, slice):
            return replace(self, items=self.items[index])
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)

    def __add__(self, other: "Corpus") -> "Corpus":
        """Join two corpora into one, in all their languages; a language, split or release that one lacks is unknown.

        >>> from crosslens.data.sentence import Sentence
        >>> Corpus((Sentence(("Go",)),), "ud/en", "en") + Corpus((Sentence(("Va",)),), "ud/fr", "fr")
        Corpus ud/en+ud/fr (en+fr): 2 sentences, 2 words
        """
        if not isinstance(other, Corpus):
            return NotImplemented
        languages = (*trained_languages(self.language), *trained_languages(other.language))
        return Corpus(
            self.items + other.items,
            JOIN.join((self.name, other.name)),
            JOIN.join(dict.fromkeys(languages)) if self.language and other.language else None,
            self.split if self.split == other.split else None,
            self.release if self.release == other.release else None,
        )

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """Items of a corpus of sentences.

        Raises:
            DataError: if the corpus is running text.
        """
        if not all(isinstance(item, Sentence) for item in self.items):
            raise DataError(
                f"{self.name} is running text, but sentences of words are needed",
                hint="split each text into a list of words, such as [['Le', 'chat']]",
            )
        return self.items  # pyright: ignore[reportReturnType]

    @cached_property
    def texts(self) -> tuple[Text, ...]:
        """Items of a corpus of running text.

        Raises:
            DataError: if the corpus consists of sentences of words.
        """
        if not all(isinstance(item, Text) for item in self.items):
            raise DataError(
                f"{self.name} consists of sentences of words, but running text is needed",
                hint="give texts, such as a .txt or .tsv file, sib200/eng_Latn or xnli/en",
            )
        return self.items  # pyright: ignore[reportReturnType]

    @cached_property
    def unit(self) -> Literal["sentence", "text"]:
        """What each item is."""
        return "text" if any(isinstance(item, Text) for item in self.items) else "sentence"

    @cached_property
    def words(self) -> int:
        """Number of words."""
        return sum(len(sentence) for sentence in self.sentences)

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """Length of each item: words of a sentence, or characters of running text."""
        return tuple(len(item) if isinstance(item, Sentence) else len(item.text) for item in self.items)

    @cached_property
    def layers(self) -> frozenset[str]:
        """Annotation layers of all sentences."""
        return frozenset(name for name in ANNOTATIONS if all(getattr(s, name) is not None for s in self.sentences))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of words and annotation, or of segments and labels; independent of names, paths and layout."""
        return digest_chunks(canonical_json(_content(item)) + b"\n" for item in self.items)

    @cached_property
    def contents(self) -> frozenset[int]:
        """64-bit digests of the running text and of the words of each item, without annotation; see `items_among`."""
        return frozenset().union(*self._by_item)

    def items_among(self, contents: frozenset[int]) -> set[int]:
        """Indices of the items whose running text or words are among the contents of other corpora."""
        return {number for number, own in enumerate(self._by_item) if not contents.isdisjoint(own)}

    @cached_property
    def _by_item(self) -> tuple[tuple[int, ...], ...]:
        return tuple(map(_contents, self.items))

    def limited(self, limit: int | None) -> "Corpus":
        """Select at most ``limit`` items, spread evenly because treebanks are sorted by genre; None selects all."""
        if limit is None or limit >= len(self):
            return self
        indices = np.linspace(0, len(self), limit, endpoint=False).astype(int)
        return replace(self, items=tuple(self.items[index] for index in indices))

    def require(self, *needed: str) -> None:
        """Check that every sentence has these annotation layers.

        Raises:
            DataError: for running text; naming the first sentence that lacks one, or the corpus if no sentence has it.
        """
        sentences = self.sentences  # running text is refused whatever is needed
        for name in needed:
            bare = [sentence for sentence in sentences if getattr(sentence, name) is None]
            if bare and len(bare) == len(sentences):
                files = "IOB" if name == "entities" else "CoNLL-U"
                hint = f"check that corpus and task match; {ANNOTATIONS[name]} are read from {files} files"
                raise DataError(f"{self.name} has no {ANNOTATIONS[name]}", hint=hint)
            if bare:
                reason = f"the sentence has no {ANNOTATIONS[name]}, but other sentences have"
                if len(bare) > 1:
                    reason += f" ({len(bare):,} of {len(sentences):,} have none)"
                hint = "annotate it, or leave it out"
                if bare[0].where is not None:  # read from a file, so that the corpus has a name
                    annotated = counted(len(sentences) - len(bare), "sentence", "sentences")
                    names = JOIN.join(selected(part, name) for part in self.name.split(JOIN))
                    hint = f"annotate it, or take the {annotated} with {ANNOTATIONS[name]}: {names}"
                raise item_error(self, bare[0], reason, hint=hint)

    def require_same_words(self, other: "Corpus") -> None:
        """Check that a predicted corpus has the same sentences or texts.

        Raises:
            DataError: naming the first difference.
        """
        unit = "text" if self.items and isinstance(self.items[0], Text) else "sentence"
        for number, (gold, predicted) in enumerate(zip(self, other, strict=False), start=1):
            if _segments(gold) != _segments(predicted):
                reason = f"{unit} {number} differs in words from the gold one, {gold.where or gold.id or self.name}"
                raise item_error(other, predicted, reason, hint="check that the predictions are for this corpus")
        if len(self) != len(other):
            raise DataError(
                f"{len(other)} {unit}s, but the gold corpus {self.name} has {len(self)}",
                file=other.name,
                hint="check that the predictions are for this corpus",
            )


def selected(name: str, layer: str) -> str:
    """Name of the sentences of a corpus that have an annotation layer; see `crosslens.corpora.catalogue`.

    >>> selected("my.conllu", "upos"), selected("my.conllu", "relations")
    ('my.conllu[upos]', 'my.conllu[heads]')
    """
    return f"{name}[{next(selection for selection, layers in SELECTIONS.items() if layer in layers)}]"


def item_error(corpus: Corpus, item: Item, message: str, *, hint: str | None = None) -> DataError:
    """Return an error about an item, with its file and line, or else with the name of its corpus."""
    file, line = item.where or (corpus.name, None)
    return DataError(message, file=file, line=line, hint=hint)


def shared_items(corpus: Corpus, *others: Corpus) -> set[int]:
    """Indices of the items that occur in other corpora, with the same running text or the same words."""
    return corpus.items_among(frozenset().union(*(other.contents for other in others)))


def trained_languages(source: str | None) -> tuple[str, ...]:
    """Split the language of training data, which is several if corpora were joined.

    >>> trained_languages("en+wo"), trained_languages("en"), trained_languages(None)
    (('en', 'wo'), ('en',), ())
    """
    return tuple(source.split(JOIN)) if source else ()


def _segments(item: Item) -> tuple[str, ...]:
    """What predictions have in common with the gold corpus; line breaks in texts are lost in tab-separated files."""
    return item.words if isinstance(item, Sentence) else tuple(map(on_one_line, item.segments))


def _content(item: Item) -> list:
    return [getattr(item, name) for name in _fields(type(item))]


@cache
def _fields(kind: type[Sentence] | type[Text]) -> tuple[str, ...]:
    excluded = ("id", "where", "lines")
    return tuple(field.name for field in fields(kind) if field.name not in excluded)


def _contents(item: Item) -> tuple[int, ...]:
    texts = (item.text, "\0".join(item.words)) if isinstance(item, Sentence) else (item.text,)
    return tuple(short_digest(text) for text in texts)


def require_corpus(corpus: object) -> Corpus:
    """Refuse what Python programs give in place of a corpus: its name, or texts.

    Raises:
        RequestError: for another object.
    """
    if isinstance(corpus, Corpus):
        return corpus
    raise RequestError(
        f"this is a {type(corpus).__name__} and not a corpus",
        hint="xl.load_corpus reads one by name, or makes one of texts or words",
    )
