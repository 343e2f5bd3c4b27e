"""Names of points: beside their points, over nothing else, inside the plot."""

import numpy as np
import pytest

from crosslens.report.charts.label_places import Place, label_width, place_labels

SIZE = {"width": 300.0, "height": 200.0, "font": 10.0, "radius": 4.0}


def box(place, label):
    wide = label_width(label, font=SIZE["font"])
    left = place.x - {"left": 0.0, "center": 0.5, "right": 1.0}[place.align] * wide
    return left, place.y - 5, left + wide, place.y + 5


def apart(one, other):
    return one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def test_a_name_stands_to_the_right_of_its_point_or_else_to_the_left():
    assert place_labels([(50.0, 50.0)], ["fr"], **SIZE) == [Place(55.0, 50.0, "left")]
    assert place_labels([(298.0, 50.0)], ["fr"], **SIZE) == [Place(293.0, 50.0, "right")]


def test_without_room_there_is_no_name():
    assert place_labels([(150.0, 100.0)], ["a language " * 10], **SIZE) == [None]
    same = place_labels([(150.0, 100.0)] * 5, ["fr"] * 5, **SIZE)
    assert [place is None for place in same] == [False] * 4 + [True]


@pytest.mark.parametrize("seed", range(5))
def test_names_cover_neither_points_nor_one_another(seed):
    generator = np.random.default_rng(seed)
    points = [(float(x), float(y)) for x, y in generator.uniform((0, 0), (300, 200), (40, 2))]
    labels = [str(generator.choice(["fr", "Old Church Slavonic", "中文（繁體）", "العربية"])) for _ in points]
    places = place_labels(points, labels, **SIZE)
    boxes = [box(place, label) for place, label in zip(places, labels, strict=True) if place]
    assert len(boxes) > 10
    assert all(apart(boxes[i], boxes[j]) for i in range(len(boxes)) for j in range(i))
    marks = [(x - 4, y - 4, x + 4, y + 4) for x, y in points]
    assert all(apart(one, mark) for one in boxes for mark in marks)
    assert all(left >= 0 and top >= 0 and right <= 300 and bottom <= 200 for left, top, right, bottom in boxes)


def test_east_asian_letters_are_wide_and_accents_have_no_width():
    assert label_width("中文", font=10.0) == 20.0
    assert label_width("e\u0301", font=10.0) == label_width("e", font=10.0) < 10.0
