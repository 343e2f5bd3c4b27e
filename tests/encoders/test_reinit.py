"""The published loader's bugs, each a test (R5, R6), on BERTs of a size where they show."""

import copy
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import BertConfig, BertModel

from crosslens.digests import stream_seed
from crosslens.encoders import reinit
from crosslens.encoders.encoder import Encoder
from crosslens.encoders.families import FAMILIES
from crosslens.encoders.freeze import freeze
from crosslens.encoders.load import load_encoder
from crosslens.encoders.reinit import random_init, untrained_pair
from crosslens.errors import EncoderError
from toy_architectures import fresh
from toys import word_piece


def save_bert(folder, *, prefix="", **settings):
    tokenizer = word_piece()
    config = BertConfig(vocab_size=len(tokenizer), max_position_embeddings=64, **settings)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = BertModel(config, add_pooling_layer=False)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.37)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    if prefix:
        tensors = load_file(folder / "model.safetensors")
        save_file({prefix + name: t for name, t in tensors.items()}, folder / "model.safetensors", {"format": "pt"})
    return load_encoder(folder, device="cpu")


@pytest.mark.parametrize("prefix", ["", "bert."])
def test_layer_2_is_layer_2_and_neither_10_nor_11_nor_12(tmp_path, prefix):
    """R5: patterns of names hit layers 10 and 11 too, and nothing where the prefix was another."""
    encoder = save_bert(
        tmp_path / "deep",
        prefix=prefix,
        hidden_size=16,
        num_hidden_layers=12,
        num_attention_heads=2,
        intermediate_size=24,
    )
    for number in (1, 2, 11):
        ablated = random_init(encoder, str(number), seed=1)
        before, after = encoder.model.state_dict(), ablated.model.state_dict()
        changed = {name for name in before if not torch.equal(before[name], after[name])}
        assert len(changed) == 16
        assert all(name.startswith(f"encoder.layer.{number - 1}.") for name in changed)


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wide") / "wide"
    return save_bert(
        folder,
        hidden_size=384,
        num_hidden_layers=2,
        num_attention_heads=6,
        intermediate_size=1536,
        initializer_range=0.02,
    )


def test_the_default_is_the_architectures_normal(wide):
    """R6: standard deviation 0.02 in every matrix, biases 0, normalisations 1 and 0."""
    layer = random_init(wide, "2", seed=5).layers[1]
    for name, parameter in layer.state_dict().items():
        if parameter.ndim > 1:
            assert abs(float(parameter.std()) / 0.02 - 1) < 0.02, name
            assert abs(float(parameter.mean())) < 0.0005, name
            assert float(parameter.abs().max()) > 0.06, name  # normal, not uniform
        else:
            assert torch.equal(parameter, torch.full_like(parameter, 1.0 if name.endswith("Norm.weight") else 0.0))


def test_torch_is_what_the_published_loader_left(wide):
    """R6: uniform within 1/sqrt(fan in), with random biases."""
    layer = random_init(wide, "2", seed=5, init="torch").layers[1]
    for name, parameter in layer.state_dict().items():
        if "LayerNorm" in name:
            assert torch.equal(parameter, torch.full_like(parameter, 1.0 if name.endswith("weight") else 0.0))
        elif parameter.ndim > 1:
            assert abs(float(parameter.std()) / (1 / (3 * parameter.shape[1]) ** 0.5) - 1) < 0.02, name
            assert float(parameter.abs().max()) <= 1 / parameter.shape[1] ** 0.5
        else:
            assert float(parameter.std()) > 0.005, name


@pytest.mark.parametrize("kind", ["bert", "t5", "llama", "gemma2", "gemma3_text"])
def test_normalisations_begin_the_same_with_either_initialiser(kind):
    """Gemma's multiply by one plus their weight, so that theirs is zero."""
    encoder = Encoder(fresh(kind, 0, word_piece()), word_piece(), FAMILIES[kind], kind)
    with torch.no_grad():
        for parameter in encoder.model.parameters():
            parameter.add_(0.37)
    torchs, own = (
        random_init(encoder, "2", seed=1, components="norms", init=init) for init in ("torch", "architecture")
    )
    names = torchs.changes[-1].tensors
    assert names
    for name in names:
        assert torch.equal(torchs.model.get_parameter(name), own.model.get_parameter(name)), name


def test_every_layer_is_drawn_by_itself_and_from_the_seed(encoder):
    def drawn(layers, seed):
        return [layer.state_dict() for layer in random_init(encoder, layers, seed=seed).layers]

    both, first, other = drawn("1-2", 1), drawn("1", 1), drawn("1", 2)
    matrices = [name for name, tensor in both[0].items() if tensor.ndim > 1]
    assert len(matrices) == 6
    for name in matrices:
        assert not torch.equal(both[0][name], both[1][name])
        assert torch.equal(both[0][name], first[0][name])
        assert not torch.equal(first[0][name], other[0][name])


def test_every_layer_has_a_stream_of_random_numbers_of_its_own(encoder, monkeypatch):
    """Named, so that nothing else that is drawn with the seed has the same one."""
    paths = []
    monkeypatch.setattr(reinit, "stream_seed", lambda *path: paths.append(path) or stream_seed(*path))
    random_init(encoder, "0-2", seed=7)
    random_init(encoder, "0,all", seed=7)
    assert paths[:3] == [(7, "random-init", layer) for layer in (0, 1, 2)]
    assert paths[3:] == [(7, "random-init", layer) for layer in range(5)]


def test_a_tensor_is_named_once_however_many_layers_are_drawn(encoder):
    for layers, count in (("0", 5), ("all", 64), ("0,all", 69)):
        tensors = random_init(encoder, layers, seed=1).changes[-1].tensors
        assert len(tensors) == len(set(tensors)) == count


def test_the_components_of_a_layer_are_all_of_it_each_once(encoder):
    parts = {
        components: random_init(encoder, "2", seed=1, components=components).changes[-1].tensors
        for components in ("attention", "ffn", "norms")
    }
    named = sorted(name for names in parts.values() for name in names)
    assert named == sorted(random_init(encoder, "2", seed=1).changes[-1].tensors)
    assert [len(names) for names in parts.values()] == [8, 4, 4]
    assert all("LayerNorm" in name for name in parts["norms"])
    assert all(".attention." in name for name in parts["attention"])


def test_frozen_are_the_tensors_that_the_change_names_and_no_others(encoder):
    for layers, count in (("0", 5), ("2", 16), ("0-1", 21), ("0-4", 69)):
        frozen = freeze(encoder, layers)
        still = {name for name, parameter in frozen.model.named_parameters() if not parameter.requires_grad}
        assert still == set(frozen.changes[-1].tensors)
        assert len(still) == count
    assert all(parameter.requires_grad for parameter in encoder.model.parameters())


@pytest.mark.parametrize("init", ["architecture", "torch"])
@pytest.mark.parametrize("layers", ["2", "0,all"])
def test_what_is_drawn_depends_on_neither_the_weights_nor_their_precision(encoder, layers, init):
    """It is drawn in float32, whatever the encoder has; its configuration stays as it is."""
    config = copy.deepcopy(encoder.model.config.to_dict())
    precise = replace(encoder, model=copy.deepcopy(encoder.model).double())
    with torch.no_grad():
        for parameter in precise.model.parameters():
            parameter.mul_(-3)
    state = torch.random.get_rng_state()
    drawn, other = (random_init(each, layers, seed=1, init=init) for each in (encoder, precise))
    assert torch.equal(torch.random.get_rng_state(), state)
    names = drawn.changes[-1].tensors
    assert names == other.changes[-1].tensors
    for name in names:
        value = other.model.get_parameter(name)
        assert value.dtype == torch.float64
        assert torch.equal(drawn.model.get_parameter(name).double(), value), name
    assert encoder.model.config.to_dict() == drawn.model.config.to_dict() == config
    change = drawn.changes[-1]
    assert (change.seed, change.intervention.layers, change.intervention.init) == (
        1,
        {"2": "2"}.get(layers, "0-4"),
        init,
    )


def test_a_layer_that_nothing_initialises_is_named_and_nothing_is_changed(encoder, monkeypatch):
    before = {name: parameter.clone() for name, parameter in encoder.model.named_parameters()}
    monkeypatch.setattr(type(encoder.model), "_init_weights", lambda self, module: None)
    with pytest.raises(
        EncoderError, match=r"cannot re-initialise attention\.self\.query\.weight: the architecture has no"
    ):
        random_init(encoder, "1", seed=1)
    assert all(torch.equal(before[name], parameter) for name, parameter in encoder.model.named_parameters())


@pytest.mark.parametrize("pooler", [True, False])
def test_a_pooler_is_drawn_where_there_is_one_and_only_with_everything(tmp_path, pooler):
    model = BertModel(
        BertConfig(vocab_size=20, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8),
        add_pooling_layer=pooler,
    )
    loaded = replace(
        save_bert(tmp_path / "small", hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8),
        model=model,
    )
    names = {layers: random_init(loaded, layers, seed=1).changes[-1].tensors for layers in ("0", "0,all")}
    assert set(names["0,all"]) == {name for name, _ in model.named_parameters()}
    assert any(name.startswith("pooler.") for name in names["0,all"]) is pooler
    assert not any(name.startswith("pooler.") for name in names["0"])
    by_torch = random_init(loaded, "0,all", seed=1, init="torch").changes[-1].tensors
    assert set(by_torch) == set(names["0,all"])


def test_two_untrained_encoders_have_nothing_in_common_and_one_is_one(encoder):
    first, second = untrained_pair(encoder, encoder, seed=1)
    assert first is second
    twin = replace(encoder, model=copy.deepcopy(encoder.model))
    pairs = [untrained_pair(encoder, twin, seed=seed) for seed in (1, 2)]
    weights = [each.model.encoder.layer[0].attention.self.query.weight for pair in pairs for each in pair]
    assert all(not torch.equal(a, b) for place, a in enumerate(weights) for b in weights[:place])
    assert torch.equal(weights[0], first.model.encoder.layer[0].attention.self.query.weight)
    assert all(each.condition.is_untrained(each.depth) for pair in pairs for each in pair)
    usual = random_init(encoder, "0,all", seed=1)
    assert torch.equal(weights[0], usual.model.encoder.layer[0].attention.self.query.weight)


def test_ablating_twice_keeps_both_in_the_record(encoder):
    twice = random_init(random_init(encoder, "1", seed=1), "3-4", seed=2)
    assert twice.condition.columns["ablation"] == "1;3-4"
    assert twice.condition.label == "1;3-4"
    assert [change.seed for change in twice.changes] == [1, 2]
    assert encoder.condition.is_reference
    assert twice.loaded_digest == encoder.digest != twice.digest


def test_parameters_without_a_default_of_pytorchs_are_said_to_have_none():
    """The biases of DeBERTa's attention are no module's; the architecture does initialise them."""
    deberta = Encoder(fresh("deberta", 0, word_piece()), word_piece(), FAMILIES["deberta"], "deberta")
    with pytest.raises(EncoderError, match=r"self\.q_bias: PyTorch has no default initialiser.*the architecture"):
        random_init(deberta, "2", seed=1, init="torch")
    assert random_init(deberta, "2", seed=1).changes


def test_wrong_choices_are_refused(encoder):
    with pytest.raises(EncoderError, match=r"unknown component 'attn'.*did you mean|unknown component 'attn'"):
        random_init(encoder, "1", seed=1, components="attn")
    with pytest.raises(EncoderError, match=r"unknown component \['attention', 'ffn'\] \(known: all, attention, "):
        random_init(encoder, "1", seed=1, components=["attention", "ffn"])
    with pytest.raises(EncoderError, match="unknown init 'zeros'"):
        random_init(encoder, "1", seed=1, init="zeros")
    with pytest.raises(EncoderError, match=r"layer 5 does not exist.*layers 1 to 4"):
        random_init(encoder, "5", seed=1)
