import os
import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosslens.data.corpus import Corpus
from crosslens.data.formats import conllu, iob
from crosslens.data.sentence import Sentence
from crosslens.errors import CrosslensWarning, DataError

UNER = """\
# newdoc id = d
# sent_id = d-1
# text = Anna Smith slept .
1\tAnna\tB-PER\t-\tme
2\tSmith\tI-PER\t-\tme
3\tslept\tO\t-\tme
4\t.\tO\t-\tme

# sent_id = d-2
1\t#\tO\t-\tme
2\tParis\tB-LOC\t-\tme

"""
CONLL = "-DOCSTART- -X- -X- O\n\nAnna NNP B-NP B-PER\nslept VBD B-VP O\n\n# NN B-NP O\nParis NNP B-NP I-LOC\n"
MASAKHA = "Ndekete O\nAnna B-PER\n# O\n\nWaaw O\n"
WIKIANN = "en:12:30\tO\nen::\tO\nen:http://a.b\tB-ORG\n\nen:Paris\tB-LOC\n"


def written(folder: Path, text: str, name="x.iob2") -> Path:
    path = folder / name
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return path


@pytest.mark.parametrize(
    ("text", "words", "tags", "ids"),
    [
        (UNER, [("Anna", "Smith", "slept", "."), ("#", "Paris")], ("B-PER", "I-PER", "O", "O"), ["d-1", "d-2"]),
        (CONLL, [("Anna", "slept"), ("#", "Paris")], ("B-PER", "O"), [None, None]),
        (MASAKHA, [("Ndekete", "Anna", "#"), ("Waaw",)], ("O", "B-PER", "O"), [None, None]),
        ("0\tAnna\tB-PER\n1\t7\tO\n\n0\t1\tO\n", [("Anna", "7"), ("1",)], ("B-PER", "O"), [None, None]),
        ("# sent_id = a\n1 Anna NNP B-PER\n2 # NN O\n", [("Anna", "#")], ("B-PER", "O"), ["a"]),
        ("1 CD B-NP O\n2 CD I-NP O\nmen NNS I-NP O\n", [("1", "2", "men")], ("O", "O", "O"), [None]),
        ("1 CD B-NP O\n\n1 CD I-NP O\n", [("1",), ("1",)], ("O",), [None, None]),
        ("New\u00a0York B-LOC\nis O\n", [("New\u00a0York", "is")], ("B-LOC", "O"), [None]),
        ("A O\n \t\nB O\n", [("A",), ("B",)], ("O",), [None, None]),
        ("Paris\nis\n\nhere\n", [("Paris", "is"), ("here",)], None, [None, None]),
    ],
)
def test_layouts(tmp_path, text, words, tags, ids):
    corpus = iob.read(written(tmp_path, text), language="en", split="test")
    assert [s.words for s in corpus.sentences] == words
    assert corpus[0].entities == tags
    assert [s.id for s in corpus.sentences] == ids
    if tags:
        assert iob.to_text(corpus) == text


def test_wikiann_loses_its_language_and_nothing_else(tmp_path):
    """R4: the first prefix goes, colons in the word stay."""
    corpus = iob.read(written(tmp_path, WIKIANN))
    assert corpus[0].words == ("12:30", ":", "http://a.b")
    assert iob.to_text(corpus) == WIKIANN
    changed = replace(corpus, items=tuple(replace(s, entities=("O",) * len(s)) for s in corpus.sentences))
    assert iob.to_text(changed) == WIKIANN.replace("B-ORG", "O").replace("B-LOC", "O")


def test_a_word_with_a_colon_is_no_prefix(tmp_path):
    corpus = iob.read(written(tmp_path, "at:home\tO\nParis\tB-LOC\n"))
    assert corpus[0].words == ("at:home", "Paris")


def test_only_changed_tags_are_replaced(tmp_path):
    corpus = iob.read(written(tmp_path, UNER.replace("\n", "\r\n")))
    changed = replace(corpus, items=(replace(corpus[0], entities=("O", "O", "B-X", "O")), corpus[1]))
    expected = UNER.replace("B-PER", "O").replace("I-PER", "O").replace("slept\tO", "slept\tB-X")
    assert iob.to_text(changed) == expected.replace("\n", "\r\n")
    corpus = iob.read(written(tmp_path, "O O \nParis  O\n"))
    changed = replace(corpus, items=(replace(corpus[0], entities=("B-PER", "B-LOC")),))
    assert iob.to_text(changed) == "O B-PER \nParis  B-LOC\n"


def test_what_came_from_elsewhere_is_written_as_uner(tmp_path, toy):
    """Predicted entities of a treebank keep its comments."""
    tree = toy()[0]
    corpus = Corpus((replace(tree, entities=("O",) * len(tree)), Sentence(("A",), entities=("B-X",))), "mixed")
    text = iob.to_text(corpus)
    assert text.startswith("# sent_id = n01\n# text = the cat sees a small dog .\n1\tthe\tO\t-\t-\n")
    assert text.endswith("\n\n1\tA\tB-X\t-\t-\n\n")
    again = iob.read(written(tmp_path, text))
    assert [s.words for s in again.sentences] == [tree.words, ("A",)]
    with pytest.raises(DataError, match="has no entity tags"):
        iob.to_text(toy())
    entities = toy(task="ner")
    tagged = replace(entities, items=tuple(replace(s, upos=("X",) * len(s)) for s in entities.sentences))
    conllu.write(tagged, tmp_path / "tagged.conllu")
    assert conllu.read(tmp_path / "tagged.conllu")[0].upos[0] == "X"


def test_a_comment_may_look_like_a_row(tmp_path):
    """Where words are numbered, or stand alone, a line that begins with # is a comment, whatever its columns."""
    comment = "#\tParis\tB-LOC\t-\tme\n"
    text = UNER.replace("# sent_id = d-2\n", "# sent_id = d-2\n" + comment)
    corpus = iob.read(written(tmp_path, text))
    assert [s.words for s in corpus.sentences] == [("Anna", "Smith", "slept", "."), ("#", "Paris")]
    assert iob.to_text(corpus) == text
    for plain in ("Paris\n# a\tB-LOC\nis\n", "Paris\n# a comment\nis\n"):
        assert [s.words for s in iob.read(written(tmp_path, plain)).sentences] == [("Paris", "is")]


def test_hashtags_are_words_in_files_without_tags(tmp_path):
    corpus = iob.read(written(tmp_path, "#sent_id 7\n# a note\n#MeToo\n \t\n#\nMeToo \n#too \n"))
    assert [(s.id, s.words) for s in corpus.sentences] == [("7", ("#MeToo",)), (None, ("#", "MeToo", "#too"))]
    tagged = replace(corpus, items=tuple(replace(s, entities=("O",) * len(s)) for s in corpus.sentences))
    text = "#sent_id 7\n# a note\n1\t#MeToo\tO\t-\t-\n\n1\t#\tO\t-\t-\n2\tMeToo\tO\t-\t-\n3\t#too\tO\t-\t-\n\n"
    assert iob.to_text(tagged) == text
    assert iob.read(written(tmp_path, text)).items == tagged.items


def test_a_word_that_is_a_hash_becomes_no_comment(tmp_path):
    """Of sentences that are written in another layout, comments are kept, but not rows."""
    read = iob.read(written(tmp_path, "# a note\n#\tO\nParis\tB-LOC\n"))
    assert read[0].words == ("#", "Paris")
    mixed = Corpus((read[0], Sentence(("A",), entities=("O",))), "mixed")
    assert iob.to_text(mixed) == "# a note\n1\t#\tO\t-\t-\n2\tParis\tB-LOC\t-\t-\n\n1\tA\tO\t-\t-\n\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Paris\tB_LOC\nis\tO\n", r":1: 'B_LOC' is not an IOB tag"),
        ("Paris\tB-LOC\nis\tS-LOC\n", r":2: 'S-LOC' is not an IOB tag .*BIOES"),
        ("Paris\tB-LOC\nis\t0\n", r":2: '0' is not an IOB tag .*outside an entity stands the letter O"),
        ("Paris\tB-LOC\nis\t\n", r":2: '' is not an IOB tag"),
        ("Paris\tB-LOC\nis\n", r":2: 1 column, but the first word of the file has 2 .every word needs its tag"),
        ("Paris\tB-LOC\nis O\n", r":2: the columns are not separated by tabs, but those of the first .*tabs in all"),
        ("Paris B-LOC\nis\tO\n", r":2: the columns are not separated by spaces, but .*spaces in all lines"),
        ("1\tA\tO\t-\t-\n2\tB O\t-\t-\n", r":2: the columns are not separated by tabs"),
        ("Paris\nis\tO\n", r":2: 2 columns, but the first word of the file has 1 .every word needs its tag"),
        ("Anna B-PER\nIda B-PER\n\nis O\nEva B-Per\n", r":4: .*type 'Per', which is 'PER' elsewhere .*write PER"),
        ("Paris B-LOC\nin the O\n", r":2: 3 columns, but the first word of the file has 2"),
        ("en:Paris\tB-LOC\nen:is\tO\nfr:ici\tO\n", r":3: the word 'fr:ici' lacks the prefix 'en:'"),
        ("fr:ici\tO\nen:Paris\tB-LOC\nen:is\tO\n", r":1: the word 'fr:ici' lacks the prefix 'en:'"),
        ("Paris\tB-LOC\n\tO\n", r":2: the word has no form"),
        ("1\tA\tO\t-\t-\n3\tB\tO\t-\t-\n", r":2: unexpected id '3', expected 2"),
        ("1\tA\tO\t-\t-\n1\tB\tO\t-\t-\n", r"empty line separates"),
        ("1\tA\tO\t-\t-\n2\tB\tO\n", r":2: 3 columns"),
        ("", "contains no sentences"),
        ("\n\n", "contains no sentences"),
        ("-DOCSTART- O\n\n", "contains no sentences"),
        ("# only a comment\n", "contains no sentences"),
        ("caf\udce9 O\n", ":1: invalid UTF-8"),
    ],
)
def test_what_cannot_be_read_says_where(tmp_path, text, message):
    path = tmp_path / "x.iob2"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(DataError, match=message) as caught:
        iob.read(path)
    assert caught.value.message.startswith(str(path))


def test_a_byte_order_mark_before_a_comment_is_no_word(tmp_path):
    tagged, words = tmp_path / "tagged.txt", tmp_path / "words.txt"
    tagged.write_text("\ufeff# sent_id = 1\n1\tWien\tB-LOC\t-\t-\n", "utf-8")
    words.write_text("\ufeff#hashtag first\nthe cat sleeps .\n", "utf-8")
    assert (iob.is_iob(tagged), iob.is_iob(words)) == (True, False)


@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\n \n", "\r\n"])
def test_the_last_sentence_of_a_file_may_be_followed_by_others(tmp_path, end):
    """A sentence that ends without an empty line would become one with the next."""
    file, twice = tmp_path / "x.iob2", tmp_path / "twice.iob2"
    file.write_bytes(f"\ufeffWien B-LOC\nist O{end}".encode())
    corpus = iob.read(file)
    iob.write(corpus + corpus, twice)
    assert iob.read(twice).items == (corpus + corpus).items
    assert iob.to_text(corpus).encode() == file.read_bytes()


@pytest.mark.parametrize("first", ["# sent_id = 1\n", "-DOCSTART- O\n\n", "\n"])
def test_what_stands_behind_a_byte_order_mark_is_kept_in_its_place(tmp_path, first):
    text = f"\ufeff{first}Wien B-LOC\nist O\n"
    corpus = iob.read(written(tmp_path, text))
    assert iob.to_text(corpus) == text
    changed = replace(corpus, items=(replace(corpus[0], entities=("O", "B-X")),))
    assert iob.to_text(changed) == f"\ufeff{first}Wien O\nist B-X\n"


def test_missing_files(tmp_path):
    with pytest.raises(DataError, match="not found"):
        iob.read(tmp_path / "x")
    with pytest.raises(DataError, match="is a folder"):
        iob.read(tmp_path)


word = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp")), min_size=1, max_size=8)
tag = st.sampled_from(["O", "B-PER", "I-PER", "B-LOC", "I-LOC"])


def test_a_file_without_empty_lines_is_read_as_one_sentence_with_a_warning(tmp_path, recwarn):
    path = written(tmp_path, "Anna B-PER\n" + "slept O\n" * 500)
    with pytest.warns(CrosslensWarning, match=r"x\.iob2 is one sentence of 501 words: an empty line must end each"):
        assert len(iob.read(path)) == 1
    iob.read(written(tmp_path, "slept O\n" * 500))  # one long sentence
    iob.read(written(tmp_path, "slept O\n" * 501 + "\nAnna B-PER\n"))  # a long one among others
    assert not recwarn.list


@given(st.lists(st.lists(st.tuples(word, tag), min_size=1, max_size=6), min_size=1, max_size=5))
def test_written_words_and_tags_come_back(tmp_path_factory, rows):
    import unicodedata

    sentences = tuple(
        Sentence(tuple(unicodedata.normalize("NFC", w) for w, _ in r), entities=tuple(t for _, t in r)) for r in rows
    )
    path = tmp_path_factory.mktemp("round") / "x.iob2"
    iob.write(Corpus(sentences, "x"), path)
    assert iob.read(path).items == sentences


@pytest.mark.realdata
@pytest.mark.skipif("CROSSLENS_DATA" not in os.environ, reason="CROSSLENS_DATA names no data")
def test_every_real_file_is_read_whole_and_comes_back():
    """R2: as many sentences and words as there are lines, and the same bytes."""
    data = Path(os.environ["CROSSLENS_DATA"])
    files = [*data.glob("uner/*/*.iob2"), *data.glob("masakhaner/**/*.txt"), *data.glob("wikineural/*/*.conll")]
    files += [file for file in data.glob("wikiann/*/*") if file.name in ("train", "dev", "test")]
    assert files
    random.Random(0).shuffle(files)
    for file in files:
        corpus = iob.read(file)
        raw = file.read_bytes()
        rows = [line for line in raw.decode("utf-8").split("\n") if line.strip() and not line.startswith("# ")]
        if "uner" not in file.parts:
            rows = [line for line in raw.decode("utf-8").split("\n") if line.strip()]
        assert corpus.words == len(rows), file
        assert iob.to_text(corpus).encode() == raw, file
