"""Rows of named columns, from whatever source."""

import pytest

from crosslens.data.formats.rows import LAYOUTS, MLDOC, SIB200, find_layout, read_rows
from crosslens.errors import DataError


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_layout_is_a_label_and_segments(layout):
    assert {layout.label, *layout.segments} == set(layout.columns)
    assert 1 <= len(layout.segments) <= 2
    assert find_layout(layout.columns).segments == layout.segments


def test_the_columns_of_labels_decide_and_their_order_does_not():
    assert find_layout(["category", "text", "index_id"]) is SIB200
    assert find_layout(["label", "text"]).segments == MLDOC.segments
    assert find_layout(["title"]) is None


def test_rows_are_read_in_order_with_their_lines():
    rows = [(4, {"text": " a ", "label": "x"}), (9, {"text": "b", "label": "-"}), (12, {"text": "c", "label": "y"})]
    corpus = read_rows(rows, ["text", "label"], file="f.csv", language="fr")
    assert [(text.text, text.label, text.id, text.where.line) for text in corpus.texts] == [
        ("a", "x", "4", 4),
        ("c", "y", "12", 12),
    ]
    assert (corpus.name, corpus.language) == ("f.csv", "fr")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"text": "a"}, "f.csv:3: the row has no column 'label'"),
        ({"text": "  ", "label": "x"}, "f.csv:3: empty text"),
        ({"text": "a", "label": None}, "f.csv:3: empty label"),
        ({"text": "a", "label": 1}, "label 1 has no name"),
        ({"text": "a", "label": -1}, "contains no sentences"),
    ],
)
def test_wrong_rows(row, message):
    with pytest.raises(DataError, match=message):
        read_rows([(3, row)], ["text", "label"], file="f.csv")
