"""Where each supported architecture keeps its layers: one row per family.

Each row was checked by hooks on the layers of a model of that family. Modules outside layers and embeddings (a final
normalisation, a pooler) belong to no layer and are re-initialised only with the whole encoder. The same holds for
parameters that layers share, such as a table of relative positions, because all other layers use them too; they are
frozen together with any layer, because a frozen layer computes with them.
"""

from dataclasses import dataclass

from crosslens.errors import EncoderError, require_known


@dataclass(frozen=True, slots=True)
class Family:
    """Properties of an architecture.

    Attributes:
        name: `model_type` in the configuration.
        layers: path of the list of layers. XLM has four parallel lists, one for each part of a layer.
        embeddings: paths of the modules of layer 0.
        loader: class of `transformers` that loads the encoder without a head.
        attention: attention implementation; ``eager`` where the fused one is not supported.
        pooler: whether the constructor takes ``add_pooling_layer``; the pooler is never used, so it is left out.
        padded_positions: whether positions start after the padding id, which leaves fewer of the table usable.
        decoder: whether the model caches keys and values by default, as decoders do.
        causal: whether subwords attend only to preceding ones.
        time_first: whether states inside the layers are ``(length, windows, width)``.
        reads_numbers: whether the model computes with the ids themselves, not only with their embeddings, so that the
            vocabulary cannot be renumbered.
        shared: paths of modules that several layers use or that lie between two layers; they may be inside a layer.
    """

    name: str
    layers: tuple[str, ...]
    embeddings: tuple[str, ...]
    loader: str = "AutoModel"
    attention: str = "sdpa"
    pooler: bool = False
    padded_positions: bool = False
    decoder: bool = False
    causal: bool = False
    time_first: bool = False
    reads_numbers: bool = False
    shared: tuple[str, ...] = ()


_STACK = ("encoder.layer",)
_EMBEDDINGS = ("embeddings",)
_T5_POSITIONS = ("encoder.block.0.layer.0.SelfAttention.relative_attention_bias",)
_XLM_LISTS = ("attentions", "layer_norm1", "ffns", "layer_norm2")
_XLM_EMBEDDINGS = ("embeddings", "position_embeddings", "layer_norm_emb", "lang_embeddings")

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family("bert", _STACK, _EMBEDDINGS, pooler=True),
        Family("routed-bert", _STACK, _EMBEDDINGS, pooler=True),
        Family("roberta", _STACK, _EMBEDDINGS, pooler=True, padded_positions=True),
        Family("xlm-roberta", _STACK, _EMBEDDINGS, pooler=True, padded_positions=True),
        Family("camembert", _STACK, _EMBEDDINGS, pooler=True, padded_positions=True),
        Family("xlm-roberta-xl", _STACK, _EMBEDDINGS, pooler=True, padded_positions=True),
        Family("distilbert", ("transformer.layer",), _EMBEDDINGS),
        Family("electra", _STACK, ("embeddings", "embeddings_project")),
        Family("deberta", _STACK, _EMBEDDINGS, attention="eager", shared=("encoder.rel_embeddings",)),
        Family(
            "deberta-v2",
            _STACK,
            _EMBEDDINGS,
            attention="eager",
            shared=("encoder.rel_embeddings", "encoder.LayerNorm", "encoder.conv"),
        ),
        Family("modernbert", ("layers",), _EMBEDDINGS),
        Family(
            "rembert", _STACK, ("embeddings", "encoder.embedding_hidden_mapping_in"), attention="eager", pooler=True
        ),
        Family(
            "mpnet",
            _STACK,
            _EMBEDDINGS,
            attention="eager",
            pooler=True,
            padded_positions=True,
            shared=("encoder.relative_attention_bias",),
        ),
        Family("nomic_bert", ("layers",), _EMBEDDINGS, pooler=True),
        Family("jina_embeddings_v3", ("layers",), _EMBEDDINGS, pooler=True),
        Family("gte", ("layers",), _EMBEDDINGS, pooler=True),
        Family("eurobert", ("layers",), ("embed_tokens",)),
        Family("xlm", _XLM_LISTS, _XLM_EMBEDDINGS, attention="eager"),
        Family("t5", ("encoder.block",), ("shared",), loader="T5EncoderModel", attention="eager", shared=_T5_POSITIONS),
        Family(
            "mt5", ("encoder.block",), ("shared",), loader="MT5EncoderModel", attention="eager", shared=_T5_POSITIONS
        ),
        Family("umt5", ("encoder.block",), ("shared",), loader="UMT5EncoderModel", attention="eager"),
        Family("bilstm", ("layers",), _EMBEDDINGS, attention="eager", reads_numbers=True),
        Family("neomme", ("layers",), ("embed_tokens",), shared=("value_embeddings",)),
        Family("xlnet", ("layer",), ("word_embedding",), attention="eager", time_first=True, decoder=True),
        Family("llama", ("layers",), ("embed_tokens",), decoder=True, causal=True),
        Family("qwen2", ("layers",), ("embed_tokens",), decoder=True, causal=True),
        Family("qwen3", ("layers",), ("embed_tokens",), decoder=True, causal=True),
        Family("gemma2", ("layers",), ("embed_tokens",), attention="eager", decoder=True, causal=True),
        Family("gemma3_text", ("layers",), ("embed_tokens",), decoder=True, causal=True),
        Family("smollm3", ("layers",), ("embed_tokens",), decoder=True, causal=True),
    )
}

REFUSED = {
    "albert": "its layers share one set of weights, so no single layer can be re-initialised",
    "canine": "it reads characters and keeps three stacks of layers of different lengths",
    "new": "they run code of their checkpoint; transformers has this architecture as gte, in"
    " alibaba-nlp-community/gte-multilingual-base",
    "neobert": "they run code of their checkpoint, which transformers does not have",
    "gemma3": "they read images too; checkpoints of the text model alone have the type gemma3_text",
}


def find_family(model_type: str) -> Family:
    """Look up the family of a `model_type`.

    Raises:
        EncoderError: for an unsupported architecture, with the reason if known.
    """
    if model_type in REFUSED:
        raise EncoderError(f"{model_type} encoders are not supported: {REFUSED[model_type]}")
    require_known(model_type, FAMILIES, "unsupported architecture", error=EncoderError)
    return FAMILIES[model_type]
