"""Published scores, differences and correlations of a paper."""

import csv
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib import resources

from crosslens.corpora.catalogue import named_language, split_joined
from crosslens.encoders.condition import Condition

OTHERS = "x"
"""In the files, the target that stands for the mean of the other languages."""

TESTED = (None, "test")
"""Splits of ours that published scores of test sets stand beside; None is unknown, as of a file of one's own."""


@dataclass(frozen=True, slots=True)
class Printed:
    """A published number.

    Attributes:
        value: in points; of anything but the reference, the difference to it.
        table: where it stands.
        note: what a reader must know of it; empty where nothing.
    """

    value: float
    table: str
    note: str


@dataclass(frozen=True)
class Paper:
    """Published numbers of a paper, in files of this package.

    Attributes:
        name: its short name.
        differences: files of the reference's scores and of differences to it by re-initialised layers; of a number
            that two of them print, the first counts.
        models: files of scores by pretrained model; what is found of them are differences to the reference.
        conditions: name of a model -> the condition that it is.
        source: the language that these models were trained on, and that the correlations are for.
        treebanks: the last part of the names of its test treebanks, which it names by their language.
        levels: files of scores by re-initialised layers.
        gap_and_similarity: files of correlations of gap and CKA.
        sign_of_correlation: -1 where it prints them with the other sign than ours.
        settings: files of scores by what a model was trained on.
        baselines: files of scores of other systems that the paper prints, by what they were trained on.
        systems: name of such a system -> what it is.
        data: task -> the data behind them.
    """

    name: str
    differences: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    conditions: Mapping[str, Condition] = field(default_factory=dict)
    source: str = "en"
    treebanks: tuple[str, ...] = ("pud",)
    levels: tuple[str, ...] = ()
    gap_and_similarity: tuple[str, ...] = ()
    sign_of_correlation: int = 1
    settings: tuple[str, ...] = ()
    baselines: tuple[str, ...] = ()
    systems: Mapping[str, str] = field(default_factory=dict)
    data: Mapping[str, str] = field(default_factory=dict)

    def find(self, task: str, source: Sequence[str], target: Sequence[str], condition: Condition) -> Printed | None:
        """Find the published score of the reference, or difference to it; None if there is none.

        Args:
            source: names of what was trained on, the narrowest first: ``en_partut``, ``en``. A corpus that the paper
                trains on by its own name is not taken for its language.
            target: names of what was evaluated on, the narrowest first.
            condition: what was done to the encoder.
        """
        keys = ((task, a, b, condition) for a in self._own(source) for b in target)
        return next((self._differences[key] for key in keys if key in self._differences), None)

    def score(self, task: str, source: str, target: str, split: str | None, condition: Condition) -> Printed | None:
        """Find a published score of any condition; None if there is none."""
        return self._levels.get((task, source, target, split or "test", condition))

    def mean_score(self, task: str, source: str, targets: Collection[str], condition: Condition) -> Printed | None:
        """Find a published mean over languages; None if there is none, or if it is over other languages."""
        languages = {key[2] for key in self._levels if key[:2] == (task, source) and key[3:] == ("test", condition)}
        if languages - {OTHERS} != set(targets):
            return None
        return self._levels.get((task, source, OTHERS, "test", condition))

    def names_of(self, corpus: str | None, language: str | None) -> tuple[str, ...]:
        """Names of a test corpus in the paper: its own, and its language if it is the paper's test set of it.

        A file is that only if it has the name of the treebank, as ``en_pud-ud-test.conllu`` has.
        """
        if _is_joined(corpus):
            return ()
        if treebank := treebank_of(corpus):
            of_paper = treebank.rpartition("_")[2] in self.treebanks
        else:
            of_paper = corpus is None or named_language(corpus) is not None
        return tuple(filter(None, (treebank, language if of_paper else None)))

    def correlation(self, task: str, source: Sequence[str], state: str) -> Printed | None:
        """Spearman's correlation of gap and CKA over languages, negative where similarity goes with transfer.

        Args:
            source: names of what was trained on, as in `find`; of no corpora that are joined, see `sources_of`.
        """
        return self._correlations.get((task, state)) if self._own(source) == [self.source] else None

    def _own(self, source: Sequence[str]) -> list[str]:
        """The narrowest name of what was trained on by which the paper has it; none if it has not."""
        return [name for name in source if name in self._sources][:1]

    def supervised(self, task: str, metric: str, setting: str) -> dict[str, Printed]:
        """Target -> score of models trained in a ``setting``: ``in-language``, ``zero-shot``, …"""
        return self._settings.get((task, metric, setting), {})

    def other_systems(self, task: str, metric: str) -> dict[tuple[str, str], dict[str, Printed]]:
        """Setting and name of a system -> target -> its score, in the paper's order."""
        return self._other_systems.get((task, metric), {})

    @cached_property
    def _differences(self) -> dict[tuple[str, str, str, Condition], Printed]:
        printed: dict[tuple[str, str, str, Condition], Printed] = {}
        for row in _numbers(self.differences):
            printed.setdefault((row["task"], row["source"], row["target"], _reinit(row["layers"])), _printed(row))
        scores = self._scores_of_models
        for (task, source, target, condition), score in scores.items():
            base = 0.0 if condition.is_reference else scores[task, source, target, Condition()].value
            printed[task, source, target, condition] = replace(score, value=round(score.value - base, 2))
        return printed

    @cached_property
    def _scores_of_models(self) -> dict[tuple[str, str, str, Condition], Printed]:
        return {
            (row["task"], self.source, target, self.conditions[row["setting"]]): _printed(row)
            for row in _numbers(self.models)
            for target in [OTHERS if row["target"] == "mean" else row["target"]]
        }

    @cached_property
    def targets_of_models(self) -> dict[str, tuple[str, ...]]:
        """Task -> targets of the scores by pretrained model, in the paper's order."""
        targets: dict[str, dict[str, None]] = {}
        for task, _, target, _ in self._scores_of_models:
            targets.setdefault(task, {})[target] = None
        return {task: tuple(names) for task, names in targets.items()}

    @cached_property
    def _sources(self) -> set[str]:
        return {source for _, source, _, _ in self._differences}

    @cached_property
    def _levels(self) -> dict[tuple[str, str, str, str, Condition], Printed]:
        of_models = {
            (task, source, target, "test", condition): score
            for (task, source, target, condition), score in self._scores_of_models.items()
        }
        return of_models | {
            (row["task"], row["source"], row["target"], row["split"], _reinit(row["layers"])): _printed(row)
            for row in _numbers(self.levels)
        }

    @cached_property
    def _correlations(self) -> dict[tuple[str, str], Printed]:
        return {
            (row["task"], row["model"]): Printed(self.sign_of_correlation * float(row["value"]), row["table"], "")
            for row in _numbers(self.gap_and_similarity)
        }

    @cached_property
    def _settings(self) -> dict[tuple[str, str, str], dict[str, Printed]]:
        printed: dict[tuple[str, str, str], dict[str, Printed]] = {}
        for row in _numbers(self.settings):
            target, number = _by_target(row)
            printed.setdefault((row["task"], row["metric"], row["setting"]), {})[target] = number
        return printed

    @cached_property
    def _other_systems(self) -> dict[tuple[str, str], dict[tuple[str, str], dict[str, Printed]]]:
        printed: dict[tuple[str, str], dict[tuple[str, str], dict[str, Printed]]] = {}
        for row in _numbers(self.baselines):
            target, number = _by_target(row)
            systems = printed.setdefault((row["task"], row["metric"]), {})
            systems.setdefault((row["setting"], row["system"]), {})[target] = number
        return printed


_SHARED_TASK = re.compile(r"(conll\d+)/(\w+)")
"""Name of a corpus of a shared task."""


def treebank_of(corpus: str | None) -> str | None:
    """Name of a treebank: ``en_partut`` for ``ud/en_partut:train``; None for corpora named by their language.

    ``conll2003/en`` is ``en_conll2003``, because the language alone stands for the paper's main data, WikiANN.
    """
    if shared_task := _SHARED_TASK.match(corpus or ""):
        return f"{shared_task[2]}_{shared_task[1]}"
    file = re.search(r"(?:^|/)([a-z]{2,3}_\w+)-ud-\w+\.", corpus or "")
    named = file or re.match(r"\w+/(\w+_\w+)", corpus or "")
    return named[1] if named else None


def _is_joined(corpus: str | None) -> bool:
    """Return whether a corpus is joined from several, on which no paper trains or tests."""
    return len(split_joined(corpus or "")) > 1


def sources_of(corpus: str | None, language: str | None) -> tuple[str, ...]:
    """Names of a training corpus in a paper, the narrowest first: its own, and its language.

    >>> sources_of("ud/en_ewt:train", "en"), sources_of("conll2003/en:train", "en")
    (('en_ewt', 'en'), ('en_conll2003',))
    >>> sources_of("ud/en_ewt:train+ud/wo_wtb:train", "en+wo")
    ()
    """
    if _is_joined(corpus):
        return ()
    own_data = None if _SHARED_TASK.match(corpus or "") else language  # the language alone stands for WikiANN
    return tuple(filter(None, (treebank_of(corpus), own_data)))


def read_published(file: str) -> list[dict[str, str]]:
    """Read the rows of a published table; empty cells are ""."""
    with (resources.files("crosslens.report.papers") / file).open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def _numbers(files: Sequence[str]) -> Iterator[dict[str, str]]:
    for file in files:
        yield from (row for row in read_published(file) if row["value"])


def _printed(row: Mapping[str, str]) -> Printed:
    return Printed(float(row["value"]), row["table"], row.get("note") or "")


def _by_target(row: Mapping[str, str]) -> tuple[str, Printed]:
    """A target, ``average`` for a mean, and the score."""
    target, _, over = row["target"].partition("(")
    number = _printed(row)
    return target, replace(number, note=f"the mean over {over.rstrip(')')}") if over else number


DEPTH = 12
"""Layers of the encoders whose re-initialised layers are published."""


@cache
def _reinit(layers: str) -> Condition:
    """The condition as runs have it; all encoders of the papers have twelve layers.

    The ``all`` of Muller et al. (2021, Table 5) is a model trained from scratch: their code loads no embeddings either.
    """
    if not layers:
        return Condition()
    return Condition(layers="0,all" if layers == "all" else layers).scaled(written_for=None, depth=DEPTH)
