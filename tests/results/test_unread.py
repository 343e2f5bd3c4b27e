"""Corpora that an encoder reads as its unknown token, and the note on them."""

from dataclasses import replace

import pytest

from crosslens.results.pivot import sections
from crosslens.results.record import Results
from crosslens.results.unread import unread, unread_note
from made_records import PLAIN, score, similarity


def read(target, unknown, *, subwords=200, **columns):
    return score(target, 50.0, tags={"subwords": subwords, "unknown_subwords": unknown}, **columns)


def test_corpora_with_a_tenth_of_unknown_subwords_are_named():
    records = Results.of([read("fr", 0), read("de", 19), read("ja", 20), read("nqo", 190)])
    assert unread(records) == {"ud/ja": 10.0, "ud/nqo": 95.0}
    assert unread_note(records) == "subwords that the encoder does not know: ud/ja (10 %), ud/nqo (95 %)"
    (section,) = sections(records)
    assert unread_note(records) in section.note


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
    assert section.note == unread_note(records) == "subwords that the encoder does not know: nqo in ud/pud (92 %)"


@pytest.mark.parametrize("records", [PLAIN, [read("fr", 0, subwords=0)], []])
def test_nothing_is_said_without_counts(records):
    assert unread(Results.of(records)) == {}
    assert unread_note(Results.of(records)) == ""
