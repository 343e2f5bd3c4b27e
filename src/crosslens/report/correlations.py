"""Tables of correlations: transfer gap against similarity, and against subword overlap."""

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
    heads = _heads(correlated)
    head = tuple(dict.fromkeys(heads.values()))
    notes = Notes()
    groups: dict[str, tuple[Row, ...]] = {}
    for measure, state in dict.fromkeys((each.measure, each.state) for each in correlated):
        row = {heads[id(each)]: each for each in correlated if (each.measure, each.state) == (measure, state)}
        printed = tuple(
            Cell(row[name].correlation.value, "coefficient", note=notes.number(_test(row[name])))
            if name in row
            else Cell(None, "coefficient")
            for name in head
        )
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
    """Figure 3 of Wu & Dredze (2019) in numbers: Pearson's correlation of the transfer gap and subword overlap.

    The paper correlates the score itself, so its coefficients have the opposite sign.

    Returns:
        One table, or none if the results have no scores and overlaps of the same source and encoder.

    Raises:
        RequestError: as `available_correlations`.
    """
    correlated = available_correlations(results, measures=list(OVERLAPS), coefficient="pearson")
    if not correlated:
        return []
    notes = Notes()
    heads = _heads(correlated)
    by_row = {(heads[id(each)], each.measure): each for each in correlated}
    rows = tuple(
        Row(
            name,
            tuple(
                Cell(each.correlation.value, "coefficient", note=notes.number(_test(each)))
                if (each := by_row.get((name, measure)))
                else Cell(None, "coefficient")
                for measure in OVERLAPS
            ),
        )
        for name in dict.fromkeys(heads.values())
    )
    caption = (
        "Pearson correlation, over languages, of the transfer gap (same-language minus cross-language score) and the"
        " share of subwords in the test data that occur in the source language's training data."
    )
    return [
        Table(
            "overlap",
            caption + _same_language(correlated),
            ("types", "tokens"),
            {"Pearson's r": rows},
            tuple(notes.texts),
        )
    ]


def _heads(correlated: list[Correlated]) -> dict[int, str]:
    """Identity of a correlation -> its task, source, and encoder if there are several."""
    several = len({each.encoder for each in correlated}) > 1
    return {
        id(each): ", ".join([f"{each.called} {each.source}", *([each.encoder] if several else [])])
        for each in correlated
    }


def _same_language(correlated: list[Correlated]) -> str:
    """The sentence of a caption on same-language scores over several corpora; else empty."""
    corpora = {each.same_language for each in correlated if len(each.same_language) > 1}
    if not corpora:
        return ""
    return " Same-language scores are means over " + "; ".join(" and ".join(names) for names in sorted(corpora)) + "."


def _test(correlated: Correlated) -> str:
    result = correlated.correlation
    return f"p = {result.p:.3f}, permutation test over {len(result.languages)} languages"
