"""The tables of unseen.md, as Markdown, from the folder unseen and the rule that is shipped: python docs/results/unseen.py"""

import csv
import re
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np

from crosslens.unseen.rule import mean_over_languages, read_rule

here = Path(__file__).parent / "unseen"

UNSEEN = {f"ud/{name}" for name in (
    "wo_wtb", "mt_mudt", "qaf_arabizi", "fo_farpahc", "fo_oft", "bxr_bdt", "olo_kkpp", "myv_jr", "bm_crb", "pcm_nsc", "gsw_uzh", "kpv_lattice",
    "sme_giella", "hsb_ufal",
)}
"""Treebanks of languages that this encoder was not pretrained on."""


def markdown(title, head, rows):
    print(f"**{title}**\n")
    print("| " + " | ".join(head) + " |")
    print("|---|" + "--:|" * (len(head) - 1))
    for row in rows:
        print("| " + " | ".join(written(value) for value in row) + " |")
    print()


def written(value):
    if isinstance(value, float):
        return f"{value:.1f}"
    return "–" if value is None else str(value)


def read(name):
    with open(here / name, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def number(text):
    return float(text) if text else None


def scripts(rows, title):
    """Every corpus as it is written and in Latin letters, zero-shot from English."""
    scores = defaultdict(dict)
    for row in rows:
        bare, _, scheme = row["corpus"].partition("@")
        scores[bare][scheme] = float(row["mean"])
    both = {corpus: its for corpus, its in scores.items() if len(its) > 1}
    order = sorted(both, key=lambda corpus: both[corpus]["uroman"] - both[corpus][""], reverse=True)
    markdown(title, ["corpus", "as it is written", "uroman", "Δ"],
             [[f"`{c.split(':')[0]}`", both[c][""], both[c]["uroman"], f"{both[c]['uroman'] - both[c]['']:+.1f}"] for c in order])


def rule():
    its = read_rule()
    rows = len(its.measured)
    errors(f"The rule, on languages left out: {rows} scores of {len(its.treebanks)} treebanks of {len(its.languages)} languages", [
        ("error of an estimate", its.error),
        *((f"from {source}", mean_over_languages((row, error) for row, error in zip(its.measured, its.errors, strict=True) if row.source == source))
          for source in its.sources),
        ("without the two features of probes", replace(its, measured=tuple(replace(row, features=row.features[:3]) for row in its.measured)).error),
        ("error of a constant guess", its.constant_error),
        ("regret of choosing the source of the highest expected score", its.regret), ("regret of always English", its.default_regret),
        ("gain of that choice over always English", its.choice_gain),
    ])


def errors(title, rows):
    markdown(title, ["", "points", "95 % CI over languages"],
             [[name, mean.value, f"{mean.low:.1f} to {mean.high:.1f}"] for name, mean in rows])


KEPT_APART = {"fil", "ja", "kmr", "ko", "mt", "pl", "pt", "ta", "te", "th", "tr", "uk", "wo"}
"""A quarter of the languages, drawn by numpy's default_rng(20240) before any evidence was looked at."""


def kept_apart():
    """The rule as it was chosen and fitted on the other languages, on languages that were looked at once, at the end."""
    whole = read_rule()
    fitted = whole.without(KEPT_APART)
    apart = [row for row in whole.measured if row.language in KEPT_APART]
    for source in (None, "en"):
        rows = [row for row in apart if source in (None, row.source)]
        wrong = [abs(fitted.expected(row.features, row.source) - row.score) for row in rows]
        constant = [abs(np.mean([other.score for other in fitted.measured if other.source == row.source]) - row.score) for row in rows]
        covered = [100.0 * (error <= fitted.half_width) for error in wrong]
        errors(f"Languages kept apart, {f'from {source}' if source else 'from every source'}: {len(rows)} scores", [
            ("error of an estimate", mean_over_languages(zip(rows, wrong, strict=True))),
            ("error of a constant guess", mean_over_languages(zip(rows, constant, strict=True))),
            (f"scores within {fitted.half_width:.1f} points of the estimate, %", mean_over_languages(zip(rows, covered, strict=True))),
        ])
    corpora = sorted({row.corpus for row in apart})
    ways = [[row for row in apart if row.corpus == corpus] for corpus in corpora]
    best = [max(row.score for row in of_one) for of_one in ways]
    chosen = [max(of_one, key=lambda row: fitted.expected(row.features, row.source)) for of_one in ways]
    english = [next(row for row in of_one if row.source == "en") for of_one in ways]
    errors(f"The choice for languages kept apart: {len(corpora)} treebanks", [
        ("regret of choosing the source of the highest expected score",
         mean_over_languages((row, top - row.score) for row, top in zip(chosen, best, strict=True))),
        ("regret of always English", mean_over_languages((row, top - row.score) for row, top in zip(english, best, strict=True))),
    ])


def again():
    """How far scores from English are from those that the rule was fitted to, when they are measured again."""
    fitted = {row.corpus: row.score for row in read_rule().measured if row.source == "en"}
    rows = [row for row in read("again.csv") if row["corpus"] in fitted]
    table = []
    for seed, what in (("1", "the same seed"), ("2", "another seed")):
        apart = [abs(float(row["value"]) - fitted[row["corpus"]]) for row in rows if row["seed"] == seed]
        table.append([what, len(apart), f"{np.mean(apart):.2f}", f"{max(apart):.2f}"])
    markdown("Scores from English measured again: difference in points", ["", "scores", "mean", "largest"], table)


def adapted(name, title):
    rows = [row for row in read(name) if row["condition"] == "adapted"]
    reference = {row["corpus"]: row for row in read(name) if row["condition"] == "reference"}
    markdown(title, ["corpus", "as it is", "adapted", "Δ", "95 % interval over sentences"],
             [[f"`{row['corpus']}`", float(reference[row["corpus"]]["mean"]), float(row["mean"]), f"{float(row['delta']):+.1f}",
               f"{float(row['delta_low']):+.1f} to {float(row['delta_high']):+.1f}"] for row in rows])


def typology(name, title):
    rows = read(name)
    for task in ("pos", "parsing", "ner"):
        its = [row for row in rows if row["task"] == task]
        if its:
            markdown(f"{title}, {task}", ["language", "script", "family", "words of raw text", "as it is", "adapted", "from scratch",
                     "BiLSTM", "as it is − BiLSTM", "class in the slides"],
                     [[f"{row['name']} (`{row['train'].split(':')[0]}`{' @' + row['train'].split('@', 1)[1] if '@' in row['train'] else ''})",
                       row["script"], row["family"] or "–", row["text"].removesuffix(".0") or "–", *(number(row[c]) for c in ("encoder", "adapted", "from scratch", "BiLSTM")),
                       f"{float(row['encoder - BiLSTM']):+.1f}", row["published class"] or "–"] for row in its])


def amounts(name, title):
    """Each language with few sentences and with many."""
    rows = [(row, re.search(r"\[:(\d+)\]", row["train"])) for row in read(name)]
    rows.sort(key=lambda its: (its[0]["name"], int(its[1][1]) if its[1] else 10**6))
    markdown(title, ["language", "sentences", "as it is", "adapted", "BiLSTM", "as it is − BiLSTM"],
             [[row["name"], cut[1] if cut else "all", *(number(row[c]) for c in ("encoder", "adapted", "BiLSTM")),
               f"{float(row['encoder - BiLSTM']):+.1f}"] for row, cut in rows])


def unseen_zero_shot(title):
    """Languages that the encoder never saw, from every source."""
    scores = defaultdict(dict)
    for row in read("zero-shot.csv"):
        if "@" not in row["corpus"]:
            scores[row["corpus"].split(":")[0]][row["source"]] = float(row["mean"])
    sources = ["en", "fr", "ru", "ar"]
    markdown(title, ["treebank", *(f"from {source}" for source in sources)],
             [[f"`{bank}`", *(scores[bank].get(source) for source in sources)] for bank in sorted(UNSEEN & set(scores), key=lambda bank: -scores[bank]["en"])])


def main():
    scripts([row for row in read("zero-shot.csv") if row["source"] == "en"], "Tagging, zero-shot from English")
    scripts(read("topics.csv"), "Topics (SIB-200), zero-shot from English")
    scripts(read("romanised.csv"), "Tagging, trained on the language's own data, eight passes over 300 sentences")
    unseen_zero_shot("Tagging, zero-shot, languages that the encoder never saw")
    adapted("adapted.csv", "Tagging, zero-shot from English, before and after adapting to raw text: learning rate 2e-4")
    adapted("gently.csv", "The same with a learning rate of 5e-5")
    typology("longer.csv", "A real encoder, eight passes over 300 sentences")
    typology("more.csv", "More languages, eight passes over 300 sentences")
    amounts("amounts.csv", "Few sentences and many, eight passes, tagging")
    typology("typology.csv", "Two passes over 300 sentences")
    typology("laboratory.csv", "The laboratory, two seeds")
    rule()
    kept_apart()
    again()


if __name__ == "__main__":
    main()
