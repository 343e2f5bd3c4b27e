"""Classify languages as easy, intermediate or hard from the runs of a store, or from records."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from crosslens.corpora.catalogue import load_corpus
from crosslens.data.language_families import known_language, parse_language
from crosslens.data.scripts import main_script, script_name
from crosslens.digests import canonical_json
from crosslens.encoders.interventions.start import Start
from crosslens.errors import DataError, RequestError, require_known
from crosslens.results.cells import condition_of, disambiguated
from crosslens.results.record import Results, concatenated
from crosslens.results.record_settings import settings_of
from crosslens.runs.counts import key
from crosslens.runs.store import RUNS_IN_MEMORY, Store
from crosslens.scores.intervals import linearised
from crosslens.scores.unpaired import Unpaired
from crosslens.tasks import TASKS, find_task
from crosslens.unseen.typology import Cell, Measurements, known_languages, language_name, typology

if TYPE_CHECKING:
    import pandas


class NothingToCompare(RequestError):
    """A store has no language on which an encoder and a BiLSTM were trained."""


@dataclass(frozen=True, slots=True)
class _Score:
    """The score of one model on one corpus.

    Attributes:
        cell: task and data.
        start: what training began with: ``encoder``, ``adapted``, ``scratch`` or ``bilstm``.
        values: contributions of sentences in points, or an `Unpaired`.
        run: the run, and what else tells runs of one seed apart.
        recipe: how it was trained.
        sentences: how many sentences it was trained on, as far as it is known.
        encoder: digest of the encoder that training began with; None if unknown.
        named: name of the encoder in the study.
    """

    cell: Cell
    start: str
    seed: int
    language: str
    values: Any
    run: str
    recipe: str
    sentences: int | None
    encoder: str | None
    named: str | None


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
        require_known(study, planned, f"{store.folder} has no study")
    runs: dict[str, list[dict[str, Any]]] = {}
    scores = []
    read_counts = lru_cache(RUNS_IN_MEMORY)(store.counts)
    for row in concatenated([store.collect(study) for study in studies or planned]).records.to_pylist():
        start = _start(row)
        if start is None:
            continue
        run = row["run"]
        counts = read_counts(run).get(key(row["question"], row["metric"]))
        if counts is None or counts.shape[1] < 2 or not counts[1].sum():
            continue
        if run not in runs:  # several runs where a search chose several settings
            runs[run] = [store.describe(each) for each in run.split()]
        identities = [each["identity"] for each in runs[run]]
        recipe = canonical_json([[each["recipe"], each["settings"]] for each in identities]).decode()
        sentences = runs[run][0].get("facts", {}).get("train_sentences")
        values = linearised(counts[:1], counts[1:])[0]
        encoder = identities[0]["encoder"]
        columns = (_cell(row), start, row["seed"], row["target"] or "?", values, f"run {run}", recipe, sentences)
        scores.append(_Score(*columns, encoder, row["encoder"]))
    hint = f"name the studies to look at: --study {' or --study '.join(planned)}"
    read_script = partial(_script, data=data)
    return _typology(scores, place=str(store.folder), words=_words(store), hint=hint, read_script=read_script)


def typology_of(results: Results) -> "pandas.DataFrame":
    """Compute the typology as `read_typology` does, from records alone.

    Differences are not paired by sentence (`crosslens.scores.unpaired`). Scores without an interval are shown, but not
    tested. Scripts are those that languages are usually written in; the number of words of raw text is unknown.

    Args:
        results: records of models that started from the encoder, from an adapted encoder and from nothing.

    Raises:
        RequestError: as `read_typology`.
    """
    scores = []
    compared = "bilstm" in results.records["start"].unique().to_pylist()
    for row in disambiguated(results.filter(measure=None)) if compared else ():
        start = _start(row)
        value, low, high = row["value"], row["low"], row["high"]
        if start is None or value is None or not row["train"] or not row["corpus"]:
            continue
        values = Unpaired(value, math.nan)
        if low is not None and high is not None:
            values = Unpaired.of_interval(value, low, high)
        named = {"run": row["run"], "study": row["study"], "encoder": row["encoder"]}
        names = ", ".join(f"{what} {name}" for what, name in named.items() if name)
        recipe = canonical_json([row["recipe"], row["settings"]]).decode()
        limit = settings_of(row["settings"]).get("limit")
        sentences = None if limit is None else int(limit)
        columns = (_cell(row), start, row["seed"] or 0, row["target"] or "?", values, names, recipe, sentences)
        scores.append(_Score(*columns, row["encoder_digest"], row["encoder"]))
    hint = "give results files of one study each"
    return _typology(scores, place="these results", words={}, hint=hint, read_script=lambda corpus: None)


def _typology(
    scores: Sequence[_Score],
    *,
    place: str,
    words: Mapping[str, int],
    hint: str,
    read_script: Callable[[str], str | None],
) -> "pandas.DataFrame":
    values: dict[Cell, dict[str, dict[int, Any]]] = {}
    languages: dict[Cell, str] = {}
    adapted_on: dict[Cell, set[str]] = {}
    recipes: dict[tuple[Cell, str], str] = {}
    sentences: dict[Cell, int | None] = {}
    encoders: dict[tuple[Cell, str], str | None] = {}
    runs: dict[tuple[Cell, str, int], str] = {}
    ambiguous: dict[Cell, str] = {}
    for score in scores:
        cell, start = score.cell, score.start
        languages[cell] = score.language
        if (first := sentences.setdefault(cell, score.sentences)) != score.sentences:
            trained = f"{score.sentences or 'all'} sentences, not {first or 'all'}"
            ambiguous.setdefault(cell, f"{', '.join(filter(None, (start, score.run)))}: {trained}")
        # The adapted encoder shares the recipe of the encoder; models without pretraining may need their own.
        alike = recipes.setdefault((cell, "encoder" if start == "adapted" else start), score.recipe) == score.recipe
        alike &= encoders.setdefault((cell, start), score.named) == score.named
        if not alike or runs.setdefault((cell, start, score.seed), score.run) != score.run:
            ambiguous.setdefault(cell, f"{start}: {score.run} differs")
        values.setdefault(cell, {}).setdefault(start, {})[score.seed] = score.values
        if start == "adapted" and score.encoder is not None:
            adapted_on.setdefault(cell, set()).add(score.encoder)
    cells = {
        cell: Measurements(numbers["encoder"], numbers.get("adapted"), numbers["bilstm"], numbers.get("scratch"))
        for cell, numbers in values.items()
        if {"encoder", "bilstm"} <= set(numbers)
    }
    if not cells:
        raise NothingToCompare(
            f"there is no language on which an encoder and a BiLSTM were trained in {place}",
            hint="a study needs the conditions none, {start: adapted} and {start: bilstm}",
        )
    for cell in cells:
        if cell in ambiguous:
            raise RequestError(
                f"{cell.train} was trained on in several ways for {cell.corpus} ({ambiguous[cell]})", hint=hint
            )
    frame = typology(cells)
    about = []
    for cell in cells:
        tag, adapted = languages[cell], adapted_on.get(cell, set())
        parsed = parse_language(tag)
        language = parsed.language or tag
        known, other = known_languages().get(language), known_language(language)
        of_tag = script_name(parsed.script) if parsed.script else ""
        usual = known.script if known else other.script if other else ""
        about.append(
            {
                "language": tag,
                "name": language_name(tag),
                "script": read_script(cell.corpus) or of_tag or usual,
                "family": known.family if known else other.family if other else "",
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


def _cell(row: Mapping[str, Any]) -> Cell:
    return Cell(row["task"], row["train"], row["corpus"])


def _script(corpus: str, data: str | None) -> str | None:
    """Name of the main script of a corpus; None without one, or if the corpus is not there."""
    try:
        code = main_script(item.text for item in load_corpus(corpus, data=data))
    except DataError:
        return None
    return script_name(code) if code else None


def _start(row: Mapping[str, Any]) -> str | None:
    """The start of the model behind a main score, if nothing else was changed; else None."""
    if row["measure"] is not None or row["task"] not in TASKS or row["metric"] != find_task(row["task"]).metric:
        return None
    condition = condition_of(row["condition"])
    return condition.start if all(isinstance(change, Start) for change in condition.interventions) else None


def _words(store: Store) -> dict[str, int]:
    """Map the digest of each adapted encoder to the number of words that it was adapted to."""
    described = [store.describe(run) for run in store.ids()]
    return {facts["encoder_digest"]: facts["words"] for facts in described if "words" in facts}
