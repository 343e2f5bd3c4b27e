"""The tables of TASK-real-encoder.md, as Markdown: python docs/results/tables.py TASK

They are made from TASK-real-encoder.parquet, which TASK-real-encoder.sh writes. The published numbers, in published-TASK-en.csv, are
Tables 6 (parsing), 7 (POS) and 8 (NER) of Muller et al. (2021), English as the source.
"""

import csv
import json
import sys
from pathlib import Path

import pandas as pd

from crosslens.results.record import read_results
from crosslens.tasks import find_task

here = Path(__file__).parent
PAIRS = ["1-2", "3-4", "5-6", "7-8", "9-10", "11-12"]
STATES = {
    "pretrained": {"encoder": "encoders/e5-pud", "ablation": None},
    "reference": {"encoder": "runs/pos-none-seed1/model"},
    "1-2": {"encoder": "runs/pos-1-2-seed1/model"},
    "11-12": {"encoder": "runs/pos-11-12-seed1/model"},
    "untrained": {"encoder": "encoders/e5-pud", "ablation": "0-12"},
}


def signed(value):
    return "" if pd.isna(value) else f"{value:+.2f}".replace("-", "−")


def markdown(header, rows):
    print("| " + " | ".join(header) + " |")
    print("|" + "|".join(["---"] + ["--:"] * (len(header) - 1)) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def scores(results, metric):
    """The records of one metric, with the columns that the tables need."""
    frame = results.filter(metric=metric).to_pandas()
    frame["ablation"] = frame["ablation"].fillna("reference").replace({"1-12": "all"})
    return frame


def published_scores(task):
    with open(here / f"published-{task}-en.csv", encoding="utf-8") as stream:
        return {
            (row["target"], row["layers"]): float(row["value"]) if row["value"] else float("nan")
            for row in csv.DictReader(stream)
        }


def print_scores(task, frame):
    """Ours, corpus by corpus and seed by seed; then published and ours, target by target."""
    by_seed = frame.pivot_table(index=["corpus", "target", "seed"], columns="ablation", values="value")
    conditions = [name for name in [*PAIRS, "all"] if name in by_seed]
    deltas = by_seed[conditions].sub(by_seed["reference"], axis=0)
    reference = by_seed["reference"].groupby(level=["corpus", "target"]).mean()
    mean = deltas.groupby(level=["corpus", "target"]).mean()
    cross = [key for key in mean.index if key[1] != "en"]
    same = [key for key in mean.index if key[1] == "en"]
    print("### Ours\n")
    rows = [
        [f"**{corpus}**" if target == "en" else corpus, f"{reference[corpus, target]:.2f}"]
        + [signed(value) for value in mean.loc[(corpus, target)]]
        for corpus, target in [*same, *cross]
    ]
    title = f"mean of the {len(cross)}"
    rows.append([f"**{title}**", f"{reference[cross].mean():.2f}", *map(signed, mean.loc[cross].mean())])
    for seed in sorted(frame["seed"].unique()):
        one, level = deltas.xs(seed, level="seed"), by_seed["reference"].xs(seed, level="seed")
        cells = map(signed, one.loc[cross].mean())
        rows.append([f"{title}, seed {seed}", f"{level[cross].mean():.2f}", *cells])
    markdown(["evaluated on", "Ref", *(f"Δ {name}" for name in conditions)], rows)

    print("### Published, and beside it ours\n")
    published = published_scores(task)
    shared = [
        (corpus, target)
        for corpus, target in [*same, *cross]
        if ("_pud" in corpus or task == "ner") and (target, "") in published
    ]
    rows = []
    for corpus, target in shared:
        ours = mean.loc[(corpus, target)]
        cells = [f"{signed(published.get((target, pair)))} / {signed(ours[pair])}" for pair in PAIRS]
        rows.append([target, f"{published[target, '']:.2f} / {reference[corpus, target]:.2f}", *cells])
    shared = [key for key in shared if key[1] != "en"]
    theirs = pd.DataFrame({name: [published.get((t, name)) for _, t in shared] for name in ["", *PAIRS]}).astype(float)
    cells = [f"{signed(theirs[pair].mean())} / {signed(mean.loc[shared][pair].mean())}" for pair in PAIRS]
    level = f"{theirs[''].mean():.2f} / {reference[shared].mean():.2f}"
    rows.append([f"**mean of these {len(shared)}**", level, *cells])
    markdown(["target", "Ref", *(f"Δ {pair}" for pair in PAIRS)], rows)


def print_other_scores(frames):
    """Means over the targets that are not English, of every other score."""
    print("### Other scores\n")
    rows = []
    conditions = []
    for metric, frame in frames.items():
        by_seed = frame.pivot_table(index=["corpus", "target", "seed"], columns="ablation", values="value")
        conditions = [name for name in PAIRS if name in by_seed]
        means = by_seed[by_seed.index.get_level_values("target") != "en"].mean()
        rows.append([f"`{metric}`", f"{means['reference']:.2f}"])
        rows[-1] += [signed(means[name] - means["reference"]) for name in conditions]
    markdown(["score", "Ref", *(f"Δ {name}" for name in conditions)], rows)


def print_similarity(results):
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


def print_facts(frame):
    facts = [json.loads(tags) for tags in frame["tags"]]
    training = frame.assign(seconds=[f["training_seconds"] for f in facts]).drop_duplicates(["ablation", "seed"])["seconds"]
    print(f"{len(training)} fine-tunings of {facts[0]['training_steps']} steps on {facts[0]['training_train_sentences']} sentences "
          f"({facts[0]['training_train_words']} words), {training.min():.0f} to {training.max():.0f} s each; "
          f"{facts[0]['training_threads']} thread; encoder {facts[0]['training_encoder_digest'][:12]} (reference).")
    wide = frame[(frame["seed"] == 1) & (frame["ablation"] == "reference")]
    print(
        f"95 % intervals over sentences of the reference's scores (seed 1): at most {max((wide['high'] - wide['low']) / 2):.2f} points to either side."
    )


def main(task):
    results = read_results(here / f"{task}-real-encoder.parquet")
    metric = find_task(task).metric
    frame = scores(results, metric)
    print_scores(task, frame)
    others = [name for (name,), _ in results.filter(task=task).groups("metric") if name != metric and "f1_" not in name]
    others += ["f1_strict"] if task == "ner" else []
    if others:
        print_other_scores({name: scores(results, name) for name in others})
    if task == "pos":
        print_similarity(results)
    print_facts(frame)


if __name__ == "__main__":
    main(sys.argv[1])
