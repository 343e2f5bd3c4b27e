"""Records on disk: in results files, in folders of single fine-tunings, and in stores of runs."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from crosslens.errors import DataError, RequestError
from crosslens.results.record import Results, concatenated
from crosslens.results.record import read_results as read_file
from crosslens.runs.counts import COUNTS, Counts, key, read_counts, write_counts
from crosslens.runs.store import Store, is_store

NAMES = ("results.csv", "results.parquet")
"""File names of results in folders."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """Records from one place.

    Attributes:
        results: the records, without counts.
        read_counts: function from a run to the counts of its scores.
    """

    results: Results
    read_counts: Callable[[str], Counts]

    def counted(self) -> Results:
        """Return the records with the counts per sentence of those that have them."""
        read = cache(self.read_counts)
        counts = {}
        for record in self.results:
            for name in filter(None, (record.question, record.corpus_digest)):
                array = read(record.run or "").get(key(name, record.metric or ""))
                if array is not None:
                    counts[record.run, record.condition, record.corpus_digest, record.metric] = array
        return replace(self.results, counts=counts)

    def filter(self, **columns: Any) -> "Recorded":
        """Select records as `Results.filter` does."""
        return replace(self, results=self.results.filter(**columns))


def recorded(path: str | Path, *, encoded: bool = False) -> list[Recorded]:
    """Find the records of a results file, of all studies of a store, or of a folder and its subfolders.

    Folders are searched for ``results.csv``, or else ``results.parquet``.

    Args:
        encoded: whether text is dictionary-encoded, as by `Results.encoded`.

    Raises:
        DataError: for a file that cannot be read, or a folder without results.
    """
    path = Path(path)
    if is_store(path):  # its studies may be unfinished
        store = Store(path)
        collected = [store.collect(study) for study in store.studies()]
        places = [Recorded(study.encoded() if encoded else study, store.counts) for study in collected]
    else:
        files = _results_files(path) if path.is_dir() else [path]
        places = [Recorded(read_file(file, encoded=encoded), _counts_beside(file)) for file in files]
    if not places:
        raise DataError(f"no {' or '.join(NAMES)} in {path}", hint="name the folder that --out made")
    return places


def read_results(*paths: str | Path, encoded: bool = False) -> Results:
    """Read results files, folders that commands made, and stores of studies.

    Args:
        paths: a ``.csv``, ``.parquet``, ``.json`` or ``.jsonl`` file that `Results.write` wrote, by this or an earlier
            version, or rewritten by pandas; a folder that ``--out`` made, or one of several such folders; the folder
            of a study.
        encoded: whether text is dictionary-encoded, as by `Results.encoded`, which takes a fifth of the memory.

    Returns:
        All records, each once although several paths may have it, without counts per sentence, which `test` takes from
        the folders themselves.

    Raises:
        RequestError: for another object than a path.
        DataError: for a file that is missing or holds no records, or folders without results.
        OSError: when the operating system refuses to read a file.

    Examples:
        >>> record = xl.Record(task="pos", source="en", target="fr", metric="accuracy", value=90.0)
        >>> xl.Results.of([record]).write(folder / "results.csv")
        >>> xl.read_results(folder / "results.csv").to_pandas()["value"].tolist()
        [90.0]
        >>> len(xl.read_results(folder))
        1
    """
    if not paths:
        raise DataError("there are no results to read", hint="name a folder that --out made")
    for path in paths:
        if not isinstance(path, str | Path):
            hint = "with a star for several: read_results(*paths)" if isinstance(path, list | tuple) else None
            raise RequestError(f"results are read from a file or folder, not from a {type(path).__name__}", hint=hint)
    results = concatenated(place.results for path in paths for place in recorded(path, encoded=encoded))
    if len(paths) == 1:
        return results
    repeated = results.records.to_pandas().duplicated()
    return replace(results, records=results.records.filter(pa.array(~repeated)))


def write_recorded(results: Results, folder: Path) -> None:
    """Write the results of one run to ``results.csv``, and their counts per sentence beside it."""
    results.write(folder / NAMES[0])
    counts = {
        key(digest, metric): array
        for (_, _, digest, metric), array in results.counts.items()
        if digest is not None and metric is not None
    }
    if counts:
        write_counts(folder / COUNTS, counts)


def _counts_beside(file: Path) -> Callable[[str], Counts]:
    return lambda run: read_counts(file.with_name(COUNTS))


def _results_files(folder: Path) -> list[Path]:
    parents = sorted({file.parent for name in NAMES for file in folder.rglob(name)})
    return [next(parent / name for name in NAMES if (parent / name).is_file()) for parent in parents]
