"""The tables of alignment.md, as Markdown, from alignment.parquet: python docs/results/alignment.py"""

from pathlib import Path

import pandas as pd
from scipy import stats

from crosslens.alignment.baselines import BASELINES, baseline_of
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
    results = read_results(here / "alignment.parquet")
    frame = results.to_pandas()
    rows = results.records.to_pylist()
    frame["encoders"] = [encoders(row) for row in rows]
    frame["baseline"] = [baseline_of(row, mapping="procrustes" if mapped(row) else "identity") or "" for row in rows]
    # In both directions of retrieval, the language beside the source's.
    source = frame["source"].isin(["src", "en"])
    frame["language"] = frame["target"].where(source, frame["source"])
    frame["layer"] = frame["layer"].astype("Int64")
    return frame


def mapped(row):
    """Whether a mapping was learnt: it was not for one encoder of both languages, nor for the real one as it is."""
    if row["encoder"].startswith("e5"):
        return not row["measure"].endswith("identity")
    return not row["encoder"].startswith(("lab/both", "runs-small/"))


def encoders(row):
    """Which encoders were compared: two that were pretrained independently, one of both languages, the real one."""
    if row["encoder"].startswith("e5"):
        return "as it is" if row["measure"].endswith("identity") else "rotated"
    if row["encoder"].startswith("init/"):
        return "before the first step"
    return "two, rotated" if "mono" in row["encoder"] else "one of both"


def of(frame, *, measure=None, metric, task=None):
    """The records of one kind, in the language beside the source's."""
    chosen = frame["metric"].eq(metric) & frame["language"].ne(frame["source"].where(frame["task"].notna()))
    names = frame["measure"].fillna("")
    chosen &= frame["task"].eq(task) if task else (names.eq(measure) | names.str.startswith(f"{measure} "))
    return frame[chosen]


def main():
    frame = read()
    real = frame["encoder"].str.startswith("e5")
    lab = frame["encoder"].str.startswith("lab/")
    initial = frame["encoder"].str.startswith("init/")
    comparisons(frame[lab], "src", ("adj", "sov"))
    table(
        of(frame[initial], measure="sentences", metric="precision@1"),
        f"Initial encoders, rotated: {SENTENCES}",
        of_one=False,
    )
    comparisons(frame[~lab & ~real & ~initial], "en", ("de", "fr", "ru"))
    for language in ("fr", "ru"):
        pair = frame[real & frame["language"].eq(language)]
        words = of(pair, measure="words", metric="precision@1")
        table(words, f"multilingual-e5-small, en and {language}: words translated, precision at 1 (CSLS)")
        table(
            of(pair, measure="sentences", metric="precision@1"),
            f"multilingual-e5-small, en and {language}: {SENTENCES}",
        )


SENTENCES = "sentences found, mean of both directions (cosine)"


def comparisons(frame, source, languages):
    """The tables of a source language and others: words, sentences, CKA, transfer."""
    for language in languages:
        name = f"{source} and {language}"
        pair = frame[frame["language"].eq(language)]
        for at in (1, 5):
            words = of(pair, measure="words", metric=f"precision@{at}")
            table(words, f"{name}: words translated, precision at {at} (CSLS)")
        sentences = of(pair, measure="sentences", metric="precision@1")
        similar = of(pair, measure="cka", metric="similarity")
        table(sentences, f"{name}: {SENTENCES}")
        table(percent(similar), f"{name}: CKA, times 100")
        agreement(sentences, similar, name)
        scores = of(pair, metric="accuracy", task="pos")
        table(scores, f"{name}: zero-shot POS accuracy of a head on one fixed layer")
    own = frame[frame["task"].eq("pos") & frame["metric"].eq("accuracy") & frame["target"].eq(frame["source"])]
    table(own, f"{source}: in-language POS accuracy of the same heads, mean over all pairs")
    twice = frame[frame["metric"].eq("similarity") & frame["target"].eq(frame["source"])]
    twice = percent(twice[twice["measure"].eq("cka")])
    table(twice, f"{source} and {source}: CKA of encoders of two seeds, times 100")


def percent(frame):
    return frame.assign(value=100 * frame["value"])


SHORT = {"two, rotated": "two", "one of both": "one"}


def table(frame, title, *, of_one=True):
    """A row a layer: of one language each kind of encoders with its baselines, or one column for each language."""
    if not len(frame):
        return
    heads = {}
    for language, kind, baseline in sorted(
        set(zip(frame["language"], frame["encoders"], frame["baseline"], strict=True)),
        key=lambda head: (head[0], head[1] != "two, rotated", head[1], ["", *BASELINES].index(head[2])),
    ):
        # "one of both" and "two, rotated" are the measurements; the baselines are "one, untrained", "two, shuffled", …
        name = f"{SHORT.get(kind, kind)}, {baseline}" if baseline else kind
        heads[language, kind, baseline] = name if of_one else f"{language}, {name}"
    names = [heads[head] for head in zip(frame["language"], frame["encoders"], frame["baseline"], strict=True)]
    table = frame.assign(column=names).pivot_table(index="layer", columns="column", values="value")
    markdown(table[list(dict.fromkeys(heads.values()))], title)


def agreement(sentences, similar, name):
    """Pearson's correlation over layers of CKA and sentence retrieval."""
    lines = []
    columns = ["language", "encoders", "baseline"]
    similarity = dict(list(similar.groupby(columns)))
    for head, records in sentences.groupby(columns):
        retrieved = records.groupby("layer")["value"].mean()
        alike = similarity[head].groupby("layer")["value"].mean() if head in similarity else []
        if len(alike) == len(retrieved) > 2:
            lines.append(f"{', '.join(filter(None, head))}: {stats.pearsonr(alike, retrieved).statistic:.2f}")
    if lines:
        print(f"{name}: Pearson's correlation of CKA and retrieval over layers. {'; '.join(lines)}.\n")


if __name__ == "__main__":
    main()
