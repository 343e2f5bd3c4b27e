"""Columns of a table: their order, their heads, what they are told apart by; and where a record says which it is."""

import itertools

import pytest

from crosslens.encoders.condition import Condition
from crosslens.errors import RequestError
from crosslens.results.cells import (
    EMPTY,
    Cell,
    Cells,
    Column,
    cells,
    columns_of,
    disambiguated,
    encoders_apart,
    languages_of,
    layer_of,
    mean_of,
    variants_of,
    with_target_layers,
)
from crosslens.results.pivot import ROW
from crosslens.results.record import Record, Results
from crosslens.results.record_settings import settings_of

REFERENCE = Condition()


def score(target="de", value=1.0, *, seed=1, condition=REFERENCE, **more):
    usual = {"task": "pos", "encoder": "e", "source": "en", "metric": "accuracy"}
    return Record(**{**usual, **condition.columns, "target": target, "value": value, "seed": seed, **more})


def test_conditions_stand_in_one_order_whatever_order_they_come_in():
    """The reference, re-initialised layers from few to many and from the bottom up, by number; all else behind."""
    in_order = [
        Condition(),
        Condition(layers="2"),
        Condition(layers="10"),
        Condition(layers="1-2"),
        Condition(layers="9-10"),
        Condition(layers="10-11"),
        Condition(layers="1-2,9"),
        Condition(layers="1-2,10"),
        Condition(layers="2-4"),
        Condition(layers="1-12"),
        Condition(freeze="0-1"),
        Condition(freeze="0-9"),
        Condition(freeze="0-10"),
    ]
    columns = [Column(condition) for condition in in_order]
    for one, other in itertools.pairwise(columns):
        assert one.order < other.order, (one.label, other.label)
    table = cells(
        Results.of(score(value=float(place), condition=each) for place, each in enumerate(reversed(in_order))),
        rows=ROW,
    )
    assert [column.label for column in table.columns] == [column.label for column in columns]
    assert Column(Condition(layers="all")).order[0] == 2  # how many these are, only an encoder says
    assert Column(Condition(layers="1-2"), "x").order == Column(Condition(layers="1-2")).order


def test_layers_and_other_values_stand_in_their_own_order():
    records = [score(value=float(layer), layer=layer, measure="m") for layer in (10, 2, 9)]
    table = cells(Results.of(records), rows=("target",), columns=("layer",))
    assert table.columns == (2, 9, 10)
    assert [table.get(("de",), layer).mean for layer in table.columns] == [2.0, 9.0, 10.0]
    pairs = [score(value=1.0, layer=2, seed=1), score(value=2.0, layer=1, seed=1), score(value=3.0, layer=1, seed=2)]
    table = cells(Results.of(pairs), rows=("target",), columns=("layer", "target"))
    assert table.columns == ((1, "de"), (2, "de"))
    assert table.get(("de",), (1, "de")).by_seed == {1: 2.0, 2: 3.0}
    assert table.get(("fr",), (1, "de")) is EMPTY


def test_a_head_is_the_condition_and_what_tells_it_apart():
    changed, plain = Column(Condition(layers="1-2"), "recipe lab"), Column(REFERENCE)
    assert (changed.label, plain.label, Column(REFERENCE, "x").label) == (
        "1-2, recipe lab",
        "reference",
        "reference, x",
    )
    table = Cells((("de",),), (plain, Column(Condition(layers="1-2")), changed), {(("de",), plain): Cell({1: 5.0})})
    assert [table.is_difference(column) for column in table.columns] == [False, True, False]
    assert [table.head(column) for column in table.columns] == ["reference", "Δ 1-2", "1-2, recipe lab"]
    assert [table.reference_of(column) for column in table.columns] == [plain, plain, None]
    compared = table.compared()
    assert (compared.rows, compared.columns) == (table.rows, table.columns)
    assert compared.get(("de",), plain).mean == 5.0
    assert compared.get(("de",), table.columns[1]).mean is None
    assert compared.get(("de",), table.columns[1]).excluded == set()  # it was not run


def test_the_mean_and_spread_of_a_cell_and_of_several():
    assert (Cell({}).mean, Cell({}).std, Cell({1: 3.0}).mean, Cell({1: 3.0}).std) == (None, None, 3.0, None)
    assert Cell({1: 1.0, 2: 3.0}).std == pytest.approx(2**0.5)  # ddof 1
    assert (Cell({}).excluded, Cell({}).lacks, mean_of([]).by_seed, mean_of([]).lacks) == (set(), 0, {}, 0)
    one = Cell({1: 1.0, 2: 3.0, 4: 9.0}, excluded=frozenset({5}))
    other = Cell({2: 5.0, 3: 7.0}, excluded=frozenset({6}))
    assert (mean_of([one, other]).by_seed, mean_of([one, other]).excluded) == ({2: 4.0}, {1, 3, 4, 5, 6})
    assert (mean_of([one]).by_seed, mean_of([one]).excluded) == (one.by_seed, {5})
    assert mean_of([one, Cell({}), Cell({})]) == Cell({}, lacks=2)
    assert one.minus(other).by_seed == {2: -2.0}
    assert (one.minus(other).excluded, one.minus(one).excluded) == ({1, 3, 4}, set())


def test_replaced_settings_stand_in_the_head_as_far_as_they_differ():
    def heads(*settings, **more):
        return variants_of(disambiguated(Results.of(score(settings=each, **more) for each in settings)))

    assert heads("epochs=1 batch=2", "epochs=3 batch=2", "batch=2") == ["epochs=1", "epochs=3", ""]
    assert heads("epochs=1", None) == ["epochs=1", ""]
    assert heads("epochs=1", "epochs=1") == ["", ""]
    assert heads(None, None) == ["", ""]
    recipes = [score(recipe=recipe, train=train) for recipe, train in (("small", "a"), (None, "a"), ("lab", "b"))]
    assert variants_of(disambiguated(Results.of(recipes))) == ["a, small", "a", "b, lab"]
    one_known = [score(train=None), score(train="a")]
    assert variants_of(disambiguated(Results.of(one_known))) == ["", ""]
    assert variants_of([]) == []


def test_a_condition_with_its_own_recipe_is_compared_with_the_reference():
    """As long as its recipe is one and the others share one; else its recipe stands in its head."""
    own = Condition.read({"tower": 1})
    assert own.own_recipe
    alike = [score(recipe="small"), score(recipe="tower", condition=own), score(recipe="small", seed=2)]
    assert variants_of(disambiguated(Results.of(alike))) == ["", "", ""]
    several = [*alike, score(recipe="lab", condition=own)]
    assert variants_of(disambiguated(Results.of(several))) == ["small", "tower", "small", "lab"]
    unequal = [score(recipe="small"), score(recipe="lab"), score(recipe="tower", condition=own)]
    assert variants_of(disambiguated(Results.of(unequal))) == ["small", "lab", "tower"]
    corpora = [score(train="a"), score(train="b", condition=own)]
    assert variants_of(disambiguated(Results.of(corpora))) == ["a", "b"]  # data are no recipe
    columns = columns_of(disambiguated(Results.of(alike)))
    assert [column.label for column in columns.to_list()] == ["reference", "reference tower on 1", "reference"]


def test_two_things_of_one_name_have_their_digest_behind_it():
    records = [
        score(train="a", train_digest="1" * 64, corpus="c", corpus_digest="3" * 64),
        score(train="a", train_digest="2" * 64, corpus="c", corpus_digest="3" * 64),
        score(train="a", train_digest=None, corpus=None, corpus_digest=None),
        score(train=None, train_digest="1" * 64, encoder_digest="9" * 64),
    ]
    rows = disambiguated(Results.of(records))
    assert [row["train"] for row in rows] == ["a (11111111)", "a (22222222)", "a", None]
    assert [row["corpus"] for row in rows] == ["c", "c", None, None]
    assert [row["encoder"] for row in rows] == ["e"] * 4


def test_short_names_reach_encoders_and_settings_and_leave_the_rest():
    paths = ["/home/x/runs/ann/model", "/home/x/runs/bob/model"]
    records = [
        score(encoder=path, encoder_digest=digit * 64, settings=f"against={other} method=csls", layer=3)
        for path, other, digit in zip(paths, reversed(paths), "12", strict=True)
    ]
    named = encoders_apart(Results.of(records)).records
    names = named["encoder"].to_pylist()
    assert len(set(names)) == 2
    assert not any("/home" in name for name in names)
    assert [settings_of(text)["method"] for text in named["settings"].to_pylist()] == ["csls", "csls"]
    assert not any("/home" in text for text in named["settings"].to_pylist())
    before = Results.of(records).records
    assert named.drop_columns(["encoder", "settings"]) == before.drop_columns(["encoder", "settings"])
    assert named.schema == before.schema


def test_the_layer_of_a_record_is_that_of_its_language():
    there = {"source": "en", "layer": 2, "target_layer": 5}
    assert (layer_of(there, source="en"), layer_of({**there, "source": "fr"}, source="en")) == (2, 5)
    assert layer_of({**there, "source": "fr", "target_layer": None}, source="en") == 2
    records = [score(layer=2, target_layer=5), score(layer=2), score(layer=None)]
    filled = with_target_layers(Results.of(records)).records
    assert filled["target_layer"].to_pylist() == [5, 2, None]
    assert filled.schema == Results.of(records).records.schema
    assert filled["layer"].to_pylist() == [2, 2, None]


def test_a_row_is_named_by_its_language_if_that_has_one_corpus():
    records = [score("de", corpus="a"), score("fr", corpus="b"), score("fr", corpus="c"), score(None, corpus="d")]
    name = languages_of(Results.of([*records, score("de", corpus="a", seed=2)]))
    rows = [("de", "a"), ("fr", "b"), ("fr", "c"), (None, "d"), ("wo", "unheard")]
    assert [name(*row) for row in rows] == ["de", "b", "c", "d", "unheard"]


@pytest.mark.parametrize(
    ("axis", "values", "named"),
    [
        ("task", ("pos", "ner"), "several tasks: pos, ner"),
        ("corpus", ("a", "b"), "several corpora: a, b"),
        ("layer", (3, None), "several layers: 3, None"),
    ],
)
def test_what_one_table_cannot_hold_is_named_in_the_order_of_the_records(axis, values, named):
    records = [score(**{axis: value}) for value in values]
    with pytest.raises(RequestError) as refused:
        cells(Results.of(records), rows=("target",))
    assert refused.value.message == f"one table cannot hold {named}"
    chosen = 'matching("corpus=…")' if axis == "corpus" else f"filter({axis}=…)"
    assert refused.value.hint == f"give results of one only: --where {axis}=…, or in Python {chosen}"


def test_records_without_a_value_fill_no_cell_and_contradict_nothing():
    table = cells(Results.of([score("fr", None), score("de", 2.0), score("de", None)]), rows=("target",))
    assert table.rows == (("de",),)
    assert table.get(("de",), table.columns[0]).by_seed == {1: 2.0}


def test_a_contradiction_names_files_where_there_is_neither_study_nor_run():
    with pytest.raises(RequestError) as refused:
        cells(
            Results.of([score(value=1.25, layer=3), score(value=2.0, layer=3, condition=REFERENCE)]), rows=("target",)
        )
    assert refused.value.message == (
        "two records contradict one another: pos, accuracy, e, en, 3, reference, seed 1: 1.25 in a file and 2 in a file"
    )
    assert refused.value.hint == "report them one by one, or filter them"
