"""The contract of a task, for every registered one."""

import dataclasses

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from crosslens.data.sentence import Sentence, Where
from crosslens.data.windows import by_sentence
from crosslens.encoders.batch import make_batch
from crosslens.encoders.inputs import read_windows
from crosslens.errors import DataError, RequestError
from crosslens.tasks import TASKS, find_task, main_metric
from crosslens.tasks.task import UNSEEN
from crosslens.tasks.titles import as_printed
from crosslens.training.checkpoint import load_model, save_model
from crosslens.training.evaluate import evaluate
from crosslens.training.finetune import finetune
from crosslens.training.predict import predict
from crosslens.training.recipe import Recipe


@pytest.fixture(params=[*TASKS.built_in, "sentiment"])
def task(request, plugins):
    return TASKS[request.param]


@pytest.fixture
def corpus(task, toy):
    return toy(task=task.name)


@pytest.fixture
def ready(task, encoder, corpus):
    labels = task.labels(corpus)
    torch.manual_seed(0)
    head = task.head(encoder.width, labels, dropout=0.0).eval()
    units = by_sentence(task.read(encoder, corpus, window=None, context=None).windows)
    targets = [task.targets(item, labels) for item in corpus]
    return labels, head, units, targets


@pytest.fixture
def trained(task, encoder, corpus):
    recipe = Recipe(batch=4, learning_rate=5e-3, epochs=25, select="last", encoder_dropout="off", head_dropout=0.0)
    losses = []
    model = finetune(encoder, task, train=corpus, recipe=recipe, seed=1, stepped=lambda step, loss: losses.append(loss))
    return model, losses


def reader(encoder, task, head):
    """Sentences' windows -> their batch, and the head's work on it."""

    def read(units):
        batch = make_batch([w for unit in units for w in unit], padding=encoder.padding, device=encoder.device)
        return batch, encoder.states(batch.ids, batch.mask, batch.segments)

    return read


def test_gold_against_gold_is_100(task, corpus):
    scores = task.score(corpus, corpus)
    assert scores[0].metric == task.metric
    assert all(score.value == 100.0 for score in scores)


def test_the_loss_falls_and_what_was_learnt_is_predicted(task, corpus, trained):
    model, losses = trained
    assert np.mean(losses[-5:]) < 0.25 * np.mean(losses[:5])
    results = evaluate(model, [corpus])
    assert results.filter(metric=task.metric).to_pandas()["value"][0] > 90


@pytest.mark.rounding
def test_the_loss_of_a_batch_is_the_sum_over_its_sentences(task, encoder, ready):
    _, head, units, targets = ready
    read = reader(encoder, task, head)

    def loss(numbers):
        with torch.inference_mode():
            batch, states = read([units[i] for i in numbers])
            gold = np.concatenate([targets[i] for i in numbers])
            total, count = task.loss(head, states, batch, gold)
        return float(total), count

    everything = range(len(units))
    together, alone = loss(everything), [loss([i]) for i in everything]
    assert together[1] == sum(count for _, count in alone) == sum(w.last - w.first for unit in units for w in unit)
    assert together[0] == pytest.approx(sum(total for total, _ in alone), rel=1e-5)


class Asked(TorchDispatchMode):
    """What is asked of the device, which a GPU would have to be waited for."""

    def __init__(self):
        super().__init__()
        self.found = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        by_bools = func.overloadpacket in (torch.ops.aten.index, torch.ops.aten.index_put_) and any(
            place is not None and place.dtype == torch.bool for place in args[1]
        )
        if by_bools or func.overloadpacket in (torch.ops.aten._local_scalar_dense, torch.ops.aten.nonzero):
            self.found.append(str(func))
        return func(*args, **(kwargs or {}))


def test_a_loss_asks_nothing_of_the_device(task, encoder, ready):
    labels, _, units, targets = ready
    head = task.head(encoder.output_width, labels, dropout=0.3).train()
    batch, states = reader(encoder, task, head)(units)
    with Asked() as asked:
        total, _ = task.loss(head, states, batch, np.concatenate(targets))
        total.backward()
    assert not asked.found
    with Asked() as asked:
        assert total > 0
        assert len(states[states > 0])
    assert len(asked.found) == 2


def test_predictions_fit_the_words_and_padding_changes_nothing(task, encoder, corpus, ready):
    labels, head, units, _ = ready
    read = reader(encoder, task, head)

    def guess(some):
        with torch.inference_mode():
            batch, states = read(some)
            return task.predict(head, states, batch)

    together = guess(units)
    assert len(together) == len(units)
    for unit, words, alone in zip(units, together, (guess([unit])[0] for unit in units), strict=True):
        item = corpus[unit[0].sentence]
        assert len(words) == (len(item) if isinstance(item, Sentence) else 1)
        np.testing.assert_array_equal(words, alone)
        annotated = task.annotate(item, words, labels)
        kept = {field.name for field in dataclasses.fields(item)} - {*task.needs, "lines"}
        assert all(getattr(annotated, name) == getattr(item, name) for name in kept)
        assert all(getattr(annotated, layer) is not None for layer in task.needs)


def test_a_saved_model_predicts_the_same(corpus, trained, tmp_path):
    model, _ = trained
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model", device="cpu")
    assert (again.task, again.labels, again.recipe) == (model.task, model.labels, model.recipe)
    assert predict(again, corpus) == predict(model, corpus)


def test_the_order_of_the_sentences_changes_nothing(corpus, trained):
    model, _ = trained
    backwards = dataclasses.replace(corpus, items=corpus.items[::-1])
    assert predict(model, backwards).items == predict(model, corpus).items[::-1]


@pytest.mark.parametrize("task", [TASKS[name] for name in ("pos", "parsing", "ner")], indirect=False)
def test_a_sentence_longer_than_a_window_is_whole(task, corpus, trained):
    """Words of several windows are answered for once each, in their order, and scored as one sentence."""
    model, _ = trained
    one = corpus.sentences[0]
    times = 12
    layers = {name: values * times for name in ("upos", "entities", "relations") if (values := getattr(one, name))}
    if one.heads:
        layers["heads"] = tuple(
            head + len(one) * turn if head else (0 if turn == 0 else one.heads.index(0) + 1)
            for turn in range(times)
            for head in one.heads
        )
    long = dataclasses.replace(one, words=one.words * times, lines=None, **layers)
    corpus = dataclasses.replace(corpus, items=(long, one))
    assert len(read_windows(model.encoder, corpus).windows) > 3
    predicted = predict(model, corpus)
    assert [len(sentence) for sentence in predicted.sentences] == [len(long), len(one)]
    scores = task.score(corpus, predicted)
    assert len(scores[0].numerator) == 2
    assert predicted.items[1] == predict(model, corpus[1:]).items[0]


def test_labels_that_training_never_saw_are_counted_and_teach_nothing(task, encoder, corpus, ready):
    _, head, units, _ = ready
    with torch.inference_mode():
        batch, states = reader(encoder, task, head)(units)
        gold = np.concatenate([task.targets(item, ("NONE", "OF", "THESE")) for item in corpus])
        known = np.concatenate([task.targets(item, task.labels(corpus)) for item in corpus])
        unknown, _ = task.loss(head, states, batch, gold)
        usual, _ = task.loss(head, states, batch, known)
    assert torch.isfinite(unknown)
    assert unknown < usual  # what is left is what needs no label: the heads of a tree
    notes = task.score(corpus, corpus, known=frozenset({"NONE"}))[0].notes
    assert notes["unknown_gold"] > 0
    assert task.score(corpus, corpus, known=frozenset(task.labels(corpus)))[0].notes["unknown_gold"] == 0


def test_other_sentences_are_refused(task, corpus):
    with pytest.raises(RequestError, match=r"5 (sentence|text)s, but the gold"):
        task.score(corpus, dataclasses.replace(corpus, items=corpus.items[:-1]))
    place = r"\.(conllu|iob2|tsv):\d+: (sentence|text) 1 differs in words from the gold one"
    with pytest.raises(RequestError, match=place):
        task.score(corpus, dataclasses.replace(corpus, items=corpus.items[::-1]))


def test_a_corpus_without_the_annotation_is_refused(task, corpus):
    bare = dataclasses.replace(corpus[0], **dict.fromkeys(task.needs))
    with pytest.raises(RequestError, match=r"train\S*:[12]: .*has no"):
        task.check(dataclasses.replace(corpus, items=(*corpus.items[1:], bare)))


def test_settings_are_plain_and_make_the_task_again(task):
    assert find_task(task.name, task.settings) == task
    with pytest.raises(RequestError, match="has no setting 'nonsense'"):
        find_task(task.name, {"nonsense": "1"})


def test_an_entity_across_windows_is_one(encoder, toy):
    """R13: a tagger that is always right has F1 100, whatever the window; each word is predicted once."""

    class Right(type(TASKS["ner"])):
        def predict(self, head, states, batch):
            seen.append(sum(w.last - w.first for w in batch.windows))
            sentences = [unit[0].sentence for unit in by_sentence(batch.windows)]
            tags = [self.targets(corpus.sentences[i], labels) for i in sentences]
            assert [len(its) for its in tags] == list(batch.lengths)
            return tags

    seen = []
    one = toy(task="ner")[0]
    entity = dataclasses.replace(one, words=("cat",) * 40, entities=("O", "B-X", *["I-X"] * 37, "O"), lines=None)
    corpus = dataclasses.replace(toy(task="ner"), items=(entity, one))
    task = Right()
    labels = task.labels(corpus)
    for window in (None, 12):
        recipe = Recipe(epochs=1, select="last", window=window)
        model = finetune(encoder, task, train=corpus, recipe=recipe)
        seen.clear()
        scores = {score.metric: score for score in task.score(corpus, predict(model, corpus))}
        assert scores["f1"].value == 100.0
        assert int(scores["recall"].denominator.sum()) == 1 + sum(tag[0] == "B" for tag in one.entities)
        assert sum(seen) == corpus.words


def test_unknown_tasks():
    with pytest.raises(RequestError, match=r"no task 'poss'.*did you mean 'pos'"):
        find_task("poss")
    with pytest.raises(RequestError, match="repair=lenient"):
        find_task("ner", {"repair": "lenient"})
    with pytest.raises(RequestError, match="arc_size=0"):
        find_task("parsing", {"arc_size": "0"})


@pytest.mark.parametrize("name", TASKS.built_in)
def test_a_label_that_training_lacks_is_no_other_label(name, toy):
    """Its targets are ones that the loss passes over."""
    task, corpus = TASKS[name], toy(task=name)
    labels = task.labels(corpus)
    passed_over = 0
    for item in corpus:
        whole, fewer = (task.targets(item, known).reshape(-1) for known in (labels, labels[1:]))
        if name == "parsing":  # heads, and numbers of relations
            whole, fewer = whole[1::2], fewer[1::2]
        assert fewer.tolist() == [UNSEEN if number == 0 else number - 1 for number in whole]
        passed_over += int((whole == 0).sum())
    assert passed_over


def test_predictions_without_annotation_are_refused_with_their_line(task, toy):
    gold = toy(task=task.name)
    where = Where("predicted.txt", 7)
    nothing = dataclasses.replace(gold[0], **dict.fromkeys(task.needs), where=where)
    with pytest.raises(DataError, match=r"predicted\.txt:7"):
        task.score(gold, dataclasses.replace(gold, items=(nothing, *gold.items[1:])))


def test_the_main_metric_of_what_is_no_task_is_none():
    """Records of other programs name other tasks."""
    assert {main_metric(task) for task in (None, "", "chunking", "POS")} == {None}
    assert (main_metric("pos"), main_metric("parsing"), main_metric("ner")) == ("accuracy", "las", "f1")


def test_titles_keep_the_capitals_of_a_tasks_name():
    assert as_printed("ner, f1, source en") == "NER, F1, source en"
    assert as_printed("nli fr") == "NLI fr"
    assert as_printed("pos, accuracy") == "POS tagging, accuracy"
    assert as_printed("document: x").startswith("Document classification")


def test_a_head_drops_out_as_often_as_it_is_told(task, encoder, corpus, ready):
    labels, _, units, targets = ready
    for dropout, varies in ((0.0, False), (0.5, True)):
        head = task.head(encoder.width, labels, dropout=dropout).train()
        batch, states = reader(encoder, task, head)(units)
        losses = set()
        for seed in range(3):
            torch.manual_seed(seed)
            losses.add(float(task.loss(head, states, batch, np.concatenate(targets))[0].detach()))
        assert (len(losses) > 1) == varies
