"""The pictures of artificial languages agree with the laboratory that they show."""

import re

import pytest

from crosslens.demo.pictures import describe_grammar, pictures, story, telling_sentence, vocabularies
from crosslens.encoders.condition import Condition
from crosslens.lab.laboratory import Laboratory, LaboratorySettings
from crosslens.lab.language import Language
from crosslens.lab.presets import LANGUAGES, find_laboratory

CONDITIONS = [Condition(), Condition(layers="1-2"), Condition(layers="0,all"), Condition(freeze="0-3")]


@pytest.fixture(scope="module")
def good():
    return find_laboratory("good")


def test_shared_words_are_those_of_the_preset(good):
    """A quarter of the content words, half of the names and all numerals are shared, the same ones in each language."""
    known = vocabularies(good)
    shared = [
        [word for word, kind in zip(each.words, each.kinds, strict=True) if kind == "shared"] for each in known.values()
    ]
    assert all(words == shared[0] for words in shared)
    sizes = good.world.settings.sizes
    content = [sizes[kind] for kind in ("noun", "transitive", "intransitive", "clausal", "adjective", "adverb")]
    names = [sizes[kind] for kind in ("first_name", "surname", "place", "organisation")]
    expected = sum(max(1, round(size / 4)) for size in content) + sum(map(round, (size / 2 for size in names)))
    assert len(shared[0]) == expected + sizes["numeral"]


def test_a_false_friend_is_a_word_of_another_concept(good):
    known = vocabularies(good)
    friends = 0
    for language, vocabulary in known.items():
        others = [each.words for name, each in known.items() if name != language]
        for place, (word, kind) in enumerate(zip(vocabulary.words, vocabulary.kinds, strict=True)):
            if kind == "friend":
                friends += 1
                assert all(words[place] != word for words in others)
    assert friends > 100
    none = Laboratory(LaboratorySettings(languages=LANGUAGES, false_friends=0.0, homonyms=0.0))
    assert {kind for each in vocabularies(none).values() for kind in each.kinds} == {"shared", "own"}


def test_the_sentence_is_one_meaning_in_every_order(good):
    sentences = telling_sentence(good)
    assert len({sentence.id for sentence in sentences.values()}) == 1
    orders = set()
    for sentence in sentences.values():
        relations = {relation: place for place, relation in enumerate(sentence.relations)}
        assert {"nsubj", "root", "obj", "amod", "nmod"} <= set(relations)
        orders.add(tuple(sorted(("root", "obj", "amod", "nmod"), key=relations.__getitem__)))
    assert len(orders) == len(good.languages)


def test_grammars_are_described_by_what_differs():
    assert describe_grammar(LANGUAGES["src"], LANGUAGES["src"]) == "SVO"
    assert describe_grammar(Language(order="VSO", script="greek"), Language()) == "VSO, Greek script"


def test_the_layers_drawn_are_those_of_the_conditions(good):
    drawn = pictures(good, conditions=CONDITIONS, depth=4)
    stack = drawn[drawn.index('aria-label="Layers of each condition"') :]
    # Three columns (freezing re-initialises nothing), each of a head, four layers and the embeddings.
    assert stack.count("<rect") == 3 * 6
    assert stack.count('<rect class="fresh"') == 2 + 5
    assert re.findall(r'text-anchor="middle">(.*?)<', stack) == ["reference", "1-2", "0-4"]


def test_the_words_of_a_concept_stand_in_one_row(good):
    drawn = pictures(good, conditions=CONDITIONS, depth=4)
    table = drawn[drawn.index('<table class="lexicon">') : drawn.index("</table>")]
    rows = {
        re.search("<th[^>]*>(.*?)</th>", row)[1]: re.findall("<td class=.(\\w+).>(.*?)</td>", row)
        for row in table.split("<tr>")[2:]
    }
    assert re.findall("<bdi>(.*?)</bdi>", table) == list(good.languages)
    assert list(rows)[:4] == ["shared", "false friends", "own", "noun 1"]
    words = [row for name, row in rows.items() if name not in ("shared", "false friends", "own")]
    assert len(words) == 8
    for row in words:
        assert len(row) == len(good.languages)
        shared = {kind for kind, _ in row} == {"shared"}
        assert shared == (len({word for _, word in row}) == 1)


def test_the_story_has_three_sentences(good):
    text = story(good, depth=6)
    assert text.count(". ") == 2
    assert "src, adj, gen and sov" in text
    assert "a quarter of the content words" in text


def test_a_single_language_needs_no_others():
    lonely = Laboratory(LaboratorySettings(languages={"src": Language()}))
    assert "shared" not in vocabularies(lonely)["src"].kinds
    assert "<svg" in pictures(lonely, conditions=CONDITIONS, depth=6)
