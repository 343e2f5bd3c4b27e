"""The sentences of the findings: they say what the records hold, in the words of the field."""

from dataclasses import replace

import pytest

from crosslens.encoders.condition import Condition
from crosslens.report.findings import Estimate, conclusions, describe, effects, findings, headline
from crosslens.results.record import Results, concatenated
from made_records import PLAIN, made_up, score, similarity


def translations(pretrained, untrained, *, targets=("fr", "de")):
    return Results.of(
        similarity(measure, value, layer=layer, target=target, **columns)
        for state, values in (("pretrained", pretrained), ("untrained", untrained))
        for layer, value in enumerate(values)
        for target in targets
        for measure in ("cka", "cka_length_matched")
        for columns in ({} if state == "pretrained" else {**Condition(layers="0-1").columns, "state": state},)
    )


@pytest.mark.parametrize(
    ("pretrained", "untrained", "words"),
    [
        ((0.9, 0.5), (0.8, 0.1), "layer 1 (0.50 against 0.10)"),
        ((0.2, 0.5), (0.9, 0.1), "the embeddings (0.20 against 0.90)"),
        ((0.1, 0.5), (0.5, 0.6), "the embeddings (0.10 against 0.50)"),
    ],
)
def test_where_two_encoders_differ_most_whichever_is_higher(pretrained, untrained, words):
    (text,) = findings(translations(pretrained, untrained))
    assert f"The two encoders differ most in {words}." in text


def test_a_language_with_itself_is_not_a_pair_of_translations():
    same = translations((1.0, 1.0), (1.0, 1.0), targets=("en",))
    (text,) = findings(translations((0.9, 0.5), (0.8, 0.1)) + same)
    assert (
        "the CKA of translations is 0.90 in the embeddings and 0.50 in the last layer (mean of 2 language pairs)"
        in text
    )
    assert findings(same) == []


def test_the_pretrained_and_the_untrained_encoders_of_a_comparison_of_two_are_several():
    records = [replace(each, settings="against=f") for each in translations((0.9, 0.5), (0.8, 0.1))]
    (text,) = findings(Results.of(records))
    assert text.startswith("In the pretrained encoders, the CKA of translations is 0.90")
    assert "in the untrained encoders it is 0.80 and 0.10. They differ most in layer 1 (0.50 against 0.10)." in text


@pytest.mark.parametrize(("larger", "heads"), [(900, ["ud/pud n=100: ", "ud/pud n=900: "]), (100, ["ud/pud ("] * 4)])
def test_versions_of_a_parallel_corpus_have_paragraphs_of_their_own(larger, heads):
    """A corpus that was cut elsewhere, or changed: with as many sentences, no mean over pairs is known."""
    records = [
        replace(each, value=each.value / version, n=n, corpus_digest=f"{version}{each.target}" * 20)
        for version, n in ((1, 100), (2, larger))
        for each in translations((0.8, 0.4), (0.6, 0.2))
    ]
    texts = findings(Results.of(records))
    assert [text.startswith(head) for text, head in zip(texts, heads, strict=True)] == [True] * len(heads)
    assert "is 0.80 in the embeddings and 0.40 in the last layer" in texts[0]
    assert "is 0.40 in the embeddings and 0.20 in the last layer" in texts[-1]
    encoders = [replace(each, encoder=(each.corpus_digest or "")[0]) for each in records]
    assert [text[:3] for text in findings(Results.of(encoders))] == ["1: ", "2: "]


def told(results):
    (effect,) = effects(results)
    return " ".join(describe(effect))


def test_the_sentences_are_those_of_the_field():
    text = told(made_up({"1-2": 10.9, "3-4": 2.0}, source={"1-2": 1.9}))
    assert text == (
        "POS tagging: 95.0 accuracy in the source language (en), 80.0 zero-shot (mean of 2 languages; 3 seeds; ± is"
        " half the width of the 95 % confidence interval over seeds). Re-initialising layers 1-2 lowers zero-shot"
        " accuracy by 10.9 ± 0.0 points on average over 2 languages, and accuracy in en by 1.9 ± 0.0 points. Other"
        " conditions (change in zero-shot / en accuracy): layers 3-4: −2.0 ± 0.0 / +0.0 ± 0.0. Re-initialising layers"
        " 1-2 lowers the zero-shot score by more than 5 points, and by over 5 points more than the en score. Among"
        " layers 1-2 and 3-4, re-initialising 1-2 lowers the zero-shot score most."
    )


def test_a_source_score_that_is_a_mean_over_corpora_says_so():
    more = made_up({"1-2": 10.9}).filter(target="en").with_columns(corpus="ud/en_gum")
    assert "95.0 accuracy in the source language (en, mean of 2 corpora), 80.0" in told(made_up({"1-2": 10.9}) + more)


def test_a_source_score_of_joined_training_data_is_in_several_languages():
    text = told(made_up({"1-2": 10.9}).with_columns(source="en+fr"))
    assert "90.0 accuracy in the source languages (en+fr, mean of 2 corpora), 75.0 zero-shot" in text  # (95 + 85) / 2


def test_the_effect_is_said_when_it_appears():
    pairs = {f"{low}-{low + 1}": 18.0 if low == 1 else 1.0 for low in range(1, 12, 2)}
    assert "Thus the lowest layers (1-2) carry cross-lingual transfer here, and the highest (11-12) can be" in told(
        made_up(pairs)
    )
    assert "the lowest" not in told(made_up({**pairs, "11-12": 6.0}))
    assert "the lowest" not in told(made_up({**pairs, "1-2": 18.0}, depth=None))
    text = told(made_up({**pairs, "1-2": 0.5, "3-4": 9.0}))
    assert "Thus transfer does not depend on the lowest layers here: re-initialising layers 1-2 lowers" in text
    assert "re-initialising 3-4 lowers the zero-shot score most" in text
    assert "lowers the en score itself by more than 20 points" in told(made_up({"1-2": 40.0}, source={"1-2": 60.0}))
    kept = told(made_up({"1-12": 2.0, "0-12": 20.0}))
    assert "all layers (1-12) but not the embeddings lowers" in kept
    assert "the whole encoder (0-12) including the embeddings: −20.0 ± 0.0" in kept
    assert "Thus transfer rests on the embeddings here: all layers above them (1-12) can be" in kept


def test_sets_that_were_not_tested_are_not_named():
    """Layers 9-12 cost 25 points and 3-4 the least of the pairs: the highest layers cannot be replaced."""
    text = told(
        made_up({"1": 4.0, "2": 9.0, "1-2": 18.0, "3-4": 2.0, "10-12": 20.0, "9-12": 25.0, "1-4": 28.0, "0-2": 38.0})
    )
    assert "highest" not in text
    assert "all layers" not in text
    assert "whole encoder" not in text
    assert "embeddings" not in text


def test_one_seed_gives_numbers_and_no_conclusion():
    results = made_up({"1-2": 18.0, "11-12": 0.0}, seeds=(1,))
    text = told(results)
    assert "lowers zero-shot accuracy by 18.0 points" in text
    assert "one seed, so no conclusions are drawn" in text
    assert conclusions(effects(results)[0]) == []


def test_a_condition_that_lacks_a_seed_is_compared_on_the_others_and_supports_nothing():
    results = made_up({"1-2": 18.0, "3-4": 1.0}, seeds=(1, 2, 3, 4, 5), lacking={("1-2", 2), ("1-2", 4)}, noise=3.0)
    (effect,) = effects(results)
    assert effect.changes[0].cross == Estimate((-18.0,) * 3)
    assert "1-2 has 3 of 5 seeds and is excluded from conclusions." in told(results)
    assert conclusions(effect) == []
    none = Results.of([*PLAIN[:3], score("fr", 60.0, seed=2, condition="1-2")])
    assert "1-2 has no score for 2 corpora and is excluded from conclusions." in told(none)


def test_what_moves_the_other_way_or_not_at_all_is_said_so():
    assert (
        "raises zero-shot accuracy by 2.0 ± 0.0 points on average over 2 languages, and lowers accuracy in en by 1.0"
        in told(made_up({"1-2": -2.0}, source={"1-2": 1.0}))
    )
    assert "leaves zero-shot accuracy unchanged (+0.0 ± 0.0 points on average over 2 languages)" in told(
        made_up({"1-2": 0})
    )
    assert "leaves zero-shot accuracy unchanged (+0.0 ± 0.0 points" in told(made_up({"1-2": 0.04}))  # as it is printed
    assert "lowers zero-shot accuracy by 0.1 ± 0.0 points" in told(made_up({"1-2": 0.06}))


def test_no_direction_is_claimed_where_the_interval_holds_zero():
    """Losses of 2, 1 and −3 points: 0 on average, with an interval of ± 6.6; of 3, 2 and −2: 1, with ± 6.6."""

    def moved(*losses):
        results = (made_up({"1-2": loss}, seeds=(seed,)) for seed, loss in enumerate(losses, 1))
        return told(concatenated(results))

    assert "Re-initialising layers 1-2 changes zero-shot accuracy by +0.0 ± 6.6 points on average" in moved(2, 1, -3)
    assert "changes zero-shot accuracy by −1.0 ± 6.6 points on average over 2 languages, and leaves" in moved(3, 2, -2)


def test_one_target_language_has_no_mean():
    """fr alone; then on two corpora, which are what the mean is over."""
    only = made_up({"1-2": 10.9}).filter(target=["en", "fr"])
    assert "85.0 zero-shot (1 language; 3 seeds; " in told(only)
    assert "lowers zero-shot accuracy by 10.9 ± 0.0 points in 1 language, and" in told(only)
    corpora = only + only.filter(target="fr").with_columns(corpus="ud/fr_gsd")
    assert "85.0 zero-shot (mean of 2 corpora of 1 language; 3 seeds; " in told(corpora)
    assert "by 10.9 ± 0.0 points on average over 2 corpora of 1 language, and" in told(corpora)


def test_intervals_are_explained_where_there_are_any():
    (effect,) = effects(made_up({"3-4": -2.0}))
    assert "; 3 seeds; ± is half the width" in describe(effect)[0]
    assert headline(effect).endswith("80.0 zero-shot (mean of 2 languages; 3 seeds).")


def test_the_gap_and_similarity_have_a_paragraph_where_there_are_languages_enough():
    def paragraphs(letters, corpora=("ud/pud", "ud/pud")):
        scores = [score("en", 90.0), *(score(letter, 40.0 + place) for place, letter in enumerate(letters))]
        similar = [
            similarity("cka", 0.1 * place, layer=layer, target=letter, corpus=corpora[letter == "a"])
            for place, letter in enumerate(letters)
            for layer in (0, 1)
        ]
        return findings(Results.of([*scores, *similar]))

    (text,) = paragraphs("abcdefghij")
    assert (
        "POS tagging: the transfer gap and the CKA with en (mean over layers) have a Spearman correlation of −1.00 (95"
        in text
    )
    assert "over 10 languages; a negative correlation means" in text
    (apart,) = paragraphs("abcdefghij", corpora=("ud/pud", "tatoeba"))
    differ = "languages differ in the corpus of their similarities: tatoeba, ud/pud"
    assert f"over 10 languages ({differ}); a negative correlation means" in apart
    (few,) = paragraphs("abc")
    assert "over 3 languages: 3 languages are too few to say anything." in few
    (both,) = paragraphs("abc", corpora=("ud/pud", "tatoeba"))
    assert f"over 3 languages: 3 languages are too few to say anything; {differ}." in both
    assert paragraphs("ab") == []


def test_a_correlation_is_of_one_source_language():
    records = [
        replace(each, source=source)
        for source, places in (("en", (0, 1, 2)), ("fr", (2, 0, 1)))
        for place, target in zip(places, ("ru", "de", "zh"), strict=True)
        for each in (score(source, 90.0), score(target, 40.0 + place), similarity("cka", 0.1 * place, target=target))
    ]
    paragraphs = findings(Results.of({str(each): each for each in records}.values()))
    assert [text.partition("POS tagging: ")[0] for text in paragraphs] == ["Source en, e: ", "Source fr, e: "]
    for source, text in zip(("en", "fr"), paragraphs, strict=True):
        assert f"the CKA with {source} (mean" in text


def test_equal_scores_have_no_correlation_and_the_paragraph_says_why():
    scores = [score(target, 80.0) for target in ("en", "fr", "de", "ru")]
    similar = [similarity("cka", place / 10, target=target) for place, target in enumerate(("fr", "de", "ru"))]
    (text,) = findings(Results.of([*scores, *similar]))
    assert text.endswith("CKA with en (mean over layers): no coefficient: all transfer gaps are equal.")


def test_translations_are_those_of_pretrained_references():
    records = [
        similarity(measure, value, layer=layer, target=target, **columns)
        for layer in (0, 1)
        for target in ("fr", "de")
        for measure in ("cka", "cka_length_matched")
        for value, columns in (
            (0.9, {}),
            (0.1, Condition(factor="no-anchors").columns),
            (0.3, {**Condition(layers="0-1").columns, "state": "untrained"}),
            (0.4, Condition(layers="1").columns),
        )
    ]
    (text,) = findings(Results.of(records))
    assert (
        "the CKA of translations is 0.90 in the embeddings and 0.90 in the last layer (mean of 2 language pairs)"
        in text
    )
    assert "in the untrained encoder it is 0.30 and 0.30" in text
    assert findings(Results.of(record for record in records if record.layer == 0)) == []
    of_one_pair = [replace(record, seed=1 + record.layer) for record in records if record.target == "fr"]
    of_other_seeds = [replace(record, seed=3) for record in records if record.target == "de"]
    assert findings(Results.of([*of_one_pair, *of_other_seeds])) == []  # no layer has the seeds of both


def test_what_sentences_of_the_language_add_is_a_difference_within_seeds():
    def scores(train, *values):
        return [score("fr", value, seed=seed, train=train) for seed, value in enumerate(values, start=1)]

    english, french = "ud/en_ewt:train[:500]", "ud/fr_gsd:train"
    alone = scores(english, 50.0, 60.0, 70.0)
    few = scores(f"{english}+{french}[:20]", 61.0, 69.0, 80.0)
    more = scores(f"{english}+{french}[:90]", 80.0, 90.0)
    (text,) = findings(Results.of([*alone, *few, *more]))
    half = 4.302652729911275 / 3**0.5  # Student's t with two degrees of freedom; 11, 9 and 10 deviate by 1
    assert text == (
        f"POS tagging in French (ud/fr): training on sentences of {french} beside {english} changes accuracy"
        f" by +10.0 ± {half:.1f} with 20, +30.0 ± 0.0 with 90 (2 seeds) from 60.0 with none (3 seeds; ± is half the"
        " width of the 95 % confidence interval over seeds)."
    )
    (text,) = findings(Results.of([*alone[:1], *few[:1]]))
    assert text.endswith("changes accuracy by +11.0 with 20 from 50.0 with none (1 seed).")
    assert findings(Results.of([*alone[:1], *few[1:]])) == []  # no seed has both


def test_encoders_of_different_depths_have_no_paragraph_of_one():
    of_french, of_german = (translations((0.9, 0.5), (0.8, 0.1), targets=(target,)) for target in ("fr", "de"))
    deeper = [replace(each, depth=2) for each in of_german]
    assert len(findings(of_french)) == 1
    assert findings(Results.of([*of_french, *deeper])) == []


@pytest.mark.parametrize("losses", [{"1-2": 18.0, "3-4": 1.0}, {"1-2": 18.0}, {}])
@pytest.mark.parametrize("seeds", [(1,), (1, 2, 3)])
def test_the_headline_names_what_sets_its_models_apart(losses, seeds):
    (effect,) = effects(made_up(losses, seeds=seeds))
    assert "epochs=9" not in headline(effect)
    assert headline(replace(effect, apart="epochs=9")).count("epochs=9") == 1


def test_a_headline_begins_with_a_capital_and_one_seed_explains_no_interval():
    (effect,) = effects(made_up({"1-2": 18.0, "3-4": 1.0}, depth=4))
    assert headline(effect).startswith("The lowest layers (1-2) carry cross-lingual transfer here")
    (single,) = effects(made_up({"1-2": 18.0}, seeds=(1,)))
    assert "; one seed" in describe(single)[0]
    assert "±" not in " ".join(describe(single))
