"""Re-initialisation, saving and fine-tuning of loaded checkpoints of every kind of architecture."""

import math

import pytest
import torch

from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Sentence
from crosslens.encoders.batch import make_batch
from crosslens.encoders.encoder import layer_outputs
from crosslens.encoders.freeze import freeze
from crosslens.encoders.inputs import read_windows
from crosslens.encoders.load import load_encoder, save_encoder
from crosslens.encoders.reinit import random_init
from crosslens.encoders.state_cache import frozen_depth
from crosslens.errors import EncoderError
from crosslens.training.finetune import finetune
from crosslens.training.recipe import Recipe
from toy_architectures import IDS, MASK, bits, changed, fresh, inside, tagged


def test_exactly_the_named_layers_change(loaded):
    before, state = bits(loaded), torch.random.get_rng_state()
    ablated = random_init(loaded, "1-2", seed=1)
    assert changed(before, bits(ablated)) == inside(ablated, 1, 2) == set(ablated.changes[-1].tensors)
    assert changed(before, bits(loaded)) == set()  # the original is left alone
    assert torch.equal(torch.random.get_rng_state(), state)


def test_the_embeddings_change_alone_and_everything_means_everything(loaded):
    before = bits(loaded)
    embeddings = random_init(loaded, "0", seed=1)
    assert changed(before, bits(embeddings)) == set(embeddings.changes[-1].tensors)
    every_layer = inside(loaded, *range(1, loaded.depth + 1))
    assert not changed(before, bits(embeddings)) & every_layer
    assert changed(before, bits(random_init(loaded, "all", seed=1))) == every_layer
    assert changed(before, bits(random_init(loaded, "0,all", seed=1))) == set(before)


def test_the_same_seed_gives_the_same_bits_whatever_else_is_drawn(loaded):
    alone, together = bits(random_init(loaded, "2", seed=7)), bits(random_init(loaded, "0,all", seed=7))
    torch.manual_seed(123)
    again = bits(random_init(loaded, "2", seed=7))
    other = bits(random_init(loaded, "2", seed=8))
    names = inside(loaded, 2)
    assert names
    assert all(torch.equal(alone[name], again[name]) and torch.equal(alone[name], together[name]) for name in names)
    matrices = [name for name in names if alone[name].ndim > 1 and alone[name].std() > 0]
    assert matrices
    assert all(not torch.equal(alone[name], other[name]) for name in matrices)
    first = bits(random_init(loaded, "1", seed=7))
    twins = [(n, n.replace(".1.", ".0.", 1)) for n in matrices]
    assert all(
        not torch.equal(together[n], first[t]) for n, t in twins if t in first and first[t].shape == alone[n].shape
    )


def test_what_is_drawn_has_the_architectures_own_statistics(loaded, kind):
    """Against eight models that the library initialised itself."""
    drawn = [bits(random_init(loaded, "0,all", seed=seed)) for seed in range(8)]
    models = [fresh(kind, seed, loaded.tokenizer) for seed in range(100, 108)]
    own = [dict(model.named_parameters()) for model in models]
    for name in drawn[0]:
        ours, theirs = (torch.stack([d[name].detach() for d in draws]) for draws in (drawn, own))
        if float(theirs.std()) < 1e-7:  # a constant: biases, normalisations
            assert torch.equal(ours, theirs), name
        else:
            count = ours.numel()
            spread = float(theirs.std())
            assert abs(float(ours.std()) / spread - 1) < 6 / math.sqrt(count), name
            assert abs(float(ours.mean() - theirs.mean())) < 6 * spread / math.sqrt(count), name


def test_components_part_a_layer(loaded, kind):
    before = bits(loaded)
    if kind == "bilstm":  # it has one component, which is neither attention nor a normalisation
        assert changed(before, bits(random_init(loaded, "2", seed=3, components="ffn"))) == inside(loaded, 2)
        with pytest.raises(EncoderError, match="have no attention"):
            random_init(loaded, "2", seed=3, components="attention")
        return
    whole = bits(random_init(loaded, "2", seed=3))
    parts = []
    for component in (
        ("attention", "ffn") if kind == "neomme" else ("attention", "ffn", "norms")
    ):  # its norms: no weights
        ablated = random_init(loaded, "2", seed=3, components=component)
        parts.append(changed(before, bits(ablated)))
        assert parts[-1]
        assert all(torch.equal(bits(ablated)[name], whole[name]) for name in parts[-1])
    assert set.union(*parts) == inside(loaded, 2)
    assert sum(map(len, parts)) == len(inside(loaded, 2))
    assert not any("norm" in name.lower() for name in parts[0] | parts[1])


def test_components_that_match_nothing_are_refused(loaded):
    """R5: the published loader went on as if nothing had been asked for."""
    with pytest.raises(EncoderError, match="have no attention parameters"):
        random_init(loaded, "0", seed=1, components="attention")
    with pytest.raises(EncoderError, match="have no embeddings parameters"):
        random_init(loaded, "1-2", seed=1, components="embeddings")


@torch.inference_mode()
def outputs_of_each(encoder, given):
    """What every layer makes of the states that it is given, which need not be those of the layer below."""
    made, hooks = [], []

    def replacing(number):
        def hook(module, args, output):
            made.append((output if isinstance(output, torch.Tensor) else output[0]).clone())
            handed_on = given[number].transpose(0, 1) if encoder.family.time_first else given[number]
            return handed_on if isinstance(output, torch.Tensor) else (handed_on, *output[1:])

        return hook

    for number, layer in enumerate(encoder.layers, start=1):
        last = [*layer.values()][-1] if isinstance(layer, torch.nn.ModuleDict) else layer
        hooks.append(last.register_forward_hook(replacing(number)))
    encoder.states(IDS, MASK)
    for hook in hooks:
        hook.remove()
    return made


def test_a_re_initialised_layer_leaves_the_function_of_all_others(loaded):
    usual = random_init(loaded, "0,all", seed=1)
    noise = torch.Generator().manual_seed(0)
    with torch.no_grad():  # a layer as NeoMME initialises it hands its input on
        for parameter in usual.model.parameters():
            parameter.add_(0.02 * torch.randn(parameter.shape, generator=noise))
        given = layer_outputs(usual, IDS, MASK)
    before = outputs_of_each(usual, given)
    assert len(before) == usual.depth
    for layer in range(1, usual.depth + 1):
        drawn = random_init(usual, str(layer), seed=2)
        same = [torch.equal(a, b) for a, b in zip(before, outputs_of_each(drawn, given), strict=True)]
        assert same == [number != layer for number in range(1, usual.depth + 1)]
        assert not set(drawn.changes[-1].tensors) & set(drawn.shared)
        assert set(drawn.changes[-1].shared) == set(drawn.shared)


def test_saved_and_loaded_it_is_the_same(loaded, tmp_path):
    ablated = random_init(loaded, "1", seed=1)
    save_encoder(ablated, tmp_path / "saved")
    again = load_encoder(tmp_path / "saved", device="cpu")
    assert again.digest == ablated.digest != loaded.digest


def test_every_architecture_is_fine_tuned_with_the_rows_that_occur(loaded):
    usual, corpus = random_init(loaded, "0,all", seed=1), tagged()
    losses = []
    recipe = Recipe(batch=2, epochs=25, learning_rate=1e-2, select="last", encoder_dropout="off")
    model = finetune(usual, "pos", train=corpus, recipe=recipe, stepped=lambda step, loss: losses.append(loss))
    assert losses[-1] < losses[0]
    before, after = bits(usual), bits(model.encoder)
    table = next(n for n, p in usual.model.named_parameters() if p is usual.model.get_input_embeddings().weight)
    moved = (before[table] != after[table]).any(dim=1)
    assert 0 < moved.sum() < len(moved) / 2
    assert model.encoder.model.get_input_embeddings().weight.shape == before[table].shape


def test_the_longest_window_is_read(loaded):
    """Where positions start behind the padding id, the table has fewer of them than rows."""
    words = ("a",) * (loaded.capacity + 10)
    first, *others = read_windows(loaded, Corpus((Sentence(words),), "long", "en")).windows
    assert others
    assert len(first) == loaded.capacity
    batch = make_batch([first], padding=loaded.padding, device=loaded.device)
    with torch.inference_mode():
        states = loaded.states(batch.ids, batch.mask)
    assert states.shape == (1, loaded.capacity, loaded.output_width)
    assert torch.isfinite(states).all()


def test_states_below_the_trained_parameters_stay_as_they_are(loaded):
    """What all layers share is frozen with the lowest ones, which would change with it."""
    frozen = freeze(loaded, "0-1")
    depth = frozen_depth(frozen)
    assert depth == 1
    generator = torch.Generator().manual_seed(0)
    with torch.inference_mode():
        before = layer_outputs(frozen, IDS, MASK)[depth]
    for parameter in frozen.model.parameters():
        if parameter.requires_grad:
            parameter.data += torch.randn(parameter.shape, generator=generator)
    with torch.inference_mode():
        after = layer_outputs(frozen, IDS, MASK)[depth]
    assert torch.equal(before[MASK.bool()], after[MASK.bool()])
