"""The tables of similarity-real-encoder.md, as Markdown: python docs/results/similarity.py

They are made from similarity-real-encoder.parquet and published-script.parquet, which similarity-real-encoder.sh
writes.
"""

from pathlib import Path

import pandas as pd

from crosslens.results.record import read_results
from crosslens.similarity.transfer_gap import correlations

here = Path(__file__).parent
MEASURES = ("cka", "cka_debiased", "cka_length_matched", "cka_shuffled", "retrieval", "mexa", "anc")
STATES = ("pretrained", "pos", "pos 1-2", "parsing", "parsing 1-2", "untrained")


def markdown(header, rows):
    print("| " + " | ".join(header) + " |")
    print("|" + "|".join(["---"] * 2 + ["--:"] * (len(header) - 2)) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def written(value, decimals=2):
    return "–" if pd.isna(value) else f"{value:.{decimals}f}".replace("-", "−")


def states(frame):
    """Whose similarity: the pretrained encoder's, a model's of a task with or without layers 1-2, the untrained one's."""
    named = frame["task"].fillna("pretrained") + frame["ablation"].map({"1-2": " 1-2"}).fillna("")
    return named.where(frame["ablation"] != "0-12", "untrained")


def print_layers(frame):
    means = frame.groupby(["state", "measure", "layer"])["value"].mean().unstack("layer")
    rows = [
        [state, f"`{measure}`", *map(written, means.loc[(state, measure)])] for state in STATES for measure in MEASURES
    ]
    markdown(["encoder", "measure", *map(str, means.columns)], rows)


def print_languages(frame):
    values = frame[frame["measure"] == "cka_debiased"].pivot_table(
        index=["target", "state"], columns="layer", values="value"
    )
    languages = values.index.get_level_values("target").unique()
    rows = [[target, state, *map(written, values.loc[(target, state)])] for target in languages for state in STATES]
    markdown(["en and", "encoder", *map(str, values.columns)], rows)


def print_correlations(results):
    for control in ((), ("fertility", "length-ratio")):
        rows = []
        for its in correlations(results, measures=("cka", "cka_debiased", "retrieval", "mexa", "anc"), control=control):
            how = its.correlation
            interval = f"{written(how.low)} to {written(how.high)}"
            rows.append([its.task, its.state, f"`{its.measure}`", written(how.value), interval, written(how.p, 3)])
        beyond = " beyond fertility and length" if control else ""
        markdown(["gap", "similarity of", "measure", f"ρ{beyond}", "95 % interval", "p"], rows)
    by_layer = {}
    for its in correlations(results, layers="each"):
        by_layer.setdefault((its.task, its.state), []).append(written(its.correlation.value))
    depth = len(next(iter(by_layer.values())))
    markdown(["gap", "similarity of", *map(str, range(depth))], [[*key, *values] for key, values in by_layer.items()])


def print_published_script(frame):
    values = frame.pivot_table(index=["target", "measure"], columns="layer", values="value", sort=False)
    rows = [[f"en-{target}", f"`{measure}`", *map(written, row)] for (target, measure), row in values.iterrows()]
    markdown(["pair", "measure", *map(str, values.columns)], rows)


def main():
    results = read_results(here / "similarity-real-encoder.parquet")
    frame = results.filter(metric="similarity").to_pandas()
    frame["state"] = states(frame)
    print("### By layer\n")
    print_layers(frame)
    print("### Against transfer\n")
    print_correlations(results)
    print("### What the published script computes\n")
    print_published_script(read_results(here / "published-script.parquet").to_pandas())
    print("### Language by language\n")
    print_languages(frame)


if __name__ == "__main__":
    main()
