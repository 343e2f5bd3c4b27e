"""Labelled texts as comma-separated values and JSON lines."""

import csv
import json

import pytest

from crosslens.corpora.catalogue import load_corpus
from crosslens.data.corpus import Corpus
from crosslens.data.formats import CSV, LABELLED, TSV, to_complete
from crosslens.data.sentence import Text
from crosslens.errors import DataError

ROWS = [("A, “quoted” film.", "good"), ('Two\nlines and "marks"', "bad"), ("Cafe\u0301", "good")]


def write_csv(path, rows, header=("text", "label")):
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([header, *rows])
    return path


def write_jsonl(path, rows, header=("text", "label")):
    lines = [json.dumps(dict(zip(header, row, strict=True))) for row in rows]
    path.write_text("\n\n".join(lines) + "\n", "utf-8")
    return path


WRITERS = {"csv": write_csv, "jsonl": write_jsonl}


@pytest.mark.parametrize("ending", WRITERS)
def test_texts_that_other_programs_wrote(tmp_path, ending):
    corpus = load_corpus(f"fr={WRITERS[ending](tmp_path / f'x.{ending}', ROWS)}")
    assert [(text.text, text.label) for text in corpus.texts] == [*ROWS[:2], ("Café", "good")]
    assert [text.where.line for text in corpus.texts] == ([2, 3, 5] if ending == "csv" else [1, 3, 5])
    assert corpus.language == "fr"
    pairs = WRITERS[ending](tmp_path / f"pairs.{ending}", [("a", "b", "neutral")], ("premise", "hypothesis", "label"))
    assert load_corpus(pairs)[0].segments == ("a", "b")


def test_spreadsheets_of_other_countries_separate_columns_by_semicolons(tmp_path):
    """Excel writes them where a number has a decimal comma, with a byte order mark."""
    rows = 'text;label\r\nBonjour, toi;good\r\n"Oui; ""non""";bad\r\n'
    (tmp_path / "x.csv").write_bytes(f"\ufeff{rows}".encode())
    assert [(text.text, text.label) for text in load_corpus(str(tmp_path / "x.csv")).texts] == [
        ("Bonjour, toi", "good"),
        ('Oui; "non"', "bad"),
    ]


@pytest.mark.parametrize("name", ["x.csv", "x.tsv"])
def test_another_encoding_of_spreadsheets_is_named(tmp_path, name):
    (tmp_path / name).write_text("text\tlabel\n", "utf-16")
    with pytest.raises(DataError, match=r"is UTF-16, not UTF-8 \(.*iconv -f UTF-16"):
        load_corpus(str(tmp_path / name))


@pytest.mark.parametrize("format", LABELLED, ids=lambda format: format.ending)
def test_written_and_read_again(tmp_path, format, toy):
    for task in ("document", "nli"):
        corpus = toy(task=task)
        format.write(corpus, tmp_path / f"{task}{format.ending}")
        again = load_corpus(tmp_path / f"{task}{format.ending}")
        assert [(t.segments, t.label) for t in again.texts] == [(t.segments, t.label) for t in corpus.texts]


def test_tabs_and_line_breaks_are_spaces_in_tab_separated_files(tmp_path):
    made = Corpus((Text(("Great.\r\nLoved  it", "all\tof it"), "good"),), "made")
    TSV.write(made, tmp_path / "x.tsv")
    (text,) = load_corpus(tmp_path / "x.tsv").texts
    assert (text.segments, text.label) == (("Great. Loved  it", "all of it"), "good")


def test_line_breaks_of_any_kind_are_kept_in_comma_separated_files(tmp_path):
    texts = ("one\rtwo", "one\ntwo", "one\r\ntwo", 'a "b", c', "plain")
    CSV.write(Corpus(tuple(Text((text,), "good") for text in texts), "made"), tmp_path / "x.csv")
    assert [text.text for text in load_corpus(tmp_path / "x.csv").texts] == [*texts]
    assert (tmp_path / "x.csv").read_bytes().endswith(b'"a ""b"", c",good\nplain,good\n')


def test_texts_to_predict_keep_their_ids_where_they_have_some(tmp_path):
    (tmp_path / "x.csv").write_text("id,text,label,author\nr7,a,good,Ann\n,b,bad,Bob\n")
    (tmp_path / "y.csv").write_text("premise,hypothesis,label\na,b,neutral\n")
    for format in LABELLED:
        texts = load_corpus(tmp_path / "x.csv", format=to_complete(format, ("label",)))
        format.write(texts, tmp_path / f"p{format.ending}")
        again = load_corpus(tmp_path / f"p{format.ending}", format=to_complete(format, ("label",)))
        assert [(text.id, text.text, text.label) for text in again.texts] == [("r7", "a", "good"), ("3", "b", "bad")]
    assert (tmp_path / "p.csv").read_text() == "id,text,label\nr7,a,good\n3,b,bad\n"
    CSV.write(load_corpus(tmp_path / "y.csv", format=to_complete(TSV, ("label",))), tmp_path / "p.csv")
    assert (tmp_path / "p.csv").read_text() == (tmp_path / "y.csv").read_text()


def test_ids_that_need_not_be_unique_align_no_texts(tmp_path):
    (tmp_path / "x.csv").write_text(",id,text,label\n0,7,a,good\n1,7,b,bad\n")  # pandas writes an index unnamed
    assert [text.id for text in load_corpus(tmp_path / "x.csv").texts] == ["2", "3"]


def test_a_field_of_any_length_is_read(tmp_path):
    assert len(load_corpus(write_csv(tmp_path / "x.csv", [("word " * 50_000, "good")]))[0].text) == 249_999


def test_numbers_are_labels(tmp_path):
    path = write_jsonl(tmp_path / "x.jsonl", [("a", 1), ("b", 0)])
    assert [text.label for text in load_corpus(path).texts] == ["1", "0"]


def test_texts_without_labels_can_be_predicted(tmp_path):
    assert load_corpus(write_csv(tmp_path / "x.csv", [("a",)], ("text",)))[0] == Text(("a",), id="2")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.csv", "text,label\na,\nb,good\n"),
        ("x.tsv", "text\tlabel\na\t\nb\tgood\n"),
        ("x.jsonl", '{"text": "a"}\n{"text": "b", "label": "good"}\n'),
    ],
)
def test_texts_to_predict_may_be_labelled_in_part(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    for format in LABELLED:  # whatever the file is, as with the format of a task
        corpus = load_corpus(tmp_path / name, format=to_complete(format, ("label",)))
        assert [(text.text, text.label) for text in corpus.texts] == [("a", None), ("b", "good")]
    with pytest.raises(DataError, match=f"{name}:.*label"):
        load_corpus(tmp_path / name, format=TSV)


def test_a_language_of_several_is_chosen(tmp_path):
    header = ("language", "gold_label", "sentence1", "sentence2")
    path = write_csv(tmp_path / "x.csv", [("fr", "neutral", "a", "b"), ("de", "neutral", "c", "d")], header)
    assert load_corpus(f"de={path}")[0].segments == ("c", "d")
    with pytest.raises(DataError, match=r"x.csv: contains 2 languages \(choose one: fr="):
        load_corpus(path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "text,label\nA, film,good\n", "a.csv:2: 3 fields, but the header has 2"),
        ("a.csv", "text,label\nfilm,\n", "a.csv:2: empty label"),
        ("a.csv", 'text,label\nfilm,good\n"film,bad\nfilm,good\n', "a.csv:3: .*unexpected end of data"),
        ("a.csv", 'text,label\nfilm,"good\nfilm,bad\n', "a.csv:2: .*unexpected end of data"),
        ("a.csv", "title,stars\nfilm,3\n", "has neither entities, topics nor pairs, but title, stars"),
        ("a.csv", "# sent_id = 1\n1;,;PUNCT\n", "has neither .*but # sent_id = 1 .*trees are read from CoNLL-U"),
        ("a.csv", "word,tag\nLe,chat,DET\n", "has neither .*but word, tag .*trees are read from CoNLL-U"),
        ("a.csv", "", "has neither entities"),
        ("a.csv", "text,label\n", "contains no sentences"),
        ("a.jsonl", '{"text": "a"\n', "a.jsonl:1: is not JSON"),
        ("a.jsonl", '["a", "b"]\n', "a.jsonl:1: is not a JSON object"),
        ("a.jsonl", '{"text": "a", "label": "x"}\n{"text": "b"}\n', "a.jsonl:2: the row has no column 'label'"),
    ],
)
def test_wrong_files(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=message):
        load_corpus(tmp_path / name)
