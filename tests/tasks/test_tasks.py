"""The contract of a task, for every registered one."""

import dataclasses

import numpy as np
import pytest
import torch

from crosslens.encoders.batch import make_batch
from crosslens.encoders.reading import read_windows
from crosslens.errors import RequestError
from crosslens.tasks import TASKS, find_task, window_targets


@pytest.fixture(params=sorted(TASKS))
def task(request):
    return TASKS[request.param]


@pytest.fixture
def ready(task, encoder, toy):
    corpus = toy()
    labels = task.labels(corpus)
    torch.manual_seed(0)
    head = task.head(encoder.width, labels, dropout=0.0).eval()
    windows = read_windows(encoder, corpus).windows
    targets = [task.targets(sentence, labels) for sentence in corpus.sentences]
    return corpus, labels, head, windows, targets


def test_gold_against_gold_is_100(task, toy):
    scores = task.score(toy(), toy())
    assert scores[0].metric == task.metric
    assert all(score.value == 100.0 for score in scores)
    assert scores[0].n == toy().words


def test_the_loss_of_a_batch_is_the_sum_over_its_sentences(task, encoder, ready):
    _, _, head, windows, targets = ready

    def loss(chosen):
        batch = make_batch(chosen, padding=encoder.padding, device=encoder.device)
        gold = torch.from_numpy(window_targets(chosen, targets))
        with torch.inference_mode():
            total, count = task.loss(head, encoder.states(batch.ids, batch.mask), batch, gold)
        return float(total), count

    together, alone = loss(windows), [loss([window]) for window in windows]
    assert together[1] == sum(count for _, count in alone) == sum(w.last - w.first for w in windows)
    assert together[0] == pytest.approx(sum(total for total, _ in alone), rel=1e-5)


def test_predictions_fit_the_words_and_padding_changes_nothing(task, encoder, ready):
    corpus, labels, head, windows, _ = ready

    def predict(chosen):
        batch = make_batch(chosen, padding=encoder.padding, device=encoder.device)
        with torch.inference_mode():
            return task.predict(head, encoder.states(batch.ids, batch.mask), batch)

    together = predict(windows)
    for window, words, alone in zip(windows, together, (predict([w])[0] for w in windows), strict=True):
        assert len(words) == window.last - window.first
        np.testing.assert_array_equal(words, alone)
        annotated = task.annotate(corpus.sentences[window.sentence], words, labels)
        assert annotated.words == corpus.sentences[window.sentence].words
        assert all(getattr(annotated, layer) is not None for layer in task.needs)


def test_labels_that_training_never_saw_teach_nothing(task, encoder, ready):
    corpus, _, head, windows, _ = ready
    batch = make_batch(windows, padding=encoder.padding, device=encoder.device)
    with torch.inference_mode():
        states = encoder.states(batch.ids, batch.mask)
        gold = window_targets(windows, [task.targets(s, ("NONE", "OF", "THESE")) for s in corpus.sentences])
        _, count = task.loss(head, states, batch, torch.from_numpy(gold))
    assert count == 0


def test_other_sentences_are_refused(task, toy):
    gold = toy()
    with pytest.raises(RequestError):
        task.score(gold, dataclasses.replace(gold, items=gold.items[1:]))
    with pytest.raises(RequestError):
        task.score(gold, dataclasses.replace(gold, items=gold.items[::-1]))


def test_unknown_tasks():
    with pytest.raises(RequestError, match=r"no task 'poss'.*did you mean 'pos'"):
        find_task("poss")
