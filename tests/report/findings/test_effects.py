"""The effects of conditions: which records are compared with which."""

from dataclasses import replace

import pytest

from crosslens.encoders.condition import Condition
from crosslens.report.findings import Estimate, effects, findings
from crosslens.results.record import Results
from made_records import PLAIN, made_up, score


def test_frozen_layers_features_and_parts_of_layers_are_no_part_of_it():
    others = [
        score(target, 1.0, condition=condition)
        for target in ("en", "fr", "de")
        for condition in (
            {"freeze": "0-3"},
            {"use": "features"},
            {"layers": "1-2", "components": "attention"},
            {"layers": "1-2", "init": "torch"},
            {"layers": "1-2", "recipe": "small"},
            {"start": "adapted"},
            {"factor": "no-anchors"},
        )
    ]
    (plain,), (both,) = effects(Results.of(PLAIN)), effects(Results.of([*PLAIN, *others]))
    assert both == plain
    assert (plain.same.mean, plain.cross.mean) == (95.0, 80.0)
    assert plain.changes[0].cross.mean == pytest.approx(-20.0)
    assert findings(Results.of([*PLAIN, *others])) == findings(Results.of(PLAIN))


def test_models_of_other_settings_partners_and_training_corpora_have_findings_of_their_own():
    for columns, called in (
        ({"settings": "epochs=9"}, "epochs=9"),
        ({"partner": "fr"}, "with fr"),
        ({"translated_from": "de"}, "translated from de"),
    ):
        longer = [score(t, v, **columns) for t, v in (("en", 97.0), ("fr", 90.0), ("de", 80.0))]
        longer += [score(t, 50.0, condition="1-2", **columns) for t in ("en", "fr", "de")]
        by_name = {effect.apart: effect for effect in effects(Results.of([*PLAIN, *longer]))}
        assert set(by_name) == {"", called}
        assert by_name[""].same.mean == 95.0
        assert by_name[called].changes[0].same.mean == pytest.approx(-47.0)


def test_encoders_of_one_name_are_apart():
    twice = [
        *(score(r.target, r.value - 1, condition=Condition.parse(r.condition), encoder_digest="b" * 9) for r in PLAIN)
    ]
    first = [score(r.target, r.value, condition=Condition.parse(r.condition), encoder_digest="a" * 9) for r in PLAIN]
    assert [(effect.encoder, effect.same.mean) for effect in effects(Results.of([*first, *twice]))] == [
        ("e (aaaaaaaa)", 95.0),
        ("e (bbbbbbbb)", 94.0),
    ]


@pytest.mark.parametrize("sign", [1, -1])
def test_an_estimate_is_beyond_a_limit_only_with_its_whole_interval(sign):
    estimate = Estimate((sign * 10.0, sign * 12.0, sign * 11.0))  # ± 2.5 around 11
    low, high = sorted(estimate.mean + side * estimate.half_width for side in (-1, 1))
    assert [estimate.below(limit) for limit in (low - 0.1, low + 0.1, high - 0.1, high + 0.1)] == [False] * 3 + [True]
    assert [estimate.above(limit) for limit in (low - 0.1, low + 0.1, high - 0.1, high + 0.1)] == [True] + [False] * 3
    single = Estimate((sign * 10.0,))
    assert not any(beyond(limit) for beyond in (single.below, single.above) for limit in (-1000, 1000))


def test_the_largest_loss_is_that_of_most_zero_shot_points():
    """Gains, and what is lost where the whole encoder is re-initialised, are none."""
    losses = {"1-2": 9.0, "3-4": 20.0, "5-6": -3.0, "1-12": 70.0}
    for order in (losses, dict(reversed(losses.items()))):
        (effect,) = effects(made_up(order))
        assert effect.largest_loss.label == "3-4"
    (gain,) = effects(made_up({"5-6": -3.0}))
    assert gain.largest_loss is None


def test_the_largest_loss_is_of_all_seeds():
    """One failed seed, with nothing of the others beside it, is not what the layers cost."""
    (effect,) = effects(made_up({"1-2": 9.0, "5-6": 60.0}, lacking=(("5-6", 2), ("5-6", 3))))
    assert effect.largest_loss.label == "1-2"
    (single,) = effects(made_up({"1-2": 9.0}, seeds=(1,)))
    assert single.largest_loss.label == "1-2"


def test_a_setting_that_all_conditions_share_changes_no_effect():
    in_bfloat16 = Results.of(
        replace(each, condition=Condition.read({**parsed, "precision": "bfloat16"}).text)
        for each in PLAIN
        for parsed in [{} if each.condition == "none" else {"layers": "1-2"}]
    )
    (plain,), (other,) = effects(Results.of(PLAIN)), effects(in_bfloat16)
    assert other.changes == plain.changes
    assert len(findings(in_bfloat16)) == len(findings(Results.of(PLAIN))) > 0


@pytest.mark.parametrize("target", ["en", "fr"])
def test_seeds_on_different_versions_of_a_corpus_have_no_findings_and_it_is_said(target):
    records = [
        replace(each, corpus="mine", corpus_digest=f"{each.seed}" * 64) if each.target == target else each
        for each in made_up({"1-2": 20.0}, seeds=(1, 2))
    ]
    assert findings(Results.of(records)) == [
        "pos, source en, e: no findings, because no seed of the reference has scores on all corpora; choose one version"
        " of each corpus: mine (11111111), mine (22222222)."
    ]
    assert findings(Results.of(records).filter(condition="none")) == []


def test_scores_of_encoders_of_several_depths_have_no_depth():
    deeper = [replace(each, depth=24) if each.target == "de" else each for each in PLAIN]
    (plain,), (mixed,) = effects(Results.of(PLAIN)), effects(Results.of(deeper))
    assert (plain.depth, mixed.depth) == (12, None)
    assert mixed.cross == plain.cross
