"""The parser's settings of Wu and Dredze (2019): gold tags, and at most 140 words."""

from dataclasses import replace

import pytest
from tokenizers import processors

from crosslens.data.corpus import Corpus
from crosslens.data.formats import conllu
from crosslens.data.sentence import Sentence
from crosslens.encoders.encoder import Encoder
from crosslens.encoders.inputs import read_windows
from crosslens.encoders.interventions.read_as import read_as
from crosslens.errors import DataError
from crosslens.tasks.parsing import Parsing
from crosslens.training.checkpoint import load_model, save_model
from crosslens.training.evaluate import evaluate
from crosslens.training.finetune import finetune
from crosslens.training.predict import predict
from crosslens.training.recipe import Recipe
from toys import word_piece


def parser(encoder, corpus, **settings):
    recipe = Recipe(batch=4, learning_rate=5e-3, epochs=8, select="last", encoder_dropout="off", head_dropout=0.0)
    return finetune(encoder, Parsing(arc_size=20, relation_size=10, **settings), train=corpus, recipe=recipe)


def test_gold_tags_are_read(encoder, toy, tmp_path):
    corpus = toy()
    model = parser(encoder, corpus, tags="gold", tag_size=8)
    before = predict(model, corpus)
    assert model.head.tags.weight.shape == (18, 8)
    other = replace(corpus, items=tuple(replace(s, upos=s.upos[::-1], lines=None) for s in corpus.sentences))
    assert [s.heads for s in predict(model, other).sentences] != [s.heads for s in before.sentences]
    assert [s.upos for s in before.sentences] == [s.upos for s in corpus.sentences]
    save_model(model, tmp_path / "model")
    assert predict(load_model(tmp_path / "model", device="cpu"), corpus) == before
    blind = parser(encoder, corpus)
    before, after = predict(blind, corpus), predict(blind, other)
    assert [s.heads for s in before.sentences] == [s.heads for s in after.sentences]


def test_each_word_has_its_own_tag_whatever_it_is_batched_with(encoder, toy):
    corpus = toy()
    model = parser(encoder, corpus, tags="gold", tag_size=8)
    together = predict(model, corpus).sentences
    for place, sentence in enumerate(corpus.sentences):
        alone = predict(model, replace(corpus, items=(sentence,))).sentences[0]
        assert alone.heads == together[place].heads


def test_a_tag_that_is_none_of_upos_is_refused_with_its_line(toy):
    task = Parsing(tags="gold")
    first = toy().sentences[0]
    old = replace(first, upos=("CONJ", *first.upos[1:]))
    with pytest.raises(DataError, match=r"en_toy-ud-train.conllu:1: the tag 'CONJ' is none of UPOS.*CCONJ"):
        task.check(replace(toy(), items=(old,)))
    with pytest.raises(DataError, match="has no UPOS tags"):
        task.check(replace(toy(), items=(replace(first, upos=None),)))
    second = toy().sentences[1]
    assert second.where.line > 1
    with pytest.raises(DataError, match=rf"en_toy-ud-train.conllu:{second.where.line}: the tag 'CONJ'"):
        task.check(replace(toy(), items=(first, replace(second, upos=("CONJ", *second.upos[1:])))))
    untagged = replace(first, upos=("_", *first.upos[1:]))
    with pytest.raises(DataError, match="the tag '_' is none of UPOS"):
        task.check(replace(toy(), items=(untagged,)))
    Parsing().check(replace(toy(), items=(old,)))  # who does not read tags does not mind


def long_sentence(one, times):
    heads = [head + len(one) * turn if head else 0 for turn in range(times) for head in one.heads]
    root = one.heads.index(0) + 1
    heads = [head if head or place < len(one) else root for place, head in enumerate(heads)]
    many = {name: getattr(one, name) * times for name in ("words", "upos", "relations")}
    return replace(one, heads=tuple(heads), lines=None, **many)


def test_at_most_140_words_are_scored_where_that_is_asked_for(encoder, toy, monkeypatch):
    one = toy().sentences[0]
    long = replace(toy(), items=(long_sentence(one, 30), one))
    fits = Parsing(words="wu2019").cut(encoder, long)
    # 62 subwords fit this encoder, which has positions for 64; and 140 words where there is more room.
    assert len(fits[0]) < 62 < len(long[0])
    assert fits[1] == long[1]
    with monkeypatch.context() as roomy:
        roomy.setattr(Encoder, "capacity", 10_000)
        assert len(Parsing(words="wu2019").cut(encoder, long)[0]) == 140
    assert Parsing().cut(encoder, long) is long
    model = parser(encoder, toy(), words="wu2019")
    records = evaluate(model, [long]).filter(metric="las").to_pandas()
    assert records["n"][0] == len(fits[0]) + len(one)


def test_a_sentence_that_was_cut_is_written_without_the_words_that_were_cut_off(encoder, toy, tmp_path, monkeypatch):
    monkeypatch.setattr(Encoder, "capacity", 8)
    cut = Parsing(words="wu2019").cut(encoder, toy())
    assert cut.words < toy().words
    conllu.write(cut, tmp_path / "cut.conllu")
    rows = [line.split("\t") for line in (tmp_path / "cut.conllu").read_text("utf-8").splitlines() if "\t" in line]
    assert [row[1] for row in rows] == [word for sentence in cut.sentences for word in sentence.words]


def test_a_head_that_was_cut_off_is_an_error():
    sentence = Sentence(("a", "b", "c"), heads=(3, 3, 0), relations=("x", "y", "root"))
    task = Parsing(words="wu2019")
    gold = Corpus((replace(sentence, words=("a", "b"), heads=(3, 3), relations=("x", "y")),), "cut")
    best = replace(gold, items=(replace(gold.sentences[0], heads=(2, 0)),))
    assert {score.metric: score.value for score in task.score(gold, best)} == {"las": 0.0, "uas": 0.0}


@pytest.mark.parametrize("capacity", range(6, 24))
def test_the_words_that_are_scored_are_the_most_that_fit_into_one_window(encoder, toy, capacity, monkeypatch):
    monkeypatch.setattr(Encoder, "capacity", capacity)
    cut = Parsing(words="wu2019").cut(encoder, toy())
    shorter = 0
    for whole, kept in zip(toy().sentences, cut.sentences, strict=True):
        pieces = [len(encoder.tokenizer.tokenize(word)) for word in whole.words]
        assert sum(pieces[: len(kept)]) <= capacity - 2
        assert kept.words == whole.words[: len(kept)]
        if len(kept) < len(whole):
            assert sum(pieces[: len(kept) + 1]) > capacity - 2
            shorter += 1
    assert shorter or capacity > 8


@pytest.mark.parametrize("repeat", [1, 2])
@pytest.mark.parametrize("template", ["$A [SEP]", "[CLS] $A [SEP]", "[CLS] [CLS] $A [SEP]"])
def test_the_words_that_are_scored_fill_one_window_however_it_is_read(encoder, toy, template, repeat, monkeypatch):
    """Whatever special tokens stand around a sentence, and however often it is repeated."""
    monkeypatch.setattr(Encoder, "capacity", 18)
    tokenizer = word_piece()
    specials = [(token, tokenizer.convert_tokens_to_ids(token)) for token in ("[CLS]", "[SEP]")]
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(single=template, special_tokens=specials)
    reader = read_as(replace(encoder, tokenizer=tokenizer), repeat=repeat)
    cut = Parsing(words="wu2019").cut(reader, toy())
    assert read_windows(reader, cut).split == 0
    shortened = [
        Sentence(whole.words[: len(kept) + 1])
        for whole, kept in zip(toy().sentences, cut.sentences, strict=True)
        if len(kept) < len(whole)
    ]
    assert shortened
    assert read_windows(reader, Corpus(tuple(shortened), "one word more", "en")).split == len(shortened)
