"""Single heads against transformers alone: their outputs are zeroed where its attention functions compute them."""

import copy

import pytest
import torch
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from crosslens.encoders.condition import Condition
from crosslens.encoders.load import load_encoder
from toy_architectures import IDS, MASK, fresh
from toys import word_piece

BERTS = ("bert", "xlm-roberta", "xlm-roberta-xl", "distilbert", "electra", "modernbert")
OTHERS = ("t5", "llama", "qwen3", "gemma3_text")


@pytest.mark.parametrize("kind", [*BERTS, *OTHERS], indirect=True)
@pytest.mark.parametrize(("layer", "head"), [(1, 1), (3, 0)])
def test_a_head_is_zeroed_in_the_layer_and_at_the_place_that_transformers_gives_it(
    kind, layer, head, tmp_path, monkeypatch
):
    tokenizer, model = word_piece(), fresh(kind, 0, word_piece())
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(4)  # so that heads differ
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    encoder = load_encoder(tmp_path, device="cpu")
    called = []

    def attention(module, query, *others, **options):
        output, weights = sdpa_attention_forward(module, query, *others, **options)  # (windows, length, heads, width)
        called.append(output.shape[2])
        return (output.index_fill(2, torch.tensor([head]), 0.0) if len(called) == layer else output), weights

    monkeypatch.setitem(ALL_ATTENTION_FUNCTIONS._global_mapping, "zeroed", attention)
    monkeypatch.setitem(ALL_MASK_ATTENTION_FUNCTIONS._global_mapping, "zeroed", ALL_MASK_ATTENTION_FUNCTIONS["sdpa"])
    model = copy.deepcopy(encoder.model).eval()
    model.set_attn_implementation("zeroed")
    with torch.no_grad():
        expected = model(input_ids=IDS, attention_mask=MASK).last_hidden_state[MASK.bool()]
        zeroed = Condition(zero=f"{layer}.attention.head.{head}").interventions[0].apply(encoder, seed=1).prepared([])
        states, unchanged = (each.states(IDS, MASK)[MASK.bool()] for each in (zeroed, encoder))
    assert called == [2] * encoder.depth
    torch.testing.assert_close(states, expected, rtol=1e-4, atol=1e-4)
    assert (states - unchanged).abs().max() > 0.01
