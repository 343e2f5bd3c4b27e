"""Colours of the page's lines: seen on its paper, and told apart by everybody."""

import re
from importlib import resources
from itertools import combinations

import numpy as np
import pytest

EYES = {
    "any": np.eye(3),
    # Machado, Oliveira & Fernandes (2009), severity 1; in linear RGB.
    "without red": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "without green": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
APART = 12
"""Smallest distance of two colours (CIE 1976)."""

CONTRAST = 3
"""Smallest contrast of a line (WCAG 2.1, 1.4.11)."""


def themes():
    """Light and dark: name of a colour -> its linear RGB."""
    css = (resources.files("crosslens.report") / "web" / "page.css").read_text("utf-8")
    blocks = [block for block in re.findall(r":root \{(.*?)\}", css, re.DOTALL) if "#" in block]
    assert len(blocks) == 2
    return [dict(re.findall(r"--(paper|c\d): (#[0-9a-f]+)", block)) for block in blocks]


def linear(text):
    digits = text[1:] if len(text) == 7 else "".join(2 * digit for digit in text[1:])
    values = np.frombuffer(bytes.fromhex(digits), np.uint8) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def perceived(colour, eyes):
    xyz = XYZ @ np.clip(eyes @ linear(colour), 0, 1) / XYZ.sum(1)
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("theme", [0, 1])
@pytest.mark.parametrize("eyes", EYES)
def test_any_two_colours_of_lines_are_told_apart(theme, eyes):
    colours = {name: text for name, text in themes()[theme].items() if name != "paper"}
    assert len(colours) == 6
    for one, other in combinations(colours, 2):
        distance = np.linalg.norm(perceived(colours[one], EYES[eyes]) - perceived(colours[other], EYES[eyes]))
        assert distance >= APART, (one, other)


@pytest.mark.parametrize("theme", [0, 1])
def test_every_colour_stands_out_from_the_paper(theme):
    colours = themes()[theme]
    light = {name: float(XYZ[1] @ linear(text)) + 0.05 for name, text in colours.items()}
    paper = light.pop("paper")
    for name, value in light.items():
        assert max(value, paper) / min(value, paper) >= CONTRAST, name
