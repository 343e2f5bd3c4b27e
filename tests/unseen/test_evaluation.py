"""Errors of a rule on languages left out, on languages kept apart, and on another encoder."""

from dataclasses import replace

import pytest

from crosslens.unseen.evaluation import OF_PROBES, kept_apart, left_out, transfer_of_another
from crosslens.unseen.evidence import FEATURES
from crosslens.unseen.rule import Provenance, Rule
from made_rules import made_up

APART = Provenance("made up", kept_apart="l1 l3 l99")


def test_errors_on_languages_left_out_are_those_of_the_rule():
    rule = made_up(12, noise=3)
    errors = left_out(rule)
    assert errors["error of an estimate"] == rule.error
    scores = {(row.language, row.source): row.score for row in rule.measured}
    worse = [max(0.0, scores[language, "fr"] - scores[language, "en"]) for language in rule.languages]
    assert errors["regret of always en"].value == pytest.approx(sum(worse) / 12)
    assert sum(worse) > 0
    by_source = [errors[f"error of an estimate from {source}"].value for source in ("en", "fr")]
    assert sum(by_source) / 2 == pytest.approx(rule.error.value)  # every language has both
    of_english = [error for row, error in zip(rule.measured, rule.errors, strict=True) if row.source == "en"]
    assert by_source[0] == pytest.approx(sum(of_english) / 12)
    assert by_source[0] != pytest.approx(by_source[1])
    assert set(OF_PROBES) < set(FEATURES)
    assert errors["error without the features of probes"].value > 1.5 * rule.error.value


def test_with_one_source_there_is_no_choice_to_regret():
    rule = Rule(tuple(row for row in made_up(8, noise=3).measured if row.source == "en"))
    errors = left_out(rule)
    assert set(errors) == {
        "error of an estimate",
        "error without the features of probes",
        "error of a constant guess",
    }
    assert errors["error of an estimate"] == rule.error


def test_languages_kept_apart_are_not_fitted_to():
    rule = Rule(made_up(12, noise=3).measured, APART)
    assert rule.kept_apart == ("l1", "l3")  # the measured ones
    errors = kept_apart(rule)
    fitted = rule.without({"l1", "l3"})
    rows = [row for row in rule.measured if row.language in ("l1", "l3")]
    wrong = [abs(fitted.expected(row.features, row.source) - row.score) for row in rows]
    assert errors["error of an estimate"].value == pytest.approx(sum(wrong) / 4)
    assert "regret of always en" in errors
    covered = errors[f"scores within the 90 % interval, ± {fitted.half_width:.1f}, %"]
    assert covered.value == pytest.approx(25 * sum(error <= fitted.half_width for error in wrong))
    of_french = kept_apart(rule, "fr")
    assert of_french["error of an estimate"].value == pytest.approx((wrong[1] + wrong[3]) / 2)
    assert not any(name.startswith("regret") for name in of_french)  # with one source, there is no choice


def test_regrets_of_the_choice_are_those_of_the_scores():
    rule = Rule(made_up(12).measured, APART)
    scores = {(row.language, row.source): row.score for row in rule.measured}
    best = [max(scores[language, "en"], scores[language, "fr"]) for language in ("l1", "l3")]
    english = [scores[language, "en"] for language in ("l1", "l3")]
    errors = kept_apart(rule)
    assert errors["regret of always en"].value == pytest.approx((sum(best) - sum(english)) / 2)
    assert errors["regret of the source of the highest estimate"].value <= errors["regret of always en"].value


@pytest.mark.parametrize("names", ["", "l99", "l0 l1 l2 l3 l4 l5", "l0 l1 l2 l3 l4"])
def test_without_languages_kept_apart_or_to_fit_there_is_nothing(names):
    assert kept_apart(Rule(made_up(7).measured, Provenance(kept_apart=names))) == {}
    assert kept_apart(Rule(made_up(8).measured, Provenance(kept_apart="l0 l1 l2 l3 l4"))) != {}  # three to fit


def test_a_constant_guess_knows_no_score_of_a_language_kept_apart():
    """By hand: the mean of the languages that are fitted to, from the same source."""
    rule = Rule(made_up(6, noise=3).measured, APART)
    fitted_to = [row for row in rule.measured if row.language not in ("l1", "l3")]
    wrong = []
    for row in rule.measured:
        if row.language in ("l1", "l3"):
            scores = [other.score for other in fitted_to if other.source == row.source]
            wrong.append(abs(sum(scores) / len(scores) - row.score))
    assert len(wrong) == 4
    assert kept_apart(rule)["error of a constant guess"].value == pytest.approx(sum(wrong) / 4)


def test_a_corpus_measured_from_one_source_has_no_regret():
    """There was nothing to choose: its regret would be 0 whatever the rule says."""
    rows = made_up(8).measured
    scores = {(row.language, row.source): row.score for row in rows}
    better = next(language for language, _ in scores if scores[language, "fr"] > scores[language, "en"])
    other = "l7" if better != "l7" else "l6"
    known = Provenance("made up", kept_apart=f"{better} {other}")
    both = kept_apart(Rule(tuple(row for row in rows if row.language != other), known))
    one_source = kept_apart(Rule(tuple(row for row in rows if (row.language, row.source) != (other, "fr")), known))
    assert both["regret of always en"].value > 0
    regrets = [name for name in both if name.startswith("regret")]
    assert len(regrets) == 2
    for name in regrets:
        assert one_source[name].value == pytest.approx(both[name].value, abs=1e-6)


def test_transfer_of_another_encoder_is_estimated_without_its_language():
    rule = made_up(8, noise=4)
    other = Rule(tuple(replace(row, score=row.score - 20) for row in rule.measured if row.language < "l3"))
    foreign = replace(other.measured[0], source="ru")
    estimates = transfer_of_another(rule, Rule((*other.measured, foreign)))
    assert list(estimates) == list(other.measured)  # the rule has no constant for ru
    for row, estimate in estimates.items():
        assert estimate == rule.without({row.language}).expected(row.features, row.source)
        assert estimate != rule.expected(row.features, row.source)


def test_scores_kept_apart_are_covered_by_an_interval_that_does_not_know_them():
    """They are far off, and would widen an interval that was fitted to them, too."""
    rows = [
        row if row.language not in ("l1", "l3") else replace(row, score=99.0) for row in made_up(12, noise=3).measured
    ]
    rule = Rule(tuple(rows), APART)
    fitted = rule.without({"l1", "l3"})
    apart = [row for row in rows if row.language in ("l1", "l3")]
    wrong = [abs(fitted.expected(row.features, row.source) - row.score) for row in apart]
    covered = [100 * (error <= fitted.half_width) for error in wrong]
    assert covered != [100 * (error <= rule.half_width) for error in wrong]
    (value,) = (mean.value for name, mean in kept_apart(rule).items() if name.startswith("scores within"))
    assert value == pytest.approx(sum(covered) / len(covered))
