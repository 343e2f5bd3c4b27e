"""The figure of probes: accuracies by layer, and intervals that are those of what is drawn."""

from dataclasses import replace

import pytest

from crosslens.errors import RequestError
from crosslens.report.layers.by_layer import probe_lines
from crosslens.results.probe_chart import probe_chart
from crosslens.results.record import Results
from made_records import PLAIN
from made_sections import PROBED, probes


def points(results):
    (rows,) = probe_chart(results).to_dict()["datasets"].values()
    return {(row["answers"], row["layer"]): (row["value"], row["low"], row["high"]) for row in rows}


def with_ends(*, seed):
    return [replace(each, seed=seed, value=each.value - seed, low=each.value - 3, high=each.value) for each in probes()]


def test_one_seed_is_drawn_with_its_interval():
    drawn = points(Results.of(with_ends(seed=1)))
    named = {"true labels": PROBED["accuracy"], "shuffled labels": PROBED["accuracy_shuffled"]}
    assert drawn == {
        (name, layer): (value - 1, value - 3, value)
        for name, values in named.items()
        for layer, value in enumerate(values)
    }


def test_a_mean_over_seeds_is_drawn_without_the_interval_of_any():
    drawn = points(Results.of([*with_ends(seed=1), *with_ends(seed=2)]))
    assert drawn["true labels", 0] == (PROBED["accuracy"][0] - 1.5, None, None)
    assert {(low, high) for _, low, high in drawn.values()} == {(None, None)}


def test_without_probes_there_is_no_figure():
    with pytest.raises(RequestError, match="no probe scores"):
        probe_chart(Results.of(PLAIN))


def test_results_of_probes_are_plotted_as_in_the_report():
    results = Results.of(probes())
    assert results.plot().to_dict() == probe_chart(results).to_dict()


def test_bilingual_encoders_have_a_line_each_in_the_figure_and_the_tables():
    pair = [
        replace(each, partner=partner, value=value)
        for partner, value in (("fr", 40.0), ("ru", 70.0))
        for each in probes()
    ]
    results = Results.of(pair)
    (rows,) = probe_chart(results).to_dict()["datasets"].values()
    assert {(row["encoder"], row["value"]) for row in rows} == {
        ("pretrained, with fr", 40.0),
        ("pretrained, with ru", 70.0),
    }
    assert {(line.label, line.by_layer[2].mean) for line in probe_lines(results)} == {
        ("pretrained, with fr", 40.0),
        ("pretrained, with ru", 70.0),
    }
    table = results.filter(metric="accuracy").table()
    assert dict(zip(table.index.get_level_values("partner"), table[2], strict=True)) == {"fr": 40.0, "ru": 70.0}
    (alone,) = probe_chart(results.filter(partner="fr")).to_dict()["datasets"].values()
    assert {row["encoder"] for row in alone} == {"pretrained"}
