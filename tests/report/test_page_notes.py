"""What the page says below its scores of the test corpora."""

import re
from dataclasses import replace

from crosslens.report.page import make_page
from crosslens.results.record import Results
from made_records import PLAIN, similarity


def notes(records):
    return re.findall(r'<p class="note">([^<]*)</p>', make_page(Results.of(records), title="Page"))


def test_corpora_that_the_encoder_cannot_read_and_the_score_without_a_model_stand_below_the_scores():
    tags = {"subwords": 100, "unknown_subwords": 0, "most_frequent_gold": 25}
    unknown = {"de": 90}
    records = [
        replace(record, task="document", n=100, tags={**tags, "unknown_subwords": unknown.get(record.target, 0)})
        for record in PLAIN
    ]
    said = (
        "Always predicting the most frequent label of a corpus: 25.00."
        " Subwords that the encoder does not know: ud/de (90 %)."
    )
    assert said in notes(records)
    assert not any("Subwords" in note or "Always" in note for note in notes(PLAIN))


def test_languages_that_the_encoder_cannot_read_stand_below_the_similarities():
    counts = {"source_subwords": 100, "source_unknown_subwords": 0, "subwords": 100, "unknown_subwords": 92}
    records = [similarity("cka", 0.9), replace(similarity("cka", 0.2, target="nqo"), tags=counts)]
    assert notes(records) == [*notes(records[:1]), "Subwords that the encoder does not know: nqo in ud/pud (92 %)."]
