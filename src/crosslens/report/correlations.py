"""Tables of correlations: transfer gap against similarity, and score against subword overlap."""

from collections.abc import Callable, Sequence
from contextlib import suppress

from crosslens.errors import RequestError
from crosslens.report.layers.by_layer import measures_of
from crosslens.report.papers import Paper
from crosslens.report.papers.paper import sources_of
from crosslens.report.significance import Interval
from crosslens.report.table import Cell, Notes, Row, Table, published_rows
from crosslens.results.record import Results
from crosslens.similarity.transfer_gap import OF_TEXT, OVERLAPS, Correlated, correlations
from crosslens.tasks.titles import as_printed


def correlation(
    results: Results, *, beside: Paper | None = None, skipped: Callable[[str], None] = lambda reason: None
) -> list[Table]:
    """Table 4 of Muller et al. (2021): Spearman's correlation of gap and similarity, for each task and state.

    The gap is same-language minus cross-language, so good similarities correlate negatively; the paper prints the same
    with the other sign. Where the records have fertility and length, partial correlations that control for both follow.

    Args:
        beside: Paper whose published correlations are shown below ours.
        skipped: Called with the reason where a task and source has no correlation although another one has.

    Returns:
        One table, or none where the records hold no scores and similarities of one source and encoder.

    Raises:
        RequestError: when `correlations` refuses them.
    """
    measures = measures_of(results)
    correlated = correlations(results, measures=measures, required=False, skipped=skipped)
    if not correlated:
        return []
    named = list(zip(names_of(correlated), correlated, strict=True))
    columns = {(each.called, each.source, each.encoder): name for name, each in named}
    head = tuple(dict.fromkeys(name for name, _ in named))
    notes = Notes()
    groups: dict[str, tuple[Row, ...]] = {}
    for measure in dict.fromkeys(each.measure for each in correlated):
        for state, row in _rows([pair for pair in named if pair[1].measure == measure]).items():
            printed = tuple(_coefficient(row.get(name), notes) for name in head)
            groups[measure] = (*groups.get(measure, ()), Row(state, printed))
            if beside is not None and measure == "cka":
                theirs = [
                    beside.correlation(row[name].task, sources_of(row[name].train, row[name].source), state)
                    if name in row and not row[name].variant
                    else None
                    for name in head
                ]
                groups[measure] += tuple(published_rows(beside, printed, theirs, notes))
        controlled: list[Correlated] = []
        with suppress(RequestError):  # the records lack a confound, or there are too few languages
            controlled = correlations(results, measures=[measure], control=CONTROL)
        of_column = [(columns[each.called, each.source, each.encoder], each) for each in controlled]
        for state, row in _rows(of_column).items():
            label = f"{state}, controlling for {' and '.join(CONTROL)}"
            groups[measure] += (Row(label, tuple(_coefficient(row.get(name), notes) for name in head)),)
    by_layer = any(each.measure not in OF_TEXT for each in correlated)
    caption = (
        "Spearman correlation, over languages, of the transfer gap (same-language minus cross-language score) and"
        f" similarity{' (mean over layers)' if by_layer else ' of texts'}."
    )
    caption += _same_language(correlated)
    beneath = f" Below ours: {beside.name} as published, and ours minus published." if beside else ""
    caption += beneath if any(row.kind == "beside" for rows in groups.values() for row in rows) else ""
    return [Table("correlation", caption, head, groups, tuple(notes.texts))]


CONTROL = ("fertility", "length-ratio")
"""Confounds of the partial correlations: how a language is split into subwords, and how long its sentences are."""

Named = Sequence[tuple[str, Correlated]]
"""Correlations, each with the name of its column."""


def _rows(named: Named) -> dict[str, dict[str, Correlated]]:
    """State -> name of a column -> its correlation."""
    rows: dict[str, dict[str, Correlated]] = {}
    for name, each in named:
        rows.setdefault(each.state, {})[name] = each
    return rows


def correlation_by_layer(results: Results) -> list[Table]:
    """Figure 3 of Muller et al. (2021) by layer: the correlation of `correlation` in each layer.

    Returns:
        One table, or none where there is nothing to correlate.

    Raises:
        RequestError: when `correlations` refuses the records.
    """
    correlated = correlations(results, measures=["cka"], layers="each", required=False)
    layers = sorted({each.layer for each in correlated if each.layer is not None})
    lines: dict[str, dict[int | None, Correlated]] = {}
    for name, each in zip(names_of(correlated), correlated, strict=True):
        lines.setdefault(f"{name}: {each.state}", {})[each.layer] = each
    if not layers:
        return []
    notes = Notes()
    rows = tuple(
        Row(name, tuple(_coefficient(by_layer.get(layer), notes) for layer in layers))
        for name, by_layer in lines.items()
    )
    caption = "Spearman correlation, over languages, of the transfer gap and CKA, by layer (0: embeddings)."
    head = tuple(map(str, layers))
    return [
        Table("correlation-by-layer", caption + _same_language(correlated), head, {"cka": rows}, tuple(notes.texts))
    ]


def overlap(results: Results, *, skipped: Callable[[str], None] = lambda reason: None) -> list[Table]:
    """Figure 3 of Wu & Dredze (2019) in numbers: Pearson's correlation of zero-shot score and subword overlap.

    Args:
        skipped: as in `correlation`.

    Returns:
        One table, or none if the results have no scores and overlaps of the same source and encoder.

    Raises:
        RequestError: as `correlations`.
    """
    correlated = correlations(
        results, measures=list(OVERLAPS), coefficient="pearson", outcome="score", required=False, skipped=skipped
    )
    if not correlated:
        return []
    notes = Notes()
    names = names_of(correlated)
    by_row = {(name, each.measure): each for name, each in zip(names, correlated, strict=True)}
    rows = tuple(
        Row(name, tuple(_coefficient(by_row.get((name, measure)), notes) for measure in OVERLAPS))
        for name in dict.fromkeys(names)
    )
    caption = (
        "Pearson correlation, over languages, of the zero-shot score and the share of subwords in the test data that"
        " occur in the source language's training data."
    )
    return [Table("overlap", caption, ("types", "tokens"), {"Pearson's r": rows}, tuple(notes.texts))]


def names_of(correlated: Sequence[Correlated]) -> list[str]:
    """Name each correlation by task, variant and source, and by encoder if there are several."""
    several = len({each.encoder for each in correlated}) > 1
    return [
        as_printed(", ".join([each.called, f"source {each.source}", *([each.encoder or "?"] if several else [])]))
        for each in correlated
    ]


def _coefficient(correlated: Correlated | None, notes: Notes) -> Cell:
    """A coefficient with a note on its test; an empty cell with a note where a side is constant."""
    if correlated is None:
        return Cell(None, "coefficient")
    result = correlated.correlation
    if correlated.undefined:
        return Cell(None, "coefficient", note=notes.number("; ".join(correlated.caveats)))
    test = f"p = {result.p:.3f}, permutation test over {len(result.languages)} languages"
    return Cell(
        result.value,
        "coefficient",
        note=notes.number("; ".join([test, *correlated.caveats])),
        interval=Interval(result.low, result.high, marked=False, over="languages"),
    )


def _same_language(correlated: Sequence[Correlated]) -> str:
    """The sentence of a caption on same-language scores over several corpora; else empty."""
    columns: dict[str, list[str]] = {}
    for name, each in zip(names_of(correlated), correlated, strict=True):
        columns.setdefault(" and ".join(sorted(each.same_language)), []).append(name)
    several = {corpora: dict.fromkeys(names) for corpora, names in columns.items() if " and " in corpora}
    if not several:
        return ""
    apart = len(columns) > 1
    means = (f"{corpora} ({', '.join(names)})" if apart else corpora for corpora, names in sorted(several.items()))
    return f" Same-language scores are means over {'; '.join(means)}."
