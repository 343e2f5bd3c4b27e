"""The pictures of artificial languages agree with the laboratory that they show."""

import re
from itertools import pairwise
from types import SimpleNamespace

import pytest

from crosslens.data.sentence import Sentence
from crosslens.demo.pictures import describe_grammar, pictures, story, telling_sentence, vocabularies
from crosslens.encoders.condition import Condition
from crosslens.lab.grammar import KINDS
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


@pytest.mark.parametrize("setting", sorted(set(Language.model_fields) - {"order"}))
def test_whatever_the_source_language_is_only_what_differs_from_it_is_described(setting):
    sides = {
        "adjective": "after",
        "adposition": "after",
        "genitive": "before",
        "relative": "before",
        "adverb": "before",
    }
    words = {"determiners": False, "auxiliaries": False, "accusative": True, "suffixes": True}
    source = Language(order="SOV", script="greek", **sides, **words)  # nothing as in Language()
    assert describe_grammar(source, source) == "SOV"
    changed = source.model_copy(update={setting: getattr(Language(), setting)})
    assert describe_grammar(changed, source).count(", ") == 1


def test_the_layers_drawn_are_those_of_the_conditions(good):
    drawn = pictures(good, conditions=CONDITIONS, depth=4)
    stack = drawn[drawn.index('aria-label="Layers of each condition"') :]
    # Three columns (freezing re-initialises nothing), each of a head, four layers and the embeddings.
    assert stack.count("<rect") == 3 * 6
    assert stack.count('<rect class="fresh"') == 2 + 5
    assert re.findall(r'text-anchor="middle">(.*?)<', stack) == ["reference", "1-2", "0-4"]


@pytest.mark.parametrize("condition", [Condition(), Condition(layers="1-2"), Condition(layers="0,4"), "all"])
def test_the_reinitialised_layers_are_drawn_at_their_place(good, condition):
    """From the bottom: the embeddings, the layers from 1 on, and the head."""
    condition = Condition(layers="0,all") if condition == "all" else condition
    drawn = pictures(good, conditions=[condition], depth=4)
    stack = drawn[drawn.index('aria-label="Layers of each condition"') :]
    rows = re.findall(r'y="(\d+)" text-anchor="end">(.*?)<', stack)
    assert [name for _, name in rows] == ["task head", "layer 4", "layer 3", "layer 2", "layer 1", "embeddings"]
    boxes = re.findall(r'<rect class="(\w+)" x="\d+" y="(\d+)" width="\d+" height="(\d+)"', stack)
    assert len(boxes) == len(rows)
    reinitialised = condition.reinitialised(4)
    for layer, (baseline, _), (kind, top, height) in zip(("head", 4, 3, 2, 1, 0), rows, boxes, strict=True):
        assert int(top) < int(baseline) < int(top) + int(height)  # the name stands beside its box
        assert kind == ("head" if layer == "head" else "fresh" if layer in reinitialised else "kept")


def tree_of(drawn, language):
    """The words, boxes, roles and arcs of the picture of a sentence: texts with their middle, (left, right), paths."""
    svg = drawn[drawn.index(f"Sentence and its tree in {language}") :].partition("</svg>")[0]
    boxes = [
        (float(left), float(left) + float(width))
        for left, width in re.findall(r'<rect class="word[^"]*" x="([\d.]+)" y="\d+" width="(\d+)"', svg)
    ]
    texts = re.findall(r'<text( class="role")? x="([\d.]+)" y="\d+" text-anchor="middle">(.*?)</text>', svg)
    words = [(text, float(x)) for role, x, text in texts if not role]
    roles = [(text, float(x)) for role, x, text in texts if role]
    path = r'd="M([\d.]+) (\d+)Q[\d.]+ (\d+) [\d.]+ \d+H[\d.]+Q([\d.]+) \d+ ([\d.]+) \d+l'
    return words, boxes, roles, [tuple(map(float, arc)) for arc in re.findall(path, svg)]


def test_the_arcs_lead_from_heads_to_dependents(good):
    drawn = pictures(good, conditions=CONDITIONS, depth=4)
    for language, sentence in telling_sentence(good).items():
        words, boxes, roles, arcs = tree_of(drawn, language)
        assert [word for word, _ in words] == list(sentence.words)
        assert [middle for _, middle in roles] == [middle for _, middle in words]
        role_of = dict(zip(sentence.relations, (role for role, _ in roles), strict=True))
        assert (role_of["root"], role_of["nsubj"], role_of["obj"], role_of["punct"]) == (
            "verb",
            "subject",
            "object",
            "",
        )
        middles = [middle for (_, middle), tag in zip(words, sentence.upos, strict=True) if tag != "PUNCT"]
        assert middles == pytest.approx([(left + right) / 2 for left, right in boxes], abs=0.06)
        assert all(right < left for (_, right), (left, _) in pairwise(boxes))
        expected = {
            (place, head - 1)
            for place, (head, relation) in enumerate(zip(sentence.heads, sentence.relations, strict=True))
            if head and relation != "punct"
        }
        heights = {}
        for start, floor, top, turn, end in arcs:
            dependent = min(range(len(words)), key=lambda place: abs(words[place][1] - end))
            head = min(range(len(words)), key=lambda place: abs(words[place][1] - start))
            assert turn == end == pytest.approx(words[dependent][1], abs=0.06)
            assert (start > words[head][1]) == (dependent > head)  # it leaves on the side of the dependent
            assert top > 0
            heights.setdefault(abs(dependent - head), set()).add(floor - top)
            expected.remove((dependent, head))
        assert not expected
        assert len(heights) > 1
        assert all(max(heights[near]) < min(heights[far]) for near, far in pairwise(sorted(heights)))


def test_the_sentence_is_as_telling_as_any_and_short(good):
    """No other test sentence with as many of its relations repeats fewer, or has as many and is shorter."""
    chosen = telling_sentence(good)
    translations = zip(*(good.corpus(language) for language in good.languages), strict=True)

    def of(sentences):
        relations = [relation for relation in sentences[0].relations if relation not in ("case", "det")]
        telling = len({"nsubj", "obj", "amod", "nmod"} & set(relations))
        return len(relations) - len(set(relations)), telling, max(len(sentence) for sentence in sentences)

    repeated, telling, length = of([*chosen.values()])
    others = [of(sentences) for sentences in translations]
    assert repeated == min(other[0] for other in others) == 0
    assert telling == max(other[1] for other in others if other[0] == 0) == 4
    assert length == min(other[2] for other in others if other[:2] == (0, 4))


def test_a_sentence_that_repeats_no_relation_is_more_telling_than_one_of_more_relations():
    """Two adjectives would have one colour."""
    plain = Sentence(("a", "b", "c"), relations=("nsubj", "root", "obj"))
    relations = ("nsubj", "root", "amod", "amod", "nmod", "obj")
    rich = Sentence(tuple("abcdef"), relations=relations)
    for sentences in ((plain, rich), (rich, plain)):
        corpus = SimpleNamespace(sentences=sentences)
        laboratory = SimpleNamespace(languages=("src",), corpus=lambda language, corpus=corpus: corpus)
        assert telling_sentence(laboratory) == {"src": plain}


def test_the_table_counts_the_words_and_shows_the_most_frequent(good):
    """Counted by hand from the lexicons: the kind of a word, its share, and the words of rank 1."""
    rows = {name: [text for _, text in cells] for name, cells in lexicon_rows(lexicon_table(good)).items()}
    concepts, lexicons = good.world.concepts, good.lexicons
    places = [place for place, (kind, _) in enumerate(concepts) if is_counted(kind)]
    for column, (language, lexicon) in enumerate(lexicons.items()):
        others = [lexicons[other] for other in lexicons if other != language]
        shared = sum(all(words[place] == lexicon[place] for words in others) for place in places)
        friends = sum(
            any(lexicon[place] in words for words in others) and all(words[place] != lexicon[place] for words in others)
            for place in places
        )
        counts = {"shared": shared, "false friends": friends, "own": len(places) - shared - friends}
        assert min(counts.values()) > 0
        for name, count in counts.items():
            assert rows[name][column] == f"{100 * count / len(places):.0f} %"
        for name, kind, rank in (("noun 1", "noun", 0), ("noun 3", "noun", 2), ("verb 1", "transitive", 0)):
            assert rows[name][column] == lexicon[concepts.index((kind, rank))]


def lexicon_table(laboratory):
    drawn = pictures(laboratory, conditions=CONDITIONS, depth=4)
    return drawn[drawn.index('<table class="lexicon">') : drawn.index("</table>")]


def lexicon_rows(table):
    """Class and text of the cells of each row, by its name."""
    return {
        re.search("<th[^>]*>(.*?)</th>", row)[1]: re.findall(r"<td(?: class=.(\w+).)?>(.*?)</td>", row)
        for row in table.split("<tr>")[2:]
    }


def is_counted(kind):
    return KINDS[kind].upos in ("NOUN", "VERB", "ADJ", "ADV", "PROPN", "NUM")


def test_the_words_of_a_concept_stand_in_one_row(good):
    table = lexicon_table(good)
    rows = lexicon_rows(table)
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


def test_a_word_that_one_other_language_has_for_the_same_concept_is_no_false_friend():
    """It may mean something else in a third one; shared is only what all languages have."""
    lexicons = {"a": ["x", "y", "z", "q"], "b": ["x", "z", "u", "q"], "c": ["v", "x", "y", "q"]}
    world = SimpleNamespace(concepts=[("noun", rank) for rank in range(4)])
    known = vocabularies(SimpleNamespace(world=world, lexicons=lexicons))
    assert known["a"].kinds == ["own", "friend", "friend", "shared"]
    assert known["b"].kinds == ["own", "friend", "own", "shared"]
    assert known["c"].kinds == ["own", "friend", "friend", "shared"]
    assert [known["b"].share(kind) for kind in ("own", "friend", "shared")] == [50, 25, 25]
