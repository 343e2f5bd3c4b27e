"""The advice made of a text's evidence and the rule fitted to transfer."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from crosslens.alignment.measure import sentence_retrieval
from crosslens.corpora.catalogue import load_corpus
from crosslens.data.corpus import Corpus
from crosslens.data.parallel import join
from crosslens.data.sentence import Text
from crosslens.errors import RequestError
from crosslens.unseen.advice import FEW, Way, _adapting, _expectation, advise
from crosslens.unseen.confidence import train_probes
from crosslens.unseen.rule import Measured, Provenance, Rule, read_rule
from made_rules import made_up
from toys import SENTENCES


def fitted_to(encoder, rows):
    """A rule that says that it was fitted to an encoder."""
    return Rule(tuple(rows), Provenance("the encoder of the tests", encoder.body_digest, "pos"))


ANYTHING = [
    (fertility, characters, percent, percent, percent)
    for fertility, characters, percent in ((0.5, 0.0, 0.0), (5.0, 3.0, 100.0), (2.0, 1.5, 50.0))
]
"""Features whose range holds whatever the tests' encoder makes of a text."""


def measured_anywhere(score=50.0, adapted=None):
    """Three measured languages, of which nothing lies outside."""
    return [Measured(f"any{n}", f"c{n}", "src", score, row, adapted) for n, row in enumerate(ANYTHING)]


def test_nothing_is_estimated_for_an_untrained_encoder(encoder, toy):
    """It has a vocabulary like any other, and was promised the points of the encoder that the rule was fitted to."""
    text, sources = toy("train"), {"src": toy("train")}
    rows = measured_anywhere()
    assert advise(encoder, text, sources, schemes=(), rule=fitted_to(encoder, rows)).ways
    for rule in (Rule(tuple(rows)), replace(read_rule(), measured=tuple(rows))):
        advice = advise(encoder, text, sources, schemes=(), rule=rule)
        assert advice.recommendation == "cannot estimate"
        assert advice.ways == ()
        assert "looks untrained" in " ".join(advice.refusals)
        assert "points expected" not in " ".join(advice.reasons)


def test_nothing_is_estimated_outside_what_the_rule_was_fitted_to(encoder, toy):
    text, sources = toy("train"), {"src": toy("train")}
    rows = measured_anywhere()
    narrow = [replace(row, features=(4.0 + n, *row.features[1:])) for n, row in enumerate(rows)]
    for rule, why in (
        (fitted_to(encoder, narrow), "fertility 2.1 (fitted from 4.0 to 6.0)"),
        (fitted_to(encoder, [replace(row, source="de") for row in rows]), "source src (fitted to de)"),
        (fitted_to(encoder, rows[:2]), "fewer than three languages"),
    ):
        advice = advise(encoder, text, sources, schemes=(), rule=rule)
        assert advice.recommendation == "cannot estimate"
        assert advice.ways == ()
        assert why in " ".join(advice.refusals)


def test_nothing_is_estimated_for_another_trained_encoder(encoder, toy, monkeypatch):
    monkeypatch.setattr("crosslens.unseen.advice.LEARNT", -100.0)  # the tests have no trained encoder
    rule = replace(read_rule(), measured=tuple(measured_anywhere()))
    advice = advise(encoder, toy("train"), {"src": toy("train")}, schemes=(), rule=rule)
    assert advice.recommendation == "cannot estimate"
    assert advice.ways == ()
    assert "was fitted to multilingual-e5-small" in " ".join(advice.refusals)
    assert "looks untrained" not in " ".join(advice.refusals)


def test_nothing_is_expected_from_a_source_that_the_rule_was_not_fitted_to(encoder, toy):
    """Neither first nor last: it has no constant of its own, and could be the best by mistake."""
    sources = {"src": toy("train"), "other": toy("train")}
    advice = advise(encoder, toy("train"), sources, schemes=(), rule=fitted_to(encoder, measured_anywhere()))
    assert [way.source for way in advice.ways] == ["src"]
    assert set(advice.accuracy) == {"src", "other"}
    (reason,) = (reason for reason in advice.reasons if "nothing is estimated" in reason)
    assert reason.startswith("From other, nothing is estimated")
    assert "source other (fitted to src)" in reason


def test_the_copy_that_an_unknown_encoder_is_compared_with_has_learnt_nothing(encoder, toy, monkeypatch):
    """Subword embeddings alone tell most parts of speech, so these are re-initialised, too."""
    probed = []

    def train_and_keep(probed_encoder, source):
        probed.append(probed_encoder)
        return train_probes(probed_encoder, source)

    monkeypatch.setattr("crosslens.unseen.advice.train_probes", train_and_keep)
    advise(encoder, toy("train"), {"src": toy("train")}, schemes=(), rule=Rule(tuple(measured_anywhere())))
    given, copy = (dict(each.model.named_parameters()) for each in probed)
    matrices = [name for name, parameter in given.items() if parameter.dim() > 1]
    assert any("word_embeddings" in name for name in matrices)
    assert not any(torch.equal(given[name], copy[name]) for name in matrices if "pooler" not in name)


def test_nothing_measured_on_the_language_itself_is_used(encoder):
    """Neither its scores nor what adapting to it gained."""
    text = Corpus(load_corpus("lab/src")[:200].items * 8, "long", "wol-Latn")
    rows = measured_anywhere(adapted=60.0)
    own = Measured("wo", "cwo", "src", 0.0, ANYTHING[-1], 99.0)
    advice = advise(encoder, text, {"src": text}, schemes=(), rule=fitted_to(encoder, [*rows, own]))
    assert advice.ways[0].expected == pytest.approx(50.0)
    assert "wo" not in advice.rule.languages
    assert "wo" not in " ".join(advice.reasons).replace("word", "")
    assert "any0 +10.0, any1 +10.0, any2 +10.0" in advice.reasons[-1]


@pytest.mark.parametrize(("gains", "chosen"), [((20.0, 10.0), "another source"), ((30.0, -18.0), "as it is")])
def test_another_source_is_recommended_where_choosing_gains_measurably(encoder, toy, gains, chosen):
    """Else the first one is, although more is expected of another, and the advice says that the rule cannot choose."""
    rows = [
        Measured(f"l{n}", f"c{n}", source, 40.0 + gains[n % 2] * (source == "fr"), features)
        for n, features in enumerate(ANYTHING * 4)
        for source in ("en", "fr")
    ]
    rule = fitted_to(encoder, rows)
    assert rule.can_choose == (chosen == "another source")
    sources = {"en": load_corpus("lab/src:train[:50]"), "fr": load_corpus("lab/sov:train[:50]")}
    advice = advise(encoder, toy("train"), sources, schemes=(), rule=rule)
    assert advice.ways[0].source == "fr"
    assert advice.recommendation == chosen
    assert ("cannot choose" in " ".join(advice.reasons)) == (chosen == "as it is")
    first = advice.reasons[0]
    assert first.startswith("Zero-shot from fr" if chosen == "another source" else "Zero-shot from en")


def test_transliterated_texts_are_counted_and_not_estimated(encoder):
    text = load_corpus("lab/sov@latin-cyrillic[:40]")
    advice = advise(
        encoder,
        text,
        {"src": load_corpus("lab/src:train[:100]")},
        schemes=("cyrillic-latin", "georgian-latin"),
        rule=fitted_to(encoder, measured_anywhere()),
    )
    assert set(advice.evidence) == {"", "cyrillic-latin"}  # a table of another script changes nothing
    assert advice.evidence[""].coverage.unknown > 80
    assert advice.evidence["cyrillic-latin"].coverage.unknown < 5
    assert len(advice.ways) == 1
    assert "No score is estimated for transliterated text" in " ".join(advice.reasons)


def test_adapting_goes_by_the_languages_most_alike(encoder):
    text = Corpus(load_corpus("lab/src")[:200].items * 8, "long", "xx")
    for gain, word in ((8.0, "as it is, then adapt"), (-8.0, "as it is")):
        rows = [
            Measured(f"l{n}", f"c{n}", "src", 50.0 + n, features, 50.0 + n + gain)
            for n, features in enumerate((*ANYTHING, *ANYTHING[:2]))
        ]
        advice = advise(encoder, text, {"src": text}, schemes=(), rule=fitted_to(encoder, rows))
        assert advice.recommendation == word
        assert f"l4 {gain:+.1f}" in advice.reasons[-1] or f"l2 {gain:+.1f}" in advice.reasons[-1]


def test_adaptation_is_judged_by_three_languages_that_score_alike_as_they_are(encoder):
    """Not by those that score alike after adaptation; with exactly three there are enough."""
    text = Corpus(load_corpus("lab/src")[:200].items * 8, "long", "xx")
    scores = {"near": (50.0, 90.0), "nearer": (50.1, 90.0), "nearest": (49.9, 90.0), "far": (90.0, 50.0)}
    scores["below"] = (10.0, 0.0)
    rows = [
        Measured(language, language, "src", before, features, after)
        for (language, (before, after)), features in zip(scores.items(), ANYTHING * 4, strict=False)
    ]
    rule = fitted_to(encoder, rows)
    evidence = advise(encoder, text, {"src": text}, schemes=(), rule=rule).evidence[""]
    helps, reason = _adapting(rule, 50.0, evidence)
    assert helps
    assert all(f"{language} +" in reason for language in ("near", "nearer", "nearest"))
    assert "far" not in reason
    assert "below" not in reason
    for count, assessed in ((3, True), (2, False)):
        _, reason = _adapting(fitted_to(encoder, rows[:count] + not_adapted(rows[count:])), 50.0, evidence)
        assert ("is not assessed" not in reason) == assessed


def test_a_language_that_several_sources_were_adapted_from_counts_once(encoder):
    text = Corpus(load_corpus("lab/src")[:200].items * 8, "long", "xx")
    rows = [
        Measured(language, language, source, 50.0 + far, ANYTHING[number], 50.0 + far + gain)
        for number, (language, far, gains) in enumerate((("a", 0, (1, 3)), ("b", 1, (4, 4)), ("c", 2, (9, 9))))
        for source, gain in zip(("src", "other"), gains, strict=True)
    ]
    rule = fitted_to(encoder, rows)
    evidence = advise(encoder, text, {"src": text}, schemes=(), rule=rule).evidence[""]
    assert "by a +2.0, b +4.0, c +9.0 points" in _adapting(rule, 50.0, evidence)[1]
    two = fitted_to(encoder, rows[:4] + not_adapted(rows[4:]))
    assert "measured on only 2 other languages" in _adapting(two, 50.0, evidence)[1]


@pytest.mark.parametrize(("gain", "words", "helps"), [(0.9, FEW, False), (1.1, FEW, True), (1.1, FEW - 1, False)])
def test_adapting_is_recommended_for_a_gain_of_more_than_a_point_measured_with_enough_text(gain, words, helps):
    rule = Rule(tuple(measured_anywhere(adapted=50.0 + gain)))
    recommended, reason = _adapting(rule, 50.0, SimpleNamespace(coverage=SimpleNamespace(words=words)))
    assert recommended == helps
    assert ("too few" in reason) == (words < FEW)


def test_a_treebank_of_the_rule_is_not_used_for_its_own_text(encoder, toy):
    """Whatever split the text is from, and also where its language is unknown."""
    rows = [*measured_anywhere(), replace(measured_anywhere()[0], language="own", corpus="ud/own:test")]
    text = replace(toy("train"), name="ud/own:train[:6]", language=None)
    advice = advise(encoder, text, {"src": toy("train")}, schemes=(), rule=fitted_to(encoder, rows))
    assert advice.rule.treebanks == ("c0", "c1", "c2")


def not_adapted(rows):
    return [replace(row, adapted=None) for row in rows]


def test_parallel_sentences_are_looked_for(encoder, toy):
    sides = [
        Corpus(tuple(Text((s.text,), id=str(i)) for i, s in enumerate(toy("test"))), language, language)
        for language in ("en", "fr")
    ]
    found = advise(encoder, toy("train"), {"en": toy("train")}, schemes=(), parallel=join(sides, name="both"))
    assert found.retrieval == (100.0,) * 5  # a text is its own translation
    with pytest.raises(RequestError, match="has 1 language, but two"):
        advise(encoder, toy("train"), {"en": toy("train")}, schemes=(), parallel=join(sides[:1], name="one"))


def test_retrieval_is_the_mean_of_both_directions(encoder, toy):
    """So it does not depend on which language is named first."""
    sides = {
        language: Corpus(tuple(Text((s,), id=str(i)) for i, s in enumerate(SENTENCES[language])), language, language)
        for language in ("en", "fr")
    }
    one, other = (
        advise(encoder, toy("train"), {"en": toy("train")}, schemes=(), parallel=join(pair, name="both")).retrieval
        for pair in ([sides["en"], sides["fr"]], [sides["fr"], sides["en"]])
    )
    assert one == pytest.approx(other)
    assert any(value % (100 / 6) > 1 for value in one)  # one direction finds more than the other
    both = join([sides["en"], sides["fr"]], name="both")
    asked = {"train": both, "test": both, "pair": ("en", "fr"), "mapping": "identity", "baselines": ()}
    of_encoder = sentence_retrieval(encoder, encoder, **asked).to_pandas().groupby("layer")["value"].mean()
    assert one == pytest.approx(of_encoder.tolist())  # without that of untrained encoders


def test_a_source_is_needed(encoder, toy):
    with pytest.raises(RequestError, match="no source language was given"):
        advise(encoder, toy("train"), {})
    with pytest.raises(RequestError, match="no source language was given"):
        advise(encoder, toy("train"), [toy("train")])
    for text, source in (("ud/en_toy", toy("train")), (toy("train"), "ud/en_toy")):
        with pytest.raises(RequestError, match="a str and not a corpus"):
            advise(encoder, text, {"en": source}, rule=made_up())
    with pytest.raises(RequestError, match="a str and not an encoder"):
        advise("e5-small", toy("train"), {"en": toy("train")}, rule=made_up())
    with pytest.raises(RequestError, match="unknown transliteration"):
        advise(encoder, toy("train"), {"en": toy("train")}, schemes=("klingon",), rule=made_up())


@pytest.mark.parametrize(
    ("expected", "interval"), [(2.0, "[0, {high}]"), (97.0, "[{low}, 100]"), (50.0, "[{low}, {high}]")]
)
def test_the_interval_of_an_estimate_ends_where_scores_end(expected, interval):
    rule = made_up(30, noise=10)
    assert 5 < rule.half_width < 45
    low, high = (f"{expected + sign * rule.half_width:.0f}" for sign in (-1, 1))
    text = _expectation(Way("en", expected), rule)
    assert text.endswith(f"points expected, 90 % interval {interval.format(low=low, high=high)}.")


def test_a_trimmed_vocabulary_is_named_with_what_the_estimate_needs(encoder, toy):
    size = len(encoder.tokenizer)
    for vocabulary, named in ((str(size + 1), True), (str(size), False), ("", False)):
        rule = fitted_to(encoder, measured_anywhere())
        rule = replace(rule, provenance=replace(rule.provenance, vocabulary=vocabulary))
        advice = advise(encoder, toy("train"), {"src": toy("train")}, schemes=(), rule=rule)
        assert (f"trimmed to {size:,} subwords" in " ".join(advice.reasons)) is named
    assert read_rule().provenance.vocabulary == "250002"
