"""Probing every layer: what is trained on, what is scored, and what is left out."""

import json
from dataclasses import replace

import numpy as np
import pytest

from crosslens.digests import stream_seed
from crosslens.encoders.represent import represent, represent_words
from crosslens.errors import DataError, RequestError
from crosslens.probes import find_probe, probing, softmax, splits
from crosslens.probes.probing import probe
from crosslens.probes.softmax import Fit
from crosslens.probes.splits import HELD_OUT, held_out_texts
from made_corpora import but, sentences, texts


def test_what_the_words_say_is_found_in_every_layer_and_shuffled_answers_are_not(asked, encoder):
    train, test = texts(20, seed=1), texts(20, seed=2)
    if asked.unit == "word":
        train, test = sentences(200, seed=1), sentences(10, seed=2)
    found = probe(encoder, asked, train=train, test=test)
    frame = found.results.to_pandas()
    overall = frame[frame["target"].isna()].pivot(index="layer", columns="metric", values="value")
    assert list(overall.index) == list(range(encoder.depth + 1))
    assert overall["accuracy"].min() > 95
    assert overall["accuracy_shuffled"].max() < 60  # chance is 33
    recalls = frame[frame["metric"] == "recall"]
    for layer, its in recalls.groupby("layer"):
        assert its["value"].mean() == pytest.approx(overall["accuracy"][layer])  # as many of each answer
    assert found.confusion.shape == (encoder.depth + 1, 3, 3)
    assert (found.confusion.sum((1, 2)) == 60).all()  # 20 texts of each answer, or 10 sentences of 6 words
    counts = np.zeros_like(found.confusion)
    for row in found.confusion_rows():
        assert row["count"] > 0
        counts[row["layer"], found.answers.index(row["answer"]), found.answers.index(row["given"])] += row["count"]
    np.testing.assert_array_equal(counts, found.confusion)
    right = np.trace(found.confusion, axis1=1, axis2=2)
    np.testing.assert_allclose(100 * right / 60, overall["accuracy"])
    tags = json.loads(frame["tags"][0])
    assert tags["classes"] == 3
    assert frame["signature"].str.contains("texts:all|words:all").all()
    assert (frame.dropna(subset=["low"])["low"] <= frame.dropna(subset=["low"])["value"] + 1e-9).all()


def test_what_is_held_out_is_not_trained_on_and_the_control_is_the_same_with_shuffled_answers(asked, encoder, fitted):
    make = sentences if asked.unit == "word" else texts
    train, test = make(20, seed=1), make(6, seed=2)
    probe(encoder, asked, train=train, test=test, how=Fit(inputs="raw"))
    real, control = fitted
    units = train.words if asked.unit == "word" else len(train)
    held = 2 * 6 if asked.unit == "word" else 2 * 3  # two sentences, or two texts of each answer
    for call in fitted:
        (vectors, answers), (dev, right) = call["train"], call["dev"]
        assert (vectors.shape[1], len(answers), dev.shape[1], len(right)) == (units - held, units - held, held, held)
    for split in ("train", "dev"):
        assert np.array_equal(real[split][0], control[split][0])
        assert sorted(real[split][1]) == sorted(control[split][1])
    assert (real["train"][1] == control["train"][1]).mean() < 0.6  # a third by chance
    # Both parts together are all items, each once.
    states = (
        represent_words(encoder, train)
        if asked.unit == "word"
        else represent(encoder, asked.cut(train), pooling=asked.pooling).vectors
    )
    for layer in (0, encoder.depth):
        parts = [row.tobytes() for split in ("train", "dev") for row in real[split][0][layer]]
        assert sorted(parts) == sorted(row.tobytes() for row in states[layer])


def test_what_a_probe_draws_it_draws_from_streams_of_its_own(encoder, monkeypatch):
    paths = []
    for module in (probing, softmax, splits):
        monkeypatch.setattr(module, "stream_seed", lambda *path: paths.append(path) or stream_seed(*path))
    for name, make in (("langid", texts), ("upos", sentences)):
        paths.clear()
        probe(encoder, name, train=make(6, seed=1), test=make(3, seed=2), how=Fit(epochs=1), seed=5)
        fitted = (5, "probe")  # the control's training has the same order
        assert paths == [(5, "probe-held-out"), fitted, (5, "probe-control"), fitted]


def test_rows_of_the_confusion_are_right_answers_and_columns_given_ones(encoder, fitted):
    """The linear layers of this test give the first answer whatever they read."""
    test = texts(5, seed=2)
    found = probe(encoder, "langid", train=texts(6, seed=1), test=replace(test, items=test.items[:8]))
    assert found.answers == ("aa", "bb", "cc")
    assert found.confusion.tolist() == [[[3, 0, 0], [3, 0, 0], [2, 0, 0]]] * (encoder.depth + 1)
    assert {(row["answer"], row["given"], row["count"]) for row in found.confusion_rows()} == {
        ("aa", "aa", 3),
        ("bb", "aa", 3),
        ("cc", "aa", 2),
    }


def test_features_are_scaled_by_the_training_items_alone(encoder, fitted):
    train, dev = texts(6, seed=1), texts(6, seed=3)
    for test in (texts(6, seed=2), but(texts(6, seed=2), 0, segments=("zzz " * 20,))):
        probe(encoder, "langid", train=train, test=test, dev=dev)
    first, _, second, _ = fitted
    rows = first["train"][0]
    assert np.abs(rows.mean(1)).max() < 1e-4
    assert np.allclose(rows.std(1), 1, atol=1e-3)
    assert np.abs(first["dev"][0].mean(1)).max() > 0.01
    for split in ("train", "dev"):
        assert np.array_equal(first[split][0], second[split][0])
    fitted.clear()
    probe(encoder, "langid", train=train, test=texts(2, seed=2), dev=dev, how=Fit(inputs="raw"))
    assert np.array_equal(fitted[0]["train"][0], represent(encoder, train, pooling="mean").vectors)


def test_a_guess_does_not_hang_on_the_other_test_items(encoder):
    train, test = texts(6, seed=1), texts(4, seed=2)
    found = [
        probe(encoder, "langid", train=train, test=part, how=Fit(epochs=2)).confusion
        for part in (test, test[:5], test[5:])
    ]
    assert found[0].sum() == len(test) * (encoder.depth + 1)
    assert np.array_equal(found[0], found[1] + found[2])


def test_words_are_counted_sentence_by_sentence(encoder):
    train, test = sentences(12, seed=1), sentences(6, seed=2)
    found = probe(encoder, "upos", train=train, test=test, how=Fit(epochs=2))
    frame = found.results.filter(metric="accuracy").to_pandas()
    assert set(frame["n"]) == {test.words}
    assert set(found.results.filter(metric="train_accuracy_shuffled").to_pandas()["n"]) == {train.words - 6}
    assert frame["signature"].str.contains("words:all").all()
    assert set(frame["settings"]) == {"inputs=scaled epochs=2"}


def test_training_sentences_are_no_test_sentences_and_unseen_tags_are_errors(encoder):
    train, test = sentences(12, seed=1), sentences(6, seed=2)
    odd = replace(test[0], upos=("XX", *test[0].upos[1:]))
    mixed = replace(test, items=(odd, *train.items[:2], *test.items[1:]))
    found = probe(encoder, "upos", train=train, test=mixed, how=Fit(epochs=2))
    frame = found.results.to_pandas()
    assert set(frame[frame["metric"] == "accuracy"]["n"]) == {test.words}
    tags = json.loads(frame["tags"][0])
    assert tags["shared_sentences"] == 2
    assert set(frame["corpus_digest"]) == {mixed.digest}
    assert set(frame[(frame["metric"] == "recall") & (frame["target"] == "XX")]["value"]) == {0.0}
    with pytest.raises(RequestError, match="12 of the 12 items of toy1 are also in toy1"):
        probe(encoder, "upos", train=train, test=train)
    with pytest.raises(DataError, match="running text"):
        probe(encoder, "upos", train=texts(4, seed=1), test=texts(4, seed=2))


def test_dev_items_of_training_or_test_data_are_left_out(encoder):
    for name, make in (("upos", sentences), ("langid", texts)):
        train, test, dev = make(12, seed=1), make(6, seed=2), make(6, seed=3)
        mixed = replace(dev, items=(*train.items[:2], *dev.items, *test.items[:3]))
        frames = [
            probe(encoder, name, train=train, test=test, dev=each, how=Fit(epochs=3)).results.to_pandas()
            for each in (dev, mixed)
        ]
        assert json.loads(frames[1]["tags"][0])["shared_dev"] == 5
        assert "shared_dev" not in json.loads(frames[0]["tags"][0])
        assert frames[0].drop(columns="tags").equals(frames[1].drop(columns="tags"))
        with pytest.raises(RequestError, match=r"all 6 items of toy1 are also in toy1 or toy2|all 18 items of toy1"):
            probe(encoder, name, train=train, test=test, dev=train[:6] if name == "upos" else train[:18])


def test_texts_that_are_equal_in_what_is_read_are_left_out(encoder):
    class FirstWords(type(find_probe("langid"))):
        def cut(self, corpus):
            return replace(corpus, items=tuple(replace(t, segments=(t.text.split(" | ")[0],)) for t in corpus.texts))

    def ending(corpus, word):
        return [replace(text, segments=(f"{text.text} | {word}",)) for text in corpus.texts]

    train, test = texts(12, seed=1), texts(6, seed=2)
    longer = replace(train, items=tuple(ending(train, "one")))
    mixed = replace(test, items=(*ending(train[:3], "two"), *ending(test, "three")))
    frame = probe(encoder, FirstWords(), train=longer, test=mixed, how=Fit(epochs=2)).results.to_pandas()
    assert set(frame[frame["metric"] == "accuracy"]["n"]) == {len(test)}
    assert json.loads(frame["tags"][0])["shared_sentences"] == 3
    assert frame["signature"].str.contains("texts:unseen-texts").any()


def test_the_same_seed_gives_the_same_bits(encoder):
    one, two, other = (
        probe(encoder, "langid", train=texts(6, seed=1), test=texts(6, seed=2), seed=seed).results.to_pandas()
        for seed in (1, 1, 2)
    )
    assert one.equals(two)
    assert not one.equals(other)


def test_progress_is_never_more_than_there_is(encoder):
    updates = []
    train, test = texts(6, seed=1), texts(6, seed=2)
    probe(encoder, "langid", train=train, test=test, how=Fit(epochs=3), progress=updates.append)
    seen = [(update.stage, update.done, update.total) for update in updates]
    for corpus in (train, test):  # short texts: a window each
        read = [(done, total) for stage, done, total in seen if stage == f"reading {corpus.name}"]
        assert read[0] == (0, len(corpus))
        assert read[-1] == (len(corpus), len(corpus))
    learning = [("training the probe", epoch, 3) for epoch in (1, 2, 3)]
    assert [update for update in seen if update[0] == "training the probe"] == learning
    assert seen[-1][0] == "training the control on shuffled answers"
    assert all(0 <= done <= total for _, done, total in seen)


def test_dev_data_may_be_given(encoder):
    found = probe(encoder, "langid", train=texts(6, seed=1), test=texts(6, seed=2), dev=texts(6, seed=3))
    trained = found.results.filter(metric="train_accuracy_shuffled").to_pandas()
    assert set(trained["n"]) == {18}


@pytest.mark.parametrize(
    ("train", "test", "error", "message"),
    [
        (
            texts(4, seed=1),
            but(texts(4, seed=2), 3, label="xx"),
            DataError,
            "file.tsv:4: the label 'xx' does not occur",
        ),
        (
            but(texts(4, seed=1), 3, label="xx"),
            texts(4, seed=2),
            DataError,
            "file.tsv:4: the label 'xx' occurs only once",
        ),
        (but(texts(4, seed=1), 3, label=None), texts(4, seed=2), DataError, "file.tsv:4: has no label"),
        (texts(4, seed=1), texts(4, seed=1), RequestError, "12 of the 12 items of toy1 are also in toy1"),
        (
            texts(4, seed=1, answers={"aa": "cat"}),
            texts(4, seed=2),
            RequestError,
            "every item of toy1 has the label 'aa'",
        ),
    ],
)
def test_what_cannot_be_probed_is_refused(encoder, train, test, error, message):
    with pytest.raises(error, match=message):
        probe(encoder, "langid", train=train, test=test)


def test_a_rare_label_is_held_out_once_and_a_frequent_one_in_proportion():
    answers = np.array([0] * 2 + [1] * 40)
    for seed in range(5):
        held = held_out_texts(answers, seed)
        assert (held[answers == 0].sum(), held[answers == 1].sum()) == (1, 40 // HELD_OUT)


def test_shared_texts_are_counted_in_the_test_data(encoder):
    train, test = texts(4, seed=1), texts(4, seed=2)
    twice = replace(train, items=(*train.items, test[0], test[0]))
    with pytest.raises(RequestError, match="1 of the 12 items of toy2 are also in toy1"):
        probe(encoder, "langid", train=twice, test=test)


def test_a_label_may_occur_twice(encoder, fitted):
    train = texts(4, seed=1)
    rare = [text for text in train.texts if text.label != "cc"] + [text for text in train.texts if text.label == "cc"][
        :2
    ]
    probed = probe(encoder, "langid", train=replace(train, items=tuple(rare)), test=texts(2, seed=2))
    assert probed.answers == ("aa", "bb", "cc")


def test_a_feature_that_is_the_same_for_all_training_items_is_left_as_it_is(encoder, fitted, monkeypatch):
    read = probing.represent

    def with_a_constant(*args, **options):
        states = read(*args, **options)
        vectors = states.vectors.copy()
        vectors[:, :, 0] = 3.0
        return replace(states, vectors=vectors)

    monkeypatch.setattr(probing, "represent", with_a_constant)
    probe(encoder, "langid", train=texts(6, seed=1), test=texts(2, seed=2))
    scaled, _ = fitted[0]["train"]
    assert not scaled[:, :, 0].any()
    assert np.isfinite(scaled).all()


def test_records_are_of_the_test_data_and_in_the_order_of_layers(encoder, fitted):
    train, test = replace(texts(4, seed=1), split="train"), replace(texts(2, seed=2), split="dev")
    frame = probe(encoder, "langid", train=train, test=test).results.to_pandas()
    assert set(frame["split"]) == {"dev"}
    layers = frame["layer"].tolist()
    assert layers == sorted(layers)
    assert layers.count(0) == layers.count(encoder.depth) == 6  # three accuracies, and the recall of three labels


def test_an_item_is_the_same_under_another_id_at_another_place(encoder):
    for name, make in (("upos", sentences), ("langid", texts)):
        train, test = make(12, seed=1), make(6, seed=2)
        twin = replace(train[0], id="another", where=None)
        mixed = replace(test, items=(twin, *test.items))
        if name == "langid":
            with pytest.raises(RequestError, match="1 of the 19 items of toy2 are also in toy1"):
                probe(encoder, name, train=train, test=mixed)
        else:
            results = probe(encoder, name, train=train, test=mixed, how=Fit(epochs=1)).results
            assert results.tags()[0]["shared_sentences"] == 1
