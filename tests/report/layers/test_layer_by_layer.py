"""Tables and heat maps of similarity of each layer with each."""

from dataclasses import replace

import pytest

from crosslens.errors import RequestError
from crosslens.report.layers.by_layer import similarity
from crosslens.report.layers.layer_by_layer import layer_by_layer, layer_maps
from crosslens.results.record import Results
from made_records import similarity as record

ACROSS = [
    record("cka", 0.9),
    record("cka", 0.5, target_layer=1),
    record("cka", 0.6, layer=1, target_layer=0),
    record("cka", 0.8, layer=1),
]

TWO = "against=f"
"""Settings of a comparison of two encoders."""

UNRELATED = record("cka_shuffled", 0.2, layer=0)


def values(table, group):
    return {row.label: [cell.value for cell in row.cells] for row in table.groups[group]}


def test_rows_are_layers_of_the_first_language_and_columns_of_the_second():
    tables = layer_by_layer(Results.of([*ACROSS, record("cka_shuffled", 0.2, target_layer=1)]))
    assert list(tables) == ["cka"]
    table = tables["cka"]
    assert (table.name, table.head) == ("layer-by-layer-cka", ("0", "1"))
    assert values(table, "en–fr, pretrained") == {"layer 0": [0.9, 0.5], "layer 1": [0.6, 0.8]}
    assert values(table, "en–fr, pretrained, unrelated") == {"layer 0": [None, 0.2]}


def test_the_mean_over_pairs_is_cell_by_cell():
    other = [record("cka", 0.1, layer=i, target_layer=j, target="de") for i in (0, 1) for j in (0, 1)]
    table = layer_by_layer(Results.of([*ACROSS, *other]))["cka"]
    mean = values(table, "mean of 2 pairs, pretrained")
    assert mean == {"layer 0": pytest.approx([0.5, 0.3]), "layer 1": pytest.approx([0.35, 0.45])}


def test_one_layer_with_itself_remains_in_the_table_by_layer():
    (table,) = similarity(Results.of(ACROSS))
    assert values(table, "en–fr") == {"pretrained": [0.9, 0.8]}


def test_layers_of_one_number_alone_fill_nothing():
    results = Results.of([record("cka", 0.9), record("cka", 0.8, layer=1)])
    assert layer_by_layer(results) == {}
    with pytest.raises(RequestError, match="no similarity of different layers"):
        layer_maps(results)


def test_the_maps_draw_the_numbers_of_the_table_for_each_state():
    untrained = [record("cka", 0.3, target_layer=1, state="untrained", seed=1)]
    chart = layer_maps(Results.of([*ACROSS, *untrained])).to_dict()
    panels = chart["concat"]
    assert [panel["layer"][0]["title"] for panel in panels] == [["en–fr", "pretrained"], ["en–fr", "untrained"]]
    rows = (
        [row for data in chart["datasets"].values() for row in data]
        if "datasets" in chart
        else [row for panel in panels for row in (panel.get("data") or panel["layer"][0]["data"])["values"]]
    )
    drawn = {(row["layer"], row["target"], row["value"]) for row in rows}
    assert drawn == {(0, 0, 0.9), (0, 1, 0.5), (1, 0, 0.6), (1, 1, 0.8), (0, 1, 0.3)}


def test_rows_and_columns_are_in_the_order_of_layers_and_maps_in_that_of_pairs():
    layers = (8, 1, 0)
    records = [
        record("cka", (10 * i + j) / 100, layer=i, target_layer=j, target=target, state=state, seed=1)
        for state in ("pretrained", "untrained")
        for target in ("fr", "de")
        for i in layers
        for j in layers
    ]
    table = layer_by_layer(Results.of(records))["cka"]
    assert table.head == ("0", "1", "8")
    shown = values(table, "en–de, untrained")
    assert list(shown) == ["layer 0", "layer 1", "layer 8"]
    assert shown["layer 8"] == pytest.approx([0.8, 0.81, 0.88])
    of_rows = {title: {row.language for row in rows} for title, rows in table.groups.items()}
    assert (of_rows["en–fr, pretrained"], of_rows["mean of 2 pairs, untrained"]) == ({"fr"}, {None})
    panels = layer_maps(Results.of(records)).to_dict()["concat"]
    assert [panel["layer"][0]["title"] for panel in panels] == [
        [pair, state] for pair in ("mean of 2 pairs", "en–fr", "en–de") for state in ("pretrained", "untrained")
    ]
    assert {panel["layer"][0]["encoding"]["y"]["sort"] for panel in panels} == {"descending"}  # as in an encoder


def test_baselines_are_set_apart_from_the_rows_of_translations():
    table = layer_by_layer(Results.of([*ACROSS, record("cka_shuffled", 0.2, target_layer=1)]))["cka"]
    kinds = {title: {row.kind for row in rows} for title, rows in table.groups.items()}
    assert kinds == {"en–fr, pretrained": {"plain"}, "en–fr, pretrained, unrelated": {"beside"}}


@pytest.mark.parametrize(
    ("targets", "of"),
    [
        (("fr",), "translations"),
        (("en",), "the same sentences"),
        (("fr", "en"), "translations, or of the same sentences in a pair of one language"),
    ],
)
def test_a_caption_says_which_sentences_were_compared(targets, of):
    """In a pair of one language, two encoders read the same sentences."""
    results = Results.of(
        replace(each, target=target, settings="against=f") for target in targets for each in (*ACROSS, UNRELATED)
    )
    (by_layer,), across = similarity(results), layer_by_layer(results)["cka"]
    after = " by layer (0: embeddings), and of pairs of unrelated sentences as baselines."
    assert by_layer.caption.startswith(f"CKA of the representations of {of},{after}")
    assert across.caption.startswith(f"CKA of {of}, by layer of the first ")


@pytest.mark.parametrize(
    ("targets", "settings", "rows", "columns", "axes"),
    [
        (("fr",), None, "layer for the first language", "layer for the second language", {"layer, en", "layer, fr"}),
        (
            ("fr",),
            TWO,
            "layer of the first language's encoder",
            "layer of the second language's encoder",
            {"layer, en", "layer, fr"},
        ),
        (
            ("en",),
            TWO,
            "layer of the first encoder",
            "layer of the second encoder",
            {"layer, first encoder", "layer, second encoder"},
        ),
        (("en",), None, "layer of the encoder", "layer of the encoder", {"layer"}),
        (
            ("fr", "en"),
            TWO,
            "layer of the first language's encoder or layer of the first encoder",
            "layer of the second language's encoder or layer of the second encoder",
            {"layer, en", "layer, fr", "layer, first encoder", "layer, second encoder"},
        ),
    ],
)
def test_rows_and_columns_are_layers_of_as_many_encoders_as_were_compared(targets, settings, rows, columns, axes):
    records = [replace(each, target=target, settings=settings) for target in targets for each in ACROSS]
    (table,) = layer_by_layer(Results.of(records)).values()
    assert f", by {rows} (rows) and {columns} (columns; 0: embeddings)." in table.caption
    panels = layer_maps(Results.of(records)).to_dict()["concat"]
    assert {panel["layer"][0]["encoding"][side]["title"] for panel in panels for side in "xy"} == axes


def test_retrieval_across_layers_is_in_no_table_of_similarity():
    retrieved = [replace(each, measure="words procrustes", metric="precision@1", value=60.0) for each in ACROSS]
    assert layer_by_layer(Results.of([*ACROSS, *retrieved])) == layer_by_layer(Results.of(ACROSS))
