import subprocess
import sys
from collections import Counter
from itertools import combinations, pairwise
from pathlib import Path

import pytest

from crosslens.corpora.catalogue import list_corpora, load_corpus, match_corpora
from crosslens.corpora.parallel import load_parallel
from crosslens.data.formats import conllu, iob
from crosslens.errors import RequestError
from crosslens.lab.grammar import KINDS
from crosslens.lab.laboratory import SIZES, Laboratory, LaboratorySettings
from crosslens.lab.language import Language, heads_of
from crosslens.lab.presets import PRESETS, find_laboratory

LANGUAGES = {"src": Language(), "sov": Language(order="SOV", adposition="after", accusative=True)}


def lab(**settings):
    return Laboratory(LaboratorySettings(**{"languages": LANGUAGES, **settings}))


def shared(one, *kinds):
    """The share of the concepts of these kinds that both languages have one word for."""
    words = zip(one.world.concepts, one.lexicons["src"], one.lexicons["sov"], strict=True)
    same = [a == b for (kind, _), a, b in words if kind in kinds]
    return sum(same) / len(same)


def test_the_same_seed_makes_the_same_corpora():
    for make in (lambda one: one.corpus("sov", split="train", sentences=50).digest, lambda one: one.text("sov")[:50]):
        assert make(lab()) == make(lab())
        assert make(lab()) != make(lab(seed=1))


@pytest.mark.parametrize("split", SIZES)
def test_a_smaller_corpus_is_the_beginning_of_the_default_one(split):
    one = lab()
    whole = one.corpus("sov", split=split)
    assert len(whole) == SIZES[split]
    for count in (1, 7, SIZES[split]):
        assert one.corpus("sov", split=split, sentences=count).items == whole.items[:count]
    assert len(one.corpus("sov", split=split, sentences=SIZES[split] + 1)) == SIZES[split] + 1


def test_in_another_process_too():
    code = "from crosslens.lab.presets import find_laboratory as f; print(f().corpus('sov', sentences=30).digest)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == find_laboratory().corpus("sov", sentences=30).digest


def test_test_sets_are_translations_and_training_sets_are_not():
    one = lab()
    source, target = (one.corpus(language, sentences=100) for language in ("src", "sov"))
    for mine, its in zip(source.sentences, target.sentences, strict=True):
        assert mine.id == its.id
        skipped = {"DET", "AUX", "ADP"}
        assert Counter(tag for tag in mine.upos if tag not in skipped) == Counter(
            tag for tag in its.upos if tag not in skipped
        )
    pairs = dict(one.dictionary("src", "sov"))
    nouns = [w for w, tag in zip(source[0].words, source[0].upos, strict=True) if tag == "NOUN"]
    assert {pairs[noun] for noun in nouns} <= set(target[0].words)
    train = [one.corpus(language, split="train", sentences=50) for language in ("src", "sov")]
    assert [Counter(s.upos)["VERB"] for s in train[0].sentences] != [
        Counter(s.upos)["VERB"] for s in train[1].sentences
    ]


ORDERS = {
    "a": Language(suffixes=True),
    "b": Language(order="VOS", adjective="after", determiners=False, relative="before"),
    "c": Language(order="OSV", auxiliaries=False, accusative=True, suffixes=True),
}


@pytest.mark.parametrize("chosen", [*sorted(PRESETS), "good-w1", "other orders"])
def test_splits_share_no_structure_and_evaluation_sets_no_sentence_with_raw_text(chosen):
    """Between all languages, and not only within one."""
    one = lab(languages=ORDERS, seed=3) if chosen == "other orders" else find_laboratory(chosen)
    structures, sentences = {}, {}
    for split in SIZES:
        corpora = [one.corpus(language, split=split, sentences=500) for language in one.languages]
        structures[split] = {(s.upos, s.heads) for corpus in corpora for s in corpus.sentences}
        sentences[split] = {" ".join(s.words) for corpus in corpora for s in corpus.sentences}
        assert len(structures[split]) > 200
    raw = {line for language in one.languages for line in one.text(language)}
    assert len(raw) > 10_000
    assert sentences["train"] & raw  # raw text and train sets have their structures in common
    for split, other in combinations(SIZES, 2):
        assert not structures[split] & structures[other]
        assert not sentences[split] & sentences[other]
    for split in ("dev", "test"):
        assert not sentences[split] & raw


def test_each_split_is_drawn_apart(monkeypatch):
    """If all splits had the same structures, the sentences with the same number would still have different ones."""
    one = lab()
    monkeypatch.setattr(Laboratory, "structures", lambda self, split: self.world.trees)
    drawn = {split: [(s.upos, s.heads) for s in one.corpus("sov", split=split)][:300] for split in SIZES}
    for split, other in combinations(SIZES, 2):
        same = sum(a == b for a, b in zip(drawn[split], drawn[other], strict=True))
        assert same < 15, (split, other)  # 1 by chance, more for short structures
    assert len(set(drawn["train"])) > 100


def test_raw_text_and_train_sets_have_the_structures_of_the_world():
    one = find_laboratory()
    known = {(s.upos, s.heads) for s in one.corpus("sov", split="train").sentences}
    grammar = one.settings.languages["sov"]
    trees = [
        (tuple(KINDS[t[place].kind].upos for place in grammar.linear(t)), tuple(heads_of(t, grammar.linear(t))))
        for t in one.world.trees
    ]
    assert known <= set(trees)
    assert len(known) > 0.9 * len(set(trees))


def test_a_grammar_with_too_few_structures():
    with pytest.raises(RequestError, match="too few sentence structures of 4 to 4 words"):
        lab(world={"longest": 4}).corpus("src", split="test")
    assert len(lab(world={"longest": 4}).corpus("src", split="train", sentences=10)) == 10


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_gold_is_whole_and_written_files_are_read_back(preset, tmp_path):
    one = find_laboratory(preset)
    for language in one.languages:
        corpus = one.corpus(language, sentences=40)
        assert corpus.layers == {"upos", "heads", "relations", "entities"}
        conllu.check_trees(corpus)
        conllu.write(corpus, tmp_path / "x.conllu")
        again = conllu.read(tmp_path / "x.conllu")
        assert [(s.words, s.upos, s.heads, s.relations) for s in again.sentences] == [
            (s.words, s.upos, s.heads, s.relations) for s in corpus.sentences
        ]
        iob.write(corpus, tmp_path / "x.iob2")
        assert [s.entities for s in iob.read(tmp_path / "x.iob2").sentences] == [s.entities for s in corpus.sentences]


def test_entities_are_names():
    corpus = lab().corpus("src", split="train", sentences=300)
    for sentence in corpus.sentences:
        for tag, kind in zip(sentence.entities, sentence.upos, strict=True):
            assert (tag == "O") == (kind != "PROPN")
    tags = Counter(tag for s in corpus.sentences for tag in s.entities)
    assert {"B-PER", "I-PER", "B-LOC", "B-ORG"} <= set(tags)


def test_text_is_not_parallel():
    """Of two languages of one grammar and one lexicon, no line has the same place, and few lines are common."""
    same = {"a": Language(), "b": Language()}
    one = lab(languages=same, anchors=1, names=1, numerals=1, homonyms=0)
    pairs = dict(one.dictionary("a", "b"))
    first = [" ".join(pairs.get(word, word) for word in line.split()) for line in one.text("a", sentences=500)]
    second = one.text("b", sentences=500)
    assert set(" ".join(first).split()) & set(" ".join(second).split()) > {"."}
    assert len(set(first) & set(second)) < 50


def test_text_is_of_the_same_grammar():
    one = lab()
    lines = one.text("sov", sentences=500)
    assert len(lines) == 500
    words = {word for line in lines for word in line.split()}
    assert words <= set(one.lexicons["sov"])
    assert all(line.endswith(one.lexicons["sov"][-1]) for line in lines)


def test_lines_of_text_are_shuffled():
    """Neighbours are of one length as often as any two lines."""
    lengths = [len(line.split()) for line in lab().text("sov", sentences=4000)]
    chance = sum((count / 4000) ** 2 for count in Counter(lengths).values())
    neighbours = sum(one == other for one, other in pairwise(lengths)) / 3999
    assert neighbours == pytest.approx(chance, abs=0.03)


def test_shares():
    content = [kind for kind, its in KINDS.items() if its.content]
    none = lab(anchors=0, names=0, numerals=0, false_friends=0, homonyms=0)
    assert shared(none, *content, "place", "numeral") == 0
    assert shared(none, "full_stop") == 1
    assert set(none.lexicons["src"]) & set(none.lexicons["sov"]) == {none.lexicons["src"][-1]}
    every = lab(anchors=1, homonyms=0)
    assert shared(every, *content, "place", "numeral") == 1
    assert shared(every, "determiner") == 0
    some = lab(anchors=0.25, false_friends=0, homonyms=0)
    assert 0.2 < shared(some, *content) < 0.35
    assert shared(some, "first_name", "surname", "place", "organisation") == 1


def test_false_friends_are_words_of_other_concepts():
    one = lab(anchors=0, names=0, numerals=0, false_friends=1, homonyms=0)
    source, target = one.lexicons["src"], one.lexicons["sov"]
    content = [i for i, (kind, _) in enumerate(one.world.concepts) if KINDS[kind].content]
    friends = [i for i in content if target[i] in source]
    assert len(friends) > 0.9 * len(content)
    assert all(source[i] != target[i] for i in friends)
    assert len(set(target)) == len(target)


def test_homonyms_cognates_namesakes_and_suffixes():
    one = lab(homonyms=1)
    nouns = set(one.lexicons["src"][:36])
    verbs = [w for (kind, _), w in zip(one.world.concepts, one.lexicons["src"], strict=True) if kind == "transitive"]
    assert sum(verb in nouns for verb in verbs) >= 8
    one = lab(anchors=0, cognates=1, false_friends=0, homonyms=0)
    pairs = [
        (a, b) for (kind, _), a, b in zip(one.world.concepts, *one.lexicons.values(), strict=True) if kind == "noun"
    ]
    assert all(len(a) == len(b) for a, b in pairs)
    changes = {(x, y) for a, b in pairs[:9] for x, y in zip(a, b, strict=True)}
    assert len(changes) == len({x for x, _ in changes})  # each sound becomes one other
    one = lab(world={"namesakes": 1.0})
    places = {w for (kind, _), w in zip(one.world.concepts, one.lexicons["src"], strict=True) if kind == "place"}
    named = [w for (kind, _), w in zip(one.world.concepts, one.lexicons["src"], strict=True) if kind == "organisation"]
    assert set(named) <= places
    plain, marked = lab(), lab(languages={"src": Language(suffixes=True)})
    bare = set(plain.lexicons["src"])
    assert all(word in bare for s in plain.corpus("src").sentences for word in s.words)
    forms = Counter()
    for sentence in marked.corpus("src").sentences:
        for line in sentence.lines:
            columns = line.split("\t")
            if len(columns) == 10 and columns[3] == "NOUN":
                forms[columns[5], columns[1] == columns[2]] += 1
    assert set(forms) == {("Number=Sing", True), ("Number=Plur", False)}


@pytest.mark.parametrize("script", ["cyrillic", "greek", "hebrew", "georgian"])
def test_scripts(script):
    one = lab(languages={"src": Language(), "other": Language(script=script)}, anchors=0, names=0, false_friends=0)
    words = {w for s in one.corpus("other", sentences=30).sentences for w in s.words[:-1]}
    own = [word for word in words if not word.isascii()]
    assert len(own) > 0.7 * len(words)


def test_laboratories_are_corpora_by_name():
    assert load_corpus("lab/sov:train[:10]").words == find_laboratory().corpus("sov", split="train", sentences=10).words
    assert load_corpus("lab/sov").language == "sov"
    assert load_corpus("lab/sov_cognates:dev").name == "lab/sov_cognates:dev"
    assert match_corpora("lab/*") == ["lab/src", "lab/adj", "lab/gen", "lab/sov"]
    assert match_corpora("lab/s*_no_anchors:dev") == ["lab/src_no_anchors:dev", "lab/sov_no_anchors:dev"]
    with pytest.raises(RequestError, match="corpus 'lab/x"):
        match_corpora("lab/x*")
    assert load_parallel("lab/all", languages=["src", "sov"]).languages == ("sov", "src")
    assert list_corpora()["lab/src"] == ["train", "dev", "test"]
    with pytest.raises(RequestError, match=r"no language 'sow'.*did you mean 'sov'"):
        load_corpus("lab/sow")
    with pytest.raises(RequestError, match=r"unknown preset 'cognate'.*did you mean 'cognates'"):
        load_corpus("lab/sov_cognate")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"anchors": 1.2}, "less than or equal to 1"),
        ({"false_friends": -0.1}, "greater than or equal to 0"),
        ({"languages": {}}, "language names must consist of lower-case letters"),
        ({"languages": {"a_b": Language()}}, "language names must consist of lower-case letters and digits: .*a_b"),
        ({"languages": {"Ab": Language()}}, "language names must consist of lower-case letters and digits: .*Ab"),
        ({"languages": {"a": {"order": "SVV"}}}, "order"),
    ],
)
def test_laboratories_that_cannot_be(settings, message):
    with pytest.raises(RequestError, match=message):
        lab(**settings)


def test_unknown_names():
    with pytest.raises(RequestError, match=r"unknown preset 'god'.*'good'"):
        find_laboratory("god")
    with pytest.raises(RequestError, match=r"no language 'x'.*known: sov, src"):
        lab().corpus("x")
    for ask in (lambda one: one.dictionary("src", "x"), lambda one: one.text("x"), lambda one: one.documents("x")):
        with pytest.raises(RequestError, match="no language 'x'"):
            ask(lab())
    with pytest.raises(RequestError, match="unknown split 'tset'"):
        lab().corpus("src", split="tset")


UDVALIDATE = Path(sys.executable).with_name("udvalidate")


@pytest.mark.skipif(not UDVALIDATE.exists(), reason="udvalidate is not there: pip install udtools")
def test_the_universal_dependencies_validator_accepts_it(tmp_path):
    """Levels 1 and 2: the format, and what holds in every language. GPL, so run as a program."""
    for preset in ("good", "no-anchors"):
        one = find_laboratory(preset)
        for language in one.languages:
            conllu.write(one.corpus(language, split="train", sentences=300), tmp_path / "x.conllu")
            command = [str(UDVALIDATE), "--lang=ud", "--level=2", str(tmp_path / "x.conllu")]
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout[-800:] + done.stderr[-800:]
