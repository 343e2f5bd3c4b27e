"""Tables by layer: every number against a plain recomputation from the records."""

import statistics

import pytest

from crosslens.encoders.condition import Condition
from crosslens.report.layers.by_layer import BY_LAYER
from crosslens.report.tables import all_tables
from crosslens.results.record import Record, Results
from made_records import PLAIN, score, similarity


def retrieved(
    value, *, layer=0, level="sentences", mapping="procrustes", direction="en-fr", metric="precision@1", **columns
):
    source, target = direction.split("-")
    encoders = {"en": "mono-en", "fr": "mono-fr"}
    return Record(
        encoder=encoders[source],
        source=source,
        target=target,
        measure=f"{level} {mapping}",
        metric=metric,
        layer=layer,
        value=value,
        depth=1,
        **{
            "state": "pretrained",
            "corpus": "tatoeba/fr",
            "settings": f"against={encoders[target]} method=cosine",
            **columns,
        },
    )


UNTRAINED = Condition.model_validate({"layers": "0-1"})


def untrained(value, seed, **columns):
    against = {"settings": f"against=mono-fr method=cosine against_condition={UNTRAINED.text}"}
    return retrieved(value, seed=seed, **UNTRAINED.columns, **against, **columns)


def shown(table):
    """(group, label) -> values."""
    return {
        (title, row.label): [cell.value for cell in row.cells] for title, rows in table.groups.items() for row in rows
    }


def only(results, name):
    tables = {table.name: table for table in all_tables(results)}
    return tables[name]


def test_retrieval_is_the_mean_over_directions_with_its_baselines_below():
    records = [
        *(retrieved(value, layer=layer) for layer, value in enumerate((90.0, 50.0))),
        *(retrieved(value, layer=layer, direction="fr-en") for layer, value in enumerate((80.0, 30.0))),
        *(untrained(value, seed) for seed, value in ((1, 70.0), (2, 60.0))),
        *(retrieved(value, mapping="procrustes_shuffled", seed=seed) for seed, value in ((1, 1.0), (2, 0.0))),
        retrieved(0.5, mapping="identity"),
    ]
    table = only(Results.of(records), "sentences")
    assert table.head == ("0", "1")
    group, label = "en–fr: precision at 1", "mono-en and mono-fr"
    assert shown(table) == {
        (group, label): [statistics.fmean([90.0, 80.0]), statistics.fmean([50.0, 30.0])],
        (group, f"{label}, untrained"): [65.0, None],
        (group, f"{label}, shuffled"): [0.5, None],
        (group, f"{label}, identity"): [0.5, None],
    }
    assert [row.kind for row in table.groups[group]] == ["plain", "beside", "beside", "beside"]
    for words in ("untrained: every parameter", "shuffled: mapping learnt", "identity: no mapping"):
        assert words in table.caption


def test_without_a_mapping_the_identity_is_the_measurement():
    table = only(Results.of([retrieved(20.0, mapping="identity", level="words", metric="precision@5")]), "words")
    assert shown(table) == {("en–fr: precision at 5", "mono-en and mono-fr"): [20.0]}
    assert "Baselines" not in table.caption


def test_untrained_encoders_with_and_without_a_mapping_are_two_rows():
    records = [
        retrieved(20.0),
        untrained(5.0, 1),
        untrained(1.0, 1, mapping="identity"),
        retrieved(2.0, mapping="identity"),
    ]
    name = "mono-en and mono-fr"
    assert {label: values for (_, label), values in shown(only(Results.of(records), "sentences")).items()} == {
        name: [20.0],
        f"{name}, untrained": [5.0],
        f"{name}, identity": [2.0],
        f"{name}, untrained, identity": [1.0],
    }


def test_records_that_contradict_one_another_are_left_out_with_the_reason():
    reasons = []
    records = [*PLAIN, retrieved(20.0), retrieved(21.0)]
    tables = all_tables(Results.of(records), skipped=reasons.append)
    assert [table.name for table in tables] == ["layer-deltas", "by-target-pos", "layer-sets"]
    assert len(reasons) == 1
    assert "contradict one another: en–fr: precision at 1, mono-en and mono-fr, layer 0" in reasons[0]


def test_two_methods_of_retrieval_are_two_rows():
    records = [retrieved(20.0), retrieved(30.0, settings="against=mono-fr method=csls")]
    rows = shown(only(Results.of(records), "sentences"))
    assert sorted(rows.values()) == [[20.0], [30.0]]
    assert {label for _, label in rows} == {"mono-en and mono-fr, cosine", "mono-en and mono-fr, csls"}


def test_similarity_has_each_pair_and_their_mean_beside_unrelated_sentences():
    records = [
        similarity(measure, value + layer / 10, layer=layer, target=target)
        for measure, values in (("cka", (0.5, 0.7)), ("cka_shuffled", (0.1, 0.2)))
        for target, value in zip(("fr", "de"), values, strict=True)
        for layer in (0, 1)
    ]
    rows = shown(only(Results.of(records), "similarity-cka"))
    assert rows["mean of 2 pairs", "pretrained"] == pytest.approx([0.6, 0.7])
    assert rows["mean of 2 pairs", "pretrained, unrelated"] == pytest.approx([0.15, 0.25])
    assert rows["en–de", "pretrained"] == pytest.approx([0.7, 0.8])
    assert len(rows) == 6


def test_a_pair_that_lacks_a_layer_has_no_mean_there():
    records = [similarity("cka", 0.5), similarity("cka", 0.6, layer=1), similarity("cka", 0.7, target="de")]
    assert shown(only(Results.of(records), "similarity-cka"))["mean of 2 pairs", "pretrained"] == [
        pytest.approx(0.6),
        None,
    ]


def test_two_encoders_are_named_and_both_are_untrained():
    condition = {**UNTRAINED.columns, "settings": f"against=f against_condition={UNTRAINED.text}", "state": "untrained"}
    records = [
        similarity("cka", 0.5, settings="against=f"),
        similarity("cka", 0.2, seed=1, **condition),
        similarity("cka", 0.4),
        *(similarity("cka", n / 10, settings=f"against=f against_task=pos against_run=a{n}") for n in (7, 8)),
    ]
    rows = shown(only(Results.of(records), "similarity-cka"))
    assert rows == {
        ("en–fr", "e and f: pretrained"): [0.5],
        ("en–fr", "e and f: pretrained, second encoder fine-tuned for POS tagging, against_run=a7"): [0.7],
        ("en–fr", "e and f: pretrained, second encoder fine-tuned for POS tagging, against_run=a8"): [0.8],
        ("en–fr", "e and f: untrained"): [0.2],
        ("en–fr", "e: pretrained"): [0.4],
    }


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_cka_and_retrieval_over_layers(sign):
    alike, found = (0.9, 0.7, 0.4, 0.2), (80.0, 70.0, 20.0, 30.0)
    records = [
        *(
            similarity("cka", value, layer=layer, settings="against=mono-fr", encoder="mono-en")
            for layer, value in enumerate(alike)
        ),
        *(retrieved(50.0 + sign * value, layer=layer) for layer, value in enumerate(found)),
    ]
    table = only(Results.of(records), "cka-against-retrieval")
    assert shown(table) == {
        ("en–fr", "mono-en and mono-fr"): [pytest.approx(sign * statistics.correlation(alike, found)), None]
    }
    two_layers = [record for record in records if record.layer < 2]
    assert "cka-against-retrieval" not in {table.name for table in all_tables(Results.of(two_layers))}


def test_the_same_cka_in_all_layers_correlates_with_nothing_and_says_so():
    records = [
        record
        for layer, precision in enumerate((80.0, 70.0, 20.0))
        for record in (
            similarity("cka", 0.5, layer=layer, settings="against=mono-fr", encoder="mono-en"),
            retrieved(precision, layer=layer),
        )
    ]
    table = only(Results.of(records), "cka-against-retrieval")
    assert shown(table) == {("en–fr", "mono-en and mono-fr"): [None, None]}
    assert table.notes == ("no coefficient: CKA equal in all layers",)


def one_layer(target, value, layer, **fields):
    return score(target, value, condition={"tower": layer, **fields})


def test_transfer_through_a_mapping_has_layers_as_columns_and_is_no_condition_of_other_tables():
    records = [
        *PLAIN,
        *(one_layer("en", value, layer) for layer, value in ((0, 90.0), (3, 91.0))),
        *(one_layer("fr", value, layer, mapped_from="f", mapping="ab") for layer, value in ((0, 70.0), (3, 60.0))),
        one_layer("fr", 12.0, 0, mapped_from="f", mapping="cd", mapped_by="identity"),
    ]
    tables = {table.name: table for table in all_tables(Results.of(records))}
    assert tables["transfer-by-layer-pos"].head == ("0", "3")
    assert shown(tables["transfer-by-layer-pos"]) == {
        ("en → en", "e"): [90.0, 91.0],
        ("en → fr", "e and f"): [70.0, 60.0],
        ("en → fr", "e and f, identity"): [12.0, None],
    }
    assert tables["layer-deltas"].head == ("Ref", "Δ 1-2")
    assert shown(tables["layer-deltas"]) == shown(only(Results.of(PLAIN), "layer-deltas"))


def test_heads_for_several_mappings_are_averaged_on_the_source_language():
    records = [one_layer("en", value, 0, mapping=mapping) for value, mapping in ((90.0, "ab"), (92.0, "cd"))]
    table = only(Results.of(records), "transfer-by-layer-pos")
    assert shown(table) == {("en → en", "e"): [91.0]}
    assert [cell.std for cell in table.cells] == [None]  # it is over seeds, and both heads are of one


def probed(value, *, layer, metric="accuracy", **columns):
    return Record(
        encoder="e",
        measure="langid",
        metric=metric,
        layer=layer,
        value=value,
        seed=1,
        depth=1,
        corpus="wili/all",
        state="pretrained",
        **columns,
    )


def test_probes_stand_beside_their_control():
    records = [
        *(probed(value, layer=layer) for layer, value in enumerate((95.0, 90.0))),
        *(probed(value, layer=layer, metric="accuracy_shuffled") for layer, value in enumerate((3.0, 4.0))),
        probed(50.0, layer=0, target="fr"),
    ]
    assert shown(only(Results.of(records), "probes")) == {
        ("langid", "pretrained"): [95.0, 90.0],
        ("langid", "pretrained, shuffled labels"): [3.0, 4.0],
    }


def test_scores_alone_have_no_table_by_layer():
    assert [table for make in BY_LAYER for table in make(Results.of(PLAIN))] == []


def test_there_is_a_mean_over_pairs_only_of_what_every_pair_has():
    """Only English-French has the baseline of unrelated sentences; English with itself is not part of a mean."""
    records = [
        *(similarity("cka", value, target=target) for target, value in (("fr", 0.5), ("de", 0.7), ("en", 1.0))),
        similarity("cka_shuffled", 0.1, target="fr"),
    ]
    table = only(Results.of(records), "similarity-cka")
    assert table.caption.startswith("CKA of the representations of translations")
    rows = shown(table)
    means = {key: values for key, values in rows.items() if key[0].startswith("mean")}
    assert means == {("mean of 2 pairs", "pretrained"): [pytest.approx(0.6)]}
    assert rows["en–fr", "pretrained, unrelated"] == [0.1]


@pytest.mark.parametrize(
    ("one", "other", "ends"),
    [
        ({"recipe": "small"}, {"recipe": "large", "seed": 2}, ("small", "large")),
        ({"selection": "last"}, {"selection": "best", "seed": 2}, ("last", "best")),
        ({"train": "ud/en_ewt"}, {"train": "ud/en_gum", "seed": 2}, ("ud/en_ewt", "ud/en_gum")),
        ({"corpus": "ud/fr_gsd"}, {"corpus": "ud/fr_pud"}, ("ud/fr_gsd", "ud/fr_pud")),
        ({"condition": {"tower": 0}}, {"condition": {"tower": 0, "height": 2}}, ("e", "height=2")),
        ({"condition": {"tower": 0}}, {"condition": {"tower": 0, "layers": "1"}}, ("e", "layers 1 re-initialised")),
    ],
)
def test_heads_of_different_kinds_have_rows_of_their_own(one, other, ends):
    usual = {"condition": {"tower": 0}, "layer": 0}
    records = [score("fr", value, **usual | columns) for value, columns in ((80.0, one), (40.0, other))]
    shown_values = shown(only(Results.of([*records, score("de", None, **usual)]), "transfer-by-layer-pos"))
    labels = {values[0]: label for (_, label), values in shown_values.items()}
    assert [labels[value].split(", ")[-1] for value in (80.0, 40.0)] == list(ends)


@pytest.mark.parametrize(
    ("other", "end"),
    [
        ({"corpus": "ud/pud"}, "ud/pud"),
        ({"state": "fine-tuned", "task": "pos", "seed": 1}, "fine-tuned for POS tagging"),
        ({"condition": '{"layers": "1"}', "seed": 1}, "layers 1 re-initialised"),
    ],
)
def test_retrieval_of_different_encoders_or_sentences_has_rows_of_its_own(other, end):
    table = only(Results.of([retrieved(80.0), retrieved(20.0, **other)]), "sentences")
    labels = {values[0]: label for (_, label), values in shown(table).items()}
    assert labels.keys() == {80.0, 20.0}
    assert labels[20.0].endswith(f", {end}")


@pytest.mark.parametrize("measures", [("cka",), ("cka", "cka_shuffled")])
def test_a_caption_has_baselines_only_where_they_were_measured(measures):
    caption = only(Results.of([similarity(measure, 0.5) for measure in measures]), "similarity-cka").caption
    assert ("unrelated sentences" in caption) is (len(measures) > 1)
