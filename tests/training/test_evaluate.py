"""Evaluation: which words are scored, and what the records say."""

import dataclasses

from crosslens.training.evaluate import evaluate
from crosslens.training.finetune import finetune
from toy_trainings import FAST


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


def test_dev_data_of_another_language_are_called_an_oracle(encoder, toy):
    recipe = FAST.model_copy(update={"select": "best", "epochs": 1})
    french = dataclasses.replace(toy("dev"), language="fr")
    model = finetune(encoder, "pos", train=toy(), dev=french, recipe=recipe)
    results = evaluate(model, [toy("test")])
    assert results.records["selection"].to_pylist() == [f"oracle {french.name}"]
    usual = finetune(encoder, "pos", train=toy(), dev=toy("dev"), recipe=recipe)
    assert usual.facts["selection"] == "best"
