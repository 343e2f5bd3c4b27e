"""The tables of alignment.md, as Markdown, from alignment.parquet: python docs/results/alignment.py"""

from pathlib import Path

import pandas as pd
from scipy import stats

from crosslens.results.record import read_results

here = Path(__file__).parent


def markdown(frame, title):
    print(f"**{title}**\n")
    print("| " + " | ".join(["layer", *map(str, frame.columns)]) + " |")
    print("|---|" + "--:|" * len(frame.columns))
    for layer, row in frame.iterrows():
        cells = ["–" if pd.isna(value) else f"{value:.1f}" for value in row]
        print("| " + " | ".join([str(layer), *cells]) + " |")
    print()


def read():
    frame = read_results(here / "alignment.parquet").to_pandas()
    frame["kind"] = [kind(row.encoder, row.measure, row.state) for row in frame.itertuples()]
    frame["layer"] = frame["layer"].astype("Int64")
    return frame


def kind(encoder, measure, state):
    """Which encoders were compared: two that never met, one of both languages, the real one, fresh ones."""
    if state == "untrained":
        return "untrained"
    if encoder.startswith("e5"):
        return "as it is" if measure.endswith("none") else "rotated"
    return "two, rotated" if "mono" in encoder else "one of both"


def main():
    frame = read()
    for name, languages in (("Artificial languages", ("src",)), ("A megabyte of text a language", ("en",))):
        its = frame[frame["source"].isin(languages) & ~frame["encoder"].str.startswith("e5")]
        words = its[its["metric"].eq("precision@1") & its["measure"].fillna("").str.startswith("words")]
        table(words, f"{name}: words translated, precision at 1 (CSLS)")
        both = frame[frame["measure"].fillna("").str.startswith("sentences") & ~frame["encoder"].str.startswith("e5")]
        both = both[both["source"].isin(languages) | both["target"].isin(languages)]
        both = both.assign(target=[b if a in languages else a for a, b in zip(both["source"], both["target"])])
        table(both, f"{name}: sentences found, mean of both directions (cosine)")
        similar = its[its["measure"].eq("cka") & its["target"].ne(its["source"])]
        table(similar.assign(value=100 * similar["value"]), f"{name}: CKA, times 100")
        twice = its[its["measure"].eq("cka") & its["target"].eq(its["source"])]
        table(twice.assign(value=100 * twice["value"]), f"{name}: CKA of one language's encoders of two seeds, times 100")
        agreement(both, similar, name)
        for metric, task in (("accuracy", "pos"), ("las", "parsing"), ("f1", "ner")):
            scores = its[its["metric"].eq(metric) & its["task"].eq(task) & its["target"].ne(its["source"])]
            table(scores, f"{name}: {task} {metric} in the language never seen labelled, by a head on one fixed layer")
    real = frame[frame["encoder"].str.startswith("e5")]
    words = real[real["metric"].eq("precision@1") & real["measure"].str.startswith("words")]
    table(words, "multilingual-e5-small: words translated, precision at 1 (CSLS)")
    sentences = real[real["measure"].str.startswith("sentences")]
    sentences = sentences.assign(
        target=[b if a == "en" else a for a, b in zip(sentences["source"], sentences["target"])]
    )
    table(sentences, "multilingual-e5-small: sentences found, mean of both directions (cosine)")


def table(frame, title):
    if len(frame):
        frame = frame.assign(column=frame["target"] + ", " + frame["kind"])
        markdown(frame.pivot_table(index="layer", columns="column", values="value"), title)


def agreement(sentences, similar, name):
    """Pearson's correlation over layers of CKA and sentence retrieval."""
    found = []
    for (target, how), its in sentences.groupby(["target", "kind"]):
        retrieved = its.groupby("layer")["value"].mean()
        alike = similar[similar["target"].eq(target) & similar["kind"].eq(how)].groupby("layer")["value"].mean()
        if len(alike) == len(retrieved) > 2:
            found.append(f"{target}, {how}: {stats.pearsonr(alike, retrieved).statistic:.2f}")
    if found:
        print(f"{name}: Pearson's correlation of CKA and retrieval over layers. {'; '.join(found)}.\n")


if __name__ == "__main__":
    main()
