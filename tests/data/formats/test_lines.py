"""Lines of sentences, whatever the end of the file that they are from."""

import pytest

from crosslens.data.formats.lines import blocks, joined


@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\n\n\n", "\r\n", "\r\n\r\n", "\n \n", "\n "])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_joined_sentences_are_split_where_they_were_joined(mark, end):
    text = joined([[f"{mark}x", end], [f"{mark}y", end]])
    first, second = ("".join(lines) for _, lines in blocks(text, spaces_are_empty=True))
    assert first.startswith(f"{mark}x{end}")
    assert second == f"y{end}"


@pytest.mark.parametrize("text", ["", "\n", "\n\n", "\r\n \n"])
def test_empty_lines_alone_are_no_block(text):
    assert list(blocks(text, spaces_are_empty=True)) == []


def test_a_single_sentence_and_separated_ones_are_kept_to_the_byte():
    assert joined([["x\r\n", "y"]]) == "x\r\ny"
    assert joined([["x\n", "\n"], ["y\r\n", "\r\n"], ["z"]]) == "x\n\ny\r\n\r\nz"
    assert joined([]) == ""
