"""Several interventions on one model together: the same bits as each alone, by fewer layers."""

from collections import Counter
from dataclasses import replace

import pytest
import torch

from crosslens.corpora.catalogue import load_corpus
from crosslens.encoders.batch import make_batch
from crosslens.encoders.condition import Condition
from crosslens.encoders.inputs import read_windows
from crosslens.encoders.load import load_encoder
from crosslens.encoders.readouts.scalar_mix_bilstm import as_features
from crosslens.encoders.states.sublayers import SUBLAYERS
from crosslens.encoders.states.variants import Variants, can_enter, height

IN_FULL = {"t5", "mt5", "xlm", "xlnet", "bilstm", "deberta", "deberta-v2", "mpnet", "rembert", "neomme"}
"""Families whose layers return tuples or pass on more than states (a position bias), or that compute outside layers."""


@pytest.fixture(scope="module")
def corpus(treebanks):
    return load_corpus("ud/fr_pud", data=treebanks)


@pytest.fixture(scope="module")
def english(treebanks):
    return load_corpus("ud/en_pud", data=treebanks)


def of(encoder, corpus, *keys, source=None):
    """The encoder under each intervention."""
    sources, edited = {}, []
    for part in (Condition.read(each).interventions[0] for each in keys):
        if part.reads_corpus:
            shared = sources.setdefault(part.kind, part.source(encoder, source or corpus))
            edited.append(part.fit(encoder, shared, seed=1))
        else:
            edited.append(part.apply(encoder, seed=1))
    return edited


def together(encoders, corpus):
    windows = read_windows(encoders[0], corpus).windows
    with torch.inference_mode():
        variants = Variants(encoders, windows, corpus)
        return [list(variants(batch)) for batch in batches(encoders[0], windows)]


def alone(encoders, corpus):
    windows = read_windows(encoders[0], corpus).windows
    prepared = [encoder.for_language(corpus.language).prepared(windows, corpus) for encoder in encoders]
    with torch.inference_mode():
        return [[each.states(b.ids, b.mask) for each in prepared] for b in batches(encoders[0], windows)]


def batches(encoder, windows):
    half = len(windows) // 2
    return [
        make_batch(part, padding=encoder.padding, device=encoder.device) for part in (windows[:half], windows[half:])
    ]


def interventions(encoder):
    parts = SUBLAYERS[encoder.family.name]
    top = encoder.depth
    keys = [{"zero": "1.output"}, {"mean": "2.output"}, {"mean": f"{top}.output"}, {"resample": "2.output"}]
    keys += [
        {"resample": f"{top}.output"},
        {"erase": "2.output"},
        {"erase": f"{top}.output", "erase_control": "random"},
    ]
    keys += [{"noise": "2.output", "noise_dose": 0.5}, {"rotate": f"{top}.output", "degrees": 30}, {"mean": "0"}]
    keys += [{"patch": f"{layer}.output", "patch_by": "sentences"} for layer in (1, 2, top)]
    keys += [{"zero": f"{top}.ffn"}, {"mean": "2.ffn.neuron.1-3"}] if parts.ffn else []
    return keys + ([{"resample": f"{top}.attention"}, {"zero": "2.attention.head.1"}] if parts.attention else [])


def test_together_every_intervention_has_the_bits_that_it_has_alone(loaded, corpus, english):
    encoders = [loaded, *of(loaded, corpus, *interventions(loaded), source=english), loaded]
    expected, found = alone(encoders, corpus), together(encoders, corpus)
    assert len(found) == 2
    assert all(torch.equal(a, b) for batch in zip(found, expected, strict=True) for a, b in zip(*batch, strict=True))
    assert len({each.sum().item() for each in found[0]}) > 3
    windows = read_windows(loaded, corpus).windows
    assert can_enter(loaded, windows) is (loaded.family.name not in IN_FULL)


def test_every_intervention_is_computed_on_a_second_device(loaded, second_device, corpus, english):
    """What tells a tensor on the other device is the error it raises; rounding grows where means nearly cancel."""
    moved = load_encoder(loaded.name, device=second_device)
    expected, found = (
        together([each, *of(each, corpus, *interventions(each), source=english)], corpus) for each in (loaded, moved)
    )
    states = [pair for batch in zip(found, expected, strict=True) for pair in zip(*batch, strict=True)]
    assert len(states) > 20
    for a, b in states:
        torch.testing.assert_close(a.cpu(), b, rtol=1e-2, atol=3e-2)


def test_only_the_lowest_changed_layer_and_those_above_are_computed(encoder, corpus):
    """Four layers once for the states that no intervention changes, and then 4, 3 and 1."""
    variants = of(encoder, corpus, {"zero": "0"}, {"zero": "2.attention"}, {"zero": "4.output"})
    assert [height(each.prepared([])) for each in variants] == [0, 1, 3]
    encoders = [encoder, *variants]
    together(encoders, corpus)  # tries once whether layers can be entered
    computed = Counter()
    hooks = [
        layer.attention.register_forward_hook(lambda *_, number=number: computed.update([number]))
        for number, layer in enumerate(encoder.layers, start=1)
    ]
    together(encoders, corpus)
    for hook in hooks:
        hook.remove()
    assert dict(computed) == {1: 2 * 2, 2: 2 * 3, 3: 2 * 3, 4: 2 * 4}  # in two batches


def test_means_and_other_sentences_are_read_once_and_no_higher_than_needed(encoder, corpus):
    keys = ({"mean": "1.output"}, {"mean": "2.output"}, {"resample": "1.output"}, {"resample": "2.output"})
    encoders = of(encoder, corpus, *keys)
    together(encoders, corpus)
    computed = Counter()
    hook = encoder.layers[1].attention.register_forward_hook(lambda *_: computed.update(["second"]))
    top = encoder.layers[3].attention.register_forward_hook(lambda *_: computed.update(["top"]))
    together(encoders, corpus)
    hook.remove()
    top.remove()
    assert computed["top"] == 2 * 4
    assert computed["second"] == 1 + 2 + 2 * 4  # means of the corpus, other sentences of each batch, each variant


def test_an_encoder_whose_head_reads_all_layers_is_computed_in_full(encoder, corpus):
    mixed = as_features(encoder, seed=1)
    encoders = [mixed, *of(mixed, corpus, {"zero": "2.output"}, {"mean": "3.output"})]
    expected, found = alone(encoders, corpus), together(encoders, corpus)
    assert all(torch.equal(a, b) for batch in zip(found, expected, strict=True) for a, b in zip(*batch, strict=True))


def test_layers_that_change_what_they_read_cannot_be_entered(encoder, corpus):
    """A layer that adds to the states in place would spoil what the next variant reads."""
    import copy

    model = copy.deepcopy(encoder.model)
    spoiling = replace(encoder, model=model)
    layer = spoiling.layers[2]
    forward = type(layer).forward

    def in_place(self, states, *given, **more):
        return forward(self, states.add_(0.5), *given, **more)

    layer.__class__ = type("InPlace", (type(layer),), {"forward": in_place})
    windows = read_windows(spoiling, corpus).windows
    with torch.inference_mode():
        assert not can_enter(spoiling, windows)
    encoders = [spoiling, *of(spoiling, corpus, {"zero": "3.output"}, {"zero": "3.ffn"}, {"zero": "3.attention"})]
    expected, found = alone(encoders, corpus), together(encoders, corpus)
    assert all(torch.equal(a, b) for batch in zip(found, expected, strict=True) for a, b in zip(*batch, strict=True))
