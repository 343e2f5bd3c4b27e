"""Similarity and transfer by dose, from made-up records whose slopes are known."""

from dataclasses import replace

import numpy as np
import pytest

from crosslens.encoders.condition import Condition
from crosslens.report.conditions.dose_response import Doses, dose_response, doses_of
from crosslens.report.render import number
from crosslens.report.tables import all_tables
from crosslens.results.record import Results
from made_records import score, similarity

SEEDS = (1, 2, 3)
NOISE = {0.5: 0.05, 1.0: 0.1, 2.0: 0.3}
"""Dose -> by how much it lowers CKA."""


def measured(condition, cka, changes, seed):
    """Similarity of two pairs in the layer and above, and scores of the source and two other languages."""
    described = Condition.read(condition).columns
    at = {"seed": seed, "state": "fine-tuned", "task": "pos", "source": "en", "depth": 12, **described}
    records = [
        similarity("cka", cka - 0.2 * (layer == 12) + shift, layer=layer, target=target, **at)
        for target, shift in (("fr", 0.1), ("de", -0.1))
        for layer in (6, 12)
    ]
    bases = (("en", 95.0), ("fr", 80.0), ("de", 70.0))
    return records + [
        score(target, base + changes[target != "en"], seed=seed, condition=condition) for target, base in bases
    ]


def planted(*, slope=30.0, noise=0.0):
    """Zero-shot scores that follow CKA with one slope a seed, and a rotation that costs 9 points and moves no CKA."""
    rng = np.random.default_rng(0)
    records = []
    for seed in SEEDS:
        records += measured("none", 0.7, (0.0, 0.0), seed)
        for dose, lowered in NOISE.items():
            change = -(slope + seed) * lowered + noise * rng.normal()
            condition = {"noise": "6.output", "noise_dose": dose}
            records += measured(condition, 0.7 - lowered, (-10 * lowered, change), seed)
        records += measured({"rotate": "6.output", "degrees": 60}, 0.7, (-8.0, -9.0), seed)
        records += measured({"erase": "6.output", "erase_dose": -1}, 0.7, (0.0, -4.0), seed)
        records += measured({"erase": "6.output"}, 0.7, (0.0, 4.0), seed)
    return Results.of(records)


def test_the_planted_slope_comes_back_seed_by_seed():
    noise, rotation, erasure = doses_of(planted())
    assert [each.intervention for each in (noise, rotation, erasure)] == [
        "noise 6.output",
        "rotate 6.output",
        "erase 6.output",
    ]
    assert noise.slopes("cka", "zero-shot") == pytest.approx({seed: (30 + seed) / 10 for seed in SEEDS})
    assert noise.slopes("cka", "same language") == pytest.approx(dict.fromkeys(SEEDS, 1.0))
    assert noise.slopes("cka", "beyond") == pytest.approx({seed: (20 + seed) / 10 for seed in SEEDS})
    assert noise.amounts == (0.0, 0.5, 1.0, 2.0)
    assert erasure.amounts == (0.0, -1.0, 1.0)


def test_there_is_no_slope_where_similarity_does_not_move():
    _, rotation, erasure = doses_of(planted())
    for doses in (rotation, erasure):
        assert doses.slopes("cka", "zero-shot") == {}
    assert rotation.scores["zero-shot"][1] == dict.fromkeys(SEEDS, -9.0)


def test_the_interval_covers_the_planted_slope():
    (_, rows), *_ = dose_response(planted(noise=0.5))[0].groups.items()
    slope = rows[-1].cells[2]  # behind CKA: same language, zero-shot, beyond
    assert slope.interval.low < 3.2 < slope.interval.high
    assert slope.value == pytest.approx(3.2, abs=0.3)


def test_the_table_has_a_row_for_each_dose_and_slopes_below():
    (table,) = (table for table in all_tables(planted()) if table.name == "dose-response")
    assert table.head == ("CKA", "Δ same language", "Δ zero-shot", "beyond")
    titles = {title.rpartition(": ")[2]: rows for title, rows in table.groups.items()}
    assert list(titles) == ["noise 6.output", "rotate 6.output", "erase 6.output"]
    rows = {row.label: [cell.value for cell in row.cells] for row in titles["noise 6.output"]}
    assert rows["none"] == [pytest.approx(0.7), None, None, None]
    assert rows["noise=1"] == pytest.approx([0.6, -1.0, -3.2, -2.2])
    assert rows["slope over CKA"] == [None, *map(pytest.approx, (1.0, 3.2, 2.2))]
    assert [row.cells[2].value for row in titles["erase 6.output"]] == [None, -4.0, 4.0, None]


def test_a_dose_whose_similarity_was_not_measured_leaves_no_doubtful_slope():
    records = [r for r in planted() if not (r.measure == "cka" and r.condition and "1.0" in r.condition)]
    assert "noise 6.output" not in {each.intervention for each in doses_of(Results.of(records))}


def test_similarities_are_over_the_pairs_of_all_doses():
    """One pair was not measured at the largest dose; its similarity is 0.2 below the other's."""
    lacking = [r for r in planted() if not (r.measure == "cka" and r.target == "de" and "2.0" in (r.condition or ""))]
    noise, *_ = doses_of(Results.of(lacking))
    expected = [0.8, *(0.8 - lowered for lowered in NOISE.values())]
    assert [np.mean(list(dose.values())) for dose in noise.similarity["cka"]] == pytest.approx(expected)


def test_models_of_each_source_have_their_own_similarity():
    other = [
        replace(each, source="sv", value=each.value - 0.2 if each.measure else each.value - 5.0) for each in planted()
    ]
    alone, both = list(doses_of(planted())), list(doses_of(planted() + Results.of(other)))
    assert [each.source for each in both] == ["en"] * 3 + ["sv"] * 3
    assert [each.similarity for each in both[:3]] == [each.similarity for each in alone]
    for theirs, ours in zip(both[3:], alone, strict=True):
        for lower, cka in zip(theirs.similarity["cka"], ours.similarity["cka"], strict=True):
            assert lower == pytest.approx({seed: value - 0.2 for seed, value in cka.items()})


def test_without_scores_in_the_source_language_there_is_no_slope_of_them():
    (table,) = dose_response(planted().filter(target=["fr", "de"]))
    rows = {row.label: [cell.value for cell in row.cells] for row in next(iter(table.groups.values()))}
    assert rows["slope over CKA"] == [None, None, pytest.approx(3.2), None]
    assert rows["noise=1"] == [pytest.approx(0.6), None, pytest.approx(-3.2), None]


def test_scores_alone_make_no_table():
    assert dose_response(planted().filter(measure=None)) == []


def test_a_small_dose_beside_large_ones_is_no_reason_for_no_slope():
    """Only where none of the doses moves similarity is there nothing to measure."""
    labels, scores = ("none", "noise=0.1", "noise=1"), ({1: 0.0}, {1: -1.0}, {1: -3.0})
    for cka, slope in (((0.7, 0.699, 0.6), {1: pytest.approx(0.1 * 0.301 / 0.010001)}), ((0.7, 0.699, 0.692), {})):
        doses = Doses("pos", "en", "noise 6", labels, {"cka": tuple({1: each} for each in cka)}, {"zero-shot": scores})
        assert doses.slopes("cka", "zero-shot") == slope


def test_dev_and_test_sets_are_apart():
    records = []
    for split, change in (("dev", -3.0), ("test", -10.0)):
        for condition, cka, lost in (("none", 0.7, 0.0), ({"noise": "6.output", "noise_dose": 1}, 0.4, change)):
            records += [
                replace(each, split=split if each.measure is None else None)
                for each in measured(condition, cka, (0.0, lost), 1)
                if each.measure is None or split == "dev"
            ]
    each = list(doses_of(Results.of(records)))
    assert [doses.scores["zero-shot"][1] for doses in each] == [{1: -3.0}, {1: -10.0}]
    assert len(dose_response(Results.of(records))[0].groups) == 2


@pytest.mark.parametrize(
    "others",
    [{"recipe": "short"}, {"settings": "lr=0.5"}, {"train": "ud/en_gum:train"}, {"encoder_digest": "f" * 64}],
)
def test_each_kind_of_model_has_its_own_similarity(others):
    """Where records name their run, and where they name the training alone."""
    described = {"recipe": "long", "train": "ud/en_ewt:train", "encoder_digest": "e" * 64}
    for run in (None, "a") if "encoder_digest" not in others else ("a",):
        models = [(described | {"run": run}, 0.7, -10.0), (described | {"run": run and "b"} | others, 0.6, -20.0)]
        records = [
            replace(each, **columns)
            for columns, cka, change in models
            for condition, lower, lost in (("none", 0.0, 0.0), ({"noise": "6.output", "noise_dose": 1}, 0.3, change))
            for each in measured(condition, cka - lower, (0.0, lost), 1)
        ]
        each = list(doses_of(Results.of(records)))
        assert [[dose[1] for dose in doses.similarity["cka"]] for doses in each] == [
            [pytest.approx(cka), pytest.approx(cka - 0.3)] for _, cka, _ in models
        ]
        assert [doses.scores["zero-shot"][1][1] for doses in each] == [-10.0, -20.0]
        assert len(dose_response(Results.of(records))[0].groups) == 2


@pytest.mark.parametrize(
    ("other", "names"), [({"corpus": "tatoeba"}, ("ud/pud", "tatoeba")), ({"n": 9}, ("ud/pud n=5", "ud/pud n=9"))]
)
def test_similarity_of_other_sentences_is_in_another_group(other, names):
    """Parallel corpora have a digest for each language pair, and another one of fewer sentences."""
    records = [
        replace(
            each,
            value=each.value - 0.1 * bool(corpus),
            **{"corpus": "ud/pud", "n": 5, "corpus_digest": f"{each.target}{bool(corpus)}" * 8, **(corpus or {})},
        )
        if each.measure
        else each
        for condition, cka, lost in (("none", 0.7, 0.0), ({"noise": "6.output", "noise_dose": 1}, 0.4, -10.0))
        for each in measured(condition, cka, (0.0, lost), 1)
        for corpus in ((None, other) if each.measure else (None,))
    ]
    (table,) = dose_response(Results.of(records))
    assert {title: rows[0].cells[0].value for title, rows in table.groups.items()} == {
        f"pos, accuracy, {names[0]}, source en: noise 6.output": pytest.approx(0.7),
        f"pos, accuracy, {names[1]}, source en: noise 6.output": pytest.approx(0.6),
    }


def test_similarity_is_that_of_the_highest_changed_layer():
    """Where several layers are changed, the changes of the lower ones reach it."""
    records = [
        each
        for condition, cka, lost in (("none", 0.7, 0.0), ({"noise": "5-6.output", "noise_dose": 1}, 0.4, -10.0))
        for each in measured(condition, cka, (0.0, lost), 1)
    ]
    below = [replace(each, layer=5, value=0.9) for each in records if each.layer == 6]
    (doses,) = doses_of(Results.of([*below, *records]))
    assert doses.similarity["cka"] == ({1: pytest.approx(0.7)}, {1: pytest.approx(0.4)})


def test_slopes_are_of_the_seeds_that_have_every_dose_whatever_their_order():
    cka = ({1: 0.7, 2: 0.7, 3: 0.7}, {1: 0.6, 2: 0.5, 3: 0.5})
    scores = ({2: 0.0, 1: 0.0}, {2: -4.0, 1: -1.0})
    doses = Doses("pos", "en", "noise 6", ("none", "noise=1"), {"cka": cka}, {"zero-shot": scores})
    assert doses.slopes("cka", "zero-shot") == pytest.approx({1: 1.0, 2: 2.0})  # 1 point of 0.1, and 4 of 0.2


def test_a_slope_is_neither_a_loss_nor_a_gain():
    (table,) = dose_response(planted())
    slopes = [row for rows in table.groups.values() for row in rows if row.label.startswith("slope")]
    cells = [cell for row in slopes for cell in row.cells if cell.value is not None]
    assert max(abs(cell.value) for cell in cells) > 3
    assert {cell.level for cell in cells} == {None}
    assert number(cells[-1]).startswith("+")
