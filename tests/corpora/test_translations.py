"""Translations by sentence id, and links between their words."""

from dataclasses import replace

import pytest

from crosslens.corpora.catalogue import load_corpus
from crosslens.corpora.translations import (
    Translations,
    are_parallel,
    find_translations,
    has_known_links,
    link_words,
    require_links,
)
from crosslens.errors import DataError, RequestError
from made_corpora import identified

EN = identified("en", one="the cat", two="a b c", three="x")
FR = identified("fr", three="y", one="le chat")


def test_translations_are_found_by_id_and_links_by_the_line_of_the_source(tmp_path):
    (tmp_path / "fr.links").write_text("0-0 1-1\n0-0\n0-0\n", "utf-8")
    found = find_translations(EN, FR, words=True, links=str(tmp_path / "{language}.links"))
    assert found.items == (2, 0)
    assert found.links == ({0: 0}, {0: 0, 1: 1})
    assert find_translations(EN, FR, words=False).links is None


def test_a_sentence_that_is_its_own_translation_leaves_the_others_their_links(tmp_path):
    """Such as a name or a number; only a corpus that is wholly the same is linked word by word."""
    french = identified("fr", three="x", two="a c b", one="le chat")
    (tmp_path / "links").write_text("0-1 1-0\n0-0 1-2 2-1\n0-0\n", "utf-8")
    found = find_translations(EN, french, words=True, links=str(tmp_path / "links"))
    assert found.links == ({0: 0}, {0: 0, 1: 2, 2: 1}, {0: 1, 1: 0})


def test_only_words_with_one_link_are_linked(tmp_path):
    (tmp_path / "links").write_text("0-0 0-1 1-1\n\n0-0\n", "utf-8")
    assert find_translations(EN, FR, words=True, links=str(tmp_path / "links")).links == ({0: 0}, {})


def test_the_digest_knows_pairs_and_links(tmp_path):
    digests = set()
    for text in ("0-0 1-1\n\n0-0\n", "0-1 1-0\n\n0-0\n"):
        (tmp_path / "links").write_text(text, "utf-8")
        digests.add(find_translations(EN, FR, words=True, links=str(tmp_path / "links")).digest)
    digests.add(find_translations(EN, FR, words=False).digest)
    digests.add(find_translations(EN, FR[::-1], words=False).digest)
    assert len(digests) == 4
    assert Translations((0,), ({0: 0, 1: 1},)).digest == Translations((0,), ({1: 1, 0: 0},)).digest


def test_a_byte_order_mark_before_links_is_no_part_of_them(tmp_path):
    (tmp_path / "links").write_text("\ufeff0-0 1-1\n\n0-0\n", "utf-8")
    marked = find_translations(EN, FR, words=True, links=str(tmp_path / "links"))
    (tmp_path / "links").write_text("0-0 1-1\n\n0-0\n", "utf-8")
    assert marked == find_translations(EN, FR, words=True, links=str(tmp_path / "links"))


def test_a_corpus_is_linked_with_itself_word_by_word():
    assert find_translations(EN, EN, words=True).links == ({0: 0, 1: 1}, {0: 0, 1: 1, 2: 2}, {0: 0})


@pytest.mark.parametrize(
    ("text", "reason"),
    [("0-0\n", "has 1 lines, but en has 3 sentences"), ("0-0\n\n0-7\n", ":3: the link 0-7 is out of range")],
)
def test_links_that_do_not_fit_are_refused(tmp_path, text, reason):
    (tmp_path / "links").write_text(text, "utf-8")
    with pytest.raises(DataError, match=reason):
        find_translations(EN, FR, words=True, links=str(tmp_path / "links"))


def test_what_is_not_parallel_is_refused():
    for target in (identified("fr", four="y"), replace(FR, items=(replace(FR[0], id=None),))):
        assert not are_parallel(EN, target)
        with pytest.raises(DataError, match="fr is not parallel to en"):
            find_translations(EN, target, words=False)
    assert are_parallel(EN, FR)
    assert not are_parallel(FR, EN)


def test_duplicate_ids_are_refused():
    """Nothing tells which of the two sentences is the translation."""
    twice = replace(EN, items=(*EN.items, replace(EN[1], id="one")))
    with pytest.raises(DataError, match="cannot align duplicate id 'one'"):
        find_translations(twice, FR, words=False)
    with pytest.raises(DataError, match="cannot align duplicate id 'one'"):
        link_words(FR, twice)


def test_artificial_languages_have_known_links():
    """Linked words are the same concept; each word has one link at most, and most have one."""
    from crosslens.lab.presets import find_laboratory

    laboratory = find_laboratory()
    source, *others = laboratory.languages
    english = load_corpus(f"lab/{source}[:20]")
    for language in others:
        target = load_corpus(f"lab/{language}[5:15]")
        found = find_translations(english, target, words=True)
        assert found.items == tuple(range(5, 15))
        linked = 0
        for item, sentence, links in zip(found.items, target.sentences, found.links, strict=True):
            for word, other in links.items():
                assert sentence.upos[word] == english.sentences[item].upos[other]
                linked += 1
        assert linked > 0.8 * target.words
        require_links(english, [target])


def test_only_test_sets_of_artificial_languages_are_translations():
    for collection in ("lab", "lab_topics", "lab_pairs"):
        for split, expected in (("test", True), ("dev", False)):
            source, target = (load_corpus(f"{collection}/{name}:{split}[:3]") for name in ("src", "sov"))
            assert are_parallel(source, target) is expected


def test_links_are_known_between_test_sets_of_one_laboratory():
    source = load_corpus("lab/src[:3]")
    assert has_known_links(source, load_corpus("lab/sov[:3]@latin-cyrillic"))
    assert not has_known_links(source, load_corpus("lab/sov_good_w1[:3]"))
    assert not has_known_links(source, load_corpus("lab/sov:dev[:3]"))


def test_links_that_would_be_sampled_are_refused_in_studies():
    require_links(EN, [EN])
    with pytest.raises(RequestError, match=r"patch needs links between the words of en and fr.*patch_links"):
        require_links(EN, [FR])
