"""Format numbers, durations and names as text."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

MINUS = "−"

FOLDERS = {
    "best",
    "checkpoint",
    "checkpoints",
    "encoder",
    "encoders",
    "final",
    "last",
    "model",
    "models",
    "out",
    "output",
    "runs",
}
"""Names of folders that say nothing about what is in them."""


LARGE = 1e6
"""From here on numbers are written with an exponent: the perplexity of a diverged run has up to 305 digits."""


def right_to_left(text: str) -> bool:
    """Whether a text has a letter of a right-to-left script."""
    return any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in text)


def plain(value: float, *, decimals: int = 1) -> str:
    """Format a number with a typographic minus sign, without negative zero; NaN is a dash.

    >>> plain(-1.25, decimals=2), plain(-0.01), plain(float("nan"))
    ('−1.25', '0.0', '–')
    """
    return _written(value, "", decimals)


def signed(value: float, *, decimals: int = 1) -> str:
    """Format a difference, always with its sign.

    >>> signed(1.26), signed(-2)
    ('+1.3', '−2.0')
    """
    return _written(value, "+", decimals)


def _written(value: float, sign: str, decimals: int) -> str:
    if value != value:
        return "–"
    if abs(value) >= LARGE:
        return f"{value:{sign}.2g}".replace("-", MINUS)
    value = round(value, decimals) or 0.0  # no negative zero
    return f"{value:{sign}.{decimals}f}".replace("-", MINUS)


def with_commas(value: float, *, decimals: int) -> str:
    """Format a positive number, such as a perplexity, with a comma after each thousand.

    >>> with_commas(12345.678, decimals=1), with_commas(1.014e304, decimals=1)
    ('12,345.7', '1e+304')
    """
    return f"{value:,.{decimals}f}" if value < LARGE else plain(value)


def one_line(text: str) -> str:
    """Replace line breaks, tabs and other control characters, which break the rows of tables, by a space.

    >>> one_line("line\\r\\nbreak")
    'line break'
    """
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+", " ", text)


HEAD = 16
"""Letters of a line of a broken head."""


def broken(head: str) -> list[str]:
    """Break the head of a column into lines; a difference sign stays with its first word.

    >>> broken("Δ frozen 0-3"), broken("reference, tags=gold"), broken("ud/en_ewt[:500]+ud/wo_wtb[:50]")
    (['Δ frozen 0-3'], ['reference,', 'tags=gold'], ['ud/en_ewt[:500]+', 'ud/wo_wtb[:50]'])
    """
    lines = wrapped(head.replace("Δ ", "Δ\u00a0"), lambda line: len(line) <= HEAD)
    return [line.replace("\u00a0", " ") for line in lines]


def wrapped(text: str, fits: Callable[[str], bool]) -> list[str]:
    """Break text that does not fit into lines, after blanks and after the ``+`` between two corpora."""
    return _in_lines(re.split(r"(?<= )(?=\S)|(?<=[\w\]]\+)(?=[^\s,+]*[/=.\[])", text), fits)


def wrapped_name(name: str, fits: Callable[[str], bool]) -> list[str]:
    """Break a name that does not fit into lines, after its punctuation.

    >>> wrapped_name("pretrain:mixed-encoder.yaml", lambda line: len(line) <= 15)
    ['pretrain:mixed-', 'encoder.yaml']
    """
    return _in_lines(re.split(r"(?<=[-:/_.=,])(?=\w)", name), fits)


def _in_lines(parts: Sequence[str], fits: Callable[[str], bool]) -> list[str]:
    first, *rest = parts
    lines = [first]
    for piece in rest:
        if fits(f"{lines[-1]}{piece}".rstrip()):
            lines[-1] += piece
        else:
            lines.append(piece)
    return [line.rstrip() for line in lines]


def counted(number: int, singular: str, plural: str) -> str:
    """Format a number with its noun.

    >>> counted(1, "seed", "seeds"), counted(3000, "seed", "seeds")
    ('1 seed', '3,000 seeds')
    """
    return f"{number:,} {singular if number == 1 else plural}"


def duration(seconds: float) -> str:
    """Format seconds as ``4 min 10 s``; from one hour on, without seconds.

    >>> duration(250), duration(7380)
    ('4 min 10 s', '2 h 3 min')
    """
    minutes, remainder = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {remainder} s" if minutes else f"{remainder} s"


def short_name(name: str) -> str:
    """Shorten a path to the part that identifies the encoder; keep names of the hub and of collections.

    >>> short_name("runs/pos-1-2-seed1/model"), short_name("/data/encoders/e5-small"), short_name("google/mt5-small")
    ('pos-1-2-seed1', 'e5-small', 'google/mt5-small')
    >>> short_name("study/runs/7b39fe0b48780766/encoder")  # a run of a store
    'run 7b39fe0b'
    >>> short_name("/cache/hub/models--google--mt5-small/snapshots/0a1b2c3d4e5f")
    'google/mt5-small'
    """
    parts = PurePosixPath(name.replace("\\", "/")).parts
    cached = next((part for part in parts if part.startswith("models--")), None)
    if cached:
        return "/".join(cached.split("--")[1:])
    run = re.search(r"/runs/([0-9a-f]{8})[0-9a-f]{8}(/|$)", f"/{'/'.join(parts)}")
    if run:
        return f"run {run[1]}"
    is_path = len(parts) > 2 or name.startswith((".", "/", "~")) or not FOLDERS.isdisjoint(parts)
    telling = [part for part in parts if part not in FOLDERS and part.strip("./~\\")]
    return telling[-1] if is_path and telling else name
