"""RANDOM-INIT, freezing and layer outputs on loaded checkpoints of every kind of architecture."""

import copy
import math

import pytest
import torch
import transformers
from transformers import CONFIG_MAPPING, AutoConfig, AutoModel

from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Sentence
from crosslens.encoders.encoder import layer_outputs
from crosslens.encoders.families import FAMILIES
from crosslens.encoders.freeze import freeze
from crosslens.encoders.load import load_encoder, save_encoder
from crosslens.encoders.reinit import random_init
from crosslens.errors import EncoderError
from crosslens.training.finetune import finetune
from crosslens.training.recipe import Recipe
from toys import word_piece

BERT = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 48}
DECODER = {**BERT, "num_key_value_heads": 1, "head_dim": 16, "max_position_embeddings": 64}
SPECIAL = {"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3}
SETTINGS = {
    "bert": {**BERT, "initializer_range": 0.1},
    "roberta": {**BERT, "pad_token_id": 0, "max_position_embeddings": 70},
    "xlm-roberta": {**BERT, "pad_token_id": 0, "max_position_embeddings": 70},
    "camembert": {**BERT, "pad_token_id": 0, "max_position_embeddings": 70},
    "xlm-roberta-xl": {**BERT, "pad_token_id": 0, "max_position_embeddings": 70},
    "distilbert": {"dim": 32, "n_layers": 3, "n_heads": 2, "hidden_dim": 48},
    "electra": {**BERT, "embedding_size": 16},
    "deberta": {**BERT, "relative_attention": True, "pos_att_type": ["c2p", "p2c"]},
    "deberta-v2": {
        **BERT,
        "relative_attention": True,
        "position_biased_input": False,
        "type_vocab_size": 0,
        "pos_att_type": ["p2c", "c2p"],
        "norm_rel_ebd": "layer_norm",
        "share_att_key": True,
        "position_buckets": 16,
    },
    "modernbert": {**BERT, **SPECIAL, "cls_token_id": 2, "sep_token_id": 3},
    "rembert": {**BERT, "input_embedding_size": 16, "output_embedding_size": 20},
    "mpnet": {**BERT, "pad_token_id": 0},
    "nomic_bert": BERT,
    "jina_embeddings_v3": {**BERT, "pad_token_id": 0},
    "eurobert": {**DECODER, **SPECIAL, "mask_token_id": 4},
    "xlm": {"emb_dim": 32, "n_layers": 3, "n_heads": 2, "pad_index": 0},
    "t5": {"d_model": 32, "d_ff": 48, "num_layers": 3, "num_heads": 2, "d_kv": 16},
    "mt5": {"d_model": 32, "d_ff": 48, "num_layers": 3, "num_heads": 2, "d_kv": 16},
    "umt5": {"d_model": 32, "d_ff": 48, "num_layers": 3, "num_heads": 2, "d_kv": 16},
    "bilstm": {"hidden_size": 32, "num_hidden_layers": 3, "character_size": 8, "character_hidden": 8, "word_size": 8},
    "neomme": {**DECODER, **SPECIAL, "num_attention_heads": 2, "num_key_value_heads": 2},
    "xlnet": {"d_model": 32, "n_layer": 3, "n_head": 2, "d_inner": 48, "d_head": 16, "pad_token_id": 0},
    "llama": {**DECODER, **SPECIAL},
    "qwen2": {**DECODER, **SPECIAL},
    "qwen3": {**DECODER, **SPECIAL},
    "gemma2": {**DECODER, **SPECIAL},
    "gemma3_text": {**DECODER, **SPECIAL},
}


def fresh(kind, seed, tokenizer):
    config = AutoConfig.for_model(kind, vocab_size=len(tokenizer) + 4, **copy.deepcopy(SETTINGS[kind]))
    loader = getattr(transformers, FAMILIES[kind].loader)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return (loader.from_config if loader is AutoModel else loader)(config)


@pytest.fixture(scope="module", params=sorted(SETTINGS))
def kind(request):
    if request.param not in CONFIG_MAPPING:
        pytest.skip(f"this transformers has no {request.param} yet")
    return request.param


@pytest.fixture(scope="module")
def loaded(kind, tmp_path_factory):
    """A checkpoint whose every parameter is far from any initialisation, loaded."""
    tokenizer = word_piece()
    model = fresh(kind, 0, tokenizer)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.37)
    folder = tmp_path_factory.mktemp(kind) / "checkpoint"
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return load_encoder(folder, device="cpu")


def bits(encoder):
    return {name: parameter.detach().clone() for name, parameter in encoder.model.named_parameters()}


def tagged():
    sentences = Sentence(("a", "cat"), ("DET", "NOUN")), Sentence(("the", "dog", "."), ("DET", "NOUN", "X"))
    return Corpus(sentences, "c", "en")


def changed(before, after):
    return {name for name in before if not torch.equal(before[name], after[name])}


def inside(encoder, *layers):
    wanted = {id(p) for layer in layers for p in encoder.own(layer).values()}
    return {name for name, p in encoder.model.named_parameters() if id(p) in wanted}


def test_every_family_is_tested():
    assert set(SETTINGS) | {"routed-bert"} == set(FAMILIES)  # that one has a file of its own


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


def test_freezing_freezes_these_and_no_others(loaded):
    frozen = freeze(loaded, "0-1")
    still = {name for name, p in frozen.model.named_parameters() if not p.requires_grad}
    assert still == set(frozen.changes[-1].tensors)
    assert inside(frozen, 1) <= still
    assert not still & inside(frozen, 2, 3)
    assert any("embed" in name or "shared" in name for name in still)
    assert all(p.requires_grad for p in loaded.model.parameters())


IDS = torch.tensor([[2, 6, 7, 8, 3], [2, 9, 3, 0, 0]])
MASK = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])


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


@pytest.mark.parametrize("layers", ["0-3", "0-1"])
def test_frozen_layers_compute_the_same_after_training(loaded, layers):
    usual = random_init(loaded, "0,all", seed=1)
    recipe = Recipe(batch=2, epochs=3, learning_rate=1e-1, weight_decay=0.5, select="last", encoder_dropout="off")
    trained = finetune(freeze(usual, layers), "pos", train=tagged(), recipe=recipe).encoder
    with torch.inference_mode():
        before, after = layer_outputs(usual, IDS, MASK), layer_outputs(trained, IDS, MASK)
    kept = [bool(torch.equal(a[MASK.bool()], b[MASK.bool()])) for a, b in zip(before, after, strict=True)]
    assert kept == [number <= int(layers[-1]) for number in range(usual.depth + 1)]


def test_what_layers_share_is_said_in_the_record(loaded, kind):
    expected = {
        "deberta": {"encoder.rel_embeddings.weight"},
        "deberta-v2": {"encoder.rel_embeddings.weight", "encoder.LayerNorm.weight", "encoder.LayerNorm.bias"},
        "mpnet": {"encoder.relative_attention_bias.weight"},
        "t5": {"encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"},
        "mt5": {"encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"},
        "neomme": {"value_embeddings.weight"},
    }.get(kind, set())
    (drawn,), (frozen,) = random_init(loaded, "1", seed=1).changes, freeze(loaded, "1").changes
    assert set(drawn.shared) == set(frozen.shared) == expected
    assert expected <= set(frozen.tensors)
    assert not freeze(loaded, "0").changes[-1].shared
    (everything,) = random_init(loaded, "0,all", seed=1).changes
    assert expected <= set(everything.tensors)
    for name in expected:
        assert drawn.described.endswith("which is not re-initialised")
        assert name in drawn.described
        assert "among them what all layers share" in frozen.described
        assert "not re-initialised" not in everything.described


def test_a_convolution_between_two_layers_is_frozen_with_them(tmp_path):
    config = AutoConfig.for_model("deberta-v2", vocab_size=100, conv_kernel_size=3, **SETTINGS["deberta-v2"])
    AutoModel.from_config(config).save_pretrained(tmp_path)
    word_piece().save_pretrained(tmp_path)
    frozen = freeze(load_encoder(tmp_path, device="cpu"), "0-3")
    convolution = list(frozen.model.encoder.conv.parameters())
    assert convolution
    assert not any(parameter.requires_grad for parameter in convolution)


def test_layer_outputs_are_raw_and_line_up(loaded):
    ids, mask = IDS, MASK
    with torch.inference_mode():
        outputs = layer_outputs(loaded, ids, mask)
        last = loaded.states(ids, mask)
        reported = loaded.model(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states
        for highest in range(loaded.depth + 1):
            lower = layer_outputs(loaded, ids, mask, highest=highest)
            assert len(lower) == highest + 1
            for mine, its in zip(lower, outputs, strict=False):  # XLM empties padding behind each layer
                assert torch.equal(mine[mask.bool()], its[mask.bool()])
    assert [tuple(o.shape) for o in outputs] == [(2, 5, loaded.width)] * (loaded.depth + 1)
    real = mask.bool()
    for ours, theirs in zip(outputs[:-1], reported[:-1], strict=True):
        torch.testing.assert_close(ours[real], theirs[real])
    finals = ("norm", "final_norm", "final_layer_norm", "encoder.final_layer_norm", "encoder.LayerNorm")
    normed = outputs[-1]
    for path in finals:
        module = dict(loaded.model.named_modules()).get(path)
        if module is not None and loaded.family.name not in ("deberta-v2", "bert"):
            with torch.inference_mode():
                normed = module(outputs[-1])
    torch.testing.assert_close(normed[real], last[real], rtol=1e-4, atol=1e-5)


@pytest.mark.rounding
def test_padding_does_not_move_a_sentence(loaded):
    short = torch.tensor([[2, 9, 7, 3]])
    long = torch.tensor([[2, 9, 7, 3, 0, 0, 0], [2, 9, 10, 11, 12, 13, 3]])
    with torch.inference_mode():
        usual = random_init(loaded, "0,all", seed=1)  # weights of the usual size, so that rounding stays small
        alone = usual.states(short, torch.ones_like(short))
        padded = usual.states(long, (torch.arange(7) < torch.tensor([[4], [7]])).long())
    torch.testing.assert_close(padded[:1, :4], alone, rtol=1e-4, atol=1e-5)


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
