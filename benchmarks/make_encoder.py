"""A random BERT of 4 layers and width 256 with a vocabulary of 16,000 pieces: what the benchmarks are run on.

python benchmarks/make_encoder.py FOLDER TEXT.conllu...
"""

import sys

import torch
from transformers import BertConfig, BertModel

from crosslens import load_corpus
from crosslens.training.vocabulary import train_bpe

folder, *files = sys.argv[1:]
lines = [" ".join(sentence.words) for file in files for sentence in load_corpus(file).sentences]
tokenizer = train_bpe(lines, size=16_000, positions=512)
torch.manual_seed(0)
config = BertConfig(
    vocab_size=len(tokenizer), hidden_size=256, num_hidden_layers=4, num_attention_heads=4, intermediate_size=1024,
    initializer_range=0.034, pad_token_id=tokenizer.pad_token_id,
)  # fmt: skip
BertModel(config, add_pooling_layer=False).save_pretrained(folder)
tokenizer.save_pretrained(folder)
