"""Words of artificial languages: which are translations of one another, and in which forms they come."""

from crosslens.lab.laboratory import Laboratory, LaboratorySettings
from crosslens.lab.language import Language


def test_linked_words_are_translations_of_the_source_into_the_target():
    languages = {"src": Language(), "sov": Language(order="SOV", adposition="after", determiners=False)}
    laboratory = Laboratory(LaboratorySettings(languages=languages))
    for pair in (("src", "sov"), ("sov", "src")):
        source, target = (laboratory.corpus(language, sentences=50).sentences for language in pair)
        translations = {*laboratory.dictionary(*pair), (source[0].words[-1], target[0].words[-1])}
        links = laboratory.links(*pair, [sentence.id for sentence in target])
        for a, b, linked in zip(source, target, links, strict=True):
            assert {(a.words[i], b.words[j]) for i, j in linked} <= translations
            assert len(linked) == len({i for i, _ in linked}) == len({j for _, j in linked}) == min(len(a), len(b))


def test_dictionaries_have_words_and_no_full_stop():
    """It is the same in all languages, and no word to learn a mapping from, or to translate."""
    languages = {"src": Language(), "sov": Language(order="SOV", script="greek")}
    laboratory = Laboratory(LaboratorySettings(languages=languages, anchors=0, names=0, numerals=0))
    pairs = laboratory.dictionary("src", "sov")
    assert len(pairs) > 100
    assert all(word.isalpha() for pair in pairs for word in pair)


def test_nouns_of_raw_text_are_plural_as_often_as_singular():
    """As in treebanks, where features name the forms."""
    laboratory = Laboratory(LaboratorySettings(languages={"a": Language(suffixes=True)}, homonyms=0))
    forms = {"Number=Sing": set(), "Number=Plur": set()}
    for sentence in laboratory.corpus("a", split="train").sentences:
        for columns in (line.split("\t") for line in sentence.lines):
            if len(columns) == 10 and columns[3] == "NOUN":
                forms[columns[5]].add(columns[1])
    words = " ".join(laboratory.text("a", sentences=1000)).split()
    counts = [sum(word in known for word in words) for known in forms.values()]
    assert sum(counts) > 1000
    assert 0.45 < counts[1] / sum(counts) < 0.55
