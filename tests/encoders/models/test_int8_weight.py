"""Weights in eight bits: how they round, and that modules compute with them as with the rounded matrices."""

import copy

import pytest
import torch
from torch import nn
from torch.nn import functional

from crosslens.encoders.matmul import computed_in
from crosslens.encoders.models.held_weights import (
    has_int8,
    held_in_float32,
    hold_in_bfloat16,
    hold_in_float32,
    hold_in_int8,
    without_int8,
)
from crosslens.encoders.models.int8_weight import Int8Weight

CPU = torch.device("cpu")


@pytest.fixture
def matrix():
    return torch.randn(48, 32, generator=torch.Generator().manual_seed(1))


@pytest.fixture(params=["bias", "no bias"])
def both(request, matrix):
    """A linear module with its weight in eight bits, and one with the same numbers in float32."""
    held = nn.Linear(32, 48, bias=request.param == "bias")
    held.weight = nn.Parameter(matrix.clone())
    hold_in_int8([held], held)
    dense = copy.deepcopy(held)
    hold_in_float32(dense.parameters())
    return held, dense


def states(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(2)).requires_grad_()


def test_each_row_has_its_own_steps(matrix):
    matrix[3] *= 100
    held = Int8Weight.rounded(matrix)
    step = matrix.abs().amax(1, keepdim=True) / 127
    assert ((held.dense() - matrix).abs() <= step / 2 * 1.0001).all()
    assert (held.codes.abs().amax(1) == 127).all()
    assert torch.equal(held.codes.float() * held.factors, held.dense())


def test_signs_and_zeros_are_kept(matrix):
    matrix[5] = 0
    matrix[:, 7] = 0
    held = Int8Weight.rounded(matrix)
    assert (held.factors > 0).all()
    assert not held.dense()[5].any()
    assert not held.dense()[:, 7].any()
    assert torch.equal(Int8Weight.rounded(-matrix).dense(), -held.dense())


def test_what_is_not_finite_does_not_look_finite(matrix):
    matrix[2, 3], matrix[4, 5] = float("nan"), float("inf")
    held = Int8Weight.rounded(matrix).dense()
    assert {row for row in range(48) if not held[row].isfinite().all()} == {2, 4}


def test_it_takes_a_byte_for_each_number(matrix):
    assert Int8Weight.rounded(matrix).nbytes == 48 * 32 + 48 * 4


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("rows", [3, 4096])  # few and many: the latter's product is oneDNN's where it is faster
def test_a_module_computes_the_same_bits_and_gradients(both, precision, rows):
    computed = []
    for module in both:
        module.weight.requires_grad_(False)  # nothing trains it
        given = states(2, rows, 32)
        with computed_in(precision, CPU):
            result = module(given)
        result.float().square().sum().backward()
        computed.append((result, given.grad, *([module.bias.grad] if module.bias is not None else [])))
    assert all(torch.equal(ours, right) for ours, right in zip(*computed, strict=True))


def test_the_backward_pass_keeps_no_matrix(both):
    held, _ = both
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(kept.append, lambda tensor: tensor):
        held(states(3, 32))
    assert all(tensor.shape != held.weight.shape for tensor in kept)


def test_an_update_is_added_and_another_one_too(matrix):
    held = Int8Weight.rounded(matrix)
    pairs = [(torch.randn(48, 2), torch.randn(2, 32)), (torch.randn(48, 3), torch.randn(3, 32))]
    updated = held
    for left, right in pairs:
        updated = updated.updated(left, right)
    torch.testing.assert_close(updated.dense(), held.dense() + sum(left @ right for left, right in pairs))
    assert torch.equal(updated.codes, held.codes)
    assert updated.nbytes == held.nbytes + 4 * (48 + 32) * 5
    given = states(4, 32)
    assert torch.equal(functional.linear(given, updated), functional.linear(given, updated.dense()))


def test_any_other_use_sees_the_matrix(both):
    held, dense = both
    assert torch.equal(held.weight.t() @ held.weight, dense.weight.t() @ dense.weight)
    assert torch.equal(held.weight.detach().flatten(), dense.weight.detach().flatten())
    assert torch.equal(held.weight.double(), dense.weight.double())
    assert torch.equal(torch.zeros(48, 32).copy_(held.weight.data), dense.weight)
    assert held.weight.shape == (48, 32)
    assert held.weight.dtype == torch.float32


def test_it_cannot_be_written_to(both):
    held, dense = both
    with pytest.raises(RuntimeError, match="cannot be written to"), torch.no_grad():
        held.weight.fill_(0)
    assert torch.equal(held.weight.data.dense(), dense.weight)


def test_copies_are_apart_and_of_its_kind(both):
    held, _ = both
    copied = copy.deepcopy(held)
    assert isinstance(copied.weight, Int8Weight)
    assert isinstance(copied.weight, nn.Parameter)
    assert torch.equal(copied.weight.codes, held.weight.codes)
    assert copied.weight.codes.data_ptr() != held.weight.codes.data_ptr()


def test_it_moves_to_another_device_with_its_module(both):
    moved = copy.deepcopy(both[0]).to("meta")
    assert isinstance(moved.weight, Int8Weight)
    assert {part.device.type for part in (moved.weight.codes, moved.weight.factors, moved.weight)} == {"meta"}
    assert moved(torch.zeros(3, 32, device="meta")).shape == (3, 48)


def test_in_float32_again_it_is_the_same_parameter(both):
    held, dense = both
    before = held.weight
    hold_in_float32(held.parameters())
    assert held.weight is before
    assert not has_int8(held)
    assert torch.equal(held.weight, dense.weight)
    assert held.weight.requires_grad


def test_a_module_for_a_file_has_ordinary_weights(both):
    held, dense = both
    written = without_int8(held)
    assert not has_int8(written)
    assert torch.equal(written.weight, dense.weight)
    assert has_int8(held)
    assert held.bias is None or written.bias.data_ptr() == held.bias.data_ptr()
    assert without_int8(dense) is dense


def test_tied_embeddings_and_other_parts_stay_as_they_are():
    model = nn.ModuleDict({"table": nn.Embedding(4, 3), "head": nn.Linear(3, 4), "free": nn.Linear(3, 3)})
    model["head"].weight = model["table"].weight
    model["again"] = nn.Linear(3, 3)
    model["again"].weight = model["free"].weight
    model["outside"] = nn.Linear(3, 3)
    chosen = hold_in_int8([model["head"], model["free"], model["again"]], model)
    assert chosen == [model["free"], model["again"]]
    assert [name for name, each in model.named_parameters() if isinstance(each, Int8Weight)] == ["free.weight"]
    assert model["again"].weight is model["free"].weight


def test_each_format_is_left_alone_by_what_ends_the_other():
    model = nn.ModuleDict({"eight": nn.Linear(3, 3), "sixteen": nn.Linear(3, 3)})
    with torch.no_grad():
        model["sixteen"].weight.copy_(model["sixteen"].weight.bfloat16())
    hold_in_bfloat16(model)
    hold_in_int8([model["eight"]], model)
    assert model["sixteen"].weight.dtype == torch.bfloat16
    exact, written = held_in_float32(model), without_int8(model)
    assert (has_int8(exact), exact["sixteen"].weight.dtype) == (True, torch.float32)
    assert (has_int8(written), written["sixteen"].weight.dtype) == (False, torch.bfloat16)
