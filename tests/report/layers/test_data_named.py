"""Captions of tables by layer name the corpora that were measured, and their size."""

from dataclasses import replace

import pytest

from crosslens.report.layers.by_layer import data_ending, probes, similarity
from crosslens.report.layers.layer_by_layer import layer_by_layer
from crosslens.results.record import Record, Results
from made_records import PLAIN
from made_records import similarity as similar

PUD = similar("cka", 0.9, n=500)


@pytest.mark.parametrize(
    ("corpora", "sentence"),
    [
        ([("ud/pud", 500)], " Data: ud/pud (500 items)."),
        ([("ud/pud", 500), ("ud/pud", 1000)], " Data: ud/pud."),
        ([("ud/pud", None)], " Data: ud/pud."),
        ([("ud/pud", 1000), ("lab/all", 1)], " Data: ud/pud (1,000 items), lab/all (1 item)."),
        ([(name, 5) for name in ("a", "b", "c")], " Data: a (5 items), b (5 items), c (5 items)."),
        ([(name, 5) for name in ("a", "b", "c", "d")], ""),
        ([("ud/pud", 500), (None, 500)], ""),
    ],
)
def test_a_few_corpora_are_named_with_their_sizes(corpora, sentence):
    languages = ("fr", "de", "it", "es")
    records = [replace(PUD, corpus=name, n=n, target=languages[place]) for place, (name, n) in enumerate(corpora)]
    assert data_ending(Results.of(records)) == sentence


def test_each_measure_has_its_own_data():
    other = replace(PUD, measure="retrieval", n=20)
    cka, retrieval = similarity(Results.of([PUD, other]))
    assert (cka.caption[-26:], retrieval.caption[-25:]) == (" Data: ud/pud (500 items).", " Data: ud/pud (20 items).")
    (across,) = layer_by_layer(Results.of([replace(PUD, target_layer=1), other])).values()
    assert across.caption.endswith(" Data: ud/pud (500 items).")


def test_probes_have_their_test_data():
    probed = Record(
        encoder="e", metric="accuracy", value=90.0, n=60, layer=0, corpus="wili/all:test", state="pretrained"
    )
    records = [replace(probed, measure="probe langid"), *PLAIN]
    (table,) = probes(Results.of(records))
    assert table.caption.endswith("percent. Data: wili/all:test (60 items).")
