"""Rows of named columns, from whatever source."""

import pytest

from crosslens.data.formats.rows import LAYOUTS, MLDOC, SIB200, find_layout, read_rows
from crosslens.errors import DataError

NAMES = {"label": {"names": ["x"]}}


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
    rows = [(4, {"text": " a ", "label": "x"}), (9, {"text": "b", "label": -1}), (12, {"text": "c", "label": "y"})]
    corpus = read_rows(rows, ["text", "label"], file="f.csv", features=NAMES, language="fr")
    assert [(text.text, text.label, text.id, text.where.line) for text in corpus.texts] == [
        ("a", "x", "4", 4),
        ("c", "y", "12", 12),
    ]
    assert (corpus.name, corpus.language) == ("f.csv", "fr")


def test_a_dash_is_undecided_for_pairs_and_a_label_of_texts():
    columns = {1: ["text", "label"], 2: ["premise", "hypothesis", "label"]}
    labels = {}
    for count, names in columns.items():
        rows = [(line, dict.fromkeys(names, "a") | {"label": label}) for line, label in enumerate("-+")]
        labels[count] = [text.label for text in read_rows(rows, names, file="f.csv").texts]
    assert labels == {1: ["-", "+"], 2: ["+"]}


def test_every_row_is_read_where_labels_may_be_incomplete():
    columns = ["premise", "hypothesis", "label"]
    labels = ["x", "-", None, " ", -1]
    rows = [(line, dict.fromkeys(columns, "a") | {"label": label}) for line, label in enumerate(labels)]
    rows.append((5, {"premise": "a", "hypothesis": "b"}))
    corpus = read_rows(rows, columns, file="f.csv", features=NAMES, incomplete=True)
    assert [(text.label, text.where.line) for text in corpus.texts] == [
        ("x", 0),
        *((None, line) for line in range(1, 6)),
    ]
    with pytest.raises(DataError, match=r"^f.csv:7: empty hypothesis"):
        read_rows([(7, {"premise": "a", "hypothesis": ""})], columns, file="f.csv", incomplete=True)


@pytest.mark.parametrize(
    ("tag", "hint"), [("S-LOC", "convert BIOES and BILOU to IOB2 first"), (3, "numbers need their names")]
)
def test_entities_need_the_tags_that_files_need(tag, hint):
    rows = [(7, {"tokens": ["Rome"], "ner_tags": [tag]})]
    with pytest.raises(DataError, match=f"data:7: '{tag}' is not an IOB tag.*{hint}"):
        read_rows(rows, ["tokens", "ner_tags"], file="data", unnamed=True)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"text": "a"}, "f.csv:3: the row has no column 'label'"),
        ({"text": "  ", "label": "x"}, "f.csv:3: empty text"),
        ({"text": "a", "label": None}, "f.csv:3: empty label"),
        ({"text": "a", "label": 1}, "label 1 has no name"),
        ({"text": "a", "label": 0}, "label 0 has no name"),
        ({"text": "a", "label": -2}, "label -2 has no name"),
        ({"text": "a", "label": -1}, "contains no sentences"),
    ],
)
def test_wrong_rows(row, message):
    with pytest.raises(DataError, match=message):
        read_rows([(3, row)], ["text", "label"], file="f.csv")


@pytest.mark.parametrize("value", [["a"], {"en": "a"}])
def test_a_text_is_no_list_and_no_mapping(value):
    with pytest.raises(DataError, match=r"^f.jsonl:3: text is not a text$"):
        read_rows([(3, {"text": value, "label": "x"})], ["text", "label"], file="f.jsonl", unnamed=True)


@pytest.mark.parametrize(
    "row",
    [
        {"tokens": ["a"]},
        {"tokens": ["a"], "ner_tags": None},
        {"tokens": "ab", "ner_tags": ["O", "O"]},
        {"tokens": ["a", 3], "ner_tags": ["O", "O"]},
    ],
)
def test_entities_need_a_list_of_words_and_a_list_of_tags(row):
    with pytest.raises(DataError, match=r"^f.jsonl:3: tokens and ner_tags must be a list of words and a list of tags$"):
        read_rows([(3, row)], ["tokens", "ner_tags"], file="f.jsonl", unnamed=True)


def test_only_the_rows_of_the_language_are_read():
    columns = ["language", "sentence1", "sentence2", "gold_label", "pairID"]
    values = [("fr", "a", "b", "neutral", 1), ("de", "c", "d", "neutral", 1), ("fr", "e", "f", "entailment", 2)]
    rows = [(line, dict(zip(columns, row, strict=True))) for line, row in enumerate(values, start=2)]
    corpus = read_rows(rows, columns, file="f.tsv", language="fr")
    assert [(item.segments, item.label, item.where.line) for item in corpus.texts] == [
        (("a", "b"), "neutral", 2),
        (("e", "f"), "entailment", 4),
    ]
    assert len(read_rows(rows, columns, file="f.tsv", language="de")) == 1
    with pytest.raises(DataError, match=r"contains 2 languages.*choose one: fr=f.tsv"):
        read_rows(rows, columns, file="f.tsv")
    with pytest.raises(DataError, match="contains no sentences"):
        read_rows(rows, columns, file="f.tsv", language="en")
