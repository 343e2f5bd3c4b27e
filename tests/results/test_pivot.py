"""Scores as a table: differences to the reference, and means over languages."""

import pytest

from crosslens.errors import RequestError
from crosslens.results.pivot import CROSS, SAME
from crosslens.results.record import COLUMNS, Record, Results
from made_results import SCORES, score


def test_the_table_has_differences_to_the_reference_and_means_apart():
    table = Results.of(SCORES).table()
    assert list(table.columns) == ["reference", "Δ 1-2", "Δ 11-12"]
    assert list(table.index.get_level_values("target")) == ["en", SAME, "de", "fr", CROSS]
    assert table.loc[(CROSS, "of 2")].tolist() == [85.0, -17.0, 1.0]
    assert table.loc[(SAME, "of 1")].tolist() == [96.0, -1.0, -0.5]


def test_differences_are_taken_within_a_seed():
    uneven = [score("fr", 90.0, seed=1), score("fr", 50.0, seed=2), score("fr", 80.0, "1-2", seed=1)]
    table = Results.of(uneven).table()
    assert table.loc[(CROSS, "of 1")].tolist() == [70.0, -10.0]


def test_a_mean_is_over_all_of_its_languages_or_absent():
    """Over fewer languages it would be another mean (today's 18 against yesterday's 17)."""
    table = Results.of([*SCORES, score("zh", 20.0)]).table()
    assert table.loc[(CROSS, "of 3"), "reference"] == pytest.approx((90 + 80 + 20) / 3)
    assert table.loc[(CROSS, "of 3"), ["Δ 1-2", "Δ 11-12"]].isna().all()
    assert table.loc[(SAME, "of 1"), "Δ 1-2"] == -1.0


def test_a_language_that_nothing_says_is_shown_and_in_no_mean():
    table = Results.of([*SCORES[:3], score(None, 10.0, corpus="mine")]).table()
    assert table.loc[(CROSS, "of 2")].tolist() == [85.0]
    assert table.index[-1] == ("?", "mine")
    nothing = [Record(**{n: getattr(r, n) for n in COLUMNS if n != "source"}) for r in SCORES[:2]]
    assert list(Results.of(nothing).table().index.get_level_values("corpus")) == ["ud/en_pud:test", "ud/fr_pud:test"]


def test_without_a_reference_there_are_values():
    table = Results.of(SCORES[3:6]).table()
    assert list(table.columns) == ["1-2"]
    assert table.loc[(CROSS, "of 2")].tolist() == [68.0]


def test_conditions_go_from_small_to_large_and_from_the_bottom_up():
    table = Results.of([score("fr", 1.0, a) for a in ("1-12", "11-12", "0", "3-4", None, "1-2", "1-2,9")]).table()
    headings = ["reference", "Δ 0", "Δ 1-2", "Δ 3-4", "Δ 11-12", "Δ 1-2,9", "Δ 1-12"]
    assert list(table.columns) == headings


def test_a_table_mixes_nothing():
    other = Record(task="ner", encoder="e", source="en", target="fr", metric="f1", value=1.0, seed=1)
    with pytest.raises(RequestError, match="several tasks: pos, ner"):
        Results.of([*SCORES, other]).table()
    with pytest.raises(RequestError, match="no scores"):
        Results.of([]).table()
