"""Labelled texts and pairs of texts as ``.csv`` with a header, or ``.jsonl`` with one object per line.

Their columns are those of `crosslens.data.formats.rows.LAYOUTS`, such as ``text`` and ``label``.
"""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crosslens.data.corpus import Corpus
from crosslens.data.formats.lines import BYTE_ORDER_MARK, numbered_lines, read_text
from crosslens.data.formats.rows import LABELLED, XNLI, read_rows
from crosslens.errors import DataError
from crosslens.files import write_bytes

Columns = dict[str, Any]
"""Column -> value of one row."""


def read_csv(
    path: str | Path,
    *,
    name: str | None = None,
    language: str | None = None,
    split: str | None = None,
    incomplete: bool = False,
) -> Corpus:
    """Read a file of comma-separated values whose first line names the columns.

    Where that line has semicolons and no commas, as in spreadsheets of some countries, semicolons separate the values.

    Args:
        incomplete: whether texts may lack a label (`crosslens.data.formats.rows.texts`).

    Raises:
        DataError: with file and line, for invalid quotes, a row of another length, unknown columns or an empty field.
    """
    file = str(path)
    table = _csv_rows(read_text(path).removeprefix(BYTE_ORDER_MARK), file)
    _, names = next(table, (1, []))
    header = [column.strip() for column in names]
    rows = ((line, _named(row, header, file, line)) for line, row in table if row)
    return read_rows(
        rows, header, file=file, unnamed=True, incomplete=incomplete, name=name, language=language, split=split
    )


def _named(row: list[str], header: list[str], file: str, line: int) -> Columns:
    if len(row) != len(header):
        raise DataError(f"{len(row)} fields, but the header has {len(header)}", file=file, line=line)
    return dict(zip(header, row, strict=True))


def _csv_rows(content: str, file: str) -> Iterator[tuple[int, list[str]]]:
    """Yield rows with the number of their first line."""
    csv.field_size_limit(max(csv.field_size_limit(), len(content)))
    header = content.partition("\n")[0]
    delimiter = ";" if ";" in header and "," not in header else ","
    reader = csv.reader(io.StringIO(content, newline=""), strict=True, delimiter=delimiter)
    line = 1
    try:
        for row in reader:
            yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        hint = "double the quotation marks within a quoted field, and close it"
        raise DataError(f"is not CSV: {error}", file=file, line=line, hint=hint) from None


def read_jsonl(
    path: str | Path,
    *,
    name: str | None = None,
    language: str | None = None,
    split: str | None = None,
    incomplete: bool = False,
) -> Corpus:
    """Read a file with one JSON object per line; empty lines are skipped.

    Args:
        incomplete: whether texts may lack a label (`crosslens.data.formats.rows.texts`).

    Raises:
        DataError: with file and line, for a line that is not an object, unknown columns or an empty field.
    """
    file = str(path)
    rows: list[tuple[int, Columns]] = []
    for number, line in numbered_lines(path):
        if line.strip():
            try:
                row = json.loads(line)
            except ValueError as error:
                raise DataError(f"is not JSON: {error}", file=file, line=number) from None
            if not isinstance(row, dict):
                raise DataError("is not a JSON object", file=file, line=number, hint='write {"text": …, "label": …}')
            rows.append((number, row))
    columns = list(dict.fromkeys(column for _, row in rows for column in row))
    return read_rows(
        rows, columns, file=file, unnamed=True, incomplete=incomplete, name=name, language=language, split=split
    )


def write_csv(corpus: Corpus, path: str | Path) -> None:
    """Write texts, or pairs of texts, with their labels, atomically."""
    rows = _rows(corpus)
    lines = map(_csv_line, ([*rows[0]], *([*row.values()] for row in rows)))
    write_bytes(path, "".join(lines).encode("utf-8"))


def _csv_line(fields: list[str]) -> str:
    stream = io.StringIO(newline="")
    csv.writer(stream).writerow(fields)  # only a terminator with a carriage return has fields with one quoted
    return stream.getvalue().removesuffix("\r\n") + "\n"


def write_jsonl(corpus: Corpus, path: str | Path) -> None:
    """Write texts, or pairs of texts, with their labels, atomically."""
    lines = [json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in _rows(corpus)]
    write_bytes(path, "".join(lines).encode("utf-8"))


def _rows(corpus: Corpus) -> list[Columns]:
    layouts = {len(layout.segments): layout for layout in (LABELLED, XNLI)}
    # Texts without an id in their file have the number of its line.
    named = any(text.where is not None and text.id != str(text.where.line) for text in corpus.texts)
    rows = []
    for text in corpus.texts:
        layout = layouts[len(text.segments)]
        row = dict(zip(layout.segments, text.segments, strict=True)) | {layout.label: text.label}
        rows.append({"id": text.id, **row} if named else row)
    return rows
