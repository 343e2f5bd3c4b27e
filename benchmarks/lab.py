"""The laboratory: words generated, words pretrained on, and fine-tunings, each per CPU second or minute on one core."""

import tempfile
import time
from pathlib import Path

import torch
from ratios import PER_SECOND, row

from crosslens.encoders.load import load_encoder
from crosslens.lab.export import export
from crosslens.lab.presets import find_laboratory
from crosslens.mlm.pretrain import pretrain
from crosslens.mlm.pretrain_settings import Pretraining
from crosslens.settings import read_settings
from crosslens.training.evaluate import evaluate
from crosslens.training.finetune import finetune
from crosslens.training.recipe import find_recipe

STEPS = 300


def main():
    torch.set_num_threads(1)
    laboratory = find_laboratory()
    laboratory.text("src", sentences=100)  # the tables of preferences are made once a world
    start = time.process_time()
    words = sum(line.count(" ") + 1 for language in laboratory.languages for line in laboratory.text(language))
    took = time.process_time() - start
    row("laboratory, raw text", "words per CPU second", [words / took])
    start = time.process_time()
    treebank = laboratory.corpus("sov", split="train")
    row("laboratory, treebanks", "words per CPU second", [treebank.words / (time.process_time() - start)])
    with tempfile.TemporaryDirectory() as folder:
        export(laboratory, Path(folder) / "lab")
        settings = read_settings(Path(folder) / "lab" / "pretrain.yaml", Pretraining)
        read = []
        start = time.process_time()
        pretrain(
            settings.model_copy(update={"steps": STEPS}),
            Path(folder) / "encoder",
            base=Path(folder) / "lab",
            device="cpu",
            stepped=lambda step, loss: read.append(settings.batch),
        )
        took = time.process_time() - start
        row("laboratory, pretraining", PER_SECOND, [sum(read) / took])
        encoder = load_encoder(Path(folder) / "encoder", device="cpu")
        tests = [laboratory.corpus(language, sentences=200) for language in laboratory.languages]
        for task in ("pos", "parsing", "ner"):
            start = time.process_time()
            model = finetune(
                encoder, task, train=laboratory.corpus("src", split="train"), recipe=find_recipe("lab", task)
            )
            evaluate(model, tests)
            took = time.process_time() - start
            row(f"laboratory, {task}, trained and evaluated on four languages", "per CPU minute", [60 / took])


if __name__ == "__main__":
    main()
