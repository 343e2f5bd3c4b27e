"""The cells of a table."""

import pytest

from crosslens.report.table import Cell


def test_a_difference_is_coloured_by_the_papers_thresholds():
    levels = [Cell(value, "difference").level for value in (0.0, 0.1, -0.01, -1.99, -2.0, -4.99, -5.0, None)]
    assert levels == ["above", "above", "below", "below", "two", "two", "five", None]
    assert Cell(-9.0, "score").level is None


@pytest.mark.parametrize(
    ("value", "level"), [(-0.004, "above"), (-0.006, "below"), (-1.994, "below"), (-1.996, "two"), (-4.996, "five")]
)
def test_a_difference_has_the_colour_of_the_number_that_is_printed(value, level):
    """A loss that is printed as 0.00 is none, and one that is printed as 5.00 is one of five points."""
    assert Cell(value, "difference").level == level
