"""Find the corpora that a study needs and that are missing, before anything is read; refuse them or leave them out."""

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from crosslens.corpora.catalogue import RAW, check_corpus, check_text, places, split_joined, split_name
from crosslens.corpora.collection import COLLECTIONS, how_to_get
from crosslens.corpora.dictionaries import load_dictionary
from crosslens.corpora.parallel import list_languages
from crosslens.encoders.condition import Condition
from crosslens.errors import DataError
from crosslens.studies.pretrainings import needed_texts
from crosslens.studies.study import Data, Probing, Source, Study

ChosenSource = tuple[str, str, Source]
"""Task, name and corpora of a source that a study trains on."""

_Part = tuple[str, str]
"""Name of a corpus, one of those that a name may join, and its default split."""

PARALLEL = "parallel"
"""Stands for the split of a parallel corpus, which has all languages."""

ON_RAW_TEXT = ("adapted", "scratch")
"""Starts of training (`Condition.start`) that need raw text."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A corpus that a study needs and that is missing.

    Attributes:
        corpus: its name with its split, such as ``ud/ru_gsd:train``.
        needed_for: the parts of the study that need it, such as ``source ru of pos and parsing`` and ``target
            wikiann/ar of ner``.
        error: what loading it would raise.
        releases: releases of Universal Dependencies that the study asks for; empty for any.
    """

    corpus: str
    needed_for: tuple[str, ...]
    error: DataError = field(compare=False, repr=False)
    releases: tuple[str, ...] = ()

    @property
    def collection(self) -> str:
        """Name of its collection; "" for a file."""
        name, slash, _ = self.corpus.partition("/")
        return name if slash and (name in COLLECTIONS or name == RAW) else ""


class MissingCorpora(DataError):
    """Corpora of a study are missing.

    Args:
        study: name of the study.
        missing: the missing corpora, at least one.
        folder: data folder that was searched first.

    Attributes:
        missing: as above.
        summary: the number of missing corpora and the places searched, without their names.
    """

    def __init__(self, study: str, missing: Sequence[Missing], *, folder: str | None) -> None:
        self.missing = tuple(missing)
        number = "a corpus that is" if len(missing) == 1 else f"{len(missing)} corpora that are"
        self.summary = f"{study} needs {number} not in {places(folder)}"
        if len(missing) == 1:
            hint = "; ".join(filter(None, [missing[0].error.hint, "--skip-missing leaves it out"]))
            super().__init__(missing[0].error.message, hint=hint)
            return
        collections = sorted({corpus.collection for corpus in missing})
        commands = [how_to_get(name, releases=join_releases(missing)) for name in collections]
        how = "set CROSSLENS_DATA to the folder that contains them (layouts: docs/reference.md, Corpora)"
        names = ", ".join(corpus.corpus for corpus in missing)
        hint = ", or ".join([how, *filter(None, commands)]) + "; --skip-missing leaves them out"
        super().__init__(f"{self.summary}: {names}", hint=hint)


@dataclass(frozen=True, slots=True)
class _Need:
    """A corpus that a part of a study needs.

    Attributes:
        corpus: its name with its split.
        part: the part: ``source ru``, ``target wikiann/ar``.
        check: raises `DataError` if the corpus is missing.
    """

    corpus: str
    part: str
    task: str | None
    check: Callable[[], object]


def find_missing(
    study: Study, sources: Iterable[ChosenSource], data: Data, *, folder: str | None
) -> tuple[Missing, ...]:
    """Find the missing corpora of a study, each once."""
    errors: dict[str, DataError | None] = {}
    parts: dict[str, dict[str, list[str]]] = {}
    releases: dict[str, list[str]] = {}
    for need in _needs(study, sources, data, folder):
        if need.corpus not in errors:
            errors[need.corpus] = _error(need.check)
        asked = releases.setdefault(need.corpus, [])
        asked += [release for release in data.releases(need.task) if release not in asked]
        tasks = parts.setdefault(need.corpus, {}).setdefault(need.part, [])
        if need.task is not None and need.task not in tasks:
            tasks.append(need.task)
    return tuple(
        Missing(
            corpus,
            tuple(part + (f" of {' and '.join(tasks)}" if tasks else "") for part, tasks in parts[corpus].items()),
            _asking(error, releases[corpus]),
            tuple(releases[corpus]) if corpus.startswith("ud/") else (),
        )
        for corpus, error in errors.items()
        if error is not None
    )


def leave_out(
    study: Study, sources: Iterable[ChosenSource], data: Data, missing: Iterable[Missing]
) -> tuple[Study, Data, list[str]]:
    """Leave out the parts of a study that need missing corpora.

    Conditions that need missing raw text stay in the study, which has them for all sources: see `has_text`.

    Returns:
        The study without encoders, probes, similarity and selection rules that need a missing corpus; its corpora,
        without targets and sources that do; and remarks on what is left out because nothing of it remains.

    Raises:
        DataError: if no source, probe or similarity is left.
    """
    absent = [corpus.corpus for corpus in missing]
    sources, notes = list(sources), []
    tasks: dict[str, dict[str, Source]] = {}
    study, lost = _with_encoders(study, absent)
    notes += lost
    select = study.select and tuple(rule for rule in study.select if _named(rule.oracle, "dev") not in absent)
    for task, name, source in sources if select != () else ():
        tests = tuple(
            test for test in source.tests if not any(_named(*part) in absent for part in _parts(test, "test"))
        )
        kept = source.model_copy(update={"tests": tests})
        if any(_named(*part) in absent for part in _trained(study, data, task, source)):
            continue
        if source.tests and not tests:
            notes.append(f"{task}: source {name} is left out, because all of its test corpora are missing")
        elif any(has_text(source, condition, absent) for condition in study.conditions):
            tasks.setdefault(task, {})[name] = kept
    lost_tasks = dict.fromkeys(task for task, _, _ in sources if task not in tasks)
    notes += [f"{task} is left out, because it has no source left" for task in lost_tasks]
    similarity = None if _named(data.parallel, PARALLEL) in absent else study.similarity
    if similarity is not None and sources and not tasks:
        notes.append("similarity is left out, because it is measured for source languages and no source is left")
        similarity = None
    probes = tuple(probing for probing in study.probes if not any(_named(*part) in absent for part in _probed(probing)))
    if not (tasks or probes or similarity):
        raise _nothing_left(study, absent)
    changes = {"probes": probes, "similarity": similarity, "select": select}
    return study.model_copy(update=changes), data.model_copy(update={"tasks": tasks}), notes


def join_splits(corpora: Iterable[str]) -> list[str]:
    """Name each corpus once, with all splits that are missing; the test split is the default.

    >>> join_splits(["ud/ar_padt:train", "ud/he_htb:test", "ud/ar_padt:dev", "wikiann/ar:train", "raw/wol"])
    ['ud/ar_padt (train, dev)', 'ud/he_htb', 'wikiann/ar:train', 'raw/wol']
    """
    splits: dict[str, list[str]] = {}
    for corpus in corpora:
        name, _, split = corpus.rpartition(":")
        splits.setdefault(name or corpus, []).append(split if name else "test")
    return [
        name if parts == ["test"] else f"{name}:{parts[0]}" if len(parts) == 1 else f"{name} ({', '.join(parts)})"
        for name, parts in splits.items()
    ]


def join_releases(missing: Iterable[Missing]) -> tuple[str, ...]:
    """Name each release of Universal Dependencies that missing corpora are asked for in once."""
    return tuple(dict.fromkeys(release for corpus in missing for release in corpus.releases))


def reads_text(condition: Condition) -> bool:
    """Whether the encoder, or one that it takes layers from, is trained on raw text of the source language."""
    return any(each is not None and each.start in ON_RAW_TEXT for each in (condition, condition.other))


def has_text(source: Source, condition: Condition, absent: Collection[str]) -> bool:
    """Whether no raw text that a condition needs is among the names of missing corpora."""
    return not reads_text(condition) or source.text is None or _named(source.text) not in absent


def _with_encoders(study: Study, absent: Collection[str]) -> tuple[Study, list[str]]:
    """Leave out the bilingual encoders and the factors of pretraining whose text is missing, and say which."""
    lacking = [text for text in needed_texts(study) if text.name in absent]
    partners = {text.partner for text in lacking if text.condition.is_reference}
    factors = {text.condition.label for text in lacking if text.partner not in partners}
    conditions = tuple(each for each in study.conditions if each.up_to("pretraining").label not in factors)
    bilingual = study.bilingual and tuple(partner for partner in study.bilingual if partner not in partners)
    if not conditions or bilingual == () or None in partners:
        raise _nothing_left(study, list(dict.fromkeys(text.name for text in lacking)))
    notes = [f"encoders with {partner} are left out, because text to pretrain them is missing" for partner in partners]
    notes += [f"{factor} is left out, because text to pretrain its encoders is missing" for factor in factors]
    return study.model_copy(update={"conditions": conditions, "bilingual": bilingual}), sorted(notes)


def _nothing_left(study: Study, absent: Sequence[str]) -> DataError:
    corpora = absent[0] if len(absent) == 1 else f"its {len(absent)} missing corpora"
    how = "`crosslens plan` without --skip-missing lists what is missing, with licences and how to get it"
    return DataError(f"{study.name} has nothing left to run without {corpora}", hint=how)


def _needs(study: Study, sources: Iterable[ChosenSource], data: Data, folder: str | None) -> Iterator[_Need]:
    def need(name: str, split: str, part: str, task: str | None = None) -> _Need:
        return _Need(_named(name, split), part, task, partial(check_corpus, name, split=split, data=folder))

    for text in needed_texts(study):
        check = {"text": check_text, "dictionary": load_dictionary}[text.kind]
        yield _Need(text.name, text.encoder, None, partial(check, text.name, data=folder))
    for probing in study.probes:
        for part, split in _probed(probing):
            yield need(part, split, f"probe {probing.probe}")
    if study.similarity and data.parallel:
        name = data.parallel
        yield _Need(_named(name, PARALLEL), "similarity", None, partial(list_languages, name, data=folder))
    for rule in study.select or ():
        if rule.oracle:
            yield need(rule.oracle, "dev", f"selection by {rule.label}")
    for task, name, source in sources:
        for part, split in _trained(study, data, task, source):
            yield need(part, split, f"source {name}", task)
        for part, split in itertools.chain.from_iterable(_parts(test, "test") for test in source.tests):
            yield need(part, split, f"target {_named(part, split).removesuffix(':test')}", task)
        labels = [condition.label for condition in study.conditions if reads_text(condition)]
        if labels and source.text is not None:
            check = partial(check_text, source.text, data=folder)
            yield _Need(_named(source.text), f"{' and '.join(labels)} from source {name}", task, check)


def _trained(study: Study, data: Data, task: str, source: Source) -> list[_Part]:
    """The training corpora of a source, and its development corpora if weights or settings are selected on them."""
    recipes = (study.recipe_of(task, condition, default=data.recipe) for condition in study.conditions)
    dev = source.dev_corpus if any(map(study.reads_dev, recipes)) else None
    return _parts(source.train, "train") + _parts(dev, "dev")


def _probed(probing: Probing) -> list[_Part]:
    return _parts(probing.train, "train") + _parts(probing.test, "test") + _parts(probing.dev, "dev")


def _parts(name: str | None, split: str) -> list[_Part]:
    """The corpora that a name joins, each with its default split; none without a name."""
    return [(part, split) for part in split_joined(name)] if name else []


def _named(name: str | None, split: str = "") -> str:
    """Name of a corpus with its split, without slices and transliteration; "" without a name."""
    bare = split_name(name)[0] if name else ""
    return bare if ":" in bare or not (bare and split) else f"{bare}:{split}"


def _asking(error: DataError, releases: Sequence[str]) -> DataError:
    """The error of a missing corpus, whose hint names the releases of treebanks that the study asks for."""
    hint = error.hint and error.hint.replace(how_to_get("ud"), how_to_get("ud", releases=releases))
    return DataError(error.message, hint=hint)


def _error(check: Callable[[], object]) -> DataError | None:
    try:
        check()
    except DataError as error:
        return error
    return None
