"""Sentences: their columns are of one length."""

import pytest

from crosslens.data.sentence import Sentence
from crosslens.errors import DataError


def test_sentences_are_of_one_length():
    with pytest.raises(DataError, match="2 words but 1 upos"):
        Sentence(words=("a", "b"), upos=("X",))
