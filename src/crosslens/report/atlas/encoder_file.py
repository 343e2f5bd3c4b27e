"""The file of one encoder in an atlas: its records and the means that follow from them."""

import json
from collections.abc import Iterator
from math import isclose
from pathlib import Path
from typing import Any, Literal, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from crosslens.errors import DataError
from crosslens.report.blocks import score_blocks
from crosslens.results.cells import encoders_apart
from crosslens.results.pivot import mean_row, parts_of, score_cells
from crosslens.results.record import COLUMNS, Record, Results

SCHEMA = "crosslens-atlas-encoder"
VERSION = 1
"""Version of the schema; it rises when a field changes its meaning or is removed."""

STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

_HINTS = get_type_hints(Record)

RecordFields = create_model(
    "Record",
    __config__=STRICT,
    **{name: (_HINTS[name], getattr(Record(), name)) for name in COLUMNS if name != "tags"},  # pyright: ignore
)
"""A record without tags; columns that are absent do not apply."""


class Mean(BaseModel):
    """Mean scores of one kind of model, in points.

    Attributes:
        task: ``pos``, ``parsing``, …
        metric: its main score.
        source: the language trained on, with the split where there are several.
        condition: what was done to the encoder; ``reference``: nothing.
        same: mean over corpora in the source language.
        cross: zero-shot score, the mean over corpora in other languages.
        corpora: number of corpora in other languages.
    """

    model_config = STRICT

    task: str
    metric: str
    source: str
    condition: str
    same: float | None
    cross: float | None
    corpora: int


class EncoderFile(BaseModel):
    """The file of one encoder.

    Attributes:
        schema_name: ``crosslens-atlas-encoder``.
        means: means of its scores, which `read_encoder` recomputes.
    """

    model_config = STRICT | ConfigDict(title="Encoder of an atlas of crosslens")

    schema_name: Literal["crosslens-atlas-encoder"]
    version: Literal[1]
    encoder: str
    means: list[Mean]
    records: list[RecordFields]  # pyright: ignore[reportInvalidTypeForm]


def encoder_files(results: Results) -> dict[str, str]:
    """Write the file of each encoder as JSON text, one record a line.

    Names of encoders are those of the tables, without folders of the machine. Tags are left out, and so are records
    that occur before: an atlas and a submission may share some.

    Returns:
        Name of the encoder -> text; equal results give equal texts.
    """
    texts = {}
    for (encoder,), block in encoders_apart(results).groups("encoder"):
        if encoder is not None:
            rows = [{name: row[name] for name in COLUMNS if name != "tags"} for row in block.records.to_pylist()]
            records = [{name: value for name, value in row.items() if value is not None} for row in rows]
            head = {"schema_name": SCHEMA, "version": VERSION, "encoder": encoder}
            parts = [f'"{name}": {_json(value)}' for name, value in head.items()]
            means = [mean.model_dump() for mean in means_of(block)]
            parts += [
                f'"{name}": [\n' + ",\n".join(dict.fromkeys(map(_json, rows))) + "\n]"
                for name, rows in (("means", means), ("records", records))
            ]
            texts[encoder] = "{" + ",\n".join(parts) + "}\n"
    return texts


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def means_of(results: Results) -> Iterator[Mean]:
    """Yield the mean scores of an encoder by task, source and condition."""
    for block in score_blocks(results):
        table = score_cells(block.results)
        same, cross, _ = parts_of(table, block.source)
        for column in table.columns:
            yield Mean(
                task=block.task,
                metric=block.metric,
                source=block.source_label,
                condition=column.label,
                same=mean_row(table, same, column).mean if same else None,
                cross=mean_row(table, cross, column).mean if cross else None,
                corpora=len(cross),
            )


def read_encoder(path: str | Path) -> Results:
    """Read the file of an encoder, check it against the schema and recompute its means.

    Raises:
        DataError: for a file that cannot be read, that does not follow the schema, or whose means do not follow from
            its records.
    """
    path = Path(path)
    try:
        file = EncoderFile.model_validate_json(path.read_bytes())
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
        raise DataError(f"{path}: {place}: {first['msg']}{more}", hint="schema.json of an atlas describes it") from None
    results = Results.of(Record(**record.model_dump()) for record in file.records)
    others = {name for (name,), _ in results.groups("encoder")} - {file.encoder}
    if others:
        raise DataError(f"{path}: records of {others.pop()!r} in the file of {file.encoder!r}")
    _compare(path, file.means, list(means_of(results)))
    return results


def _compare(path: Path, given: list[Mean], computed: list[Mean]) -> None:
    """Refuse means that do not follow from the records."""
    keyed = [{(m.task, m.metric, m.source, m.condition): m for m in means} for means in (given, computed)]
    for key in keyed[0].keys() | keyed[1].keys():
        one, other = (means.get(key) for means in keyed)
        what = f"{path}: means of {', '.join(key)}"
        if one is None or other is None:
            raise DataError(f"{what}: {'missing' if one is None else 'no records'}")
        for name in ("same", "cross", "corpora"):
            left, right = getattr(one, name), getattr(other, name)
            if (left is None) != (right is None) or (left is not None and not isclose(left, right, abs_tol=1e-6)):
                raise DataError(f"{what}: {name} is {left}, and its records give {right}")
