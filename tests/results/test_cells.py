"""The one rule of every number: a cell is the mean over seeds of exactly one record a seed."""

import random
from dataclasses import fields, replace
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crosslens.encoders.condition import Condition
from crosslens.errors import RequestError
from crosslens.results.cells import DIGESTS, PLURALS, VARIANTS, WHOLE, WITHIN, Cell, Column, cells, groups_of, mean_of
from crosslens.results.pivot import ROW
from crosslens.results.record import Record, Results

CONDITIONS = [
    Condition(),
    Condition(layers="1-2"),
    Condition(layers="3-4", components="attention"),
    Condition(freeze="0-1"),
]

AXES = {
    "task": ("pos", "ner"),
    "metric": ("accuracy", "las"),
    "encoder": ("e", "f"),
    "source": ("en", "fr"),
    "measure": (None, "cka"),
    "state": ("fine-tuned", "pretrained"),
    "selection": ("last", "best"),
    "train": ("ud/en_ewt:train", "ud/en_gum:train"),
    "dev": ("ud/en_ewt:dev", "ud/en_gum:dev"),
    "recipe": ("small", "lab"),
    "settings": ("epochs=1", "epochs=2 batch=8"),
    "partner": ("de", "ru"),
    "split": ("test", "dev"),
    "corpus": ("ud/de_pud:test", "ud/de_gsd:test"),
    "target": ("de", "ru"),
    "translated_from": (None, "en"),
    "depth": (6, 12),
    "layer": (0, 1),
    "target_layer": (None, 1),
    "encoder_digest": ("1" * 64, "2" * 64),
    "corpus_digest": ("3" * 64, "4" * 64),
    "train_digest": ("5" * 64, "6" * 64),
    "study": ("one", "two"),
    "run": ("r" * 16, "s" * 16),
}
"""Every column in which two numbers that are not to be averaged may differ, and two whose difference is no matter."""

NO_MATTER = {"study", "run"}

SAID_BY = {digest: name for name, digest in DIGESTS.items()}
"""A digest is said by the name of what it is of."""


def test_every_axis_of_the_rule_is_tried():
    assert {*WHOLE, *VARIANTS, *WITHIN, *DIGESTS.values()} - {"condition", "start", "factor"} <= set(AXES)
    assert set(AXES) <= {field.name for field in fields(Record)}


@st.composite
def tables(draw):
    """Records that vary in a few random columns, seeds and conditions, each with a value of its own."""
    varying = draw(st.lists(st.sampled_from(sorted(AXES)), max_size=3, unique=True))
    count = draw(st.integers(1, 12))
    records = []
    for number in range(count):
        columns = {axis: draw(st.sampled_from(AXES[axis])) if axis in varying else AXES[axis][0] for axis in AXES}
        condition = draw(st.sampled_from(CONDITIONS)).columns
        records.append(Record(**{**columns, **condition}, seed=draw(st.integers(1, 2)), value=2.0**number))
    return records


def table_of(records):
    """The cells, or the refusal."""
    try:
        return cells(Results.of(records), rows=ROW)
    except RequestError as refused:
        return str(refused)


def content(table):
    return {key: dict(cell.by_seed) for key, cell in table.values.items()}


@settings(max_examples=300, deadline=None)
@given(tables())
def test_no_cell_averages_two_records_of_one_seed_and_every_refusal_names_the_axis(records):
    """Values are different powers of two: the seeds of a cell hold single records if each value is one of them."""
    table = table_of(records)
    values = [record.value for record in records]
    if isinstance(table, str):
        contradiction = "two records contradict one another" in table
        differing = [axis for axis in AXES if len({getattr(record, axis) for record in records}) > 1]
        names = [name for axis in differing for name in (axis, SAID_BY.get(axis, axis))]
        assert contradiction or any(f"several {PLURALS.get(name, f'{name}s')}:" in table for name in names), table
        return
    shown = [value for cell in table.values.values() for value in cell.by_seed.values()]
    assert sorted(shown) == sorted(values)  # each record stands in one place, alone
    for cell in table.values.values():
        assert cell.mean == fmean(cell.by_seed.values())


@settings(max_examples=150, deadline=None)
@given(tables())
def test_a_contradiction_is_of_two_records_that_differ_in_nothing_that_matters(records):
    table = table_of(records)
    if isinstance(table, str) and "contradict" in table:
        names = [field.name for field in fields(Record) if field.name not in {*NO_MATTER, "value", "tags"}]
        keys = [tuple(getattr(record, name) for name in names) for record in records]
        assert len(set(keys)) < len(keys)


@settings(max_examples=100, deadline=None)
@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_records_changes_nothing_but_the_order_of_rows(records, generator: random.Random):
    shuffled = generator.sample(records, len(records))
    one, other = table_of(records), table_of(shuffled)
    if isinstance(one, str):
        assert isinstance(other, str)
    else:
        assert content(one) == content(other)
        assert set(one.columns) == set(other.columns)


@settings(max_examples=100, deadline=None)
@given(tables(), st.integers(0, 50), st.sampled_from(["task", "metric", "encoder", "source"]))
def test_unrelated_records_change_no_cell(records, place, axis):
    """Of another task, metric, encoder or source: their group is another, and this one's cells are what they were."""
    unrelated = [replace(record, **{axis: "another"}, value=-1.0) for record in records[:2]]
    mixed = [*records[:place], *unrelated, *records[place:]]
    names = ("task", "metric", "encoder", "source")
    alone = {key: block for key, block in groups_of(Results.of(records), *names)}
    for key, block in groups_of(Results.of(mixed), *names):
        if "another" not in str(key):
            one, other = [*map(table_of_results, (alone[key], block))]
            assert one == other


def table_of_results(results):
    try:
        return content(cells(results, rows=ROW))
    except RequestError as refused:
        return str(refused)


@settings(max_examples=100, deadline=None)
@given(tables(), st.integers(0, 11))
def test_a_copy_of_a_record_counts_once(records, place):
    copy = replace(records[place % len(records)], study="another study", run="q" * 16)
    one, other = table_of(records), table_of([*records, copy])
    if isinstance(one, str):
        assert isinstance(other, str)
    else:
        assert content(one) == content(other)


def score(target="de", value=1.0, *, seed=1, condition=Condition(), **more):  # noqa: B008
    usual = {"task": "pos", "encoder": "e", "source": "en", "metric": "accuracy"}
    return Record(**{**usual, **condition.columns, "target": target, "value": value, "seed": seed, **more})


def test_studies_of_a_cell_have_all_of_its_records():
    both = [score(seed=seed, study=study) for seed in (1, 2) for study in ("one", "two")]
    later = score(seed=3, study="two")
    assert cells(Results.of(both), rows=ROW).get(("de", None, None), Column(Condition())).studies == {"one", "two"}
    assert cells(Results.of([*both, later]), rows=ROW).get(("de", None, None), Column(Condition())).studies == {"two"}


def test_of_some_columns_the_rows_are_those_with_a_score_in_one_of_them():
    measured = [("fr", "a"), ("fr", "b"), ("de", "b"), ("ru", "c")]
    alike = Record(task="pos", metric="accuracy", seed=1, value=1.0)
    records = Results.of([replace(alike, target=row, measure=column) for row, column in measured])
    table = cells(records, rows=("target",), columns=("measure",))
    a, b, c = table.columns
    kept = table.only([b, a])
    assert (kept.rows, kept.columns) == ((("fr",), ("de",)), (b, a))
    assert kept.get(("de",), b) == table.get(("de",), b)
    assert table.only([c]).rows == (("ru",),)


def test_differences_are_within_seeds_and_say_what_is_left_out():
    one, other = Cell({1: 5.0, 2: 7.0}), Cell({2: 6.0, 3: 1.0})
    assert one.minus(other).by_seed == {2: 1.0}
    assert one.minus(other).excluded == {1, 3}
    assert mean_of([one.minus(other), Cell({2: 3.0})]).excluded == {1, 3}
    german = Cell({2: 1.0}).minus(Cell({2: 0.0, 4: 0.0}))
    assert mean_of([one.minus(other), german]).excluded == {1, 3, 4}  # each language lacks other seeds
    assert mean_of([one, Cell({})]).mean is None
    assert mean_of([one, Cell({})]).lacks == 1


def test_a_difference_and_a_mean_belong_to_the_studies_that_all_their_parts_have():
    one, other = Cell({1: 5.0}, frozenset({"one", "two"})), Cell({1: 3.0}, frozenset({"two", "three"}))
    assert one.minus(other).studies == {"two"}
    assert mean_of([one, other, one]).studies == {"two"}
    assert mean_of([one, other, Cell({1: 1.0})]).studies == set()


def test_a_variant_is_a_column_of_its_own_with_a_reference_of_its_own():
    records = [
        score(value=value, train=train, condition=condition)
        for train, values in (("a", (5.0, 3.0)), ("b", (9.0, 8.0)))
        for condition, value in zip((Condition(), Condition(layers="1-2")), values, strict=True)
    ]
    table = cells(Results.of(records), rows=ROW).compared()
    row = ("de", None, None)
    assert [table.head(column) for column in table.columns] == ["reference, a", "Δ 1-2, a", "reference, b", "Δ 1-2, b"]
    assert [table.get(row, column).mean for column in table.columns] == [5.0, -2.0, 9.0, -1.0]


def test_dev_data_stand_in_the_head_where_the_rule_does_not_say_which():
    def models(*kinds):
        return Results.of(
            score(value=float(number), selection=selection, dev=dev) for number, (selection, dev) in enumerate(kinds)
        )

    def labels(results):
        return {column.variant: cell.mean for (_, column), cell in cells(results, rows=ROW).values.items()}

    assert labels(models(("best", "a"), ("best", "b"))) == {"dev a": 0.0, "dev b": 1.0}
    assert labels(models(("best", "a"), ("oracle b", "b"), ("last", None))) == {
        "best": 0.0,
        "oracle b": 1.0,
        "last": 2.0,
    }
    assert labels(models(("best", "a"), ("best", "b"), ("last", None))) == {
        "best, dev a": 0.0,
        "best, dev b": 1.0,
        "last": 2.0,
    }


def test_a_contradiction_is_named():
    both = [score(value=1.0, study="one", run="r"), score(value=2.0, study="two", layer=None)]
    with pytest.raises(
        RequestError,
        match=(
            "two records contradict one another: pos, accuracy, e, en, reference, seed 1: 1 in study one run r and 2 in"
            " study two"
        ),
    ):
        cells(Results.of(both), rows=ROW)


def test_things_of_one_name_are_groups_of_their_own():
    records = [score(encoder_digest="1" * 64), score(encoder_digest="2" * 64, value=2.0), score(encoder="f", value=3.0)]
    groups = groups_of(Results.of(records), "encoder")
    assert [(key, len(block)) for key, block in groups] == [(("e (11111111)",), 1), (("e (22222222)",), 1), (("f",), 1)]


def test_a_refusal_is_one_sentence_with_what_to_do():
    with pytest.raises(
        RequestError, match=r"several splits: test, dev \(.*--where split=…, or in Python filter\(split=…\)"
    ):
        cells(Results.of([score(split="test"), score(split="dev", value=2.0)]), rows=("target",))


def test_layers_of_an_encoder_of_unknown_depth_come_last():
    """Records made by hand may name them as they were asked for."""
    asked = ("0,all", "all", "5-6", "0", "1-2", "none")
    columns = [Column(Condition.parse(layers)) for layers in asked]
    ordered = [column.label for column in sorted(columns, key=lambda column: column.order)]
    assert ordered == ["reference", "0", "1-2", "5-6", "0,all", "all"]
