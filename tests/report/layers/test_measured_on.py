"""Encoders that were compared on different sentences say so, and are not averaged or correlated across them."""

from dataclasses import replace

import pytest

from crosslens.report.layers.by_layer import retrieval, similarity, similarity_against_retrieval, transfer
from crosslens.report.layers.layer_by_layer import layer_by_layer
from crosslens.results.record import Results
from made_records import score
from made_records import similarity as similar
from made_sections import retrieved

WAYS = [
    ({"corpus": "ud/pud"}, {"corpus": "flores"}, ("ud/pud", "flores")),
    (
        {"corpus_digest": "1" * 63, "n": 100},
        {"corpus_digest": "2" * 63, "n": 900},
        ("ud/pud n=100", "ud/pud n=900"),
    ),
    (
        {"corpus_digest": "1" * 63, "n": 100},
        {"corpus_digest": "2" * 63, "n": 100},
        ("ud/pud (1111", "ud/pud (2222"),
    ),
]
"""What two encoders were measured on, and the beginnings of its names."""


def labels(tables):
    """Value of the first column -> label of its row."""
    rows = [row for table in tables for rows in table.groups.values() for row in rows]
    return {row.cells[0].value or 0.0: row.label for row in rows}


def of_pairs(way, values, **columns):
    """Parallel sentences have another digest in each language pair."""
    for target, value in values.items():
        digest = {"corpus_digest": way["corpus_digest"] + target[0]} if "corpus_digest" in way else {}
        yield similar("cka", value, target=target, **{**columns, **way, **digest})


@pytest.mark.parametrize("encoders", [("e", "f"), ("e", "e")])
@pytest.mark.parametrize(("one", "other", "names"), WAYS)
def test_similarities_of_different_sentences_name_them(one, other, names, encoders):
    records = [
        *of_pairs(one, {"fr": 0.5, "de": 0.3}, encoder=encoders[0]),
        *of_pairs(other, {"fr": 0.7, "de": 0.9}, encoder=encoders[1]),
    ]
    named = labels(similarity(Results.of(records)))
    for values, name, encoder in zip(((0.5, 0.3), (0.7, 0.9)), names, encoders, strict=True):
        who = f"{encoder}: " if encoders[0] != encoders[1] else ""
        assert all(named[value].startswith(f"{who}pretrained, {name}") for value in values)


def test_numbers_of_sentences_do_not_keep_pairs_from_a_mean():
    records = [
        *of_pairs(WAYS[1][0], {"fr": 0.5, "de": 0.3}, encoder="e"),
        *of_pairs(WAYS[1][1], {"fr": 0.7, "de": 0.9}, encoder="f"),
    ]
    (table,) = similarity(Results.of(records))
    means = {row.label: row.cells[0].value for row in table.groups["mean of 2 pairs"]}
    assert means == {
        "e: pretrained, ud/pud n=100": pytest.approx(0.4),
        "f: pretrained, ud/pud n=900": pytest.approx(0.8),
    }


def test_pairs_of_one_corpus_do_not_name_it():
    records = of_pairs({"corpus_digest": "1" * 63, "n": 100}, {"fr": 0.5, "de": 0.3})
    (table,) = similarity(Results.of(records))
    assert set(labels([table]).values()) == {"pretrained"}
    assert "mean" not in table.caption


def across_layers(results):
    return list(layer_by_layer(results).values())


@pytest.mark.parametrize("make", [similarity, across_layers])
def test_a_caption_says_why_there_is_no_mean_over_pairs(make):
    """Of a changed corpus with as many sentences, nothing tells which versions of two pairs belong together."""
    across = {"target_layer": 1} if make is across_layers else {}
    records = [
        similar("cka", 0.5, target=target, corpus_digest=f"{version}{target}" * 20, n=100, **across)
        for target in ("fr", "de")
        for version in (1, 2)
    ]
    (table,) = make(Results.of(records))
    assert [title.partition(",")[0] for title in table.groups if title.startswith("mean")] == []
    assert "Versions of a corpus with equally many sentences" in table.caption
    (table,) = make(Results.of([*records[:1], *records[2:3], similar("cka", 0.4, encoder="f", **across)]))
    assert "Rows that some pair lacks are in no mean over pairs." in table.caption
    assert "Versions" not in table.caption
    assert any(title.startswith("mean of 2 pairs") for title in table.groups)


def test_layers_over_fewer_seeds_than_others_of_a_line_say_so():
    """Another encoder has as many seeds as it was trained with: one, or none."""
    places = [("e", 1, 0), ("e", 2, 0), ("e", 1, 1), ("f", 1, 0), ("f", 1, 1), ("g", None, 0)]
    records = [
        similar("cka", value / 10, encoder=encoder, seed=seed, layer=layer)
        for value, (encoder, seed, layer) in enumerate(places)
    ]
    (table,) = similarity(Results.of(records))
    notes = {row.label: [cell.note for cell in row.cells] for row in table.groups["en–fr"]}
    assert notes == {"e: pretrained": [None, 1], "f: pretrained": [None, None], "g: pretrained": [None, None]}
    assert table.notes == ("over fewer seeds: 1 of 2",)


@pytest.mark.parametrize(("one", "other", "names"), WAYS)
def test_retrieval_in_different_sentences_names_them(one, other, names):
    records = [
        replace(retrieved("fr", value, mapping="identity"), encoder=encoder, corpus="ud/pud", settings=None)
        for encoder, value in (("e", 60.0), ("f", 40.0))
    ]
    named = labels(retrieval(Results.of(records)))
    assert named == {60.0: "e", 40.0: "f"}
    told = [replace(each, **way) for each, way in zip(records, (one, other), strict=True)]
    named = labels(retrieval(Results.of(told)))
    assert named[60.0].startswith(f"e, {names[0]}")
    assert named[40.0].startswith(f"f, {names[1]}")


def test_heads_of_encoders_with_different_recipes_name_them():
    usual = {"condition": {"tower": 0}, "layer": 0}
    records = [score("fr", 80.0, recipe="small", **usual), score("fr", 40.0, recipe="large", encoder="f", **usual)]
    assert labels(transfer(Results.of(records))) == {80.0: "e, small", 40.0: "f, large"}


@pytest.mark.parametrize(("one", "other", "names"), WAYS)
@pytest.mark.parametrize("encoders", [("e", "f"), ("e", "e")])
def test_similarity_is_correlated_with_retrieval_in_the_same_sentences(one, other, names, encoders):
    """In one corpus retrieval rises with CKA, in the other it falls."""
    records = []
    for encoder, way, slope in zip(encoders, (one, other), (1.0, -1.0), strict=True):
        of = {"encoder": encoder, "corpus": "ud/pud", **way}
        for layer, value in enumerate((0.2, 0.6, 0.4)):
            found = retrieved("fr", 50.0 + 20.0 * slope * value, layer=layer, level="sentences", mapping="identity")
            records += [similar("cka", value, layer=layer, **of), replace(found, settings=None, **of)]
    named = labels(similarity_against_retrieval(Results.of(records)))
    assert sorted(named) == pytest.approx([-1.0, 1.0])
    assert all(label.startswith(f"{encoders[value < 0]}, {names[value < 0]}") for value, label in named.items())
