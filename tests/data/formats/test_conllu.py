import gzip
import os
import unicodedata
from pathlib import Path

import conllu as conllu_library
import pyconll
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conllu_blocks import PLAIN, WORD, block
from crosslens.data.corpus import Corpus
from crosslens.data.formats import iob
from crosslens.data.formats.conllu import check_trees, read, to_text, write
from crosslens.data.sentence import Sentence
from crosslens.errors import DataError


def test_words_and_annotation(written):
    text = block(
        "# sent_id = s1",
        "# text = They're barking",
        "1-2\tThey're" + "\t_" * 8,
        WORD.format(1, "They", "PRON", 3, "nsubj"),
        WORD.format(2, "'re", "AUX", 3, "aux"),
        "2.1\tgone" + "\t_" * 8,
        WORD.format(3, "barking", "VERB", 0, "root"),
    )
    corpus = read(written(text), language="en", split="dev")
    (sentence,) = corpus.sentences
    assert sentence.words == ("They", "'re", "barking")
    assert sentence.upos == ("PRON", "AUX", "VERB")
    assert sentence.heads == (3, 3, 0)
    assert sentence.relations == ("nsubj", "aux", "root")
    assert sentence.id == "s1"
    assert sentence.where is not None
    assert sentence.where.line == 1
    assert (corpus.language, corpus.split, len(corpus), corpus.words) == ("en", "dev", 1, 3)
    assert corpus.layers == {"upos", "heads", "relations"}
    assert to_text(corpus) == text


ODD = {
    "windows line ends": block(*PLAIN).replace("\n", "\r\n"),
    "byte order mark": "\ufeff" + block(*PLAIN),
    "byte order mark before a comment": "\ufeff" + block("# sent_id = a", *PLAIN),
    "no last newline": block(*PLAIN).rstrip("\n"),
    "no last empty line": block(*PLAIN).rstrip("\n") + "\n",
    "empty lines before, between and behind": "\n\n" + block(*PLAIN) + "\n\n" + block(*PLAIN) + "\n",
    "spaces in a form": block(WORD.format(1, "10 000", "NUM", 0, "root")),
    "underscore form": block(WORD.format(1, "_", "X", 0, "root")),
    "a form of UD 1": block("#sent_id 7", *PLAIN),
    "a line separator in a form": block(WORD.format(1, "a\u2028b\x85c", "X", 0, "root")),
    "tags of another tag set": block(
        WORD.format(1, "dogs", "CONJ", 2, "nsubj"), WORD.format(2, "bark", "vbz", 0, "HD")
    ),
    "nothing annotated": block(WORD.format(1, "dogs", "_", "_", "_")),
    "relations of another set": block(WORD.format(1, "dogs", "NOUN", 0, "ROOT")),
    "empty node first": block("0.1\tgone" + "\t_" * 8, *PLAIN),
    "letters that compose": block(WORD.format(1, "cafe\u0301", "NOUN", 0, "root")),
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD.keys())
def test_odd_files_are_read_and_written_back_to_the_byte(written, tmp_path, text):
    path = written(text)
    corpus = read(path)
    write(corpus, tmp_path / "back.conllu")
    assert (tmp_path / "back.conllu").read_bytes() == path.read_bytes()
    assert all(w == unicodedata.normalize("NFC", w) for s in corpus.sentences for w in s.words)


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("# sent_id = a b", "a b"),
        ("#sent_id 7", "7"),
        ("# sentid: 8", "8"),
        ("# sent_id=9", "9"),
        ("# text = sent_id", None),
        ("# sent_id =", None),
        ("# orig_sent_id = 4", None),
    ],
)
def test_ids_in_comments_of_both_versions(written, comment, expected):
    assert read(written(block(comment, *PLAIN)))[0].id == expected


def test_changed_columns_and_nothing_else_are_rewritten(written):
    text = block("# x", "1\tcafe\u0301\tlemma\tNOUN\tNN\tNumber=Sing\t0\troot\t0:root\tSpaceAfter=No\r")
    corpus = read(written(text))
    changed = Sentence(**{n: getattr(corpus[0], n) for n in ("words", "heads", "relations", "lines")}, upos=("VERB",))
    assert to_text(Corpus((changed,), "c")) == text.replace("\tNOUN\t", "\tVERB\t")
    bare = Sentence(words=corpus[0].words, lines=corpus[0].lines)
    assert to_text(Corpus((bare,), "c")) == text.replace("NOUN", "_").replace("\t0\troot", "\t_\t_")


@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_the_last_sentence_of_a_file_may_be_followed_by_others(written, tmp_path, end, mark):
    text = mark + block(*PLAIN).rstrip("\n") + end
    corpus = read(written(text))
    write(corpus + corpus, tmp_path / "twice.conllu")
    assert [sentence.words for sentence in read(tmp_path / "twice.conllu").sentences] == [corpus[0].words] * 2
    assert to_text(corpus) == text


def test_a_sentence_with_other_words_than_its_lines_is_written_anew(written, tmp_path):
    sentence = read(written(block(*PLAIN)))[0]
    for words in (("one",), ("one", "two", "three")):
        write(Corpus((Sentence(words, lines=sentence.lines),), "c"), tmp_path / "new.conllu")
        assert read(tmp_path / "new.conllu")[0].words == words


def test_words_that_a_line_cannot_hold_are_written_so_that_the_file_can_be_read(tmp_path):
    """Lists of words in Python may have tabs, line breaks and empty words."""
    words = ("New\r\nYork", "a\tb", "", "five thousand")
    corpus = Corpus(
        (Sentence(words, ("X",) * 4, entities=("O",) * 4), Sentence(("Go",), ("VERB",), entities=("O",))), "c"
    )
    for to_file, again in ((to_text, read), (iob.to_text, iob.read)):
        (tmp_path / "words").write_bytes(to_file(corpus).encode())
        found = again(tmp_path / "words")
        assert [sentence.words for sentence in found] == [("New York", "a b", "_", "five thousand"), ("Go",)]


REFUSED = {
    "nine columns": (block("1\tdogs\t_\tNOUN\t_\t_\t0\troot\t_"), 1, "9 columns, but CoNLL-U has 10"),
    "spaces for tabs": (block(PLAIN[0].replace("\t", " ")), 1, "columns are separated by tabs"),
    "an id that skips": (block("# c", PLAIN[0], WORD.format(3, "x", "X", 0, "root")), 3, "id '3', expected 2"),
    "an id that repeats": (block(PLAIN[0], PLAIN[0]), 2, "an empty line separates sentences"),
    "an id that is no number": (block(WORD.format("one", "x", "X", 0, "root")), 1, "unexpected id 'one'"),
    "a range behind its words": (block(*PLAIN, "1-2\tx" + "\t_" * 8), 3, "unexpected id '1-2'"),
    "a range past the end": (block("1-3\tx" + "\t_" * 8, *PLAIN), 1, "ends at 3, after the last word 2"),
    "a range past the end after a comment": (
        block("# c", PLAIN[0], "2-3\tx" + "\t_" * 8, PLAIN[1]),
        3,
        "ends at 3, after the last word 2",
    ),
    "ranges that overlap": (
        block("1-2\tx" + "\t_" * 8, PLAIN[0], "2-2\tx" + "\t_" * 8, PLAIN[1]),
        3,
        "unexpected id '2-2'",
    ),
    "an empty node twice": (block(PLAIN[0], *["1.1\tx" + "\t_" * 8] * 2, PLAIN[1]), 3, "unexpected id '1.1'"),
    "empty nodes out of order": (block(PLAIN[0], "1.2\tx" + "\t_" * 8, PLAIN[1]), 2, "unexpected id '1.2'"),
    "a range backwards": (block("1-0\tx" + "\t_" * 8, *PLAIN), 1, "unexpected id '1-0'"),
    "an empty node out of place": (block(PLAIN[0], "5.1\tx" + "\t_" * 8, PLAIN[1]), 2, "unexpected id '5.1'"),
    "a head out of range": (block(WORD.format(1, "x", "X", 9, "root")), 1, "head 9 is outside the sentence of 1 words"),
    "one head of two out of range": (
        block(PLAIN[0], WORD.format(2, "x", "X", 3, "dep")),
        2,
        "head 3 is outside the sentence of 2 words",
    ),
    "a head of 5,000 digits": (
        block(WORD.format(1, "x", "X", "9" * 5000, "root")),
        1,
        "outside the sentence of 1 words",
    ),
    "a range of 5,000 digits": (block(f"1-{'9' * 5000}\tx" + "\t_" * 8, *PLAIN), 1, "unexpected id '1-999"),
    "a negative head": (block(WORD.format(1, "x", "X", -1, "root")), 1, "head '-1' is not a number"),
    "a head that is no number": (block(WORD.format(1, "x", "X", "x", "root")), 1, "head 'x' is not a number"),
    "a head in other digits": (block(WORD.format(1, "x", "X", "٠", "root")), 1, "head '٠' is not a number"),
    "some heads missing": (block(PLAIN[0], WORD.format(2, "x", "X", "_", "dep")), 2, "the word has no HEAD"),
    "a tag missing before a head": (
        block(WORD.format(1, "a", "_", 2, "dep"), WORD.format(2, "x", "X", "_", "root")),
        1,
        "the word has no UPOS",
    ),
    "its own head": (block(WORD.format(1, "x", "X", 1, "dep")), 1, "form a cycle: 1 → 1"),
    "a circle": (
        block(*(WORD.format(i, "a", "X", head, "dep") for i, head in ((1, 0), (2, 3), (3, 2)))),
        2,
        "form a cycle: 2 → 3 → 2",
    ),
    "some tags missing": (
        block(PLAIN[0], WORD.format(2, "x", "_", 0, "root")),
        2,
        "only where UPOS is to be predicted, _ can stand",
    ),
    "an empty tag": (block(WORD.format(1, "x", "", 0, "root")), 1, "has no UPOS"),
    "a tag in small letters": (
        block(PLAIN[0], WORD.format(2, "bark", "verb", 0, "root")),
        2,
        "'verb' is not a UPOS tag (write VERB, in capital letters)",
    ),
    "white space behind a tag": (
        block(PLAIN[0], WORD.format(2, "bark", "VERB ", 0, "root")),
        2,
        "'VERB ' is not a UPOS tag (write VERB, without white space)",
    ),
    "white space as a tag": (
        block(WORD.format(1, "bark", " ", 0, "root")),
        1,
        "' ' is not a UPOS tag (write _ for no UPOS tag)",
    ),
    "white space before a relation": (
        block(WORD.format(1, "bark", "VERB", 0, "\u00a0root")),
        1,
        "is not a relation (write root, without white space)",
    ),
    "a relation with a capital": (
        block(WORD.format(1, "dogs", "NOUN", 2, "Nsubj:Pass"), PLAIN[1]),
        1,
        "'Nsubj:Pass' is not a relation (write nsubj:pass, in small letters)",
    ),
    "an empty form": (block(WORD.format(1, "", "X", 0, "root")), 1, "has no form"),
    "comments alone": (block(*PLAIN) + block("# sent_id = 2"), 4, "sentence without words"),
    "a comment among the words": (block(PLAIN[0], "# c", PLAIN[1]), 2, "comment between the words"),
    "an empty file": ("", None, "contains no sentences"),
    "empty lines alone": ("\n\n\r\n", None, "contains no sentences"),
    "bad UTF-8": (block(*PLAIN).encode() + b"1\tcaf\xe9\n", 4, "invalid UTF-8: byte 0xe9"),
    "a compressed file": (
        gzip.compress(block(*PLAIN).encode()),
        None,
        "is compressed with gzip (unpack it with gunzip)",
    ),
    "no text at all": (b"\x89PNG\r\n\x1a\n", 1, "invalid UTF-8"),
}


@pytest.mark.parametrize(("text", "line", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_no_conllu_is_refused_with_file_and_line(written, text, line, message):
    path = written(text)
    with pytest.raises(DataError) as caught:
        read(path)
    assert message in str(caught.value)
    assert (caught.value.file, caught.value.line) == (str(path), line)
    assert str(caught.value).startswith(f"{path}:{line}: " if line else f"{path}: ")


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(DataError, match="not found"):
        read(tmp_path / "nowhere.conllu")
    with pytest.raises(DataError, match="is a folder"):
        read(tmp_path)


words = st.text(st.characters(codec="utf-8", exclude_characters="\t\n\r"), min_size=1, max_size=8)
names = st.sampled_from(["NOUN", "VERB", "X"])


@st.composite
def corpora(draw):
    sentences = []
    for _ in range(draw(st.integers(1, 4))):
        size = draw(st.integers(1, 6))
        forms = tuple(unicodedata.normalize("NFC", draw(words)) for _ in range(size))
        upos = draw(st.one_of(st.none(), st.tuples(*[names] * size)))
        heads = draw(st.one_of(st.none(), st.just((0, *range(1, size)))))
        relations = draw(st.one_of(st.none(), st.tuples(*[names] * size)))
        sentences.append(Sentence(forms, upos, heads, relations, id=draw(st.one_of(st.none(), st.just("s 1")))))
    return Corpus(tuple(sentences), "made")


@settings(max_examples=60)
@given(corpora())
def test_what_is_written_is_read_again(tmp_path_factory, corpus):
    path = tmp_path_factory.mktemp("round") / "x.conllu"
    write(corpus, path)
    again = read(path)
    assert again.sentences == corpus.sentences
    assert again.digest == corpus.digest


def real_files():
    root = os.environ.get("CROSSLENS_DATA")
    return sorted(Path(root).glob("ud/*/*.conllu")) if root else []


@pytest.mark.realdata
def test_every_real_treebank_is_read_and_written_back_to_the_byte():
    files = real_files()
    if not files:
        pytest.skip("CROSSLENS_DATA names no folder with ud/")
    for path in files:
        corpus = read(path)
        check_trees(corpus)
        assert to_text(corpus).encode() == path.read_bytes(), path


@pytest.mark.realdata
@pytest.mark.filterwarnings("ignore")
def test_two_libraries_read_the_same():
    files = [path for path in real_files() if path.stat().st_size < 300_000]
    if not files:
        pytest.skip("CROSSLENS_DATA names no folder with ud/")
    for path in files[::3]:
        corpus = read(path)
        text = path.read_text("utf-8")
        theirs = conllu_library.parse(text)
        rows = [[t for t in s if isinstance(t["id"], int)] for s in theirs]
        others = pyconll.load_from_string(text)
        assert len(rows) == len(corpus) == len(others)
        for ours, row, other in zip(corpus.sentences, rows, others, strict=True):
            mine = list(zip(ours.words, ours.upos, ours.heads, ours.relations, strict=True))
            assert [(unicodedata.normalize("NFC", t["form"]), t["upos"], t["head"], t["deprel"]) for t in row] == mine
            plain = [t for t in other if t.id.isdecimal()]
            assert [(t.upos, int(t.head), t.deprel) for t in plain] == [row[1:] for row in mine]
