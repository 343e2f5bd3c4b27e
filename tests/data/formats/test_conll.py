"""CoNLL 2002 and 2003: tags become IOB2 with the same spans; Latin-1 and UTF-8 read alike."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosslens.data.formats import conll, iob
from crosslens.errors import DataError
from crosslens.scores.spans import conll_spans, strict_spans

ENGLISH = """\
-DOCSTART- -X- -X- O

EU NNP I-NP I-ORG
rejects VBZ I-VP O
German JJ I-NP I-MISC
call NN I-NP O

Peter NNP I-NP I-PER
Blackburn NNP I-NP I-PER
Jane NNP I-NP B-PER
"""
SPANISH = "El DA O\nMarañón NC B-LOC\nseñor NC I-LOC\n. Fp O\n"

TAGS = st.lists(st.sampled_from(["O", "I-A", "I-B", "B-A", "B-B"]))


def test_iob1_becomes_iob2(tmp_path):
    (tmp_path / "eng.train").write_text(ENGLISH)
    corpus = conll.read(tmp_path / "eng.train", language="en", split="train")
    assert [sentence.entities for sentence in corpus.sentences] == [
        ("B-ORG", "O", "B-MISC", "O"),
        ("B-PER", "I-PER", "B-PER"),
    ]
    assert (corpus.language, corpus.split, corpus[1].words[0]) == ("en", "train", "Peter")
    iob.write(corpus, tmp_path / "copy")
    assert conll.read(tmp_path / "copy").digest == corpus.digest


@given(TAGS)
def test_spans_are_those_of_conlleval(tags):
    converted = conll.to_iob2(tags)
    assert conll_spans(converted) == strict_spans(converted) == conll_spans(tags)
    assert conll.to_iob2(converted) == converted


def test_encodings(tmp_path):
    for encoding in ("latin-1", "utf-8"):
        (tmp_path / encoding).write_bytes(SPANISH.encode(encoding))
    latin, unicode = (conll.read(tmp_path / encoding) for encoding in ("latin-1", "utf-8"))
    assert latin[0].words == unicode[0].words == ("El", "Marañón", "señor", ".")
    with pytest.raises(DataError, match="latin-1:2: invalid UTF-8"):
        iob.read(tmp_path / "latin-1")
