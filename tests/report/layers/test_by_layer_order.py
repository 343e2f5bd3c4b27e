"""The order of rows and columns of tables by layer, whatever the order of the records."""

import random

from crosslens.report.layers.by_layer import retrieval, similarity
from crosslens.results.record import Results
from made_records import similarity as record


def shuffled(records):
    return Results.of(random.Random(1).sample(records, len(records)))


def test_columns_are_in_the_order_of_layers():
    (table,) = similarity(shuffled([record("cka", layer / 10, layer=layer) for layer in (0, 1, 8, 9, 16)]))
    assert table.head == ("0", "1", "8", "9", "16")
    ((row,),) = table.groups.values()
    assert [cell.value for cell in row.cells] == [0.0, 0.1, 0.8, 0.9, 1.6]
    measured = [record("words identity", 50.0, layer=layer) for layer in (None, 8, 1)]
    (table,) = retrieval(Results.of(measured).with_columns(metric="precision@1"))
    assert table.head == ("vectors", "1", "8")


def test_unrelated_sentences_stand_below_translations():
    records = [record("cka_shuffled", 0.2), record("cka_length_matched", 0.4), record("cka", 0.8)]
    for given in (records, records[::-1]):
        (table,) = similarity(Results.of(given))
        ((first, *others),) = table.groups.values()
        assert (first.label, first.kind) == ("pretrained", "plain")
        assert {row.kind for row in others} == {"beside"}
        assert len(others) == 2


def test_pairs_stay_together_where_states_alternate():
    records = [
        record("cka", 0.5, target=target, state=state, seed=1)
        for state in ("pretrained", "untrained")
        for target in ("fr", "de")
    ]
    (table,) = similarity(Results.of(records))
    assert list(table.groups) == ["mean of 2 pairs", "en–fr", "en–de"]
    assert {tuple(row.label for row in rows) for rows in table.groups.values()} == {("pretrained", "untrained")}
