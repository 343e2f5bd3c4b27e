"""Errors of a rule that estimates transfer: on languages left out, on languages kept apart, and on another encoder."""

from dataclasses import replace

from crosslens.unseen.evidence import FEATURES
from crosslens.unseen.rule import LEVEL, Mean, Measured, Rule, choices_among, constant_guess, mean_over_languages

OF_PROBES = ("confident words %", "agreement of probes %")
"""Features that come from probes; the others are read from text and tokenizer."""


def left_out(rule: Rule) -> dict[str, Mean]:
    """Cross-validated errors and regrets of a rule, each language left out in turn, in points."""
    kept = [place for place, name in enumerate(FEATURES) if name not in OF_PROBES]
    rows = [replace(row, features=tuple(row.features[place] for place in kept)) for row in rule.measured]
    by_source = {f"error of an estimate from {source}": _error(rule, source) for source in rule.sources}
    choice = {
        "regret of the source of the highest estimate": rule.regret,
        f"regret of always {rule.sources[0]}": rule.default_regret,
        f"gain of that choice over always {rule.sources[0]}": rule.choice_gain,
    }
    several = len(rule.sources) > 1
    return {
        "error of an estimate": rule.error,
        **(by_source if several else {}),
        "error without the features of probes": replace(rule, measured=tuple(rows)).error,
        "error of a constant guess": rule.constant_error,
        **(choice if several else {}),
    }


def kept_apart(rule: Rule, source: str | None = None) -> dict[str, Mean]:
    """Errors and regrets on the languages that the rule names as kept apart, fitted without all of them, in points.

    Args:
        source: source language; None: all of them, and the choice among them.

    Returns:
        Nothing if no language was kept apart, or none was measured from the source.
    """
    fitted = rule.without(rule.kept_apart)
    apart = [row for row in rule.measured if row.language in rule.kept_apart]
    rows = [row for row in apart if source in (None, row.source)]
    if not rows or len(fitted.languages) < 3:
        return {}
    errors = [abs(_estimate(fitted, row) - row.score) for row in rows]
    guesses = [abs(constant_guess(fitted.measured, row) - row.score) for row in rows]
    covered = [100.0 * (error <= fitted.half_width) for error in errors]
    described: dict[str, Mean] = {
        "error of an estimate": mean_over_languages(zip(rows, errors, strict=True)),
        "error of a constant guess": mean_over_languages(zip(rows, guesses, strict=True)),
        f"scores within the {100 * LEVEL:.0f} % interval, ± {fitted.half_width:.1f}, %": mean_over_languages(
            zip(rows, covered, strict=True)
        ),
    }
    default = fitted.sources[0]
    choices = choices_among(rows, [_estimate(fitted, row) for row in rows], default=default) if source is None else ()
    if choices:
        regrets, of_default = ((c.best, c.regret) for c in choices), ((c.best, c.default_regret) for c in choices)
        described["regret of the source of the highest estimate"] = mean_over_languages(regrets)
        described[f"regret of always {default}"] = mean_over_languages(of_default)
    return described


def transfer_of_another(rule: Rule, other: Rule) -> dict[Measured, float]:
    """Estimate transfer of another encoder by a rule, fitted without the language of each score.

    Args:
        other: measured transfer of the other encoder; sources that the rule is not fitted to are left out.

    Returns:
        Measured transfer -> its estimate in points.
    """
    without = {language: rule.without({language}) for language in other.languages}
    return {row: _estimate(without[row.language], row) for row in other.measured if row.source in rule.sources}


def _error(rule: Rule, source: str) -> Mean:
    errors = zip(rule.measured, rule.errors, strict=True)
    return mean_over_languages((row, error) for row, error in errors if row.source == source)


def _estimate(rule: Rule, row: Measured) -> float:
    return rule.expected(row.features, row.source)
