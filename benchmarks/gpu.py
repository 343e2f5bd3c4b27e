"""What a GPU makes of it: an encoder of mBERT's shape (random weights) fine-tuned and evaluated in bfloat16.

    python benchmarks/gpu.py TRAIN.conllu TEST.conllu [--device cuda] [--layers 12 --width 768 --vocabulary 119547]

Subwords per second, padding not counted, through `finetune` and `evaluate` as everyone calls them, so with reading,
batching and scoring: of the steps alone, from the first to the last, and of everything. Beside them the same steps
without CUDA graphs, and transformers.Trainer; the share of what the device reaches in one large matrix product of the
same kind; the share of the time in which the device computes; memory; and what that makes of the grid of Muller et al.
(2021). The sentences, and so their lengths, are the treebank's own.
"""

import argparse
import contextlib
import os
import sys
import tempfile
import time

import numpy as np
import torch
from make_encoder import make_encoder
from pos import Plain
from ratios import HEAD, machine, note, row, seconds

from crosslens import Recipe, evaluate, finetune, load_corpus, load_encoder
from crosslens.data.batching import training_batches
from crosslens.encoders.inputs import read_windows

FINE_TUNINGS, EVALUATIONS, EPOCHS, EWT, PUD = 315, 17, 9, 12_543, 1_000
"""Muller et al. (2021): fine-tunings of the grid and test sets of each; passes (6, 15 and 6) and sentences."""


def product_rate(device):
    """Floating-point operations a second of one large product, the best of several."""
    size, dtype = (8192, torch.bfloat16) if device.type == "cuda" else (1024, torch.float32)
    a, b = (torch.randn(size, size, device=device, dtype=dtype) for _ in range(2))
    return 2 * size**3 / min(waited(device, lambda: torch.mm(a, b))[0] for _ in range(20))


def waited(device, work):
    """Wall seconds until the device is done, and what the work returned."""

    def whole():
        result = work()
        if device.type == "cuda":
            torch.cuda.synchronize()
        return result

    return seconds(whole, time.perf_counter)


def operations(encoder, subwords, length):
    """Floating-point operations of a forward pass: the layers' matrices, and attention between ``length`` subwords."""
    inner = encoder.model.config.intermediate_size
    each = 2 * (4 * encoder.width**2 + 2 * encoder.width * inner) + 4 * length * encoder.width
    return encoder.depth * each * subwords


@contextlib.contextmanager
def without_graphs():
    os.environ["CROSSLENS_CUDA_GRAPHS"] = "0"
    try:
        yield
    finally:
        del os.environ["CROSSLENS_CUDA_GRAPHS"]


def training(encoder, train, recipe):
    """Wall seconds of a training, of its steps from the first to the last, the number of those steps, and the model."""
    ends = []
    took, model = waited(
        encoder.device,
        lambda: finetune(
            encoder, "pos", train=train, recipe=recipe, stepped=lambda *_: ends.append(time.perf_counter())
        ),
    )
    return took, ends[-1] - ends[0], len(ends) - 1, model


def padding(lengths, batch):
    """The share of padding in the batches of the first epoch."""
    batches = training_batches(lengths, batch=batch, seed=1, epoch=0)
    sizes = np.asarray(lengths)
    return 1 - sizes.sum() / sum(len(numbers) * sizes[numbers].max() for numbers in batches)


def busy(encoder, train, recipe):
    """The share of a training's time in which the device computes, and the kernels of a step."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA], acc_events=True) as profiled:
        _, took, steps, _ = training(encoder, train, recipe)
    kernels = [event for event in profiled.events() if event.device_type == torch.autograd.DeviceType.CUDA]
    inside = sorted((event.time_range.start, event.time_range.end) for event in kernels)
    total, reached = 0.0, inside[0][0]
    for start, end in inside:
        total += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return min(1.0, total / 1e6 / took), len(kernels) / (steps + 1)


def measure(encoder, train, test, *, batch, epochs, precision, rate):
    """Rows for one size of a batch; seconds a sentence of training and of evaluation."""
    recipe = Recipe(batch=batch, epochs=epochs, select="last", precision=precision)
    lengths = [len(window) for window in read_windows(encoder, train).windows]
    of_train = epochs * sum(lengths)
    of_test = sum(len(window) for window in read_windows(encoder, test).windows)
    finetune(encoder, "pos", train=train[: 8 * batch], recipe=recipe)  # kernels are chosen, memory is taken
    on_gpu = encoder.device.type == "cuda"
    if on_gpu:
        torch.cuda.reset_peak_memory_stats()
    whole, inside, steps, model = training(encoder, train, recipe)
    peak = torch.cuda.max_memory_allocated() / 2**30 if on_gpu else 0
    evaluated, _ = waited(encoder.device, lambda: evaluate(model, [test]))
    named = f"{precision}, batches of {batch}"
    trained, tested = of_train * steps / (steps + 1) / inside, of_test / evaluated
    beside = {"beside": [rate_without_graphs(encoder, train, recipe)], "peer": "without graphs"} if on_gpu else {}
    row(f"POS training, steps, {named}", "subwords per second", [trained], **beside)
    row(f"POS training, everything, {named}", "subwords per second", [of_train / whole])
    row(f"POS evaluation, {named}", "subwords per second", [tested])
    goal = ">= 0.5" if batch > 32 else ""
    share = 3 * operations(encoder, trained, sum(lengths) / len(lengths)) / rate
    row(f"POS training, steps, {named}: share of a large product", "of its rate", [share], goal=goal, of="figure")
    share = operations(encoder, tested, of_test / len(test)) / rate
    row(f"POS evaluation, {named}: share of a large product", "of its rate", [share], of="figure")
    row(f"POS training, batches of {batch}: padding", "of all subwords", [padding(lengths, batch)])
    if on_gpu:
        row(f"POS training, batches of {batch}: peak memory", "GiB", [peak])
        share, kernels = busy(encoder, train[: 100 * batch], recipe.model_copy(update={"epochs": 1}))
        row(f"POS training, batches of {batch}: the device computes", "of the time", [share])
        row(f"POS training, batches of {batch}: kernels and copies a step", "number", [kernels])
    return whole / epochs / len(train), evaluated / len(test)


def rate_without_graphs(encoder, train, recipe):
    """Subwords per second of a hundred steps."""
    few = train[: 100 * recipe.batch]
    subwords = sum(len(window) for window in read_windows(encoder, few).windows)
    with without_graphs():
        _, took, steps, _ = training(encoder, few, recipe.model_copy(update={"epochs": 1}))
    return subwords * steps / (steps + 1) / took


def measure_trainer(encoder, train, *, batch, precision, turns):
    """A row for each of several trainings of transformers.Trainer, fifty steps each."""
    plain, few = Plain(encoder.name, train.sentences), train[: 50 * batch]
    subwords = sum(len(window) for window in read_windows(encoder, few).windows)
    for turn in range(turns):
        with tempfile.TemporaryDirectory() as folder:
            trainer = plain.trainer(folder, batch=batch, device=encoder.device.type, precision=precision)
            trainer.train_dataset = plain.dataset(few.sentences)
            took, _ = waited(encoder.device, trainer.train)
        named = f"{precision}, batches of {batch}, {'first' if turn == 0 else 'again'}"
        row(f"transformers.Trainer, {named}", "subwords per second", [subwords / took])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--vocabulary", type=int, default=119_547)
    parser.add_argument("--sentences", type=int, default=20_000, help="of training, at most")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batches", type=int, nargs="+", default=[16, 32, 256])
    parser.add_argument("--turns", type=int, default=2, help="of transformers.Trainer, for the smallest batch")
    chosen = parser.parse_args()
    if chosen.device.startswith("cuda") and not torch.cuda.is_available():
        sys.exit("there is no GPU here (--device cpu --layers 2 --width 64 tries the code)")
    device = torch.device(chosen.device)
    if device.type == "cpu":
        torch.set_num_threads(1)
    train, test = load_corpus(chosen.train)[: chosen.sentences], load_corpus(chosen.test)
    with tempfile.TemporaryDirectory() as folder:
        make_encoder(
            folder,
            [train, test],
            layers=chosen.layers,
            width=chosen.width,
            heads=max(1, chosen.width // 64),
            vocabulary=chosen.vocabulary,
        )
        encoder = load_encoder(folder, device=device)
        name = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
        print(f"{name}; {machine()}\n\n{HEAD}")
        precision = "bfloat16" if device.type == "cuda" else "float32"
        rate = product_rate(device)
        row("one large matrix product", "tera-operations per second", [rate / 1e12])
        for batch in chosen.batches:
            of_training, of_evaluation = measure(
                encoder,
                train,
                test,
                batch=batch,
                epochs=chosen.epochs,
                precision=precision,
                rate=rate,
            )
            if batch == min(chosen.batches):
                measure_trainer(encoder, train, batch=batch, precision=precision, turns=chosen.turns)
            hours = FINE_TUNINGS * (EPOCHS * EWT * of_training + EVALUATIONS * PUD * of_evaluation) / 3600
            row(
                f"the grid of Muller et al. (2021), batches of {batch}",
                "hours, reckoned",
                [hours],
                goal="< 1",
                of="figure",
            )
    note(
        f"{chosen.layers} layers x {chosen.width}, {chosen.epochs} epochs of {len(train)} sentences, {len(test)}"
        f" evaluated; the grid: {FINE_TUNINGS} fine-tunings of {EPOCHS} passes over {EWT:,} sentences, each evaluated"
        f" {EVALUATIONS} times on {PUD:,}, all as fast as tagging"
    )


if __name__ == "__main__":
    main()
