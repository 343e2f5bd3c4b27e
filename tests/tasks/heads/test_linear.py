"""The loss of the linear head."""

import numpy as np
import torch

from crosslens.tasks.heads.linear import LinearHead, summed_loss
from crosslens.tasks.task import UNSEEN


def test_labels_that_training_lacks_count_neither_in_the_loss_nor_in_its_number_of_units():
    """The mean loss is that of the other units."""
    logits = torch.from_numpy(np.random.default_rng(0).normal(size=(6, 3)))
    targets = np.array([0, UNSEEN, 2, UNSEEN, UNSEEN, 1])
    seen = targets != UNSEEN
    total, units = summed_loss(logits, targets)
    alone, count = summed_loss(logits[torch.from_numpy(seen)], targets[seen])
    assert units == count == 3
    torch.testing.assert_close(total, alone)
    expected = -torch.log_softmax(logits, 1)[torch.from_numpy(seen), targets[seen]].sum()
    torch.testing.assert_close(total.double(), expected, rtol=1e-5, atol=1e-6)
    assert summed_loss(logits, np.full(6, UNSEEN))[1] == 0


def test_dropout_hides_features_of_the_states_and_no_label():
    torch.manual_seed(0)
    head = LinearHead(20, 5, dropout=0.5).train()
    states = torch.randn(30, 20)
    hidden = head(states)
    assert (hidden != 0).all()
    assert not torch.allclose(hidden, head(states))
    torch.testing.assert_close(head.eval()(states), states @ head.classifier.weight.T + head.classifier.bias)


def test_the_loss_is_summed_in_float32():
    logits = torch.randn(400, 3, generator=torch.Generator().manual_seed(0)).bfloat16()
    targets = np.arange(400) % 3
    total, _ = summed_loss(logits, targets)
    torch.testing.assert_close(total, summed_loss(logits.float(), targets)[0], rtol=1e-6, atol=0)
