"""Document classification and natural language inference."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import BertForSequenceClassification

from crosslens.corpora.catalogue import load_corpus, match_corpora
from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Text, Where
from crosslens.data.windows import by_sentence
from crosslens.encoders.batch import make_batch
from crosslens.encoders.inputs import read_texts
from crosslens.errors import DataError
from crosslens.tasks import find_task
from crosslens.training.evaluate import evaluate
from crosslens.training.finetune import finetune
from crosslens.training.recipe import Recipe

NLI, DOCUMENT = find_task("nli"), find_task("document")


def corpus(*items):
    where = [Where("file.tsv", line) for line in range(1, len(items) + 1)]
    return Corpus(tuple(replace(item, where=at) for item, at in zip(items, where, strict=True)), "toy", "en")


def test_pairs_are_what_the_tokenizer_makes_of_them(encoder, toy):
    windows = read_texts(encoder, toy(task="nli")).windows
    for window, text in zip(windows, toy(task="nli").texts, strict=True):
        plain = encoder.tokenizer(*text.segments, return_token_type_ids=True)
        assert window.ids.tolist() == plain["input_ids"]
        assert window.segments.tolist() == plain["token_type_ids"]
        assert (window.ids == encoder.tokenizer.sep_token_id).sum() == 2
        assert window.ids[window.labelled[0]] == encoder.tokenizer.cls_token_id


def test_states_of_pairs_are_those_of_plain_transformers(encoder, toy):
    windows = read_texts(encoder, toy(task="nli")).windows
    batch = make_batch(windows, padding=encoder.padding, device=encoder.device)
    plain = BertForSequenceClassification(encoder.model.config).bert
    plain.load_state_dict(encoder.model.state_dict(), strict=False)
    texts = toy(task="nli").texts
    encoded = encoder.tokenizer(
        [t.segments[0] for t in texts],
        [t.segments[1] for t in texts],
        padding=True,
        return_tensors="pt",
        return_token_type_ids=True,
    )
    with torch.inference_mode():
        mine = encoder.states(batch.ids, batch.mask, batch.segments)
        its = plain.eval()(**encoded).last_hidden_state
        alike = encoder.states(batch.ids, batch.mask)
    torch.testing.assert_close(mine[:, 0], its[:, 0])
    assert (mine[:, 0] - alike[:, 0]).abs().max() > 1e-3  # the two segments are told apart


def test_what_is_too_long_loses_the_end_of_the_longer_segment(encoder):
    long = corpus(
        Text(("the cat sees", " ".join(["a small dog"] * 40)), "neutral"), Text(("a cat", "a dog"), "neutral")
    )
    reading = read_texts(encoder, long, window=20)
    assert [len(window) for window in reading.windows] == [20, len(encoder.tokenizer("a cat", "a dog")["input_ids"])]
    assert (reading.cut, reading.split) == (1, 0)
    first = encoder.tokenizer("the cat sees", add_special_tokens=False)["input_ids"]
    assert reading.windows[0].ids[1 : 1 + len(first)].tolist() == first


def test_texts_of_one_and_two_segments_are_mixed(encoder):
    mixed = corpus(Text(("a cat",), "x"), Text(("a cat", "a dog"), "y"), Text(("the dog",), "x"))
    windows = read_texts(encoder, mixed).windows
    assert [window.sentence for window in windows] == [0, 1, 2]
    assert [unit[0].sentence for unit in by_sentence(windows)] == [0, 1, 2]
    assert [int(window.segments.max()) for window in windows] == [0, 1, 0]


def test_the_largest_feature_is_over_the_text_alone(encoder, toy):
    task = find_task("document", {"pooling": "max"})
    windows = read_texts(encoder, toy(task="document")).windows
    together = make_batch(windows, padding=encoder.padding, device=encoder.device)
    states = torch.randn(*together.ids.shape, 4) - 5
    states[together.mask == 0] = 100.0
    pooled = task.units(states, together)
    for row, window in enumerate(windows):
        np.testing.assert_array_equal(pooled[row], states[row, : len(window)].max(0).values)


def test_zero_shot_from_the_command_line(run, tiny_bert, tmp_path):
    status, said, errors = run(
        "finetune",
        "nli",
        tiny_bert,
        "--train",
        "xnli/en",
        "--test",
        "xnli/*:test[:5]",
        "--recipe",
        "small",
        "--set",
        "epochs=2",
        "--out",
        tmp_path / "out",
        "--predictions",
        tmp_path / "predicted",
    )
    assert (status, errors) == (0, errors)
    assert "xnli/fr:test[:5]" in said
    kept = load_corpus(next((tmp_path / "predicted").glob("*fr*")))
    assert len(kept) == 5
    status, said, _ = run("score", "nli", "xnli/fr:test[:5]", next((tmp_path / "predicted").glob("*fr*")), "--json")
    assert (status, '"accuracy"' in said) == (0, True)


def test_contradictory_is_contradiction():
    """XNLI's translations of MultiNLI call it so."""
    pairs = corpus(Text(("a", "b"), "contradictory"), Text(("a", "c"), "neutral"), Text(("a", "d"), "entailment"))
    NLI.check(pairs)
    assert NLI.labels(pairs) == ("contradiction", "entailment", "neutral")
    right = replace(pairs, items=tuple(replace(t, label=NLI.gold(t)[0]) for t in pairs.texts))
    assert NLI.score(pairs, right)[0].value == 100.0


@pytest.mark.parametrize(
    ("task", "items", "message"),
    [
        (
            NLI,
            [Text(("a", "b"), "neutral"), Text(("a", "b"), "entails")],
            "file.tsv:2: 'entails' is none of the labels",
        ),
        (NLI, [Text(("a",), "neutral")], "file.tsv:1: toy has single texts, where pairs are needed"),
        (NLI, [Text(("a", "b"), "neutral"), Text(("a",), "neutral")], "file.tsv:2: toy has single texts"),
        (DOCUMENT, [Text(("a",), None)], r"file.tsv:1: has no label .*the columns text and label"),
    ],
)
def test_what_is_no_such_corpus_is_refused_with_its_line(task, items, message):
    with pytest.raises(DataError, match=message):
        task.check(corpus(*items))


def test_one_class_only_is_refused(encoder):
    same = corpus(Text(("a cat",), "sports"), Text(("a dog",), "sports"))
    with pytest.raises(DataError, match=r"file.tsv:1: every text of toy has the label 'sports'"):
        finetune(encoder, "document", train=same, recipe=Recipe(select="last", epochs=1))


def test_a_treebank_is_no_text(encoder, toy):
    with pytest.raises(DataError, match=r"sentences of words, but running text is needed \(give texts"):
        finetune(encoder, "document", train=toy(), recipe=Recipe(select="last", epochs=1))
    with pytest.raises(DataError, match="is running text, but sentences of words are needed"):
        finetune(encoder, "pos", train=toy(task="nli"), recipe=Recipe(select="last", epochs=1))


def test_a_pattern_with_a_slice(treebanks):
    assert match_corpora("xnli/*:dev[:2]", data=treebanks) == ["xnli/en:dev[:2]", "xnli/fr:dev[:2]"]


def test_intervals_are_over_texts(encoder, toy):
    model = finetune(encoder, "document", train=toy(task="document"), recipe=Recipe(select="last", epochs=1))
    record = evaluate(model, [toy("test", task="document")]).to_pandas().iloc[0]
    assert (record.metric, record.n) == ("accuracy", 6)
    assert record.low <= record.value <= record.high
    assert "task:document|texts:all" in record.signature


@pytest.mark.parametrize(("task", "segments"), [(DOCUMENT, 1), (NLI, 2)])
def test_texts_are_truncated_at_the_window_of_the_recipe(encoder, task, segments):
    long = corpus(Text(("the cat sees a dog " * 4,) * segments, "neutral"))
    lengths = [len(task.read(encoder, long, window=window, context=None).windows[0]) for window in (8, 12, None)]
    assert lengths == [8, 12, len(encoder.tokenizer(*long[0].segments)["input_ids"])]


def test_single_texts_are_not_read_as_pairs(encoder):
    """They may lack labels, as what is predicted does."""
    with pytest.raises(DataError, match=r"file.tsv:2: toy has single texts, where pairs are needed"):
        NLI.read(encoder, corpus(Text(("a", "b")), Text(("a",))), window=None, context=None)
