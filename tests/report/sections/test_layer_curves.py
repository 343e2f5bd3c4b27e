"""Curves by layer hold the numbers of the tables by layer."""

from dataclasses import replace

import pytest

from crosslens.alignment.baselines import SHUFFLED
from crosslens.report.layers.by_layer import ORDER, transfer
from crosslens.report.sections.layer_curves import layer_curves
from crosslens.results.record import Results
from made_records import PLAIN
from made_sections import one_layer, probes, retrieval, retrieved


def sections(records, tasks=()):
    return {section.name: section for section in layer_curves(Results.of(records), tasks)}


def lines(panel):
    return {(line["name"], line["kind"]): line["values"] for line in panel["lines"]}


def test_probes_stand_beside_their_control_which_is_dashed():
    section = sections(probes())["probes"]
    (panel,) = section.panels
    assert panel["labels"] == ["0", "1", "2"]
    assert lines(panel) == {
        ("pretrained", ""): [95.0, 90.0, 80.0],
        ("pretrained", "shuffled labels"): [3.0, 4.0, 2.0],
    }
    assert section.about["kinds"] == ["true labels", "shuffled labels"]
    assert section.about["styles"] == [0, 1]
    assert section.about["views"] == []
    assert panel["language"] is None


def test_retrieval_has_a_chart_for_each_pair_and_a_view_for_each_cutoff():
    section = sections(retrieval())["words"]
    assert section.about["views"] == ["precision at 1", "precision at 5"]
    assert [(panel["title"], panel["view"], panel["language"]) for panel in section.panels] == [
        ("en–fr", "precision at 1", "fr"),
        ("en–hi", "precision at 1", "hi"),
        ("en–fr", "precision at 5", "fr"),
        ("en–hi", "precision at 5", "hi"),
    ]
    assert lines(section.panels[2]) == {
        ("mono-en and mono-fr", ""): [80.0, 70.0, 60.0],
        ("mono-en and mono-fr", "identity"): [25.0, 15.0, 5.0],
    }
    assert section.about["kinds"] == ["measured", "identity"]
    assert "identity (no mapping)" in section.note


def test_each_line_is_drawn_once_measurements_before_their_baselines():
    """Whatever the order of the records; the key lists baselines as the tables do, each with a style of its own."""
    mappings = {"identity": 25.0, SHUFFLED: 5.0, "procrustes": 60.0}
    made = [retrieved("fr", value, layer=layer, mapping=name) for name, value in mappings.items() for layer in (0, 1)]
    section = sections(made)["words"]
    (panel,) = section.panels
    kinds = ["", "shuffled", "identity"]
    assert sorted(line["kind"] for line in panel["lines"]) == sorted(kinds)
    assert panel["lines"][0]["kind"] == ""
    assert section.about["kinds"] == ["measured", *kinds[1:]]
    assert section.about["styles"] == [ORDER.index(kind) for kind in kinds]


def test_static_word_vectors_have_no_curve():
    assert "words" not in sections([retrieved("fr", 50.0, layer=None)])


def test_transfer_shows_with_the_tables_of_its_task():
    section = sections(one_layer(), ["parsing", "pos", "pos"])["transfer-by-layer-pos"]
    assert [(panel["title"], panel["tables"]) for panel in section.panels] == [("en → en", [1, 2]), ("en → fr", [1, 2])]
    assert [panel["language"] for panel in section.panels] == [None, "fr"]
    assert section.panels[1]["places"] == [0, 2]
    assert lines(section.panels[1]) == {("e and f", ""): [70.0, 60.0]}
    without = sections(one_layer())["transfer-by-layer-pos"]
    assert [panel["tables"] for panel in without.panels] == [None, None]


def test_a_table_of_transfer_with_the_source_language_is_not_called_zero_shot():
    (table,) = transfer(Results.of(one_layer()))
    assert list(table.groups) == ["en → en", "en → fr"]
    assert table.caption.startswith("Scores (pos, accuracy) of fresh layers")


def test_a_note_on_transfer_with_the_source_language_does_not_call_it_zero_shot():
    note = sections(one_layer())["transfer-by-layer-pos"].note
    assert note.startswith("Score of a head trained on one fixed layer of the source language's encoder, in that")


def test_a_note_on_probes_speaks_of_shuffled_labels_where_there_are_any():
    assert "Dashed: the same probes trained on shuffled labels" in sections(probes())["probes"].note
    without = [record for record in probes() if record.metric == "accuracy"]
    assert sections(without)["probes"].note == "Accuracy of linear probes that read the states of one layer."


def test_records_without_a_layer_or_that_contradict_one_another_have_no_section():
    assert sections(PLAIN) == {}
    assert sections([retrieved("fr", 20.0), retrieved("fr", 21.0)]) == {}


@pytest.mark.parametrize("made", [probes, one_layer])
def test_records_that_contradict_one_another_leave_the_other_sections(made):
    contradicting = [*made(), replace(made()[0], value=1.0)]
    assert sections(contradicting) == {}
    assert sections([*contradicting, *retrieval()]).keys() == sections(retrieval()).keys()
