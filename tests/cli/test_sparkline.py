"""Sparklines, and the tables in a terminal that have them."""

import io
import re
from functools import partial

import pytest
from rich.console import Console

from crosslens.cli import _columns, _display
from crosslens.cli._sparkline import BARS, largest_loss, sparkline
from made_records import made_up

LOSSES = {"1-2": 20.0, "3-4": 5.0, "5-6": 0.0, "7-8": -3.0, "1-8": 60.0}


@pytest.fixture
def shown(monkeypatch, capsys):
    """A function that shows results in a terminal of some width: the lines without colours, and with them."""

    def show(results, width, encoding="utf-8"):
        stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="replace")
        terminal = partial(Console, file=stream, force_terminal=True, color_system="standard")
        monkeypatch.setattr(
            _columns, "Console", lambda **options: terminal(**{"width": width, **options}, legacy_windows=False)
        )
        _display.show_tables(results)
        stream.flush()
        text = stream.buffer.getvalue().decode(encoding)
        return re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines(), text

    return show


def test_bars_are_losses_and_the_largest_is_full():
    assert sparkline([-10.9, -0.8, 0.5, float("nan")], most=10.9) == "█▂▁·"
    assert sparkline([-8, -4, 0], most=8) == f"{BARS[-1]}{BARS[4]}{BARS[0]}"
    assert sparkline([-0.1, -0.2], most=0.2) == BARS[1] * 2  # tenths of a point are noise, whatever the largest is
    assert sparkline([8, 4, -4], most=8) == f"{BARS[0]}{BARS[0]}{BARS[4]}"  # gains, however large, are no losses
    assert largest_loss([-3.0, 4.0, float("nan")]) == 3.0
    assert largest_loss([]) == 0.0


def test_a_terminal_shows_the_profile_of_pairs_of_layers_and_not_of_all(shown):
    lines, _ = shown(made_up(LOSSES), 100)
    row = next(line for line in lines if line.strip().startswith("fr"))
    assert row.split()[2] == sparkline([-20, -5, 0, 3], most=20)
    assert next(line for line in lines if "target" in line).split()[2:4] == ["loss", "reference"]
    assert "loss: Δ 1-2 to 7-8; █ is a loss of 20.0 points" in lines


@pytest.mark.parametrize("width", [60, 80, 100])
def test_tables_fit_the_terminal_and_no_number_is_cut(shown, width):
    lines, _ = shown(made_up(LOSSES), width)
    assert max(map(len, lines)) <= width
    assert "…" not in "".join(lines)
    assert any("−60.00" in line for line in lines)


def test_differences_have_colours_by_sign_and_size(shown):
    _, text = shown(made_up(LOSSES), 120)
    (row,) = [line for line in text.splitlines() if re.search(r"\bfr ", line)]
    assert re.search(r"\x1b\[1;31m *−20\.00\x1b", row)
    assert re.search(r"\x1b\[34m *\+3\.00\x1b", row)


def test_two_conditions_have_no_profile_and_neither_has_a_terminal_without_bars(shown):
    assert not set(BARS) & set("".join(shown(made_up({"1-2": 20.0, "3-4": 5.0}), 100)[0]))
    assert not set(BARS) & set("".join(shown(made_up(LOSSES), 100, encoding="ascii")[0]))
