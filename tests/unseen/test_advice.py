"""What is counted of a text, the rule that is fitted to transfer, and the advice made of both."""

import numpy as np
import pytest

from crosslens.catalogue import load_corpus
from crosslens.data.corpus import Corpus
from crosslens.data.parallel import join
from crosslens.data.sentence import Sentence, Text
from crosslens.errors import DataError, RequestError
from crosslens.unseen.advice import advise
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
            features = generator.normal(size=4)
            score = 50 + features @ [-6, -2, 3, 5] + noise * generator.normal()
            rows.append(Measured(f"l{number}", f"c{number}", "", source, float(score), tuple(features)))
    return Rule(tuple(rows), Provenance("made up"))


def fitted_to(encoder, rows):
    """A rule that says that it was fitted to an encoder."""
    return Rule(tuple(rows), Provenance("the encoder of the tests", encoder.body_digest, "pos"))


def test_evidence_by_hand(encoder):
    text, train = words("the cat a猫", "яблоко ."), words("the dog sees .", language="en")
    found = gather(encoder, text, {"en": train})
    assert found.scripts == {"Latn": pytest.approx(100 * 7 / 14), "Cyrl": pytest.approx(100 * 6 / 14),
                             "Hani": pytest.approx(100 / 14)}  # fmt: skip
    assert found.script == "Latn"
    known = [i for s in text.sentences for w in s.words for i in encoder.tokenizer.encode(w, add_special_tokens=False)]
    known = [i for i in known if i != encoder.tokenizer.unk_token_id]
    seen = {i for w in train[0].words for i in encoder.tokenizer.encode(w, add_special_tokens=False)}
    assert found.overlap["en"] == pytest.approx(100 * np.mean([i in seen for i in known]))
    pieces = [p for p in encoder.tokenizer.get_vocab() if sum(map(str.isalpha, p)) > 1]
    assert found.pieces == vocabulary_scripts(encoder.tokenizer)["Latn"] == len(pieces)
    assert found.features("en").shape == (len(FEATURES),)


def test_vocabularies_of_bytes_are_read_as_text():
    from conftest import byte_level

    assert vocabulary_scripts(byte_level())["Latn"] > 10


def test_text_that_nobody_can_read(encoder):
    with pytest.raises(DataError, match="no letter of any known script"):
        gather(encoder, words("12 3 !", "\ue000\ue001"), {"en": words("the cat")})


def test_a_rule_finds_what_is_linear_and_knows_how_wrong_it_is():
    exact, noisy = made_up(30), made_up(30, noise=10)
    assert exact.error.value < 1 < noisy.error.value
    assert exact.error.high < exact.constant_error.value / 3
    assert noisy.error.low < noisy.error.value < noisy.error.high
    assert exact.regret.value < 1
    assert exact.can_choose
    assert not noisy.can_choose
    for its in exact.measured:
        assert exact.expected(its.features) == pytest.approx(its.score, abs=1.5)


def test_a_language_is_left_out_whole():
    """In all its corpora and scripts: what is expected of it does not change with its own scores."""
    rule = made_up(6, noise=5)
    changed = Rule(tuple(
        its if its.language != "l2" else Measured(its.language, its.corpus, its.scheme, its.source, 0.0, its.features)
        for its in rule.measured
    ))  # fmt: skip
    mine = [i for i, its in enumerate(rule.measured) if its.language == "l2"]
    for i, (a, b) in enumerate(zip(rule.held_out, changed.held_out, strict=True)):
        assert (a == b) == (i in mine)


def test_what_is_expected_stays_a_score():
    rule = made_up()
    assert 0 <= rule.expected([1e6, 0, 0, 0]) <= 100
    assert 0 <= rule.expected([-1e6, 0, 0, 0]) <= 100


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
        ("a,b\n1,2\n", "has not the columns"),
        (",".join(COLUMNS) + "\nwo,c,,en,high,,1,1,1,1\n", "is no measured transfer"),
        (",".join(COLUMNS) + "\nwo,c,,en,50,,1,1,1,1\n", "fewer than three languages"),
    ],
)
def test_files_that_are_no_rules(tmp_path, text, reason):
    (tmp_path / "rule.csv").write_text(text)
    with pytest.raises(DataError, match=reason):
        read_rule(tmp_path / "rule.csv")
    with pytest.raises(DataError, match="cannot be read"):
        read_rule(tmp_path / "missing.csv")


def test_a_constant_guess_is_the_mean_of_other_languages_in_the_same_script():
    rows = [Measured(f"l{n}", f"c{n}", scheme, "en", 40.0 + n - 30 * bool(scheme), (1.0, 1.0, 0.0, n))
            for n in range(4) for scheme in ("", "uroman")]  # fmt: skip
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
    rows = [Measured(f"l{n}", f"c{n}", "", "en", 50.0, (1.0 + n, 2.0, 0.0, 30.0)) for n in range(3)]
    rule = Rule(tuple(rows))
    assert rule.outside((1.0, 2.0, 0.0, 30.0)) == []
    assert rule.outside((3.2, 2.0, 0.0, 30.0)) == []
    assert rule.outside((3.3, 2.0, 0.0, 31.0)) == [
        "fertility 3.3 (fitted from 1.0 to 3.0)", "overlap with the source % 31.0 (fitted from 30.0 to 30.0)"
    ]  # fmt: skip


def test_the_shipped_rule_is_better_than_none():
    rule = read_rule()
    assert len(rule.languages) >= 20
    assert rule.error.value < rule.constant_error.value
    assert rule.provenance.body
    assert "e5-small" in rule.about
    assert "wo" in rule.languages


def test_nothing_is_estimated_for_another_encoder(encoder, toy):
    """One with the same vocabulary and fresh weights has the same features, and would be promised the same points."""
    from crosslens.encoders.ablation import random_init

    rule = fitted_to(encoder, [
        Measured(f"l{n}", f"c{n}", "", "src", 50.0 + n, (1.0 + n, n, 0.0, 50.0 * n)) for n in range(5)
    ])  # fmt: skip
    text, sources = toy("train"), {"src": toy("train")}
    assert advise(encoder, text, sources, schemes=(), rule=rule).ways
    untrained = random_init(encoder, "all", seed=1)
    for other, by, why in (
        (untrained, rule, "is another encoder"),
        (encoder, Rule(rule.measured), "does not say which encoder"),
        (encoder, read_rule(), "is another encoder"),
        (encoder, fitted_to(encoder, rule.measured[2:]), "fertility 2.1 (fitted from 3.0 to 5.0)"),
        (encoder, fitted_to(encoder, rule.measured[:2]), "fewer than three languages"),
    ):
        advice = advise(other, text, sources, schemes=(), rule=by)
        assert advice.recommendation == "cannot estimate"
        assert advice.ways == ()
        assert why in " ".join(advice.refusals)
        assert "points expected" not in " ".join(advice.reasons)


def test_nothing_measured_on_the_language_itself_is_used(encoder):
    """Neither its scores nor what adapting to it gained."""
    text = Corpus(load_corpus("lab/src")[:200].items * 8, "long", "wol-Latn")
    rows = [
        Measured(name, f"c{name}", "", "src", 50.0, (3.0 + n, 1.0 + n, 0.0, 97.0 + n), 60.0)
        for n, name in enumerate("abcd")
    ]
    own = Measured("wo", "cwo", "", "src", 0.0, (4.0, 1.0, 0.0, 100.0), 99.0)
    advice = advise(encoder, text, {"src": text}, schemes=(), rule=fitted_to(encoder, [*rows, own]))
    assert advice.ways[0].expected == pytest.approx(50.0)
    assert "wo" not in advice.rule.languages
    assert "wo" not in " ".join(advice.reasons).replace("word", "")
    assert "a +10.0, b +10.0, c +10.0" in advice.reasons[-1]


def test_the_best_way_is_taken_where_it_is_clearly_better(encoder):
    text = load_corpus("lab/sov@latin-cyrillic[:40]")
    english = load_corpus("lab/src:train[:100]")
    rows = [
        Measured(f"l{n}", f"c{n}", scheme, "src", score, (4.0 * bool(scheme) + 0.5, bool(scheme), bool(scheme), 100.0))
        for n in range(12)
        for scheme, score in (("", 20.0), ("georgian-latin", 80.0))
    ]
    advice = advise(
        encoder, text, {"src": english}, schemes=("cyrillic-latin", "georgian-latin"), rule=fitted_to(encoder, rows)
    )
    assert set(advice.evidence) == {"", "cyrillic-latin"}  # a table of another script changes nothing
    assert advice.evidence[""].coverage.unknown > 80
    assert advice.evidence["cyrillic-latin"].coverage.unknown < 5
    assert advice.ways[0].scheme == "cyrillic-latin"
    assert advice.recommendation == "transliterate"
    assert "Adapting is not judged" in advice.reasons[-1]


def test_a_rule_that_cannot_choose_recommends_the_default_and_says_so(encoder):
    """What is expected to be better by far is not taken where choosing gained nothing on languages left out."""
    text = load_corpus("lab/sov@latin-cyrillic[:40]")
    rows = [
        Measured(f"l{n}", f"c{n}", scheme, "src", score, (4.0 * bool(scheme) + 0.5, bool(scheme), bool(scheme), 100.0))
        for n in range(3)
        for scheme, score in (("", 20.0), ("georgian-latin", 20.0 + 40.0 * (n % 2)))
    ]
    rule = fitted_to(encoder, rows)
    assert not rule.can_choose
    advice = advise(encoder, text, {"src": load_corpus("lab/src:train[:100]")}, schemes=("cyrillic-latin",), rule=rule)
    assert advice.ways[0].scheme == "cyrillic-latin"
    assert advice.recommendation == "as it is"
    assert "cannot choose" in " ".join(advice.reasons)


def test_adapting_goes_by_the_languages_most_alike(encoder):
    text = Corpus(load_corpus("lab/src")[:200].items * 8, "long", "xx")
    for gain, word in ((8.0, "as it is, then adapt"), (-8.0, "as it is")):
        rows = [
            Measured(f"l{n}", f"c{n}", "", "src", 50.0 + n, (2.5 + n, 1.0 + n / 9, 0.0, 100.0), 50.0 + n + gain)
            for n in range(5)
        ]
        advice = advise(encoder, text, {"src": text}, schemes=(), rule=fitted_to(encoder, rows))
        assert advice.recommendation == word
        assert f"l4 {gain:+.1f}" in advice.reasons[-1] or f"l2 {gain:+.1f}" in advice.reasons[-1]


def test_parallel_sentences_are_looked_for(encoder, toy):
    sides = [Corpus(tuple(Text((s.text,), id=str(i)) for i, s in enumerate(toy("test"))), language, language)
             for language in ("en", "fr")]  # fmt: skip
    found = advise(encoder, toy("train"), {"en": toy("train")}, schemes=(), parallel=join(sides, name="both"))
    assert found.retrieval == (100.0,) * 5  # a text is its own translation
    with pytest.raises(RequestError, match="of 1 languages"):
        advise(encoder, toy("train"), {"en": toy("train")}, schemes=(), parallel=join(sides[:1], name="one"))


def test_a_source_is_needed(encoder, toy):
    with pytest.raises(RequestError, match="none is named"):
        advise(encoder, toy("train"), {})
    with pytest.raises(RequestError, match="there is no transliteration"):
        advise(encoder, toy("train"), {"en": toy("train")}, schemes=("klingon",), rule=made_up())


def test_a_rule_is_fitted_to_records_whatever_is_cut_out_of_their_corpora(encoder, treebanks):
    from crosslens.encoders.condition import Condition
    from crosslens.results.record import Record, Results
    from crosslens.unseen.fitting import fit_rule

    def score(corpus, target, value, *, seed=1, train="ud/en_toy:train", **condition):
        return Record(
            task="pos", encoder="e", metric="accuracy", source="en", target=target, value=value, seed=seed,
            corpus=corpus, train=train, **Condition(**condition).columns,
        )  # fmt: skip

    names = ("ud/fr_pud:test", "ud/fr_pud:test[:2]", "ud/fr_pud:test@latin-cyrillic[:2]")
    rows = [score(name, "fr", 50.0 + number) for number, name in enumerate(names)]
    rows += [score(names[1], "fr", 53.0, seed=2), score(names[1], "fr", 40.0, start="adapted")]
    rows += [score(names[0], "en", 99.0), score(names[0], "fr", 1.0, layers="1-2")]
    rule = fit_rule(Results.of(rows), encoder, data=str(treebanks), name="toy", training="one pass")
    assert rule.provenance == Provenance("toy", encoder.body_digest, "pos", "one pass")
    found = {(its.corpus, its.scheme): (its.score, its.adapted) for its in rule.measured}
    assert found == {
        (names[0], ""): (50.0, None), (names[1], ""): (52.0, 40.0), (names[1], "latin-cyrillic"): (52.0, None),
    }  # fmt: skip
    fertility = {(its.corpus, its.scheme): its.features[0] for its in rule.measured}
    assert len(set(fertility.values())) == 3  # each was read: the whole, a part, and that in other letters
    with pytest.raises(RequestError, match="several training corpora: ud/en_toy:train, ud/en_toy:dev"):
        fit_rule(Results.of([*rows, score(names[0], "fr", 60.0, train="ud/en_toy:dev")]), encoder, data=str(treebanks))
    with pytest.raises(RequestError, match="two records contradict one another"):
        fit_rule(Results.of([*rows, score(names[0], "fr", 60.0)]), encoder, data=str(treebanks))
