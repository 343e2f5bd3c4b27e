"""The tables of alignment.md, as Markdown, from alignment.parquet: python docs/results/alignment.py"""

from pathlib import Path

import pandas as pd
from scipy import stats

from crosslens.alignment.baselines import BASELINES, baseline_of
from crosslens.results.record import read_results

here = Path(__file__).parent

REAL = "A megabyte of text a language"


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
    frame["baseline"] = [
        baseline_of(row, mapping="identity" if row["encoder"].startswith("lab/both") else "procrustes") or "" for row in rows
    ]
    # In both directions of retrieval, the language beside the source's.
    source = frame["source"].isin(["src", "en"])
    frame["language"] = frame["target"].where(source, frame["source"])
    frame["layer"] = frame["layer"].astype("Int64")
    return frame


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
    laboratory(frame[lab])
    table(of(frame[initial], measure="sentences", metric="precision@1"), f"Initial encoders, rotated: {SENTENCES}")
    text(frame[~lab & ~real & ~initial])
    e5 = frame[real].assign(baseline="")
    for level, title in (("words", "words translated, precision at 1 (CSLS)"), ("sentences", SENTENCES)):
        e5_level = of(e5, measure=level, metric="precision@1")
        table(e5_level, f"multilingual-e5-small: {title}")


SENTENCES = "sentences found, mean of both directions (cosine)"


def laboratory(frame):
    for language in ("adj", "sov"):
        name = f"src and {language}"
        its = frame[frame["language"].eq(language)]
        for at in (1, 5):
            words = of(its, measure="words", metric=f"precision@{at}")
            table(words, f"{name}: words translated, precision at {at} (CSLS)", beside=True)
        sentences = of(its, measure="sentences", metric="precision@1")
        similar = of(its, measure="cka", metric="similarity")
        table(sentences, f"{name}: {SENTENCES}", beside=True)
        table(percent(similar), f"{name}: CKA, times 100", beside=True)
        agreement(sentences, similar, name)
        scores = of(its, metric="accuracy", task="pos")
        table(scores, f"{name}: zero-shot POS accuracy of a head on one fixed layer", beside=True)
    own = frame[frame["task"].eq("pos") & frame["metric"].eq("accuracy") & frame["target"].eq(frame["source"])]
    table(own, "src: in-language POS accuracy of the same heads, mean over both pairs", beside=True)
    twice = frame[frame["metric"].eq("similarity") & frame["target"].eq(frame["source"])]
    twice = percent(twice[twice["measure"].eq("cka")])
    table(twice, "src and src: CKA of encoders of two seeds, times 100", beside=True)


def text(frame):
    table(of(frame, measure="words", metric="precision@1"), f"{REAL}: words translated, precision at 1 (CSLS)")
    sentences = of(frame, measure="sentences", metric="precision@1")
    similar = of(frame, measure="cka", metric="similarity")
    table(sentences, f"{REAL}: {SENTENCES}")
    different = similar[similar["target"].ne(similar["source"])]
    table(percent(different), f"{REAL}: CKA, times 100")
    same = similar[similar["target"].eq(similar["source"])]
    table(percent(same), f"{REAL}: CKA of one language's encoders of two seeds, times 100")
    agreement(sentences, different, REAL)
    scores = of(frame, metric="accuracy", task="pos")
    table(scores, f"{REAL}: zero-shot POS accuracy of a head on one fixed layer")


def percent(frame):
    return frame.assign(value=100 * frame["value"])


def table(frame, title, *, beside=False):
    """A row a layer; of one language with all its baselines ``beside``, or of several languages."""
    if not len(frame):
        return
    heads = {}
    for language, kind, baseline in sorted(
        set(zip(frame["language"], frame["encoders"], frame["baseline"], strict=True)),
        key=lambda head: (head[0], head[1] != "two, rotated" if beside else head[1], ["", *BASELINES].index(head[2])),
    ):
        # "one of both" and "two, rotated" are the measurements; the baselines are "one, untrained", "two, shuffled", …
        short = f"{kind[:3]}, {baseline}" if beside else baseline
        heads[language, kind, baseline] = ", ".join(([] if beside else [language]) + [short if baseline else kind])
    names = [heads[head] for head in zip(frame["language"], frame["encoders"], frame["baseline"], strict=True)]
    table = frame.assign(column=names).pivot_table(index="layer", columns="column", values="value")
    markdown(table[list(dict.fromkeys(heads.values()))], title)


def agreement(sentences, similar, name):
    """Pearson's correlation over layers of CKA and sentence retrieval."""
    found = []
    columns = ["language", "encoders", "baseline"]
    similarity = dict(list(similar.groupby(columns)))
    for head, its in sentences.groupby(columns):
        retrieved = its.groupby("layer")["value"].mean()
        alike = similarity[head].groupby("layer")["value"].mean() if head in similarity else []
        if len(alike) == len(retrieved) > 2:
            found.append(f"{', '.join(filter(None, head))}: {stats.pearsonr(alike, retrieved).statistic:.2f}")
    if found:
        print(f"{name}: Pearson's correlation of CKA and retrieval over layers. {'; '.join(found)}.\n")


if __name__ == "__main__":
    main()
