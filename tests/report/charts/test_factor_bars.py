"""Bars of scores by condition of pretraining, from made-up records."""

import pytest

from crosslens.encoders.condition import Condition
from crosslens.errors import RequestError
from crosslens.report.charts.factor_bars import factor_bars
from crosslens.results.record import Record, Results

pytest.importorskip("altair")


def score(target, value, *, factor=None, seed=1, task="parsing", metric="las"):
    return Record(
        task=task,
        encoder="pretrain:small",
        source="en",
        target=target,
        partner=target,
        split="test",
        seed=seed,
        metric=metric,
        value=value,
        corpus=f"ud/{target}_pud:test",
        train="ud/en_ewt:train",
        state="fine-tuned",
        **Condition(**({"factor": factor} if factor else {})).columns,
    )


def drawn(chart):
    """Panels: title -> values of bars, and of means."""
    described = chart.to_dict()
    panels = {}
    for panel in described["vconcat"]:
        bars, _, means = (
            described["datasets"][layer["data"]["name"]] if "name" in layer["data"] else layer["data"]["values"]
            for layer in panel["layer"]
        )
        panels[panel["title"]["text"]] = (
            {(bar["condition"], bar["language"]): (bar["low"], bar["score"], bar["high"]) for bar in bars},
            {bar["condition"]: bar["score"] for bar in means},
        )
    return panels


def test_every_score_is_a_bar_and_means_are_ticks():
    values = {"sep-1-3": (60.0, 20.0), None: (70.0, 30.0)}
    records = [
        score(target, value + 2 * seed, factor=factor, seed=seed)
        for factor, by_target in values.items()
        for target, value in zip(("fr", "ru"), by_target, strict=True)
        for seed in (0, 1)
    ]
    records += [score("fr", 1.0, factor=factor, task="nli", metric="accuracy") for factor in values]
    panels = drawn(factor_bars(Results.of(records)))
    assert len(panels) == 2
    parsing, inference = (
        panels[next(title for title in panels if title.startswith(task))] for task in ("Dependency parsing", "NLI")
    )
    assert {key: bar[1] for key, bar in parsing[0].items()} == {
        ("reference", "fr"): 71.0,
        ("reference", "ru"): 31.0,
        ("sep-1-3", "fr"): 61.0,
        ("sep-1-3", "ru"): 21.0,
    }
    assert parsing[0]["reference", "fr"] == pytest.approx((71 - 2**0.5, 71.0, 71 + 2**0.5))
    assert parsing[1] == {"reference": 51.0, "sep-1-3": 41.0}
    assert list(parsing[1]) == ["reference", "sep-1-3"]  # the paper's order
    assert inference[0]["reference", "fr"] == (None, 1.0, None)


def headings(records):
    return {panel["title"]["text"]: panel["title"]["subtitle"] for panel in factor_bars(records).to_dict()["vconcat"]}


def test_a_heading_explains_the_marks_that_its_panel_has():
    """Ticks are means of several languages, and lines are spreads of several seeds."""
    ticks, lines = "ticks: means over the languages", "lines: one standard deviation over seeds in both directions"
    of = lambda targets, seeds: Results.of(  # noqa: E731
        score(target, 50.0 + seed, factor=factor, seed=seed)
        for factor in (None, "sep-emb")
        for target in targets
        for seed in seeds
    )
    ((title, subtitle),) = headings(of(("fr", "ru"), (0, 1))).items()
    assert title.endswith("source en, mean of 2 languages")
    assert subtitle == f"{ticks}; {lines}"
    assert list(headings(of(("fr", "ru"), (0,))).values()) == [ticks]
    ((title, subtitle),) = headings(of(("fr",), (0, 1))).items()
    assert title.endswith("source en")
    assert subtitle == lines


def test_a_language_has_one_colour_in_all_panels_and_room_only_where_it_is():
    """Inference was tested in French only: its bars stand in the middle, in the colour of French in parsing."""
    records = [score(target, 50.0, factor=factor) for factor in (None, "sep-emb") for target in ("de", "fr", "ru")]
    records += [score("fr", 40.0, factor=factor, task="nli", metric="accuracy") for factor in (None, "sep-emb")]
    bars = [panel["layer"][0]["encoding"] for panel in factor_bars(Results.of(records)).to_dict()["vconcat"]]
    assert {tuple(each["color"]["scale"]["domain"]) for each in bars} == {("de", "fr", "ru")}
    assert sorted(each["xOffset"]["scale"]["domain"] for each in bars) == [["de", "fr", "ru"], ["fr"]]


def test_lines_end_at_zero():
    records = [
        score("fr", value, factor=factor, seed=seed)
        for factor in (None, "sep-emb")
        for seed, value in enumerate((0.0, 2.0))
    ]
    ((bars, _),) = drawn(factor_bars(Results.of(records))).values()
    assert bars["sep-emb", "fr"][0] == 0.0


def test_without_factors_there_are_no_bars():
    with pytest.raises(RequestError, match="pretraining was varied"):
        factor_bars(Results.of([score("fr", 1.0)]))
