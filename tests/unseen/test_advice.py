"""What is counted of a text, the rule that is fitted to transfer, and the advice made of both."""

from dataclasses import replace

import numpy as np
import pytest

from crosslens.corpora.catalogue import load_corpus
from crosslens.data.corpus import Corpus
from crosslens.data.parallel import join
from crosslens.data.sentence import Sentence, Text
from crosslens.errors import DataError, RequestError
from crosslens.unseen.advice import advise
from crosslens.unseen.confidence import measure_confidence, read_states, train_probes
from crosslens.unseen.evidence import FEATURES, gather, vocabulary_scripts
from crosslens.unseen.rule import COLUMNS, LEVEL, Measured, Provenance, Rule, read_rule, write_rule


def words(*sentences, language="wo"):
    return Corpus(tuple(Sentence(tuple(s.split())) for s in sentences), "mine", language)


def made_up(languages=8, noise=0.0, seed=0):
    """Transfer that depends on the features exactly, but for noise."""
    generator = np.random.default_rng(seed)
    rows = []
    for number in range(languages):
        for source in ("en", "fr"):
            features = generator.normal(size=len(FEATURES))
            score = 50 + features @ [-6, -2, 3, 5, 4] + noise * generator.normal()
            rows.append(Measured(f"l{number}", f"c{number}", source, float(score), tuple(features)))
    return Rule(tuple(rows), Provenance("made up"))


def fitted_to(encoder, rows):
    """A rule that says that it was fitted to an encoder."""
    return Rule(tuple(rows), Provenance("the encoder of the tests", encoder.body_digest, "pos"))


def test_evidence_by_hand(encoder):
    text, train = words("the cat a猫", "яблоко ."), words("the dog sees .", language="en")
    probes = {"en": train_probes(encoder, load_corpus("lab/src:train[:20]"))}
    found = gather(encoder, text, {"en": train}, probes)
    assert found.scripts == {
        "Latn": pytest.approx(100 * 7 / 14),
        "Cyrl": pytest.approx(100 * 6 / 14),
        "Hani": pytest.approx(100 / 14),
    }
    assert found.script == "Latn"
    known = [i for s in text.sentences for w in s.words for i in encoder.tokenizer.encode(w, add_special_tokens=False)]
    known = [i for i in known if i != encoder.tokenizer.unk_token_id]
    seen = {i for w in train[0].words for i in encoder.tokenizer.encode(w, add_special_tokens=False)}
    assert found.overlap["en"] == pytest.approx(100 * np.mean([i in seen for i in known]))
    pieces = [p for p in encoder.tokenizer.get_vocab() if sum(map(str.isalpha, p)) > 1]
    assert found.pieces == vocabulary_scripts(encoder.tokenizer)["Latn"] == len(pieces)
    assert found.features("en").shape == (len(FEATURES),)
    sure = measure_confidence(probes["en"], read_states(encoder, text))
    assert found.features("en")[-2:] == pytest.approx([sure.confident, sure.agreement])


def test_vocabularies_of_bytes_are_read_as_text():
    from toys import byte_level

    assert vocabulary_scripts(byte_level())["Latn"] > 10


def test_text_that_nobody_can_read(encoder):
    with pytest.raises(DataError, match="no letter of any known script"):
        gather(encoder, words("12 3 !", "\ue000\ue001"), {"en": words("the cat")}, {})


def test_a_rule_finds_what_is_linear_and_knows_how_wrong_it_is():
    exact, noisy = made_up(200), made_up(30, noise=20)
    assert exact.error.value < 1 < noisy.error.value
    assert exact.error.high < exact.constant_error.value / 3
    assert noisy.error.low < noisy.error.value < noisy.error.high
    assert exact.regret.value < 1
    assert exact.can_choose
    assert not noisy.can_choose
    for row in exact.measured:
        assert exact.expected(row.features, row.source) == pytest.approx(row.score, abs=2)


def test_a_source_has_a_constant_of_its_own():
    rows = made_up(100).measured
    moved = Rule(tuple(replace(row, score=row.score - 20 * (row.source == "fr")) for row in rows))
    features = np.zeros(len(FEATURES))
    assert moved.expected(features, "en") - moved.expected(features, "fr") == pytest.approx(20, abs=1.5)
    assert moved.error.value < 2


def test_a_language_is_left_out_whole():
    """In all its corpora and scripts: what is expected of it does not change with its own scores."""
    rule = made_up(6, noise=5)
    changed = Rule(
        tuple(
            its if its.language != "l2" else Measured(its.language, its.corpus, its.source, 0.0, its.features)
            for its in rule.measured
        )
    )
    mine = [i for i, its in enumerate(rule.measured) if its.language == "l2"]
    for i, (a, b) in enumerate(zip(rule.held_out, changed.held_out, strict=True)):
        assert (a == b) == (i in mine)


def test_what_is_expected_stays_a_score():
    rule = made_up()
    assert 0 <= rule.expected([1e6, 0, 0, 0, 0], "en") <= 100
    assert 0 <= rule.expected([-1e6, 0, 0, 0, 0], "en") <= 100


def test_rules_are_written_and_read(tmp_path):
    rule = made_up()
    write_rule(rule, tmp_path / "rule.csv")
    again = read_rule(tmp_path / "rule.csv")
    assert again.provenance == rule.provenance
    assert [its.score for its in again.measured] == pytest.approx([its.score for its in rule.measured], abs=0.01)
    assert again.error == pytest.approx(rule.error, abs=0.05)
    complete = Rule(rule.measured, Provenance("an encoder: small", "abc", "pos", "one seed"))
    write_rule(complete, tmp_path / "complete.csv")
    assert read_rule(tmp_path / "complete.csv").provenance == complete.provenance


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a,b\n1,2\n", "wrong columns for measured transfer"),
        (",".join(COLUMNS) + "\nwo,c,en,high,,1,1,1,1,1\n", "not a row of measured transfer"),
        (",".join(COLUMNS) + "\nwo,c,en,50,,1,1,1,1,1\n", "at least three languages"),
    ],
)
def test_files_that_are_no_rules(tmp_path, text, reason):
    (tmp_path / "rule.csv").write_text(text)
    with pytest.raises(DataError, match=reason):
        read_rule(tmp_path / "rule.csv")
    with pytest.raises(DataError, match="cannot be read"):
        read_rule(tmp_path / "missing.csv")


def test_a_constant_guess_is_the_mean_of_other_languages_from_the_same_source():
    rows = [
        Measured(f"l{n}", f"c{n}", source, 40.0 + n - 30 * (source == "ar"), (1.0, 1.0, n, 1.0, 1.0))
        for n in range(4)
        for source in ("en", "ar")
    ]
    by_hand = np.mean([abs(n - np.mean([other for other in range(4) if other != n])) for n in range(4)])
    assert Rule(tuple(rows)).constant_error.value == pytest.approx(by_hand)


def test_the_interval_covers_its_share_of_the_languages():
    rule = made_up(40, noise=10)
    assert np.mean(rule.errors <= rule.half_width) == pytest.approx(LEVEL, abs=0.05)
    assert rule.half_width < rule.errors.max()
    few = made_up(5, noise=10)  # of five languages 90 % is all
    assert few.half_width == few.errors.max()


def test_a_rule_without_a_language_has_nothing_of_it():
    rule = made_up(6)
    assert rule.without({"xx"}) is rule
    assert rule.without({"l2"}).languages == ("l0", "l1", "l3", "l4", "l5")
    assert rule.without((), "c2:train@uroman[:5]").treebanks == ("c0", "c1", "c3", "c4", "c5")


def test_a_rule_knows_where_it_was_fitted():
    rows = [Measured(f"l{n}", f"c{n}", "en", 50.0, (1.0 + n, 2.0, 30.0, 80.0, 90.0)) for n in range(3)]
    rule = Rule(tuple(rows))
    assert rule.outside((1.0, 2.0, 30.0, 80.0, 90.0), "en") == []
    assert rule.outside((3.2, 2.0, 30.0, 80.0, 90.0), "en") == []
    assert rule.outside((3.3, 2.0, 30.0, 79.0, 90.0), "de") == [
        "source de (fitted to en)",
        "fertility 3.3 (fitted from 1.0 to 3.0)",
        "confident words % 79.0 (fitted from 80.0 to 80.0)",
    ]


def test_the_shipped_rule_is_better_than_none():
    rule = read_rule()
    assert len(rule.languages) >= 20
    assert rule.error.value < rule.constant_error.value
    assert rule.provenance.body
    assert "e5-small" in rule.about
    assert "wo" in rule.languages


ANYTHING = [
    (fertility, characters, percent, percent, percent)
    for fertility, characters, percent in ((0.5, 0.0, 0.0), (5.0, 3.0, 100.0), (2.0, 1.5, 50.0))
]
"""Features whose range holds whatever the tests' encoder makes of a text."""


def measured_anywhere(score=50.0, adapted=None):
    """Three measured languages, of which nothing lies outside."""
    return [Measured(f"any{n}", f"c{n}", "src", score, row, adapted) for n, row in enumerate(ANYTHING)]


def test_an_encoder_is_recognised_whatever_its_vocabulary_was_trimmed_to(encoder, tiny_bert):
    from crosslens.encoders.load import load_encoder
    from crosslens.encoders.reinit import random_init

    trimmed = load_encoder(tiny_bert)
    trimmed.model.resize_token_embeddings(50)
    assert trimmed.digest != encoder.digest
    assert trimmed.body_digest == encoder.body_digest
    assert random_init(encoder, 1, seed=1).body_digest != encoder.body_digest


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


def test_parallel_sentences_are_looked_for(encoder, toy):
    sides = [
        Corpus(tuple(Text((s.text,), id=str(i)) for i, s in enumerate(toy("test"))), language, language)
        for language in ("en", "fr")
    ]
    found = advise(encoder, toy("train"), {"en": toy("train")}, schemes=(), parallel=join(sides, name="both"))
    assert found.retrieval == (100.0,) * 5  # a text is its own translation
    with pytest.raises(RequestError, match="has 1 languages, but two"):
        advise(encoder, toy("train"), {"en": toy("train")}, schemes=(), parallel=join(sides[:1], name="one"))


def test_a_source_is_needed(encoder, toy):
    with pytest.raises(RequestError, match="no source language was given"):
        advise(encoder, toy("train"), {})
    with pytest.raises(RequestError, match="unknown transliteration"):
        advise(encoder, toy("train"), {"en": toy("train")}, schemes=("klingon",), rule=made_up())


def test_a_rule_is_fitted_to_records_of_texts_as_they_are_written(encoder, treebanks):
    from crosslens.encoders.condition import Condition
    from crosslens.results.record import Record, Results
    from crosslens.unseen.fitting import fit_rule

    def score(corpus, target, value, *, seed=1, train="ud/en_toy:train", **condition):
        return Record(
            task="pos",
            encoder="e",
            metric="accuracy",
            source="en",
            target=target,
            value=value,
            seed=seed,
            corpus=corpus,
            train=train,
            **Condition(**condition).columns,
        )

    names = ("ud/fr_pud:test", "ud/fr_pud:test[:2]", "ud/fr_pud:test@latin-cyrillic[:2]")
    rows = [score(name, "fr", 50.0 + number) for number, name in enumerate(names)]
    rows += [score(names[1], "fr", 53.0, seed=2), score(names[1], "fr", 40.0, start="adapted")]
    rows += [score(names[0], "en", 99.0), score(names[0], "fr", 1.0, layers="1-2")]
    rule = fit_rule(Results.of(rows), encoder, data=str(treebanks), name="toy", training="one pass")
    assert rule.provenance == Provenance("toy", encoder.body_digest, "pos", "one pass")
    found = {row.corpus: (row.score, row.adapted) for row in rule.measured}
    assert found == {names[0]: (50.0, None), names[1]: (52.0, 40.0)}  # what is transliterated is left out
    assert len({row.features[0] for row in rule.measured}) == 2  # each was read, the whole and a part
    with pytest.raises(RequestError, match="several training corpora: ud/en_toy:train, ud/en_toy:dev"):
        fit_rule(Results.of([*rows, score(names[0], "fr", 60.0, train="ud/en_toy:dev")]), encoder, data=str(treebanks))
    with pytest.raises(RequestError, match="two records contradict one another"):
        fit_rule(Results.of([*rows, score(names[0], "fr", 60.0)]), encoder, data=str(treebanks))
