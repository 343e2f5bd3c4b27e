"""Profiles of freezing and interventions hold the differences of the tables."""

import pytest

from crosslens.report.blocks import score_blocks
from crosslens.report.sections.treatment_profiles import treatment_profiles
from crosslens.results.record import Results
from made_records import made_up, score
from made_sections import TARGETS, frozen


def section(results):
    return treatment_profiles(results, score_blocks(results))


def panels(results):
    return {(panel["title"], *panel["tables"]): panel for panel in section(results)[0].panels}


def lines(panel, mark):
    return {line["name"]: line["values"] for line in panel["lines"] if line["mark"] == mark}


def test_a_chart_has_both_means_over_seeds_and_each_target():
    panel = panels(Results.of(frozen()))["frozen", 0]
    assert panel["labels"] == ["0", "0-3", "0-6"]
    assert lines(panel, "same") == {"same language": [-0.75, -2.25, -4.75]}
    assert lines(panel, "cross") == {"zero-shot, mean": [-1.5, -4.5, -9.5]}
    assert lines(panel, "target") == {target: [-1.5, -4.5, -9.5] for target in sorted(TARGETS)}
    cross = panel["lines"][-1]
    assert (cross["low"], cross["high"]) == ([-2.0, -5.0, -10.0], [-1.0, -4.0, -9.0])
    assert {line["language"] for line in panel["lines"] if line["mark"] == "target"} == set(TARGETS)


def test_a_condition_without_a_score_in_the_source_language_leaves_a_gap_in_that_line():
    whole = frozen()
    lacking = [each for each in whole if not (each.target == "en" and "0-3" in each.condition)]
    assert len(lacking) == len(whole) - 2
    (made,) = section(Results.of(lacking))
    assert (made.about["kinds"], made.about["styles"]) == (["same language", "zero-shot, mean"], [0, 0])
    same, cross = (line for line in made.panels[0]["lines"] if line["mark"] != "target")
    assert (same["values"], same["low"], same["high"]) == ([-0.75, None, -4.75], [-1.0, None, -5.0], [-0.5, None, -4.5])
    assert cross["values"] == [-1.5, -4.5, -9.5]


def test_re_initialised_layers_alone_have_the_layer_profile_only():
    assert section(made_up({"1-2": 9.0})) == []
    both = made_up({"1-2": 9.0}, seeds=(1,))
    both = both + Results.of(score(target, 70.0, condition={"freeze": "1-2"}) for target in ("en", "fr", "de"))
    assert [title for title, _ in panels(both)] == ["re-initialised", "frozen"]


def test_charts_show_with_the_scores_of_their_encoder_and_split():
    other = frozen({"0": 5.0}, encoder="f", split="test")
    results = Results.of([*frozen(split="test"), *other, *frozen({"1": 2.0}, split="dev")])
    blocks = score_blocks(results)
    assert len(blocks) == 3
    shown = {
        (blocks[place].encoder, blocks[place].source_label): panel["labels"]
        for (_, place), panel in panels(results).items()
    }
    assert shown == {
        ("e", "en (test)"): ["0", "0-3", "0-6"],
        ("f", "en (test)"): ["0"],
        ("e", "en (dev)"): ["1"],
    }


@pytest.mark.parametrize(
    ("addresses", "joined"),
    [
        (("1", "1-2", "2", "3-4"), [False, True, False, False]),
        (("1-2", "3-4", "5-6"), [False, True, True]),
        (("0", "0-3", "0-6"), [False, True, True]),
        (("1.attention", "2.attention", "2.ffn"), [False, True, False]),
        (("1", "all"), [False, False]),
    ],
)
def test_lines_join_sets_of_one_size_and_sets_that_grow(addresses, joined):
    conditions = [None, *addresses]
    results = Results.of(
        score(target, 80.0, condition={"zero": layers} if layers else "none")
        for layers in conditions
        for target in ("en", "fr")
    )
    (panel,) = panels(results).values()
    assert panel["labels"] == list(addresses)
    assert panel["joined"] == joined


def test_charts_of_models_trained_on_translated_data_show_with_their_own_scores():
    original = Results.of(frozen({"0": 1.0})).with_columns(train="ud/fi")
    translated = Results.of(frozen({"0": 9.0})).with_columns(train="ud/fi@en", translated_from="fi")
    results = original + translated
    blocks = score_blocks(results)
    shown = {(title, blocks[place].kind) for title, *places in panels(results) for place in places}
    assert shown == {("frozen", ""), ("frozen, translated from fi", "translated from fi")}
