"""Made-up scores and similarities of a reference and two conditions, with the columns that results files have."""

from dataclasses import replace

from crosslens.encoders.condition import Condition
from crosslens.results.record import Record


def score(target, value, layers=None, seed=1, **more):
    condition = Condition(layers=layers).columns if layers else {}
    corpus = more.pop("corpus", f"ud/{target}_pud:test")
    return Record(
        **condition,
        task="pos",
        encoder="e",
        source="en",
        target=target,
        metric="accuracy",
        seed=seed,
        value=value,
        n=10,
        corpus=corpus,
        corpus_digest=corpus,
        **more,
    )


def similarity(pair, layer, value, measure="cka"):
    source, target = pair.split("-")
    return Record(
        encoder="e", source=source, target=target, measure=measure, layer=layer, value=value, metric="similarity"
    )


def by_layer(pair, values, **columns):
    return [replace(similarity(pair, layer, value), **columns) for layer, value in enumerate(values)]


SCORES = [
    score("en", 96.0),
    score("fr", 90.0),
    score("de", 80.0),
    score("en", 95.0, "1-2"),
    score("fr", 70.0, "1-2"),
    score("de", 66.0, "1-2"),
    score("en", 95.5, "11-12"),
    score("fr", 91.0, "11-12"),
    score("de", 81.0, "11-12"),
]
