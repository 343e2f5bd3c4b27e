"""Tables of results: targets in rows, conditions in columns, same-language and cross-language scores separate."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc

from crosslens import latex
from crosslens.corpora.collection import is_same_language, is_trained_language
from crosslens.encoders.condition import Condition
from crosslens.encoders.interventions.one_layer import OnOneLayer
from crosslens.errors import RequestError
from crosslens.formatting import one_line, plain, signed
from crosslens.results.cautions import cautions
from crosslens.results.cells import (
    VARIANTS,
    WHOLE,
    WITHIN,
    Cell,
    Cells,
    Column,
    Key,
    cells,
    condition_of,
    groups_of,
    mean_of,
    refuse_several,
    with_names,
    with_target_layers,
)
from crosslens.results.most_frequent_label import baseline_note
from crosslens.results.record import Results, concatenated, remembered
from crosslens.results.record_settings import settings_apart
from crosslens.tasks import main_metric

if TYPE_CHECKING:
    import pandas

SAME, CROSS = "same-language mean", "cross-language mean"
UNKNOWN = "?"
"""Stands for an unknown language: such a corpus is in no mean."""

ROW = ("target", "corpus", "partner")
"""What names a row of scores."""


@remembered
def score_cells(results: Results) -> Cells:
    """Tabulate scores of one task, metric, encoder and source: one row per corpus, one column per condition.

    Raises:
        RequestError: when there are none, or one table cannot hold them: see `cells`.
    """
    scores = results.filter(measure=None)
    if not len(scores):
        raise RequestError("these results contain no scores")
    return cells(scores, rows=ROW)


def refuse_splits(results: Results) -> None:
    """Refuse scores on development and test sets together, whose mean says nothing of either.

    Raises:
        RequestError: naming the splits.
    """
    scores = results.filter(measure=None)
    refuse_several([{"split": split} for (split,), _ in scores.groups("split") if split is not None], "split")


def of_several_splits(scores: Results) -> bool:
    """Whether scores are of several splits, which need a table each."""
    return len({split for (split,), _ in scores.groups("split")} - {None}) > 1


def common_split(splits: Iterable[str | None]) -> str | None:
    """The split that scores are on, if it is one; scores on files, which have no split, count to it.

    >>> common_split(["test", None]), common_split(["dev", None, "test"])
    ('test', None)
    """
    named = {split for split in splits if split is not None}
    return named.pop() if len(named) == 1 else None


@remembered
def with_split_of_files(results: Results) -> Results:
    """Count scores on files to the split of all others, if that is one: they share tables, means and order."""
    splits = results.columns.together("split", "measure")
    common = common_split([split for split, measure in splits.values if measure is None])
    counted = [split if split or measure else common for split, measure in splits.values]
    return with_names(results, "split", splits.changed(counted))


def parts_of(table: Cells, source: str | None) -> tuple[list[Key], list[Key], list[Key]]:
    """Split rows, in order, into the source languages (in any script), other languages, and unknown languages."""
    known = [row for row in table.rows if row[0] is not None and source is not None]
    same = [row for row in known if is_trained_language(row[0], source)]
    cross = [row for row in known if not is_trained_language(row[0], source)]
    unknown = [row for row in table.rows if row not in known]
    return same, cross, unknown


def mean_row(table: Cells, rows: Sequence[Key], column: Any) -> Cell:
    """Mean over rows of one column."""
    return mean_of([table.get(row, column) for row in rows])


def mean_over(keys: Sequence[Key]) -> str:
    """Say what a mean over rows covers.

    >>> mean_over([("fr", "ud/fr", None), ("de", "ud/de", None)])
    '2 languages'
    >>> mean_over([("fr", "ud/fr_gsd", None), ("fr", "ud/fr_pud", None)])
    '2 corpora'
    """
    corpora, partners = ({key[place] for key in keys} for place in (1, 2))
    languages = number_of_languages([key[0] for key in keys])
    for kind, there in (("languages", languages), ("corpora", len(corpora)), ("encoders", len(partners))):
        if there == len(keys) > 1:
            return f"{len(keys)} {kind}"
    return "1 language" if len(keys) == 1 else f"{len(keys)} scores"


def number_of_languages(targets: Iterable[str | None]) -> int:
    """Count languages, each once in whatever scripts.

    >>> number_of_languages(["ug", "ug-Latn", "wo"])
    2
    """
    languages: list[str] = []
    for target in dict.fromkeys(targets):
        if target is not None and not any(is_same_language(target, language) for language in languages):
            languages.append(target)
    return len(languages)


def mean_name(targets: Sequence[str | None], split: str | None, *, source: str | None = None) -> str:
    """Name a mean over corpora as a corpus: ``mean of 17 languages:test``, ``mean of 2 source-language corpora:test``.

    Args:
        targets: the language of each corpus.
        split: of all of them.
        source: language of the training data.
    """
    kind = "languages" if number_of_languages(targets) == len(targets) else "corpora"
    same = all(target is not None and is_trained_language(target, source) for target in targets)
    kind = "source-language corpora" if same else kind
    return f"mean of {len(targets)} {kind}" + (f":{split}" if split else "")


def tabulated(results: Results) -> "pandas.DataFrame":
    """Tabulate similarities and scores of one layer by layer, or else scores, in the order of the records.

    Raises:
        RequestError: when the results are empty, or mix what one table cannot hold.
    """
    by_layer = len(results) > 0 and 0 in (results.records[name].null_count for name in ("measure", "layer"))
    return layer_table(results) if by_layer else score_table(results)


def score_table(results: Results) -> "pandas.DataFrame":
    """Scores of one task and source language, one row per corpus and one column per condition.

    With a reference (nothing done to the encoder) the other conditions are differences to it within a seed, headed
    ``Δ``, as in Table 1 of Muller et al. (2021). Where several rules selected the weights, or models were trained on
    several corpora or with several settings, each has a reference and differences of its own, and its name stands in
    the heads. Values are means over seeds; a mean over corpora weighs every corpus alike, is taken over targets in the
    source's language and over all others apart, and is absent where one of them has no value.

    Raises:
        RequestError: when the records hold no score, or those of several tasks, metrics, encoders, sources or splits.
    """
    import pandas as pd

    refuse_splits(results)
    table = score_cells(results)
    compared = table.compared()
    source = results.filter(measure=None).records["source"][0].as_py()
    same, cross, unknown = parts_of(table, source)
    lines: list[tuple[Key, Sequence[Key]]] = []  # names, and the rows that the line is the mean of
    for part, title in ((same, SAME), (cross, CROSS)):
        lines += [(row, [row]) for row in part]
        lines += [((title, f"of {len(part)}", ""), part)] if part else []
    lines += [((row[0] or UNKNOWN, *row[1:]), [row]) for row in unknown]
    values = [[mean_row(compared, rows, column).mean for column in table.columns] for _, rows in lines]
    names = ROW if any(row[2] for row in table.rows) else ROW[:2]
    index = pd.MultiIndex.from_tuples(
        [tuple(part or "" for part in name[: len(names)]) for name, _ in lines], names=list(names)
    )
    heads = {column: table.head(column) for column in table.columns}
    frame = pd.DataFrame(values, index=index, columns=list(heads.values()), dtype=float)
    # For those who print it: which columns have a sign.
    frame.attrs["differences"] = [head for column, head in heads.items() if table.is_difference(column)]
    frame.attrs["profile"] = [heads[column] for column in _profile(table)]
    return frame


def _profile(table: Cells) -> list[Column]:
    """Conditions that re-initialise equally many layers, the most frequent number: those that a profile compares."""
    changed = [column for column in table.columns if table.is_difference(column) and column.condition.reinit]
    sizes = Counter(column.order[1] for column in changed)
    return [column for column in changed if sizes and column.order[1] == sizes.most_common(1)[0][0]]


def layer_table(results: Results) -> "pandas.DataFrame":
    """Similarities, probes or scores by layer, one row per language pair and measure and one column per layer.

    What belongs to no layer, such as perplexity, has the column ``value``.

    Where layers were compared with other layers, each ``target_layer`` has a row of its own; other comparisons keep one
    row, with ``same`` as target layer.

    Raises:
        RequestError: when the records hold neither similarities nor layers, or one table cannot hold them.
    """
    import pandas as pd

    results = _mappings_together(results)
    columns = results.columns
    if all(measure is None and layer is None for measure, layer in columns.together("measure", "layer").values):
        raise RequestError("these results contain no similarities")
    varying = _distinguishing(results)
    pairs = columns.together("source", "target").values
    between = "pair" if any(source is not None or target is None for source, target in pairs) else "label"
    metric = ["metric"] if len(columns.coded("metric").values) > 1 else []
    across = any(layer is not None for layer in columns.coded("target_layer").values)

    comparison = (*varying, "source", "target", "measure", "metric", "state")
    rows = (*comparison, *(["target_layer"] if across else []))
    table = cells(_between_layers_filled(results, comparison) if across else results, rows=rows, columns=("layer",))
    keys = [dict(zip(rows, row, strict=True)) for row in table.rows]
    sources = list(dict.fromkeys((key["state"], key["source"]) for key in keys))
    keys.sort(key=lambda key: sources.index((key["state"], key["source"])))  # also where records of seeds mix them
    settings = [key["settings"] for key in keys] if "settings" in varying else []
    apart = dict(zip(settings, settings_apart(settings), strict=True)) if settings else {}

    def label(key: Mapping[str, Any], name: str) -> Any:
        match name:
            case "condition":
                return "untrained" if key["state"] == "untrained" else condition_of(key[name]).label
            case "settings":
                return apart[key[name]]
            case "pair" | "label":
                return "-".join(filter(None, (key["source"], key["target"])))
            case "target layer":
                return "same" if key["target_layer"] is None else key["target_layer"]
            case _:
                return key[name] or ""

    names = [*varying, between, "measure", *metric, *(["target layer"] if across else [])]
    index = pd.MultiIndex.from_tuples([tuple(label(key, name) for name in names) for key in keys], names=names)
    heads = ["value" if layer is None else layer for layer in table.columns]
    values = [[table.get(tuple(key.values()), layer).mean for layer in table.columns] for key in keys]
    return pd.DataFrame(values, index=index, columns=heads, dtype=float)


def _distinguishing(results: Results) -> list[str]:
    """Columns that tell rows of a pair and measure apart; the condition also where all encoders are changed alike."""
    columns = results.columns
    changed = any(not condition_of(text).difference.is_reference for text in columns.coded("condition").values)
    named = ("encoder", "task", "condition", "settings", "corpus")
    varying = [name for name in named if (name == "condition" and changed) or len(columns.coded(name).values) > 1]
    pairs = columns.together("source", "target").values
    kinds = [
        name for name in ("partner", *VARIANTS) if len(columns.together("source", "target", name).values) > len(pairs)
    ]
    return [*varying, *(name for name in kinds if name not in varying)]


def _mappings_together(results: Results) -> Results:
    """Leave the digests of mappings out of conditions, so that those of several seeds are one row.

    Those of one seed, which are learnt from different data, keep them.
    """
    unmapped = {text: _without_digest(text) for text in results.columns.coded("condition").values}
    if all(text == short for text, short in unmapped.items()):
        return results
    mapped: dict[tuple, set[str | None]] = {}
    for condition, *measured in results.columns.together("condition", "seed", *MEASURED).values:
        mapped.setdefault((unmapped[condition], *measured), set()).add(condition)
    several = {key[0] for key, conditions in mapped.items() if len(conditions) > 1}
    return concatenated(
        block.with_columns(condition=text if unmapped[text] in several else unmapped[text])
        for (text,), block in results.groups("condition")
    )


MEASURED = tuple(name for name in (*WHOLE, *WITHIN, *VARIANTS) if name != "condition")
"""Columns that tell measurements of one seed and condition apart."""


def _without_digest(text: str | None) -> str | None:
    condition = condition_of(text)
    part = condition.find(OnOneLayer)
    if part is None or part.mapping is None:
        return text
    others = tuple(other for other in condition.interventions if other != part)
    return Condition.of((*others, part.model_copy(update={"mapping": None})), condition.recipe).text


def _between_layers_filled(results: Results, comparison: Sequence[str]) -> Results:
    """Fill empty values of ``target_layer``, but only in comparisons that have pairs of different layers.

    Args:
        comparison: columns that name a comparison.
    """
    compared = results.columns.together(*comparison).codes
    filled = np.isin(compared, compared[results.records["target_layer"].is_valid().to_numpy()])
    return results.where(~filled) + with_target_layers(results.where(filled))


def best_layer(results: Results) -> int:
    """Find the layer with the highest mean over pairs, corpora and seeds; see `Results.best_layer`."""
    kept = results.filter(target_layer=None)
    layered = Results(kept.records.filter(pc.field("layer").is_valid()))
    if not len(layered):
        raise RequestError("these results have no layers", hint="similarities, probes and aligned encoders have them")
    table = cells(layered, rows=("source", *ROW), columns=("layer",))
    means = {layer: mean_row(table, table.rows, layer).mean for layer in table.columns}
    known = {layer: mean for layer, mean in means.items() if mean is not None}
    if not known:
        raise RequestError("no layer has a value for every pair and corpus", hint="filter(target=…) picks one")
    return max(known, key=lambda layer: (known[layer], -layer))


@dataclass(frozen=True, slots=True)
class Section:
    """Records that one table can hold.

    Attributes:
        note: line below the table.
        decimals: decimals of the numbers.
    """

    title: str
    records: Results
    note: str = ""
    decimals: int = 2


def sections(results: Results) -> Iterator[Section]:
    """Yield scores by task, metric, source and encoder, then what was measured by layer, each for one table.

    Where there are scores of several splits, each split has a table, so that no mean is over development and test sets.
    """
    scores = results.filter(measure=None)
    columns = ("task", "metric", "source", "encoder", *(["split"] if of_several_splits(scores) else []))
    for (task, metric, source, encoder, *split), block in groups_of(scores, *columns):
        title = ", ".join(
            filter(None, (f"{task or ''} {metric}".strip(), f"source {source or 'unknown'}", encoder, *split))
        )
        yield Section(one_line(title), block, "; ".join(filter(None, (_averaged_seeds(block), corpora_note(block)))))
    measured = Results(results.records.filter(pc.field("measure").is_valid()))
    for (metric, encoder, task), block in groups_of(measured, "metric", "encoder", "task"):
        after = f", fine-tuned for {task}" if task else ""
        by_layer = " by layer" if block.records["layer"].null_count < len(block) else ""
        title = ", ".join(filter(None, (f"{metric}{by_layer}", encoder))) + after
        yield Section(one_line(title), block, "; ".join(cautions(block)), decimals=3)


def corpora_note(scores: Results) -> str:
    """What stands below a table of scores on its test corpora: the baseline of texts, and cautions."""
    return "; ".join(filter(None, (baseline_note(scores), *cautions(scores))))


def _choice(results: Results, part: Results) -> dict[str, Any]:
    """Values of columns by which a part of results is told from the rest: those that all its records share."""
    columns = ("task", "metric", "measure", "source", "encoder", "split")
    values = {name: part.columns.coded(name).values for name in columns}
    several = {name for name in columns if len(results.columns.coded(name).values) > 1}
    return {name: shared[0] for name, shared in values.items() if name in several and len(shared) == 1}


def _averaged_seeds(scores: Results) -> str:
    """Say how many seeds the numbers of a table are means over, which excludes seeds without a reference."""
    try:
        compared = score_cells(scores).compared()
    except RequestError:  # there is no table, and its reader is told why
        return ""
    same, cross, _ = parts_of(compared, scores.records["source"][0].as_py())
    means = [mean_row(compared, part, column) for part in (same, cross) for column in compared.columns]
    averaged = {len(cell.by_seed) for cell in (*compared.values.values(), *means)} - {0}
    if not averaged:
        return ""
    fewest, most = min(averaged), max(averaged)
    if fewest == most:
        return f"mean of {most} seed{'s' * (most != 1)}"
    which = "a difference is over the seeds of both conditions, a mean over those of all its corpora"
    return f"means of {fewest} to {most} seeds; {which}"


def main_scores(results: Results) -> tuple[Results, list[str]]:
    """Leave out scores by other metrics than the main one of their task, where it has scores by that one.

    >>> rows = [xl.Record(task="parsing", metric=name, value=70.0) for name in ("las", "uas")]
    >>> main, others = main_scores(xl.Results.of(rows))
    >>> len(main), others
    (1, ['uas'])

    Returns:
        The other records, and the names of the metrics that were left out.
    """
    scored = results.columns.together("measure", "task", "metric")
    others = [
        measure is None and metric != main_metric(task) and (None, task, main_metric(task)) in scored.values
        for measure, task, metric in scored.values
    ]
    left_out = [metric for (_, _, metric), other in zip(scored.values, others, strict=True) if other]
    return results.where(~np.array(others, bool)[scored.codes]), list(dict.fromkeys(left_out))


def writers(frame: "pandas.DataFrame", *, decimals: int = 2) -> dict[Any, Callable[[Any], str]]:
    """Column of a table -> function that writes its values.

    Columns named in ``frame.attrs["differences"]`` are written with a sign; text and counts as they are.
    """

    def writer(name: Any) -> Callable[[Any], str]:
        if frame[name].dtype.kind == "i":
            return str
        write = signed if name in frame.attrs.get("differences", ()) else plain
        return lambda value: value if isinstance(value, str) else write(value, decimals=decimals)

    return {name: writer(name) for name in frame.columns}


SHOWN = 6
"""Maximum number of tables shown of one object."""

ROWS = 60
"""Maximum number of rows shown of one table."""

FIRST = 10
"""Maximum number of records shown where no table can hold them."""

HEAD = ("task", "metric", "source", "target", "measure", "layer", "condition", "seed", "value")
"""Columns of records that are shown where no table can hold them."""


def as_text(results: Results) -> str:
    """Write the tables of results as text."""
    tables = [
        "\n".join((title, frame.to_string(formatters=write, max_rows=ROWS), note))
        for title, frame, write, note in _tables(results)
    ]
    return "\n\n".join([_count(results), *tables, *_more(results)])


def as_html(results: Results) -> str:
    """Write the tables of results as HTML."""
    tables = [
        f"<p>{escape(title)}</p>{frame.to_html(formatters=write, max_rows=ROWS)}<p>{escape(note)}</p>"
        for title, frame, write, note in _tables(results)
    ]
    lines = [f"<p>{line}</p>" for line in (_count(results), *_more(results))]
    return "".join([lines[0], *tables, *lines[1:]])


def as_latex(results: Results, *, caption: str | None = None, label: str | None = None) -> str:
    """Write the tables of results as ``tabular`` environments of booktabs, each below its title as a comment.

    Args:
        caption: of the only table, in LaTeX; it then stands in a ``table`` environment.
        label: of the only table.

    Raises:
        RequestError: for a caption or label where there are several tables.
    """
    parts = list(sections(results))
    several = len(parts)
    if several > 1 and (caption, label) != (None, None):
        chosen = ", ".join(f"{name}={value!r}" for name, value in _choice(results, parts[0].records).items())
        raise RequestError(
            f"a caption or label is for a single table, and these results fill {several}",
            hint=f'select one, such as results.filter({chosen}).to_latex(caption="…")',
        )
    tables = []
    for title, frame, write, note in _tables(results):
        frame = frame.rename_axis(index=_spaced, columns=_spaced)  # pandas 2 escapes no names
        styled: Any = frame.style.format({name: _escaped(writer) for name, writer in write.items()})
        styled = styled.format_index(_escaped(str), axis=0).format_index(_escaped(str), axis=1)
        text = str(
            styled.to_latex(
                hrules=True, sparse_index=False, column_format="l" * frame.index.nlevels + "r" * frame.shape[1]
            )
        )
        text = re.sub(r"(?m)^(?=[\[*])", "{}", text)  # else an argument of the line break before it
        text = "\n".join([*latex.needed_commands(text), _floating(text, caption=caption, label=label)])
        tables.append(f"% {title}\n{text}% {note}" if note else f"% {title}\n{text}".rstrip())
    return "\n\n".join([*tables, *(f"% {line}" for line in _more(results))]) + "\n"


def _floating(tabular: str, *, caption: str | None, label: str | None) -> str:
    """A table in an environment with its caption and label, above it as pandas writes them; without both, as it is."""
    about = [rf"\caption{{{caption}}}"] * (caption is not None) + [rf"\label{{{label}}}"] * (label is not None)
    if not about:
        return tabular
    return "\n".join([r"\begin{table}", r"\centering", *about, tabular + r"\end{table}", ""])


def _escaped(write: Callable[[Any], str]) -> Callable[[Any], str]:
    return lambda value: latex.escape(write(value))


def _spaced(name: str | None) -> str | None:
    return name and name.replace("_", " ")


def _count(results: Results) -> str:
    return f"{len(results)} record{'s' * (len(results) != 1)}"


def _more(results: Results) -> list[str]:
    more = len(list(sections(results))) - SHOWN
    return [f"and {more} more table{'s' * (more > 1)}; filter(…) selects records"] if more > 0 else []


def _tables(results: Results) -> Iterator[tuple[str, "pandas.DataFrame", Mapping[Any, Callable], str]]:
    """Yield title, table, writers and note of the first sections; records themselves where no table can hold them."""
    for section in islice(sections(results.sorted()), SHOWN):
        try:
            frame, note = tabulated(section.records), section.note
        except RequestError as error:
            frame = section.records[:FIRST].to_pandas().filter(list(HEAD))
            more = len(section.records) - len(frame)
            note = f"{error}; of these records, {more} more are not shown" if more else str(error)
        yield section.title, frame, writers(frame, decimals=section.decimals), one_line(note)
