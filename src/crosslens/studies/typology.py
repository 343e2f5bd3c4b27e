"""The typology of languages, from the runs of a store."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import langcodes
import numpy as np

from crosslens.corpora.catalogue import load_corpus
from crosslens.data.scripts import main_script, script_name
from crosslens.digests import canonical_json
from crosslens.encoders.condition import Condition
from crosslens.encoders.interventions.start import Start
from crosslens.errors import RequestError, suggest
from crosslens.results.cells import condition_of
from crosslens.results.record import concatenated
from crosslens.runs.counts import key
from crosslens.runs.store import Store
from crosslens.scores.intervals import linearised
from crosslens.tasks import find_task
from crosslens.unseen.typology import Cell, Measurements, known_languages, typology

if TYPE_CHECKING:
    import pandas


def read_typology(store: Store, *, studies: Sequence[str] = (), data: str | None = None) -> "pandas.DataFrame":
    """Every training set and test corpus on which the encoder and a BiLSTM were trained alike.

    Args:
        store: of a study with the conditions ``none``, ``{start: adapted}`` and ``{start: bilstm}``.
        studies: whose runs are looked at; none: all studies of the store, as they were planned last.
        data: a folder that is looked through first for the corpora, whose script is told.

    Returns:
        The columns of `crosslens.unseen.typology.typology` behind ``language``, ``name``, ``script``, ``family``, and
        ``text``: the words of raw text that the encoder was adapted to; ``adapted encoders``: how many of them the
        seeds begin with; where it is one, no test holds how such encoders differ; ``published text`` and ``published
        class`` of the slides stand last.

    Raises:
        RequestError: when no pair of them is there; when one of a pair was trained on the same data in several ways, or
            twice with one seed, so that it is not known what to compare; for a study that there is not.
    """
    planned = list(store.studies())
    for study in studies:
        if study not in planned:
            raise RequestError(f"{store.folder} has no study {study!r}", hint=suggest(study, planned))
    values: dict[Cell, dict[str, dict[int, np.ndarray]]] = {}
    languages: dict[Cell, str] = {}
    adapted_on: dict[Cell, set[str]] = {}
    ways: dict[tuple[Cell, str], str] = {}
    trained: dict[tuple[Cell, str, int], str] = {}
    twice: dict[Cell, str] = {}
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
        # The adapted encoder is fine-tuned as the encoder is; what starts from nothing may need a recipe of its own.
        way = canonical_json([identity["recipe"], identity["settings"]]).decode()
        alike = ways.setdefault((cell, "encoder" if start == "adapted" else start), way) == way
        if not alike or trained.setdefault((cell, start, row["seed"]), run) != run:
            twice.setdefault(cell, f"{start}, run {run}, differs")
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
        raise RequestError(
            f"{store.folder} has no language on which an encoder and a BiLSTM were trained",
            hint="a study needs the conditions none, {start: adapted} and {start: bilstm}",
        )
    for cell in cells:
        if cell in twice:
            raise RequestError(
                f"{cell.train} was trained on in several ways for {cell.corpus} ({twice[cell]})",
                hint=f"name the studies to look at: --study {' or --study '.join(planned)}",
            )
    frame = typology(cells)
    about = []
    for cell in cells:
        tag, adapted = languages[cell], adapted_on.get(cell, set())
        bare = langcodes.Language.get(tag).language or tag
        known = known_languages().get(bare)
        script = main_script(item.text for item in load_corpus(cell.corpus, data=data))
        about.append(
            {
                "language": tag,
                "name": known.name if known else tag,
                "script": script_name(script) if script else "",
                "family": known.family if known else "",
                "text": next((words[each] for each in sorted(adapted) if each in words), None),
                "adapted encoders": len(adapted) or None,
                "published text": known.sentences if known else "",
                "published class": known.published if known and bare == tag else "",
            }
        )
    import pandas as pd

    head = pd.DataFrame(about)
    last = ["published text", "published class"]
    return pd.concat([head.drop(columns=last), frame, head[last]], axis=1).sort_values(
        ["task", "language", "train", "corpus"], ignore_index=True
    )


def _start(condition: Condition) -> str | None:
    """What training began with, where nothing else was done; None otherwise."""
    return condition.start if all(isinstance(each, Start) for each in condition.interventions) else None


def _words(store: Store) -> dict[str, int]:
    """Digest of an adapted encoder -> the words that it was adapted to."""
    described = [store.describe(run) for run in store.ids()]
    return {each["encoder_digest"]: each["words"] for each in described if "words" in each}
