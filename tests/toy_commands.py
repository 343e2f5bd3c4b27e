"""Command lines that several tests run, and what they wrote."""

import csv

FAST = ("--set", "epochs=1", "--set", "batch=3", "--set", "learning_rate=3e-3", "--device", "cpu")


def rows_of(path):
    with open(path, encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def finetune(run, encoder, *more, task="pos", train="ud/en_toy", test="ud/en_pud,ud/fr_pud", out="out"):
    return run("finetune", task, encoder, "--train", train, "--test", test, "--out", out, *FAST, *more)
