"""The tables of pretraining-factors.md, as Markdown, from pretraining-factors.parquet: python docs/results/factors.py"""

from pathlib import Path

import pandas as pd

from crosslens.encoders.condition import Condition
from crosslens.report.papers import find_paper
from crosslens.results.record import read_results
from crosslens.scores.intervals import LEVEL, Sample, mean_sample, q_values

here = Path(__file__).parent
FACTORS = ["default-anchors", "extra-anchors", "no-anchors", "sep-1-3", "sep-1-6", "sep-emb", "sep-emb-1-3", "sep-emb-1-6"]
TASKS = {"pos": "accuracy", "parsing": "las", "ner": "f1"}


def markdown(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|---|" + "--:|" * (len(head) - 1))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def number(value, *, sign=False):
    return "–" if pd.isna(value) else f"{value:{'+' if sign else ''}.1f}".replace("-", "−")


def read(study):
    frame = read_results(here / "pretraining-factors.parquet").filter(study=study).to_pandas()
    return frame.assign(condition=frame["factor"].fillna("reference"))


SENTENCES = 100
"""Of a test set: at least so many."""


def sample(scores, reference):
    """Differences by seed. Records hold no paired sentences, so both scores' variances over sentences are added."""
    of = [each.set_index("seed").sort_index() for each in (scores, reference)]
    variance = sum(((each["high"] - each["low"]) / (2 * 1.96)).pow(2).mean() for each in of)
    return Sample((of[0]["value"] - of[1]["value"]).to_numpy(), float(variance), SENTENCES)


def significant(scores):
    """The differences that are: (task, target, condition), and (task, "mean", condition), each kind corrected apart."""
    by_place = dict(iter(scores.groupby(["task", "target", "condition"])))
    single = {
        place: sample(each, by_place[*place[:2], "reference"]) for place, each in by_place.items()
        if place[2] != "reference"
    }  # fmt: skip
    means = {
        (task, "mean", condition): mean_sample([each for (t, _, c), each in single.items() if (t, c) == (task, condition)])
        for task, _, condition in single
    }  # fmt: skip
    marked = set()
    for family in (single, means):
        q = q_values(pd.Series([each.estimate().p for each in family.values()]).to_numpy(float))
        marked |= {place for place, value in zip(family, q, strict=True) if value < LEVEL}
    return marked


def main():
    for study, title in (("pretraining-factors", "Artificial languages"), ("pretraining-factors-small", "Real text")):
        frame = read(study)
        scores = frame[frame["metric"].eq(frame["task"].map(TASKS)) & frame["target"].ne(frame["source"])]
        print(f"**{title}: scores in languages never seen labelled, and differences to the reference**\n")
        table = scores.pivot_table(index=["task", "target"], columns="condition", values="value")
        there = [factor for factor in FACTORS if factor in table]
        rows = []
        marked = significant(scores)

        def difference(row, task, target, factor, marked=marked):
            star = "\\*" if (task, target, factor) in marked else ""
            return number(row[factor] - row["reference"], sign=True) + star

        for (task, target), row in table.iterrows():
            differences = [difference(row, task, target, factor) for factor in there]
            rows.append([f"{task}, {target}", number(row["reference"]), *differences])
        for task, its in table.groupby(level="task"):
            mean = its.mean()
            rows.append([f"**{task}, mean**", number(mean["reference"]),
                         *(difference(mean, task, "mean", factor) for factor in there)])  # fmt: skip
        markdown(["", "reference", *there], rows)
        perplexity = frame[frame["metric"].eq("perplexity")]
        table = perplexity.pivot_table(index="target", columns="condition", values="value", aggfunc=["min", "max"])
        print(f"**{title}: perplexity of held-out text, least and greatest over pairs and seeds**\n")
        markdown(
            ["", "reference", *there],
            [
                [language, *(f"{number(row['min', name])} to {number(row['max', name])}" for name in ["reference", *there])]
                for language, row in table.iterrows()
            ],
        )
    paper = find_paper("conneau2020")
    print("**Published (Table 1), the mean over French, Russian and Chinese: Default, and differences to it**\n")
    rows = []
    for task in ("nli", "ner", "parsing"):
        conditions = [Condition(), *(Condition(factor=factor) for factor in FACTORS)]
        cells = [paper.find(task, ["en"], ["x"], condition) for condition in conditions]
        rows.append([task, *(number(cell.value, sign=place > 0) if cell else "–" for place, cell in enumerate(cells))])
    markdown(["", "Default", *FACTORS], rows)
    frame = read("pretraining-factors")
    other = frame["task"].eq("pos") & frame["metric"].eq("accuracy") & frame["target"].ne("src")
    own = frame[frame["condition"].eq("no-anchors")]
    print("**Without anchors, encoder by encoder: tagging the other language, by the perplexity that pretraining reached**\n")
    scores = frame[frame["condition"].eq("no-anchors") & other]
    reference = frame[frame["condition"].eq("reference") & other].set_index(["target", "seed"])["value"]
    perplexity = own[own["metric"].eq("perplexity")].groupby(["target", "seed"])["value"].first()
    rows = [
        [f"{row.target}, seed {row.seed}", number(perplexity[row.target, row.seed]), number(row.value),
         number(reference[row.target, row.seed])]
        for row in scores.sort_values(["target", "seed"]).itertuples()
    ]  # fmt: skip
    markdown(["", "perplexity", "no anchors", "reference"], rows)


if __name__ == "__main__":
    main()
