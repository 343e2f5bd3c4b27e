"""How decoders read: laws of attention without causal mask, repeated input and the subword of a word."""

import copy

import numpy as np
import pytest
import torch
from tokenizers import processors
from transformers import CONFIG_MAPPING
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

import crosslens as xl
from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Sentence, Text
from crosslens.encoders.batch import make_batch
from crosslens.encoders.condition import Condition
from crosslens.encoders.encoder import Encoder, layer_outputs
from crosslens.encoders.families import FAMILIES
from crosslens.encoders.inputs import read_texts, read_windows
from crosslens.encoders.represent import represent
from crosslens.errors import EncoderError, RequestError
from crosslens.tasks import find_task
from crosslens.training.identity import run_id, training_identity
from crosslens.training.recipe import Recipe
from toy_architectures import IDS, MASK, fresh
from toys import metaspace, word_piece

CAUSAL = [name for name, family in FAMILIES.items() if family.causal and name in CONFIG_MAPPING]
SENTENCE = Sentence(("the", "small", "dog", "sees", "a", "zebra"))
CORPUS = Corpus((SENTENCE, Sentence(("a", "cat"))), "c", "en")


def decoder(kind="llama", tokenizer=None, **settings):
    tokenizer = tokenizer or word_piece()
    model = fresh(kind, 0, tokenizer, **settings).eval()
    noise = torch.Generator().manual_seed(0)
    with torch.no_grad():  # some architectures are initialised with layers that change next to nothing
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn(parameter.shape, generator=noise))
    return Encoder(model, tokenizer, FAMILIES[kind], kind)


def influences(encoder, ids, position):
    """Whether each input position has a gradient in the state of one position, ``(length,)`` bool."""
    embedded = []

    def keep(module, arguments, output):
        embedded.append(output.detach().requires_grad_())
        return embedded[0]

    hook = encoder.model.get_input_embeddings().register_forward_hook(keep)
    torch.manual_seed(0)
    state = encoder.states(ids, torch.ones_like(ids))[0, position]
    hook.remove()
    (state * torch.randn(state.shape)).sum().backward()
    return embedded[0].grad[0].abs().amax(-1) > 0


@pytest.mark.parametrize("kind", CAUSAL)
def test_a_causal_mask_hides_later_subwords_until_it_is_lifted_in_a_layer(kind):
    loaded, ids = decoder(kind), IDS[:1]
    assert loaded.causal
    assert influences(loaded, ids, 2).tolist() == [True, True, True, False, False]
    for layers in ("all", "1", "3"):
        assert influences(xl.read_as(loaded, bidirectional=layers), ids, 2).all(), layers


@pytest.mark.parametrize("kind", CAUSAL)
@torch.inference_mode()
def test_layers_below_a_lifted_one_and_padding_change_nothing(kind):
    loaded = decoder(kind)
    lifted = xl.read_as(loaded, bidirectional="2")
    before, after = layer_outputs(loaded, IDS, MASK), layer_outputs(lifted, IDS, MASK)
    same = [torch.equal(a, b) for a, b in zip(before, after, strict=True)]
    assert same[:2] == [True, True]
    assert not any(same[2:])
    whole = xl.read_as(loaded, bidirectional="all", repeat=2)
    alone = whole.states(IDS[1:, :3], MASK[1:, :3])
    torch.testing.assert_close(whole.states(IDS, MASK)[1:, :3], alone, rtol=1e-5, atol=1e-5)


def attended(layer, config, states, rotation):
    """The output of a Llama layer in which every position attends to all: plain sums, one position at a time."""
    attention, heads = layer.self_attn, config.num_attention_heads
    shape = (*states.shape[:2], -1, config.head_dim)
    normed = layer.input_layernorm(states)
    query, key, value = (
        projection(normed).view(shape).transpose(1, 2)
        for projection in (attention.q_proj, attention.k_proj, attention.v_proj)
    )
    query, key = apply_rotary_pos_emb(query, key, *rotation)
    group = heads // config.num_key_value_heads
    out = torch.zeros(1, states.shape[1], heads, config.head_dim)
    for head in range(heads):
        for place in range(states.shape[1]):
            scores = [
                query[0, head, place] @ key[0, head // group, other] / config.head_dim**0.5
                for other in range(states.shape[1])
            ]
            weights = torch.softmax(torch.stack(scores), 0)
            out[0, place, head] = sum(w * v for w, v in zip(weights, value[0, head // group], strict=True))
    states = states + attention.o_proj(out.flatten(2))
    return states + layer.mlp(layer.post_attention_layernorm(states))


@torch.inference_mode()
def test_without_any_causal_mask_it_is_the_encoder_with_the_same_weights():
    loaded, ids = decoder(), IDS[:1]
    config, states = loaded.model.config, loaded.model.embed_tokens(ids)
    rotation = loaded.model.rotary_emb(states, position_ids=torch.arange(ids.shape[1])[None])
    for layer in loaded.layers:
        states = attended(layer, config, states, rotation)
    lifted = xl.read_as(loaded, bidirectional="all").states(ids, torch.ones_like(ids))
    torch.testing.assert_close(lifted, loaded.model.norm(states), rtol=1e-5, atol=1e-5)


def test_a_sliding_window_opens_to_both_sides():
    """Of 9 positions, a layer with a window of 3 sees two before and, without causal mask, two behind."""
    settings = {"sliding_window": 3, "layer_types": ["sliding_attention"] * 3, "num_hidden_layers": 3}
    ids = torch.arange(2, 11)[None]
    seen = influences(xl.read_as(decoder("gemma3_text", **settings), bidirectional="1"), ids, 4)
    # Layers 2 and 3 see two before each, so position 4 sees the two behind it only through layer 1.
    assert seen.tolist() == [True] * 7 + [False] * 2


@pytest.mark.parametrize("keys", [{"resample": "2.output"}, {"mean": "2.output"}], ids=str)
@torch.inference_mode()
def test_what_an_intervention_reads_elsewhere_is_not_read_under_the_mask_of_this_batch(keys):
    """Resampling reads sentences of other lengths; their states must not depend on what they replace."""
    lifted = xl.read_as(decoder(), bidirectional="all")
    windows = read_windows(lifted, CORPUS).windows
    edited = Condition(**keys).interventions[0].apply(lifted, seed=1).prepared(windows)

    def states(windows):
        batch = make_batch(windows, padding=lifted.padding, device=lifted.device)
        return edited.states(batch.ids, batch.mask)[batch.mask.bool()]

    alone = [states([window]) for window in reversed(windows)]  # the shorter one first
    torch.testing.assert_close(states(windows), torch.cat(alone[::-1]), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", ["llama", "gemma2"])
def test_in_repeated_input_a_word_sees_the_next_one(kind):
    loaded = decoder(kind)
    once, twice = (read_windows(each, CORPUS).windows[0] for each in (loaded, xl.read_as(loaded, repeat=2)))
    inner = once.ids[slice(*once.span)]
    assert twice.ids.tolist() == [once.ids[0], *inner, *inner, once.ids[-1]]
    assert (twice.ids[twice.labelled] == once.ids[once.labelled]).all()
    assert twice.ids[slice(*twice.span)].tolist() == inner.tolist()
    ids = torch.from_numpy(twice.ids)[None]
    first, second = twice.labelled[:2]
    seen = influences(loaded, ids, int(first))
    next_word_before = int(second) - len(inner)
    assert seen[next_word_before]  # in the first copy
    assert not seen[int(second) :].any()
    assert not influences(loaded, torch.from_numpy(once.ids)[None], int(once.labelled[0]))[once.labelled[1]]


@torch.inference_mode()
def test_positions_are_those_of_the_plain_library():
    loaded = decoder()
    window = read_windows(xl.read_as(loaded, repeat=3), CORPUS).windows[0]
    ids = torch.from_numpy(window.ids)[None]
    plain = copy.deepcopy(loaded.model)(input_ids=ids, position_ids=torch.arange(ids.shape[1])[None])
    ours = xl.read_as(loaded, repeat=3).states(ids, torch.ones_like(ids))
    assert torch.equal(ours, plain.last_hidden_state)


def test_the_last_subword_of_a_word_answers_for_it():
    for tokenizer in (word_piece(), metaspace()):
        loaded = decoder(tokenizer=tokenizer)
        (first, _), (last, _) = (read_windows(e, CORPUS).windows for e in (loaded, xl.read_as(loaded, subword="last")))
        assert first.ids.tolist() == last.ids.tolist()
        ends = [place for place in range(*last.span) if place + 1 == last.span[1] or place in last.labelled]
        assert last.labelled.tolist() == ends
        owners = [tokenizer(word, add_special_tokens=False)["input_ids"] for word in SENTENCE.words]
        assert last.labelled.tolist() == (np.cumsum([len(ids) for ids in owners]) + last.span[0] - 1).tolist()
        assert any(f < n for f, n in zip(first.labelled, last.labelled, strict=True))


def test_a_long_sentence_is_cut_into_windows_that_hold_its_copies():
    long = Corpus((Sentence(("dog",) * 50),), "c", "en")
    read = read_windows(xl.read_as(decoder(), repeat=2), long, window=30)
    assert all(len(window) <= 30 for window in read.windows)
    assert sorted(w for window in read.windows for w in range(window.first, window.last)) == list(range(50))
    with pytest.raises(EncoderError, match="leave no room"):
        read_windows(xl.read_as(decoder(), repeat=40), long, window=30)


@torch.inference_mode()
def test_texts_are_repeated_and_pooled_over_the_last_copy():
    loaded = decoder()
    texts = Corpus((Text(("a cat",)), Text(("the dog", "a cat"))), "t", "en")
    once, twice = (read_texts(each, texts).windows for each in (loaded, xl.read_as(loaded, repeat=2)))
    for before, after in zip(once, twice, strict=True):
        inner = before.ids[1:-1].tolist()
        assert after.ids.tolist() == [before.ids[0], *inner, *inner, before.ids[-1]]
        assert after.span == (1 + len(inner), 1 + 2 * len(inner))
        assert after.labelled.tolist() == [len(after) - 1]
    with pytest.raises(EncoderError, match="leave no room for 40 copies"):
        read_texts(xl.read_as(loaded, repeat=40), texts, window=30)
    sentences = Corpus((Sentence(("a", "cat")),), "s", "en")
    vectors = represent(xl.read_as(loaded, repeat=2), sentences).vectors
    (window,) = read_windows(xl.read_as(loaded, repeat=2), sentences).windows
    outputs = layer_outputs(loaded, torch.from_numpy(window.ids)[None], torch.ones(1, len(window), dtype=torch.long))
    wanted = torch.stack([layer[0, slice(*window.span)].mean(0) for layer in outputs])
    np.testing.assert_allclose(vectors[:, 0], wanted, rtol=1e-5, atol=1e-6)


@torch.inference_mode()
def test_without_special_tokens_no_word_stands_for_a_repeated_sentence():
    tokenizer = word_piece()
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(single="$A", special_tokens=[])
    twice = xl.read_as(decoder(tokenizer=tokenizer), repeat=2)
    batch = make_batch(read_windows(twice, CORPUS).windows, padding=twice.padding, device=twice.device)
    states = twice.states(batch.ids, batch.mask)
    assert torch.equal(batch.sentence_states(states), batch.mean_states(states))
    with pytest.raises(EncoderError, match="no special token before the first word"):
        represent(twice, CORPUS, pooling="cls")


def test_the_default_is_what_it_was():
    loaded = decoder()
    default = xl.read_as(loaded)
    assert default is loaded
    identity = {"seed": 1, "recipe": Recipe(), "train": "t", "dev": None, "encoder": "e"}
    ids = [
        run_id(training_identity(condition=e.condition, task=find_task("pos"), **identity))
        for e in (loaded, default, xl.read_as(loaded, bidirectional="all"), xl.read_as(loaded, repeat=2))
    ]
    assert ids[0] == ids[1]
    assert len(set(ids)) == 3


def test_what_cannot_be_asked_for(encoder, tmp_path):
    loaded = decoder()
    with pytest.raises(EncoderError, match="has no causal mask"):
        xl.read_as(encoder, bidirectional="all")
    with pytest.raises(EncoderError, match="has no causal mask"):
        xl.read_as(decoder("gemma3_text", use_bidirectional_attention=True), bidirectional="all")
    with pytest.raises(EncoderError, match="layer 4 does not exist"):
        xl.read_as(loaded, bidirectional="4")
    with pytest.raises(EncoderError, match="embeddings have no causal mask"):
        xl.read_as(loaded, bidirectional="0-2")
    with pytest.raises(RequestError, match="repeat"):
        xl.read_as(loaded, repeat=0)
    with pytest.raises(EncoderError, match="has repeat=2 already"):
        xl.read_as(xl.read_as(loaded, repeat=2), subword="last")
    with pytest.raises(RequestError, match="cannot save how"):
        xl.save_encoder(xl.read_as(loaded, repeat=2), tmp_path / "saved")
    with pytest.raises(RequestError, match="reads a text once"):
        represent(xl.read_as(loaded, repeat=2), CORPUS, pooling="muller2021-code")
