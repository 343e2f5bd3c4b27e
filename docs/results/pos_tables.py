"""The tables of pos-real-encoder.md, as Markdown: python docs/results/pos_tables.py

They are made from pos-real-encoder.parquet, which pos-real-encoder.sh writes. The published numbers are Table 7 of Muller et al. (2021), English
as the source, from published-pos-en.csv.
"""

import csv
import json
from pathlib import Path

import pandas as pd

from crosslens.data.records import read_results

here = Path(__file__).parent
results = read_results(here / "pos-real-encoder.parquet")
STATES = {
    "pretrained": {"encoder": "encoders/e5-pud", "ablation": None},
    "reference": {"encoder": "runs/pos-none-seed1/model"},
    "1-2": {"encoder": "runs/pos-1-2-seed1/model"},
    "11-12": {"encoder": "runs/pos-11-12-seed1/model"},
    "untrained": {"encoder": "encoders/e5-pud", "ablation": "0-12"},
}
PAIRS = ["1-2", "3-4", "5-6", "7-8", "9-10", "11-12"]


def signed(value):
    return "" if pd.isna(value) else f"{value:+.2f}".replace("-", "−")


def markdown(header, rows):
    print("| " + " | ".join(header) + " |")
    print("|" + "|".join(["---"] + ["--:"] * (len(header) - 1)) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


frame = results.filter(metric="accuracy").to_pandas()
frame["corpus"] = [json.loads(tags)["corpus"] for tags in frame["tags"]]
frame["ablation"] = frame["ablation"].fillna("reference").replace({"1-12": "all"})
by_seed = frame.pivot_table(index=["corpus", "target", "seed"], columns="ablation", values="value")
deltas = by_seed.drop(columns="reference").sub(by_seed["reference"], axis=0)[[*PAIRS, "all"]]
reference = by_seed["reference"].groupby(level=["corpus", "target"]).mean()
mean = deltas.groupby(level=["corpus", "target"]).mean()

cross = [key for key in mean.index if key[1] != "en"]
same = [key for key in mean.index if key[1] == "en"]
print("### Ours\n")
rows = [
    [f"**{corpus}**", f"{reference[corpus, target]:.2f}", *map(signed, mean.loc[(corpus, target)])]
    for corpus, target in same
]
rows += [
    [corpus, f"{reference[corpus, target]:.2f}", *map(signed, mean.loc[(corpus, target)])] for corpus, target in cross
]
rows.append(["**mean of the 18**", f"{reference[cross].mean():.2f}", *map(signed, mean.loc[cross].mean())])
for seed in sorted(frame["seed"].unique()):
    one = deltas.xs(seed, level="seed")
    of_seed = by_seed["reference"].xs(seed, level="seed")
    rows.append([f"mean of the 18, seed {seed}", f"{of_seed[cross].mean():.2f}", *map(signed, one.loc[cross].mean())])
markdown(["evaluated on", "Ref", *(f"Δ {pair}" for pair in PAIRS), "Δ all"], rows)

print("### Published, and beside it ours\n")
published = {}
with open(here / "published-pos-en.csv", encoding="utf-8") as stream:
    for row in csv.DictReader(stream):
        published[row["target"], row["layers"]] = float(row["value"]) if row["value"] else float("nan")
rows = []
shared = []
for corpus, target in [*same, *cross]:
    if "_pud" in corpus and (target, "") in published:
        if target != "en":
            shared.append((corpus, target))
        theirs = [published.get((target, pair)) for pair in PAIRS]
        ours = mean.loc[(corpus, target)]
        cells = [f"{signed(a)} / {signed(ours[pair])}" for a, pair in zip(theirs, PAIRS, strict=True)]
        rows.append([target, f"{published[target, '']:.2f} / {reference[corpus, target]:.2f}", *cells])
targets = [target for _, target in shared]
cells = [
    f"{signed(sum(published[t, pair] for t in targets) / len(targets))} / {signed(mean.loc[shared][pair].mean())}"
    for pair in PAIRS
]
level = sum(published[t, ""] for t in targets) / len(targets)
rows.append([f"**mean of these {len(shared)}**", f"{level:.2f} / {reference[shared].mean():.2f}", *cells])
markdown(["target", "Ref", *(f"Δ {pair}" for pair in PAIRS)], rows)

print("### Similarity\n")
rows = []
for state, which in STATES.items():
    similar = results.filter(metric="similarity", **which).to_pandas()
    table = similar.pivot_table(index="measure", columns="layer", values="value")
    for measure in ("cka", "cka_debiased", "cka_shuffled"):
        rows.append([state, f"`{measure}`", *(f"{value:.2f}" for value in table.loc[measure])])
markdown(["encoder", "measure", *(str(layer) for layer in range(13))], rows)
states = [("pretrained", "cka_debiased"), ("reference", "cka_debiased"), ("1-2", "cka_debiased")]
rows = []
for language in ("fr", "ru", "zh", "fi", "ar"):
    for state, measure in states:
        similar = results.filter(metric="similarity", target=language, measure=measure, **STATES[state])
        values = similar.to_pandas().sort_values("layer")["value"]
        rows.append([f"en-{language}", state, *(f"{value:.2f}" for value in values)])
markdown(["pair", "encoder", *(str(layer) for layer in range(13))], rows)

facts = [json.loads(tags) for tags in frame["tags"]]
training = frame.assign(seconds=[f["training_seconds"] for f in facts]).drop_duplicates(["ablation", "seed"])["seconds"]
print(f"{len(training)} fine-tunings of {facts[0]['training_steps']} steps on {facts[0]['training_train_sentences']} sentences "
      f"({facts[0]['training_train_words']} words), {training.min():.0f} to {training.max():.0f} s each; "
      f"{facts[0]['training_threads']} thread; encoder {facts[0]['training_encoder_digest'][:12]} (reference).")  # fmt: skip
wide = frame[(frame["seed"] == 1) & (frame["ablation"] == "reference")]
print(
    f"95 % intervals of the reference's scores (seed 1): at most {max((wide['high'] - wide['low']) / 2):.2f} points to either side."
)
