"""Decoding the trees of long sentences from a trained parser's scores, beside ufal.chu_liu_edmonds (GPL, one by one).

    python benchmarks/decoding.py TRAIN.conllu [--sentences 1000 --epochs 5]

The parser is a BiLSTM trained on the first sentences of the treebank for two minutes, and parses those of about 40
words among the rest, so that the scores are real ones; in batches of 16, which is about what an encoder of subwords
reads at once of them. CPU milliseconds a sentence, without the network. Both sides must find trees of the same score.
"""

import argparse
from dataclasses import replace

import numpy as np
import torch
from ratios import note, row, seconds
from ufal.chu_liu_edmonds import chu_liu_edmonds

from crosslens import Recipe, finetune, fresh_bilstm, load_corpus, predict
from crosslens.tasks.heads import biaffine
from crosslens.tasks.heads.mst import best_trees

WORDS, BATCH, TURNS = range(35, 46), 16, 5


def padded(matrices):
    """A batch as `best_trees` takes it."""
    lengths = list(map(len, matrices))
    scores = np.full((len(matrices), max(lengths), max(lengths) + 1), -np.inf)
    for place, (matrix, length) in enumerate(zip(matrices, lengths, strict=True)):
        scores[place, :length, : length + 1] = matrix
    return scores, lengths


def with_ufal(matrix):
    """The best tree with exactly one root, for which every arc from the root is made dearer than all others bring."""
    square = np.zeros((len(matrix) + 1, len(matrix) + 1))
    square[1:] = matrix
    finite = square[np.isfinite(square)]
    square[1:, 0] -= len(square) * (finite.max() - finite.min()) + 1
    return chu_liu_edmonds(square)[0][1:]


def main():
    torch.set_num_threads(1)
    asked = argparse.ArgumentParser()
    asked.add_argument("train")
    asked.add_argument("--sentences", type=int, default=1000)
    asked.add_argument("--epochs", type=int, default=5)
    asked = asked.parse_args()
    whole = load_corpus(asked.train)
    train, rest = whole[: asked.sentences], whole[asked.sentences :]
    test = replace(rest, items=tuple(sentence for sentence in rest if len(sentence) in WORDS))
    recipe = Recipe(epochs=asked.epochs, batch=16, learning_rate=2e-3, select="last")
    model = finetune(fresh_bilstm(train, device="cpu"), "parsing", train=train, recipe=recipe, seed=1)
    matrices = []

    def listening(scores, lengths):
        matrices.extend(scores[row, :length, : length + 1].copy() for row, length in enumerate(lengths))
        return best_trees(scores, lengths)

    biaffine.best_trees = listening
    parsed = predict(model, test)
    biaffine.best_trees = best_trees
    right = sum(a == b for x, y in zip(parsed, test, strict=True) for a, b in zip(x.heads, y.heads, strict=True))
    batches = [padded(matrices[start : start + BATCH]) for start in range(0, len(matrices), BATCH)]
    ours, its = [], []
    for _ in range(TURNS):
        took, mine = seconds(lambda: [heads for batch in batches for heads in best_trees(*batch)])
        ours.append(1000 * took / len(test))
        took, theirs = seconds(lambda: [with_ufal(matrix) for matrix in matrices])
        its.append(1000 * took / len(test))
    worst = max(
        abs(sum(matrix[word, a] - matrix[word, b] for word, (a, b) in enumerate(zip(x, y, strict=True))))
        for matrix, x, y in zip(matrices, mine, theirs, strict=True)
    )
    what = f"decoding trees, {len(test)} sentences of {WORDS[0]} to {WORDS[-1]} words"
    row(what, "CPU ms a sentence", ours, beside=its, peer="ufal", goal="<= 0.2", of="figure")
    note(
        f"decoding: scores of a BiLSTM parser with a UAS of {100 * right / test.words:.1f}; the trees' own scores"
        f" differ from those of ufal's trees by {worst:.1e} at most"
    )


if __name__ == "__main__":
    main()
