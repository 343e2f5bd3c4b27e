"""Lines of sentences, whatever the end of the file that they are from."""

import pytest

from conllu_blocks import PLAIN, block
from crosslens.data.formats import conllu, iob, text
from crosslens.data.formats.lines import blocks, joined
from crosslens.errors import DataError


@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\n\n\n", "\r\n", "\r\n\r\n", "\n \n", "\n "])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_joined_sentences_are_split_where_they_were_joined(mark, end):
    text = joined([[f"{mark}x", end], [f"{mark}y", end]])
    first, second = ("".join(lines) for _, lines in blocks(text))
    assert first.startswith(f"{mark}x{end}")
    assert second == f"y{end}"


@pytest.mark.parametrize("text", ["", "\n", "\n\n", "\r\n \n"])
def test_empty_lines_alone_are_no_block(text):
    assert list(blocks(text)) == []


def test_a_single_sentence_and_separated_ones_are_kept_to_the_byte():
    assert joined([["x\r\n", "y"]]) == "x\r\ny"
    assert joined([["x\n", "\n"], ["y\r\n", "\r\n"], ["z"]]) == "x\n\ny\r\n\r\nz"
    assert joined([]) == ""


@pytest.mark.parametrize("end", [" \n", "\t" * 9 + "\n", " \t\r\n"])
def test_lines_of_spaces_and_tabs_are_empty(tmp_path, end):
    file = tmp_path / "x.conllu"
    file.write_bytes((block(*PLAIN).rstrip("\n") + "\n" + end + block(*PLAIN)).encode())
    corpus = conllu.read(file)
    assert [sentence.words for sentence in corpus.sentences] == [("dogs", "bark")] * 2
    assert conllu.to_text(corpus).encode() == file.read_bytes()


@pytest.mark.parametrize("read", [conllu.read, iob.read, text.read, text.read_words, text.read_lines])
def test_carriage_returns_alone_end_no_lines(tmp_path, read):
    """The file would be one line."""
    file = tmp_path / "x"
    file.write_bytes(b"# sent_id = a\r1\tBonn\tB-LOC\r")
    with pytest.raises(DataError, match=r"x: its lines end in carriage returns alone .convert them, .*with tr"):
        read(file)


def test_a_row_with_too_few_columns_says_how_to_fill_them(tmp_path):
    (tmp_path / "x.conllu").write_text("1\tCi\tci\tADP\n")
    with pytest.raises(DataError, match=r"4 columns, but CoNLL-U has 10 .write _ in columns without a value"):
        conllu.read(tmp_path / "x.conllu")


def test_files_that_are_joined_have_byte_order_marks_between_them(written):
    text = "\ufeff" + block("# sent_id = a", *PLAIN) + "\ufeff" + block(*PLAIN)
    first, second = conllu.read(written(text))
    assert (first.words, first.heads) == (second.words, second.heads)
    assert conllu.to_text(conllu.read(written(text))) == "\ufeff" + text.replace("\ufeff", "")
