"""Scatter plots hold the values that were correlated, with the coefficient in words."""

from dataclasses import replace

import numpy as np

from crosslens.report.blocks import score_blocks
from crosslens.report.sections.overlap_scatter import overlap_scatter
from crosslens.results.record import Results
from made_sections import TARGETS, frozen, overlaps


def test_score_and_overlap_of_each_language_with_its_coefficient():
    results = Results.of([*frozen(), *overlaps(), *overlaps("overlap_tokens", factor=-0.5)])
    (section,) = overlap_scatter(results, score_blocks(results))
    types, tokens = section.panels
    assert (types["name"], tokens["name"]) == ("subword types", "subword tokens")
    assert types["coefficient"].startswith("r 1.00, 95 % CI 1.00 to 1.00, 6 languages")
    assert tokens["coefficient"].startswith("r −1.00")
    assert dict(zip(types["languages"], types["up"], strict=True)) == TARGETS
    assert tokens["across"] == [-0.5 * TARGETS[language] for language in tokens["languages"]]
    assert types["tables"] == [0]


def test_the_coefficient_is_pearsons_whatever_the_ranks():
    squared = [replace(each, value=each.value**4 / 1e6) for each in overlaps()]
    results = Results.of([*frozen(), *squared])
    (section,) = overlap_scatter(results, score_blocks(results))
    (panel,) = section.panels
    pearson = np.corrcoef(panel["across"], panel["up"])[0, 1]
    assert pearson < 0.985
    assert panel["coefficient"].startswith(f"r {pearson:.2f}, ")


def test_the_overlap_with_another_source_language_is_not_drawn():
    results = Results.of([*frozen(), *overlaps(), *(replace(each, source="ru", value=1.0) for each in overlaps())])
    (section,) = overlap_scatter(results, score_blocks(results))
    (panel,) = section.panels
    assert dict(zip(panel["languages"], panel["across"], strict=True)) == TARGETS


def test_equal_scores_have_a_reason_in_place_of_a_coefficient():
    results = Results.of(frozen({})).with_columns(value=80.0) + Results.of(overlaps())
    (section,) = overlap_scatter(results, score_blocks(results))
    assert section.panels[0]["coefficient"].startswith("no coefficient: all scores are equal")


def test_scores_alone_have_no_scatter():
    results = Results.of(frozen())
    assert overlap_scatter(results, score_blocks(results)) == []


def test_scores_of_models_trained_on_translations_have_a_scatter_of_their_own():
    translated = [
        replace(each, train="t", translated_from="fr", value=each.value - 1.0) for each in frozen({}, train="t")
    ]
    of_translations = [replace(each, train="t") for each in overlaps()]
    original = [replace(each, train="o") for each in overlaps()]
    results = Results.of([*frozen({}, train="o"), *translated, *original, *of_translations])
    blocks = score_blocks(results)
    (section,) = overlap_scatter(results, blocks)
    shown = {panel["tables"][0]: dict(zip(panel["languages"], panel["up"], strict=True)) for panel in section.panels}
    assert [panel["tables"] for panel in section.panels] == [[0], [1]]
    assert [blocks[place].kind for place in shown] == ["", "translated from fr"]
    assert (shown[0]["fr"], shown[1]["fr"]) == (80.0, 79.0)


def test_a_scatter_plot_shows_with_the_scores_that_it_holds():
    """Not with those of another encoder or source language."""
    of_french = [replace(each, source="fr") for each in frozen({})]
    results = Results.of([*frozen({}, encoder="f"), *frozen({}), *of_french, *overlaps()])
    blocks = score_blocks(results)
    (section,) = overlap_scatter(results, blocks)
    (panel,) = section.panels
    assert [(blocks[place].encoder, blocks[place].source) for place in panel["tables"]] == [("e", "en")]
    assert len(blocks) == 3
