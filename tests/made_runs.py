"""Made-up runs, questions and answers, and a store that holds them."""

import json

from crosslens.encoders.condition import Condition
from crosslens.results.record import Record, Results
from crosslens.runs.counts import COUNTS, write_counts
from crosslens.runs.question import CorpusRef, Score
from crosslens.runs.run import Asked, EncoderRef, ModelRun, Training
from crosslens.training.recipe import RECIPES


def make_run(**changes):
    recipe = RECIPES["muller2021.pos"]
    training = Training(
        "pos",
        {},
        "en",
        "en",
        CorpusRef("ud/en_ewt:train", "a" * 64),
        CorpusRef("ud/en_ewt:dev", "b" * 64),
        recipe,
        recipe.select,
    )
    fields = {"base": EncoderRef("folder", "name", "c" * 64), "condition": Condition(), "seed": 1, "training": training}
    return ModelRun(**{**fields, **changes})


FRENCH = Score(CorpusRef("ud/fr_pud:test", "d" * 64), {})


def asked(*questions, **changes):
    return Asked(make_run(**changes), questions or (FRENCH,))


def answers(*questions, value=50.0):
    return Results.of(Record(task="pos", metric="accuracy", value=value, question=each.id) for each in questions)


def publish(store, asked, results):
    run = asked.run
    with store.publishing(run.id) as folder:
        results.write(folder / "records.parquet")
        write_counts(folder / COUNTS, {})
        (folder / "run.json").write_text(json.dumps({"run": run.id, "label": run.label, "identity": run.identity}))
