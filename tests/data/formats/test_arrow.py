"""Arrow files of the library ``datasets``."""

import pytest

from crosslens.data.formats import arrow, iob
from crosslens.errors import DataError
from made_corpora import write_arrow

TAGS = ["O", "B-PER", "I-PER", "B-LOC"]
WORDS = [["Anna", "Roy", "dort"], [], ["e\u0301t\u00e9"]]


def entities(path, tags, words=WORDS, labels=TAGS):
    write_arrow(path, {"tokens": words, "ner_tags": tags}, {"ner_tags": labels}, listed=True)
    return path


def test_entities_are_those_of_an_iob_file(tmp_path):
    corpus = arrow.read(entities(tmp_path / "x-train.arrow", [[1, 2, 0], [], [3]]), language="fr", split="train")
    (tmp_path / "x.iob2").write_text("Anna B-PER\nRoy I-PER\ndort O\n\n\u00e9t\u00e9 B-LOC\n", "utf-8")
    assert corpus.digest == iob.read(tmp_path / "x.iob2").digest
    assert (len(corpus), corpus.language, corpus.split, corpus[1].where.line) == (2, "fr", "train", 3)


def test_all_files_of_a_split(tmp_path):
    for number in range(3):
        entities(tmp_path / f"data-0000{number}-of-00003.arrow", [[0]], words=[[f"word{number}"]])
    corpus = arrow.read(tmp_path / "data-00000-of-00003.arrow")
    assert [sentence.words for sentence in corpus.sentences] == [("word0",), ("word1",), ("word2",)]
    (tmp_path / "data-00001-of-00003.arrow").unlink()
    with pytest.raises(DataError, match=r"00000-of-00003.arrow: is not an Arrow file"):
        arrow.read(tmp_path / "data-00000-of-00003.arrow")


def test_pairs_and_topics(tmp_path):
    path = tmp_path / "x-test.arrow"
    columns = {"premise": ["a", "b"], "hypothesis": ["c", "d"], "label": [1, -1]}
    write_arrow(path, columns, {"label": ["entailment", "neutral"]})
    (pair,) = arrow.read(path).texts
    assert (pair.segments, pair.label, pair.id) == (("a", "c"), "neutral", "1")
    write_arrow(path, {"index_id": [7], "category": ["travel"], "text": [" a trip "]})
    (text,) = arrow.read(path).texts
    assert (text.segments, text.label, text.id) == (("a trip",), "travel", "7")


@pytest.mark.parametrize(
    ("columns", "labels", "message"),
    [
        ({"tokens": [["a"]], "ner_tags": [[4]]}, {"ner_tags": TAGS}, "label 4 has no name"),
        ({"tokens": [["a"]], "ner_tags": [[0]]}, {}, "label 0 has no name"),
        ({"tokens": [["a", "b"]], "ner_tags": [[0]]}, {"ner_tags": TAGS}, "2 words, but 1 tags"),
        ({"tokens": [[]], "ner_tags": [[]]}, {"ner_tags": TAGS}, "contains no sentences"),
        ({"words": ["a"]}, {}, "neither entities, topics nor pairs, but words"),
    ],
)
def test_wrong_files(tmp_path, columns, labels, message):
    write_arrow(tmp_path / "x-test.arrow", columns, labels, listed=True)
    with pytest.raises(DataError, match=message):
        arrow.read(tmp_path / "x-test.arrow")


def test_files_without_names_of_labels(tmp_path):
    path = entities(tmp_path / "x-test.arrow", [[0, 0, 0], [], [0]])
    (tmp_path / "dataset_info.json").unlink()
    with pytest.raises(DataError, match=r"dataset_info.json: cannot be read"):
        arrow.read(path)
    path.write_bytes(b"nothing")
    with pytest.raises(DataError, match="is not an Arrow file"):
        arrow.read(path)
