"""Code switching: how many words are replaced, and by which translations."""

from collections import Counter

import numpy as np
import pytest

from crosslens.errors import RequestError
from crosslens.mlm.code_switching import switch_words

TRANSLATIONS = {"a": [("x", 3.0), ("y", 1.0), ("two words", 9.0)], "b": [("z", 1.0)]}


def test_words_are_switched_as_often_as_is_said_and_translations_by_their_weight():
    lines = ["a b c c c c"] * 4000
    switched = switch_words(lines, TRANSLATIONS, probability=0.3, most=1.0, seed=1, language="en")
    counts = Counter(word for line in switched for word in line.split())
    assert len(switched) == len(lines)
    assert all(len(line.split()) == 6 for line in switched)
    assert counts["c"] == 16000
    assert counts["z"] / 4000 == pytest.approx(0.3, abs=0.03)
    assert (counts["x"] + counts["y"]) / 4000 == pytest.approx(0.3, abs=0.03)
    assert counts["x"] / (counts["x"] + counts["y"]) == pytest.approx(0.75, abs=0.04)
    assert switch_words(lines, TRANSLATIONS, probability=0.3, most=1.0, seed=1, language="en") == switched
    assert switch_words(lines, TRANSLATIONS, probability=0.3, most=1.0, seed=2, language="en") != switched


def test_no_more_words_are_switched_than_may_be():
    lines = ["a b"] * 3000 + ["c d"] * 3000
    switched = switch_words(lines, TRANSLATIONS, probability=0.5, most=0.15, seed=1, language="en")
    changed = [
        old != new for o, n in zip(lines, switched, strict=True) for old, new in zip(o.split(), n.split(), strict=True)
    ]
    blocks = np.asarray(changed).reshape(-1, 2000).mean(1)
    assert (blocks <= 0.15).all()
    assert (blocks[:3] > 0.149).all()
    assert not blocks[3:].any()


@pytest.mark.parametrize("words", [2000, 2100, 3999, 40])
def test_the_last_words_are_switched_no_more_than_others(words):
    """They are fewer than those in which the maximum holds."""
    switched = switch_words(["a"] * words, TRANSLATIONS, probability=1.0, most=0.15, seed=1, language="en")
    blocks = [switched[start : start + 2000] for start in range(0, words, 2000)]
    assert [sum(word != "a" for word in block) for block in blocks] == [int(0.15 * len(block)) for block in blocks]


def test_a_dictionary_that_shares_no_word_with_the_text_is_refused():
    with pytest.raises(RequestError, match="no word of the text of 'en' is in its dictionary"):
        switch_words(["A B"], TRANSLATIONS, probability=0.3, most=0.15, seed=1, language="en")


def test_translations_without_weight_are_not_taken():
    lines = ["a b"] * 500
    table = {"a": [("x", 1.0), ("y", 0.0)], "b": [("z", 0.0)]}
    switched = switch_words(lines, table, probability=1.0, most=1.0, seed=1, language="en")
    assert switched == ["x b"] * 500


def test_where_too_many_words_would_be_switched_those_that_are_stand_anywhere():
    """As many in the first half of the words that the maximum is for as in the second, to chance."""
    switched = switch_words(["a"] * 2000, TRANSLATIONS, probability=1.0, most=0.2, seed=1, language="en")
    places = np.flatnonzero([word != "a" for word in switched])
    assert len(places) == 400
    assert abs((places < 1000).sum() - 200) < 40


def test_every_language_has_random_numbers_of_its_own():
    lines = ["a b"] * 100
    english, french = (
        switch_words(lines, TRANSLATIONS, probability=0.5, most=1.0, seed=1, language=language)
        for language in ("en", "fr")
    )
    assert english != french
