"""Classify languages as easy, intermediate or hard from the runs of a store."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import langcodes
import numpy as np

from crosslens.corpora.catalogue import load_corpus
from crosslens.data.scripts import main_script, script_name
from crosslens.digests import canonical_json
from crosslens.encoders.condition import Condition
from crosslens.encoders.interventions.start import Start
from crosslens.errors import DataError, RequestError, suggest
from crosslens.results.cells import condition_of
from crosslens.results.record import concatenated
from crosslens.runs.counts import key
from crosslens.runs.store import Store
from crosslens.scores.intervals import linearised
from crosslens.tasks import find_task
from crosslens.unseen.typology import Cell, Measurements, known_languages, typology

if TYPE_CHECKING:
    import pandas


class NothingToCompare(RequestError):
    """A store has no language on which an encoder and a BiLSTM were trained."""


def read_typology(store: Store, *, studies: Sequence[str] = (), data: str | None = None) -> "pandas.DataFrame":
    """Compute the typology for each training set and test corpus with runs of both the encoder and a BiLSTM.

    Args:
        store: store of a study with the conditions ``none``, ``{start: adapted}`` and ``{start: bilstm}``.
        studies: names of studies to read; empty: all studies of the store, as last planned.
        data: folder that is searched first for corpora, whose script is detected.

    Returns:
        ``language``, ``name``, ``script`` and ``family``; ``text``, the number of words of raw text that the encoder
        was adapted to; ``adapted encoders``, the number of adapted encoders that the seeds start from (with one, tests
        do not include the variation between encoders); the columns of `crosslens.unseen.typology.typology`; and, from
        the slides, ``published text`` and ``published class``.

    Raises:
        RequestError: when no language has runs of both; when the runs to compare are ambiguous, because they used
            several recipes or repeat a seed on the same data; for an unknown study.
    """
    planned = list(store.studies())
    for study in studies:
        if study not in planned:
            raise RequestError(f"{store.folder} has no study {study!r}", hint=suggest(study, planned))
    values: dict[Cell, dict[str, dict[int, np.ndarray]]] = {}
    languages: dict[Cell, str] = {}
    adapted_on: dict[Cell, set[str]] = {}
    recipes: dict[tuple[Cell, str], str] = {}
    runs: dict[tuple[Cell, str, int], str] = {}
    ambiguous: dict[Cell, str] = {}
    identities: dict[str, dict[str, Any]] = {}
    for row in concatenated([store.collect(study) for study in studies or planned]).records.to_pylist():
        start = _start(condition_of(row["condition"]))
        if row["measure"] is not None or start is None or row["metric"] != find_task(row["task"]).metric:
            continue
        run = row["run"]
        counts = store.counts(run).get(key(row["question"], row["metric"]))
        if counts is None or counts.shape[1] < 2 or not counts[1].sum():
            continue
        identity = identities.setdefault(run, store.describe(run)["identity"])
        cell = Cell(row["task"], row["train"], row["corpus"])
        languages[cell] = row["target"] or "?"
        # The adapted encoder shares the recipe of the encoder; models without pretraining may need their own.
        recipe = canonical_json([identity["recipe"], identity["settings"]]).decode()
        same = recipes.setdefault((cell, "encoder" if start == "adapted" else start), recipe) == recipe
        if not same or runs.setdefault((cell, start, row["seed"]), run) != run:
            ambiguous.setdefault(cell, f"{start}, run {run}, differs")
        values.setdefault(cell, {}).setdefault(start, {})[row["seed"]] = linearised(counts[:1], counts[1:])[0]
        if start == "adapted":
            adapted_on.setdefault(cell, set()).add(identity["encoder"])
    words = _words(store)
    cells = {
        cell: Measurements(numbers["encoder"], numbers.get("adapted"), numbers["bilstm"], numbers.get("scratch"))
        for cell, numbers in values.items()
        if {"encoder", "bilstm"} <= set(numbers)
    }
    if not cells:
        raise NothingToCompare(
            f"{store.folder} has no language on which an encoder and a BiLSTM were trained",
            hint="a study needs the conditions none, {start: adapted} and {start: bilstm}",
        )
    for cell in cells:
        if cell in ambiguous:
            raise RequestError(
                f"{cell.train} was trained on in several ways for {cell.corpus} ({ambiguous[cell]})",
                hint=f"name the studies to look at: --study {' or --study '.join(planned)}",
            )
    frame = typology(cells)
    about = []
    for cell in cells:
        tag, adapted = languages[cell], adapted_on.get(cell, set())
        language = langcodes.Language.get(tag).language or tag
        known = known_languages().get(language)
        script = _script(cell.corpus, data)
        about.append(
            {
                "language": tag,
                "name": known.name if known else tag,
                "script": script or (known.script if known else ""),
                "family": known.family if known else "",
                "text": next((words[digest] for digest in sorted(adapted) if digest in words), None),
                "adapted encoders": len(adapted) or None,
                "published text": known.sentences if known else "",
                "published class": known.published if known and language == tag else "",
            }
        )
    import pandas as pd

    about_frame = pd.DataFrame(about)
    published = ["published text", "published class"]
    return pd.concat([about_frame.drop(columns=published), frame, about_frame[published]], axis=1).sort_values(
        ["task", "language", "train", "corpus"], ignore_index=True
    )


def _script(corpus: str, data: str | None) -> str | None:
    """Name of the main script of a corpus; None without one, or if the corpus is not there."""
    try:
        code = main_script(item.text for item in load_corpus(corpus, data=data))
    except DataError:
        return None
    return script_name(code) if code else None


def _start(condition: Condition) -> str | None:
    """Return the start of a condition without other interventions; else None."""
    return condition.start if all(isinstance(change, Start) for change in condition.interventions) else None


def _words(store: Store) -> dict[str, int]:
    """Map the digest of each adapted encoder to the number of words that it was adapted to."""
    described = [store.describe(run) for run in store.ids()]
    return {facts["encoder_digest"]: facts["words"] for facts in described if "words" in facts}
