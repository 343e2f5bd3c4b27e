"""Retrieval between two encoders: which layer of which, and what is a baseline of what."""

from dataclasses import replace

import pytest

from crosslens.report.layers.by_layer import retrieval, retrieval_lines
from crosslens.results.record import Results
from made_sections import retrieved


def test_a_layer_is_that_of_the_encoder_of_the_first_language_in_both_directions():
    """Layers 0 to 2 of the English encoder stand beside layers 0, 2 and 4 of the French one."""
    there = [
        retrieved("fr", value, layer=layer, target_layer=2 * layer, level="sentences")
        for layer, value in enumerate((90.0, 50.0, 10.0))
    ]
    settings = "against=mono-en method=cosine"
    back = [
        replace(
            each,
            encoder="mono-fr",
            source="fr",
            target="en",
            settings=settings,
            layer=each.target_layer,
            target_layer=each.layer,
            value=each.value - 20.0,
        )
        for each in there
    ]
    (line,) = retrieval_lines(Results.of([*there, *back]), "sentences")
    assert (line.group, line.cutoff, line.title) == ("en–fr", "precision at 1", "en–fr: precision at 1")
    assert line.state.two
    assert {layer: cell.mean for layer, cell in line.by_layer.items()} == pytest.approx({0: 80.0, 1: 40.0, 2: 0.0})


def test_the_identity_is_a_baseline_only_of_a_pair_with_a_mapping():
    """One language pair has a learnt mapping, the other was compared without one."""
    records = [
        retrieved("fr", 60.0, level="sentences"),
        retrieved("fr", 20.0, level="sentences", mapping="identity"),
        retrieved("de", 30.0, level="sentences", mapping="identity"),
    ]
    lines = retrieval_lines(Results.of(records), "sentences")
    assert {(line.languages[1], line.baseline): line.by_layer[0].mean for line in lines} == {
        ("fr", ""): 60.0,
        ("fr", "identity"): 20.0,
        ("de", ""): 30.0,
    }


def test_a_layer_of_one_direction_is_no_mean_over_both():
    there = [retrieved("fr", value, layer=layer, level="sentences") for layer, value in enumerate((90.0, 50.0))]
    settings = "against=mono-en method=cosine"
    back = replace(there[0], encoder="mono-fr", source="fr", target="en", settings=settings, value=70.0)
    (table,) = retrieval(Results.of([*there, back]))
    assert [(cell.value, cell.note) for cell in table.cells] == [(80.0, None), (50.0, 1)]
    assert table.notes == ("only en to fr",)
    assert table.caption.endswith("percent, mean over both directions where both were measured.")
    (whole,) = retrieval(Results.of([there[0], back]))
    assert whole.caption.endswith("percent, mean over both directions.")
    (words,) = retrieval(Results.of([retrieved("fr", 60.0)]))
    assert (words.caption, words.notes) == ("Precision of word translation by layer (0: embeddings), percent.", ())


def test_words_of_both_directions_are_said_to_be_averaged():
    there = retrieved("fr", 60.0)
    back = replace(
        there, encoder="mono-fr", source="fr", target="en", value=40.0, settings="against=mono-en method=cosine"
    )
    (table,) = retrieval(Results.of([there, back]))
    assert [cell.value for cell in table.cells] == [50.0]
    assert table.caption.endswith("percent, mean over both directions.")
    single = retrieved("de", 30.0)
    for records, values in (((there, back, single), (50.0, 30.0)), ((single, there, back), (30.0, 50.0))):
        (mixed,) = retrieval(Results.of(records))
        assert tuple(cell.value for cell in mixed.cells) == values
        assert {cell.value: cell.note for cell in mixed.cells} == {50.0: None, 30.0: 1}
        assert (mixed.notes, mixed.caption[-25:]) == (("only en to de",), "where both were measured.")


def test_static_vectors_stand_before_all_layers():
    layers = [retrieved("fr", 10.0 * layer, layer=layer) for layer in (2, 1)]
    vectors = retrieved("de", 50.0, layer=None)
    (table,) = retrieval(Results.of([*layers, vectors]))
    rows = {row.label: [cell.value for cell in row.cells] for rows in table.groups.values() for row in rows}
    assert table.head == ("vectors", "1", "2")
    assert sorted(rows.values(), key=str) == [[50.0, None, None], [None, 10.0, 20.0]]
