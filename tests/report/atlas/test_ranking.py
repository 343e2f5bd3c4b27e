"""Encoders are ranked over what they have in common."""

from dataclasses import replace

import pytest

from crosslens.report.atlas.ranking import encoder_ranking
from crosslens.report.page import make_page
from crosslens.results.record import Results
from made_records import in_bfloat16, score, similarity

LOSSES = {
    "robust": (12, {"none": 0, "1-2": 3, "3-4": 1, "5-6": 50, "1-12": 60}),
    "fragile": (6, {"none": 0, "1-2": 10, "3-4": 0}),
    "untested": (12, {"none": 0, "5-6": 1, "7-8": 1}),
}


def records(losses=LOSSES, *, lacking=()):
    return [
        score(target, base - (loss if target != "en" else 1), encoder=encoder, depth=depth, condition=condition)
        for encoder, (depth, conditions) in losses.items()
        for condition, loss in conditions.items()
        for target, base in (("en", 90.0), ("fr", 80.0), ("de", 60.0))
        if (encoder, target) not in lacking
    ]


def lines(results):
    (table,) = encoder_ranking(Results.of(results))
    return table, {row.label: [cell.value for cell in row.cells] for rows in table.groups.values() for row in rows}


def test_the_largest_loss_of_the_lowest_third_is_first():
    table, rows = lines(records())
    assert list(rows) == [
        "fragile (6 layers; 1-2)",
        "robust (12 layers; 1-2 and 3-4)",
        "untested (12 layers)",
    ]
    assert rows["fragile (6 layers; 1-2)"] == [pytest.approx(89.0), pytest.approx(70.0), pytest.approx(-10.0)]
    assert rows["robust (12 layers; 1-2 and 3-4)"][2] == pytest.approx(-2.0)  # layers 5-6 are above the lowest third
    assert rows["untested (12 layers)"][2] is None
    assert table.head == ("In-language", "Zero-shot", "Δ lowest third")
    assert list(table.groups) == ["pos, accuracy, en to 2 languages"]


def test_scores_are_over_the_corpora_that_all_have():
    _, rows = lines(records(lacking={("fragile", "de")}))
    assert {label.split()[0]: row[1] for label, row in rows.items()} == {
        "fragile": pytest.approx(80.0),
        "robust": pytest.approx(80.0),
        "untested": pytest.approx(80.0),
    }


def test_similarities_are_over_layers_and_pairs_that_all_have():
    values = {("robust", "fr"): 0.8, ("robust", "de"): 0.2, ("fragile", "fr"): 0.5}
    similar = [
        similarity("cka", value + layer / 10, layer=layer, target=target, encoder=encoder)
        for (encoder, target), value in values.items()
        for layer in (0, 1)
    ]
    others = [
        similarity("cka", 0.0, encoder="robust", state="untrained", condition="0-1"),
        similarity("cka_shuffled", 0.0, encoder="robust"),
    ]
    table, rows = lines([*records(), *similar, *others])
    assert table.head[3:] == ("CKA",)
    by_name = {label.split()[0]: row[3] for label, row in rows.items()}
    assert by_name == {"robust": pytest.approx(0.85), "fragile": pytest.approx(0.55), "untested": None}


def test_one_encoder_has_no_rank():
    assert encoder_ranking(Results.of(records({"robust": LOSSES["robust"]}))) == []
    assert encoder_ranking(Results.of([])) == []


def test_encoders_are_compared_by_models_of_one_recipe():
    """The large recipe loses 40 points, but only one encoder has it."""
    large = [replace(each, recipe="large") for each in records({"fragile": (6, {"none": 0, "1-2": 40, "3-4": 0})})]
    small = [replace(each, recipe="small") for each in records()]
    table, rows = lines([*large, *small])
    assert list(table.groups) == ["pos, accuracy, en to 2 languages, small"]
    assert rows["fragile (6 layers; 1-2)"][2] == pytest.approx(-10.0)


@pytest.mark.parametrize(("splits", "groups"), [(("test",), [""]), (("test", "dev"), ["", ", test", ", dev"])])
def test_own_files_are_ranked_with_treebanks_on_one_split(splits, groups):
    """Files have no split; as many languages of both."""
    treebanks = [
        replace(each, split=split, corpus=f"ud/{each.target}:{split}", value=each.value - 1)
        for split in splits
        for each in records()
    ]
    results = Results.of([*records(), *treebanks])
    (table,) = encoder_ranking(results)
    assert list(table.groups) == [f"pos, accuracy, en to 2 languages{group}" for group in groups]
    corpora = 4 if splits == ("test",) else 2
    assert f"POS tagging, accuracy, en to {corpora} corpora{groups[-1]}" in make_page(results, title="encoders")


def test_encoders_whose_models_have_different_recipes_say_so():
    limits = {"robust": "limit=100", "fragile": "limit=900", "untested": "limit=100"}
    _, rows = lines([replace(each, settings=limits[each.encoder]) for each in records()])
    assert list(rows)[:2] == ["fragile, limit=900 (6 layers; 1-2)", "robust, limit=100 (12 layers; 1-2 and 3-4)"]


@pytest.mark.parametrize(
    ("german", "expected"),
    [
        ({}, (0.3, 0.5)),
        ({"corpus": "tatoeba"}, (0.2, 0.4)),
        ({"settings": "pooling=cls"}, (0.2, 0.4)),
        ({"corpus_digest": "a"}, (0.2, 0.4)),
    ],
)
def test_similarities_that_were_measured_otherwise_are_not_compared(german, expected):
    """Both encoders were compared in French on one corpus; the German pair of one was measured in another way."""
    measured = [
        similarity("cka", value + 0.2 * (target == "de"), target=target, encoder=encoder, **way)
        for encoder, value in (("robust", 0.2), ("fragile", 0.4))
        for target, way in (("fr", {}), ("de", german if encoder == "fragile" else {}))
    ]
    _, rows = lines([*records(), *measured])
    cka = {label.split()[0]: row[3] for label, row in rows.items()}
    assert (cka["robust"], cka["fragile"]) == pytest.approx(expected)


def test_an_encoder_in_two_precisions_has_two_ranks():
    """In bfloat16 it loses 20 points more, and its translations are less similar."""
    narrow = [in_bfloat16(each, lost=20.0) for each in records() if each.encoder == "robust"]
    similar = [
        *(similarity("cka", value, encoder=encoder) for encoder, value in (("robust", 0.8), ("fragile", 0.5))),
        in_bfloat16(similarity("cka", 0.6, encoder="robust")),
    ]
    _, rows = lines([*records(), *narrow, *similar])
    assert {label.partition(" (")[0]: row[2:] for label, row in list(rows.items())[:3]} == {
        "robust, precision=bfloat16": [pytest.approx(-22.0), 0.6],
        "fragile": [pytest.approx(-10.0), 0.5],
        "robust": [pytest.approx(-2.0), 0.8],
    }


def test_layers_that_only_begin_in_the_lowest_third_are_not_of_it():
    losses = {"robust": (12, {"none": 0, "3-4": 2, "4-5": 90}), "fragile": (6, {"none": 0, "1-2": 10, "2-3": 90})}
    _, rows = lines(records(losses))
    assert {label: row[2] for label, row in rows.items()} == {
        "fragile (6 layers; 1-2)": pytest.approx(-10.0),
        "robust (12 layers; 3-4)": pytest.approx(-2.0),
    }


@pytest.mark.parametrize("changed", [{"condition": "1-2"}, {"target_layer": 1, "target": "fr"}])
def test_similarities_are_those_of_unchanged_encoders_and_of_one_layer_with_itself(changed):
    """The changed one was measured in one language pair only, which takes no pair from the others."""
    measured = [
        similarity("cka", value + 0.2 * (target == "de"), target=target, encoder=encoder)
        for encoder, value in (("robust", 0.2), ("fragile", 0.4))
        for target in ("fr", "de")
    ]
    _, rows = lines([*records(), *measured, similarity("cka", 1.0, **{"encoder": "robust", "target": "de"} | changed)])
    cka = {label.split()[0]: row[3] for label, row in rows.items()}
    assert (cka["robust"], cka["fragile"]) == pytest.approx((0.3, 0.5))


def test_gains_come_after_losses_and_encoders_without_the_lowest_third_last():
    losses = {"gains": -0.5, "none": 0.0, "little": 0.5, "much": 9.0}
    made = {name: (12, {"none": 0, "1-2": loss}) for name, loss in losses.items()} | {"untested": LOSSES["untested"]}
    _, rows = lines(records(made))
    assert [label.split()[0] for label in rows] == ["much", "little", "none", "gains", "untested"]


@pytest.mark.parametrize(
    ("targets", "title"),
    [
        (["fr"], "en to 1 language"),
        (["fr", "de"], "en to 2 languages"),
        (["ug", "ug-Latn"], "en to 1 language"),
        (["ug", "ug-Latn", "fr"], "en to 2 languages"),
    ],
)
def test_a_group_says_to_how_many_languages_it_transfers(targets, title):
    results = [
        replace(each, target=target, corpus=f"ud/{target}")
        for target in targets
        for each in records()
        if each.target == "fr"
    ]
    english = [each for each in records() if each.target == "en"]
    table, _ = lines([*english, *results])
    assert list(table.groups) == [f"pos, accuracy, {title}"]


def test_means_over_fewer_seeds_than_those_of_other_encoders_have_a_note():
    """One encoder has two seeds, of which one has no re-initialised layers; the other has one seed."""
    second = [replace(each, seed=2) for each in records() if each.encoder == "robust" and each.ablation != "1-2"]
    table, _ = lines([*records(), *second])
    notes = {
        row.label.split()[0]: [cell.note and table.notes[cell.note - 1] for cell in row.cells]
        for rows in table.groups.values()
        for row in rows
    }
    assert notes["fragile"] == ["over fewer seeds: 1 of 2"] * 3
    assert notes["robust"] == [None, None, "number of seeds excluded for lack of a score to compare with or average: 1"]
