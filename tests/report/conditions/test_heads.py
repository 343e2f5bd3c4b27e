"""The table of ablated attention heads, from made-up records."""

import pytest

from crosslens.encoders.condition import Condition
from crosslens.report.conditions.heads import head_effects, heads
from crosslens.report.conditions.interventions import interventions, is_head
from crosslens.report.tables import all_tables
from crosslens.results.record import Results
from made_records import of_heads, score

RESULTS = of_heads()


def test_rows_are_layers_and_columns_are_heads():
    (table,) = heads(RESULTS)
    assert table.head == ("0", "1")
    shown = {
        title.split(": ")[1]: {row.label: [cell.value for cell in row.cells] for row in rows}
        for title, rows in table.groups.items()
    }
    assert shown == {
        "same language": {"layer 1": [-1.0, 0.0], "layer 3": [-4.0, None]},
        "zero-shot, mean of 2 languages": {"layer 1": [-9.0, 1.0], "layer 3": [-2.0, None]},
    }
    assert all("zero" in title for title in table.groups)


def test_heads_are_not_columns_of_other_tables():
    assert interventions(RESULTS) == []
    tables = {table.name: table for table in all_tables(RESULTS)}
    assert "heads" in tables
    assert tables["layer-deltas"].head == ("Ref",)
    both = RESULTS + Results.of(
        [score(target, 50.0, depth=4, condition={"zero": "1-2.attention"}) for target in ("en", "fr", "de")]
    )
    assert interventions(both)[0].head == ("1-2.attention",)
    assert len(head_effects(both)) == 1


@pytest.mark.parametrize(
    ("address", "single"),
    [("5.attention.head.3", True), ("5.attention.head.3-4", False), ("5-6.attention.head.3", False), ("5", False)],
)
def test_single_heads(address, single):
    assert is_head(Condition(zero=address).interventions[0].address) == single


def test_without_heads_there_is_no_table():
    assert heads(RESULTS.filter(condition="none")) == []
