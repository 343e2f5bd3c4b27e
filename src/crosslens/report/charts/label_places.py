"""Place the names of points in a plot so that they cover neither points nor one another."""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

Point = tuple[float, float]
"""From the left and from the top, in pixels."""

Box = tuple[float, float, float, float]
"""Left, top, right and bottom, in pixels."""

SIDES = ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (-1, -1), (1, 1), (-1, 1))
"""Where a name may stand: to the right of its point if possible, then left, above, below and in the corners."""

LETTER = 0.56
"""Mean width of a letter, in font sizes; those of East Asian scripts are one font size wide."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a label stands.

    Attributes:
        x: of its end at the point, or of its centre if it stands above or below, in pixels from the left.
        y: of its centre, in pixels from the top.
        align: which part of the label stands at ``x``.
    """

    x: float
    y: float
    align: Literal["left", "center", "right"]


def place_labels(
    points: Sequence[Point], labels: Sequence[str], *, width: float, height: float, font: float, radius: float
) -> list[Place | None]:
    """Place labels beside their points, in the given order.

    Args:
        points: centre of each point.
        width: of the plot, in pixels; no label reaches beyond it.
        height: of the plot.
        font: font size.

    Returns:
        The place of each label; None where there is no room for it.
    """
    covered = [(x - radius, y - radius, x + radius, y + radius) for x, y in points]
    places: list[Place | None] = []
    for (x, y), label in zip(points, labels, strict=True):
        free = (
            (place, box)
            for place, box in _sides(x, y, wide=label_width(label, font=font), high=font, away=radius + 1)
            if box[0] >= 0 and box[1] >= 0 and box[2] <= width and box[3] <= height
            if not any(_overlap(box, other) for other in covered)
        )
        place, box = next(free, (None, None))
        places.append(place)
        covered += [box] if box else []
    return places


def _sides(x: float, y: float, *, wide: float, high: float, away: float) -> Iterator[tuple[Place, Box]]:
    """Yield the places around a point and the boxes that the label would cover."""
    for across, down in SIDES:
        left = x + across * away - (1 - across) / 2 * wide
        middle = y + down * (away + high / 2)
        align: Literal["left", "center", "right"] = "left" if across > 0 else "right" if across < 0 else "center"
        yield Place(x + across * away, middle, align), (left, middle - high / 2, left + wide, middle + high / 2)


def label_width(label: str, *, font: float) -> float:
    """Estimate the width of a label in pixels."""
    letters = [letter for letter in label if not unicodedata.combining(letter)]
    return font * sum(1.0 if unicodedata.east_asian_width(letter) in "WF" else LETTER for letter in letters)


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
