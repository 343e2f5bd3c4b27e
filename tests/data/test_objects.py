"""Corpora from lists, data frames and data sets."""

import pandas as pd
import pyarrow as pa
import pytest

from crosslens.corpora.catalogue import load_corpora, load_corpus
from crosslens.data.formats import TSV
from crosslens.data.objects import corpus_of
from crosslens.data.sentence import Sentence, Text
from crosslens.errors import DataError, RequestError

COLUMNS = {"text": ["A good film.", "Cafe\u0301 froid."], "label": ["good", "bad"]}


def test_words_are_composed_in_sentences_and_texts_too():
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    for given, made in (([decomposed], [composed]), ([Sentence((decomposed,))], [Sentence((composed,))])):
        assert corpus_of(given).digest == corpus_of(made).digest
    assert corpus_of([Text((decomposed,), "good")])[0] == Text((composed,), "good")


class Feature:
    """A column's description, as `datasets.Features.to_dict` writes it."""

    def __init__(self, **columns):
        self.columns = columns

    def to_dict(self):
        return self.columns


class DataSet:
    """What crosslens uses of a `datasets.Dataset`."""

    def __init__(self, features=None, **columns):
        self.columns_by_name = columns
        self.column_names = list(columns)
        self.features = Feature(**(features or {}))

    def __getitem__(self, name):
        return self.columns_by_name[name]


@pytest.mark.parametrize("table", [COLUMNS, pd.DataFrame(COLUMNS), pa.table(COLUMNS), DataSet(**COLUMNS)])
def test_tables_are_the_corpus_of_the_file_with_their_rows(tmp_path, table):
    lines = ["text\tlabel", *("\t".join(row) for row in zip(*COLUMNS.values(), strict=True))]
    (tmp_path / "same.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    corpus = load_corpus(table, language="fr")
    assert corpus.digest == load_corpus(tmp_path / "same.tsv").digest
    assert (corpus.language, corpus[1].text) == ("fr", "Café froid.")


def test_labels_of_a_data_set_have_their_names():
    sentiment = {"label": {"names": ["negative", "positive"], "_type": "ClassLabel"}}
    corpus = load_corpus(DataSet(sentiment, text=["a", "b", "c"], label=[1, 0, -1]))
    assert [text.label for text in corpus.texts] == ["positive", "negative"]
    numbers = load_corpus(pd.DataFrame({"text": ["a", "b"], "label": [1, 0]}))
    assert [text.label for text in numbers.texts] == ["1", "0"]


def test_entities_of_a_data_set():
    tags = {"ner_tags": {"feature": {"names": ["O", "B-PER"], "_type": "ClassLabel"}, "_type": "List"}}
    corpus = load_corpus(DataSet(tags, tokens=[["Anna", "dort"]], ner_tags=[[1, 0]]))
    assert corpus.sentences[0].entities == ("B-PER", "O")


def test_texts_to_predict_need_no_labels():
    assert [text.label for text in load_corpus(pd.DataFrame({"text": ["a", "b"]})).texts] == [None, None]
    assert load_corpus(["one text", "another"])[1].segments == ("another",)
    assert load_corpus([("He left.", "He stayed.")], format=TSV)[0].segments == ("He left.", "He stayed.")


def test_lists_of_words_are_sentences():
    corpus = load_corpus([["Le", "chat"], ("dort",)], language="fr")
    assert [sentence.words for sentence in corpus.sentences] == [("Le", "chat"), ("dort",)]
    assert corpus.name == f"data-{corpus.digest[:8]}"


@pytest.mark.parametrize("make", [lambda: [["Un"], ["Le", "chat", "dort"]], lambda: [Text(("Le", "chat", "dort"))]])
def test_a_text_is_one_string_and_a_pair_two(make):
    with pytest.raises(DataError, match=r"3 strings where a text is one, .*write each text as one string: \['Un bon"):
        load_corpus(make(), format=TSV)


def test_an_error_about_words_of_a_text_names_the_item():
    with pytest.raises(DataError, match=r"^data:2: 3 strings"):
        load_corpus([["Un"], ["Le", "chat", "dort"]], format=TSV)


def test_one_corpus_or_several(treebanks):
    names = ["ud/en_pud:test", "ud/fr_pud:test"]
    assert [corpus.name for corpus in load_corpora("ud/*_pud", data=treebanks)] == names
    assert [corpus.name for corpus in load_corpora(["ud/en_pud", "ud/*_pud"], data=treebanks)] == names
    french = load_corpus("ud/fr_pud", data=treebanks)
    assert load_corpora(french) == [french]
    frame = pd.DataFrame(COLUMNS)
    assert load_corpora(frame)[0].items == load_corpora([frame, french])[0].items
    assert load_corpora([frame, french])[1] is french


def test_files_with_their_languages_are_several_corpora(treebanks):
    (file,) = treebanks.glob("ud/*/fr_pud-ud-test.conllu")
    corpora = load_corpora({"wo": file, "fr": "ud/fr_pud"}, data=treebanks)
    assert [(corpus.language, corpus.name) for corpus in corpora] == [("wo", str(file)), ("fr", "ud/fr_pud:test")]


def test_a_language_for_what_has_none(treebanks):
    (file,) = treebanks.glob("ud/*/fr_pud-ud-test.conllu")
    assert load_corpus(file, language="wo").language == "wo"
    with pytest.raises(RequestError, match="ud/fr_pud has a language of its own"):
        load_corpus("ud/fr_pud", language="wo", data=treebanks)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (7, "a int is not a corpus"),
        ([], "contains no sentences"),
        ([["Le", 7]], "item 1 is a list, not a text or words"),
        (["a", []], "item 2 is empty"),
        ({"text": ["a"], "label": ["x", "y"]}, "columns differ in length: text 1, label 2"),
        ({"text": ["a", None], "label": ["x", "y"]}, "data:2: empty text"),
        (pd.DataFrame({"text": ["a", "b"], "label": ["x", float("nan")]}), "data:2: empty label"),
        (pd.DataFrame({"text": ["a", "b"], "label": pd.array(["x", pd.NA], "string")}), "data:2: empty label"),
        (pa.table({"text": ["a", None], "label": ["x", "y"]}), "data:2: empty text"),
        (pa.table({"text": ["a", "b"], "label": ["x", None]}), "data:2: empty label"),
        ([{"text": "a", "label": "x"}], r"item 1 is a dict, not a text or words .*a table, such as pandas.DataFrame"),
        (pd.DataFrame({"tokens": [["a"]], "upos": [["NOUN"]]}), "but tokens, upos .*parts of speech and trees"),
        ({"title": ["a"]}, "has neither entities, topics nor pairs, but title"),
    ],
)
def test_what_is_no_corpus(data, message):
    with pytest.raises(DataError, match=message):
        corpus_of(data)
