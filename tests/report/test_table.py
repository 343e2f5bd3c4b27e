"""The cells of a table."""

from crosslens.report.table import Cell


def test_a_difference_is_coloured_by_the_papers_thresholds():
    levels = [Cell(value, "difference").level for value in (0.0, 0.1, -0.01, -1.99, -2.0, -4.99, -5.0, None)]
    assert levels == ["above", "above", "below", "below", "two", "two", "five", None]
    assert Cell(-9.0, "score").level is None
