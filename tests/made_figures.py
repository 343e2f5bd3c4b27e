"""Records that fill every figure, with languages of any name."""

from dataclasses import replace

import pandas as pd

from crosslens.encoders.condition import Condition
from crosslens.results.record import Record, Results
from made_records import of_heads, score, similarity

LAYERS = 12
SETS = ["1-2", "3-4", "5-6", "7-8", "9-10", "11-12", "1-12", "0-12"]
FIGURES = [
    "layer-profile",
    "encoders",
    "interventions",
    "heads",
    "similarity",
    "layers-by-target",
    "seeds",
    "gap",
    "correlation-by-layer",
    "overlap",
    "probes",
    "layer-by-layer",
    "scripts",
    "learning-curves",
    "words",
    "sentences",
    "transfer-by-layer-pos",
    "similarity-by-pair",
    "similarity-by-language",
]
"""Names of all figures of `every_figure`."""


def every_figure(names):
    """Results that fill every figure but the typology.

    Args:
        names: four or more target languages.
    """
    return Results.of([*_scores(names), *_similar(names), *_by_layer(names), *_scripts_and_amounts(names), *_heads()])


def _scores(names):
    conditions = [("none", 0.0)]
    conditions += [({"layers": layers}, 12.0 / (1 + place)) for place, layers in enumerate(SETS)]
    conditions += [({"zero": "1-2"}, 30.0), ({"zero": "3-4"}, 4.0)]
    for task, metric in (("pos", "accuracy"), ("parsing", "las")):
        for encoder, factor in (("mono/a-multilingual-encoder-base", 1.0), ("e5", 0.5)):
            for condition, loss in conditions:
                for place, target in enumerate(("en", *names)):
                    for seed in (1, 2) if encoder == "e5" else (1,):
                        value = 90.0 - 7 * place - factor * loss * (target != "en") + seed + place % 3
                        record = score(target, value, condition=condition, encoder=encoder, seed=seed, split="test")
                        yield replace(record, task=task, metric=metric)


def _similar(names):
    for place, target in enumerate(names):
        for encoder in ("mono/a-multilingual-encoder-base", "e5"):
            for layer in range(LAYERS + 1):
                for measure, value in (("cka", 0.6), ("cka_shuffled", 0.1), ("cka_length_matched", 0.2)):
                    at = value + layer / 50 - (place * 37 % 11) / 90 + (encoder == "e5") * layer % 3 / 40
                    yield similarity(measure, at, layer=layer, target=target, encoder=encoder, depth=LAYERS)
        for measure in ("overlap_types", "overlap_tokens"):
            yield Record(
                encoder="e5",
                source="en",
                target=target,
                measure=measure,
                metric="overlap",
                split="test",
                value=20.0 + place * 41 % 29,
            )
    for layer in range(5):
        for other in range(5):
            across = {"target_layer": None if layer == other else other, "depth": 4, "encoder": "small"}
            yield similarity("cka", 0.9 - abs(layer - other) / 5, layer=layer, target=names[0], **across)


def _by_layer(names):
    for layer in range(LAYERS + 1):
        for metric, value in (("accuracy", 90.0 - layer), ("accuracy_shuffled", 4.0)):
            yield Record(
                encoder="e5",
                measure="langid",
                metric=metric,
                layer=layer,
                value=value,
                seed=1,
                depth=LAYERS,
                corpus="wili/all",
                state="pretrained",
            )
        for target in names:
            for level in ("words", "sentences"):
                for mapping, value in (("procrustes", 50.0 + layer), ("procrustes_shuffled", 1.0), ("identity", 5.0)):
                    yield Record(
                        encoder="mono/en",
                        source="en",
                        target=target,
                        measure=f"{level} {mapping}",
                        metric="precision@1",
                        layer=layer,
                        value=value,
                        depth=LAYERS,
                        state="pretrained",
                        corpus="tatoeba/fr",
                        settings=f"against=mono/{target} method=cosine",
                    )
            through = {"tower": layer, "mapped_from": f"mono/{target}", "mapping": "ab"}
            yield score(target, 70.0 - layer, condition=through, encoder="mono/en")


def _scripts_and_amounts(names):
    for place, target in enumerate(names):
        corpus = f"ud/{place}_udt:test"
        for scheme, value in (("", 40.0), ("@uroman", 50.0)):
            value += place
            yield score(target, value, corpus=corpus + scheme, train="ud/en_ewt:train", encoder="scripts")
        for amount in (100, 200, 500, 1000, 12000):
            for start in (None, "bilstm"):
                start_with = Condition(start=start).columns if start else {}
                train = f"ud/{place}_udt:train[:{amount}]"
                value = 40.0 + amount**0.4 + (start is None)
                record = score(target, value, train=train, corpus=corpus, encoder="amounts")
                yield replace(record, source=target, **start_with)


def _heads():
    effects = {(layer, head): (-0.1 * head, layer / 3 - 2.0) for layer in range(1, 13) for head in range(12)}
    return list(of_heads(effects))


def typology(names):
    """The table from which bars of easy, intermediate and hard languages are drawn."""
    kinds = ("easy", "intermediate", "hard")
    return pd.DataFrame(
        {
            "task": task,
            "language": name,
            "name": name,
            "script": "Latin",
            "train": f"ud/{place}:train",
            "corpus": f"ud/{place}:test",
            "encoder": 80.0 - place,
            "adapted": 82.0,
            "from scratch": None,
            "BiLSTM": 70.0 + place,
            "class": kinds[place % 3],
            "published class": kinds[place % 2],
        }
        for task in ("pos", "ner")
        for place, name in enumerate(names)
    )
