"""Read annotated corpora from Arrow files of the library ``datasets`` (Hugging Face), without the library.

Each split has one or more files beside a ``dataset_info.json`` with the names of its labels, in the cache of the
library as in a folder written by ``save_to_disk``.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc

from crosslens.data.corpus import Corpus
from crosslens.data.formats.rows import read_rows
from crosslens.errors import DataError

ENDING = ".arrow"


def read(path: str | Path, *, name: str | None = None, language: str | None = None, split: str | None = None) -> Corpus:
    """Read named entities (columns ``tokens`` and ``ner_tags``), topics or sentence pairs.

    Args:
        path: the first file of the split; its name tells the number of files, as in ``data-00000-of-00002.arrow``.

    Raises:
        DataError: for a file that cannot be read, unknown columns, a label without a name, or no rows.
    """
    path, file = Path(path), str(path)
    try:
        table = pa.concat_tables([pa.ipc.open_stream(pa.memory_map(str(shard))).read_all() for shard in _shards(path)])
    except (OSError, pa.ArrowInvalid) as error:
        raise DataError(f"is not an Arrow file of the library datasets: {error}", file=file) from None
    rows = enumerate(table.to_pylist(), start=1)
    return read_rows(
        rows, table.column_names, file=file, features=_features(path), name=name, language=language, split=split
    )


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
