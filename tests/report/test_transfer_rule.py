"""Tables of a rule that estimates transfer."""

from dataclasses import replace

import pytest

from crosslens.report.transfer_rule import rule_tables
from crosslens.results.record import Record, Results
from crosslens.unseen.rule import Provenance, Rule
from made_rules import made_up

NOTHING = Results.of([])


def test_a_rule_has_a_group_for_languages_left_out_and_one_a_source_for_those_kept_apart():
    rule = Rule(made_up(8).measured, Provenance("small", kept_apart="l0 l1"))
    (table,) = rule_tables([rule], NOTHING)
    assert (table.name, table.head) == ("rule", ("mean", "low", "high"))
    assert list(table.groups) == [
        "each language left out: 16 scores of 8 corpora of 8 languages",
        "languages kept apart, from every source",
        "languages kept apart, from en",
        "languages kept apart, from fr",
    ]
    first = table.groups["each language left out: 16 scores of 8 corpora of 8 languages"][0]
    assert (first.label, tuple(cell.value for cell in first.cells)) == ("error of an estimate", tuple(rule.error))


def test_the_first_rule_estimates_the_transfer_of_the_others():
    rule = made_up(100)
    other = Rule(tuple(replace(row, score=row.score - 20) for row in rule.measured), Provenance("re-initialised"))
    errors, table = rule_tables([rule, other], NOTHING)
    assert {title.partition(":")[0] for title in errors.groups} == {"made up", "re-initialised"}
    assert list(table.groups) == ["re-initialised, by the rule of made up"]
    (rows,) = table.groups.values()
    assert len(rows) == 200
    assert rows[0].label == "en – c0"
    for row in rows:
        estimate, measured, difference = (cell.value for cell in row.cells)
        assert difference == pytest.approx(estimate - measured)
        assert difference == pytest.approx(20, abs=3)


def test_rules_of_one_encoder_are_told_apart_by_their_places():
    first, second = made_up(8), made_up(8)
    errors, others = rule_tables([first, second], NOTHING)
    assert [title.partition(":")[0] for title in errors.groups if "left out" in title] == [
        "made up (rule 1)",
        "made up (rule 2)",
    ]
    assert list(others.groups) == ["made up (rule 2), by the rule of made up (rule 1)"]


def test_without_a_rule_there_is_no_table():
    assert rule_tables([], NOTHING) == []


def test_scores_are_compared_with_those_that_the_rule_was_fitted_to():
    """Higher and lower ones do not cancel out."""
    rule = made_up(4)
    asked = {"task": "pos", "metric": "accuracy", "target": "fr", "seed": 3}
    records = [
        Record(**asked, source=row.source, corpus=row.corpus, value=row.score + (place if place < 4 else -place))
        for place, row in enumerate(rule.measured)
    ]
    records.append(Record(**asked | {"seed": 1}, source="en", corpus="c0", value=rule.measured[0].score))
    records += [
        Record(**asked, source="en", corpus="c0", value=0.0, condition='{"layers": "1-2"}'),
        Record(**asked, source="en", corpus="another", value=0.0),
    ]
    (table,) = [table for table in rule_tables([rule], Results.of(records)) if table.name == "rule-measured-again"]
    (rows,) = table.groups.values()
    assert {row.label: [cell.value for cell in row.cells] for row in rows} == {
        "from en, seed 3, 4 scores": [pytest.approx(3), pytest.approx(6)],
        "from fr, seed 3, 4 scores": [pytest.approx(4), pytest.approx(7)],
        "from en, seed 1, 1 score": [pytest.approx(0), pytest.approx(0)],
    }


@pytest.mark.parametrize(
    ("others", "names", "of"),
    [
        ({"encoder": "f"}, ("e, from en", "f, from en"), ""),
        ({"recipe": "b"}, ("from en, a", "from en, b"), " of e"),
    ],
)
def test_models_of_two_kinds_are_not_averaged(others, names, of):
    rule = made_up(2)
    made = {"task": "pos", "metric": "accuracy", "target": "fr", "seed": 3, "encoder": "e", "recipe": "a"}
    records = [
        Record(source=row.source, corpus=row.corpus, value=row.score + more, **made | columns)
        for columns, more in (({}, 1.0), (others, 9.0))
        for row in rule.measured
        if row.source == "en"
    ]
    records.append(replace(records[0], study="another"))  # which shares the run
    (table,) = [table for table in rule_tables([rule], Results.of(records)) if table.name == "rule-measured-again"]
    ((one, other),) = table.groups.values()
    assert (one.label, other.label) == tuple(f"{name}, seed 3, 2 scores" for name in names)
    assert [cell.value for cell in (*one.cells, *other.cells)] == pytest.approx([1.0, 1.0, 9.0, 9.0])
    assert table.caption == f"Absolute difference of scores{of} to those that the rule was fitted to, in points."
