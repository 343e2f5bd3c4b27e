"""The 315 runs of Muller et al. (2021, Tables 6 to 8) on 1, 8 and 64 devices, simulated with costs measured here.

    python benchmarks/scale_out.py ENCODER TRAIN.conllu TEST.conllu WIKIANN-TRAIN WIKIANN-TEST [--faster 1,20,100]

Each task is trained and evaluated on a few sentences of real data, which gives seconds per sentence on this device; a
worker's start is measured as a process. The sizes are those of the paper's data. The executors give a free worker the
next run of the plan, and so does the simulation. `--faster` divides the seconds of runs, for devices that are so many
times faster; a worker's start stays as it is.

Beside it stands what the arithmetic alone would need: two operations for each weight of the layers and subword, three
times as many in training, at the rate of this device's products.
"""

import argparse
import heapq
import itertools
import os
import statistics
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

from ratios import command, machine, product_rate, products

from crosslens import evaluate, find_recipe, finetune, load_corpus, load_encoder, read_study
from crosslens.encoders.inputs import read_windows
from crosslens.studies.data_sets import find_data

TRAINING = {"en": 12_543, "ru": 3_850, "ar": 6_075}
"""Sentences of English-EWT, Russian-GSD and Arabic-PADT."""

PUD, WIKIANN, LANGUAGES = 1_000, (20_000, 10_000), 17
"""Test sentences of a PUD treebank; training and test sentences of WikiANN in a language; languages evaluated on."""

DEVICES = (1, 8, 64)


def main():
    parser = argparse.ArgumentParser()
    for name in ("encoder", "train", "test", "wikiann_train", "wikiann_test"):
        parser.add_argument(name)
    parser.add_argument("--faster", default="1,20,100")
    parser.add_argument("--sentences", type=int, default=160)
    asked = parser.parse_args()
    encoder = load_encoder(asked.encoder)
    treebanks = (load_corpus(asked.train, language="en"), load_corpus(asked.test, language="en"))
    entities = (load_corpus(asked.wikiann_train, language="en"), load_corpus(asked.wikiann_test, language="en"))
    start = statistics.median(
        command("-c", f"import crosslens; crosslens.load_encoder({asked.encoder!r})") for _ in "123"
    )
    costs = {
        task: measured(encoder, task, *(corpus.limited(asked.sentences) for corpus in corpora))
        for task, corpora in (("pos", treebanks), ("parsing", treebanks), ("ner", entities))
    }
    print(f"{machine()}\n")
    for task, (training, testing, length) in costs.items():
        words = f"{1000 * training:.0f} ms a sentence and epoch, evaluation {1000 * testing:.0f} ms a sentence"
        print(f"- {task}: training {words}, {length:.0f} subwords")
    print(f"- start of a worker: {start:.1f} s")
    plan = planned()
    print(f"- {len(plan)} runs; arithmetic alone: {arithmetic(encoder, plan, costs) / 3600:.0f} hours of this device\n")
    print("| device computes | devices | hours | idle | shortest possible | longest run first |")
    print("|---|--:|--:|--:|--:|--:|")
    for faster in map(float, asked.faster.split(",")):
        seconds = [run_seconds(run, costs) / faster for run in plan]
        for devices in DEVICES:
            end, idle = scheduled(seconds, devices, start=start)
            least = max(max(seconds) + start, sum(seconds) / devices + start)
            longest_first, _ = scheduled(sorted(seconds, reverse=True), devices, start=start)
            hours = [f"{amount / 3600:.2f}" for amount in (end, least, longest_first)]
            print(f"| {faster:g}x | {devices} | {hours[0]} | {100 * idle:.0f} % | {hours[1]} | {hours[2]} |")


def planned():
    """Task and source of each run in the order of the shipped study."""
    study = read_study("first-align-then-predict")
    tasks = find_data(study.data).tasks
    return [
        (task, source)
        for task, sources in tasks.items()
        for source, _, _ in itertools.product(sources, study.conditions, study.seeds)
    ]


def measured(encoder, task, train, test):
    """Seconds a sentence of training (one epoch) and of evaluation, and subwords a sentence."""
    recipe = find_recipe("muller2021", task, {"epochs": 1, "select": "last"})
    finetune(encoder, task, train=train.limited(32), recipe=recipe)  # what is computed once in a process
    begin = time.perf_counter()
    model = finetune(encoder, task, train=train, recipe=recipe)
    trained = time.perf_counter()
    evaluate(model, test)
    ended = time.perf_counter()
    subwords = sum(len(window.ids) for window in read_windows(encoder, train).windows) / len(train)
    return (trained - begin) / len(train), (ended - trained) / len(test), subwords


def sizes(run):
    """Training sentences times epochs, and test sentences."""
    task, source = run
    epochs = find_recipe("muller2021", task).epochs
    if task == "ner":
        return epochs * WIKIANN[0], LANGUAGES * WIKIANN[1]
    return epochs * TRAINING[source], LANGUAGES * PUD


def run_seconds(run, costs):
    training, testing, _ = costs[run[0]]
    read, tested = sizes(run)
    return read * training + tested * testing


def arithmetic(encoder, plan, costs):
    """Seconds of the products of the layers alone."""
    subwords = sum((3 * sizes(run)[0] + sizes(run)[1]) * costs[run[0]][2] for run in plan)
    return subwords * products(encoder) / product_rate(encoder)


def scheduled(seconds, devices, *, start):
    """End of the last run and the idle share, when each free worker takes the next run."""
    free = [start] * devices
    for run in seconds:
        heapq.heappush(free, heapq.heappop(free) + run)
    end = max(free)
    return end, 1 - sum(seconds) / (devices * end)


if __name__ == "__main__":
    main()
