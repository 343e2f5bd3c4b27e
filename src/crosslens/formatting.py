"""Format numbers and durations as text."""

MINUS = "−"


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
    value = round(value, decimals) or 0.0  # no negative zero
    return f"{value:{sign}.{decimals}f}".replace("-", MINUS)


def duration(seconds: float) -> str:
    """Format seconds as ``4 min 10 s``; from one hour on, without seconds.

    >>> duration(250), duration(7380)
    ('4 min 10 s', '2 h 3 min')
    """
    minutes, remainder = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {remainder} s" if minutes else f"{remainder} s"
