"""Weights of new modules: the same from a seed, and nothing of the caller's is changed."""

import pytest
import torch

from crosslens.initial_weights import initial_weights


def drawn(seed: int) -> torch.Tensor:
    with initial_weights(seed):
        return torch.nn.Linear(3, 2).weight


@pytest.fixture(params=[torch.float32, torch.float64, torch.bfloat16])
def default(request):
    torch.set_default_dtype(request.param)
    yield request.param
    torch.set_default_dtype(torch.float32)


def test_a_seed_gives_the_same_weights_under_every_default_dtype(default):
    torch.manual_seed(1)
    torch.set_default_dtype(torch.float32)
    expected = torch.nn.Linear(3, 2).weight
    torch.set_default_dtype(default)
    assert drawn(1).dtype == torch.float32
    assert torch.equal(drawn(1), expected)
    assert not torch.equal(drawn(2), expected)


def test_the_callers_generators_and_default_dtype_are_as_before(default, monkeypatch):
    monkeypatch.setattr(torch.cuda, "manual_seed_all", lambda seed: pytest.fail("the caller's GPUs were seeded"))
    state = torch.random.get_rng_state()
    drawn(1)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert torch.get_default_dtype() == default
    with pytest.raises(KeyError), initial_weights(1):
        raise KeyError
    assert torch.equal(torch.random.get_rng_state(), state)
    assert torch.get_default_dtype() == default
