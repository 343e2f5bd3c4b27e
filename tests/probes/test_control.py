"""The control task: labels that can only be learnt by heart."""

import numpy as np
import pytest

from crosslens.probes import probing
from crosslens.probes.probing import probe
from crosslens.probes.softmax import Fit
from made_corpora import sentences, texts


@pytest.mark.parametrize(("name", "make"), [("langid", texts), ("upos", sentences)])
def test_a_control_that_knows_its_shuffled_labels_by_heart_has_them_all_right_in_training(
    encoder, monkeypatch, name, make
):
    """Instead of a probe, each layer is a table: the label of the nearest training vector."""
    tables = []

    def look_up(vectors, answers, dev, dev_answers, *, classes, **more):
        tables.append((vectors, answers, classes))
        return ByHeart(vectors, answers, classes), 0.0

    monkeypatch.setattr(probing, "fit", look_up)
    results = probe(encoder, name, train=make(8, seed=1), test=make(4, seed=2)).results
    (_, answers, _), (vectors, shuffled, _) = tables
    assert (answers != shuffled).any()
    distinct = [len(np.unique(layer, axis=0)) == len(layer) for layer in vectors]
    assert any(distinct)
    values = results.filter(metric="train_accuracy_shuffled").records["value"].to_pylist()
    assert [value for value, each in zip(values, distinct, strict=True) if each] == [100.0] * sum(distinct)


class ByHeart:
    """Stands for the weights of linear layers: a matrix product looks each vector up."""

    __array_ufunc__ = None

    def __init__(self, vectors, answers, classes):
        self.vectors, self.table = vectors, np.eye(classes)[answers]

    def __rmatmul__(self, states):
        nearest = [
            ((x[:, None] - known[None]) ** 2).sum(-1).argmin(1) for x, known in zip(states, self.vectors, strict=True)
        ]
        return self.table[np.stack(nearest)]


def test_a_classifier_of_the_true_labels_is_at_chance_in_the_control(encoder, monkeypatch):
    """The control trains, selects and is scored on shuffled labels; here it is given the true ones to train on."""
    train, dev, test = (texts(count, seed=seed) for seed, count in ((1, 12), (3, 6), (2, 12)))
    calls = []

    def fit_the_true_ones(vectors, answers, held_out, right, **options):
        calls.append((answers, right))
        return fit(vectors, calls[0][0], held_out, calls[0][1], **options)

    fit = probing.fit
    monkeypatch.setattr(probing, "fit", fit_the_true_ones)
    probed = probe(encoder, "langid", train=train, test=test, dev=dev, how=Fit(epochs=8, learning_rate=0.03))
    by_metric = probed.results.filter(target=None).to_pandas().groupby("metric")["value"]
    assert by_metric.min()["accuracy"] > 90
    assert by_metric.max()["accuracy_shuffled"] < 60  # a third by chance
    assert by_metric.max()["train_accuracy_shuffled"] < 60
    for true, shuffled in zip(*calls, strict=True):
        assert sorted(true) == sorted(shuffled)
        assert (true == shuffled).mean() < 0.7


def test_signatures_name_the_data_that_were_scored(encoder):
    train, test = texts(6, seed=1), texts(3, seed=2)
    records = probe(encoder, "langid", train=train, test=test, how=Fit(epochs=1)).results
    scored = {"accuracy": test, "accuracy_shuffled": test, "train_accuracy_shuffled": train, "recall": test}
    signatures = {(record.metric, record.signature.split("|")[2]) for record in records}
    assert signatures == {(metric, f"data:{corpus.digest[:12]}") for metric, corpus in scored.items()}


def test_other_seeds_shuffle_the_labels_otherwise(encoder, fitted):
    for seed in (1, 2, 1):
        probe(encoder, "langid", train=texts(6, seed=1), test=texts(2, seed=2), dev=texts(2, seed=3), seed=seed)
    one, other, again = (fitted[call]["train"][1] for call in (1, 3, 5))
    assert sorted(one) == sorted(other)
    assert (one != other).any()
    assert (one == again).all()
