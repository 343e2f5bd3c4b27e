"""How numbers and times are written for people."""

MINUS = "−"


def plain(value: float, *, decimals: int = 1) -> str:
    """A number with a real minus and none before nothing; a dash where there is none."""
    return _written(value, "", decimals)


def signed(value: float, *, decimals: int = 1) -> str:
    """A difference: with its sign, be it plus."""
    return _written(value, "+", decimals)


def _written(value: float, sign: str, decimals: int) -> str:
    if value != value:
        return "–"
    value = round(value, decimals) or 0.0  # no minus before nothing
    return f"{value:{sign}.{decimals}f}".replace("-", MINUS)


def duration(seconds: float) -> str:
    """``4 min 10 s``; hours without seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"
