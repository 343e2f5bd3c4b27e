"""Numbers that several pages state in their text are those of the records."""

import re
from pathlib import Path
from statistics import fmean

import pytest

from crosslens.results.record import read_results

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs/results"

LOSSES = {
    ("pos", "accuracy", "1-2"): {
        "README.md": "lowers zero-shot [POS accuracy](docs/results/pos-real-encoder.md) by {} points",
        "docs/results/README.md": "Re-initialising layers 1-2 costs 18 other languages {} points",
        "docs/results/pos-real-encoder.md": "costs 18 other languages {} points",
        "docs/results/english-encoder.md": "multilingual-e5-small ({} and",
    },
    ("parsing", "las", "1-2"): {
        "README.md": "[LAS](docs/results/parsing-real-encoder.md): {}, then",
        "docs/results/README.md": "Layers 1-2 cost other languages {} points of LAS",
        "docs/results/parsing-real-encoder.md": "costs 18 other languages {} points of LAS",
        "docs/results/english-encoder.md": "with e5 it loses 4.4 and the others {}.",
    },
    ("ner", "f1", "1-2"): {
        "docs/results/README.md": "layers 1-2 cost other languages {} points of F1",
        "docs/results/ner-real-encoder.md": "costs five other languages {} points of F1",
    },
}
"""Task, metric and re-initialised layers -> page -> how it states the zero-shot loss of multilingual-e5-small."""


@pytest.mark.parametrize("loss", LOSSES)
def test_the_zero_shot_loss_of_the_lowest_layers_is_that_of_the_records(loss):
    task, metric, layers = loss
    records = read_results(RESULTS / f"{task}-real-encoder.parquet").filter(task=task, metric=metric)
    values = {layers: [], None: []}
    for record in records:
        if record.target != record.source and record.layers in values:
            values[record.layers].append(record.value)
    number = f"{fmean(values[None]) - fmean(values[layers]):.1f}"
    for page, sentence in LOSSES[loss].items():
        words = " ".join((ROOT / page).read_text("utf-8").split())
        assert sentence.format(number) in words, f"{page}: {number}"


def test_the_correlation_of_gap_and_similarity_is_that_of_its_page():
    page = (RESULTS / "similarity-real-encoder.md").read_text("utf-8")
    # CKA is the first measure of the table
    tagging, parsing = re.findall(r"^\| pretrained \| (−0\.\d\d) \[[^|]*\| (−0\.\d\d) \[", page, flags=re.M)[0]
    texts = [file.read_text("utf-8") for file in (ROOT / "README.md", *sorted(RESULTS.glob("*.md")))]
    stated = [pair for text in texts for pair in re.findall(r"Spearman (−0\.\d\d)(?: in tagging, (−0\.\d\d))?", text)]
    assert len(stated) > 2
    assert {first for first, _ in stated} == {tagging}
    assert {second for _, second in stated if second} == {parsing}
