"""A rule from transfer that was measured: the records of a study, and what the encoder makes of each corpus."""

import json
from collections import defaultdict
from typing import Any

import langcodes
import numpy as np

from crosslens.catalogue import load_corpus, split_name
from crosslens.data.corpus import Corpus
from crosslens.encoders.encoder import Encoder
from crosslens.errors import RequestError
from crosslens.results.record import Results
from crosslens.tasks import find_task
from crosslens.unseen.evidence import gather
from crosslens.unseen.rule import Measured, Rule


def fit_rule(
    results: Results,
    encoder: Encoder,
    *,
    task: str = "pos",
    usual: str = "en",
    data: str | None = None,
    about: str = "",
) -> Rule:
    """A rule from every zero-shot score of a task.

    Args:
        results: records of encoders as they are (the condition ``reference``), and adapted ones beside them.
        encoder: whose vocabulary reads the corpora; the one that was measured, or that before it was trimmed.
        task: whose scores are expected.
        usual: the source that is usually taken, which others must clearly be better than.
        data: a folder that is looked through first for the corpora.
        about: what was measured, in a few words.

    Raises:
        RequestError: when the records hold no zero-shot score of the task.
    """
    scores: dict[tuple[str, str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    trained_on: dict[str, str] = {}
    targets: dict[str, str] = {}
    names: dict[tuple[str, str], str] = {}
    for row in results.filter(task=task, metric=find_task(task).metric, measure=None).records.to_pylist():
        tags: dict[str, Any] = json.loads(row["tags"])
        condition = tags.get("condition", "reference")
        language, source = _bare(row["target"]), row["source"]
        if condition not in ("reference", "adapted") or source is None or language == _bare(source):
            continue
        corpus = tags["corpus"]
        scheme = split_name(corpus)[1]
        bare = corpus.replace(scheme, "", 1) if scheme else corpus  # what is cut out of it stays
        names[bare, scheme.removeprefix("@")] = corpus
        key = (bare, scheme.removeprefix("@"), source)
        scores[key][condition].append(row["value"])
        trained_on.setdefault(source, tags["training_train"])
        targets[bare] = language
    if not any("reference" in its for its in scores.values()):
        raise RequestError(f"these results hold no zero-shot {task} score of an encoder as it is")
    sources = {source: load_corpus(name, data=data) for source, name in trained_on.items()}
    measured = []
    read: dict[tuple[str, str], Any] = {}
    for (corpus, scheme, source), its in scores.items():
        if "reference" not in its:
            continue
        if (corpus, scheme) not in read:
            text: Corpus = load_corpus(names[corpus, scheme], data=data)
            read[corpus, scheme] = gather(encoder, text, sources, scheme=scheme)
        score = float(np.mean(its["reference"]))
        adapted = float(np.mean(its["adapted"])) if "adapted" in its else None
        features = tuple(read[corpus, scheme].features(source).tolist())
        measured.append(Measured(targets[corpus], corpus, scheme, source, score, features, adapted))
    measured.sort(key=lambda its: (its.source != usual, its.source, its.corpus, its.scheme))
    return Rule(tuple(measured), about)


def _bare(tag: str | None) -> str:
    return langcodes.Language.get(tag).language or tag if tag else "und"
