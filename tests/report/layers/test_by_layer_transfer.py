"""Scores of heads on one fixed layer: a table for each task."""

from dataclasses import replace

from crosslens.report.layers.by_layer import transfer
from crosslens.results.record import Results
from made_records import score


def test_heads_of_each_task_have_a_table():
    tagged = score("fr", 80.0, condition={"tower": 0}, layer=0)
    records = [tagged, replace(tagged, task="parsing", metric="las", value=40.0)]
    values = {table.name: [cell.value for cell in table.cells] for table in transfer(Results.of(records))}
    assert values == {"transfer-by-layer-pos": [80.0], "transfer-by-layer-parsing": [40.0]}
