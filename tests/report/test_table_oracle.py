"""Tables against the same numbers computed again with plain Python and scipy, from incomplete records."""

import csv
import random
import re
from io import StringIO
from itertools import product

import numpy as np
import pytest
from scipy import optimize, stats

from crosslens.encoders.condition import Condition
from crosslens.report.render import to_csv, to_latex, to_markdown
from crosslens.report.significance import significance_of
from crosslens.report.tables import all_tables
from crosslens.results.pivot import CROSS, SAME, sections, tabulated
from crosslens.results.record import Record, Results

METRICS = {"pos": ("accuracy",), "parsing": ("las", "uas")}
CONDITIONS = {
    Condition.model_validate(each).text: Condition.model_validate(each)
    for each in ("none", "1-2", "3-4", {"freeze": "1-2"})
}
CORPORA = (("en", "ud/en_a"), ("fr", "ud/fr_a"), ("de", "ud/de_a"), ("ar", "ud/ar_a"), ("de", "ud/de_b"))


def made(seed):
    """Two encoders, tasks, sources and splits, of which a fifth of the scores is missing."""
    draw = random.Random(seed)
    return [
        Record(
            study="s",
            task=task,
            encoder=encoder,
            source=source,
            target=target,
            corpus=f"{corpus}:{split}",
            split=split,
            seed=number,
            metric=metric,
            value=value,
            low=value - (width := draw.uniform(0.2, 2.0)),
            high=value + width,
            state="fine-tuned",
            train=f"ud/{source}_a:train",
            **condition.columns,
        )
        for encoder, task, source, split in product("ef", METRICS, ("en", "fr"), ("test", "dev"))
        for condition, effect in zip(CONDITIONS.values(), (0, 20, 2, 0), strict=True)
        for (target, corpus), number in product(CORPORA, (1, 2, 3))
        if draw.random() < 0.8
        for metric in METRICS[task]
        for value in [round(draw.gauss(70 - effect, 1), draw.choice([3, 9]))]
    ]


def by_seed(scores, condition, keys, *, difference):
    """Mean over corpora of each seed that all of them have, and how many seeds are in no mean; nothing without one."""
    columns, tried = [], set()
    for key in keys:
        column, reference = scores.get((condition, key), {}), scores.get(("none", key), {})
        tried |= column.keys() | (reference.keys() if difference and column else set())
        columns.append({n: v - reference[n] for n, v in column.items() if n in reference} if difference else column)
    if not all(columns):
        return [], 0
    common = set.intersection(*map(set, columns))
    return [sum(column[number] for column in columns) / len(keys) for number in common], len(tried) - len(common)


def blocks(records):
    """Task, metric, encoder, source and split -> scores by condition and corpus, own corpora and those of others."""
    known = {}
    for record in records:
        place = (record.task, record.metric, record.encoder, record.source, record.split)
        cell = known.setdefault(place, {}).setdefault((record.condition, (record.target, record.corpus)), {})
        cell[record.seed] = record.value
    for place, scores in known.items():
        keys = list(dict.fromkeys(key for _, key in scores))
        yield place, scores, [k for k in keys if k[0] == place[3]], [k for k in keys if k[0] != place[3]]


def named(row, keys):
    """The corpora of a row that is called after its language, or after its corpus where the language has several."""
    several = {target for target, _ in keys if sum(each == target for each, _ in keys) > 1}
    return [key for key in keys if row == (key[1] if key[0] in several else key[0])]


def head(condition):
    return "Ref" if condition.is_reference else f"Δ {condition.change}"


@pytest.fixture(scope="module")
def records():
    return made(1)


@pytest.fixture(scope="module")
def tables(records):
    results = Results.of(records)
    return {table.name: table for table in all_tables(results, significance=significance_of(results))}


def rows(records, tables):
    """Every row of the tables by condition: its cells by head, table, scores, corpora, place and label."""
    for (task, metric, encoder, source, split), scores, same, cross in blocks(records):
        if metric != METRICS[task][0]:
            continue
        for name, lines in (("layer-deltas", 2), (f"by-target-{task}", len(same) + len(cross) + 1)):
            table = tables[name]
            group = table.groups[f"{task}, {metric}, {encoder}, {split}"]
            shown = [row for row in group if row.label.startswith(f"{source} – ")]
            assert len(shown) == lines
            for row in shown:
                label = row.label.removeprefix(f"{source} – ")
                keys = cross if label.startswith("x") else named(label, [*same, *cross])
                cells = dict(zip(table.head, row.cells, strict=True))
                yield cells, table, scores, keys, (encoder, task, source, split), label


def test_means_differences_spread_and_excluded_seeds(records, tables):
    compared = excluded = 0
    for cells, table, scores, keys, place, label in rows(records, tables):
        assert label == keys[0][0] or label in keys[0] or label == f"x, mean of {len(keys)} corpora", (place, label)
        for text, condition in CONDITIONS.items():
            cell, at = cells[head(condition)], (place, label, text)
            values, without = by_seed(scores, text, keys, difference=text != "none")
            assert cell.value == (pytest.approx(np.mean(values), abs=1e-9) if values else None), at
            assert cell.std == (pytest.approx(np.std(values, ddof=1), abs=1e-9) if len(values) > 1 else None), at
            note = re.search(r": (\d+)$", table.notes[cell.note - 1]) if cell.note else None
            assert (int(note[1]) if note else 0) == without, at
            compared, excluded = compared + len(values), excluded + (without > 1)
    assert compared > 800
    assert excluded > 20  # means whose languages lack several seeds


def test_tables_of_results_say_how_many_corpora_and_seeds_their_means_are_over(records):
    known, numbers = {key: rest for key, *rest in blocks(records)}, set()
    for section in sections(Results.of(records)):
        frame, first = tabulated(section.records), section.records[0]
        scores, same, cross = known[first.task, first.metric, first.encoder, first.source, first.split]
        seeds = set()
        for (target, corpus), values in zip(frame.index, frame.to_numpy().tolist(), strict=True):
            keys = {SAME: same, CROSS: cross}.get(target, [(target, corpus)])
            assert target not in (SAME, CROSS) or corpus == f"of {len(keys)}"
            for column, value in zip(frame.columns, values, strict=True):
                (text,) = [t for t, c in CONDITIONS.items() if column in (c.label, f"Δ {c.change}")]
                expected, _ = by_seed(scores, text, keys, difference=text != "none")
                mean = np.mean(expected) if expected else np.nan
                assert value == pytest.approx(mean, abs=1e-9, nan_ok=True), (section.title, target, column)
                seeds |= {len(expected)} - {0}
        assert section.note.startswith(f"means of {min(seeds)} to {max(seeds)} seeds"), section.title
        numbers |= seeds
    assert numbers == {1, 2, 3}


def student(differences, variances):
    """Mean, 95 % interval and p: Student's t over seeds and over 100 sentences."""
    over_seeds, sentences = np.var(differences, ddof=1) / len(differences), np.mean(variances)

    def half(p):
        quantiles = stats.t.ppf(1 - p / 2, [len(differences) - 1, 99])
        return float(np.sqrt(quantiles**2 @ [over_seeds, sentences]))

    mean = float(np.mean(differences))
    log = optimize.brentq(lambda log: half(np.exp(log)) - abs(mean), -200.0, 0.0)
    return mean, mean - half(0.05), mean + half(0.05), np.exp(log)


def test_intervals_and_marks_of_single_corpora(records, tables):
    """Unpaired, because records have no counts; corrected over all differences on single corpora of the study."""
    frame = Results.of(records).to_pandas()
    frame = frame[[metric == METRICS[task][0] for task, metric in zip(frame["task"], frame["metric"], strict=True)]]
    frame = frame.assign(variance=((frame["high"] - frame["low"]) / 2 / stats.norm.ppf(0.975)) ** 2)
    tests = {}
    for key, block in frame.groupby(["encoder", "task", "source", "split", "corpus"]):
        value, variance = (
            block.pivot_table(index="seed", columns="condition", values=v) for v in ("value", "variance")
        )
        for text in set(value) - {"none"} if "none" in value else ():
            difference = (value[text] - value["none"]).dropna()
            if len(difference) > 1:
                sums = (variance[text] + variance["none"])[difference.index]
                tests[(*key, text)] = student(difference.to_numpy(), sums.to_numpy())
    marked = dict(zip(tests, stats.false_discovery_control([each[3] for each in tests.values()]) < 0.05, strict=True))
    compared = 0
    for cells, table, _, keys, place, label in rows(records, tables):
        for text, condition in CONDITIONS.items():
            key = (*place, keys[0][1], text)
            if table.name != "layer-deltas" and len(keys) == 1 and key in tests and label in keys[0]:
                mean, low, high, _ = tests[key]
                interval, value = cells[head(condition)].interval, cells[head(condition)].value
                assert [value, interval.low, interval.high] == pytest.approx([mean, low, high], abs=1e-5), key
                assert interval.marked == marked[key], key
                compared += 1
    assert compared > 100
    assert len(set(marked.values())) == 2


def test_all_forms_of_a_table_have_the_numbers_rounded_once(tables):
    compared = 0
    for table in tables.values():
        expected = [
            [
                "" if cell.value is None else f"{cell.value:{'+' if cell.kind == 'difference' else ''}.2f}"
                for cell in row.cells
            ]
            for row in (row for rows in table.groups.values() for row in rows)
        ]
        expected = [[text.replace("-0.00", "+0.00") for text in texts] for texts in expected]
        width = len(table.head)
        lines = list(csv.reader(StringIO(to_csv(table))))[1:]
        cells = [cell for rows in table.groups.values() for row in rows for cell in row.cells]
        values = [text for line in lines for text in line[2 : 2 + width]]
        for cell, text in zip(cells, values, strict=True):
            assert text == "" if cell.value is None else float(text) == pytest.approx(cell.value, abs=5.01e-7)
        for spread in ("none", "std", "interval"):
            lines = [
                line.split("|")[2:-1] for line in to_markdown(table, spread=spread).splitlines() if line[:1] == "|"
            ]
            lines = [line for line in lines[2:] if "".join(line).strip()]
            texts = [[re.sub(r"(?<=\d)[ \\*].*|[* –]", "", text).replace("−", "-") for text in line] for line in lines]
            assert [[re.sub(r"\[.*", "", text) for text in line] for line in texts] == expected, table.name
            body = to_latex(table, spread=spread).split(r"\midrule")[1].split(r"\bottomrule")[0]
            lines = [line.split(" & ")[1:] for line in body.splitlines() if " & " in line]
            texts = [[re.sub(r"\\cellcolor\{\w+\}|\{.*| \\\\", "", text) for text in line] for line in lines]
            assert texts == expected, table.name
        compared += len(cells)
    assert compared > 800
