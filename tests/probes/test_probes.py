import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from crosslens.corpora.catalogue import load_corpus
from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Sentence, Text, Where
from crosslens.digests import stream_seed
from crosslens.encoders.represent import represent, represent_words
from crosslens.errors import DataError, RequestError
from crosslens.probes import PROBES, find_probe, probing, softmax
from crosslens.probes.probing import probe
from crosslens.probes.softmax import Fit, fit

LETTERS = {"aa": "cat dog", "bb": "jardin maison", "cc": "zzz qqq"}
LENGTHS = {**LETTERS, "cc": "zzzzzzz qqqqqqq"}


def texts(count, *, seed, answers=LETTERS):
    """Texts of words that only their answer has."""
    generator = np.random.default_rng(seed)
    items = []
    for number in range(count):
        for answer, words in answers.items():
            chosen = generator.choice(words.split(), 6)
            text = " ".join(chosen) + " " + " ".join("abcdefg"[i] for i in generator.integers(7, size=4))
            items.append(Text((text,), answer, f"{number}{answer}", Where("file.tsv", len(items) + 1)))
    return Corpus(tuple(items), f"toy{seed}", None, "test")


def sentences(count, *, seed, answers=LENGTHS):
    """Sentences with two words of every answer, which is the word's tag; its length tells it too."""
    generator = np.random.default_rng(seed)
    items = []
    for number in range(count):
        tagged = [(word, answer) for answer, words in answers.items() for word in generator.choice(words.split(), 2)]
        words, tags = zip(*generator.permutation(tagged).tolist(), strict=True)
        items.append(Sentence(words, upos=tags, id=str(number), where=Where("file.conllu", number + 1)))
    return Corpus(tuple(items), f"toy{seed}", None, "test")


@pytest.fixture(params=[*PROBES.built_in, "length"])
def asked(request, plugins):
    return PROBES[request.param]


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


def test_a_word_has_the_state_of_its_first_subword(encoder, tiny_bert, toy):
    """Against transformers itself, one sentence at a time."""
    corpus = toy("test")
    tokenizer, model = AutoTokenizer.from_pretrained(tiny_bert), AutoModel.from_pretrained(tiny_bert).eval()
    expected = []
    for sentence in corpus.sentences:
        encoded = tokenizer(list(sentence.words), is_split_into_words=True, return_tensors="pt")
        with torch.inference_mode():
            layers = model(**encoded, output_hidden_states=True).hidden_states
        firsts = [encoded.word_ids().index(word) for word in range(len(sentence))]
        expected.append(torch.stack([layer[0, firsts] for layer in layers]).numpy())
    states = represent_words(encoder, corpus)
    assert states.shape == (encoder.depth + 1, corpus.words, encoder.width)
    np.testing.assert_allclose(states, np.concatenate(expected, axis=1), atol=1e-5)


def test_words_of_several_windows_come_once_and_in_their_order(encoder, toy):
    one = toy("test").sentences[0]
    words = one.words * 12
    long = replace(toy("test"), items=(Sentence(words), Sentence(one.words)))
    tags = np.asarray([*words, *one.words])
    states = represent_words(encoder, long)
    assert states.shape[1] == len(tags)
    # At layer 0 without its position a state is the word's own.
    table = encoder.model.embeddings.word_embeddings.weight.detach().numpy()
    first = {word: encoder.tokenizer(word, add_special_tokens=False)["input_ids"][0] for word in set(tags)}
    similarity = states[0] @ np.stack([table[first[word]] for word in sorted(first)]).T
    assert np.isfinite(states).all()
    assert (np.asarray(sorted(first))[similarity.argmax(1)] == tags).mean() > 0.9


@pytest.fixture
def fitted(monkeypatch):
    """What the linear layers were fitted on, call by call; they guess the first answer."""
    calls = []

    def fit_nothing(vectors, answers, dev, dev_answers, *, classes, **more):
        calls.append({"train": (vectors, answers), "dev": (dev, dev_answers)})
        return np.zeros((*vectors.shape[::2], classes), np.float32), np.zeros((len(vectors), 1, classes), np.float32)

    monkeypatch.setattr(probing, "fit", fit_nothing)
    return calls


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
    for module in (probing, softmax):
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


def test_the_first_best_epoch_on_dev_is_kept():
    """Of as many epochs as there are, dev accuracy is the best so far; where it does not rise the weights stay."""
    generator = np.random.default_rng(3)
    vectors, dev = (generator.normal(size=(2, items, 6)).astype(np.float32) for items in (40, 12))
    answers, right = ((rows[0] + rows[1])[:, :3].argmax(1) for rows in (vectors, dev))
    found = [
        fit(vectors, answers, dev, right, classes=3, how=Fit(epochs=epochs, learning_rate=0.02), seed=1)
        for epochs in range(1, 13)
    ]
    best = np.asarray([((dev @ weights + biases).argmax(-1) == right).mean(1) for weights, biases in found])
    rises = np.diff(best, axis=0)
    assert (rises >= 0).all()
    assert (rises > 0).any()
    assert (rises == 0).any()
    for epoch, layer in zip(*np.nonzero(rises == 0), strict=True):
        before, after = found[epoch][0][layer], found[epoch + 1][0][layer]
        assert np.array_equal(before, after)


def test_words_are_counted_sentence_by_sentence(encoder):
    train, test = sentences(12, seed=1), sentences(6, seed=2)
    found = probe(encoder, "upos", train=train, test=test, how=Fit(epochs=2))
    frame = found.results.filter(metric="accuracy").to_pandas()
    assert set(frame["n"]) == {test.words}
    assert set(found.results.filter(metric="train_accuracy_shuffled").to_pandas()["n"]) == {train.words - 6}
    assert frame["signature"].str.contains("words:all").all()
    assert set(frame["settings"]) == {"inputs=scaled"}


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
    assert seen[:2] == [("reading toy1", 0, len(train)), ("reading toy2", 0, len(test))]
    learning = [("training the probe", epoch, 3) for epoch in (1, 2, 3)]
    assert seen[2 : 2 + len(learning)] == learning
    assert seen[-1][0] == "training the control on shuffled answers"
    assert all(0 <= done <= total for _, done, total in seen)


@pytest.mark.rounding
def test_a_layer_learns_the_same_alone_and_among_others():
    generator = np.random.default_rng(0)
    vectors = generator.normal(size=(3, 60, 8)).astype(np.float32)
    dev = generator.normal(size=(3, 20, 8)).astype(np.float32)
    answers, right = generator.integers(4, size=60), generator.integers(4, size=20)
    how = Fit(epochs=15)
    together = fit(vectors, answers, dev, right, classes=4, how=how, seed=1)
    for layer in range(3):
        alone = fit(vectors[[layer]], answers, dev[[layer]], right, classes=4, how=how, seed=1)
        for mine, its in zip(together, alone, strict=True):
            np.testing.assert_allclose(mine[layer], its[0], rtol=1e-4, atol=1e-6)


def test_it_stops_when_the_learning_rate_is_too_small():
    """Halved at every epoch without a rise: what never rises again is done after seven halvings of 1e-3."""
    vectors = np.ones((1, 8, 2), np.float32)
    answers = np.asarray([0, 1] * 4)
    epochs = []
    fit(
        vectors,
        answers,
        vectors,
        answers,
        classes=2,
        how=Fit(),
        seed=1,
        progress=lambda update: epochs.append(update.done),
    )
    assert len(epochs) == 1 + 7  # the first epoch is the best so far; 1e-3 / 2**7 < 1e-5


def test_dev_data_may_be_given(encoder):
    found = probe(encoder, "langid", train=texts(6, seed=1), test=texts(6, seed=2), dev=texts(6, seed=3))
    trained = found.results.filter(metric="train_accuracy_shuffled").to_pandas()
    assert set(trained["n"]) == {18}


def but(corpus, place, **changes):
    return replace(corpus, items=tuple(replace(t, **changes) if i == place else t for i, t in enumerate(corpus.items)))


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
        (but(texts(4, seed=1), 3, label=None), texts(4, seed=2), DataError, "file.tsv:4: toy1 has no label"),
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


def test_names_and_settings():
    with pytest.raises(RequestError, match=r"no probe 'langd'.*did you mean 'langid'"):
        find_probe("langd")
    assert find_probe("langid", {"pooling": "cls"}).pooling == "cls"
    with pytest.raises(RequestError, match="pooling=middle"):
        find_probe("langid", {"pooling": "middle"})


def write(folder, train, test):
    folder.mkdir(parents=True)
    for split, corpus in (("train", train), ("test", test)):
        rows = "".join(f"{text.label}\t{text.text}\n" for text in corpus.texts)
        (folder / f"{split}.tsv").write_text("label\ttext\n" + rows, "utf-8")
        (folder / f"x_{split}.txt").write_text("".join(f"{text.text}\n" for text in corpus.texts), "utf-8")
        (folder / f"y_{split}.txt").write_text("".join(f"{text.label}\n" for text in corpus.texts), "utf-8")


def test_both_formats_are_the_same_corpus(tmp_path):
    for collection in ("langid", "wili"):
        write(tmp_path / collection, texts(3, seed=1), texts(3, seed=2))
    one, other = (load_corpus(f"{name}/all:train", data=tmp_path) for name in ("langid", "wili"))
    assert [(t.text, t.label) for t in one.texts] == [(t.text, t.label) for t in other.texts]
    assert (one.language, other.language, other.split) == (None, None, "train")
    (tmp_path / "wili" / "y_train.txt").write_text("aa\n", "utf-8")
    with pytest.raises(DataError, match=r"y_train.txt: 1 labels, but .*x_train.txt has 9 texts"):
        load_corpus("wili/all:train", data=tmp_path)


def test_from_the_command_line(run, tiny_bert, tmp_path):
    write(tmp_path / "data" / "langid", texts(6, seed=1), texts(6, seed=2))
    asked = ("probe", "langid", tiny_bert, "--train", "langid/all", "--test", "langid/all", "--data", tmp_path / "data")
    status, said, _ = run(*asked, "--out", tmp_path / "out")
    assert (status, "accuracy_shuffled" in said, "3 labels" in said) == (0, True, True)
    confusion = (tmp_path / "out" / "confusion.csv").read_text().splitlines()
    assert confusion[0] == "layer,answer,given,count"
    assert sum(int(line.rsplit(",", 1)[1]) for line in confusion[1:]) == 18 * 5
    status, _, said = run(*asked, "--out", tmp_path / "out")
    assert (status, "exists" in said) == (2, True)
    status, said, _ = run("list", "probes")
    assert "the language of a text" in said
