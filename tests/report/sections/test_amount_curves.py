"""Learning curves on the page hold the numbers of the table."""

from dataclasses import replace

from crosslens.report.sections.all_sections import all_sections
from crosslens.report.sections.amount_curves import amount_curves
from crosslens.report.sections.section import Section
from crosslens.results.record import Results
from made_results import SCORES, score
from made_sections import one_layer, probes, retrieval

ENGLISH, WOLOF = "ud/en_ewt:train[:300]", "ud/wo_wtb:train"
RECORDS = [
    score("wo", 52.0, train=ENGLISH),
    score("wo", 60.0, train=f"{WOLOF}[:26]"),
    score("wo", 79.0, train=f"{ENGLISH}+{WOLOF}[:26]"),
    score("wo", 80.0, train=f"{ENGLISH}+{WOLOF}[:26]", seed=2),
    score("wo", 85.0, train=f"{ENGLISH}+{WOLOF}[:1001]"),
]


def test_amounts_stand_across_and_models_are_lines():
    (section,) = amount_curves(Results.of(RECORDS), ["parsing", "pos"])
    (panel,) = section.panels
    assert panel["title"].startswith("POS tagging, accuracy, Wolof")
    assert panel["labels"] == ["0", "26", "1,001"]
    assert {line["name"]: line["values"] for line in panel["lines"]} == {
        "encoder": [None, 60.0, None],
        f"encoder, beside {ENGLISH}": [52.0, 79.5, 85.0],
    }
    assert panel["tables"] == [1]  # shown with the scores of its task
    assert section.about["styles"] == [0]  # solid


def test_one_model_of_several_amounts_has_a_curve():
    (section,) = amount_curves(Results.of([RECORDS[1], score("wo", 70.0, train=WOLOF + "[:9]")]), ["pos"])
    (panel,) = section.panels
    assert (panel["labels"], panel["lines"]) == (["9", "26"], [{"name": "encoder", "values": [70.0, 60.0]}])


def test_one_amount_makes_no_section():
    assert amount_curves(Results.of(SCORES), ["pos"]) == []


def test_results_that_contradict_one_another_make_no_section():
    twice = [*RECORDS, replace(RECORDS[-1], value=10.0)]
    assert amount_curves(Results.of(twice), ["pos"]) == []


def test_every_chart_of_curves_says_what_a_point_belongs_to():
    def each(section: Section) -> str:
        return section.about["each"]

    curves = [
        each(of)
        for of in all_sections(Results.of([*RECORDS, *probes(), *retrieval(), *one_layer()]), [])
        if of.form == "curves"
    ]
    assert sorted(set(curves)) == ["layer", "training sentences"]
