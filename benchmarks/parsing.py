"""Dependency parsing against SuPar 1.1.4: both sides of each ratio from one run.

    python benchmarks/parsing.py ENCODER TRAIN.conllu TEST.conllu...

The same encoder, the same sizes of the biaffine head, an epoch in batches of 16 sentences (SuPar counts words: so many
words as 16 sentences have), then trees with heads and relations for all test files, scored. CPU seconds, one thread;
the two sides take turns. SuPar is from 2021: where it needs something that is gone (transformers' AdamW), PyTorch's own
stands in.
"""

import argparse
import logging
import os
import tempfile
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import numpy as np
import supar
import torch
import transformers
from ratios import PER_SECOND, note, row, seconds
from supar.utils import Dataset
from supar.utils.metric import AttachmentMetric

from crosslens import Recipe, evaluate, finetune, load_corpus, load_encoder
from crosslens.data import conllu

warnings.filterwarnings("ignore")
transformers.utils.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()
supar.utils.logging.logger.setLevel(logging.ERROR)
BATCH, RATE = 16, 1e-4


class SuPar:
    """SuPar's own pieces, without the dev and test evaluations that its `train` puts between."""

    def __init__(self, encoder, train, words):
        self.train_file = str(train)
        self.words = words
        self.path = tempfile.mkdtemp()
        self.encoder = encoder

    def build(self):
        self.parser = supar.BiaffineDependencyParser.build(
            f"{self.path}/model",
            train=self.train_file,
            encoder="bert",
            bert=str(self.encoder),
            build=True,
            n_arc_mlp=500,
            n_rel_mlp=200,
            lr=RATE,
            lr_rate=1,
            warmup=0.1,
            update_steps=1,
            clip=1.0,
            partial=False,
            punct=True,
            tree=True,
            proj=False,
            feat=None,
            n_bert_layers=1,
            bert_pooling="first",
            finetune=True,
            mix_dropout=0.0,
            encoder_dropout=0.1,
            mlp_dropout=0.1,
            fix_len=20,
        )

    def train(self):
        parser = self.parser
        parser.transform.train()
        data = Dataset(parser.transform, self.train_file).build(self.words, 32, True, False)
        parameters = [{"params": p, "lr": RATE} for p in parser.model.parameters()]
        parser.optimizer = torch.optim.AdamW(parameters, RATE)
        steps = len(data.loader)
        parser.scheduler = transformers.get_linear_schedule_with_warmup(parser.optimizer, steps // 10, steps)
        parser._train(data.loader)
        return steps

    def evaluate(self, files):
        total = AttachmentMetric()
        for file in files:
            self.parser.transform.train()
            data = Dataset(self.parser.transform, str(file)).build(5000, 8)
            _, metric = self.parser._evaluate(data.loader)
            total.correct_rels += metric.correct_rels
            total.total += metric.total
        return 100 * total.correct_rels / total.total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoder")
    parser.add_argument("train")
    parser.add_argument("test", nargs="+")
    parser.add_argument("--train-sentences", type=int, default=600)
    parser.add_argument("--test-sentences", type=int, default=900, help="of all test files together")
    parser.add_argument("--turns", type=int, default=3)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    folder = Path(tempfile.mkdtemp())
    train = load_corpus(chosen.train)[: chosen.train_sentences]
    each = chosen.test_sentences // len(chosen.test)
    tests = [load_corpus(path)[:each] for path in chosen.test]
    files = []
    for corpus in [train, *tests]:  # both sides read the same files
        files.append(folder / f"{len(files)}.conllu")
        conllu.write(corpus, files[-1])
    evaluated = sum(map(len, tests))
    encoder = load_encoder(chosen.encoder, device="cpu")
    recipe = Recipe(batch=BATCH, learning_rate=RATE, epochs=1, select="last")
    peer = SuPar(chosen.encoder, files[0], BATCH * train.words // len(train))
    ours, its = {"training": [], "evaluation": []}, {"training": [], "evaluation": []}  # seconds
    for _ in range(chosen.turns):
        took, model = seconds(lambda: finetune(encoder, "parsing", train=load_corpus(files[0]), recipe=recipe, seed=1))
        ours["training"].append(took)
        took, results = seconds(lambda model=model: evaluate(model, [load_corpus(file) for file in files[1:]]))
        ours["evaluation"].append(took)
        table = results.filter(metric="las").to_pandas()
        las = float(np.average(table["value"], weights=table["n"]))
        torch.manual_seed(1)
        peer.build()  # building the model is neither side's training
        took, steps = seconds(peer.train)
        its["training"].append(took)
        took, its_las = seconds(lambda: peer.evaluate(files[1:]))
        its["evaluation"].append(took)

    for work, sentences in (("training", len(train)), ("evaluation", evaluated)):
        what = f"parsing, {work}, {sentences} sentences"
        rates = ([sentences / took for took in side[work]] for side in (ours, its))
        row(what, PER_SECOND, next(rates), beside=next(rates), peer="SuPar")
    both = ([(len(train) + evaluated) / sum(turn) for turn in zip(*side.values(), strict=True)] for side in (ours, its))
    row("parsing, both", PER_SECOND, next(both), beside=next(both), peer="SuPar", goal=">= 1.5")
    note(
        f"parsing: SuPar {supar.__version__}, {chosen.turns} turns; {model.facts['steps']} steps, of SuPar's {steps};"
        f" LAS {las:.2f}, of SuPar's parser {its_las:.2f}: of a random encoder after one epoch"
    )


if __name__ == "__main__":
    main()
