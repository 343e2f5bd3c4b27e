"""The table of heads that other languages need and the source language does not, from made-up records."""

import numpy as np
import pytest

from crosslens.report.conditions.heads import head_effects
from crosslens.report.conditions.language_heads import changes_of, chosen_elsewhere, language_heads
from crosslens.report.tables import all_tables
from crosslens.results.record import Results
from made_records import of_heads, score

PLANTED = (2, 1)
"""The only head that other languages need alone."""

SEEDS = (1, 2, 3)


def planted(rng=None):
    """Three seeds of four heads: one costs both languages, one only the others, two nothing; with noise if asked."""
    effects = {(1, 0): (-10.0, -10.0), (1, 1): (0.0, 0.0), (2, 0): (0.0, 0.0), PLANTED: (0.0, -6.0)}
    records = []
    for seed in SEEDS:
        for target, base in (("en", 95.0), ("fr", 85.0), ("de", 75.0)):
            records.append(score(target, base, seed=seed, depth=2, condition="none"))
            for (layer, head), effect in effects.items():
                change = effect[target != "en"] + (0 if rng is None else rng.normal(0, 3))
                condition = {"zero": f"{layer}.attention.head.{head}"}
                records.append(score(target, base + change, seed=seed, depth=2, condition=condition))
    return Results.of(records)


def cells(table):
    (rows,) = table.groups.values()
    return {row.label: [cell.value for cell in row.cells] for row in rows}


def test_the_planted_head_is_chosen_and_the_one_that_costs_all_languages_is_not():
    (table,) = language_heads(planted())
    assert table.head == ("same language", "zero-shot", "beyond")
    rows = cells(table)
    assert rows["chosen: 2.attention.head.1"] == pytest.approx([0.0, -6.0, -6.0])
    assert rows["mean of all heads"] == pytest.approx([-2.5, -4.0, -1.5])
    assert "language-heads" in {each.name for each in all_tables(planted())}


def test_the_choice_does_not_flatter_heads_that_differ_by_chance():
    """Of many heads without effect, the best on all seeds looks good; one chosen on other seeds does not."""
    rng = np.random.default_rng(0)
    flattered, honest = [], []
    for _ in range(200):
        excess = {(1, head): rng.normal(0, 1, 3) for head in range(40)}
        flattered.append(min(values.mean() for values in excess.values()))
        chosen = chosen_elsewhere(excess)
        honest.append(np.mean([excess[head][seed] for seed, head in enumerate(chosen)]))
    assert np.mean(flattered) < -1
    assert abs(np.mean(honest)) < 3 * np.std(honest) / len(honest) ** 0.5


def test_seeds_are_matched_by_name():
    effect = head_effects(planted())[0]
    same, cross = changes_of(effect)
    assert same.keys() == cross.keys()
    assert {values.shape for values in (*same.values(), *cross.values())} == {(3,)}


def test_one_seed_or_one_language_makes_no_table():
    assert language_heads(planted().filter(seed=1)) == []
    assert language_heads(planted().filter(target="en")) == []
    assert language_heads(planted().filter(target=["fr", "de"])) == []
    assert language_heads(of_heads().filter(condition="none")) == []


def test_two_seeds_and_two_heads_are_enough():
    two = [head for head in planted().columns.coded("condition").values if "head.0" in head]
    chosen = planted().filter(seed=[1, 2], condition=["none", *two])
    (table,) = language_heads(chosen)
    assert cells(table) == {
        "mean of all heads": pytest.approx([-5.0, -5.0, 0.0]),
        "chosen: 1.attention.head.0": pytest.approx([-10.0, -10.0, 0.0]),
    }
    assert language_heads(chosen.filter(condition=["none", two[0]])) == []


def test_of_equal_heads_the_lowest_is_chosen_whatever_their_order():
    equal = {(layer, head): np.zeros(3) for layer in (2, 1) for head in (1, 0)}
    assert chosen_elsewhere(equal) == [(1, 0)] * 3


def test_scores_of_fewer_seeds_say_so():
    lacking = [each for each in planted() if (each.target, each.seed, each.condition) != ("en", 3, "none")]
    (table,) = language_heads(Results.of(lacking))
    ((row, _),) = table.groups.values()
    assert [table.notes[cell.note - 1] for cell in row.cells] == ["over fewer seeds: 2 of 3"] * 3


def test_models_of_one_seed_leave_the_table_of_the_others():
    alone = planted().filter(seed=1).with_columns(encoder="another")
    (table,), (expected,) = language_heads(alone + planted()), language_heads(planted())
    assert cells(table) == cells(expected)
