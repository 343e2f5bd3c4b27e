"""Losses by layer as small bars, for tables in the terminal."""

import math
from collections.abc import Sequence

BARS = "▁▂▃▄▅▆▇█"
MISSING = "·"
LEAST = 1.0
"""Loss in points that fills a bar at least, so that noise does not look like an effect."""


def sparkline(differences: Sequence[float], *, most: float) -> str:
    """Draw one bar for each difference to the reference: the larger the loss, the higher.

    >>> sparkline([-10.9, -0.8, 0.5, float("nan")], most=10.9)
    '█▂▁·'

    Args:
        differences: in points; a gain is drawn as no loss.
        most: loss of the highest bar.
    """
    most = max(most, LEAST)
    steps = len(BARS) - 1
    return "".join(
        MISSING if math.isnan(value) else BARS[min(steps, round(steps * max(0.0, -value) / most))]
        for value in differences
    )


def largest_loss(differences: Sequence[float]) -> float:
    """The largest loss among differences, 0 without one."""
    return max((-value for value in differences if not math.isnan(value)), default=0.0)
