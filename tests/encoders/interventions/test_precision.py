"""Precision of forward passes: what is computed is torch's autocast, in every pass, and records say so."""

import dataclasses
from contextlib import nullcontext

import numpy as np
import pytest
import torch

import crosslens as xl
from crosslens.encoders import matmul
from crosslens.encoders.encoder import Encoder, layer_outputs
from crosslens.encoders.families import FAMILIES
from crosslens.encoders.interventions.precision import InPrecision
from crosslens.encoders.matmul import find_precision, has_fast_bfloat16, inference, slowness
from crosslens.encoders.state_cache import StateCache
from crosslens.errors import EncoderError, RequestError
from crosslens.probes import find_probe
from crosslens.probes.probing import probe
from crosslens.training.intervene import intervene
from toy_architectures import IDS, MASK, SETTINGS, fresh
from toy_trainings import RECIPE, run
from toys import word_piece

CPU = torch.device("cpu")
COARSE = {'{"precision": "bfloat16"}'}


def conditions(results):
    return set(results.records["condition"].to_pylist())


@pytest.fixture(autouse=True)
def fast(monkeypatch):
    """A processor that computes bfloat16 fast, whatever this one is."""
    monkeypatch.setattr(matmul, "_processor_features", lambda: frozenset({"amx_bf16"}))


@pytest.fixture
def rounded(encoder):
    return xl.read_as(encoder, precision="bfloat16")


def autocast(encoder, ids=IDS, mask=MASK):
    with torch.autocast("cpu", torch.bfloat16):
        return encoder.model(input_ids=ids, attention_mask=mask).last_hidden_state.float()


@pytest.mark.parametrize("context", [torch.no_grad, inference])
def test_states_are_those_of_autocast(encoder, rounded, context):
    with context():
        states = [rounded.states(IDS, MASK) for _ in range(2)]
        right = autocast(encoder)
        assert torch.equal(layer_outputs(rounded, IDS, MASK)[-1].float(), right)
        exact = encoder.states(IDS, MASK)
    assert all(torch.equal(each, right) for each in states)
    assert states[0].dtype == torch.float32
    assert not torch.equal(right, exact)
    torch.testing.assert_close(right, exact, atol=0.1, rtol=0.1)


def test_float32_keeps_its_bits_after_bfloat16(encoder, rounded):
    with inference():
        before = encoder.states(IDS, MASK)
        rounded.states(IDS, MASK)
        assert torch.equal(encoder.states(IDS, MASK), before)


def test_after_inference_bfloat16_sees_new_weights(encoder):
    copied = xl.random_init(xl.read_as(encoder, precision="bfloat16"), "1", seed=1)
    assert copied.precision == "bfloat16"
    with inference():
        before = copied.states(IDS, MASK)
    with torch.no_grad():
        copied.model.get_parameter("encoder.layer.0.output.dense.weight").mul_(3)
    with inference():
        after = copied.states(IDS, MASK)
        assert torch.equal(after, autocast(copied))
    assert not torch.equal(before, after)
    copied.states(IDS, MASK).sum().backward()  # nothing of the block is left that has no gradient
    assert copied.model.get_parameter("encoder.layer.0.output.dense.weight").grad.any()


def test_every_reading_is_in_it(encoder, rounded, toy):
    corpus = toy("dev")
    exact, coarse = (xl.represent(each, corpus).vectors for each in (encoder, rounded))
    assert np.abs(exact - coarse).max() > 0
    np.testing.assert_allclose(coarse, exact, atol=0.1)
    states = StateCache(rounded)
    assert states.encoder.precision == "bfloat16"


def test_comparisons_and_probes_record_it(rounded, treebanks, toy):
    train = toy("train")
    compared = xl.compare(rounded, "ud/pud", pairs=["en-fr"], measures=["cka"], data=treebanks)
    chosen = find_probe("upos", {})
    probed = probe(rounded, chosen, train=train[:3], test=train[4:], dev=train[3:4], seed=1).results
    for results in (compared, probed):
        assert conditions(results) == COARSE


def test_training_and_evaluation_are_in_it_and_recorded(rounded, encoder, toy):
    model = run(rounded, "pos", toy, RECIPE.model_copy(update={"epochs": 1}))
    by_recipe = run(encoder, "pos", toy, RECIPE.model_copy(update={"epochs": 1, "precision": "bfloat16"}))
    assert model.facts["weights"] == by_recipe.facts["weights"]
    assert model.facts["run"] != by_recipe.facts["run"]
    assert conditions(xl.evaluate(model, toy("test"))) == COARSE
    assert model.encoder.precision == "bfloat16"
    assert by_recipe.computing_encoder.precision == "bfloat16"
    assert by_recipe.encoder.precision == "float32"


def test_a_model_is_evaluated_in_another_precision(encoder, toy):
    model = run(encoder, "pos", toy, RECIPE.model_copy(update={"epochs": 1}))
    coarse = xl.evaluate(model, toy("test"), precision="bfloat16")
    assert conditions(coarse) == COARSE
    assert conditions(xl.evaluate(model, toy("test"))) == {"none"}
    xl.predict(model, toy("test"), precision="auto")
    trained = dataclasses.replace(model, recipe=model.recipe.model_copy(update={"precision": "bfloat16"}))
    with pytest.raises(RequestError, match="was trained with precision=bfloat16"):
        xl.evaluate(trained, toy("test"), precision="float32")


@pytest.mark.parametrize(
    "kind", ["1-2:zero", "1-2:mean", "2:resample", "1.attention.head.0:mean", "1.output:noise=0.5"]
)
def test_interventions_are_computed_in_it(kind, encoder, toy):
    model = run(xl.read_as(encoder, precision="bfloat16"), "pos", toy, RECIPE.model_copy(update={"epochs": 1}))
    results = xl.evaluate(intervene(model, kind), toy("test"))
    assert results[0].value is not None
    assert '"precision": "bfloat16"' in results[0].condition


def test_set_again_it_is_replaced(encoder, rounded):
    assert xl.read_as(rounded, precision="bfloat16") is rounded
    back = xl.read_as(rounded, precision="float32")
    assert back.changes == encoder.changes
    assert back.precision == "float32"
    assert rounded.condition.reference == rounded.condition
    assert rounded.digest == encoder.digest


def test_automatic_precision_is_what_the_device_computes_faster(encoder, monkeypatch):
    assert find_precision("auto", CPU) == "bfloat16"
    assert slowness("bfloat16", CPU) is None
    for features, expected in ((frozenset(), "float32"), (frozenset({"avx512_bf16"}), "bfloat16")):
        monkeypatch.setattr(matmul, "_processor_features", lambda features=features: features)
        assert find_precision("auto", CPU) == xl.read_as(encoder, precision="auto").precision == expected
        assert has_fast_bfloat16(CPU) == (slowness("bfloat16", CPU) is None) == (expected == "bfloat16")
        assert slowness("float32", CPU) is None
        with pytest.warns(UserWarning, match="slower than float32") if expected == "float32" else nullcontext():
            xl.read_as(encoder, precision="bfloat16")
    with pytest.raises(RequestError, match="unknown precision 'bfloat'"):
        xl.read_as(encoder, precision="bfloat")


def test_automatic_precision_is_float32_in_a_family_that_has_no_other(tmp_path):
    tokenizer = word_piece()
    fresh("deberta", 0, tokenizer).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    loaded = xl.load_encoder(tmp_path, device="cpu", precision="auto")
    assert loaded.precision == xl.read_as(loaded, precision="auto").precision == "float32"
    with pytest.raises(EncoderError, match="cannot compute deberta in bfloat16"):
        xl.read_as(loaded, precision="bfloat16")


@pytest.mark.parametrize(
    "kind", sorted(set(SETTINGS) - {"xlm", "rembert", "bilstm", "deberta"})
)  # numbers are needed; refused
def test_on_a_device_without_numbers(kind):
    """Forward and backward pass: a tensor left on the CPU would raise."""
    tokenizer = word_piece()
    model = fresh(kind, 0, tokenizer).to("meta")
    loaded = InPrecision(precision="bfloat16").apply(Encoder(model, tokenizer, FAMILIES[kind], kind), seed=0)
    states = loaded.states(IDS.to("meta"), MASK.to("meta"))
    states.sum().backward()
    assert states.shape == (*IDS.shape, loaded.width)
    assert states.dtype == torch.float32
