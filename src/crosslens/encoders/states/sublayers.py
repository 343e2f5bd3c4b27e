"""Where each architecture writes the outputs of attention and of the feed-forward part: one row per family.

A row names the linear projections that end the two parts of a layer. The input of the first is the heads side by side,
the input of the second the neurons, and their outputs are added to the residual stream. Gemma 2 and 3 normalise these
outputs before they are added.
"""

from dataclasses import dataclass

from crosslens.encoders.families import FAMILIES


@dataclass(frozen=True, slots=True)
class Sublayers:
    """Paths inside a layer.

    Attributes:
        attention: output projection of attention; None if it is no module of its own.
        ffn: output projection of the feed-forward part; None if there is none.
        attention_norm: normalisation of what attention adds to the residual stream; None if there is none.
        ffn_norm: the same for the feed-forward part.
    """

    attention: str | None = None
    ffn: str | None = None
    attention_norm: str | None = None
    ffn_norm: str | None = None


_BERT = Sublayers("attention.output.dense", "output.dense")
_LLAMA = Sublayers("self_attn.o_proj", "mlp.down_proj")
_GEMMA = Sublayers("self_attn.o_proj", "mlp.down_proj", "post_attention_layernorm", "post_feedforward_layernorm")
_T5 = Sublayers("layer.0.SelfAttention.o", "layer.1.DenseReluDense.wo")
_NOT_BERT = {
    "distilbert": Sublayers("attention.out_lin", "ffn.lin2"),
    "modernbert": Sublayers("attn.Wo", "mlp.Wo"),
    "mpnet": Sublayers("attention.attn.o", "output.dense"),
    "nomic_bert": _LLAMA,
    "jina_embeddings_v3": Sublayers("self_attn.o_proj", "mlp.fc2"),
    "gte": _LLAMA,
    "eurobert": _LLAMA,
    "xlm": Sublayers("attentions.out_lin", "ffns.lin2"),
    "t5": _T5,
    "mt5": _T5,
    "umt5": _T5,
    "bilstm": Sublayers(),
    "neomme": Sublayers("self_attn.output_projection.o_proj", "mlp.down_proj"),
    "xlnet": Sublayers(None, "ff.layer_2"),
    "llama": _LLAMA,
    "qwen2": _LLAMA,
    "qwen3": _LLAMA,
    "gemma2": _GEMMA,
    "gemma3_text": _GEMMA,
    "smollm3": _LLAMA,
}
SUBLAYERS = {name: _NOT_BERT.get(name, _BERT) for name in FAMILIES}
"""Name of the family -> paths of its parts."""
