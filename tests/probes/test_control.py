"""The control task: labels that can only be learnt by heart."""

import numpy as np
import pytest

from crosslens.probes import probing
from crosslens.probes.probing import probe
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
