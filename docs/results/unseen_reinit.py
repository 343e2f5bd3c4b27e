"""Does the rule of advise carry over to an encoder with re-initialised layers? python unseen_reinit.py E5-SMALL"""

import sys
from pathlib import Path

import numpy as np

import crosslens as xl
from crosslens.corpora.catalogue import load_corpus
from crosslens.unseen.confidence import train_probes
from crosslens.unseen.evidence import gather
from crosslens.unseen.rule import read_rule

scores = xl.read_results(Path(__file__).parent / "pos-real-encoder.parquet")
scores = scores.filter(task="pos", metric="accuracy", source="en", layers="1-2")
encoder, source, rule = xl.load_encoder(sys.argv[1]), load_corpus("ud/en_ewt:train"), read_rule()

print("| | right on the source % |\n|---|--:|")
encoders = {layers: xl.random_init(encoder, layers, seed=1) for layers in ("1-2", "0,all")}
probes = {layers: train_probes(each, source) for layers, each in encoders.items()}
for layers, trained in probes.items():
    print(f"| re-initialised {layers} | {trained.accuracy:.1f} |")
print("\n| treebank | estimate | measured |\n|---|--:|--:|")
for language in ("fr", "ru", "tr", "hi", "zh"):
    text = load_corpus(f"ud/{language}_pud:test[:100]")
    evidence = gather(encoders["1-2"], text, {"en": source}, {"en": probes["1-2"]})
    features = evidence.features("en")
    assert not rule.outside(features, "en")
    expected = rule.without({language}).expected(features, "en")
    measured = np.mean(scores.filter(target=language).records["value"].to_pylist())
    print(f"| `ud/{language}_pud` | {expected:.1f} | {measured:.1f} |")
