"""The page looks as it did: screenshots are compared with kept ones, so that a broken layout fails.

Kept pictures are grey and small: fonts of other machines change letters, and not the layout. After an intended change,
look at the page, then delete the pictures in ``screenshots`` and run this test twice: it writes the missing ones.
"""

from io import BytesIO
from pathlib import Path

import pytest

KEPT = Path(__file__).with_name("screenshots")
VIEWS = [(390, "light"), (1280, "light"), (1280, "dark"), (1280, "print")]
SMALLER = 10
"""Pixels of the page in a pixel of a kept picture."""

TALLER = 0.06
"""Part of the height by which pages may differ."""

DIFFERENCE, DIFFERENT = 40, 0.06
"""Grey levels (of 256) from which on a pixel differs, and the part of pixels that may."""

BROKEN = (
    "main { max-width: 300px }",
    "svg.chart { width: 40% }",
    "table { display: none }",
    "section { padding: 4em }",
)


@pytest.fixture
def pillow():
    return pytest.importorskip(
        "PIL.Image", reason="Pillow is not installed; `make browser` runs this (CONTRIBUTING.md)"
    )


@pytest.fixture
def taken(opened, pillow):
    """A small grey picture of the page."""

    def taken(width, look):
        opened.set_viewport_size({"width": width, "height": 900})
        opened.emulate_media(
            media="print" if look == "print" else "screen", color_scheme="dark" if look == "dark" else "light"
        )
        picture = pillow.open(BytesIO(opened.screenshot(full_page=True))).convert("L")
        return picture.resize((picture.width // SMALLER, picture.height // SMALLER), pillow.Resampling.BOX)

    return taken


@pytest.fixture
def kept(pillow):
    """Reads a kept picture."""
    return lambda name: pillow.open(BytesIO((KEPT / name).read_bytes()))


def differing(one, other):
    """The part of pixels that differ; 1 where the heights differ too much."""
    if one.width != other.width or abs(one.height - other.height) > TALLER * other.height:
        return 1.0
    height = min(one.height, other.height)
    pixels = [picture.crop((0, 0, picture.width, height)).tobytes() for picture in (one, other)]
    return sum(abs(a - b) > DIFFERENCE for a, b in zip(*pixels, strict=True)) / len(pixels[0])


@pytest.mark.browser
@pytest.mark.parametrize(("width", "look"), VIEWS)
def test_the_page_looks_as_it_did(taken, kept, width, look):
    file = KEPT / f"{look}-{width}.png"
    picture = taken(width, look)
    if not file.is_file():
        picture.save(file, optimize=True)
        pytest.fail(f"{file.name} was missing and is written; look at it")
    assert differing(picture, kept(file.name)) <= DIFFERENT


@pytest.mark.browser
@pytest.mark.parametrize("style", BROKEN)
def test_a_broken_layout_looks_different(taken, opened, kept, style):
    opened.evaluate(
        "(style) => { const sheet = new CSSStyleSheet(); sheet.replaceSync(style);"
        " document.adoptedStyleSheets = [sheet]; }",
        style,
    )
    assert differing(taken(1280, "light"), kept("light-1280.png")) > DIFFERENT
