"""Headline, key numbers and layer profile of a table of scores."""

from dataclasses import replace

import pytest

from crosslens.report.blocks import score_blocks
from crosslens.report.findings import effects
from crosslens.report.overview import gap_panels, overviews, transfer_correlations
from crosslens.results.record import Results
from made_records import PLAIN, made_up, score, similarity


def overview(results):
    (block,) = score_blocks(results)
    names = {(record["target"], record["corpus"], None): record["target"] for record in results.records.to_pylist()}
    (made,) = overviews(block, names=names, correlated=[])
    return made


def test_the_numbers_are_those_of_the_effects():
    results = made_up({"1-2": 20.0, "11-12": 1.0, "0-12": 60.0}, source={"1-2": 2.0}, noise=0.5)
    made, (effect,) = overview(results), effects(results)
    assert made["same"]["mean"] == pytest.approx(effect.same.mean)
    assert made["cross"]["half"] == pytest.approx(effect.cross.half_width, abs=1e-4)
    assert [change["layers"] for change in made["profile"]] == ["1-2", "11-12", "0-12"]
    assert [change["cross"]["mean"] for change in made["profile"]] == [
        pytest.approx(change.cross.mean, abs=1e-4) for change in effect.changes
    ]
    for change in made["profile"]:  # the zero-shot mean is the mean of the single targets
        assert sum(change["targets"].values()) / 2 == pytest.approx(change["cross"]["mean"], abs=1e-3)


def test_the_largest_loss_keeps_part_of_the_encoder():
    losses = {"1-2": 20.0, "11-12": 1.0, "1-12": 55.0, "0-12": 60.0}
    assert overview(made_up(losses, noise=0.1))["loss"]["layers"] == "1-2"
    assert overview(made_up({"1-2": -1.0, "0-12": 60.0}))["loss"] is None


def test_the_headline_is_a_conclusion_only_where_there_are_seeds_for_one():
    lowest = {"1-4": 20.0, "5-8": 1.0, "9-12": 0.5}
    assert overview(made_up(lowest, noise=0.1))["headline"].startswith("The lowest layers (1-4) carry")
    headline = overview(made_up(lowest, seeds=(1,)))["headline"]
    assert headline.startswith("Re-initialising layers 1-4 lowers zero-shot accuracy by 20.0 points")
    assert "carry" not in headline
    assert overview(made_up({}))["headline"].startswith("POS tagging: 95.0 accuracy in the source language (en)")


def test_the_headline_names_its_models_where_there_are_others():
    few, many = (made_up({"1-2": loss}).with_columns(train=f"ud/en:train[:{loss}]") for loss in (10, 20))
    (block,) = score_blocks(few + many)
    headlines = [made["headline"] for made in overviews(block, names={}, correlated=[])]
    for loss, headline in zip((10, 20), headlines, strict=True):
        assert headline.startswith(
            f"ud/en:train[:{loss}]: Re-initialising layers 1-2 lowers zero-shot accuracy by {loss}"
        )


def test_a_target_without_a_score_is_absent_from_the_profile():
    results = Results.of(
        [record for record in PLAIN if (record.target, record.condition) != ("de", PLAIN[-1].condition)]
    )
    assert overview(Results.of([*PLAIN]))["profile"][0]["targets"] == {"fr": -20.0, "de": -20.0}
    made = overview(results)
    assert made["profile"] == []
    assert made["missing"] == ["1-2 has no score for 1 corpus and is excluded from conclusions."]


def test_there_is_no_overview_without_a_same_language_score():
    (block,) = score_blocks(Results.of([score("fr", 80.0)]))
    assert overviews(block, names={}, correlated=[]) == []


def with_similarities(languages=("de", "fi", "fr", "hi", "ru", "zh"), **columns):
    """Scores that fall by 5 points and CKA that falls by 0.1 from language to language, in two layers."""
    scores = [score("en", 95.0), *(score(name, 90.0 - 5 * n, **columns) for n, name in enumerate(languages))]
    cka = [
        similarity("cka", 0.9 - 0.1 * n - 0.2 * layer, layer=layer, target=name)
        for n, name in enumerate(languages)
        for layer in (0, 1)
    ]
    return Results.of([*scores, *cka])


def panels(results):
    return [panel for block in score_blocks(results) for panel in panels_of(block, results)]


def panels_of(block, results):
    mean, each = (transfer_correlations(block, similarities(results), layers=layers) for layers in ("mean", "each"))
    return gap_panels([*mean, *each], block)


def similarities(results):
    return results.filter(metric="similarity")


def test_gap_and_similarity_stand_beside_each_other_for_each_layer():
    (panel,) = panels(with_similarities())
    assert panel["name"] == "POS tagging, en, pretrained"
    assert panel["gaps"] == {"de": 5.0, "fi": 10.0, "fr": 15.0, "hi": 20.0, "ru": 25.0, "zh": 30.0}
    assert [each["layer"] for each in panel["layers"]] == [None, 0, 1]
    assert [each["similarities"]["de"] for each in panel["layers"]] == [0.8, 0.9, 0.7]
    for each in panel["layers"]:
        assert each["coefficient"].startswith("ρ −1.00, 95 % CI −1.00 to −1.00, 6 languages")
        assert list(each["similarities"]) == list(panel["gaps"])


def test_the_correlation_of_the_opening_has_its_interval():
    languages = ("de", "fi", "fr", "hi", "ru", "zh", "sv", "it", "pl", "tr", "id", "ja")
    results = with_similarities(languages)
    (block,) = score_blocks(results)
    correlated = transfer_correlations(block, similarities(results))
    (made,) = overviews(block, names={}, correlated=correlated)
    assert made["correlation"] == pytest.approx({"value": -1.0, "low": -1.0, "high": -1.0, "languages": 12})


def test_too_few_languages_are_named_as_such():
    (panel,) = panels(with_similarities(("de", "fi", "fr")))
    assert panel["layers"][0]["coefficient"].endswith("3 languages are too few to say anything")
    results = with_similarities(("de", "fi", "fr"))
    (block,) = score_blocks(results)
    (made,) = overviews(block, names={}, correlated=transfer_correlations(block, similarities(results)))
    assert "correlation" not in made
    assert panels(Results.of(PLAIN)) == []


def test_models_of_two_kinds_have_a_chart_each_with_their_own_gaps():
    results = with_similarities(("de", "fi", "fr", "hi", "ru", "zh", "ar", "cs", "da", "el"))
    others = [
        replace(each, settings="lr=1", value=each.value - 9.0 * (each.target == "zh"))
        for each in results
        if each.measure is None
    ]
    both = results + Results.of(others)
    one, other = panels(both)
    assert (one["name"], other["name"]) == ("POS tagging, en, pretrained", "POS tagging, en, lr=1, pretrained")
    assert (one["gaps"]["zh"], other["gaps"]["zh"]) == (30.0, 39.0)
    assert one["gaps"]["fr"] == other["gaps"]["fr"]
    assert [[each["layer"] for each in panel["layers"]] for panel in (one, other)] == [[None, 0, 1]] * 2
    (block,) = score_blocks(both)
    correlated = transfer_correlations(block, similarities(both))
    made = {each["apart"]: each for each in overviews(block, names={}, correlated=correlated)}
    assert "correlation" not in made["lr=1"]  # that of the other kind
    (block,) = score_blocks(results)
    (alone,) = overviews(block, names={}, correlated=transfer_correlations(block, similarities(results)))
    assert alone["correlation"]["value"] == pytest.approx(-1.0)


def test_models_trained_on_translations_have_the_gaps_of_their_own_table():
    results = with_similarities(("de", "fi", "fr", "hi", "ru", "zh", "ar", "cs", "da", "el"))
    translated = [
        replace(each, train="own", translated_from="fr", value=each.value - 2.0 * (each.target == "zh"))
        for each in results
        if each.measure is None
    ]
    both = results + Results.of(translated)
    original, other = score_blocks(both)
    ((one,), (two,)) = (panels_of(block, both) for block in (original, other))
    assert (one["name"], one["gaps"]["zh"]) == ("POS tagging, en, pretrained", 30.0)
    assert (two["name"], two["gaps"]["zh"]) == ("POS tagging, en (translated from fr), pretrained", 32.0)
    for block in (original, other):
        (made,) = overviews(block, names={}, correlated=transfer_correlations(block, similarities(both)))
        assert made["correlation"]["languages"] == 10


def test_a_language_without_a_value_in_some_layer_has_its_gap_in_the_others():
    results = Results.of(each for each in with_similarities() if (each.target, each.layer) != ("zh", 0))
    (panel,) = panels(results)
    assert ["zh" in each["similarities"] for each in panel["layers"]] == [False, False, True]  # mean, 0, 1
    assert panel["gaps"]["zh"] == 30.0


@pytest.mark.parametrize("depth", [12, None])
def test_sets_of_one_size_are_known_as_such_without_the_depth(depth):
    made = overview(made_up({"1-2": 20.0, "11-12": 1.0, "1-12": 60.0}, depth=depth))
    assert [change["size"] for change in made["profile"]] == [2, 2, 12]
