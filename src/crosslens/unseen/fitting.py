"""Fitting of a rule that predicts zero-shot scores, from the results of a study."""

from crosslens.corpora.catalogue import load_corpus, split_name
from crosslens.corpora.collection import is_trained_language
from crosslens.data.corpus import Corpus
from crosslens.data.language_families import bare_language
from crosslens.encoders.condition import Condition
from crosslens.encoders.encoder import Encoder
from crosslens.errors import RequestError
from crosslens.results.cells import Cells, cells, refuse_several
from crosslens.results.record import Results
from crosslens.tasks import find_task
from crosslens.unseen.confidence import train_probes
from crosslens.unseen.evidence import Evidence, gather
from crosslens.unseen.rule import Measured, Provenance, Rule

AS_IS, ADAPTED = (Condition().text, None), (Condition(start="adapted").text,)
"""Condition columns of unmodified and of adapted encoders in records."""


def fit_rule(
    results: Results,
    encoder: Encoder,
    *,
    task: str = "pos",
    usual: str = "en",
    data: str | None = None,
    name: str = "",
    training: str = "",
    kept_apart: str = "",
) -> Rule:
    """Fit a rule to all zero-shot scores of a task on text in its original script, averaged over seeds.

    Args:
        results: records of the unmodified encoder (the reference), and optionally of adapted ones.
        encoder: the measured encoder, trimmed or not; it gathers the evidence, whose subwords are those of its
            vocabulary.
        task: task whose scores the rule predicts.
        usual: default source language.
        data: folder searched first for corpora.
        name: name of the encoder in the rule's provenance; "": the name it was loaded by.
        training: how the measured models were trained and evaluated, in a few words.
        kept_apart: languages, with blanks between, that were not looked at when the features were chosen.

    Raises:
        RequestError: if there is no zero-shot score of the task, or models of one source differ in more than the seed.
    """
    scores = results.filter(task=task, metric=find_task(task).metric, measure=None)
    as_is, adapted = (_one_model_a_seed(scores.filter(condition=condition)) for condition in (AS_IS, ADAPTED))
    transfer = [
        (source, target, corpus)
        for target, corpus in as_is.rows
        if not split_name(corpus)[1]
        for source in as_is.columns
        if not (target and is_trained_language(target, source)) and as_is.get((target, corpus), source).by_seed
    ]
    if not transfer:
        raise RequestError(f"these results have no zero-shot {task} score of an unmodified encoder")
    sources: dict[str, Corpus] = {}
    for (source,), block in scores.filter(source=list(as_is.columns)).groups("source"):
        rows = block.records.select(["train"]).to_pylist()
        refuse_several(rows, "train")
        sources[source] = load_corpus(rows[0]["train"], data=data)
    probes = {source: train_probes(encoder, corpus) for source, corpus in sources.items()}
    read: dict[str, Evidence] = {}
    measured = []
    for source, target, corpus in transfer:
        if corpus not in read:
            read[corpus] = gather(encoder, load_corpus(corpus, data=data), sources, probes)
        score, after = (table.get((target, corpus), source).mean for table in (as_is, adapted))
        assert score is not None  # there are seeds of it
        features = tuple(read[corpus].features(source).tolist())
        measured.append(Measured(_bare(target), corpus, source, score, features, after))
    measured.sort(key=lambda row: (row.source != usual, row.source, row.corpus))
    vocabulary = str(len(encoder.tokenizer))
    fitted = Provenance(name or encoder.name, encoder.body_digest, task, training, kept_apart, vocabulary)
    return Rule(tuple(measured), fitted)


def _one_model_a_seed(scores: Results) -> Cells:
    """Table of scores with a row for each corpus and a column for each source."""
    trained = scores.filter(source=[source for (source,), _ in scores.groups("source") if source is not None])
    return cells(trained, rows=("target", "corpus"), columns=("source",))


def _bare(tag: str | None) -> str:
    return bare_language(tag) if tag else "und"
