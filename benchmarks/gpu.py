"""What a GPU makes of it: an encoder of mBERT's shape (random weights) fine-tuned and evaluated in bfloat16.

    python benchmarks/gpu.py TRAIN.conllu TEST.conllu [--device cuda] [--layers 12 --width 768 --vocabulary 119547]

Subwords per second, padding not counted, through `finetune` and `evaluate` as everyone calls them, so with reading,
batching and scoring; the share of what the device reaches in one large matrix product of the same kind; memory; and
what that makes of the grid of Muller et al. (2021). The sentences, and so their lengths, are the treebank's own.
"""

import argparse
import sys
import tempfile
import time

import torch
from make_encoder import make_encoder
from ratios import HEAD, machine, note, row, seconds

from crosslens import Recipe, evaluate, finetune, load_corpus, load_encoder
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


def measure(encoder, train, test, *, batch, precision, rate):
    """Rows for one size of a batch; seconds a sentence of training and of evaluation."""
    device = encoder.device
    recipe = Recipe(batch=batch, epochs=1, select="last", precision=precision)
    windows = [len(window) for corpus in (train, test) for window in read_windows(encoder, corpus).windows]
    of_train, of_test = sum(windows[: len(train)]), sum(windows[len(train) :])
    mean = sum(windows) / len(windows)
    finetune(encoder, "pos", train=train[: 8 * batch], recipe=recipe)  # kernels are chosen, memory is taken
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
    trained, model = waited(device, lambda: finetune(encoder, "pos", train=train, recipe=recipe, seed=1))
    evaluated, _ = waited(device, lambda: evaluate(model, [test]))
    for work, took, subwords, passes in (("training", trained, of_train, 3), ("evaluation", evaluated, of_test, 1)):
        reached = passes * operations(encoder, subwords, mean) / took
        what = f"POS {work}, {precision}, batches of {batch}"
        row(what, "subwords per second", [subwords / took])
        goal = ">= 0.5" if batch > 32 and work == "training" else ""
        row(f"{what}: share of a large product", "of its rate", [reached / rate], goal=goal, of="figure")
    if device.type == "cuda":
        row(f"POS, batches of {batch}: peak memory", "GiB", [torch.cuda.max_memory_allocated() / 2**30])
    return trained / len(train), evaluated / len(test)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--vocabulary", type=int, default=119_547)
    parser.add_argument("--sentences", type=int, default=8_000, help="of training, at most")
    parser.add_argument("--batches", type=int, nargs="+", default=[16, 32, 256])
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
            training, evaluation = measure(encoder, train, test, batch=batch, precision=precision, rate=rate)
            hours = FINE_TUNINGS * (EPOCHS * EWT * training + EVALUATIONS * PUD * evaluation) / 3600
            row(
                f"the grid of Muller et al. (2021), batches of {batch}",
                "hours, reckoned",
                [hours],
                goal="< 1",
                of="figure",
            )
    note(
        f"{chosen.layers} layers x {chosen.width}, {len(train)} and {len(test)} sentences; the grid: {FINE_TUNINGS}"
        f" fine-tunings of {EPOCHS} passes over {EWT:,} sentences, each evaluated {EVALUATIONS} times on {PUD:,},"
        " all as fast as tagging"
    )


if __name__ == "__main__":
    main()
