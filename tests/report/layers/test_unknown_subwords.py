"""Captions name the languages of parallel corpora that the encoder cannot read."""

from dataclasses import replace

import pytest

from crosslens.report.layers.by_layer import retrieval, similarity
from crosslens.report.layers.layer_by_layer import layer_by_layer
from crosslens.report.sections.layer_curves import layer_curves
from crosslens.results.cautions import tags_of_pair
from crosslens.results.record import Results
from made_records import similarity as similar
from made_sections import retrieved

COUNTS = [{"subwords": 50, "unknown_subwords": unknown} for unknown in (0, 45)]
SENTENCE = " Subwords that the encoder does not know: fr in {} (90 %)."


def unread(record):
    return replace(record, tags=tags_of_pair(source=COUNTS[0], target=COUNTS[1]))


MADE = {
    "similarity": (similarity, similar("cka", 0.2), SENTENCE.format("ud/pud")),
    "retrieval": (
        retrieval,
        retrieved("fr", 50.0, layer=0, level="sentences"),
        SENTENCE.format("muse/en-fr"),
    ),
    "layers by layers": (
        lambda records: list(layer_by_layer(records).values()),
        similar("cka", 0.2, target_layer=1),
        SENTENCE.format("ud/pud"),
    ),
}


@pytest.mark.parametrize("made", MADE)
def test_a_caption_ends_with_the_languages_that_the_encoder_cannot_read(made):
    make, record, sentence = MADE[made]
    (plain,), (noted,) = make(Results.of([record])), make(Results.of([unread(record)]))
    assert noted.caption == plain.caption + sentence


def test_so_does_the_note_above_curves_of_retrieval():
    record = retrieved("fr", 50.0, layer=0, level="sentences")
    (plain,), (noted,) = (layer_curves(Results.of([each]), []) for each in (record, unread(record)))
    assert noted.note == plain.note + SENTENCE.format("muse/en-fr")
