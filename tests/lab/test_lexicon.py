"""What languages share and what they only seem to share, word by word."""

from collections import Counter

from crosslens.lab.grammar import KINDS
from crosslens.lab.laboratory import Laboratory, LaboratorySettings
from crosslens.lab.language import Language

LANGUAGES = {"src": Language(), "sov": Language(order="SOV"), "vso": Language(order="VSO")}
NOTHING = {"anchors": 0, "cognates": 0, "false_friends": 0, "homonyms": 0, "names": 0, "numerals": 0}


def lexicons(**settings):
    """The world's concepts, and the words of the three languages."""
    made = Laboratory(LaboratorySettings(**{"languages": LANGUAGES, **NOTHING, **settings}))
    return made.world.concepts, list(made.lexicons.values())


def content(concepts):
    return [number for number, (kind, _) in enumerate(concepts) if KINDS[kind].content]


def test_a_false_friend_is_no_other_languages_word_for_the_same_concept():
    """Of a third language neither: it may have borrowed the very word that the first has for the concept."""
    for seed in range(6):
        concepts, (first, second, third) = lexicons(false_friends=1, seed=seed)
        friends = [number for number in content(concepts) if third[number] in {*first, *second}]
        assert len(friends) > 0.5 * len(content(concepts))
        assert all(third[number] not in (first[number], second[number]) for number in friends)


def test_anchors_stay_one_word_however_many_homonyms_there_are():
    concepts, words = lexicons(anchors=1, homonyms=1)
    assert len(content(concepts)) > 50
    for number in content(concepts):
        assert len({lexicon[number] for lexicon in words}) == 1
    concepts, words = lexicons(homonyms=1)
    verbs = [number for number, (kind, _) in enumerate(concepts) if KINDS[kind].upos == "VERB"]
    nouns = [{lexicon[n] for n, (kind, _) in enumerate(concepts) if kind == "noun"} for lexicon in words]
    assert verbs
    assert all(lexicon[number] in own for lexicon, own in zip(words, nouns, strict=True) for number in verbs)


def test_words_without_a_share_are_each_languages_own_and_each_once():
    for settings in ({}, {"cognates": 1}, {"false_friends": 1}):
        concepts, words = lexicons(**settings)
        for lexicon in words:
            assert len(set(lexicon)) == len(lexicon) == len(concepts)
    _, (first, second, third) = lexicons()
    full_stop = {"."}
    assert set(first) & set(second) == set(first) & set(third) == set(second) & set(third) == full_stop


def test_anchors_are_frequent_and_rare_words():
    """A concept's place among those of its kind is its rank."""
    concepts, (first, second, third) = lexicons(anchors=0.25)
    for kind in ("noun", "transitive", "adjective"):
        ranked = [number for number, (name, _) in enumerate(concepts) if name == kind]
        shared = [rank for rank, number in enumerate(ranked) if first[number] == second[number] == third[number]]
        assert len(shared) == round(0.25 * len(ranked))
        assert min(shared) < len(ranked) / 3
        assert max(shared) > 2 * len(ranked) / 3


def test_each_language_has_a_sound_change_of_its_own():
    """Two languages' cognates are the source's words after two changes: one sound becomes one other in each."""
    concepts, (first, *others) = lexicons(cognates=1)
    changes = []
    for words in others:
        pairs = [(first[number], words[number]) for number in content(concepts) if first[number] != words[number]]
        assert len(pairs) > 0.8 * len(content(concepts))
        cognates = {(a, b) for a, b in pairs if len(a) == len(b)}
        change = {}
        for a, b in sorted(cognates):
            for sound, other in zip(a, b, strict=True):
                change.setdefault(sound, Counter())[other] += 1
        regular = sum(counts.most_common(1)[0][1] for counts in change.values())
        assert regular > 0.8 * sum(counts.total() for counts in change.values())
        changes.append({sound: counts.most_common(1)[0][0] for sound, counts in change.items()})
    assert changes[0] != changes[1]


def test_an_organisation_with_the_name_of_a_place_is_shared_by_as_many_languages_as_before():
    def shared(namesakes):
        _, (first, second, third) = lexicons(names=0.5, world={"namesakes": namesakes, "organisations": 12})
        return {number for number, word in enumerate(first) if word == second[number] == third[number]}

    assert shared(0.0) == shared(1.0)


def test_each_language_has_suffixes_of_its_own():
    made = Laboratory(LaboratorySettings(languages={name: Language(suffixes=True) for name in "abcd"}, anchors=1))
    endings = {}
    for language in made.languages:
        lines = [line.split("\t") for s in made.corpus(language).sentences for line in s.lines if line[0].isdigit()]
        plural = {(row[1], row[2]) for row in lines if row[5] in ("Number=Plur", "Tense=Past")}
        endings[language] = frozenset(form.removeprefix(lemma) for form, lemma in plural)
        assert len(endings[language]) == 2
    assert len(set(endings.values())) == 4


def test_the_fraction_of_organisations_asked_for_has_the_name_of_a_place():
    for namesakes in (0.0, 0.25, 0.5, 1.0):
        concepts, (first, *_) = lexicons(names=1, world={"namesakes": namesakes, "organisations": 12, "places": 5})
        names = {
            kind: [first[n] for n, (of, _) in enumerate(concepts) if of == kind] for kind in ("place", "organisation")
        }
        assert len(set(names["place"])) == 5
        assert sum(name in names["place"] for name in names["organisation"]) == round(12 * namesakes)


def test_only_content_words_are_false_friends():
    """Languages take words of preceding ones, but none for determiners, numerals or names."""
    for seed in range(3):
        concepts, words = lexicons(false_friends=1, seed=seed)
        others = [
            number for number, (kind, _) in enumerate(concepts) if not KINDS[kind].content and kind != "full_stop"
        ]
        assert len(others) > 30
        for place in (1, 2):
            preceding = {word for lexicon in words[:place] for word in lexicon}
            assert not {words[place][number] for number in others} & preceding
