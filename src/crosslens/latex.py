"""Escape text for LaTeX, also words that pdfLaTeX has no letters for."""

import re
import unicodedata

from crosslens.formatting import MINUS, one_line, right_to_left

_LETTERS = "[^\x00-\u017f–—‘’‚“”„†‡•…‰‹›€™]"
"""What pdfLaTeX has no letters for."""

_OTHER = re.compile(f"{_LETTERS}+(?: {_LETTERS}+)*")

_DIRECTIONS = "\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
"""Characters without a form of their own, which set the direction of others, or a place to break a line."""

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    **dict.fromkeys(_DIRECTIONS, ""),
    MINUS: "$-$",
    "Δ": r"$\Delta$",
    "–": "--",
    "…": r"\dots{}",
    "→": r"$\rightarrow$",
    "×": r"$\times$",
    "±": r"$\pm$",
    "†": r"$\dagger$",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}
"""What pdfLaTeX does not know, reads as a command or prints as another sign -> what prints it."""

_OTHER_SCRIPTS = (
    r"\DeclareRobustCommand{\otherscript}[2]{\ifdefined\directlua #1\else\ifdefined\XeTeXversion #1\else #2\fi\fi}",
    r"\DeclareRobustCommand{\righttoleft}[2]{\ifdefined\directlua\bgroup\textdir TRT #1\egroup\else"
    r"\ifdefined\XeTeXversion\TeXXeTstate=1 \beginR #1\endR\else #2\fi\fi}",
)
"""Words that pdfLaTeX has no letters for: as they are in LuaLaTeX and XeLaTeX with a font for them; else named."""


def escape(text: str) -> str:
    r"""Escape text for LaTeX; words in other scripts use the commands of `needed_commands`.

    >>> print(escape("50 % of a_b"), escape("Δ 1–2"), escape("中"))
    50 \% of a\_b $\Delta$ 1--2 \otherscript{中}{[Cjk 4E2D]}
    """
    special = "".join(_SPECIAL.get(character, character) for character in one_line(text))
    return _OTHER.sub(_of_another_script, special)


def needed_commands(latex: str) -> tuple[str, ...]:
    """Lines that declare the commands of `escape` which LaTeX uses; none where it uses none."""
    return _OTHER_SCRIPTS if re.search(r"\\(otherscript|righttoleft)\{", latex) else ()


def _of_another_script(match: re.Match) -> str:
    words = match[0]
    command = "righttoleft" if right_to_left(words[0]) else "otherscript"
    script = unicodedata.name(words[0], "unnamed").split(" ")[0].capitalize()
    numbers = " ".join(f"{ord(letter):04X}" for letter in words if letter != " ")
    return rf"\{command}{{{words}}}{{[{script} {numbers}]}}"
