import os
from pathlib import Path

import pandas
import pytest

from crosslens.corpora.catalogue import load_corpus
from crosslens.data.corpus import Corpus
from crosslens.data.formats import tsv
from crosslens.data.formats.lines import normal
from crosslens.data.formats.rows import MLDOC, SIB200, XNLI
from crosslens.data.formats.tsv import first_sentences, read
from crosslens.data.sentence import Text
from crosslens.errors import DataError

SIB = "index_id\tcategory\ttext\n7\tsports\tThe ball is round.\n3\thealth\tCafe\u0301 au lait.\n"
PAIRS = "He came home.\tHe left.\tcontradiction\r\nShe reads.\tShe reads a book.\tneutral\r\n"
OFFICIAL = (
    "language\tgold_label\tsentence1_binary_parse\tsentence1\tsentence2\tpromptID\tpairID\n"
    "en\tneutral\t\tHe sat.\tHe stood.\t1\t11\nfr\tneutral\t\tIl est assis.\tIl est debout.\t1\t11\n"
)


def write(folder, text, name="file.tsv"):
    path = folder / name
    path.write_bytes(text.encode())
    return path


def test_topics(tmp_path):
    corpus = read(write(tmp_path, SIB), language="en")
    assert [(text.id, text.label, text.text) for text in corpus.texts] == [
        ("7", "sports", "The ball is round."),
        ("3", "health", "Café au lait."),
    ]
    assert corpus[1].where.line == 3
    assert corpus.lengths == (18, 13)


def test_pairs_with_windows_line_ends(tmp_path):
    corpus = read(write(tmp_path, PAIRS))
    assert [(text.id, text.segments, text.label) for text in corpus.texts] == [
        ("1", ("He came home.", "He left."), "contradiction"),
        ("2", ("She reads.", "She reads a book."), "neutral"),
    ]


def test_the_columns_are_found_by_their_names(tmp_path):
    swapped = write(tmp_path, "label\ttext\nde\tGuten Tag.\n")
    assert (read(swapped)[0].label, read(swapped)[0].text) == ("de", "Guten Tag.")
    translated = read(write(tmp_path, "premise\thypo\tlabel\nEr sitzt.\tEr steht.\tcontradictory\n"))
    assert (translated[0].segments, translated[0].label) == (("Er sitzt.", "Er steht."), "contradictory")


def test_pairs_may_have_a_header(tmp_path):
    header = "premise\thypothesis\tlabel\n"
    assert read(write(tmp_path, header + PAIRS)).digest == read(write(tmp_path, PAIRS)).digest
    other = write(tmp_path, "label\thypothesis\tpremise\nneutral\tb\ta\n")
    assert (read(other)[0].segments, read(other)[0].label) == (("a", "b"), "neutral")


def test_a_file_of_several_languages_is_read_one_by_one(tmp_path):
    path = write(tmp_path, OFFICIAL)
    corpus = load_corpus(f"fr={path}")
    assert [(text.segments, text.label, text.id, text.where.line) for text in corpus.texts] == [
        (("Il est assis.", "Il est debout."), "neutral", "11", 3)
    ]
    with pytest.raises(DataError, match=r"file.tsv: contains 2 languages \(choose one: en="):
        load_corpus(path)
    with pytest.raises(DataError, match=r"file.tsv: contains no text in 'de'"):
        load_corpus(f"de={path}")


def test_pairs_that_nobody_agreed_on_are_left_out(tmp_path):
    rows = "gold_label\tsentence1\tsentence2\tpairID\n-\tA.\tB.\t1\nneutral\tC.\tD.\t2\n"
    assert [text.id for text in read(write(tmp_path, rows)).texts] == ["2"]


@pytest.mark.parametrize(
    ("header", "texts", "ids"),
    [
        ("text", [("A.",)], ["2"]),
        ("index_id\ttext", [("B.",)], ["A."]),
        ("premise\thypo", [("A.", "B.")], ["2"]),
        ("text\tlanguage", [("A.",)], ["2"]),
    ],
)
def test_a_header_without_a_column_of_labels_names_texts_to_predict(tmp_path, header, texts, ids):
    row = ["A.", "B."][: header.count("\t") + 1]
    corpus = read(write(tmp_path, header + "\n" + "\t".join(row) + "\n"))
    assert [(text.segments, text.label) for text in corpus.texts] == [(segments, None) for segments in texts]
    assert [text.id for text in corpus.texts] == ids


@pytest.mark.parametrize(
    ("layout", "text", "message"),
    [
        (
            SIB200,
            "",
            r"file.tsv:1: is not in SIB-200 format: the first line must name the columns text category index_id",
        ),
        (
            SIB200,
            "id\tlabel\ttext\n1\ta\tb\n",
            r"file.tsv:1: is not in SIB-200 format: the first line must name the columns",
        ),
        (SIB200, "index_id\tcategory\ttext\n", r"file.tsv: contains no text"),
        (SIB200, SIB + "9\tsports\n", r"file.tsv:4: the row has no column 'text'"),
        (SIB200, SIB + "9\t\tno label\n", r"file.tsv:4: empty category"),
        (SIB200, SIB + "9\tsports\t \n", r"file.tsv:4: empty text"),
        (XNLI, PAIRS + "a\tb\tc\td\n", r"file.tsv:3: 4 tab-separated fields, expected 3"),
        (XNLI, "a\tb\tc\n\na\tb\tc\n", r"file.tsv:2: 1 tab-separated fields, expected 3"),
        (XNLI, 'a\tb\tc\n"a\nb"\tb\tc\n', r"file.tsv:2: 1 tab-separated fields, .*write each row on one line"),
        (
            None,
            "word\ttag\nLe\tO\n\nUn\tO\n",
            r"file.tsv:3: 1 .*remove the empty line; entities are .* without a header",
        ),
        (None, "# sent_id = 1\n1\tLe\n", r"file.tsv:1: unknown .*trees are read from CoNLL-U"),
        (None, "one column\nonly\n", r"file.tsv:1: unknown tab-separated format"),
        (None, "four\ta\tb\tc\n", r"file.tsv:1: unknown tab-separated format"),
        (MLDOC, "CCAT\t\n", r"file.tsv:1: empty text"),
    ],
)
def test_what_is_no_such_file_is_refused_with_its_line(tmp_path, layout, text, message):
    with pytest.raises(DataError, match=message):
        read(write(tmp_path, text), layout=layout)


def test_documents_are_cut_to_their_first_sentences(tmp_path):
    pytest.importorskip("sentencex")
    (tmp_path / "mldoc").mkdir()
    text = "ECAT\tMr. Smith paid 3.5 pct. He left. Nobody saw him.\nGCAT\tOnly one.\n"
    write(tmp_path / "mldoc", text, "english.train.1000")
    corpus = load_corpus("mldoc/english:train", data=tmp_path)
    assert (corpus.language, corpus.name, corpus[0].label) == ("en", "mldoc/english:train", "ECAT")
    assert [document.segments for document in first_sentences(corpus).texts] == [
        ("Mr. Smith paid 3.5 pct.", "He left."),
        ("Only one.",),
    ]


def test_sentences_of_documents_end_where_they_do_in_their_language():
    """A number with a full stop is an ordinal in German, and ends a sentence in English."""
    pytest.importorskip("sentencex")
    documents = {
        language: Corpus((Text(("Er kam am 3. Mai an. Sie blieb.",), "GCAT"),), "made", language)
        for language in ("de", "en")
    }
    first = {language: first_sentences(corpus, 1)[0].segments for language, corpus in documents.items()}
    assert first == {"de": ("Er kam am 3. Mai an.",), "en": ("Er kam am 3.",)}


def test_running_text_and_sentences_are_not_mixed_up(tmp_path, toy):
    with pytest.raises(DataError, match="is running text, but sentences of words are needed"):
        read(write(tmp_path, PAIRS)).sentences  # noqa: B018
    with pytest.raises(DataError, match="consists of sentences of words, but running text is needed"):
        toy("test").texts  # noqa: B018


@pytest.mark.parametrize("text", [SIB, PAIRS.replace("\r", "")])
def test_lines_may_end_in_a_carriage_return_alone(tmp_path, text):
    path = write(tmp_path, text)
    expected = read(path)
    assert read(write(tmp_path, text.replace("\n", "\r"))) == expected


def test_quotation_marks_are_text_unless_they_enclose_a_tab(tmp_path):
    quoted = '"He said ""yes""."'
    header = "label\ttext\n"
    assert read(write(tmp_path, f"{header}sports\t{quoted}\n"))[0].text == quoted
    with pytest.raises(DataError, match=r"file.tsv:2: 3 tab-separated fields, expected 2 .*or the table as .csv"):
        read(write(tmp_path, f'{header}sports\t"one\ttwo"\n'))
    assert read(write(tmp_path, f'{header}sports\t5" long\t\n'))[0].text == '5" long'


def test_a_tab_in_a_text_does_not_make_the_rest_of_it_a_label(tmp_path):
    with pytest.raises(DataError, match=r"file.tsv:3: 3 tab-separated fields, expected 2 .*a tab in a text"):
        read(write(tmp_path, "text\tlabel\ngood film\tgood\nbad\tfilm\tbad\n"))


def test_fields_of_sib200_are_quoted_as_pandas_quotes_them(tmp_path):
    quoted = ['"Yes."', 'He said "yes".', '"A" and "B"', '5" long', '""', "no mark"]
    rows = pandas.DataFrame({"index_id": range(6), "category": "sports", "text": quoted})
    rows.to_csv(tmp_path / "pandas.tsv", sep="\t", index=False)
    corpus = read(tmp_path / "pandas.tsv")
    assert [text.text for text in corpus.texts] == quoted
    tsv.write(corpus, tmp_path / "ours.tsv")
    assert (tmp_path / "ours.tsv").read_bytes() == (tmp_path / "pandas.tsv").read_bytes()
    half = '"one" or "two'  # nothing that CSV would have written
    assert read(write(tmp_path, f"{SIB}9\tsports\t{half}\n"))[2].text == half


@pytest.mark.realdata
@pytest.mark.skipif("CROSSLENS_DATA" not in os.environ, reason="set CROSSLENS_DATA to the folder of treebanks")
def test_sib200_is_read_as_pandas_reads_it():
    marks = 0
    for path in sorted(Path(os.environ["CROSSLENS_DATA"]).glob("sib200/*/*.tsv")):
        expected = [normal(text).strip() for text in pandas.read_csv(path, sep="\t", dtype=str)["text"]]
        assert [text.text for text in read(path).texts] == expected, path
        marks += sum('"' in text for text in expected)
    assert marks > 100
