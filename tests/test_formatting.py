import pytest

from crosslens.formatting import duration, plain, signed


@pytest.mark.parametrize(
    ("value", "as_plain", "as_signed"),
    [(1.25, "1.2", "+1.2"), (-3.0, "−3.0", "−3.0"), (-0.04, "0.0", "+0.0"), (float("nan"), "–", "–")],
)
def test_numbers(value, as_plain, as_signed):
    assert plain(value) == as_plain
    assert signed(value) == as_signed


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (59.6, "1 min 0 s"), (250, "4 min 10 s"), (7384, "2 h 3 min")]
)
def test_durations(seconds, text):
    assert duration(seconds) == text
