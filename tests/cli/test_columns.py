"""Tables in a terminal: as wide as it is, whatever the names."""

from io import StringIO

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from crosslens.cli._columns import BETWEEN, Line, _fitting, hanging, print_lines, shortened

PATH = "ar /home/somebody/treebanks/a-folder-with-a-long-name/ar_padt-ud-test.conllu"
NAMES = [
    "en",
    PATH,
    "ja 日本語の長いコーパス名前がここにあります/テスト.conllu",
    "ar مجموعة نصوص عربية طويلة جدا جدا جدا.conllu",
]
HEADS = [f"Δ {layer}-{layer + 1}" for layer in range(1, 12, 2)]


def printed(names, width):
    stream = StringIO()
    lines = [Line("pos, accuracy", style="italic")]
    lines += [
        Line(name, [Text(f"−{place}.{column}0") for column in range(len(HEADS))]) for place, name in enumerate(names)
    ]
    print_lines(Console(file=stream, width=width), lines, corner="target", heads=HEADS, title="scores")
    return stream.getvalue()


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("name", NAMES)
def test_every_number_is_printed_within_the_width(name, width):
    text = printed(["de", name], width)
    assert max(map(cell_len, text.splitlines())) <= width
    words = text.split()
    assert [words.count(f"−{place}.{column}0") for place in range(2) for column in range(len(HEADS))] == [1] * 12


def test_columns_continue_below_with_the_names_of_the_rows():
    text = printed(["de", "fr"], 40)
    assert text.startswith("scores\n")
    assert text.count("(further columns)") == text.count(" de ") - 1 == text.count("pos, accuracy") - 1 > 0
    assert "(further columns)" not in printed(["de", "fr"], 120)


def test_the_middle_of_a_long_name_is_left_out():
    assert shortened(PATH, len(PATH)) == PATH
    short = shortened(PATH, 36)
    assert (len(short), short[:3], short.endswith("ar_padt-ud-test.conllu")) == (36, "ar ", True)
    for name in NAMES[1:]:
        for width in range(4, 30):
            assert 1 < cell_len(shortened(name, width)) <= width
    assert shortened("e\u0301" * 9, 8) == "e\u0301" * 2 + "…" + "e\u0301" * 5


def test_an_explanation_is_broken_below_itself_in_a_terminal(monkeypatch):
    line = "freezing          Does freezing the lowest layers improve zero-shot transfer?"
    assert hanging(line, indent=18) == line  # tests have no terminal
    for name, value in (("FORCE_COLOR", "1"), ("COLUMNS", "50"), ("TERM", "xterm")):
        monkeypatch.setenv(name, value)
    assert hanging(line, indent=18).splitlines() == [
        "freezing          Does freezing the lowest layers",
        "                  improve zero-shot transfer?",
    ]


class Terminal(StringIO):
    """Stands for a terminal."""

    def isatty(self):
        return True


def test_only_a_terminal_that_shows_the_line_breaks_it(monkeypatch):
    """One that shows the errors beside a pipe does not."""
    for name, value in (("COLUMNS", "20"), ("TERM", "xterm")):
        monkeypatch.setenv(name, value)
    for out, err, lines in ((Terminal, StringIO, 2), (StringIO, Terminal, 1)):
        monkeypatch.setattr("sys.stdout", out())
        monkeypatch.setattr("sys.stderr", err())
        assert len(hanging("freezing the lowest layers", indent=2).splitlines()) == lines


def test_a_long_head_is_broken_and_prints_plain_spaces():
    stream = StringIO()
    heads = ["Δ 1-2", "Δ patch=sentences 8.output"]
    lines = [Line("de", [Text("−1.00"), Text("+2.00")])]
    print_lines(Console(file=stream, width=80), lines, corner="target", heads=heads)
    assert "Δ patch=sentences 8.output\n" in stream.getvalue().replace(" \n", "\n")
    stream.seek(0)
    stream.truncate()
    print_lines(Console(file=stream, width=40), lines, corner="target", heads=heads)
    first, second = (line.strip() for line in stream.getvalue().splitlines()[1:3])
    assert first == "Δ patch=sentences"
    assert second.split("  ")[-1].strip() == "8.output"
    assert "Δ 1-2" in second


def test_a_rule_follows_a_line_that_ends_a_part():
    def rules(*ends):
        stream = StringIO()
        lines = [Line(str(place), [Text("1")], ends=end) for place, end in enumerate(ends)]
        print_lines(Console(file=stream, width=40), lines, corner="target", heads=["all"])
        shown = stream.getvalue().splitlines()
        return [place for place, line in enumerate(shown[3:]) if not any(map(str.isalnum, line))]

    assert rules(False, False, False) != rules(True, False, False) != rules(False, True, False)


def test_as_many_columns_stand_beside_one_another_as_fit():
    assert list(_fitting(dict.fromkeys(range(5), 7), 2 * (7 + BETWEEN))) == [[0, 1], [2, 3], [4]]
    assert list(_fitting(dict.fromkeys(range(3), 7), 2 * (7 + BETWEEN) - 1)) == [[0], [1], [2]]


def test_heads_stay_whole_where_the_table_is_just_as_wide_as_the_terminal():
    def shown(width):
        stream = StringIO()
        lines = [Line("en", [Text("1"), Text("2")])]
        print_lines(
            Console(file=stream, width=width),
            lines,
            corner="target",
            heads=["reference, tags=gold", "reference, tags=none"],
        )
        return stream.getvalue()

    exact = len("target") + BETWEEN + 2 * (len("reference, tags=gold") + BETWEEN)
    assert "reference, tags=gold" in shown(exact)
    assert "reference, tags=gold" not in shown(exact - 1)
