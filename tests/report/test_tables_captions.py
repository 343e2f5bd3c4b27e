"""Captions of tables of scores: they speak of the columns and rows that a table has."""

from dataclasses import replace

import pytest

from crosslens.report.tables import by_target, layer_deltas, layer_sets
from crosslens.results.record import Results
from made_records import PLAIN, score

DIFFERENCES = (
    ", and differences (Δ) of other conditions to the reference with the same settings; layers without another word are"
    " re-initialised"
)

MEAN = " x: mean over the other languages."

REFERENCE = PLAIN[:3]

TWO_REFERENCES = [score("fr", 80.0, recipe="a"), score("fr", 70.0, recipe="b")]


@pytest.mark.parametrize(
    ("records", "caption"),
    [
        (PLAIN, f"Scores of the reference model (Ref){{}}{DIFFERENCES}.{MEAN}"),
        (REFERENCE, f"Scores of the reference model (Ref){{}}.{MEAN}"),
        (REFERENCE[:1], "Scores of the reference model (Ref){}."),
        (PLAIN[3:], f"Scores{{}}.{MEAN}"),  # no reference
        (TWO_REFERENCES, f"Scores of the reference models (reference){{}}.{MEAN}"),
    ],
)
def test_a_caption_speaks_of_columns_that_are_there(records, caption):
    for make, about in ((layer_deltas, ""), (by_target, " by target")):
        (table,) = make(Results.of(records))
        assert table.caption == caption.format(about)


@pytest.mark.parametrize("condition", [{"freeze": "0-3"}, {"layers": "1-2", "components": "attention"}])
def test_a_caption_explains_layers_without_another_word_where_a_head_has_none(condition):
    named = score("fr", 80.0, condition=condition)
    for records, explained in ([*REFERENCE, named], False), ([*REFERENCE, named, PLAIN[4]], True):
        (table,) = layer_deltas(Results.of(records))
        assert ("layers without another word are re-initialised" in table.caption) == explained
        assert "and differences (Δ) of other conditions" in table.caption


@pytest.mark.parametrize(
    ("settings", "said"), [("epochs=9", " (by another recipe: features); layers"), (None, "; layers")]
)
def test_a_caption_names_conditions_that_were_trained_by_another_recipe(settings, said):
    features = replace(score("fr", 80.0, condition={"use": "features"}), settings=settings)
    (table,) = layer_deltas(Results.of([*PLAIN, features]))
    assert f"to the reference with the same settings{said}" in table.caption


BASELINE = "Always predicting the most frequent label of a corpus: "


@pytest.mark.parametrize(
    ("tasks", "sentence"),
    [
        (["document"], f" {BASELINE}25.00 to 50.00."),
        (["document", "nli"], f" {BASELINE}document classification 25.00 to 50.00, NLI 25.00 to 50.00."),
        (["document", "pos"], f" {BASELINE}document classification 25.00 to 50.00."),
        (["pos"], ""),
    ],
)
def test_captions_say_what_text_classification_scores_without_a_model(tasks, sentence):
    numbers = {"en": 50, "fr": 25, "de": 30}
    records = Results.of(
        replace(record, task=task, n=100, tags={"most_frequent_gold": numbers[record.target]})
        for task in tasks
        for record in PLAIN
    )
    for make, begins in ((layer_deltas, MEAN.strip()), (layer_sets, "Scores by condition.")):
        (table,) = make(records)
        assert table.caption.endswith(begins + sentence)


def test_captions_name_corpora_that_the_encoder_cannot_read():
    unknown = {"en": 0, "fr": 5, "de": 90}
    records = Results.of(
        replace(record, task=task, n=100, tags={"subwords": 100, "unknown_subwords": unknown[record.target]})
        for task in ("pos", "parsing")
        for record in PLAIN
    )
    for make in (layer_deltas, layer_sets):
        (table,) = make(records)
        assert table.caption.endswith(" Subwords that the encoder does not know: ud/de (90 %).")
