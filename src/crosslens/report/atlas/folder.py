"""An atlas of encoders: a static folder that anyone can host."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

from crosslens.report.atlas.encoder_file import SCHEMA, VERSION, EncoderFile, encoder_files, read_encoder
from crosslens.report.atlas.ranking import encoder_ranking
from crosslens.report.page import make_page
from crosslens.report.render import to_csv
from crosslens.results.record import Results, concatenated
from crosslens.runs.recorded import read_results

INDEX = "atlas.json"
"""File that lists the encoders of an atlas."""

INTRODUCTION = "Encoders compared by what their layers carry. The folder encoders has the records behind every number."


def read_submissions(paths: Sequence[str]) -> Results:
    """Read results, and files of encoders (``.json``), which are checked.

    A folder that is itself an atlas stands for the files of its encoders.

    Args:
        paths: files of encoders, atlases, results files, folders of runs.

    Raises:
        DataError: for a file that is not what it should be, or that a check refuses.
    """
    files, others = [], []
    for path in map(Path, paths):
        if (path / INDEX).is_file():
            files += sorted((path / "encoders").glob("*.json"))
        elif path.suffix == ".json":
            files.append(path)
        else:
            others.append(str(path))
    return concatenated([*map(read_encoder, files), *([read_results(*others)] if others else [])])


def write_atlas(results: Results, folder: Path, *, title: str) -> list[str]:
    """Write the page, the ranking and a file for each encoder. Equal results give equal bytes.

    Returns:
        Names of the encoders.
    """
    (folder / "encoders").mkdir()
    files = {}
    for encoder, text in encoder_files(results).items():
        files[encoder] = _file_name(encoder, list(files.values()))
        (folder / "encoders" / files[encoder]).write_text(text, "utf-8")
    listed = [{"encoder": encoder, "file": f"encoders/{name}"} for encoder, name in files.items()]
    index = {"schema_name": SCHEMA, "version": VERSION, "encoders": listed}
    (folder / INDEX).write_text(_json(index), "utf-8")
    (folder / "schema.json").write_text(_json(EncoderFile.model_json_schema()), "utf-8")
    for table in encoder_ranking(results):
        (folder / f"{table.name}.csv").write_text(to_csv(table), "utf-8")
    (folder / "index.html").write_text(make_page(results, title=title, introduction=INTRODUCTION), "utf-8")
    return list(files)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def _file_name(encoder: str, taken: Sequence[str]) -> str:
    """A file name for an encoder: ``google--mt5-small.json``; names that differ in case only get a number.

    >>> _file_name("google/mt5-small", []), _file_name("E5", ["e5.json"])
    ('google--mt5-small.json', 'E5-2.json')
    """
    name = re.sub(r"[^\w.-]+", "-", encoder.replace("/", "--")).strip(".-") or "encoder"
    lower = {each.lower() for each in taken}
    names = [f"{name}.json", *(f"{name}-{number}.json" for number in range(2, len(taken) + 3))]
    return next(each for each in names if each.lower() not in lower)
