import pytest

from crosslens.data.tsv import read_sib200, read_xnli
from crosslens.errors import DataError

SIB = "index_id\tcategory\ttext\n7\tsports\tThe ball is round.\n3\thealth\tCafe\u0301 au lait.\n"
XNLI = "He came home.\tHe left.\tcontradiction\r\nShe reads.\tShe reads a book.\tneutral\r\n"


def write(folder, text):
    path = folder / "file.tsv"
    path.write_bytes(text.encode())
    return path


def test_topics(tmp_path):
    corpus = read_sib200(write(tmp_path, SIB), language="en")
    assert [(text.id, text.label, text.text) for text in corpus.texts] == [
        ("7", "sports", "The ball is round."), ("3", "health", "Café au lait."),
    ]  # fmt: skip
    assert corpus[1].where.line == 3
    assert corpus.lengths == (18, 13)


def test_pairs_with_windows_line_ends(tmp_path):
    corpus = read_xnli(write(tmp_path, XNLI))
    assert [(text.id, text.segments, text.label) for text in corpus.texts] == [
        ("1", ("He came home.", "He left."), "contradiction"), ("2", ("She reads.", "She reads a book."), "neutral"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (read_sib200, "", r"file.tsv:1: 3 fields between tabs are needed, and 0 are here"),
        (read_sib200, "id\tlabel\ttext\n1\ta\tb\n", r"file.tsv:1: is not SIB-200: the first line must be index_id"),
        (read_sib200, "index_id\tcategory\ttext\n", r"file.tsv: has no text"),
        (read_sib200, SIB + "9\tsports\n", r"file.tsv:4: 3 fields between tabs are needed, and 2 are here"),
        (read_sib200, SIB + "9\t\tno label\n", r"file.tsv:4: 3 fields between tabs are needed, and 2 are here"),
        (read_xnli, XNLI + "a\tb\tc\td\n", r"file.tsv:3: 3 fields between tabs are needed, and 4 are here"),
        (read_xnli, "a\tb\tc\n\na\tb\tc\n", r"file.tsv:2: 3 fields between tabs are needed, and 0 are here"),
    ],
)
def test_what_is_no_such_file_is_refused_with_its_line(tmp_path, read, text, message):
    with pytest.raises(DataError, match=message):
        read(write(tmp_path, text))


def test_running_text_and_sentences_are_not_mixed_up(tmp_path, toy):
    with pytest.raises(DataError, match="is running text, where sentences of words are needed"):
        read_xnli(write(tmp_path, XNLI)).sentences  # noqa: B018
    with pytest.raises(DataError, match="is sentences of words, where running text is needed"):
        toy("test").texts  # noqa: B018
