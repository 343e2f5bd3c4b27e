"""Tab-separated labelled texts and pairs of texts, as in SIB-200, XNLI, MultiNLI and MLDoc."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from crosslens.data.corpus import Corpus, item_error
from crosslens.data.formats.lines import BYTE_ORDER_MARK, normal, read_text
from crosslens.data.formats.rows import LAYOUTS, NOT_IN_TABLES, Layout, Rows, of_language, texts
from crosslens.data.sentence import on_one_line
from crosslens.errors import DataError, RequestError
from crosslens.files import write_bytes

_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_EMPTY_LINE = f"remove the empty line; entities are read from lines of word and tag without a header; {NOT_IN_TABLES}"


def read(
    path: str | Path,
    *,
    layout: Layout | None = None,
    name: str | None = None,
    language: str | None = None,
    split: str | None = None,
    incomplete: bool = False,
) -> Corpus:
    """Read texts, or pairs of texts, with their labels.

    Args:
        layout: column layout; None: one of `LAYOUTS`, recognised by the header, in which the column of labels may be
            missing, or by the number of columns.
        language: BCP 47 tag; only its rows of a multilingual file are read.
        incomplete: whether texts may lack a label (`crosslens.data.formats.rows.texts`).

    Raises:
        DataError: with file and line, for a header or row that does not fit the layout, an empty field, or a
            multilingual file without ``language``.
    """
    file = str(path)
    rows = _rows(path)
    layout = layout or _recognised(rows, file)
    headed = layout.headed or _names(rows[0][1], layout)
    named = _headed(rows, layout, file, language) if headed else _columns(rows, layout, file)
    labelled = layout.columns != layout.segments
    items = tuple(texts(named, layout, file=file, labelled=labelled, incomplete=incomplete))
    if not items:
        raise DataError("contains no text" + (f" in {language!r}" if layout.language else ""), file=file)
    return Corpus(items, name or file, language, split)


def write(corpus: Corpus, path: str | Path) -> None:
    """Write texts in SIB-200's layout or pairs in XNLI's, atomically; tabs and line breaks become spaces.

    Raises:
        DataError: for a corpus of sentences, or a text without a label.
    """
    rows = [
        [*text.segments, label] if len(text.segments) == 2 else [text.id or "", label, _enclosed(text.text)]
        for text, label in zip(corpus.texts, require_labels(corpus), strict=True)
    ]
    if len(corpus.texts[0].segments) == 1:
        rows.insert(0, ["index_id", "category", "text"])
    lines = ("\t".join(map(on_one_line, row)) for row in rows)
    write_bytes(path, "".join(f"{line}\n" for line in lines).encode("utf-8"))


def require_labels(corpus: Corpus) -> list[str]:
    """Get the label of every text.

    Raises:
        DataError: with file and line, for a text without a label.
    """
    for text in corpus.texts:
        if text.label is None:
            raise item_error(corpus, text, "has no label", hint="name the columns text and label")
    return [text.label for text in corpus.texts if text.label is not None]


FirstSentences = Literal["all"] | Annotated[int, Field(ge=1, le=2)]
"""Part of a document to read: all, or the first one or two sentences, each as a segment."""


def first_sentences(corpus: Corpus, count: FirstSentences = 2) -> Corpus:
    """Truncate documents to their first sentences, each as a segment.

    Wu & Dredze (2019, section 4.1) read two sentences per document, split with NLTK. crosslens uses sentencex, which
    has rules for more languages and needs no download.

    Args:
        corpus: documents of one segment; its language selects the splitting rules.
        count: number of sentences; ``all`` keeps whole documents.

    Raises:
        RequestError: if sentencex is not installed.
    """
    if count == "all":
        return corpus
    try:
        from sentencex import segment  # pyright: ignore[reportAttributeAccessIssue]
    except ImportError:
        raise RequestError(
            "splitting documents into sentences needs the package sentencex", hint="pip install 'crosslens[documents]'"
        ) from None
    items = []
    for document in corpus.texts:
        sentences = [sentence.strip() for sentence in segment(corpus.language or "en", document.text)]
        kept = tuple(sentence for sentence in sentences if sentence)[:count]
        items.append(replace(document, segments=kept or document.segments))
    return replace(corpus, items=tuple(items))


def _rows(path: str | Path) -> list[tuple[int, list[str]]]:
    text = read_text(path).removeprefix(BYTE_ORDER_MARK).rstrip("\r\n")
    lines = text.split("\n" if "\n" in text else "\r")  # spreadsheets may end lines in a carriage return alone
    return [(number, [normal(field).strip() for field in line.split("\t")]) for number, line in enumerate(lines, 1)]


def _recognised(rows: Sequence[tuple[int, list[str]]], file: str) -> Layout:
    header = rows[0][1]
    headed = [layout for layout in LAYOUTS if layout.headed]
    unlabelled = [replace(layout, columns=layout.segments) for layout in headed if layout.id in (None, *header)]
    for layout in (*headed, *unlabelled, *LAYOUTS):
        if _names(header, layout) or (not layout.headed and len(layout.columns) == len(header)):
            return layout
    raise DataError(
        "unknown tab-separated format",
        file=file,
        line=1,
        hint=f"use two columns (label, text), three (premise, hypothesis, label), or a header; {NOT_IN_TABLES}",
    )


def _names(row: Sequence[str], layout: Layout) -> bool:
    """Whether a row names the columns of a layout."""
    return {*layout.columns, *([layout.language] if layout.language else [])} <= set(row)


def _headed(rows: Sequence[tuple[int, list[str]]], layout: Layout, file: str, language: str | None) -> Rows:
    """Name the fields of each row as the first line does, and select the rows of a language."""
    header = rows[0][1]
    wanted = [*layout.columns, *([layout.id] if layout.id else [])]
    if not set(wanted) <= set(header):
        raise DataError(
            f"is not in {layout.name} format: the first line must name the columns {' '.join(wanted)}",
            file=file,
            line=1,
        )
    for line, row in rows[1:]:
        if any(row[len(header) :]):
            hint = _quoted(row) or "a tab in a text is a separator: replace it by a space"
            raise DataError(f"{len(row)} tab-separated fields, expected {len(header)}", file=file, line=line, hint=hint)
    if layout.quoted:
        rows = [(line, [_bare(field) for field in row]) for line, row in rows]
    named = [(line, dict(zip(header, row, strict=False))) for line, row in rows[1:]]
    return of_language(named, layout, language, file) if layout.language in header else named


def _columns(rows: Sequence[tuple[int, list[str]]], layout: Layout, file: str) -> Rows:
    """Name the fields of each row of a file without a header."""
    for line, row in rows:
        if len(row) != len(layout.columns):
            raise DataError(
                f"{len(row)} tab-separated fields, expected {len(layout.columns)}",
                file=file,
                line=line,
                hint=_quoted(row) if any(row) else _EMPTY_LINE,
            )
    return [(line, dict(zip(layout.columns, row, strict=True))) for line, row in rows]


def _enclosed(field: str) -> str:
    """A field as CSV has it: in quotation marks, with its own doubled, if it has any."""
    return '"' + field.replace('"', '""') + '"' if '"' in field else field


def _bare(field: str) -> str:
    """A field of CSV without the marks that enclose it; what CSV would not have written stays."""
    return field[1:-1].replace('""', '"').strip() if _QUOTED.fullmatch(field) else field


def _quoted(row: Sequence[str]) -> str | None:
    """Hint for a row that a line break or tab in quotes may have cut."""
    cut = any(field.count('"') % 2 for field in row)
    hint = "quotes do not enclose line breaks and tabs: write each row on one line, or the table as .csv"
    return hint if cut else None
