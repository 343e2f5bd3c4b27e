"""Easy, intermediate and hard languages (Muller 2022) as a table and a bar chart."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crosslens.errors import RequestError
from crosslens.formatting import MINUS
from crosslens.report.table import Cell, Notes, Row, Table
from crosslens.results.chart import COLOURS, Chart, alt, inline_data, styled
from crosslens.results.order import Order
from crosslens.results.record import Results
from crosslens.runs.recorded import read_results
from crosslens.runs.store import Store, is_store
from crosslens.studies.typology import NothingToCompare, read_typology, typology_of
from crosslens.tasks.titles import as_printed, at_the_start

if TYPE_CHECKING:
    import pandas

CLASSES = ("easy", "intermediate", "hard", "undecided", "not tested")
"""Order of groups; with one seed there is no test, and so no class."""

DIFFERENCES = ("encoder - BiLSTM", "adapted - BiLSTM")
"""Columns with differences."""

MODELS = ("encoder", "adapted", "from scratch", "BiLSTM")
"""Columns of `crosslens.unseen.typology.typology` with scores."""


def read_typologies(
    paths: Iterable[str | Path],
    results: Results,
    *,
    sort: Order = "score",
    skipped: Callable[[str], None] = lambda reason: None,
) -> "pandas.DataFrame | None":
    """The typology of every store of runs that has one, and of the other records.

    Args:
        paths: files and folders; without any, the records alone are compared.
        results: all of their records.
        sort: order of the languages of each class.
        skipped: called with the reason if the runs of a store, or the records, cannot be compared.

    Returns:
        None if there are no languages on which an encoder and a BiLSTM were trained.
    """
    import pandas as pd

    places = [str(path) for path in paths]
    stores = [place for place in places if is_store(place)]
    others = tuple(place for place in places if place not in stores)
    makers = [partial(read_typology, Store(store)) for store in stores]
    if others or not stores:
        makers.append(partial(typology_of, read_results(*others) if stores else results))
    frames = []
    for make in makers:
        try:
            frames.append(make())
        except NothingToCompare:
            continue
        except RequestError as error:
            skipped(f"no typology: {error}")
    return in_order(pd.concat(frames, ignore_index=True), sort) if frames else None


def in_order(frame: "pandas.DataFrame", sort: Order) -> "pandas.DataFrame":
    """Sort the languages of each task, by the score of the encoder, family, script or name (tag)."""
    keys = {
        "score": -frame["encoder"].astype(float),
        "family": frame["family"].replace("", None),
        "script": frame["script"].replace("", None),
        "name": 0,
    }
    names = ["task", "key", "language", "train", "corpus"]
    return frame.assign(key=keys[sort]).sort_values(names, ignore_index=True, kind="stable").drop(columns="key")


def typology_table(frame: "pandas.DataFrame") -> Table:
    """One row per language and training set, grouped by task and class.

    Args:
        frame: from `crosslens.studies.typology`.

    Returns:
        A table of mean scores and differences in points. Notes say which models have other seeds than the encoder, and
        what the slides print of a language.
    """
    notes = Notes()
    groups: dict[str, tuple[Row, ...]] = {}
    models = _models(frame)
    differences = [name for name in DIFFERENCES if name.removesuffix(" - BiLSTM") in models]
    for task, name, rows in _by_class(frame):
        for row in rows:
            note = notes.number("; ".join(filter(None, (_of_other_seeds(row), _published(row)))))
            values = [None if _missing(row[column]) else float(row[column]) for column in (*models, *differences)]
            cells = tuple(
                Cell(value, "score" if place < len(models) else "difference", note=None if place else note)
                for place, value in enumerate(values)
            )
            label = ", ".join(filter(None, (row["name"], row["script"], row["family"], row["train"])))
            groups[f"{task}: {name}"] = (
                *groups.get(f"{task}: {name}", ()),
                Row(label, cells, language=row["language"]),
            )
    caption = (
        "Scores by language in comparison with a BiLSTM trained on the same data, mean over seeds. Easy: the encoder"
        " is better. Intermediate: only after adaptation to raw text of the language. Hard: in neither case. Undecided:"
        " a difference that decides the class is not significant after correction, or the encoder is not better and no"
        " adapted one was measured."
    )
    if any(title.endswith(f": {CLASSES[-1]}") for title in groups):
        caption += " Not tested: there is one seed, or no interval."
    if shared := shared_adaptation(frame):
        caption += f" {at_the_start(shared)}."
    head = (*models, *(name.replace(" - ", f" {MINUS} ") for name in differences))
    return Table("typology", caption, head, groups, tuple(notes.texts))


def shared_adaptation(frame: "pandas.DataFrame") -> str:
    """A sentence on the rows whose tests do not include the variation between adapted encoders; "" without any."""
    shared = frame[(frame["adapted encoders"] == 1) & frame["q adapted"].notna()]  # with one adapted seed, no test
    return (
        f"in {len(shared)} of {len(frame)} rows all seeds share one adapted encoder, so the tests do not include"
        " variation between adapted encoders"
        if len(shared)
        else ""
    )


def _of_other_seeds(row: Mapping[str, Any]) -> str | None:
    """Which means of a row cannot be compared with the encoder's, because they are over other seeds."""
    return f"other seeds than those of the encoder: {row['other seeds']}" if row["other seeds"] else None


def _published(row: Mapping[str, Any]) -> str | None:
    """What the slides print of a language: its amount of raw text, and its class if they name it."""
    text, name = (None if _missing(row[column]) else row[column] for column in ("published text", "published class"))
    if not (text or name):
        return None
    amount = f"{text} sentences of raw text" if text else ""
    return f"Muller 2022: {', '.join(filter(None, (amount, name)))}"


def typology_bars(frame: "pandas.DataFrame") -> Chart:
    """Bars of each model by language, one panel per task and class (the bar charts of Muller 2022).

    A language whose class the slides name has it in its label.
    """
    models = _models(frame)
    several = Counter((row["task"], row["language"]) for row in frame.to_dict("records"))
    rows = [
        {
            "panel": as_printed(f"{task}: {name}"),
            "language": _bar_label(row, several=several[task, row["language"]] > 1),
            "model": model,
            "score": float(row[model]),
        }
        for task, name, members in _by_class(frame)
        for row in members
        for model in models
        if not _missing(row[model])
    ]
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    languages = list(dict.fromkeys(row["language"] for row in rows))
    scale = alt.Scale(domain=models, range=list(COLOURS[: len(models)]))
    bars = (
        alt.Chart(inline_data(rows))
        .mark_bar()
        .encode(
            alt.X("language:N", sort=languages, title=None, axis=alt.Axis(labelAngle=-40, labelLimit=240)),
            alt.XOffset("model:N", sort=models),
            alt.Y("score:Q", title="score, points"),
            alt.Color("model:N", sort=models, scale=scale, title=None, legend=alt.Legend(orient="bottom")),
            tooltip=["language:N", "model:N", alt.Tooltip("score:Q", format=".1f")],
        )
        .properties(width=alt.Step(14), height=200)
    )
    chart = bars.facet(facet=alt.Facet("panel:N", sort=panels, title=None), columns=3)
    return styled(chart.resolve_scale(x="independent"))


def _bar_label(row: dict[str, Any], *, several: bool) -> str:
    """``Wolof, published: intermediate``, with the training data where a language has several."""
    name = f"{row['name']} ({row['train']})" if several else str(row["name"])
    published = row["published class"]
    return name if _missing(published) or not published else f"{name}, published: {published}"


def _models(frame: "pandas.DataFrame") -> list[str]:
    return [name for name in MODELS if not all(map(_missing, frame[name].tolist()))]


def _by_class(frame: "pandas.DataFrame") -> Iterable[tuple[str, str, list[dict[str, Any]]]]:
    records: list[dict[str, Any]] = frame.to_dict("records")
    for task in dict.fromkeys(row["task"] for row in records):
        for name in CLASSES:
            of_task = [row for row in records if row["task"] == task]
            rows = [row for row in of_task if name == ("not tested" if _missing(row["class"]) else row["class"])]
            if rows:
                yield task, name, rows


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
