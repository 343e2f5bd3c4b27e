"""Interactive report: a single self-contained HTML page made from records."""

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import resources
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from crosslens.data.language_families import known_language
from crosslens.formatting import counted, right_to_left
from crosslens.report.atlas.ranking import EncoderPanel, encoder_panels, encoder_ranking
from crosslens.report.blocks import Block, cautions_ending, corpus_notes, score_blocks
from crosslens.report.conditions.interventions import before_training
from crosslens.report.conditions.pretraining_steps import last_checkpoints
from crosslens.report.layers.by_layer import measures_of
from crosslens.report.overview import gap_panels, overviews, transfer_correlations
from crosslens.report.render import number
from crosslens.report.sections.all_sections import all_sections
from crosslens.report.sections.section import rounded
from crosslens.report.table import DECIMALS, Table
from crosslens.results.cells import Cell, Cells, Key, Row, cells, columns_of, disambiguated, encoders_apart
from crosslens.results.chart import PAIR, SENTENCE_PAIRS, by_state, short_label
from crosslens.results.order import Order, places_of
from crosslens.results.pivot import CROSS, ROW, SAME, mean_row, parts_of, score_cells
from crosslens.results.record import Results
from crosslens.results.record_rows import Coded, Rows, paired, together
from crosslens.results.record_settings import settings_of
from crosslens.runs.store import Store, is_store
from crosslens.tasks.titles import as_printed, metric_name

TAIL = 12
"""Lines of a run's log that the page keeps."""

OF_RUN = ("training_", "crosslens")
"""Beginnings of the tags that are the same for all records of a run."""

OF_ONE_LANGUAGE = '<p class="note">In a pair of one language, two encoders are compared on the same sentences.</p>'
"""What stands below the similarity of translations where a language was compared with itself."""

FACTS = (
    "train",
    "train_digest",
    "translated_from",
    "dev",
    "selection",
    "recipe",
    "settings",
    "depth",
    "encoder_digest",
)
"""Columns that are the same for all records of a run."""


def make_page(
    results: Results,
    *,
    title: str,
    sort: Order = "score",
    introduction: str = "",
    opening: str = "",
    findings: Sequence[str] = (),
    runs: Mapping[str, Mapping[str, str]] | None = None,
    typology: Table | None = None,
) -> str:
    """Make a self-contained HTML page of results: findings, interactive tables, and the run behind every number.

    Of the checkpoints of a pretraining it shows the last; its list of scores has all of them.

    Args:
        sort: Order of the languages at first, as in `Results.sorted`; the page offers all orders.
        introduction: One or two sentences on the experiment.
        opening: HTML that explains the experiment further, in the classes of the page's style sheet.
        findings: Findings, one paragraph each.
        runs: Run id -> details from `known_runs`.
        typology: Easy, intermediate and hard languages, from `crosslens.report.typology.typology_table`.

    Returns:
        HTML without external references. Equal results give identical pages.
    """
    results = results.sorted(sort)
    scores = _joined([_scores(block, score_cells(block.results)) for block in score_blocks(results)])
    last = last_checkpoints(results).sorted(sort)  # as in tables and figures
    blocks = score_blocks(last)
    tables = [score_cells(block.results) for block in blocks]  # which refuses what contradicts
    similar = _similarities(before_training(last).filter(metric="similarity", target_layer=None))
    similarities = encoders_apart(last).filter(metric="similarity")
    sections = all_sections(last, blocks, typology=typology)
    unread = cautions_ending(similarities).strip()
    about = " ".join(corpus_notes((block.task, block.results) for block in blocks))
    records = {
        "scores": _columns(scores),
        "similarities": _columns({name: [row[name] for row in similar] for name in (similar[0] if similar else ())}),
        "tables": [_table(block, table, similarities) for block, table in zip(blocks, tables, strict=True)],
        "sort": sort,
        "kinds": list(SENTENCE_PAIRS.values()),
        "measures": {measure: metric_name(measure) for measure in sorted({row["of"] for row in similar})},
        "encoders": _encoders(last) if blocks else [],
        "languages": _languages(results),
        "rightToLeft": _right_to_left(results),
        "sections": [section.values() for section in sections],
        "runs": _runs(results, runs or {}),
    }
    # In a script element "<" could end it; as an escape it is the same text to JSON and nothing to HTML.
    text = json.dumps(records, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    parts: list[tuple[str, object]] = [  # HTML, and whether the results fill it
        (f"<h1>{escape(title)}</h1>", True),
        (f"<p>{escape(introduction)}</p>", introduction),
        (opening, opening),
        (_file("opening.html"), scores),
        (_file("languages.html"), scores or similar or sections),
        (_file("profile.html"), scores),
        (_file("encoders.html"), records["encoders"]),
        (_folded(findings), findings),
        (_file("heat.html"), scores),
        (f'<p class="note">{escape(about)}</p>', about),
        (_file("curves.html"), similar),
        (f'<p class="note">{escape(unread)}</p>', unread),
        (OF_ONE_LANGUAGE, not all(row["different"] for row in similar)),
        (_file("gap.html"), scores),
        ("\n".join(section.html() for section in sections), sections),
        (_file("results.html"), scores),
        (f"<section><h2>Provenance</h2><dl>{_provenance(results, runs or {})}</dl></section>", True),
        (_file("run.html"), True),
    ]
    style, script = _file("page.css"), "\n".join(map(_file, SCRIPTS))
    pieces = (  # joined once: of many records, each copy of the page takes 100 MB
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(style=style, script=script)}">',
        f"<title>{escape(title)}</title>",
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{style}</style></head><body><main>\n",
        "\n".join(part for part, filled in parts if filled),
        '\n</main><script type="application/json" id="records">',
        text,
        f"</script>\n<script>{script}</script></body></html>\n",
    )
    return "".join(pieces)


SCRIPTS = (
    "dom.js",
    "state.js",
    "profile.js",
    "encoders.js",
    "heat.js",
    "lines.js",
    "curves.js",
    "gap.js",
    "sections.js",
    "scores.js",
    "downloads.js",
    "page.js",
)
"""Files of the page's script, in the order in which they use one another."""


def _policy(*, style: str, script: str) -> str:
    """Content security policy: no request, and no style or script but these."""

    def digest(text: str) -> str:
        return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii") + "'"

    return (
        f"default-src 'none'; style-src {digest(style)}; script-src {digest(script)}; base-uri 'none';"
        " form-action 'none'"
    )


def _folded(findings: Sequence[str]) -> str:
    paragraphs = "".join(f"<p>{escape(text)}</p>" for text in findings)
    return f'<details class="findings"><summary>Read the findings</summary>{paragraphs}</details>'


def known_runs(paths: Iterable[str | Path]) -> dict[str, dict[str, str]]:
    """Collect what stores know about runs beyond the records: the command that repeats each, the end of its log,
    the machine it ran on and how long it trained.

    Args:
        paths: folders; those that are no stores of runs are passed over.
    """
    known: dict[str, dict[str, str]] = {}
    for store in (Store(path) for path in paths if is_store(Path(path))):
        for run in store.ids():
            described = store.describe(run)
            known[run] = {"log": "\n".join(store.log(run)[-TAIL:])}
            known[run] |= {"repeat": described["repeat"]} if "repeat" in described else {}
            machine, seconds = described.get("machine"), described.get("facts", {}).get("seconds")
            if machine:
                words = [machine[name] for name in ("system", "device") if machine.get(name)]
                words += [counted(machine["threads"], "thread", "threads")] if machine.get("threads") else []
                known[run]["machine"] = ", ".join(words)
            if seconds is not None:
                known[run]["seconds"] = str(seconds)
    return known


SCORE = ("task", "encoder", "metric", "seed", "n", "run", "signature")


def _measured(records: Rows) -> tuple[Coded, np.ndarray]:
    """The row and column of each record with a value, and the places of these records."""
    kept = np.flatnonzero(records.columns.table["value"].is_valid().to_numpy())
    return together([records.columns.together(*ROW), columns_of(records)], size=len(records)).of(kept), kept


def _scores(block: Block, table: Cells) -> dict[str, list]:
    """List all scores of a block for the page, column by column, in the order of its table."""
    known = disambiguated(block.results)
    places, kept = _measured(known)
    _, firsts = paired(places, known.columns.coded("seed").of(kept))  # one score per cell and seed
    numbers = {column: place for place, column in enumerate(table.columns)}
    lines = {row: place for place, row in enumerate(chain(*parts_of(table, block.source)))}
    at = np.array([(lines[row], numbers[column]) for row, column in places.values], np.int64).reshape(-1, 2)
    firsts = firsts[np.lexsort(at[places.codes[firsts]].T[::-1])]
    of_score, records = places.codes[firsts].tolist(), kept[firsts]

    def values(name: str) -> list:
        column = known.columns.coded(name)
        return [column.values[code] for code in column.codes[records].tolist()]

    def spread(of_cell: Sequence[Any]) -> list:
        return [of_cell[cell] for cell in of_score]

    return {
        **{name: values(name) for name in SCORE},
        "encoder": [block.encoder] * len(records),  # its name in the table
        "source": [block.source_label] * len(records),
        "target": values("target"),
        "corpus": spread([_named(row, table.rows) for row, _ in places.values]),
        "condition": spread([column.label for _, column in places.values]),
        "place": spread([numbers[column] for _, column in places.values]),
        "value": values("value"),
        **{name: [rounded(value, DECIMALS) for value in values(name)] for name in ("low", "high")},
    }


def _table(block: Block, table: Cells, similarities: Results) -> dict[str, Any]:
    """Table of a block, with its overviews, and its transfer gaps beside similarities."""
    names = {row: _named(row, table.rows) for row in table.rows}
    correlated = transfer_correlations(block, similarities)
    by_layer = transfer_correlations(block, similarities, layers="each") if correlated else []
    return {
        **_heat(block, table),
        "gaps": gap_panels([*correlated, *by_layer], block),
        "overviews": overviews(block, names=names, correlated=correlated),
    }


def _heat(block: Block, table: Cells) -> dict[str, Any]:
    """Table of a block: scores of the reference, differences to it, and means over corpora with all values."""
    compared = table.compared()
    known = disambiguated(block.results)
    places, kept = _measured(known)
    first_of = dict(zip(places.values, kept[places.firsts].tolist(), strict=True))
    same, cross, unknown = parts_of(table, block.source)
    places = places_of(block.results, table.rows)

    def line(row: Key, part: str) -> dict[str, Any]:
        shown = []
        for column in table.columns:
            cell = compared.get(row, column)
            first = known[first_of[row, column]] if (row, column) in first_of else dict.fromkeys(("n", "low", "high"))
            alone = len(cell.by_seed) == 1 and not table.is_difference(column)
            shown.append(_cell(cell) | {name: first[name] for name in (("n", "low", "high") if alone else ("n",))})
        about = {"name": _named(row, table.rows), "language": row[0], "part": part, "places": places[row]}
        return {**about, "cells": shown}

    rows = []
    for name, part, title in (("same", same, SAME), ("cross", cross, CROSS), ("unknown", unknown, None)):
        rows += [line(row, name) for row in part]
        if title and len(part) > 1:
            means = [mean_row(compared, part, column) for column in table.columns]
            rows.append(
                {
                    "name": f"{title} of {len(part)}",
                    "part": name,
                    "over": len(part),
                    "cells": [_cell(mean) for mean in means],
                }
            )
    columns = [
        {"name": column.label, "head": ("Δ " if difference else "") + short_label(column), "difference": difference}
        for column in table.columns
        for difference in [table.is_difference(column)]
    ]
    whose = {
        "task": block.task,
        "title": as_printed(block.task),
        "source": block.source_label,
        "encoder": block.encoder,
    }
    return {**whose, "columns": columns, "rows": rows}


def _cell(cell: Cell) -> dict[str, Any]:
    shown = {
        "value": rounded(cell.mean, DECIMALS),
        "std": rounded(cell.std, DECIMALS),
        "seeds": len(cell.by_seed),
        "left": len(cell.excluded),
        "lacks": cell.lacks,
    }
    return {name: value for name, value in shown.items() if value}


def _named(row: Key, rows: Sequence[Key]) -> str:
    """Name a corpus, with its language and the second language of the encoder where there are several."""
    target, corpus, partner = row
    languages = {each[0] for each in rows if corpus and each[1] == corpus}
    name = f"{corpus}, {target}" if target and len(languages) > 1 else corpus or target or "?"
    several = len({each[2] for each in rows}) > 1
    return name + (f" with {partner}" if partner and several else "")


def _similarities(results: Results) -> list[Row]:
    """List the records of similarity, one per pair, layer and seed."""
    named = {
        measure + ending: (measure, kind) for measure in measures_of(results) for ending, kind in SENTENCE_PAIRS.items()
    }
    rows: dict[tuple, Row] = {}
    for state, records in by_state(results):
        for (measure,), block in records.groups("measure"):
            cells(block, rows=PAIR, columns=("layer",))  # which refuses what contradicts
            for record in disambiguated(block):
                if record["value"] is not None:
                    source, target, partner = (record[name] for name in PAIR)
                    pair = f"{source}-{target}" + (f" with {partner}" if partner not in (None, source, target) else "")
                    rows.setdefault(
                        (state, measure, source, target, partner, record["layer"], record["seed"]),
                        {
                            "state": state.name,
                            "pair": pair,
                            "source": source,
                            "language": target,
                            "different": source != target,
                            "encoder": state.encoder,
                            "described": state.described,
                            "two": state.two,
                            "measure": measure,
                            "of": named[measure][0],
                            "sentences": named[measure][1],
                            **{name: record[name] for name in ("layer", "seed", "n", "run")},
                            "value": rounded(record["value"], 9),  # the page averages it, and rounds it again
                            **{name: rounded(record[name], 3) for name in ("low", "high")},
                        },
                    )
    return list(rows.values())


def _joined(parts: Sequence[Mapping[str, list]]) -> dict[str, list]:
    """Columns of several parts, one behind the other."""
    return {name: list(chain.from_iterable(part[name] for part in parts)) for name in (parts[0] if parts else ())}


def _columns(columns: Mapping[str, list]) -> dict[str, dict[str, list]]:
    """Encode columns as distinct values and indices, because tables repeat most values."""
    encoded = {}
    for name, values in columns.items():
        places = {value: place for place, value in enumerate(dict.fromkeys(values))}
        encoded[name] = {"of": list(places), "at": [places[value] for value in values]}
    return encoded


def _encoders(results: Results) -> list[dict[str, Any]]:
    """Layer profiles of several encoders and their ranking, by task and source."""
    panels = encoder_panels(encoders_apart(results))
    tables = encoder_ranking(results)
    groups = tables[0].groups.values() if tables else ()
    return [
        {
            "task": panel.task,
            "title": as_printed(panel.title(f"{panel.source} to {_corpora(panel)}")),
            "points": [point for each in panel.profiles for point in each.points()],
            "head": tables[0].head,
            "rows": [[row.label, *(number(cell) for cell in row.cells)] for row in rows],
        }
        for panel, rows in zip(panels, groups, strict=True)
    ]


def _corpora(panel: EncoderPanel) -> str:
    return counted(len(panel.profiles[0].cross), "corpus", "corpora")


def _languages(results: Results) -> dict[str, dict[str, str]]:
    """Name, family and script of the languages that the table of languages knows."""
    tags = [tag for (tag,), _ in results.groups("target")]
    known = {tag: language for tag in tags if (language := known_language(tag))}
    return {tag: {"name": each.name, "family": each.family, "script": each.script} for tag, each in known.items()}


NAMED = ("encoder", "source", "target", "partner", "corpus", "train", "dev", "recipe", "factor")
"""Columns with names that users give."""


def _right_to_left(results: Results) -> list[str]:
    """Names with right-to-left letters, the longest first."""
    columns = encoders_apart(results).columns
    names = {name for column in NAMED for name in columns.coded(column).values if name is not None}
    names |= {settings_of(text).get("against", "") for text in columns.coded("settings").values}
    return sorted(filter(right_to_left, names), key=lambda name: (-len(name), name))


def _runs(results: Results, more: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, Any]]:
    known: dict[str, dict[str, Any]] = {}
    firsts = results.columns.coded("run").firsts
    first_of_run = Results(results.records.take(pa.array(firsts)))
    for record, tags in zip(first_of_run.records.to_pylist(), first_of_run.tags(), strict=True):
        run = record["run"]
        if run is not None:
            facts = {name: record[name] for name in FACTS if record[name] is not None}
            facts |= {name.removeprefix("training_"): v for name, v in tags.items() if name.startswith(OF_RUN)}
            known[run] = {"facts": facts, **more.get(run, {})}
    return known


def _provenance(results: Results, runs: Mapping[str, Mapping[str, str]]) -> str:
    tags = [json.loads(text) for text in results.columns.coded("tags").values]
    ids = [run for run in results.columns.coded("run").values if run is not None]

    def of_column(name: str) -> list[str]:
        return [str(value) for value in results.columns.coded(name).values if value is not None]

    def of_tag(name: str) -> list[str]:
        return list(dict.fromkeys(str(each[name]) for each in tags if name in each))

    spent = [float(runs[run]["seconds"]) for run in ids if "seconds" in runs.get(run, {})]
    rows = {
        "records": [str(len(results))],
        "runs": [str(len(ids))],
        "crosslens": of_tag("crosslens"),
        "torch": of_tag("training_torch"),
        "encoder (sha256)": of_column("encoder_digest"),
        "trained on": of_column("train"),
        "training data (sha256)": of_column("train_digest"),
        "corpora": of_column("corpus"),
        "releases": of_tag("release"),
        "machines": list(dict.fromkeys(runs[run]["machine"] for run in ids if "machine" in runs.get(run, {}))),
        "training": [f"{sum(spent) / 60:.0f} minutes in {counted(len(spent), 'run', 'runs')}"] if spent else [],
    }
    return "".join(
        f"<dt>{escape(label)}</dt><dd>{escape(', '.join(values))}</dd>" for label, values in rows.items() if values
    )


def _file(name: str) -> str:
    return (resources.files("crosslens.report") / "web" / name).read_text("utf-8")
