"""Our scores of a noisy prediction against the official scorers, for real files: equal counts, not near values.

By default every sixth file is scored, and with ``-m slow`` all are.

``udeval`` of udtools is GPL and is run as a program; seqeval is imported.
"""

import os
import shutil
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from crosslens.data.formats import conllu, iob
from crosslens.tasks import find_task

UDEVAL = shutil.which("udeval") or shutil.which("udeval", path=str(Path(sys.executable).parent))
pytestmark = [
    pytest.mark.realdata,
    pytest.mark.skipif("CROSSLENS_DATA" not in os.environ, reason="CROSSLENS_DATA names no data"),
    pytest.mark.timeout(900),
]
DATA = Path(os.environ.get("CROSSLENS_DATA", "."))


@pytest.fixture(params=[6, pytest.param(1, marks=pytest.mark.slow)], ids=["sixth", "all"])
def sampled(request):
    """A function that keeps every sixth file of a list, or all."""
    return lambda files: sorted(files)[:: request.param]


def noisy_tree(sentence, generator):
    """Some words hang elsewhere, never in a circle; some relations and tags are others; sometimes another root."""
    heads = list(sentence.heads)
    relations = list(sentence.relations)
    upos = list(sentence.upos)
    words = len(heads)

    def above(word):
        while word:
            yield word
            word = heads[word - 1]

    for word in range(1, words + 1):
        if generator.random() < 0.2 and heads[word - 1]:
            new = int(generator.integers(1, words + 1))
            if word not in above(new):
                heads[word - 1] = new
        if generator.random() < 0.15:
            relations[word - 1] = str(generator.choice(["obj", "nmod:poss", "nmod", "nsubj:pass", "punct"]))
        if generator.random() < 0.15:
            upos[word - 1] = str(generator.choice(["NOUN", "PUNCT", "X"]))
    if generator.random() < 0.2:
        new = int(generator.integers(1, words + 1))
        old = heads.index(0) + 1
        heads[new - 1] = 0
        heads[old - 1] = 0 if new == old else new
    relations = [
        "root" if head == 0 else "dep" if its == "root" else its for head, its in zip(heads, relations, strict=True)
    ]
    return replace(sentence, heads=tuple(heads), relations=tuple(relations), upos=tuple(upos))


def official_counts(gold, predicted):
    """Metric -> (correct, gold words) as udeval prints them."""
    command = [UDEVAL, "--counts", "--verbose", "--no-enhanced", str(gold), str(predicted)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, (gold, done.stderr[-500:])
    rows = [[cell.strip() for cell in line.split("|")] for line in done.stdout.splitlines() if line.count("|") >= 4]
    return {row[0]: (int(row[1]), int(row[2])) for row in rows if row[1].isdecimal()}


@pytest.mark.skipif(UDEVAL is None, reason="udeval is not there: pip install udtools")
def test_treebanks_score_as_udeval(tmp_path, sampled):
    files = sampled(DATA.glob("ud/*/*.conllu"))
    assert len(files) > 10

    def check(file):
        gold = conllu.read(file)
        generator = np.random.default_rng(len(gold.items))
        noisy = replace(gold, items=tuple(noisy_tree(s, generator) for s in gold.sentences))
        path = tmp_path / file.name
        conllu.write(noisy, path)
        predicted = conllu.read(path)
        official = official_counts(file, path)
        scores = {score.metric: score for score in find_task("parsing").score(gold, predicted)}
        scores["upos"] = find_task("pos").score(gold, predicted)[0]
        for mine, its in (("las", "LAS"), ("uas", "UAS"), ("upos", "UPOS")):
            counts = (int(scores[mine].numerator.sum()), int(scores[mine].denominator.sum()))
            assert counts == official[its], (file, mine)
            assert 50 < scores[mine].value < 100 or len(gold) < 30

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(check, files))


def noisy_tags(sentence, types, generator):
    tags = ["O", *(f"{prefix}-{kind}" for prefix in "BI" for kind in types)]
    drawn = [str(generator.choice(tags)) if generator.random() < 0.15 else tag for tag in sentence.entities]
    return replace(sentence, entities=tuple(drawn))


def test_ner_files_score_as_seqeval(sampled):
    from seqeval.metrics import f1_score, precision_score, recall_score
    from seqeval.scheme import IOB2

    files = [*DATA.glob("uner/*/*.iob2"), *DATA.glob("masakhaner/**/*.txt"), *DATA.glob("wikineural/*/*.conll")]
    files += [file for file in DATA.glob("wikiann/*/*") if file.name in ("train", "dev", "test")]
    files = sampled(files)
    assert len(files) > 5
    for file in files:
        gold = iob.read(file)
        types = sorted({tag[2:] for s in gold.sentences for tag in s.entities if tag != "O"})
        generator = np.random.default_rng(len(gold.items))
        noisy = replace(gold, items=tuple(noisy_tags(s, types, generator) for s in gold.sentences))
        scores = {score.metric: score.value for score in find_task("ner").score(gold, noisy)}
        right, guess = ([list(s.entities) for s in corpus.sentences] for corpus in (gold, noisy))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            oracle = {
                "f1": f1_score(right, guess),
                "precision": precision_score(right, guess),
                "recall": recall_score(right, guess),
                "f1_strict": f1_score(right, guess, mode="strict", scheme=IOB2),
            }
        for metric, value in oracle.items():
            assert scores[metric] == pytest.approx(100 * value, abs=1e-9), (file, metric)
            assert 0 < scores[metric] < 100, (file, metric)
