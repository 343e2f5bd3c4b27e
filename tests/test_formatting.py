import pytest

from crosslens.formatting import duration, plain, short_name, signed, with_commas, wrapped


@pytest.mark.parametrize(
    ("value", "as_plain", "as_signed"),
    [
        (1.25, "1.2", "+1.2"),
        (-3.0, "−3.0", "−3.0"),
        (-0.04, "0.0", "+0.0"),
        (float("nan"), "–", "–"),
        (-1e304, "−1e+304", "−1e+304"),
        (2345678.9, "2.3e+06", "+2.3e+06"),
    ],
)
def test_numbers(value, as_plain, as_signed):
    assert plain(value) == as_plain
    assert signed(value) == as_signed


@pytest.mark.parametrize(
    ("value", "text"), [(1.25, "1.2"), (999_999.4, "999,999.4"), (1.014e304, "1e+304"), (float("nan"), "–")]
)
def test_numbers_with_commas(value, text):
    """The perplexity of a diverged run, up to exp(700), would be 305 digits."""
    assert with_commas(value, decimals=1) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (59.6, "1 min 0 s"), (250, "4 min 10 s"), (7384, "2 h 3 min")]
)
def test_durations(seconds, text):
    assert duration(seconds) == text


def test_names_of_the_hub_and_short_names_stay():
    for name in ("bert-base-multilingual-cased", "google/mt5-small", "lab/mono-sov", "e5 (0a1b2c3d)", "run 7b39fe0b"):
        assert short_name(name) == name


def test_a_short_name_is_its_own_short_name():
    paths = (
        "/home/ann/.cache/huggingface/hub/models--a--b/snapshots/f00",
        "runs/x/model",
        "./my",
        "C:\\runs\\x",
        "model",
    )
    for path in paths:
        assert short_name(short_name(path)) == short_name(path)
    assert not any("ann" in short_name(path) for path in paths)


@pytest.mark.parametrize(
    ("text", "room", "lines"),
    [
        ("POS tagging, source en+wo", 12, ["POS tagging,", "source en+wo"]),
        ("ud/en_ewt[:500]+wo=my.conllu+en", 16, ["ud/en_ewt[:500]+", "wo=my.conllu+en"]),
        ("POS tagging, source en+wo+ar, seed 1", 12, ["POS tagging,", "source", "en+wo+ar,", "seed 1"]),
        ("change of +10 points", 11, ["change of", "+10 points"]),
        ("indivisible", 4, ["indivisible"]),
        ("", 4, [""]),
    ],
)
def test_lines_are_broken_after_blanks_and_between_joined_corpora(text, room, lines):
    assert wrapped(text, lambda line: len(line) <= room) == lines
