import pytest

from crosslens.corpora.dictionaries import load_dictionary
from crosslens.data.dictionary import Dictionary, of_words, read
from crosslens.errors import DataError


def write(tmp_path, text, name="d.txt"):
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text(text, "utf-8")
    return tmp_path / name


def test_muse_and_panlex(tmp_path):
    muse = read(write(tmp_path, "the le\nthe la\n\ncat\tchat\n"))
    assert muse.pairs == (("the", "le", 1.0), ("the", "la", 1.0), ("cat", "chat", 1.0))
    assert muse.translations["the"] == [("le", 1.0), ("la", 1.0)]
    assert muse.reversed().pairs[0] == ("le", "the", 1.0)
    panlex = read(write(tmp_path, "ice cream\tglace\t7\nthe\tle\t0.5\n"))
    assert panlex.pairs == (("ice cream", "glace", 7.0), ("the", "le", 0.5))
    assert panlex.reversed().pairs == (("glace", "ice cream", 7.0), ("le", "the", 0.5))


def test_words_are_composed_whoever_wrote_them(tmp_path):
    """As are the words of corpora and of vectors, which they are looked up in."""
    written = read(write(tmp_path, "cafe\u0301\tcafe\u0301\n"))
    assert written.pairs == Dictionary((("cafe\u0301", "cafe\u0301", 1.0),), "mine").pairs
    assert written.translations == {"caf\u00e9": [("caf\u00e9", 1.0)]}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("the\n", "d.txt:1: .*this line has 1"),
        ("a b\na b c\n", "d.txt:2: .*this line has 3"),
        ("a\tb\tx\n", "not a positive number"),
        ("a\tb\t-1\n", "not a positive number"),
        ("a\t\tb\n", "two columns"),
        ("\n", "contains no word pairs"),
        ("dog, chien\ncat, chat\n", "d.txt: every first word ends in a comma or semicolon, such as 'dog,'"),
    ],
)
def test_what_is_no_dictionary(tmp_path, text, reason):
    with pytest.raises(DataError, match=reason):
        read(write(tmp_path, text))


def test_dictionaries_by_name(tmp_path, monkeypatch):
    monkeypatch.delenv("CROSSLENS_DATA", raising=False)
    write(tmp_path, "the le\n", "muse/en-fr.0-5000.txt")
    write(tmp_path, "cat chat\n", "muse/en-fr.5000-6500.txt")
    assert load_dictionary("muse/en-fr:train", data=tmp_path).pairs == (("the", "le", 1.0),)
    assert len(load_dictionary("muse/en-fr", data=tmp_path)) == 2
    write(tmp_path, "all tout\n", "muse/en-fr.txt")
    assert len(load_dictionary("muse/en-fr", data=tmp_path)) == 1
    for name, reason in (
        ("muse/en-de:test", "dictionary muse/en-de:test not found in"),
        ("x.txt", "file 'x.txt' not found"),
    ):
        with pytest.raises(DataError, match=reason):
            load_dictionary(name, data=tmp_path)


def test_the_laboratorys_splits_are_all_of_it_and_share_nothing():
    whole, train, test = (set(load_dictionary(f"lab/src-adj{split}").pairs) for split in ("", ":train", ":test"))
    assert train | test == whole
    assert len(test) < len(train)
    assert len(train & test) <= 3  # homonyms


def test_words_are_found_however_their_letters_are_composed(tmp_path):
    assert read(write(tmp_path, "cafe\u0301\tcafe\u0300\n")).pairs == (("caf\u00e9", "caf\u00e8", 1.0),)


def test_a_dictionary_of_a_hundred_thousand_pairs_is_printed_in_one_line():
    assert repr(of_words([("cat", "chat")] * 100_000, name="toy")) == "Dictionary toy: 100,000 word pairs"


def test_single_words_may_end_in_a_comma(tmp_path):
    """As in MUSE, whose German-English dictionary has ``jedoch however,``."""
    pairs = read(write(tmp_path, "however, jedoch\ncat Katze\n")).pairs
    assert pairs == (("however,", "jedoch", 1.0), ("cat", "Katze", 1.0))
