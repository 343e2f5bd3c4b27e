"""Tables of correlations: transfer gap against similarity, and score against subword overlap."""

from collections.abc import Sequence

from crosslens.report.papers import Paper
from crosslens.report.table import Cell, Notes, Row, Table, published_rows
from crosslens.results.record import Results
from crosslens.similarity.measures import CKA
from crosslens.similarity.transfer_gap import OVERLAPS, Correlated, available_correlations


def correlation(results: Results, *, beside: Paper | None = None) -> list[Table]:
    """Table 4 of Muller et al. (2021): Spearman's correlation of gap and similarity, for each task and state.

    The gap is same-language minus cross-language, so good similarities correlate negatively; the paper prints the same
    with the other sign.

    Returns:
        One table, or none where the records hold no scores and similarities of one source and encoder.

    Raises:
        RequestError: when `available_correlations` refuses them.
    """
    measures = [measure for (measure,), _ in results.groups("measure") if measure in CKA]
    correlated = available_correlations(results, measures=measures)
    if not correlated:
        return []
    named = list(zip(names_of(correlated), correlated, strict=True))
    head = tuple(dict.fromkeys(name for name, _ in named))
    notes = Notes()
    groups: dict[str, tuple[Row, ...]] = {}
    for measure, state in dict.fromkeys((each.measure, each.state) for each in correlated):
        row = {name: each for name, each in named if (each.measure, each.state) == (measure, state)}
        printed = tuple(_coefficient(row.get(name), notes) for name in head)
        groups[measure] = (*groups.get(measure, ()), Row(state, printed))
        if beside is not None and measure == "cka":
            theirs = [
                beside.correlation(row[name].task, state) if name in row and not row[name].variant else None
                for name in head
            ]
            groups[measure] += tuple(published_rows(beside, printed, theirs, notes))
    caption = (
        "Spearman correlation, over languages, of the transfer gap (same-language minus cross-language score) and"
        " similarity (mean over layers)."
    )
    caption += _same_language(correlated)
    beneath = f" Below ours: {beside.name} as published, and ours minus published." if beside else ""
    caption += beneath if any(row.kind == "beside" for rows in groups.values() for row in rows) else ""
    return [Table("correlation", caption, head, groups, tuple(notes.texts))]


def overlap(results: Results) -> list[Table]:
    """Figure 3 of Wu & Dredze (2019) in numbers: Pearson's correlation of zero-shot score and subword overlap.

    Returns:
        One table, or none if the results have no scores and overlaps of the same source and encoder.

    Raises:
        RequestError: as `available_correlations`.
    """
    correlated = available_correlations(results, measures=list(OVERLAPS), coefficient="pearson", outcome="score")
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
    """Name each correlation by task, source, and encoder if there are several."""
    several = len({each.encoder for each in correlated}) > 1
    return [", ".join([f"{each.called} {each.source}", *([each.encoder] if several else [])]) for each in correlated]


def _coefficient(correlated: Correlated | None, notes: Notes) -> Cell:
    """A coefficient with a note on its test; an empty cell with a note where a side is constant."""
    if correlated is None:
        return Cell(None, "coefficient")
    result = correlated.correlation
    test = f"p = {result.p:.3f}, permutation test over {len(result.languages)} languages"
    note = "; ".join([*([] if correlated.undefined else [test]), *correlated.caveats])
    return Cell(None if correlated.undefined else result.value, "coefficient", note=notes.number(note))


def _same_language(correlated: Sequence[Correlated]) -> str:
    """The sentence of a caption on same-language scores over several corpora; else empty."""
    corpora = {each.same_language for each in correlated if len(each.same_language) > 1}
    if not corpora:
        return ""
    return " Same-language scores are means over " + "; ".join(" and ".join(names) for names in sorted(corpora)) + "."
