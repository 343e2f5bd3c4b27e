"""Print the tables of pretraining-factors.md from pretraining-factors.parquet: python docs/results/factors.py"""

from pathlib import Path

import numpy as np
import pandas as pd

from crosslens.encoders.condition import Condition
from crosslens.report.papers import find_paper
from crosslens.results.record import read_results
from crosslens.scores.crossed import LEVEL, Sample, mean_sample, q_values

here = Path(__file__).parent
FACTORS = "default-anchors extra-anchors no-anchors sep-1-3 sep-1-6 sep-emb sep-emb-1-3 sep-emb-1-6".split()
TASKS = {"pos": "accuracy", "parsing": "las", "ner": "f1"}
STUDIES = {"pretraining-factors": "Artificial languages", "pretraining-factors-small": "Real text"}
SENTENCES = 100
"""Lower bound of the number of sentences in a test set."""


def print_table(title, head, rows):
    print(f"**{title}**\n")
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


def zero_shot(frame):
    return frame[frame["metric"].eq(frame["task"].map(TASKS)) & frame["target"].ne(frame["source"])]


def sample(scores, reference):
    """Differences by seed. Without paired sentences, the variances over sentences of both scores are added."""
    scores, reference = scores.set_index("seed").sort_index(), reference.set_index("seed").sort_index()
    variance = sum(((each["high"] - each["low"]) / (2 * 1.96)).pow(2).mean() for each in (scores, reference))
    return Sample((scores["value"] - reference["value"]).to_numpy(), float(variance), SENTENCES)


def significant(scores):
    """Significant differences: (task, target, condition) and (task, "mean", condition), corrected as two families."""
    groups = dict(iter(scores.groupby(["task", "target", "condition"])))
    single = {
        (task, target, condition): sample(group, groups[task, target, "reference"])
        for (task, target, condition), group in groups.items()
        if condition != "reference"
    }
    by_task = {}
    for (task, _, condition), difference in single.items():
        by_task.setdefault((task, "mean", condition), []).append(difference)
    means = {place: mean_sample(samples) for place, samples in by_task.items()}
    starred = set()
    for family in (single, means):
        q = q_values(np.array([each.estimate().p for each in family.values()]))
        starred |= {place for place, value in zip(family, q, strict=True) if value < LEVEL}
    return starred


def print_scores(title, scores):
    table = scores.pivot_table(index=["task", "target"], columns="condition", values="value")
    factors = [factor for factor in FACTORS if factor in table]
    starred = significant(scores)

    def cells(task, target, row):
        yield number(row["reference"])
        for factor in factors:
            star = "\\*" if (task, target, factor) in starred else ""
            yield number(row[factor] - row["reference"], sign=True) + star

    rows = [[f"{task}, {target}", *cells(task, target, row)] for (task, target), row in table.iterrows()]
    for task, mean in table.groupby(level="task").mean().iterrows():
        rows.append([f"**{task}, mean**", *cells(task, "mean", mean)])
    print_table(f"{title}: zero-shot scores, and differences to the reference", ["", "reference", *factors], rows)


def print_perplexities(title, frame):
    perplexity = frame[frame["metric"].eq("perplexity")]
    table = perplexity.pivot_table(index="target", columns="condition", values="value", aggfunc=["min", "max"])
    conditions = [name for name in ["reference", *FACTORS] if ("min", name) in table]
    print_table(
        f"{title}: perplexity of held-out text, lowest and highest over pairs and seeds",
        ["", *conditions],
        [
            [language, *(f"{number(row['min', name])} to {number(row['max', name])}" for name in conditions)]
            for language, row in table.iterrows()
        ],
    )


def print_published():
    paper = find_paper("conneau2020")
    conditions = [Condition(), *(Condition(factor=factor) for factor in FACTORS)]
    rows = []
    for task in ("nli", "ner", "parsing"):
        cells = [paper.find(task, ["en"], ["x"], condition) for condition in conditions]
        rows.append([task, *(number(cell.value, sign=place > 0) if cell else "–" for place, cell in enumerate(cells))])
    print_table(
        "Published (Table 1): mean over French, Russian and Chinese, Default and differences to it",
        ["", "Default", *FACTORS],
        rows,
    )


def print_no_anchors(frame):
    place = ["target", "seed"]
    tagging = zero_shot(frame[frame["task"].eq("pos")]).set_index(place)
    reference = tagging[tagging["condition"].eq("reference")]["value"]
    scores = tagging[tagging["condition"].eq("no-anchors")]["value"].sort_index()
    perplexity = frame[frame["condition"].eq("no-anchors") & frame["metric"].eq("perplexity")].set_index(place)["value"]
    print_table(
        "Encoders without anchors: perplexity of the target language, and zero-shot tagging accuracy",
        ["", "perplexity", "no anchors", "reference"],
        [
            [f"{target}, seed {seed}", *map(number, (perplexity[target, seed], score, reference[target, seed]))]
            for (target, seed), score in scores.items()
        ],
    )


def main():
    for study, title in STUDIES.items():
        frame = read(study)
        print_scores(title, zero_shot(frame))
        print_perplexities(title, frame)
    print_published()
    print_no_anchors(read("pretraining-factors"))


if __name__ == "__main__":
    main()
