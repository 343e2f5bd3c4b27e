"""Encoders and models of crosslens in nnsight and TransformerLens, as far as those support the family."""

import pytest
import torch

from crosslens.encoders.encoder import layer_outputs
from crosslens.encoders.load import load_encoder
from crosslens.mlm.pretrain import pretrain
from crosslens.mlm.pretrain_settings import Pretraining
from toy_architectures import IDS, MASK
from toys import SENTENCES

TRACED = {"bert": "encoder.layer.1", "xlm-roberta": "encoder.layer.1", "modernbert": "layers.1", "qwen3": "layers.1"}
"""Family -> path of its second layer."""


@pytest.mark.filterwarnings("ignore:Module .* has a submodule named 'output'")  # the names inside BERT's layers
@pytest.mark.parametrize("kind", TRACED, indirect=True)
def test_nnsight_reads_and_changes_layers(loaded, kind):
    nnsight = pytest.importorskip("nnsight", reason="needs nnsight: pip install nnsight")
    traced = nnsight.NNsight(loaded.model)
    options = {"use_cache": False} if loaded.family.decoder else {}
    with torch.inference_mode():
        expected = layer_outputs(loaded, IDS, MASK, last_layer="normalised")
    with torch.no_grad(), traced.trace(input_ids=IDS, attention_mask=MASK, **options):
        layer = traced.get(TRACED[kind]).output.save()
        whole = traced.output.last_hidden_state.save()
    layer = layer[0] if isinstance(layer, tuple) else layer
    kept = MASK.bool()
    torch.testing.assert_close(layer[kept], expected[2][kept], rtol=0, atol=1e-6)
    torch.testing.assert_close(whole[kept], expected[-1][kept], rtol=0, atol=1e-6)


@pytest.fixture(scope="module", params=["masked", "causal"])
def pretrained(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("raw")
    (folder / "en.txt").write_text("\n".join(SENTENCES["en"] * 12), "utf-8")
    shape = {"layers": 2, "width": 16, "heads": 2, "positions": 24}
    settings = {"corpora": {"en": "en.txt"}, "vocabulary": {"size": 120}, "shape": shape, "batch": 4, "steps": 2}
    chosen = Pretraining.model_validate({**settings, "objective": request.param})
    pretrain(chosen, folder / "encoder", base=folder, device="cpu")
    return folder / "encoder"


def test_transformer_lens_has_the_same_layers_of_what_is_pretrained_here(pretrained):
    bridges = pytest.importorskip(
        "transformer_lens.model_bridge", reason="needs TransformerLens: pip install transformer-lens"
    )
    bridge = bridges.TransformerBridge.boot_transformers(str(pretrained), device="cpu")
    encoder = load_encoder(pretrained, device="cpu")
    ids = IDS[:1]
    with torch.inference_mode():
        _, cache = bridge.run_with_cache(ids)
        expected = layer_outputs(encoder, ids, torch.ones_like(ids))
    for layer in (1, 2):
        torch.testing.assert_close(cache[f"blocks.{layer - 1}.hook_out"], expected[layer], rtol=0, atol=1e-5)
