"""The typology of languages, from the runs of a store."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import langcodes
import numpy as np

from crosslens.catalogue import load_corpus
from crosslens.data.scripts import main_script, script_name
from crosslens.errors import RequestError, suggest
from crosslens.identity import canonical_json
from crosslens.scores.crossed import linearised
from crosslens.studies.condition import START_LABELS
from crosslens.studies.store import Store
from crosslens.studies.summary import read_counts
from crosslens.tasks import find_task
from crosslens.unseen.typology import Cell, Measurements, known_languages, typology

if TYPE_CHECKING:
    import pandas

CONDITIONS = {"reference": "encoder", **{START_LABELS[name]: name for name in ("adapted", "scratch", "bilstm")}}
"""Condition -> what of `Measurements` it is."""


def read_typology(store: Store, *, studies: Sequence[str] = (), data: str | None = None) -> "pandas.DataFrame":
    """Every training set and test corpus on which the encoder and a BiLSTM were trained alike.

    Args:
        store: of a study with the conditions ``none``, ``{start: adapted}`` and ``{start: bilstm}``.
        studies: whose runs are looked at; none: all runs of the store.
        data: a folder that is looked through first for the corpora, whose script is told.

    Returns:
        The columns of `crosslens.unseen.typology.typology` behind ``language``, ``name``, ``script``, ``family``, and
        ``text``: the words of raw text that the encoder was adapted to; ``published text`` and ``published class`` of
        the slides stand last.

    Raises:
        RequestError: when no pair of them is there; when one of a pair was trained on the same data in several ways, or
            twice with one seed, so that it is not known what to compare; for a study that there is not.
    """
    planned = store.studies()
    for study in studies:
        if study not in planned:
            raise RequestError(f"{store.folder} has no study {study!r}", hint=suggest(study, planned))
    chosen = {run for study in studies for run in planned[study]} or set(store.ids())
    values: dict[Cell, dict[str, dict[int, np.ndarray]]] = {}
    languages: dict[Cell, str] = {}
    words: dict[str, int] = {}
    adapted_on: dict[Cell, str] = {}
    ways: dict[tuple[Cell, str], str] = {}
    trained: dict[tuple[Cell, str, int], str] = {}
    twice: dict[Cell, str] = {}
    for run in store.ids():
        described = store.describe(run)
        if "adaptation" in described["identity"]:
            facts = described["facts"]
            words[described["encoder_digest"]] = sum(its for name, its in facts.items() if name.startswith("words "))
            continue
        if run not in chosen:
            continue
        # The adapted encoder is fine-tuned as the encoder is; what starts from nothing may need a recipe of its own.
        way = canonical_json([described["identity"].get(name) for name in ("recipe", "settings")]).decode()
        counts = read_counts(store, run)
        for row in store.records(run).records.to_pylist():
            tags: dict[str, Any] = json.loads(row["tags"])
            kind = CONDITIONS.get(tags.get("condition", ""))
            if row["measure"] is not None or kind is None or row["metric"] != find_task(row["task"]).metric:
                continue
            its = counts.get(f"{tags['corpus']} {row['metric']}")
            if its is None or its.shape[1] < 2 or not its[1].sum():
                continue
            cell = Cell(row["task"], tags["training_train"], tags["corpus"])
            languages[cell] = row["target"] or "?"
            alike = ways.setdefault((cell, "encoder" if kind == "adapted" else kind), way) == way
            if not alike or trained.setdefault((cell, kind, row["seed"]), run) != run:
                twice.setdefault(cell, f"{kind}, run {run}, is another")
            values.setdefault(cell, {}).setdefault(kind, {})[row["seed"]] = linearised(its[:1], its[1:])[0]
            if kind == "adapted":
                adapted_on[cell] = described["identity"]["encoder"]
    cells = {
        cell: Measurements(_stacked(its["encoder"]), _of(its, "adapted"), _stacked(its["bilstm"]), _of(its, "scratch"))
        for cell, its in values.items()
        if {"encoder", "bilstm"} <= set(its)
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
        tag = languages[cell]
        bare = langcodes.Language.get(tag).language or tag
        known = known_languages().get(bare)
        script = main_script(item.text for item in load_corpus(cell.corpus, data=data))
        about.append(
            {
                "language": tag, "name": known.name if known else tag,
                "script": script_name(script) if script else "", "family": known.family if known else "",
                "text": words.get(adapted_on.get(cell, "")), "published text": known.sentences if known else "",
                "published class": known.published if known and bare == tag else "",
            }
        )  # fmt: skip
    import pandas as pd

    head = pd.DataFrame(about)
    last = ["published text", "published class"]
    return pd.concat([head.drop(columns=last), frame, head[last]], axis=1).sort_values(
        ["task", "language", "train", "corpus"], ignore_index=True
    )


def _stacked(by_seed: dict[int, np.ndarray]) -> np.ndarray:
    return np.stack([by_seed[seed] for seed in sorted(by_seed)])


def _of(by_kind: dict[str, dict[int, np.ndarray]], kind: str) -> np.ndarray | None:
    return _stacked(by_kind[kind]) if kind in by_kind else None
