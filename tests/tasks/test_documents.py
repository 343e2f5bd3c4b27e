"""Document classification: the part of each document that is read."""

import pytest

from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Text
from crosslens.tasks.documents import Documents

SENTENCES = ("The cat sees a dog .", "She reads .", "He sleeps .")


@pytest.mark.parametrize(
    ("sentences", "segments"), [("all", (" ".join(SENTENCES),)), (1, SENTENCES[:1]), (2, SENTENCES[:2])]
)
def test_only_the_first_sentences_are_read(encoder, sentences, segments):
    """Two of them as a pair, as in Wu & Dredze (2019)."""
    documents = Corpus((Text((" ".join(SENTENCES),), label="x"),), "documents", "en")
    (window,) = Documents(sentences=sentences).read(encoder, documents, window=None, context=None).windows
    assert window.ids.tolist() == encoder.tokenizer(*segments)["input_ids"]
