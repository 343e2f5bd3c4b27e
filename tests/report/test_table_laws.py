"""Laws of all tables: the order of records, models of another kind and a shift of all scores change no other number."""

import random
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest

from crosslens.encoders.condition import Condition
from crosslens.report.tables import all_tables
from crosslens.results.record import Record, Results
from made_records import PLAIN, score, similarity

TRAINED = {"recipe": "long", "train": "ud/en_ewt:train", "encoder_digest": "e" * 64}
CONDITIONS = ("none", "1-2", {"freeze": "1-2"}, {"zero": "1.attention.head.0"}, {"zero": "1.attention.head.1"})
NOISE = [{"noise": "2.output", "noise_dose": dose} for dose in (1, 2)]
PATCH = [{"patch": "2.output"}, {"resample": "2.output", "resample_seed": 1}]


def made(run="a", **others):
    """Scores, similarities, probes and retrieval of one encoder and its fine-tuned models."""
    draw = random.Random(1)
    at = {"depth": 2, **TRAINED, **others}
    records = []
    for seed in (1, 2):
        model = {"seed": seed, "run": f"{run}{seed}", **at}
        records += [
            score(target, base + 9 * draw.random(), condition=condition, split="test", **model)
            for condition in (*CONDITIONS, *NOISE, *PATCH)
            for target, base in (("en", 90.0), ("fr", 70.0), ("de", 60.0), ("cs", 50.0), ("fi", 40.0))
        ]
        records += [
            similarity(
                f"cka{ending}", draw.random(), layer=layer, target=target, task="pos", **model | described.columns
            )
            for described in map(Condition.model_validate, ("none", *NOISE))
            for layer in (0, 1, 2)
            for target in ("fr", "de", "cs", "fi")
            for ending in ("", "_shuffled")
        ]
    return [replace(each, state="fine-tuned") for each in records]


def of_the_encoder():
    """What was measured on the pretrained encoder alone."""
    draw = random.Random(2)
    about = {"encoder": "e", "encoder_digest": "e" * 64, "depth": 2, "state": "pretrained"}
    probes = [
        Record(measure="probe langid", metric=metric, layer=layer, seed=1, value=99 * draw.random(), **about)
        for metric in ("accuracy", "accuracy_shuffled")
        for layer in (0, 1, 2)
    ]
    pairs = [
        similarity(f"cka{ending}", draw.random(), layer=layer, target=target, **about)
        for target in ("fr", "de", "cs", "fi")
        for ending in ("", "_shuffled")
        for layer in (0, 1, 2)
    ]
    return [*probes, *pairs]


def cells(tables):
    """(table, group, row, column) -> number and its spread; rows of one name are told apart by none."""
    shown = {}
    for table in tables:
        for title, rows in table.groups.items():
            for row in rows:
                for head, cell in zip(table.full_heads, row.cells, strict=True):
                    assert (table.name, title, row.label, head) not in shown
                    numbers = (cell.value, cell.std, cell.interval and cell.interval.low)
                    rounded = tuple(None if number is None else round(number, 6) + 0.0 for number in numbers)
                    shown[table.name, title, row.label, head] = (cell.kind, *rounded)
    return shown


def values(tables):
    """Table -> its numbers."""
    counted: dict[str, Counter] = {}
    for (name, *_), (_, *numbers) in cells(tables).items():
        counted.setdefault(name, Counter())[tuple(numbers)] += numbers[0] is not None
    return counted


EVERY = {"layer-deltas", "by-target-pos", "layer-sets", "interventions", "gap-recovered", "dose-response", "heads"}
EVERY |= {"language-heads", "correlation", "correlation-by-layer", "similarity-cka", "probes"}


@pytest.mark.parametrize("seed", [1, 2])
def test_the_order_of_records_changes_no_number(seed):
    records = [*made(), *of_the_encoder()]
    shuffled = random.Random(seed).sample(records, len(records))
    tables, others = all_tables(Results.of(records)), all_tables(Results.of(shuffled))
    assert {table.name for table in tables} == EVERY
    assert cells(tables) == cells(others)
    baselines = 0
    for table in others:
        for rows in table.groups.values():
            for above, row in pairwise(rows):  # a baseline stands below its measurement
                baselines += row.kind == "beside"
                assert row.kind != "beside" or row.label.startswith(above.label.partition(", unrelated")[0])
            assert rows[0].kind != "beside"
    assert baselines > 10


@pytest.mark.parametrize(
    "others",
    [
        {"recipe": "short"},
        {"settings": "lr=0.5"},
        {"train": "ud/en_gum:train"},
        {"train_digest": "f" * 64},
        {"encoder_digest": "f" * 64},
    ],
    ids=lambda others: next(iter(others)),
)
def test_models_of_another_kind_change_no_number(others):
    described = {"train_digest": "e" * 64, "selection": "best"}
    records = [*made(**described), *of_the_encoder()]
    more = [replace(each, value=each.value * 0.9) for each in made("b", **(described | others))]
    alone, both = values(all_tables(Results.of(records))), values(all_tables(Results.of([*records, *more])))
    assert set(alone) == EVERY
    for name, numbers in alone.items():
        assert not numbers - both[name], name


def test_a_shift_of_all_scores_changes_levels_alone():
    records = [*made(), *of_the_encoder()]
    shifted = [replace(each, value=each.value + 2) if each.measure is None else each for each in records]
    before, after = (cells(all_tables(Results.of(each))) for each in (records, shifted))
    assert before.keys() == after.keys()
    levels = ("layer-deltas", "by-target-pos", "layer-sets")
    for place, (kind, value, *spread) in before.items():
        moved = 2 if kind == "score" and place[0] in levels and value is not None else 0
        expected = [
            None if number is None else pytest.approx(number + moved, abs=1e-5) for number in (value, spread[1])
        ]
        assert [after[place][1], after[place][3]] == expected, place
        assert after[place][2] == (None if spread[0] is None else pytest.approx(spread[0], abs=1e-5)), place


def test_records_that_contradict_one_another_change_no_number_of_other_scores():
    heads = [score(target, 50.0 + layer, condition={"tower": layer}) for layer in (0, 1) for target in ("en", "fr")]
    similar = [similarity("cka", layer / 10, layer=layer, target=target) for layer in (0, 1) for target in ("fr", "de")]
    records = [*PLAIN, *heads, *similar]
    wrong = [replace(score("fr", value), task="ner", metric="f1") for value in (1.0, 2.0)]
    reasons = []
    tables = all_tables(Results.of([*records, *wrong]), skipped=reasons.append)
    names = {"layer-deltas", "by-target-pos", "layer-sets", "transfer-by-layer-pos", "similarity-cka"}
    assert {table.name for table in tables} == names
    assert cells(tables) == cells(all_tables(Results.of(records)))
    assert sum("contradict" in reason for reason in reasons) == 1
