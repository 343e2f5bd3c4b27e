"""Fixtures: records with hostile names, and their page."""

import pytest

from crosslens.encoders.condition import Condition
from crosslens.report.findings import findings
from crosslens.report.page import make_page
from crosslens.results.record import Record, Results
from made_records import HOSTILE


@pytest.fixture(scope="module")
def page_records():
    scores = [
        Record(
            task=task,
            encoder="e",
            source="en",
            target=target,
            metric=metric,
            seed=seed,
            run=run,
            n=100,
            value=value - (10.0 if layers and target != "en" else 0.0) + seed,
            corpus=f"ud/{target}_pud:test",
            signature=HOSTILE,
            train="ud/en_ewt:train",
            state="fine-tuned",
            **Condition(layers=layers).columns,
        )
        for task, metric in (("pos", "accuracy"), ("parsing", "las"))
        for target, value in (("en", 90.0), ("fr", 85.0), ("العربية", 60.0), (HOSTILE, 50.0))
        for layers, run in ((None, "a" * 16), ("1-2", "b" * 16))
        for seed in (1, 2)
    ]
    similar = [
        Record(
            encoder="e",
            source="en",
            target=target,
            measure=measure,
            layer=layer,
            metric="similarity",
            n=9,
            value=0.2 + layer / 10,
            depth=2,
            state="untrained" if layers else "pretrained",
            **Condition(layers=layers).columns,
        )
        for target in ("fr", HOSTILE)
        for layer in (0, 1, 2)
        for measure in ("cka", "cka_shuffled", "cka_length_matched", "retrieval")
        for layers in (None, "0-2")
    ]
    return Results.of([*scores, *similar])


@pytest.fixture(scope="module")
def page(page_records):
    runs = {"a" * 16: {"repeat": "crosslens run s.yaml --only aaaa", "log": "trained\n</script><b>done"}}
    return make_page(page_records, title=f"A {HOSTILE}", introduction="i", findings=findings(page_records), runs=runs)
