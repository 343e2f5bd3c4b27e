"""Charts from records: what they show, and that they are written without a browser or a network."""

import sys

import pytest

from crosslens.errors import RequestError
from crosslens.report.figures import FORMATS, all_figures, write_figures
from crosslens.results.chart import score_chart, similarity_chart
from crosslens.results.record import Record, Results

HOSTILE = "<img src=x onerror=alert(1)>"
ARABIC = "العربية"


@pytest.fixture
def records():
    similar = [
        Record(
            encoder="e", source="en", target=target, measure=measure, layer=layer, metric="similarity",
            ablation=ablation, value=value + layer / 10, tags={"condition": ablation or "reference"},
        )
        for target, value in (("fr", 0.4), ("de", 0.5), ("ru", 0.3), (ARABIC, 0.2))
        for layer in (0, 1, 2)
        for measure in ("cka", "cka_shuffled", "cka_length_matched")
        for ablation in (None, "0-4")
    ]  # fmt: skip
    scores = [
        Record(
            task="pos", encoder="e", source="en", target=target, metric="accuracy", ablation=ablation, seed=seed,
            value=value - (10.0 if ablation and target != "en" else 0.0) + seed,
            tags={"corpus": f"ud/{target}_pud:test"},
        )
        for target, value in (("en", 90.0), ("fr", 85.0), ("de", 84.0), ("ru", 75.0), (ARABIC, 60.0), (HOSTILE, 50.0))
        for ablation in (None, "1-2")
        for seed in (1, 2)
    ]  # fmt: skip
    return Results.of([*similar, *scores])


def marks(chart):
    return [layer["mark"]["type"] for layer in chart.to_dict()["layer"]]


def test_similarity_is_the_mean_over_pairs_with_its_nulls(records):
    chart = similarity_chart(records.to_pandas())
    assert marks(chart) == ["area", "line", "point"]
    (rows,) = [rows for rows in chart.to_dict()["datasets"].values()]
    at = {(row["encoder"], row["pairs"], row["layer"]): row["value"] for row in rows}
    assert at["pretrained", "translations", 1] == pytest.approx(0.35 + 0.1)
    assert at["untrained", "unrelated, of like length", 0] == pytest.approx(0.35)
    assert len(at) == 2 * 3 * 3
    with pytest.raises(RequestError, match="hold no rsa of two languages"):
        similarity_chart(records.to_pandas(), measure="rsa")


def test_a_heat_map_has_the_differences_of_the_table(records):
    scores = records.filter(measure=None)
    chart = score_chart(scores.to_pandas())
    (rows,) = [rows for rows in chart.to_dict()["datasets"].values()]
    at = {(row["target"], row["layers"]): row["value"] for row in rows}
    assert at["fr", "1-2"] == -10.0
    assert at["same language", "1-2"] == 0.0
    assert at["other languages", "1-2"] == -10.0
    assert (HOSTILE, "1-2") in at
    with pytest.raises(RequestError, match="compare no layers with a reference"):
        score_chart(scores.filter(ablation=None).to_pandas())


def test_every_figure_is_written_and_written_again_alike(records, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        names = write_figures(records, tmp_path / folder)
    assert names == ["similarity", "layers-by-target", "seeds", "gap", "correlation-by-layer"]
    files = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert files == sorted(f"{name}.{ending}" for name in names for ending in FORMATS)
    for name in names:
        for ending in FORMATS:
            one, other = ((tmp_path / folder / f"{name}.{ending}").read_bytes() for folder in ("a", "b"))
            assert one == other
        assert (tmp_path / "a" / f"{name}.pdf").read_bytes().startswith(b"%PDF")
    drawn = (tmp_path / "a" / "layers-by-target.svg").read_text("utf-8")
    assert "<img" not in drawn
    assert "onerror=alert(1)&gt;" in drawn
    assert ARABIC in drawn


def test_only_what_the_records_fill_is_drawn(records):
    assert list(all_figures(records.filter(measure=None))) == ["layers-by-target", "seeds"]
    assert list(all_figures(records.filter(metric="similarity"))) == ["similarity"]
    assert all_figures(Results.of([])) == {}


def test_results_draw_themselves(records):
    assert marks(records.filter(measure=["cka", "cka_shuffled"]).plot()) == ["area", "line", "point"]
    assert marks(records.filter(measure=None).plot()) == ["rect", "text"]


def test_a_notebook_shows_a_table_and_hostile_names_as_text(records):
    shown = records.filter(measure=None)._repr_html_()
    assert "<table" in shown
    assert "<img" not in shown
    assert "Δ 1-2" in shown
    assert "<table" in Results.of([])._repr_html_()


def test_a_missing_package_is_named_with_its_command(records, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(RequestError, match=r"charts need altair \(pip install 'crosslens\[report\]'\)"):
        all_figures(records)
