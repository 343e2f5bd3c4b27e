"""One page that a person clicks through: a single HTML file that needs nothing beside it, made from records."""

# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportCallIssue=false, reportIndexIssue=false
# pyright: reportGeneralTypeIssues=false

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crosslens.report.tables import main_metric
from crosslens.results.chart import encoder_states
from crosslens.results.record import Results
from crosslens.results.table import conditions_of, variants_of
from crosslens.runs.store import Store, is_store

if TYPE_CHECKING:
    import pandas

TAIL = 12
"""Lines of a run's log that the page keeps."""

OF_RUN = ("training_", "crosslens", "encoder_digest")
"""Beginnings of the tags that are the same for all records of a run."""


def make_page(
    results: Results,
    *,
    title: str,
    introduction: str = "",
    findings: Sequence[str] = (),
    runs: Mapping[str, Mapping[str, str]] | None = None,
) -> str:
    """The page of some results: what was found, tables that answer clicks, and every number with its run.

    Args:
        results: scores and similarities.
        title: of the page.
        introduction: what was done, in a sentence or two.
        findings: what was found, a paragraph each.
        runs: id -> what `known_runs` says of it.

    Returns:
        HTML with no reference to anything outside of it. The same results give the same page.
    """
    frame = results.to_pandas()
    tags = [json.loads(text) for text in frame["tags"]]
    frame = frame.assign(condition=conditions_of(frame), facts=tags)
    kept = frame["measure"].isna() & (frame["metric"] == frame["task"].map(main_metric))
    scores, similar = frame[kept], frame[frame["metric"] == "similarity"]
    records = {
        "scores": _columns(_scores(scores)), "similarities": _columns(_similarities(similar)),
        "runs": _runs(frame, runs or {}),
    }  # fmt: skip
    # In a script element "<" could end it; as an escape it is the same text to JSON and nothing to HTML.
    text = json.dumps(records, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    paragraphs = [introduction, *findings] if introduction else findings
    parts = [f"<h1>{escape(title)}</h1>", *(f"<p>{escape(text)}</p>" for text in paragraphs)]
    parts += [_file("heat.html")] if len(scores) else []
    parts += [_file("curves.html")] if len(similar) else []
    parts += [_file("results.html")] if len(scores) else []
    parts += [f"<section><h2>Made with</h2><dl>{_provenance(frame, runs or {})}</dl></section>", _file("run.html")]
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_file('page.css')}</style></head><body><main>\n"
        + "\n".join(parts)
        + f'\n</main><script type="application/json" id="records">{text}</script>\n<script>{_file("page.js")}</script>'
        + "</body></html>\n"
    )


def known_runs(paths: Iterable[str | Path]) -> dict[str, dict[str, str]]:
    """What stores know of their runs beyond the records: the command that repeats each, the end of its log,
    the machine it ran on and how long it trained.

    Args:
        paths: folders; those that are no stores of runs are passed over.
    """
    known: dict[str, dict[str, str]] = {}
    for store in (Store(path) for path in paths if is_store(Path(path))):
        for run in store.ids():
            log = (store.path(run) / "log.txt").read_text("utf-8").splitlines()
            described = store.describe(run)
            known[run] = {"log": "\n".join(log[-TAIL:])}
            known[run] |= {"repeat": described["repeat"]} if "repeat" in described else {}
            machine, seconds = described.get("machine"), described.get("facts", {}).get("seconds")
            if machine:
                words = (machine[name] for name in ("system", "device") if machine.get(name))
                known[run]["machine"] = f"{', '.join(words)}, {machine.get('threads', '?')} threads"
            if seconds is not None:
                known[run]["seconds"] = str(seconds)
    return known


def _scores(frame: "pandas.DataFrame") -> dict[str, list]:
    import pandas as pd

    its = {name: _plain(frame[name]) for name in ("task", "encoder", "metric", "source", "target", "seed")}
    its |= {name: _plain(frame[name], digits=4) for name in ("value", "low", "high")}
    its |= {
        "corpus": [tags.get("corpus") or target for tags, target in zip(frame["facts"], frame["target"], strict=True)]
    }
    models = [frame[name].fillna("") for name in ("task", "source", "encoder")]
    variants = pd.Series("", index=frame.index)
    for rows in frame.groupby(models).groups.values():
        its_own = frame.loc[rows]
        variants[rows] = variants_of(its_own["facts"].tolist(), its_own["condition"].tolist())
    both = zip(frame["condition"], variants, strict=True)
    its["condition"] = [f"{name}, {variant}" if variant else name for name, variant in both]
    its |= {"n": _plain(frame["n"]), "run": _plain(frame["run"])}
    return its | {"signature": [tags.get("signature") for tags in frame["facts"]]}


def _similarities(frame: "pandas.DataFrame") -> dict[str, list]:
    its: dict[str, list] = {"state": encoder_states(frame) if len(frame) else []}
    its["pair"] = [f"{a}-{b}" for a, b in zip(frame["source"], frame["target"], strict=True)]
    its |= {name: _plain(frame[name]) for name in ("measure", "layer", "n", "run")}
    return its | {name: _plain(frame[name], digits=5) for name in ("value", "low", "high")}


def _plain(column: "pandas.Series", *, digits: int | None = None) -> list:
    values = column.astype(object).where(column.notna(), None).tolist()
    whole = (int(v) if isinstance(v, float) and digits is None and v.is_integer() else v for v in values)
    return [round(v, digits) if digits is not None and v is not None else v for v in whole]


def _columns(table: Mapping[str, Sequence[Any]]) -> dict[str, dict[str, list]]:
    """Each column as its different values, and for each row the number of its own: much of a table is repetition."""
    coded = {}
    for name, values in table.items():
        places = {value: place for place, value in enumerate(dict.fromkeys(values))}
        coded[name] = {"of": list(places), "at": [places[value] for value in values]}
    return coded


def _runs(frame: "pandas.DataFrame", more: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for run, tags in zip(frame["run"], frame["facts"], strict=True):
        if isinstance(run, str) and "facts" not in found.get(run, {}):
            facts = {name.removeprefix("training_"): v for name, v in tags.items() if name.startswith(OF_RUN)}
            found[run] = {"facts": facts, **more.get(run, {})}
    return found


def _provenance(frame: "pandas.DataFrame", runs: Mapping[str, Mapping[str, str]]) -> str:
    wanted = {
        "crosslens": "crosslens", "torch": "training_torch", "encoder (sha256)": "encoder_digest",
        "trained on": "training_train", "training data (sha256)": "training_train_digest", "corpora": "corpus",
        "releases": "release",
    }  # fmt: skip
    rows = {"records": [str(len(frame))], "runs": [str(frame["run"].nunique())]}
    for label, tag in wanted.items():
        rows[label] = list(dict.fromkeys(str(tags[tag]) for tags in frame["facts"] if tag in tags))
    its = [runs[run] for run in frame["run"].dropna().unique() if run in runs]
    rows["machines"] = list(dict.fromkeys(run["machine"] for run in its if "machine" in run))
    spent = [float(run["seconds"]) for run in its if "seconds" in run]
    rows["training"] = [f"{sum(spent) / 60:.0f} minutes in {len(spent)} runs"] if spent else []
    return "".join(
        f"<dt>{escape(label)}</dt><dd>{escape(', '.join(values))}</dd>" for label, values in rows.items() if values
    )


def _file(name: str) -> str:
    return (resources.files("crosslens.report") / "web" / name).read_text("utf-8")
