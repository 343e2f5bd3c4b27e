"""Corpora that an encoder reads as its unknown token or that were trained on, and the notes on them."""

from dataclasses import replace

import pytest

from crosslens.report.blocks import cautions_ending
from crosslens.results.cautions import cautions, trained_on, unread
from crosslens.results.pivot import sections
from crosslens.results.record import Results
from made_records import PLAIN, score, similarity


def read(target, unknown, *, subwords=200, **columns):
    return score(target, 50.0, tags={"subwords": subwords, "unknown_subwords": unknown}, **columns)


def test_corpora_with_a_tenth_of_unknown_subwords_are_named():
    records = Results.of([read("fr", 0), read("de", 19), read("ja", 20), read("nqo", 190)])
    assert unread(records) == {"ud/ja": 10.0, "ud/nqo": 95.0}
    assert cautions(records) == ["subwords that the encoder does not know: ud/ja (10 %), ud/nqo (95 %)"]
    (section,) = sections(records)
    assert cautions(records)[0] in section.note


def test_of_models_with_vocabularies_of_their_own_the_one_that_knows_least_counts():
    for start, encoder in ((None, "f"), ("bilstm", "e")):
        records = [read("fr", 30), read("fr", 90, start=start, encoder=encoder), read("fr", 20, encoder="g")]
        for order in (records, records[::-1]):
            assert unread(Results.of(order)) == {"ud/fr": 45.0}


def compared(source, target, *unknown, digest="a" * 64):
    """A similarity with so many unknown subwords of a hundred on either side."""
    sides = zip(("source_", ""), unknown, strict=True)
    tags = {f"{side}{name}": n for side, own in sides for name, n in (("subwords", 100), ("unknown_subwords", own))}
    return replace(similarity("cka", 0.2), source=source, target=target, corpus_digest=digest, tags=tags)


def test_languages_of_parallel_corpora_are_named_on_either_side_of_a_pair():
    """Each once, though each pair has a digest of its own."""
    pairs = [compared("en", "nqo", 0, 92), compared("nqo", "fr", 92, 0, digest="b" * 64), compared("ja", "en", 9, 0)]
    records = Results.of(pairs)
    assert unread(records) == {"nqo in ud/pud": 92.0}
    assert unread(records.filter(target="fr")) == {"nqo in ud/pud": 92.0}
    (section,) = sections(records)
    assert [section.note] == cautions(records) == ["subwords that the encoder does not know: nqo in ud/pud (92 %)"]


@pytest.mark.parametrize("records", [PLAIN, [read("fr", 0, subwords=0)], []])
def test_nothing_is_said_without_counts(records):
    assert unread(Results.of(records)) == {}
    assert cautions(Results.of(records)) == []


def seen(target, trained, *, sentences=200, **columns):
    return score(target, 50.0, tags={"sentences": sentences, "trained_sentences": trained}, **columns)


def test_corpora_of_which_a_twentieth_was_trained_on_are_named():
    records = Results.of([seen("en", 200), seen("fr", 9), seen("de", 10), seen("ja", 0)])
    assert trained_on(records) == {"ud/en": 100.0, "ud/de": 5.0}
    assert cautions(records) == ["also in the training data: 100 % of ud/en, 5 % of ud/de"]
    (section,) = sections(records)
    assert section.note.endswith(f"; {cautions(records)[0]}")


@pytest.mark.parametrize("column", [{"train": "other"}, {"train_digest": "b" * 64}, {"settings": "limit=9"}])
def test_of_several_training_data_those_count_that_share_most(column):
    records = [seen("fr", 30), seen("fr", 90, **column), seen("fr", 90, **column, seed=2)]
    for order in (records, records[::-1]):
        assert trained_on(Results.of(order)) == {"ud/fr": 45.0}


def test_each_caution_is_a_note_of_its_own():
    tags = {"sentences": 10, "trained_sentences": 1, "subwords": 50, "unknown_subwords": 30}
    records = Results.of([score("fr", 50.0, tags=tags)])
    unknown, known = cautions(records)
    assert (unknown, known) == (
        "subwords that the encoder does not know: ud/fr (60 %)",
        "also in the training data: 10 % of ud/fr",
    )
    assert cautions_ending(records) == f" {unknown[0].upper()}{unknown[1:]}. {known[0].upper()}{known[1:]}."
    assert cautions(records, records) == [unknown, known]
