"""Read annotated corpora from Arrow files of the library ``datasets`` (Hugging Face), without the library.

Each split has one or more files beside a ``dataset_info.json`` with the names of its labels, in the cache of the
library as in a folder written by ``save_to_disk``.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc

from crosslens.data.corpus import Corpus
from crosslens.data.formats import tsv
from crosslens.data.formats.lines import normal
from crosslens.data.sentence import Item, Sentence, Text, Where
from crosslens.errors import DataError

ENDING = ".arrow"
WORDS, TAGS = "tokens", "ner_tags"
LAYOUTS = (tsv.SIB200, tsv.XNLI)
"""Columns of labelled texts; the first layout that fits is used."""


def read(path: str | Path, *, name: str | None = None, language: str | None = None, split: str | None = None) -> Corpus:
    """Read named entities (columns ``tokens`` and ``ner_tags``), topics or sentence pairs.

    Args:
        path: the first file of the split; its name tells the number of files, as in ``data-00000-of-00002.arrow``.
        name: name of the corpus; the path by default.
        language: BCP 47 tag.
        split: ``train``, ``dev`` or ``test``.

    Raises:
        DataError: for a file that cannot be read, unknown columns, a label without a name, or no rows.
    """
    path, file = Path(path), str(path)
    try:
        table = pa.concat_tables([pa.ipc.open_stream(shard).read_all() for shard in map(_content, _shards(path))])
    except (OSError, pa.ArrowInvalid) as error:
        raise DataError(f"is not an Arrow file of the library datasets: {error}", file=file) from None
    features = _features(path)
    rows = enumerate(table.to_pylist(), start=1)
    layout = next((layout for layout in LAYOUTS if set(layout.columns) <= set(table.column_names)), None)
    if {WORDS, TAGS} <= set(table.column_names):
        items: list[Item] = list(_sentences(rows, features, file))
    elif layout is not None:
        items = list(_texts(rows, layout, features, file))
    else:
        raise DataError(f"has neither entities, topics nor pairs, but {', '.join(table.column_names)}", file=file)
    if not items:
        raise DataError("contains no sentences", file=file)
    return Corpus(tuple(items), name or file, language, split)


def _sentences(
    rows: Iterator[tuple[int, dict[str, Any]]], features: Mapping[str, Any], file: str
) -> Iterator[Sentence]:
    label = _label(features.get(TAGS), file)
    for number, row in rows:
        tags = [tag for tag in map(label, row[TAGS]) if tag is not None]
        if len(tags) != len(row[WORDS]):
            raise DataError(f"{len(row[WORDS])} words, but {len(tags)} tags", file=file, line=number)
        if tags:
            yield Sentence(tuple(map(normal, row[WORDS])), entities=tuple(tags), where=Where(file, number))


def _texts(
    rows: Iterator[tuple[int, dict[str, Any]]], layout: tsv.Layout, features: Mapping[str, Any], file: str
) -> Iterator[Text]:
    *segments, target = sorted(layout.columns, key=lambda column: column in ("label", "category"))
    label = _label(features.get(target), file)
    for number, row in rows:
        value = label(row[target])
        if value is not None:
            texts = tuple(normal(row[column]).strip() for column in segments)
            identifier = row.get(layout.id) if layout.id else None
            yield Text(texts, value, str(number if identifier is None else identifier), Where(file, number))


def _label(feature: Any, file: str) -> Callable[[int | str], str | None]:
    """Return a function from a value of a column to the name of its label; None for -1 (unlabelled)."""
    while isinstance(feature, Mapping) and "feature" in feature:  # a list of labels
        feature = feature["feature"]
    feature = feature[0] if isinstance(feature, list) else feature
    names = feature.get("names") if isinstance(feature, Mapping) else None

    def name(value: int | str) -> str | None:
        if isinstance(value, str):
            return value
        if value == -1:
            return None
        if names is None or not 0 <= value < len(names):
            raise DataError(f"label {value} has no name in dataset_info.json", file=file)
        return names[value]

    return name


def _features(path: Path) -> Mapping[str, Any]:
    info = path.with_name("dataset_info.json")
    try:
        return json.loads(info.read_text("utf-8")).get("features") or {}
    except (OSError, ValueError) as error:
        raise DataError(f"cannot be read: {error}", file=str(info)) from None


def _shards(path: Path) -> list[Path]:
    """All files of a split: those with the other numbers in place of 00000."""
    numbered = re.fullmatch(r"(?P<stem>.*-)0{5}-of-(?P<count>\d{5})\.arrow", path.name)
    if not numbered:
        return [path]
    count = numbered["count"]
    return [path.with_name(f"{numbered['stem']}{number:05}-of-{count}{ENDING}") for number in range(int(count))]


def _content(path: Path) -> pa.NativeFile:
    return pa.memory_map(str(path))
