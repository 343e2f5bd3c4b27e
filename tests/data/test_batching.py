import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosslens.data.batching import BUCKET, OVERHEAD, evaluation_batches, training_batches

lengths = st.lists(st.integers(1, 300), max_size=400)


@given(lengths, st.integers(1, 40), st.integers(0, 5))
def test_an_epoch_has_every_window_once(sizes, batch, epoch):
    batches = training_batches(sizes, batch=batch, seed=3, epoch=epoch)
    assert sorted(np.concatenate(batches).tolist() if batches else []) == list(range(len(sizes)))
    assert all(1 <= len(numbers) <= batch for numbers in batches)
    assert sum(len(numbers) < batch for numbers in batches) <= 1  # so the number of steps is known beforehand


@given(lengths, st.integers(1, 4000))
def test_evaluation_batches_fit_the_budget_and_hold_every_window_once(sizes, budget):
    batches = evaluation_batches(sizes, budget=budget)
    assert sorted(np.concatenate(batches).tolist() if batches else []) == list(range(len(sizes)))
    for numbers in batches:
        assert len(numbers) == 1 or len(numbers) * max(sizes[i] for i in numbers) <= budget


def cost(batches, sizes, budget):
    return sum(len(numbers) * max(sizes[i] for i in numbers) + budget // OVERHEAD for numbers in batches)


@given(st.lists(st.integers(1, 30), min_size=1, max_size=9), st.integers(16, 100))
def test_evaluation_batches_cost_least_of_all_that_fit(sizes, budget):
    order = np.argsort(-np.asarray(sizes), kind="stable")
    costs = []
    for cuts in itertools.product((False, True), repeat=len(sizes) - 1):
        places = [place + 1 for place, cut in enumerate(cuts) if cut]
        batches = np.split(order, places)
        if all(len(each) == 1 or len(each) * max(sizes[i] for i in each) <= budget for each in batches):
            costs.append(cost(batches, sizes, budget))
    assert cost(evaluation_batches(sizes, budget=budget), sizes, budget) == min(costs)


def test_the_order_depends_on_seed_and_epoch_alone():
    sizes = list(range(1, 101))

    def order(seed, epoch):
        return [numbers.tolist() for numbers in training_batches(sizes, batch=8, seed=seed, epoch=epoch)]

    assert order(1, 0) == order(1, 0)
    assert order(1, 0) != order(1, 1)
    assert order(1, 0) != order(2, 0)


def test_training_batches_waste_little_on_padding():
    sizes = np.random.default_rng(0).gamma(2.0, 12.0, 2000).astype(int) + 3

    def padded(batches):
        return sum(len(numbers) * sizes[numbers].max() for numbers in batches)

    unsorted = np.array_split(np.random.default_rng(1).permutation(len(sizes)), len(sizes) // 16)
    assert padded(training_batches(sizes, batch=16, seed=1, epoch=0)) < 0.6 * padded(unsorted)


@pytest.mark.parametrize("buckets", [1, 2, 2.01, 3.5])
@pytest.mark.parametrize("batch", [1, 3])
def test_an_epoch_of_several_buckets_has_every_window_once(buckets, batch):
    """More windows than are sorted by length together."""
    count = round(buckets * BUCKET * batch)
    batches = training_batches([1 + i % 7 for i in range(count)], batch=batch, seed=1, epoch=0)
    assert sorted(np.concatenate(batches).tolist()) == list(range(count))
    assert len(batches) == -(-count // batch)
