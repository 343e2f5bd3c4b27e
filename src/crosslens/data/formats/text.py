"""Read raw text with one sentence or paragraph per line."""

from dataclasses import replace
from pathlib import Path

import regex

from crosslens.data.corpus import Corpus, require_corpus
from crosslens.data.formats.lines import normal, numbered_lines
from crosslens.data.scripts import script_name, unsegmented_script
from crosslens.data.sentence import Sentence, Text, Where
from crosslens.errors import DataError, warn


def read(path: str | Path, *, language: str | None = None) -> Corpus:
    """Read a text file; empty lines are skipped, and lines are normalised to NFC.

    Raises:
        DataError: with file and line, for a file that is missing, empty, or not UTF-8; or one with a word and its tag
            per line, as the tags would be words.
    """
    file = str(path)
    items = tuple(Text((line,), where=Where(file, number)) for number, line in _lines(path))
    return Corpus(items, file, language)


def read_words(path: str | Path, *, name: str | None = None, language: str | None = None) -> Corpus:
    """Read tokenized text, with one sentence per line and words separated by spaces.

    A warning is given for text that looks unsegmented (`crosslens.data.scripts.unsegmented_script`), or whose
    sentences mostly end in a word with its full stop.

    Raises:
        DataError: as `read`.
    """
    file = str(path)
    items = tuple(Sentence(tuple(line.split()), where=Where(file, number)) for number, line in _lines(path))
    ends = [sentence.words[-1] for sentence in items]
    attached = [end for end in ends if _ATTACHED.fullmatch(end)]
    if 2 * len(attached) > len(ends):
        reason = f"punctuation marks too, but {attached[0]!r} is one word (crosslens predict --split-words splits it)"
        _warn(name or file, reason)
    return _segmented(Corpus(items, name or file, language))


_SIGNS = r"\p{M}\u00ad\u200c\u200d"
"""Vowel signs, accents and joiners, which belong to the letter before them. Python's ``\\w`` has no vowel signs of
Hindi, no accents of Yoruba and no joiners of Persian, and cuts words there."""

_LETTERS = regex.compile(rf"\p{{L}}[\p{{L}}{_SIGNS}]*")
_PART = rf"[\p{{L}}\p{{N}}][\p{{L}}\p{{N}}{_SIGNS}]*"
_WORD = regex.compile(rf"{_PART}(?:['’·׳״-]{_PART})*|[^\s\u200b]")
"""A word of letters and digits, with apostrophes, hyphens and middle dots inside; or any other single character but
zero-width spaces, which separate words."""


def is_word(text: str) -> bool:
    """Whether a text is one word of letters, without digits.

    >>> [is_word(text) for text in ("naïve", "हिन्दी", "三月", "B2", "don't")]
    [True, True, True, False, False]
    """
    return _LETTERS.fullmatch(text) is not None


def cut_words(corpus: Corpus) -> Corpus:
    """Split running text into words at spaces and punctuation; sentences of words are returned unchanged.

    Text in scripts without spaces is not segmented, and a warning is given: pass it with spaces between words.
    """
    if all(isinstance(item, Sentence) for item in require_corpus(corpus)):
        return corpus
    items = tuple(Sentence(tuple(_WORD.findall(item.text)), id=item.id, where=item.where) for item in corpus.texts)
    return _segmented(replace(corpus, items=items))


def count_words(corpus: Corpus) -> int | None:
    """Count the words of a corpus as `cut_words` cuts them; None for running text without spaces between words."""
    if all(isinstance(item, Sentence) for item in corpus):
        return corpus.words
    words = [word for item in corpus for word in _WORD.findall(item.text)]
    return None if unsegmented_script(words) else len(words)


_ATTACHED = regex.compile(r".*\p{L}[.!?…。।؟۔]")
"""A word with the punctuation mark of the end of a sentence."""


def _segmented(corpus: Corpus) -> Corpus:
    """Return a corpus, and warn if its words seem to be whole sentences."""
    script = unsegmented_script([word for sentence in corpus.sentences for word in sentence.words])
    if script is not None:
        _warn(corpus.name, f"but {script_name(script)} text seems to have none between words; segment it first")
    return corpus


def _warn(name: str, reason: str) -> None:
    warn(f"{name}: words must be separated by spaces, {reason}")


def read_lines(path: str | Path, *, name: str | None = None, language: str | None = None) -> Corpus:
    """Read one side of line-aligned text: each line is an item, with its line number as id.

    Raises:
        DataError: as `read`, and for an empty line, because skipping it would shift the alignment.
    """
    file = str(path)
    lines = [line for _, line in numbered_lines(path)]
    lines = lines[:-1] if lines[-1] == "" else lines
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            raise DataError("empty line in text that is aligned line by line", file=file, line=number)
    if not lines:
        raise DataError("contains no text", file=file)
    texts = [normal(line).strip() for line in lines]
    items = tuple(Text((text,), id=str(n), where=Where(file, n)) for n, text in enumerate(texts, start=1))
    return Corpus(items, name or file, language)


def read_labelled(path: str | Path, labels: str | Path, *, name: str | None = None, split: str | None = None) -> Corpus:
    """Read texts with labels from a second, line-aligned file, as in WiLI-2018 (Thoma 2018).

    Raises:
        DataError: as `read_lines`, and if the files differ in their number of lines.
    """
    texts, label_lines = read_lines(path), read_lines(labels)
    if len(texts) != len(label_lines):
        raise DataError(f"{len(label_lines)} labels, but {path} has {len(texts)} texts", file=str(labels))
    items = tuple(replace(text, label=label.text) for text, label in zip(texts.texts, label_lines.texts, strict=True))
    return replace(texts, items=items, name=name or str(path), split=split)


_TAGGED = regex.compile(r"\S+(?:\t\S+){1,2}")
"""A word and its tag, or a word, its tag and its lemma, separated by tabs."""


def _lines(path: str | Path) -> list[tuple[int, str]]:
    lines = [(number, text) for number, line in numbered_lines(path) if (text := normal(line).strip())]
    if not lines:
        raise DataError("contains no text", file=str(path))
    if 10 * sum(_TAGGED.fullmatch(line) is not None for _, line in lines) >= 9 * len(lines):
        raise DataError(
            "looks like one word and its tag per line, not like text",
            file=str(path),
            hint="parts of speech are read from CoNLL-U, entities as IOB tags such as B-LOC",
        )
    return lines
