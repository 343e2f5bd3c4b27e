"""Other scripts: words stay words, tables mean what they say, and what is wrong with one is said with its line."""

import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crosslens.corpora.catalogue import load_corpus, load_text, match_corpora, name_split
from crosslens.data.corpus import Corpus
from crosslens.data.formats import conllu
from crosslens.data.scripts import count_scripts, main_script, script_name
from crosslens.data.sentence import Sentence, Text
from crosslens.data.transliteration import find_scheme, read_table, shipped_tables, transliterate
from crosslens.errors import DataError, RequestError


def sentence(*words):
    return Corpus((Sentence(tuple(words), upos=("X",) * len(words)),), "mine", "ug", "test")


def table(tmp_path, text):
    path = tmp_path / "table.tsv"
    path.write_text(text, "utf-8")
    return path


def test_what_is_annotated_stays_on_its_word():
    corpus = load_corpus("lab/sov")[:50]
    other = transliterate(corpus, "latin-cyrillic")
    assert (other.name, other.split, other.language) == ("lab/sov:test@latin-cyrillic", "test", "sov-Cyrl")
    assert main_script(item.text for item in other) == "Cyrl"
    for before, after in zip(corpus.sentences, other.sentences, strict=True):
        assert len(before) == len(after)
        for layer in ("upos", "heads", "relations", "entities", "id"):
            assert getattr(before, layer) == getattr(after, layer)


def test_the_other_way_round_gives_the_same_text():
    there = load_corpus("lab/sov@latin-cyrillic")
    back = transliterate(there, "cyrillic-latin")
    assert back.digest == load_corpus("lab/sov").digest
    assert load_text("lab/sov[:20]@latin-cyrillic@cyrillic-latin").digest == load_text("lab/sov[:20]").digest


def test_raw_text_and_annotated_data_go_the_same_way():
    corpus = load_corpus("lab/sov")[:50]
    raw = Corpus(tuple(Text((" ".join(s.words),)) for s in corpus.sentences), "raw", "sov")
    words = [" ".join(s.words) for s in transliterate(corpus, "latin-cyrillic").sentences]
    assert [item.text for item in transliterate(raw, "latin-cyrillic")] == words


def test_written_files_keep_the_old_form(tmp_path):
    corpus = load_corpus("lab/sov@latin-cyrillic[:2]")
    conllu.write(corpus, tmp_path / "out.conllu")
    again = conllu.read(tmp_path / "out.conllu")
    assert [s.words for s in again.sentences] == [s.words for s in corpus.sentences]
    first = load_corpus("lab/sov")[0].words[0]
    row = next(line for line in (tmp_path / "out.conllu").read_text("utf-8").splitlines() if line.startswith("1\t"))
    assert row.split("\t")[9].endswith(f"Original={first}")
    assert again[0].text == " ".join(corpus[0].text.split())
    assert main_script([again[0].text]) == "Cyrl"


def test_names_of_other_scripts():
    assert load_corpus("lab/sov:dev@latin-cyrillic[:3]").name == "lab/sov:dev@latin-cyrillic[:3]"
    assert len(load_corpus("lab/sov[:3]@latin-cyrillic")) == 3
    assert match_corpora("lab/s*:dev[:9]@uroman") == ["lab/src:dev[:9]@uroman", "lab/sov:dev[:9]@uroman"]
    assert name_split("lab/sov:train[:9]@uroman", "dev") == "lab/sov:dev@uroman"


def test_shuffled_parts_are_all_of_it():
    whole = load_corpus("lab/sov")
    some, others = load_corpus("lab/sov[7~:30]"), load_corpus("lab/sov[7~30:]")
    assert (len(some), some.name) == (30, "lab/sov:test[7~:30]")
    assert {s.id for s in some.sentences} | {s.id for s in others.sentences} == {s.id for s in whole.sentences}
    assert len(some) + len(others) == len(whole)
    assert some.digest == load_corpus("lab/sov[7~:30]").digest != load_corpus("lab/sov[8~:30]").digest
    assert some.digest != load_corpus("lab/sov[:30]").digest


def test_a_file_whose_name_has_an_at_is_a_file(tmp_path):
    path = tmp_path / "me@home.txt"
    path.write_text("a b\n", "utf-8")
    assert load_corpus(f"wo={path}")[0].words == ("a", "b")
    assert load_text(f"wo={path}").language == "wo"


def test_the_longest_letters_win_and_others_stay(tmp_path):
    path = table(tmp_path, "# mine\nا\ta\nاا\tá\nب\tb\n\n")
    assert transliterate(sentence("بااا", "x1"), str(path))[0].words == ("báa", "x1")


def test_no_word_is_lost_or_cut():
    empty = transliterate(sentence("ئ", "ئا", "ـ"), "uyghur-latin")[0].words
    assert empty == ("ئ", "a", "ـ")
    spaced = Corpus((Sentence(("ئا با",)),), "mine", "ug")
    assert transliterate(spaced, "uyghur-latin")[0].words == ("a ba",)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(min_size=1, max_size=8).filter(lambda word: word.strip()), min_size=1, max_size=6))
def test_any_words_stay_as_many(words):
    """Whatever is in them: none empty, none with white space that it had not."""
    corpus = Corpus((Sentence((*words, "яблоко")),), "any", "ru")
    after = transliterate(corpus, "cyrillic-latin")[0].words
    assert len(after) == len(words) + 1
    for old, new in zip((*words, "яблоко"), after, strict=True):
        assert new
        assert len(new.split()) <= max(1, len(old.split()))


@pytest.mark.parametrize("name", shipped_tables())
def test_shipped_tables_turn_round(name):
    forward = read_table(shipped_tables()[name], name=name)
    back = find_scheme("-".join(reversed(name.split("-"))))
    for letter in forward.letters:
        if letter not in forward.merging:
            assert back(forward(letter)) == letter
    assert not set(forward.letters) & set(forward.letters.values()) - set("'")


@pytest.mark.parametrize(
    ("text", "reason", "line"),
    [
        ("a\tb\nc\n", "expected a letter, a tab and its replacement", 2),
        ("a\tb\tc\n", "expected a letter, a tab and its replacement", 1),
        ("a\t\n", "'a' has an empty replacement", 1),
        ("a\tx\nb\tx\n", "'b' and 'a' both become 'x'", 2),
        ("a\tx\na\ty\n", "duplicate letter 'a'", 2),
        ("a\tx y\n", "white space", 1),
        ("# nothing\n", "contains no letters", None),
    ],
)
def test_wrong_tables(tmp_path, text, reason, line):
    with pytest.raises(DataError, match=reason) as caught:
        read_table(table(tmp_path, text))
    assert caught.value.line == line


def test_letters_that_merge_say_so(tmp_path):
    its = read_table(table(tmp_path, "a\tx\nb\tx\tmerges\nc\t\tmerges\n"))
    assert its("abc") == "xx"
    assert its.reversed("back")("x") == "a"


def test_wrong_schemes(tmp_path):
    with pytest.raises(RequestError, match="unknown transliteration 'uyghur-latim'") as caught:
        find_scheme("uyghur-latim")
    assert "uyghur-latin" in caught.value.hint
    with pytest.raises(RequestError, match="unknown transliteration 'latin-cyrilic'") as caught:
        find_scheme("latin-cyrilic")
    assert "did you mean 'latin-cyrillic'" in caught.value.hint
    with pytest.raises(RequestError, match="changes no word of mine"):
        transliterate(sentence("abc"), "uyghur-latin")
    with pytest.raises(DataError):
        find_scheme(str(tmp_path / "missing.tsv"))


@pytest.mark.parametrize(("package", "scheme"), [("uroman", "uroman"), ("icu", "icu:Any-Latin")])
def test_a_missing_package_names_its_command(monkeypatch, package, scheme):
    from crosslens.data import transliteration

    transliteration._loaded_uroman.cache_clear()
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(RequestError, match="not installed") as caught:
        find_scheme(scheme)
    assert "crosslens[translit]" in caught.value.hint


def test_uroman_when_there():
    pytest.importorskip("uroman")
    assert transliterate(sentence("ئۇيغۇرچە", "日本 "), "uroman")[0].words[0] == "uyghurche"
    assert transliterate(sentence("ئۇيغۇرچە"), "uroman").language == "ug-Latn"


def test_icu_when_there():
    pytest.importorskip("icu")
    assert transliterate(sentence("ქართული"), "icu:Georgian-Latin")[0].words == ("kartuli",)
    with pytest.raises(RequestError, match="ICU has no transform"):
        find_scheme("icu:Klingon-Latin")


def test_scripts_are_those_of_letters():
    assert count_scripts(["abc 12, яб", "猫"]) == {"Latn": 3, "Cyrl": 2, "Hani": 1}
    assert main_script(["123 !?"]) is None
    assert main_script([""]) is None
    assert script_name("Nkoo") == "Nko"


def test_another_spelling_in_the_same_script_is_in_the_same_language(tmp_path):
    path = table(tmp_path, "a\tb\n")
    assert transliterate(sentence("aa", "x"), str(path)).language == "ug"
    assert transliterate(sentence("ئا"), "uyghur-latin").language == "ug-Latn"


def test_a_language_that_is_not_a_tag_keeps_its_name(monkeypatch):
    from crosslens.data import transliteration

    codes = []
    uroman = SimpleNamespace(romanize_string=lambda word, lcode: codes.append(lcode) or "a")
    monkeypatch.setattr(transliteration, "_loaded_uroman", lambda: uroman)
    corpus = replace(sentence("ئا"), language="a language of mine")
    for scheme in ("uyghur-latin", "uroman"):
        assert transliterate(corpus, scheme).language == "a language of mine"
    assert codes == [None]


def test_a_name_or_a_text_is_not_a_corpus():
    for text in ("ud/ug_udt", ["ئا"]):
        with pytest.raises(RequestError, match=f"this is a {type(text).__name__} and not a corpus.*load_corpus"):
            transliterate(text, "uyghur-latin")


def test_a_text_comment_may_have_no_space_before_its_text(tmp_path):
    corpus = Corpus((Sentence(("a",), lines=("\ufeff# text=a\n", "1\ta" + "\t_" * 8 + "\n", "\n")),), "mine", "ug")
    assert transliterate(corpus, str(table(tmp_path, "a\tb\n")))[0].text == "b"


def test_the_old_form_joins_what_is_in_its_column(tmp_path):
    """A bar separates the attributes there, so one in a form is escaped."""
    path = table(tmp_path, "a\tb\n")
    rows = [
        f"{n}\t{word}\t_\tX\t_\t_\t0\troot\t_\t{misc}\n"
        for n, word, misc in ((1, "a", "_"), (2, "a|a", "SpaceAfter=No"), (3, "c", "_"))
    ]
    lines = ("# text = a a|ac\n", *rows, "\n")
    corpus = Corpus((Sentence(("a", "a|a", "c"), upos=("X",) * 3, lines=lines),), "mine", "ug")
    text, *after, end = transliterate(corpus, str(path))[0].lines
    assert (text, end) == ("# text = b b|bc\n", "\n")
    assert [line.split("\t")[1] for line in after] == ["b", "b|b", "c"]
    assert [line.split("\t")[9] for line in after] == ["Original=a\n", "SpaceAfter=No|Original=a&#124;a\n", "_\n"]


def test_only_a_text_without_any_changed_item_is_refused(tmp_path):
    path = table(tmp_path, "a\tb\n")
    half = Corpus((Sentence(("a",)), Sentence(("c",))), "mine", "ug")
    assert [item.words for item in transliterate(half, str(path)).sentences] == [("b",), ("c",)]
    with pytest.raises(RequestError, match="changes no word of mine"):
        transliterate(half[1:], str(path))


def test_a_word_of_which_only_invisible_characters_would_be_left_stays(tmp_path):
    path = table(tmp_path, "a\t\u200d\nb\tx\n")  # a zero-width joiner
    assert transliterate(sentence("aa", "ab"), str(path))[0].words == ("aa", "\u200dx")
