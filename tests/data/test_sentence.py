"""Sentences: their columns are of one length."""

import pytest

from conllu_blocks import WORD, block
from crosslens.data.formats.conllu import read
from crosslens.data.sentence import Sentence
from crosslens.errors import DataError


def test_sentences_are_of_one_length():
    with pytest.raises(DataError, match="2 words but 1 upos"):
        Sentence(words=("a", "b"), upos=("X",))


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize(
    ("comments", "text"),
    [
        (["# text = They're here."], "They're here."),
        (["# text=They're here."], "They're here."),
        (["# text = Ils e\u0301taient."], "Ils \xe9taient."),
        (["# sent_id = 1", "# text = They're here. "], "They're here."),
        (["# text_en = elsewhere"], "They 're here ."),
        (["# text = "], "They 're here ."),
        ([], "They 're here ."),
    ],
)
def test_the_running_text_is_that_of_the_comment(written, mark, comments, text):
    words = ("They", "'re", "here", ".")
    rows = [WORD.format(n, word, "X", n - 1, "root") for n, word in enumerate(words, start=1)]
    assert read(written(mark + block(*comments, *rows)))[0].text == text
