"""How well a rule estimates transfer to unseen languages, as tables."""

import statistics
from collections.abc import Sequence

from crosslens.formatting import counted
from crosslens.report.table import Cell, Row, Table
from crosslens.results.cells import by_variant, encoders_apart
from crosslens.results.record import Results
from crosslens.tasks import main_metric
from crosslens.unseen.evaluation import kept_apart, left_out, transfer_of_another
from crosslens.unseen.fitting import AS_IS
from crosslens.unseen.rule import Mean, Rule


def rule_tables(rules: Sequence[Rule], results: Results) -> list[Table]:
    """Errors of each rule, estimates by the first rule of the transfer that the others were fitted to, and how far
    scores in records are from those that the first rule was fitted to.

    Args:
        rules: rules, such as `crosslens.unseen.rule.read_rule` reads.
        results: records, whose zero-shot scores of unmodified encoders are compared with the rule's.
    """
    return [*_errors(rules), *_of_others(rules), *_measured_again(rules[0], results)] if rules else []


def _errors(rules: Sequence[Rule]) -> list[Table]:
    groups: dict[str, tuple[Row, ...]] = {}
    for rule, named in zip(rules, _names(rules), strict=True):
        name = f"{named}: " if len(rules) > 1 else ""
        size = f"{len(rule.measured)} scores of {len(rule.treebanks)} corpora of {len(rule.languages)} languages"
        groups[f"{name}each language left out: {size}"] = _rows(left_out(rule))
        several = (None, *rule.sources) if len(rule.sources) > 1 else (None,)
        for source in several:
            title = f"{name}languages kept apart, {f'from {source}' if source else 'from every source'}"
            if rows := _rows(kept_apart(rule, source)):
                groups[title] = rows
    caption = (
        "Errors of the rule of `crosslens advise`, in points; low, high: 95 % confidence interval over languages. Left"
        " out: the rule is fitted without the language of each score. Kept apart: it is fitted without any of these"
        " languages, on which no choice was based."
    )
    return [Table("rule", caption, ("mean", "low", "high"), groups)] if groups else []


def _of_others(rules: Sequence[Rule]) -> list[Table]:
    groups: dict[str, tuple[Row, ...]] = {}
    first, *names = _names(rules)
    for other, name in zip(rules[1:], names, strict=True):
        rows = tuple(
            Row(
                f"{row.source} – {row.corpus}",
                (Cell(estimate, "score"), Cell(row.score, "score"), Cell(estimate - row.score, "vs_paper")),
            )
            for row, estimate in transfer_of_another(rules[0], other).items()
        )
        if rows:
            groups[f"{name}, by the rule of {first}"] = rows
    caption = "Scores of another encoder than the rule was fitted to, in points."
    return [Table("rule-carried-over", caption, ("estimate", "measured", "difference"), groups)] if groups else []


def _measured_again(rule: Rule, results: Results) -> list[Table]:
    task = rule.provenance.task or "pos"
    fitted = {(row.source, row.corpus): row.score for row in rule.measured}
    scores = encoders_apart(results).filter(task=task, metric=main_metric(task), measure=None, condition=AS_IS)
    apart: dict[tuple[str | None, str], dict[str | None, float]] = {}  # a score that two studies share counts once
    for variant, of_variant in by_variant(scores, within=("encoder", "source")):
        for record in of_variant:
            score = fitted.get((record.source or "", record.corpus or ""))
            if score is not None and record.value is not None:
                words = ", ".join(filter(None, (f"from {record.source}", variant, f"seed {record.seed}")))
                by_corpus = apart.setdefault((record.encoder, words), {})
                by_corpus[record.corpus] = abs(record.value - score)
    encoders = dict.fromkeys(encoder for encoder, _ in apart)
    rows = []
    for (encoder, name), by_corpus in apart.items():
        points = by_corpus.values()
        words = (encoder if len(encoders) > 1 else "", name, counted(len(points), "score", "scores"))
        cells = (Cell(statistics.fmean(points), "score"), Cell(max(points), "score"))
        rows.append(Row(", ".join(filter(None, words)), cells))
    of = f" of {next(iter(encoders))}" if len(encoders) == 1 and None not in encoders else ""
    caption = f"Absolute difference of scores{of} to those that the rule was fitted to, in points."
    return [Table("rule-measured-again", caption, ("mean", "largest"), {_name(rule): tuple(rows)})] if rows else []


def _rows(means: dict[str, Mean]) -> tuple[Row, ...]:
    return tuple(Row(name, tuple(Cell(value, "score") for value in mean)) for name, mean in means.items())


def _name(rule: Rule) -> str:
    return rule.provenance.encoder or "a rule without a name"


def _names(rules: Sequence[Rule]) -> list[str]:
    """Name of each rule, with its place among the rules behind a name that several have."""
    names = list(map(_name, rules))
    return [f"{name} (rule {place})" if names.count(name) > 1 else name for place, name in enumerate(names, start=1)]
