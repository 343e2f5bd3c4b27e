"""How time and memory grow with sentences, languages and records: the slope of log(time) over log(size), 1 is linear.

python benchmarks/growth.py ENCODER TREEBANK.conllu...
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from ratios import note, row, seconds

from crosslens import Recipe, Record, Results, compare, evaluate, finetune, load_corpus, load_encoder, read_results
from crosslens.data import conllu
from crosslens.data.corpus import Corpus
from crosslens.data.parallel import Parallel
from crosslens.data.sentence import Sentence
from crosslens.report.tables import all_tables

TURNS, SENTENCES = 2, 300


def growth(what, sizes, work, *, unit):
    """A row for work over three sizes: the slope is our figure."""
    found = [[seconds(lambda size=size: work(size))[0] for size in sizes] for _ in range(TURNS)]
    best = np.min(found, 0)  # what else the machine does only ever adds
    slope = np.polyfit(np.log(sizes), np.log(best), 1)[0]
    row(f"{what}: slope over {unit}", "log / log", [slope], goal="<= 1.1", of="figure")
    told = ", ".join(f"{size:,}: {took:.2f} s" for size, took in zip(sizes, best, strict=True))
    note(f"{what}, CPU seconds by {unit}: {told}")


def many_languages(count):
    """Languages of made-up words."""
    generator = np.random.default_rng(0)

    def corpus(language):
        drawn = generator.integers(2000, size=(SENTENCES, 8))
        # A file's reader makes a string of its own of every word.
        items = tuple(Sentence(tuple(f"w{word}" for word in row), id=str(n)) for n, row in enumerate(drawn))
        return Corpus(items, language, language)

    return Parallel({name: corpus(name) for name in (f"l{number:03}" for number in range(count))}, "many")


def compared(encoder, count):
    """One language with many others."""
    many = many_languages(count)
    first, *others = many.languages
    compare(encoder, many, pairs=[f"{first}-{other}" for other in others], measures=["cka", "retrieval"])


def records(count):
    """The records of a study: of two tasks, seven conditions, and as many seeds and targets as it takes."""
    conditions = [None, "1-2", "3-4", "5-6", "7-8", "9-10", "11-12"]
    seeds = max(1, count // (2 * len(conditions) * 20))
    made = [
        Record(
            study="s",
            task=task,
            encoder="e",
            source="en",
            target=f"t{target}",
            split="test",
            ablation=layers,
            components=layers and "all",
            seed=seed,
            metric=metric,
            value=50.0 + seed % 7,
            n=1000,
            tags={"corpus": f"ud/t{target}_pud:test"},
        )
        for task, metric in (("pos", "accuracy"), ("parsing", "las"))
        for layers in conditions
        for seed in range(seeds)
        for target in range(20)
    ]
    return Results.of(made)


def main():
    torch.set_num_threads(1)
    path, *files = sys.argv[1:]
    encoder = load_encoder(path, device="cpu")
    if files[0] == "--memory":
        compared(encoder, int(files[1]))
        # Of this program alone: getrusage counts what the process held before it became one.
        words = Path("/proc/self/status").read_text().split()
        print(int(words[words.index("VmHWM:") + 1]) // 1024)
        return
    sentences = tuple(sentence for file in files for sentence in load_corpus(file).sentences)
    mixed = np.random.default_rng(0).permutation(len(sentences))
    everything = Corpus(tuple(sentences[i] for i in mixed), "all", "en")
    recipe = Recipe(batch=16, learning_rate=1e-4, epochs=1, select="last")

    with tempfile.TemporaryDirectory() as folder:
        sizes = (500, 1000, 2000)
        names = {size: Path(folder) / f"{size}.conllu" for size in sizes}
        for size, name in names.items():
            conllu.write(everything[:size], name)
        growth("reading CoNLL-U", sizes, lambda size: conllu.read(names[size]), unit="sentences")
        sizes = (150, 300, 600)
        for task in ("pos", "parsing"):

            def train(size, task=task):
                return finetune(encoder, task, train=everything[:size], recipe=recipe)

            growth(f"{task}, training", sizes, train, unit="sentences")
            model = train(150)

            def read(size, model=model):
                return evaluate(model, [everything[:size]])

            growth(f"{task}, evaluation", sizes, read, unit="sentences")
        growth("comparing", (4, 8, 16), lambda count: compared(encoder, count), unit="languages")
        sizes = (2800, 11200, 44800)
        made = {size: records(size) for size in sizes}

        def round_trip(size):
            made[size].write(Path(folder) / "r.parquet")
            return read_results(Path(folder) / "r.parquet").to_pandas()

        growth("writing and reading results", sizes, round_trip, unit="records")
        growth("tables of results", sizes, lambda size: all_tables(made[size]), unit="records")

    counts = (5, 20, 80)

    def peak(count):
        words = [sys.executable, __file__, path, "--memory", str(count)]
        return int(subprocess.run(words, check=True, capture_output=True, text=True).stdout)

    peaks = list(map(peak, counts))
    row(
        f"peak memory, {counts[-1]} languages beside {counts[0]}",
        "MiB",
        [peaks[-1]],
        beside=[peaks[0]],
        peer=f"{counts[0]} languages",
        goal="<= 1.05",
    )
    told = ", ".join(f"{count}: {its:,}" for count, its in zip(counts, peaks, strict=True))
    note(f"peak memory, MiB by languages of 300 sentences: {told}")


if __name__ == "__main__":
    main()
