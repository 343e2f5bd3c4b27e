"""Predictions for words, texts and corpora, with a model or its folder."""

import pytest

from crosslens.errors import DataError
from crosslens.training.finetune import finetune
from crosslens.training.predict import predict
from toy_trainings import FAST


def test_words_are_predicted_as_the_sentences_of_a_corpus(tagger, toy):
    words = [list(sentence.words) for sentence in toy("test").sentences]
    tags = [sentence.upos for sentence in predict(tagger, words).sentences]
    assert tags == [sentence.upos for sentence in predict(tagger, toy("test")).sentences]
    with pytest.raises(DataError, match=r"is running text, but sentences of words are needed \(split each text"):
        predict(tagger, ["Le chat dort ."])


def test_a_table_trains_and_texts_are_predicted(encoder, toy):
    corpus = toy(task="document")
    table = {"text": [text.text for text in corpus.texts], "label": [text.label for text in corpus.texts]}
    recipe = FAST.model_copy(update={"epochs": 1})
    model, same = (finetune(encoder, "document", train=train, recipe=recipe) for train in (table, corpus))
    assert model.facts["weights"] == same.facts["weights"]
    assert [text.label for text in predict(model, table["text"]).texts] == [
        text.label for text in predict(same, corpus).texts
    ]
