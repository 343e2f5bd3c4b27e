"""Laws of interventions on states, over all families."""

import pytest
import torch

from crosslens.encoders.condition import Condition
from crosslens.encoders.encoder import layer_outputs
from crosslens.encoders.inputs import read_windows
from crosslens.encoders.matmul import inference
from crosslens.encoders.states.sites import addresses, read_sites, replacing, sites
from crosslens.encoders.states.sublayers import SUBLAYERS
from crosslens.errors import EncoderError
from toy_architectures import IDS, MASK

WHOLE = ("0", "1.output", "2.output")
SEPARATE = {"attention": ("1.attention", "2.attention.head.1"), "ffn": ("2.ffn", "3.ffn.neuron.3-5")}


def edited(encoder, **keys):
    return Condition(**keys).interventions[0].apply(encoder, seed=1).prepared([])


def states(encoder):
    with torch.no_grad():
        return encoder.states(IDS, MASK)[MASK.bool()]


def reachable(encoder):
    parts = SUBLAYERS[encoder.family.name]
    if encoder.family.name == "bilstm":  # with these weights its states are saturated, whatever it reads
        return ["3.output"]
    return [*WHOLE, *(at for part, listed in SEPARATE.items() if getattr(parts, part) for at in listed)]


def test_reading_and_empty_doses_change_no_bit(loaded):
    before = states(loaded)
    for at in reachable(loaded):
        with replacing(sites(loaded, at), lambda site, values: values):
            assert torch.equal(states(loaded), before)
        assert torch.equal(states(edited(loaded, noise=at, noise_dose=0)), before)
        assert torch.equal(states(edited(loaded, rotate=at, degrees=0)), before)


def test_what_is_replaced_reaches_the_output_and_nothing_stays_behind(loaded):
    before = states(loaded)
    for at in reachable(loaded):
        changed = states(edited(loaded, noise=at, noise_dose=1.0))
        assert torch.isfinite(changed).all()
        assert not torch.equal(changed, before), at
        assert torch.equal(states(loaded), before), at


def test_states_after_a_layer_are_what_layer_outputs_records(loaded):
    with torch.no_grad():
        for layer in (0, 2):
            at = f"{layer}.output" if layer else "0"
            outputs = layer_outputs(edited(loaded, zero=at), IDS, MASK)
            assert outputs[2].shape == outputs[0].shape
            if loaded.family.name != "xlm" or layer:  # XLM masks and normalises in between
                assert not outputs[layer].any(), at


def test_a_head_is_a_slice_of_the_output_projection(loaded):
    path = SUBLAYERS[loaded.family.name].attention
    if path is None:
        with pytest.raises(EncoderError, match=r"has no attention whose output is separate.*output"):
            sites(loaded, "2.attention.head.1")
        return
    zeroed = states(edited(loaded, zero="2.attention.head.1"))
    projection = loaded.layers[1].get_submodule(path)
    columns = slice(projection.in_features // 2, None)
    kept = projection.weight.detach().clone()
    with torch.no_grad():
        projection.weight[:, columns] = 0
    by_weights = states(loaded)
    with torch.no_grad():
        projection.weight.copy_(kept)
    torch.testing.assert_close(zeroed, by_weights, rtol=1e-5, atol=1e-5)


def test_every_listed_address_is_found(loaded):
    rows = addresses(loaded)
    assert len(rows) >= 1 + loaded.depth
    for address, _ in rows:
        assert sites(loaded, address)


@pytest.mark.parametrize(
    ("at", "message"),
    [
        ("9.output", "layer 9 does not exist"),
        ("1.attention.head.2", "head 2 does not exist.*heads 0 to 1"),
        ("1.ffn.neuron.999", "neuron 999 does not exist"),
        ("0.attention", "embeddings have no attention"),
    ],
)
def test_what_an_encoder_lacks_is_refused(encoder, at, message):
    with pytest.raises(EncoderError, match=message):
        Condition(zero=at).interventions[0].apply(encoder, seed=1)


def test_states_are_read_without_dropout_also_during_training(encoder, toy):
    windows = read_windows(encoder, toy("test")).windows

    def read():
        with inference():
            return [
                each for _, _, states in read_sites(encoder, sites(encoder, "2.output"), windows) for each in states
            ]

    before = read()
    encoder.trained.train()
    after = read()
    assert before
    assert all(torch.equal(first, second) for first, second in zip(before, after, strict=True))


@pytest.mark.parametrize("kind", ["gemma2", "gemma3_text", "llama", "modernbert", "t5"], indirect=True, scope="module")
def test_the_parts_of_a_layer_are_what_it_adds_to_the_residual_stream(loaded):
    places = [site for at in ("1.output", "2", "2.output") for site in sites(loaded, at)]
    before, attention, ffn, after = read_once(loaded, places)
    assert attention.abs().max() > 0.01
    assert ffn.abs().max() > 0.01
    torch.testing.assert_close(before + attention + ffn, after, rtol=1e-5, atol=1e-5)


def read_once(encoder, places):
    read = {}
    with torch.no_grad(), replacing(places, lambda site, values: read.setdefault(site.name, values)):
        encoder.states(IDS, MASK)
    return [read[site.name] for site in places]
