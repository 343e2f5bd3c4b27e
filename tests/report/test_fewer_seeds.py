"""Every table of means over seeds says where a number has fewer seeds than those beside it."""

from dataclasses import replace

import pytest

from crosslens.report.atlas.ranking import encoder_ranking
from crosslens.report.conditions.dose_response import dose_response
from crosslens.report.conditions.heads import heads
from crosslens.report.conditions.interventions import interventions
from crosslens.report.conditions.language_heads import language_heads
from crosslens.report.conditions.pretraining_factors import pretraining_factors
from crosslens.report.conditions.recovered import gap_recovered
from crosslens.report.layers.layer_by_layer import layer_by_layer
from crosslens.report.metrics import metrics
from crosslens.report.script_pairs import scripts
from crosslens.report.supervision import supervision
from crosslens.report.tables import by_target, layer_deltas, layer_sets
from crosslens.results.record import Results
from made_records import score, similarity

SEEDS = (1, 2, 3)


def scores(*conditions, **columns):
    """Scores of all seeds, but those in French of two."""
    return [
        score(target, value + seed, seed=seed, condition=condition, **columns)
        for seed in SEEDS
        for condition in ("none", *conditions)
        for target, value in (("en", 90.0), ("fr", 50.0))
        if (target, seed) != ("fr", 3)
    ]


def in_scripts():
    """Two languages in two scripts; one of them is French."""
    return [
        replace(each, target="ug" if each.target == "en" else "fr", corpus=f"ud/{each.target}:test{scheme}", train="t")
        for each in scores()
        for scheme in ("", "@uroman")
    ]


def of_encoders():
    return [
        replace(each, encoder=encoder)
        for encoder, seeds in (("e", SEEDS), ("f", SEEDS[:2]))
        for each in [
            score(t, 80.0, seed=seed, condition=c) for seed in seeds for c in ("none", "1-4") for t in ("en", "fr")
        ]
    ]


def doses():
    noise = {"noise": "6.output", "noise_dose": 1}
    similar = [
        replace(
            similarity("cka", 0.5, seed=seed, layer=6, condition=each.condition),
            state="fine-tuned",
            task="pos",
            depth=12,
        )
        for each in scores(noise)
        if each.target == "en"
        for seed in [each.seed]
    ]
    return [*scores(noise), *similar]


def grid():
    return [
        similarity("cka", 0.5, seed=seed, layer=layer, target_layer=target)
        for seed in SEEDS
        for layer in (0, 1)
        for target in (0, 1)
        if (seed, layer) != (3, 1)
    ]


def across_layers(results):
    return list(layer_by_layer(results).values())


TABLES = {
    layer_deltas: scores("1-2"),
    by_target: scores("1-2"),
    layer_sets: scores("1-2"),
    interventions: scores({"zero": "3"}),
    heads: scores({"zero": "3.attention.head.1"}),
    language_heads: scores({"zero": "3.attention.head.1"}, {"zero": "3.attention.head.2"}),
    gap_recovered: scores({"patch": "3.output"}),
    pretraining_factors: scores({"factor": "sep-1-3"}),
    dose_response: doses(),
    metrics: [replace(each, metric=metric) for each in scores("1-2") for metric in ("accuracy", "f1")],
    supervision: [*scores(), *(replace(each, source="fr") for each in scores())],
    scripts: in_scripts(),
    encoder_ranking: of_encoders(),
    across_layers: grid(),
}


@pytest.mark.parametrize("make", TABLES, ids=lambda make: make.__name__)
def test_fewer_seeds_are_noted(make):
    records = TABLES[make]
    for table in make(Results.of(records)):
        assert "over fewer seeds: 2 of 3" in "; ".join(table.notes), table.name
    (table, *_) = make(Results.of(each for each in records if each.seed != 3))
    assert "seeds" not in "; ".join(table.notes)


def test_a_metric_without_a_number_of_some_seed_is_noted_beside_the_others():
    """As precision is where a model predicts no entity: no cell of its row has all seeds."""
    both = [replace(each, task="ner", metric=metric) for each in scores() for metric in ("f1", "precision")]
    records = [replace(each, value=None) if each.metric == "precision" and each.seed > 1 else each for each in both]
    (table,) = metrics(Results.of(records))
    rows = {row.label: [cell.note for cell in row.cells] for rows in table.groups.values() for row in rows}
    (note,) = rows["precision: en – en"]
    assert rows["f1: en – en"] == [None]
    assert table.notes[note - 1] == "over fewer seeds: 1 of 3"
