"""Families and scripts of languages."""

from importlib import resources

import pytest

from crosslens.data.language_families import bare_language, known_language, parse_language
from crosslens.data.scripts import main_script, script_name
from crosslens.lab.presets import LANGUAGES
from crosslens.unseen.typology import known_languages

# Text of each language -> what its letters say of its script.
TEXTS = {
    "fr": "le chat",
    "ru": "кошка",
    "hi": "बिल्ली",
    "ar": "قطة",
    "th": "แมว",
    "el": "γάτα",
    "he": "חתול",
    "zh": "猫",
    "ka": "კატა",
}


@pytest.mark.parametrize(("tag", "text"), TEXTS.items())
def test_scripts_are_those_of_texts(tag, text):
    assert known_language(tag).script == script_name(main_script([text]))


def test_scripts_agree_with_a_published_table():
    """Muller (2022) gives scripts of 15 languages; where the table knows one, it is the same."""
    compared = {tag: known_language(tag) for tag in known_languages()}
    compared = {tag: known for tag, known in compared.items() if known and known.script}
    assert len(compared) > 7
    assert {tag: known.script for tag, known in compared.items()} == {
        tag: known_languages()[tag].script for tag in compared
    }


@pytest.mark.parametrize(
    ("one", "other"),
    [("fr", "it"), ("fi", "et"), ("ar", "he"), ("hi", "ur"), ("yo", "sw"), ("sme", "hu"), ("no", "nn")],
)
def test_relatives_share_a_family(one, other):
    assert known_language(one).family == known_language(other).family


def test_others_do_not():
    families = [known_language(tag).family for tag in ("en", "fr", "fi", "eu", "ja", "ko", "zh", "th", "tr", "ka")]
    assert len(set(families)) == len(families)


@pytest.mark.parametrize("tag", [*LANGUAGES, "", None, "not a tag", "klingon", "und", "qaa", "<b>"])
def test_what_is_unknown_has_no_family(tag):
    assert known_language(tag) is None


def test_a_tag_with_a_script_or_region_is_its_language():
    assert known_language("sr-Latn").script == "Latin"
    assert known_language("sr").script == "Cyrillic"
    assert known_language("pt-BR") == known_language("pt")


def test_the_table_names_its_sources():
    head = (resources.files("crosslens.data") / "tables" / "languages.csv").read_text("utf-8").splitlines()[0]
    assert "Glottolog" in head
    assert "lang2vec" in head


def test_languages_of_treebanks_and_topics_have_names():
    """Their tags as corpora have them, which are not always those of the table's sources."""
    names = {
        "fil": "Filipino",
        "qaf": "Maghrebi Arabic-French",
        "nqo": "N'Ko",
        "bm": "Bambara",
        "pcm": "Nigerian Pidgin",
    }
    assert {tag: known_language(tag).name for tag in names} == names
    assert known_language("fil").family == known_language("tl").family == known_language("id").family


@pytest.mark.parametrize("text", ["?", "a language of mine", "ud/fr_pud", ""])
def test_text_that_is_not_a_tag_has_no_parts(text):
    """Names of languages in records are any text."""
    assert (parse_language(text).language, parse_language(text).script) == (None, None)
    assert bare_language(text) == text
    assert known_language(text) is None


@pytest.mark.parametrize(("tag", "language"), [("eng", "en"), ("deu", "de"), ("iw", "he"), ("in", "id")])
def test_a_language_that_has_several_tags_is_known_by_one(tag, language):
    assert bare_language(tag) == bare_language(f"{tag}-Latn") == language
    assert known_language(tag) == known_language(language) is not None


@pytest.mark.parametrize(("tag", "script"), [("ug-Latn", "Latin"), ("ug", "Arabic"), ("sr-Latn", "Latin")])
def test_a_language_in_another_script_keeps_its_tag_and_family(tag, script):
    known, usual = known_language(tag), known_language(tag.partition("-")[0])
    assert (known.tag, known.script) == (tag, script)
    assert (known.name, known.family) == (usual.name, usual.family)
