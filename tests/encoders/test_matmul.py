"""Products of matrices: the same as torch's, forwards and backwards, whoever computes them."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional

from crosslens.encoders import matmul
from crosslens.encoders.matmul import computed_in, inference, linear, slowness
from crosslens.encoders.models.int8_weight import Int8Weight


@pytest.fixture(autouse=True)
def _everywhere(monkeypatch):
    """Intel's processors too, which are left to torch by default."""
    monkeypatch.setenv("CROSSLENS_ONEDNN", "1")


SHAPES = {
    "flat": ((257, 64), 129),
    "a batch": ((3, 70, 96), 120),
    "words of sentences": ((2, 3, 50, 128), 64),
    "narrow": ((2049, 64), 17),
    "small": ((5, 8), 3),
    "one row": ((1, 8), 3),
    "no rows": ((0, 8), 3),
}


def _case(shape, outputs, *, seed=0):
    generator = torch.Generator().manual_seed(seed)
    sizes = (shape, (outputs, shape[-1]), (outputs,), (*shape[:-1], outputs))
    return [torch.randn(size, generator=generator) for size in sizes]


def _gradients(product, states, weight, bias, gradient):
    leaves = [its.detach().clone().requires_grad_() for its in (states, weight, bias)]
    found = product(*leaves)
    return found.detach(), torch.autograd.grad(found, leaves, gradient)


@pytest.mark.parametrize("name", SHAPES)
def test_is_the_product_and_has_its_gradients(name):
    case = _case(*SHAPES[name])
    found, gradients = _gradients(linear, *case)
    exact, exact_gradients = _gradients(functional.linear, *(its.double() for its in case))
    torch.testing.assert_close(found.double(), exact, rtol=1e-4, atol=1e-4)
    for ours, right in zip(gradients, exact_gradients, strict=True):
        torch.testing.assert_close(ours.double(), right, rtol=1e-4, atol=1e-3)


def test_a_transposed_weight_and_an_expanded_gradient():
    states, weight, bias, _ = _case((300, 96), 80)
    stored = weight.t().contiguous()  # as the parser keeps its bilinear form
    leaves = [states.requires_grad_(), stored.requires_grad_()]
    gradients = torch.autograd.grad(linear(states, stored.t()).sum(), leaves)
    exact = torch.autograd.grad(functional.linear(states.double(), stored.double().t()).sum(), leaves)
    for ours, right in zip(gradients, exact, strict=True):
        torch.testing.assert_close(ours, right, rtol=1e-4, atol=1e-3)
    torch.testing.assert_close(linear(states, weight, bias), functional.linear(states, weight, bias))


@pytest.mark.parametrize("frozen", [0, 1, 2])
def test_what_is_frozen_has_no_gradient(frozen):
    case = _case((300, 96), 80)
    for place, tensor in enumerate(case[:3]):
        tensor.requires_grad_(place != frozen)
    linear(*case[:3]).sum().backward()
    assert [tensor.grad is None for tensor in case[:3]] == [place == frozen for place in range(3)]


@pytest.mark.skipif(not matmul.HAS_MKL_AND_ONEDNN, reason="needs oneDNN beside MKL")
@pytest.mark.parametrize("frozen", [True, False])
def test_inputs_are_kept_only_for_a_weight_that_is_trained(monkeypatch, frozen):
    monkeypatch.setattr(matmul, "has_onednn", lambda: True)
    states, weight, bias, _ = _case((300, 96), 80)
    weight.requires_grad_(not frozen)
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: kept.append(tensor.shape), lambda tensor: tensor):
        linear(states.requires_grad_(), weight, bias)
    assert kept == ([weight.shape] if frozen else [states.shape, weight.shape])


@pytest.mark.parametrize("there", [True, False])
def test_a_model_of_others_is_computed_by_it(monkeypatch, there):
    asked = []
    monkeypatch.setattr(matmul, "has_onednn", lambda: there)
    monkeypatch.setattr(matmul, "linear", lambda *its: asked.append(its[0].shape) or functional.linear(*its))
    layer, states = nn.Linear(4, 3), torch.ones(2, 4)
    with computed_in("float32", states.device):
        inside = layer(states)
    outside = layer(states)
    assert asked == [(2, 4)] * there
    assert torch.equal(inside, outside)


def test_in_bfloat16_the_product_is_torchs():
    states, weight, bias, _ = _case((300, 96), 80)
    with computed_in("bfloat16", states.device):
        found = linear(states, weight, bias)
        usual = functional.linear(states, weight, bias)
    assert found.dtype == torch.bfloat16
    assert torch.equal(found, usual)


@pytest.mark.parametrize("name", SHAPES)
def test_inference_gives_the_same_bits(name):
    states, weight, bias, _ = _case(*SHAPES[name])
    layer = nn.Linear(*weight.shape[::-1])
    layer.load_state_dict({"weight": weight, "bias": bias})
    with torch.no_grad():
        right = linear(states, layer.weight, layer.bias)
    with inference():
        found = [linear(states, layer.weight, layer.bias) for _ in range(2)]
    assert all(torch.equal(its, right) for its in found)


def test_after_training_inference_sees_the_new_weights():
    states, weight, _, _ = _case((300, 96), 80)
    weight = nn.Parameter(weight)
    for _ in range(2):
        with inference():
            found = linear(states, weight)
            assert torch.is_inference(found)
            with inference():
                assert torch.equal(linear(states, weight), found)
        torch.testing.assert_close(found, functional.linear(states, weight.detach()), rtol=1e-4, atol=1e-4)
        with torch.no_grad():
            weight.mul_(3)
    assert not torch.is_inference(linear(states, weight))


def test_a_weight_that_changes_all_the_same_is_seen():
    states, weight, _, _ = _case((300, 96), 80)
    weight = nn.Parameter(weight)
    with inference():
        before = linear(states, weight)
        weight.zero_()
        assert before.any()
        assert not linear(states, weight).any()
        born = nn.Parameter(torch.ones(80, 96))  # has no version
        found = linear(states, born)
        torch.testing.assert_close(found, states.sum(1, keepdim=True).expand(-1, 80), rtol=1e-4, atol=1e-4)


def test_inference_keeps_only_what_stays():
    states, weight, _, _ = _case((300, 96), 80)
    with inference():
        for number in range(3):
            torch.testing.assert_close(linear(states, weight + number), functional.linear(states, weight + number))
            assert not matmul._reordered_weights.get()
        linear(states, kept := nn.Parameter(weight))
        assert list(matmul._reordered_weights.get()) == [id(kept)] * matmul.has_onednn()
    assert matmul._reordered_weights.get() is None


@pytest.mark.skipif(not matmul.HAS_MKL_AND_ONEDNN, reason="needs oneDNN beside MKL")
def test_a_weight_in_eight_bits_is_not_kept_as_float32(monkeypatch):
    monkeypatch.setattr(matmul, "has_onednn", lambda: True)
    states, weight, _, _ = _case((300, 96), 80)
    held = nn.Parameter(Int8Weight.rounded(weight), requires_grad=False)
    with inference():
        found = linear(states, held)
        assert not matmul._reordered_weights.get()
        torch.testing.assert_close(found, functional.linear(states, held.dense()))


def test_the_same_bits_twice():
    case = _case((8, 130, 256), 257)
    first, again = (_gradients(linear, *case) for _ in range(2))
    assert torch.equal(first[0], again[0])
    assert first[1]
    assert all(torch.equal(one, other) for one, other in zip(first[1], again[1], strict=True))


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads Linux's account of memory")
def test_batches_of_a_thousand_lengths_leave_no_memory_behind():
    program = """
import torch
from pathlib import Path
from crosslens.encoders import matmul
from crosslens.encoders.matmul import linear
pages = lambda: int(Path("/proc/self/statm").read_text().split()[1])
weight = torch.zeros(256, 256)
with torch.inference_mode():
    linear(torch.zeros(1100, 256), weight)
    before = pages()
    for length in range(64, 1064):
        linear(torch.zeros(length, 256), weight)
print((pages() - before) * 4096 / 2**20)
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert float(done.stdout) < 150  # of each length half a MiB would be 500


def test_without_onednn_it_is_torchs(monkeypatch):
    case = _case((8, 130, 256), 257)
    monkeypatch.setattr(torch.backends.mkldnn, "enabled", False)
    assert torch.equal(linear(*case[:3]), functional.linear(*case[:3]))


@pytest.mark.parametrize(
    ("chosen", "maker", "used"),
    [
        (None, "GenuineIntel", False),
        (None, "AuthenticAMD", True),
        ("1", "GenuineIntel", True),
        ("0", "AuthenticAMD", False),
    ],
)
def test_the_processors_maker_decides_unless_a_variable_does(chosen, maker, used, monkeypatch):
    monkeypatch.setattr(matmul, "HAS_MKL_AND_ONEDNN", True)
    monkeypatch.setattr(torch.backends.mkldnn, "enabled", True)
    monkeypatch.setattr(matmul, "_processor_features", lambda: frozenset({maker, "avx512f"}))
    monkeypatch.setattr("platform.processor", lambda: "")
    monkeypatch.delenv("CROSSLENS_ONEDNN")
    if chosen is not None:
        monkeypatch.setenv("CROSSLENS_ONEDNN", chosen)
    matmul._is_intel.cache_clear()
    assert matmul.has_onednn() is used
    matmul._is_intel.cache_clear()


def test_a_device_that_computes_nothing_is_not_slow():
    assert slowness("bfloat16", torch.device("meta")) is None
