"""A random BERT of 4 layers and width 256 with a vocabulary of 16,000 pieces: what the benchmarks are run on.

python benchmarks/make_encoder.py FOLDER TEXT.conllu...
"""

import sys

import torch
from transformers import BertConfig, BertModel

from crosslens import load_corpus
from crosslens.mlm.vocabulary import train_bpe


def make_encoder(folder, corpora, *, layers=4, width=256, heads=4, vocabulary=16_000):
    """Write it. Its vocabulary is made of the corpora; there are ``vocabulary`` embeddings, or as many as it takes."""
    lines = [" ".join(sentence.words) for corpus in corpora for sentence in corpus.sentences]
    tokenizer = train_bpe(lines, size=16_000, positions=512)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=max(len(tokenizer), vocabulary),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * width,
        initializer_range=0.034,
        pad_token_id=tokenizer.pad_token_id,
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


if __name__ == "__main__":
    place, *files = sys.argv[1:]
    make_encoder(place, [load_corpus(file) for file in files])
