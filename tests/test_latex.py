"""Names in LaTeX: nothing special, and no letter that an engine lacks."""

import pytest

from crosslens.latex import escape

HOSTILE = r"a_b%c&d#e{f}g~h^i\j$k<l>m|n"


def test_escaped_text_has_nothing_special_left():
    for character in "&%$#_":
        assert character not in escape(HOSTILE).replace(f"\\{character}", "")
    assert escape("Δ −1") == r"$\Delta$ $-$1"


@pytest.mark.parametrize(
    ("name", "escaped"),
    [
        ("en → fr × 2", r"en $\rightarrow$ fr $\times$ 2"),
        ("≤ 5", r"\otherscript{≤}{[Less-than 2264]} 5"),
        ("tiếng", r"ti\otherscript{ế}{[Latin 1EBF]}ng"),
        ("Ɛʋɛgbe", r"\otherscript{Ɛʋɛ}{[Latin 0190 028B 025B]}gbe"),
        ("（中）", r"\otherscript{（中）}{[Fullwidth FF08 4E2D FF09]}"),
        ("a\u200f\u2068b\u2069", "ab"),
    ],
)
def test_what_pdflatex_has_no_letters_for_is_named(name, escaped):
    """It stops at a letter that it does not know."""
    assert escape(name) == escaped
