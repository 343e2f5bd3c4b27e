"""The rule that estimates transfer: its fit, its error, its range and its file."""

from dataclasses import replace

import numpy as np
import pytest

from crosslens.errors import DataError
from crosslens.unseen.evidence import FEATURES
from crosslens.unseen.rule import COLUMNS, LEVEL, PENALTY, Measured, Provenance, Rule, read_rule, write_rule
from made_rules import made_up


def test_a_rule_finds_what_is_linear_and_knows_how_wrong_it_is():
    exact, noisy = made_up(200), made_up(30, noise=20)
    assert exact.error.value < 1 < noisy.error.value
    assert exact.error.high < exact.constant_error.value / 3
    assert noisy.error.low < noisy.error.value < noisy.error.high
    assert exact.regret.value < 1
    assert exact.can_choose
    assert not noisy.can_choose
    for row in exact.measured:
        assert exact.expected(row.features, row.source) == pytest.approx(row.score, abs=2)


def test_a_source_has_a_constant_of_its_own():
    rows = made_up(100).measured
    moved = Rule(tuple(replace(row, score=row.score - 20 * (row.source == "fr")) for row in rows))
    features = np.zeros(len(FEATURES))
    assert moved.expected(features, "en") - moved.expected(features, "fr") == pytest.approx(20, abs=1.5)
    assert moved.error.value < 2


def test_a_language_is_left_out_whole():
    """In all its corpora and scripts: what is expected of it does not change with its own scores."""
    rule = made_up(6, noise=5)
    changed = Rule(
        tuple(
            its if its.language != "l2" else Measured(its.language, its.corpus, its.source, 0.0, its.features)
            for its in rule.measured
        )
    )
    mine = [i for i, its in enumerate(rule.measured) if its.language == "l2"]
    for i, (a, b) in enumerate(zip(rule.held_out, changed.held_out, strict=True)):
        assert (a == b) == (i in mine)


def test_what_is_expected_stays_a_score():
    rule = made_up()
    assert 0 <= rule.expected([1e6, 0, 0, 0, 0], "en") <= 100
    assert 0 <= rule.expected([-1e6, 0, 0, 0, 0], "en") <= 100


def test_rules_are_written_and_read(tmp_path):
    rule = made_up()
    write_rule(rule, tmp_path / "rule.csv")
    again = read_rule(tmp_path / "rule.csv")
    assert again.provenance == rule.provenance
    assert [its.score for its in again.measured] == pytest.approx([its.score for its in rule.measured], abs=0.01)
    assert again.error == pytest.approx(rule.error, abs=0.05)
    lines = (tmp_path / "rule.csv").read_text("utf-8").splitlines()
    decimals = [[len(number.partition(".")[2]) for number in line.split(",")[3:]] for line in lines if line[0] == "l"]
    numbers = len(FEATURES)
    assert [max(column) for column in zip(*decimals[1:], strict=True)] == [2, 0, *[4] * numbers]
    complete = Rule(rule.measured, Provenance("an encoder: small", "abc", "pos", "one seed", "l1 l2"))
    write_rule(complete, tmp_path / "complete.csv")
    assert read_rule(tmp_path / "complete.csv").provenance == complete.provenance


def test_a_rule_with_the_former_name_of_a_column_is_read(tmp_path):
    rule = made_up()
    write_rule(rule, tmp_path / "now.csv")
    text = (tmp_path / "now.csv").read_text("utf-8")
    (tmp_path / "before.csv").write_text(text.replace("characters per subword", "characters a piece"), "utf-8")
    assert "a piece" in (tmp_path / "before.csv").read_text("utf-8")
    assert read_rule(tmp_path / "before.csv").measured == read_rule(tmp_path / "now.csv").measured


def test_a_rule_that_a_spreadsheet_saved_is_the_same_rule(tmp_path):
    write_rule(read_rule(), tmp_path / "rule.csv")
    text = (tmp_path / "rule.csv").read_text("utf-8")
    (tmp_path / "saved.csv").write_bytes(("\ufeff" + text.replace("\n", "\r\n")).encode())
    saved, rule = (read_rule(tmp_path / name) for name in ("saved.csv", "rule.csv"))
    assert (saved.provenance, saved.measured[0], len(saved.measured)) == (
        rule.provenance,
        rule.measured[0],
        len(rule.measured),
    )


def test_an_invalid_row_is_named_by_its_line_in_the_file(tmp_path):
    row = "wo,c,en,50,,1,1,1,1,1\n"
    text = "# task: pos\n# encoder: mine\n" + ",".join(COLUMNS) + "\n" + row + "# training: two epochs\n"
    (tmp_path / "rule.csv").write_text(text + row.replace("50", "high"))
    with pytest.raises(DataError, match=r"rule.csv:6: not a row"):
        read_rule(tmp_path / "rule.csv")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a,b\n1,2\n", "wrong columns for measured transfer"),
        (",".join(COLUMNS) + "\nwo,c,en,high,,1,1,1,1,1\n", "not a row of measured transfer"),
        (",".join(COLUMNS) + "\nwo,c,en,50,,1,1,1,1,1\n", "at least three languages"),
    ],
)
def test_files_that_are_no_rules(tmp_path, text, reason):
    (tmp_path / "rule.csv").write_text(text)
    with pytest.raises(DataError, match=reason):
        read_rule(tmp_path / "rule.csv")
    with pytest.raises(DataError, match="file not found"):
        read_rule(tmp_path / "missing.csv")


@pytest.mark.parametrize("column", ["score", "adapted", FEATURES[0], FEATURES[-1]])
@pytest.mark.parametrize("text", ["nan", "inf", "-inf"])
def test_numbers_that_are_not_finite_are_refused(tmp_path, column, text):
    """One would make every estimate NaN, or every language one outside the fitted range."""
    rows = [dict(zip(COLUMNS, [f"l{n}", f"c{n}", "en", *[f"{n}"] * 7], strict=True)) for n in range(3)]
    for changed in (False, True):
        rows[1] |= {column: text} if changed else {}
        lines = [",".join(COLUMNS), *(",".join(row.values()) for row in rows)]
        (tmp_path / "rule.csv").write_text("\n".join(lines))
        if not changed:
            assert len(read_rule(tmp_path / "rule.csv").measured) == 3
        else:
            with pytest.raises(DataError, match=rf"rule.csv:3: not a row .*{text} is not a finite number"):
                read_rule(tmp_path / "rule.csv")


def test_a_constant_guess_is_the_mean_of_other_languages_from_the_same_source():
    rows = [
        Measured(f"l{n}", f"c{n}", source, 40.0 + n - 30 * (source == "ar"), (1.0, 1.0, n, 1.0, 1.0))
        for n in range(4)
        for source in ("en", "ar")
    ]
    by_hand = np.mean([abs(n - np.mean([other for other in range(4) if other != n])) for n in range(4)])
    assert Rule(tuple(rows)).constant_error.value == pytest.approx(by_hand)


def test_a_constant_guess_leaves_out_all_corpora_of_the_language():
    scores = {("l0", "c0"): 90.0, ("l0", "c1"): 88.0, ("l1", "c2"): 50.0, ("l2", "c3"): 60.0}
    rows = [Measured(*names, "en", score, (1.0, 1.0, 1.0, 1.0, 1.0)) for names, score in scores.items()]
    # l0: guesses of 55; l1: the mean of 90, 88 and 60; l2: of 90, 88 and 50
    by_hand = np.mean([35.0, 33.0, 238 / 3 - 50, 228 / 3 - 60])
    assert Rule(tuple(rows)).constant_error.value == pytest.approx(by_hand)


def test_the_interval_covers_its_share_of_the_languages():
    rule = made_up(40, noise=10)
    assert np.mean(rule.errors <= rule.half_width) == pytest.approx(LEVEL, abs=0.05)
    assert rule.half_width < rule.errors.max()
    few = made_up(5, noise=10)  # of five languages 90 % is all
    assert few.half_width == few.errors.max()


def test_a_language_of_many_corpora_weighs_no_more_in_the_interval_than_one_of_a_single_corpus():
    """By brute force: the smallest error within which enough of every language's errors lie, on average."""
    generator = np.random.default_rng(1)
    rows = made_up(12, noise=10).measured
    copies = [replace(rows[0], corpus=f"c0-{n}", score=rows[0].score + 30 * generator.normal()) for n in range(40)]
    rule = Rule((*rows, *copies))

    def covered(width):
        return np.mean(
            [
                np.mean(
                    [
                        error <= width
                        for row, error in zip(rule.measured, rule.errors, strict=True)
                        if row.language == language
                    ]
                )
                for language in rule.languages
            ]
        )

    needed = LEVEL * 13 / 12  # corrected for the number of languages
    assert rule.half_width == min(error for error in rule.errors if covered(error) >= needed - 1e-9)


def test_the_regression_is_the_least_squares_fit_with_a_penalty_on_standardised_inputs():
    """By the least squares of rows and, below them, the root of the penalty times the identity."""
    rule = made_up(8, noise=5)
    x = np.asarray([[*row.features, row.source == "en", row.source == "fr"] for row in rule.measured])
    y = np.asarray([row.score for row in rule.measured])
    z = (x - x.mean(0)) / np.sqrt(((x - x.mean(0)) ** 2).mean(0))
    below = np.sqrt(PENALTY) * np.eye(len(z[0]))
    slopes = np.linalg.lstsq(np.vstack([z, below]), np.append(y - y.mean(), np.zeros(len(below))), rcond=None)[0]
    expected = [rule.expected(row.features, row.source) for row in rule.measured]
    np.testing.assert_allclose(expected, y.mean() + z @ slopes, rtol=1e-9)


def test_a_rule_without_a_language_has_nothing_of_it():
    rule = made_up(6)
    assert rule.without({"xx"}) is rule
    assert rule.without({"l2"}).languages == ("l0", "l1", "l3", "l4", "l5")
    assert rule.without((), "c2:train@uroman[:5]").treebanks == ("c0", "c1", "c3", "c4", "c5")


@pytest.mark.parametrize(
    ("asked", "measured"), [("pes", "fa"), ("cmn", "zh"), ("ku", "kmr"), ("ar", "arb"), ("nb", "no"), ("nn", "no")]
)
def test_a_rule_without_a_language_has_none_of_its_macrolanguage(asked, measured):
    rows = [replace(row, language=measured) if row.language == "l2" else row for row in made_up(6).measured]
    assert Rule(tuple(rows)).without({asked}).languages == ("l0", "l1", "l3", "l4", "l5")


def test_a_rule_knows_where_it_was_fitted():
    rows = [Measured(f"l{n}", f"c{n}", "en", 50.0, (1.0 + n, 2.0, 30.0, 80.0, 90.0)) for n in range(3)]
    rule = Rule(tuple(rows))
    assert rule.outside((1.0, 2.0, 30.0, 80.0, 90.0), "en") == []
    assert rule.outside((3.2, 2.0, 30.0, 80.0, 90.0), "en") == []
    assert rule.outside((3.3, 2.0, 30.0, 79.0, 90.0), "de") == [
        "source de (fitted to en)",
        "fertility 3.3 (fitted from 1.0 to 3.0)",
        "confident words % 79.0 (fitted from 80.0 to 80.0)",
    ]


def test_the_shipped_rule_is_better_than_none():
    rule = read_rule()
    assert len(rule.languages) >= 20
    assert rule.error.value < rule.constant_error.value
    assert rule.provenance.body
    assert "e5-small" in rule.about
    assert "wo" in rule.languages


def test_a_source_is_chosen_for_corpora_that_the_default_source_was_measured_on():
    """Without the default source there is nothing that a choice could gain over."""
    rule = made_up(6)
    others = [Measured("l9", "c9", source, score, (0.0,) * 5) for source, score in (("fr", 20.0), ("ar", 90.0))]
    alone = Measured("l8", "c8", "en", 20.0, (0.0,) * 5)  # there is nothing to choose from
    wider = Rule((*rule.measured, *others, alone))
    assert [choice.default.corpus for choice in wider.choices] == ["c0", "c1", "c2", "c3", "c4", "c5"]
    assert {choice.default.source for choice in wider.choices} == {"en"}


def test_scores_after_adaptation_are_kept_also_those_of_zero(tmp_path):
    scores = (0.0, 12.5, None)
    rows = tuple(replace(row, adapted=scores[place % 3]) for place, row in enumerate(made_up().measured))
    write_rule(Rule(rows), tmp_path / "rule.csv")
    assert [row.adapted for row in read_rule(tmp_path / "rule.csv").measured] == [row.adapted for row in rows]
