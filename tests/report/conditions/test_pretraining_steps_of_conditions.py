"""Conditions whose models were trained from several steps of pretraining."""

from crosslens.report.conditions.pretraining_steps import pretraining_steps
from crosslens.results.record import Results
from made_records import score

STEPS = (0, 100, 400)


def trained(base, **condition):
    return [
        score(target, value + step / 100, condition={"checkpoint": step, **condition})
        for step in STEPS
        for target, value in (("en", base), ("fr", base - 40.0))
    ]


def test_a_condition_has_rows_of_its_own_beside_those_of_the_reference():
    table, *_ = pretraining_steps(Results.of([*trained(90.0), *trained(80.0, layers="1-2")]))
    shown = {row.label: [cell.value for cell in row.cells] for rows in table.groups.values() for row in rows}
    own, transferred = "POS tagging, accuracy, source en: en", "zero-shot POS tagging, accuracy, source en: fr"
    assert shown == {
        own: [90.0, 91.0, 94.0],
        transferred: [50.0, 51.0, 54.0],
        f"{own}, 1-2": [80.0, 81.0, 84.0],
        f"{transferred}, 1-2": [40.0, 41.0, 44.0],
    }
