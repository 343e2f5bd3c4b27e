"""Evaluation: which words are scored, and what the records say."""

import dataclasses

import pytest

from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Sentence, Text
from crosslens.errors import DataError, EncoderError, RequestError
from crosslens.tasks.parsing import Parsing
from crosslens.training.checkpoint import save_model
from crosslens.training.evaluate import evaluate, evaluate_variants
from crosslens.training.finetune import finetune
from crosslens.training.intervene import intervene
from crosslens.training.predict import predict
from toy_trainings import FAST
from toys import loaded_with, metaspace


def test_scored_words_are_all_words_and_unseen_labels_are_errors(tagger, toy):
    gold = toy("test")
    strange = dataclasses.replace(gold[0], upos=("SYM",) * len(gold[0]))
    corpus = dataclasses.replace(gold, items=(strange, *gold.items[1:]))
    record = evaluate(tagger, [corpus]).records.to_pylist()[0]
    assert record["n"] == corpus.words
    import json

    tags = json.loads(record["tags"])
    assert tags["unknown_gold"] == len(strange)
    assert record["signature"].startswith("accuracy|task:pos|words:all|data:")
    assert record["corpus_digest"] == corpus.digest
    assert record["value"] <= 100 * (1 - len(strange) / corpus.words)
    assert record["low"] <= record["value"] <= record["high"]
    assert (record["source"], record["target"], record["ablation"], record["seed"]) == ("en", "en", None, 1)


def test_records_count_what_was_read_otherwise_than_it_is_written(tagger, toy):
    """Two words without subwords in one sentence of many windows, and none that is cut."""
    long = Sentence(("\u200b", "\u0007", *("the",) * 500), ("NOUN",) * 502)
    corpus = dataclasses.replace(toy("test"), items=(*toy("test").items, long))
    (tags,) = evaluate(tagger, corpus).tags()
    names = ("sentences", "unknown_words", "cut_words", "split_sentences")
    assert [tags[name] for name in names] == [len(toy("test")) + 1, 2, 0, 1]


@pytest.mark.parametrize("task", ["pos", "document"])
def test_records_count_the_subwords_that_the_encoder_does_not_know(tmp_path, task):
    """Each subword once, whatever the windows; a lone mark of the beginning of a word is none."""
    encoder = loaded_with(metaspace(), tmp_path)
    words = ("the", "日", "dog", "本") * 30
    assert [encoder.tokenizer.tokenize(word) for word in words[1:3]] == [["▁", "日"], ["▁", "d", "o", "g"]]
    train = {
        "pos": Corpus((Sentence(words, ("NOUN",) * len(words)),), "train", "en"),
        "document": Corpus((Text((" ".join(words[:12]),), "a"), Text(("the dog",), "b")), "train", "en"),
    }[task]
    recipe = FAST.model_copy(update={"epochs": 1, "window": 16 if task == "pos" else None})  # a longer text is cut
    (tags,) = evaluate(finetune(encoder, task, train=train, recipe=recipe), train).tags()[:1]
    counts = {"pos": (180, 60), "document": (3 * 6 + 4, 6)}
    assert (tags["subwords"], tags["unknown_subwords"]) == counts[task]


def test_records_name_the_release_of_a_corpus_that_has_one(tagger, toy):
    plain, released = toy("test"), dataclasses.replace(toy("test"), release="2.99")
    assert [tags.get("release") for tags in evaluate(tagger, [plain, released]).tags()] == [None, "2.99"]


def test_counts_per_sentence_are_those_of_the_words_that_are_scored(encoder, toy):
    """A paper's setting leaves out words: each record finds its counts by the corpus that is left."""
    count = encoder.capacity + 1
    long = Sentence(("the",) * count, heads=tuple(range(count)), relations=("root", *["dep"] * (count - 1)))
    task = Parsing(arc_size=8, relation_size=8, words="wu2019")
    model = finetune(encoder, task, train=toy(), recipe=FAST.model_copy(update={"epochs": 1}))
    results = evaluate(model, dataclasses.replace(toy("test"), items=(long, *toy("test").items)))
    for record in results:
        right, words = results.counts[record.run, record.condition, record.corpus_digest, record.metric]
        assert words[0] < count
        assert "words:wu2019" in record.signature
        assert (words.sum(), 100 * right.sum() / words.sum()) == (record.n, pytest.approx(record.value))


def test_dev_data_of_another_language_are_called_an_oracle(encoder, toy):
    recipe = FAST.model_copy(update={"select": "best", "epochs": 1})
    french = dataclasses.replace(toy("dev"), language="fr")
    model = finetune(encoder, "pos", train=toy(), dev=french, recipe=recipe)
    results = evaluate(model, [toy("test")])
    assert results.records["selection"].to_pylist() == [f"oracle {french.name}"]
    usual = finetune(encoder, "pos", train=toy(), dev=toy("dev"), recipe=recipe)
    assert usual.facts["selection"] == "best"


@pytest.fixture
def data(monkeypatch, treebanks):
    monkeypatch.setenv("CROSSLENS_DATA", str(treebanks))


def test_a_name_a_corpus_and_several_give_the_same_records(tagger, toy, data):
    by_name = evaluate(tagger, "ud/en_toy")
    assert by_name.records.equals(evaluate(tagger, [toy("test")]).records)
    assert by_name.records.equals(evaluate(tagger, toy("test")).records)
    assert evaluate(tagger, "ud/*_pud").records["target"].to_pylist() == ["en", "fr"]


def test_the_folder_of_a_model_is_a_model(tagger, toy, data, tmp_path):
    save_model(tagger, tmp_path / "run" / "model")
    folder = tmp_path / "run" / "model"
    assert evaluate(folder, "ud/en_toy").records.equals(evaluate(tagger, "ud/en_toy").records)
    assert predict(str(folder), "ud/en_toy").items == predict(tagger, toy("test")).items
    with pytest.raises(EncoderError, match=r"has no crosslens.json.*did you mean .*run/model\?"):
        predict(tmp_path / "run", "ud/en_toy")


def test_the_name_of_a_recipe_and_the_dev_split_of_a_named_treebank(encoder, toy, data):
    by_name = finetune(encoder, "pos", train="ud/en_toy[:4]", recipe="small")
    assert (by_name.recipe.name, by_name.recipe.epochs) == ("small", 2)
    best = FAST.model_copy(update={"select": "best", "epochs": 1})
    assert finetune(encoder, "pos", train="ud/en_toy[:4]", recipe=best).facts["dev"] == "ud/en_toy:dev"
    with pytest.raises(RequestError, match=r"there is no recipe 'smal' for pos.*did you mean 'small'"):
        finetune(encoder, "pos", train=toy(), recipe="smal")


def test_every_corpus_is_checked_before_anything_is_predicted(tagger, toy):
    bare = dataclasses.replace(toy("test"), items=(Sentence(("a", "b")),))
    seen = []
    with pytest.raises(DataError, match="has no UPOS tags"):
        evaluate(tagger, [toy("test"), bare], predicted=lambda gold, predicted: seen.append(gold))
    assert seen == []


def test_models_under_several_interventions_have_the_records_that_each_has_alone(tagger, toy):
    models = [tagger, intervene(tagger, "4.output:zero"), intervene(tagger, "2:mean")]
    together = evaluate_variants(models, [toy("test"), toy("dev")])
    alone = [evaluate(model, [toy("test"), toy("dev")]) for model in models]
    assert len({results[0].condition for results in alone}) == 3
    for results, expected in zip(together, alone, strict=True):
        assert results.records.equals(expected.records)
        assert results.counts.keys() == expected.counts.keys()
        for key, counts in results.counts.items():
            assert (counts == expected.counts[key]).all()
