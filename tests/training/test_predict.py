"""Predictions for words, texts and corpora, with a model or its folder."""

import json
from dataclasses import replace

import pandas
import pytest

from crosslens.corpora.catalogue import load_corpus
from crosslens.data.corpus import Corpus
from crosslens.data.formats.conllu import to_text
from crosslens.data.sentence import Sentence
from crosslens.encoders.inputs import read_windows
from crosslens.errors import DataError
from crosslens.tasks.parsing import Parsing
from crosslens.training.evaluate import evaluate
from crosslens.training.finetune import finetune
from crosslens.training.predict import predict, read_for
from toy_trainings import FAST


def test_words_are_predicted_as_the_sentences_of_a_corpus(tagger, toy):
    words = [list(sentence.words) for sentence in toy("test").sentences]
    tags = [sentence.upos for sentence in predict(tagger, words).sentences]
    assert tags == [sentence.upos for sentence in predict(tagger, toy("test")).sentences]
    with pytest.raises(DataError, match=r"is running text, but sentences .* \(split each text into .*\[\['Le'"):
        predict(tagger, ["Le chat dort ."])


def test_a_corpus_is_found_by_name_in_a_data_folder(tagger, treebanks):
    corpus = load_corpus("ud/fr_pud", data=treebanks)
    by_name = predict(tagger, "ud/fr_pud", data=treebanks)
    assert by_name.name == corpus.name
    assert [sentence.upos for sentence in by_name.sentences] == [
        sentence.upos for sentence in predict(tagger, corpus).sentences
    ]


def test_a_table_trains_and_texts_are_predicted(encoder, toy):
    corpus = toy(task="document")
    table = {"text": [text.text for text in corpus.texts], "label": [text.label for text in corpus.texts]}
    recipe = FAST.model_copy(update={"epochs": 1})
    model, same = (finetune(encoder, "document", train=train, recipe=recipe) for train in (table, corpus))
    assert model.facts["weights"] == same.facts["weights"]
    assert [text.label for text in predict(model, table["text"]).texts] == [
        text.label for text in predict(same, corpus).texts
    ]


def test_lines_of_a_text_file_are_texts_where_the_task_reads_texts(encoder, toy, tmp_path):
    corpus, recipe = toy("test", task="document"), FAST.model_copy(update={"epochs": 1})
    (tmp_path / "texts.txt").write_text("".join(f"{text.text}\n\n" for text in corpus.texts), "utf-8")
    model = finetune(encoder, "document", train=toy(task="document"), recipe=recipe)
    predicted = predict(model, tmp_path / "texts.txt").texts
    assert [text.label for text in predicted] == [text.label for text in predict(model, corpus).texts]
    pairs = finetune(encoder, "nli", train=toy(task="nli"), recipe=recipe)
    with pytest.raises(DataError, match=r"texts.txt:1: .* has single texts, where pairs are needed"):
        predict(pairs, tmp_path / "texts.txt")


def test_no_row_is_left_out_of_predictions_whatever_its_label(encoder, toy, tmp_path):
    corpus, recipe = toy(task="nli"), FAST.model_copy(update={"epochs": 1})
    model = finetune(encoder, "nli", train=corpus, recipe=recipe)
    expected = [(text.segments, text.label) for text in predict(model, corpus[:3]).texts]
    columns = ("premise", "hypothesis", "label")
    rows = [(*text.segments, label) for text, label in zip(corpus[:3], ("neutral", "-", None), strict=True)]
    objects = [dict(zip(columns, row, strict=True)) for row in rows]
    (tmp_path / "x.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in objects), "utf-8")
    for given in (tmp_path / "x.jsonl", pandas.DataFrame(objects)):
        assert [(text.segments, text.label) for text in predict(model, given).texts] == expected
    with pytest.raises(DataError, match=r"x\.jsonl:3: empty label"):
        evaluate(model, tmp_path / "x.jsonl")


def test_gold_tags_that_a_parser_reads_are_needed_for_predictions_too(encoder, toy):
    task = Parsing(arc_size=8, relation_size=8, tags="gold", tag_size=4)
    model = finetune(encoder, task, train=toy(), recipe=FAST.model_copy(update={"epochs": 1}))
    bare = [replace(sentence, heads=None, relations=None) for sentence in toy("test").sentences]
    assert len(predict(model, replace(toy("test"), items=tuple(bare)))) == len(bare)
    for tags, message in (
        (None, "the sentence has no UPOS tags"),
        (("NN",) * len(bare[0]), "the tag 'NN' is none of UPOS"),
    ):
        strange = replace(toy("test"), items=(*bare[1:], replace(bare[0], upos=tags)))
        with pytest.raises(DataError, match=message):
            predict(model, strange)


@pytest.mark.parametrize(
    ("task", "column"),
    [("pos", 3), (Parsing(arc_size=8, relation_size=8), 6), (Parsing(arc_size=8, relation_size=8), 7)],
)
def test_a_half_annotated_treebank_is_completed(encoder, toy, tmp_path, task, column):
    model = finetune(encoder, task, train=toy(), recipe=FAST.model_copy(update={"epochs": 1}))
    words = [line.split("\t") for line in to_text(toy("test")).splitlines(keepends=True)]
    first = next(columns for columns in words if columns[0] == "1")
    first[column] = "_"
    (tmp_path / "half.conllu").write_text("".join("\t".join(columns) for columns in words), "utf-8")
    assert to_text(predict(model, tmp_path / "half.conllu")) == to_text(predict(model, toy("test")))
    with pytest.raises(DataError, match=r"half\.conllu:"):
        evaluate(model, tmp_path / "half.conllu")


def test_entities_are_predicted_whatever_other_annotation_is_incomplete(encoder, toy, tmp_path):
    model = finetune(encoder, "ner", train=toy(task="ner"), recipe=FAST.model_copy(update={"epochs": 1}))
    words = [line.split("\t") for line in to_text(toy("test")).splitlines(keepends=True)]
    for columns in (each for each in words if each[0] == "1"):
        columns[3] = columns[6] = columns[7] = "_"
    (tmp_path / "half.conllu").write_text("".join("\t".join(columns) for columns in words), "utf-8")
    entities = [sentence.entities for sentence in predict(model, tmp_path / "half.conllu").sentences]
    assert entities == [sentence.entities for sentence in predict(model, toy("test")).sentences]


def test_a_head_left_in_training_predicts_without_dropout(encoder, toy):
    recipe = FAST.model_copy(update={"head_dropout": 0.5})
    model = finetune(encoder, "pos", train=toy(), recipe=recipe, seed=1)
    before = [sentence.upos for sentence in predict(model, toy("test")).sentences]
    for _ in range(3):
        model.head.train()
        model.encoder.trained.train()
        assert [sentence.upos for sentence in predict(model, toy("test")).sentences] == before


def test_a_sentence_without_words_shifts_no_prediction(tagger, toy):
    corpus = toy("test")
    items = (Sentence((), upos=()), *corpus[:2].items, Sentence((), upos=()), *corpus[2:].items)
    predicted = [sentence.upos for sentence in predict(tagger, replace(corpus, items=items)).sentences]
    expected = [sentence.upos for sentence in predict(tagger, corpus).sentences]
    assert predicted == [(), *expected[:2], (), *expected[2:]]


@pytest.mark.parametrize(("window", "context"), [(12, 0), (12, 3), (20, 8)])
def test_text_is_read_in_the_windows_of_the_recipe(tagger, toy, window, context):
    sentence = Sentence(tuple(word for each in toy().sentences for word in each.words))
    corpus = Corpus((sentence,), "long", "en")
    recipe = tagger.recipe.model_copy(update={"window": window, "context": context})
    read = read_for(replace(tagger, recipe=recipe), corpus).windows
    expected = make_windows(tagger, corpus, window, context)
    assert len(read) > 2
    assert [(each.first, each.last) for each in read] == [(each.first, each.last) for each in expected]


def test_progress_counts_every_sentence_once(tagger, toy):
    updates = []
    corpus = toy("test")
    predict(tagger, corpus, progress=updates.append)
    assert {(each.stage, each.total, each.unit) for each in updates} == {("predicting", len(corpus), "sentences")}
    counts = [0, *(each.done for each in updates)]
    assert counts == sorted(set(counts))
    assert counts[-1] == len(corpus) > 2


def make_windows(model, corpus, window, context):
    return read_windows(model.encoder, corpus, window=window, context=context).windows
