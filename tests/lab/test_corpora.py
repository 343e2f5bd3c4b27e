"""What the corpora of artificial languages say about their words."""

import pytest

from crosslens.errors import RequestError
from crosslens.lab.laboratory import Laboratory, LaboratorySettings
from crosslens.lab.language import Language

LANGUAGES = {
    "src": Language(),
    "bare": Language(determiners=False, auxiliaries=False),
    "obj": Language(accusative=True),
}
MADE = Laboratory(LaboratorySettings(languages=LANGUAGES, anchors=0, numerals=0, homonyms=0, false_friends=0))


def rows(sentence):
    return [line.rstrip("\n").split("\t") for line in sentence.lines if line[0].isdigit()]


def test_a_dictionary_has_the_words_that_both_languages_use():
    words = {language: dict(MADE.dictionary(language, "src")) for language in LANGUAGES}
    used = {
        language: {word for sentence in MADE.corpus(language, split="train").sentences for word in sentence.words}
        for language in LANGUAGES
    }
    kinds = dict(zip(MADE.lexicons["src"], (kind for kind, _ in MADE.world.concepts), strict=True))
    assert {kinds[word] for word in words["src"]} - {kinds[word] for word in words["bare"].values()} == {
        "determiner",
        "auxiliary",
    }
    assert set(words["bare"].values()) < set(words["obj"].values()) == set(words["src"])
    for language in ("bare", "obj"):
        assert set(words[language]) >= used[language] - {"."} - {
            word for word, kind in zip(MADE.lexicons[language], kinds.values(), strict=True) if kind == "accusative"
        }


def test_the_text_of_a_sentence_is_its_words_with_the_spaces_between_them():
    for language in LANGUAGES:
        for sentence in MADE.corpus(language, sentences=50).sentences:
            text = "".join(row[1] + ("" if row[9] == "SpaceAfter=No" else " ") for row in rows(sentence)).rstrip()
            assert f"# text = {text}\n" in sentence.lines
            assert text.endswith(f"{sentence.words[-2]}.")


@pytest.mark.parametrize("split", ["train", "dev"])
def test_only_test_sets_are_parallel(split):
    """Of two languages of one grammar, the same numbers have other sentences, with ids of their language."""
    twins = Laboratory(LaboratorySettings(languages={"a": Language(), "b": Language()}))
    trees = {}
    for language in twins.languages:
        corpus = twins.corpus(language, split=split, sentences=100)
        assert all(sentence.id.startswith(f"{split}-{language}-") for sentence in corpus.sentences)
        trees[language] = [(sentence.upos, sentence.heads) for sentence in corpus.sentences]
    same = sum(a == b for a, b in zip(trees["a"], trees["b"], strict=True))
    assert same < 20  # 1 by chance, more for short structures
    tests = [twins.corpus(language, sentences=100).sentences for language in ("a", "b")]
    assert [(s.id, s.heads) for s in tests[0]] == [(s.id, s.heads) for s in tests[1]]


def test_long_sets_of_sentence_pairs_do_not_begin_again():
    """More premises are drawn where those drawn at first do not suffice."""
    pairs = [text.segments for text in MADE.pairs("src", split="train", pairs=1500).texts]
    premises = [premise for premise, _ in pairs]
    assert len(set(premises)) > 0.8 * len(premises)


@pytest.mark.parametrize("make", [MADE.corpus, MADE.documents, MADE.pairs, MADE.labelled, MADE.text])
@pytest.mark.parametrize("number", [0, -1])
def test_a_corpus_has_at_least_one_item(make, number):
    """Zero is not the default, and a negative number neither the end of a corpus nor endless."""
    wanted = {MADE.documents: "documents", MADE.pairs: "pairs"}.get(make, "sentences")
    with pytest.raises(RequestError, match=f"a corpus cannot have {number} items"):
        make("src", **{wanted: number})
