"""What it saves to leave the bottom half of an encoder alone, and to compute it once.

    python benchmarks/freezing.py ENCODER TRAIN.conllu

Sentences per CPU second of fine-tuning a tagger for three epochs in batches of 16, one thread: everything trained; the
bottom half frozen and computed at every step; frozen and kept. The three take turns, and medians are printed.
"""

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch
from ratios import PER_SECOND, note, row, seconds

from crosslens import Recipe, finetune, freeze, load_corpus, load_encoder
from crosslens.encoders.state_cache import StateCache

SENTENCES, EPOCHS, TURNS = 300, 3, 7


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("encoder")
    asked.add_argument("train")
    asked = asked.parse_args()
    torch.set_num_threads(1)
    encoder, train = load_encoder(asked.encoder, device="cpu"), load_corpus(asked.train)
    half = encoder.depth // 2
    frozen = freeze(encoder, f"0-{half}")
    recipe = Recipe(batch=16, epochs=EPOCHS, limit=SENTENCES, select="last", encoder_dropout="off")
    keep = StateCache.keep
    ways = {
        "everything is trained": (encoder, keep),
        "frozen, computed at every step": (frozen, lambda *_: False),
        "frozen, computed once": (frozen, keep),
    }
    rates = {way: [] for way in ways}
    for _ in range(TURNS):
        for way, (its, kept) in ways.items():
            StateCache.keep = kept
            took, model = seconds(lambda its=its: finetune(its, "pos", train=train, recipe=recipe))
            rates[way].append(model.facts["train_sentences"] * EPOCHS / took)
    whole, repeated, once = rates
    row(
        f"{half} of {encoder.depth} layers {repeated}",
        PER_SECOND,
        rates[repeated],
        beside=rates[whole],
        peer="all trained",
    )
    row(
        f"{half} of {encoder.depth} layers {once}",
        PER_SECOND,
        rates[once],
        beside=rates[whole],
        peer="all trained",
        goal=">= 1.7",
    )
    note(f"freezing: POS tagging, {SENTENCES} sentences, {EPOCHS} epochs; layers alone would allow 2 with many epochs")


if __name__ == "__main__":
    main()
