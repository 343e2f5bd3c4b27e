import os
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from crosslens.corpora.catalogue import load_corpus
from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Sentence
from crosslens.errors import DataError, RequestError
from crosslens.results.record import Record, Results
from crosslens.similarity.transfer_gap import correlations
from crosslens.similarity.word_order import Directions, word_order_distance

SVO = Sentence(
    ("dogs", "see", "cats", "."), ("NOUN", "VERB", "NOUN", "PUNCT"), (2, 0, 2, 2), ("nsubj", "root", "obj", "punct")
)
SOV = Sentence(
    ("dogs", "cats", "see", "."), ("NOUN", "NOUN", "VERB", "PUNCT"), (3, 3, 0, 3), ("nsubj", "obj:x", "root", "punct")
)


def treebank(*sentences, language="xx"):
    return Corpus(sentences, f"toy/{language}", language, "test")


def distance(source, target):
    return word_order_distance(source, [target]).records["value"].to_pylist()[0]


def backwards(sentence):
    """The same tree read from right to left."""
    heads = [head and len(sentence.words) + 1 - head for head in reversed(sentence.heads)]
    return Sentence(sentence.words[::-1], sentence.upos[::-1], tuple(heads), sentence.relations[::-1])


def test_by_hand_without_punctuation_roots_and_subtypes():
    """Subjects precede verbs in both; objects in 1 of 1 and 1 of 4 sentences."""
    (record,) = word_order_distance(treebank(SOV), [treebank(SVO, SVO, SVO, SOV)]).records.to_pylist()
    assert record["value"] == pytest.approx((0 + 0.75) / 2)
    assert (record["n"], record["encoder"], record["measure"]) == (2, None, "word_order")


def test_a_treebank_is_at_no_distance_from_itself_and_its_reverse_is_as_far_as_can_be():
    assert distance(treebank(SVO), treebank(SVO)) == 0
    assert distance(treebank(SVO), treebank(backwards(SVO))) == 1


def test_it_is_symmetric_and_forgets_words_and_the_order_of_sentences():
    english, hindi = (load_corpus(f"sample/{name}") for name in ("en:train", "hi:test"))
    there = distance(english, hindi)
    assert 0 < there < 1
    assert distance(hindi, english) == there
    assert distance("sample/en", "sample/hi") == there != distance("sample/en:test", "sample/hi")
    unnamed = [replace(sentence, words=("w",) * len(sentence.words)) for sentence in reversed(hindi.sentences)]
    assert distance(english, treebank(*unnamed)) == there


def test_artificial_languages_are_as_far_as_their_grammars():
    """`adj` moves adjectives behind nouns, `sov` verbs behind objects; both have the trees of `src`."""
    source = load_corpus("lab/src[:300]")
    far = {name: distance(source, load_corpus(f"lab/{name}[:300]")) for name in ("adj", "sov")}
    assert 0 < far["adj"] < far["sov"]
    assert word_order_distance("lab/src:test[:300]", "lab/sov[:300]").records["value"].to_pylist() == [far["sov"]]


def test_what_is_no_treebank_is_refused():
    with pytest.raises(RequestError, match="at least one target treebank"):
        word_order_distance(treebank(SVO), [])
    with pytest.raises(DataError, match="toy/yy lacks parts of speech or trees"):
        distance(treebank(SVO), treebank(Sentence(("a", "b")), language="yy"))
    other = replace(SVO, upos=("X", "X", "X", "PUNCT"))
    with pytest.raises(DataError, match="share no frequent type"):
        distance(treebank(SVO), treebank(other))


def test_it_correlates_with_the_gap_of_every_encoder():
    far = {"de": 0.1, "fr": 0.1, "hi": 0.4, "ru": 0.2}
    records = [
        Record(
            source="en", target=target, measure="word_order", metric="distance", value=value, corpus=f"ud/{target}_x"
        )
        for target, value in far.items()
    ]
    for encoder in ("e", "f"):
        score = Record(task="pos", encoder=encoder, source="en", target="en", metric="accuracy", value=90.0)
        records += [score, *(replace(score, target=target, value=90 - 50 * value) for target, value in far.items())]
    rows = correlations(Results.of(records), measures=["word_order"])
    assert [(row.encoder, row.state, row.layer) for row in rows] == [(name, "treebanks", None) for name in ("e", "f")]
    assert [row.correlation.value for row in rows] == [pytest.approx(1), pytest.approx(1)]


@pytest.mark.realdata
@pytest.mark.skipif("CROSSLENS_DATA" not in os.environ, reason="CROSSLENS_DATA names no data")
def test_distances_of_real_treebanks_go_with_the_published_ones():
    """Wu & Dredze (2019), Table 6, column Dist, from Ahmad et al. (2019), over 31 treebanks of UD 2.2."""
    published = {
        "sv": 0.07,
        "fr": 0.09,
        "pt": 0.09,
        "es": 0.12,
        "it": 0.12,
        "pl": 0.13,
        "cs": 0.14,
        "de": 0.14,
        "ru": 0.14,
    }
    published |= {"id": 0.17, "fi": 0.20, "zh": 0.23, "ar": 0.26, "ko": 0.33, "hi": 0.40, "ja": 0.49}
    source = load_corpus("ud/en_pud")
    ours = [distance(source, load_corpus(f"ud/{language}_pud")) for language in published]
    assert stats.pearsonr(ours, list(published.values())).statistic > 0.9


def test_a_type_is_frequent_from_a_thousandth_on():
    subject, thing = ("nsubj", "VERB", "NOUN"), ("obj", "VERB", "NOUN")
    for count, frequent in ((999, {subject, thing}), (1000, {subject})):
        assert Directions(Counter({subject: count, thing: 1}), Counter()).frequent == frequent


def test_a_type_that_is_rare_in_either_treebank_is_not_compared():
    """One object among 1,500 subjects is below a thousandth, whichever treebank it is in."""
    subject = Sentence(("dogs", "see"), ("NOUN", "VERB"), (2, 0), ("nsubj", "root"))
    mostly_subjects, both = treebank(*[subject] * 1500, SVO), treebank(SOV, language="yy")
    for source, target in ((mostly_subjects, both), (both, mostly_subjects)):
        (record,) = word_order_distance(source, [target])
        assert (record.n, record.value) == (1, 0.0)


def test_the_distance_is_that_of_the_files_read_line_by_line():
    """Once more from the columns of CoNLL-U, with shares as in Ahmad et al. (2019)."""

    def directions(corpus):
        sides = defaultdict(list)
        for sentence in corpus.sentences:
            rows = [row for row in (line.rstrip("\n").split("\t") for line in sentence.lines) if row[0].isdigit()]
            upos = {row[0]: row[3] for row in rows}
            for number, _, _, tag, _, _, head, relation, *_ in rows:
                if head != "0" and tag != "PUNCT":
                    sides[relation.split(":")[0], upos[head], tag].append(int(number) < int(head))
        total = sum(map(len, sides.values()))
        return {kind: np.mean(before) for kind, before in sides.items() if len(before) >= total / 1000}

    treebanks = [load_corpus(f"sample/{name}:test") for name in ("en", "fr", "hi")]
    for source, target in permutations(treebanks, 2):
        ours, theirs = directions(source), directions(target)
        kinds = ours.keys() & theirs.keys()
        (record,) = word_order_distance(source, [target])
        assert len(kinds) > 20
        assert record.n == len(kinds)
        assert record.value == pytest.approx(np.mean([abs(ours[kind] - theirs[kind]) for kind in kinds]))
