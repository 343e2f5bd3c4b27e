"""Charts from records: what they show, and that they are written without a browser or a network."""

import sys
from dataclasses import replace

import pytest

from crosslens.encoders.condition import Condition
from crosslens.errors import RequestError
from crosslens.report.charts.figures import FORMATS, all_figures, write_figures
from crosslens.results.chart import score_chart, similarity_chart
from crosslens.results.record import Record, Results
from made_records import made_up, similarity

HOSTILE = "<img src=x onerror=alert(1)>"
ARABIC = "العربية"


@pytest.fixture
def records():
    similar = [
        Record(
            encoder="e",
            source="en",
            target=target,
            measure=measure,
            layer=layer,
            metric="similarity",
            value=value + layer / 10,
            depth=4,
            state="untrained" if layers else "pretrained",
            **Condition(layers=layers).columns,
        )
        for target, value in (("fr", 0.4), ("de", 0.5), ("ru", 0.3), (ARABIC, 0.2))
        for layer in (0, 1, 2)
        for measure in ("cka", "cka_shuffled", "cka_length_matched")
        for layers in (None, "0-4")
    ]
    scores = [
        Record(
            task="pos",
            encoder="e",
            source="en",
            target=target,
            metric="accuracy",
            seed=seed,
            state="fine-tuned",
            value=value - (10.0 if layers and target != "en" else 0.0) + seed,
            corpus=f"ud/{target}_pud:test",
            **Condition(layers=layers).columns,
        )
        for target, value in (("en", 90.0), ("fr", 85.0), ("de", 84.0), ("ru", 75.0), (ARABIC, 60.0), (HOSTILE, 50.0))
        for layers in (None, "1-2")
        for seed in (1, 2)
    ]
    return Results.of([*similar, *scores])


def marks(chart):
    return [layer["mark"]["type"] for layer in chart.to_dict()["layer"]]


def test_similarity_is_the_mean_over_pairs_with_its_nulls(records):
    chart = similarity_chart(records)
    assert marks(chart) == ["area", "line", "point"]
    (rows,) = [rows for rows in chart.to_dict()["datasets"].values()]
    at = {(row["encoder"], row["sentences"], row["layer"]): row["value"] for row in rows}
    assert at["pretrained", "translations", 1] == pytest.approx(0.35 + 0.1)
    assert at["untrained", "unrelated, length-matched", 0] == pytest.approx(0.35)
    assert len(at) == 2 * 3 * 3
    with pytest.raises(RequestError, match="contain no rsa of two different languages"):
        similarity_chart(records, measure="rsa")


def test_encoders_without_a_common_pair_have_no_curves_of_means():
    """A mean over French and one over German differ by the language, whatever the encoders."""
    apart = [similarity("cka", 0.5, encoder=encoder, target=target) for encoder, target in (("e", "fr"), ("f", "de"))]
    with pytest.raises(RequestError, match="no language pair in common, so means of cka"):
        similarity_chart(Results.of(apart))
    assert "similarity" not in all_figures(Results.of(apart))
    assert similarity_chart(Results.of([*apart, similarity("cka", 0.1, encoder="f", target="fr")]))


def test_baselines_alone_are_drawn():
    chart = similarity_chart(Results.of([similarity("cka_shuffled", 0.1)]))
    (rows,) = chart.to_dict()["datasets"].values()
    assert [(row["sentences"], row["value"]) for row in rows] == [("unrelated", 0.1)]


def test_the_band_is_of_translations_alone(records):
    """Bands of baselines would lie on one another."""
    band, line, _ = similarity_chart(records).to_dict()["layer"]
    assert band["mark"]["type"] == "area"
    assert band["transform"] == [{"filter": "(datum.sentences === 'translations')"}]
    assert "transform" not in line


def test_a_line_is_the_state_of_one_encoder_and_says_over_how_many_pairs(records):
    """Layers 0-2 of 4 are not all, two encoders of one name are two, and seeds of one pair are one pair."""

    def of(value, *, layers=None, state="pretrained", **columns):
        return [
            Record(
                encoder="e",
                source="en",
                target=target,
                measure="cka",
                layer=0,
                metric="similarity",
                value=value,
                depth=4,
                state=state,
                **Condition(layers=layers).columns,
                **columns,
            )
            for target in ("fr", "de")
        ]

    def lines(*blocks):
        chart = similarity_chart(Results.of(record for block in blocks for record in block)).to_dict()
        (rows,) = chart["datasets"].values()
        return {row["encoder"]: row["value"] for row in rows}, chart["layer"][1]["encoding"]["y"]["title"]

    parts = [of(0.5, layers="0-2"), of(0.1, layers="0-4", state="untrained")]
    at, title = lines(*parts)
    assert at == {"pretrained, layers 0-2 re-initialised": 0.5, "untrained": 0.1}
    assert title == "CKA, mean over 2 pairs"
    at, _ = lines(of(0.2, encoder_digest="a" * 64), of(0.4, encoder_digest="b" * 64))
    assert at == {"e (aaaaaaaa): pretrained": 0.2, "e (bbbbbbbb): pretrained": 0.4}
    at, title = lines(of(0.2, seed=1), of(0.4, seed=2))
    assert at == {"pretrained": pytest.approx(0.3)}
    assert title == "CKA, mean over 2 pairs"
    at, _ = lines(of(0.2, settings="pooling=mean"), of(0.4, settings="pooling=cls"))
    assert at == {"pretrained, pooling=mean": 0.2, "pretrained, pooling=cls": 0.4}
    with pytest.raises(RequestError, match="contradict"):
        lines(of(0.2), of(0.4))


def boxes(chart):
    """(row, column) -> (score, difference) of a heat map, and its rows from top to bottom."""
    described = chart.to_dict()
    (rows,) = described["datasets"].values()
    at = {(row["row"], row["column"]): (row["value"], row["difference"]) for row in rows}
    return at, described["layer"][0]["encoding"]["y"]["sort"]


def test_a_heat_map_has_the_scores_of_the_table_and_their_differences(records):
    scores = records.filter(measure=None)
    at, _ = boxes(score_chart(scores))
    assert at["fr", "reference"] == (86.5, 0.0)
    assert at["fr", "1-2"] == (76.5, -10.0)
    assert at["en", "1-2"] == (91.5, 0.0)
    means = [score for (name, column), score in at.items() if name == "zero-shot, mean of 5"]
    assert means == [(pytest.approx(70.8 + 1.5), 0.0), (pytest.approx(70.8 - 8.5), -10.0)]
    assert (HOSTILE, "1-2") in at
    with pytest.raises(RequestError, match="no condition with a reference"):
        score_chart(scores.filter(layers=None))


def test_languages_stand_once_in_the_order_of_transfer(records):
    _, rows = boxes(score_chart(records.filter(measure=None).sorted()))
    assert rows == ["en", "fr", "de", "ru", ARABIC, HOSTILE, "zero-shot, mean of 5"]
    two = [*made_up({"1-2": 5.0}).records.drop_columns("tags").to_pylist()]
    two += [{**record, "corpus": "ud/en_b", "value": 97.0} for record in two if record["target"] == "en"]
    _, rows = boxes(score_chart(Results.of(Record(**record) for record in two).sorted()))
    assert rows == ["en ud/en_b", "en ud/en", "same language, mean of 2", "fr", "de", "zero-shot, mean of 2"]


def test_a_difference_is_within_seeds_and_a_score_over_all_of_them():
    lacking = made_up({"1-2": 5.0}, seeds=(1, 2), noise=4.0, lacking={("1-2", 2)})
    at, _ = boxes(score_chart(lacking))
    assert at["fr", "reference"] == (pytest.approx(85.0 + 6.0), 0.0)
    assert at["fr", "1-2"] == (pytest.approx(80.0 + 4.0), pytest.approx(-5.0))


def test_means_of_heat_maps_and_seeds_are_of_cells(records):
    """A mean over languages is absent where a condition lacks one, and partners of bilingual encoders have rows."""
    scores = records.filter(measure=None)
    frame = [
        record
        for record in scores.records.drop_columns("tags").to_pylist()
        if not (record["target"] == "fr" and record["layers"])
    ]
    lacking = Results.of(Record(**record) for record in frame)
    at, _ = boxes(score_chart(lacking))
    assert [column for name, column in at if name == "zero-shot, mean of 5"] == ["reference"]
    (rows,) = all_figures(lacking)["seeds"].to_dict()["datasets"].values()
    assert {row["condition"] for row in rows} == {"reference"}
    assert {row["of"] for row in rows} == {"POS tagging, accuracy, source en, mean of 5 languages"}
    bilingual = Results.of(Record(**{**record, "partner": partner}) for record in frame for partner in ("fr", "ru"))
    _, rows = boxes(score_chart(bilingual))
    assert {"ru with fr", "ru", "en with ru"} <= set(rows)


def test_every_figure_is_written_and_written_again_alike(records, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        names = write_figures(records, tmp_path / folder)
    assert names == [
        "layer-profile",
        "similarity",
        "layers-by-target",
        "seeds",
        "gap",
        "correlation-by-layer",
        "similarity-by-pair",
        "similarity-by-language",
    ]
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
    assert list(all_figures(records.filter(measure=None))) == [
        "layer-profile",
        "layers-by-target",
        "seeds",
    ]
    assert list(all_figures(records.filter(metric="similarity"))) == [
        "similarity",
        "similarity-by-pair",
        "similarity-by-language",
    ]
    assert all_figures(Results.of([])) == {}


def test_results_draw_themselves(records):
    assert marks(records.filter(measure=["cka", "cka_shuffled"]).plot()) == ["area", "line", "point"]
    (profile,) = records.filter(measure=None).plot().to_dict()["concat"]
    assert {layer["mark"]["type"] for layer in profile["layer"]} == {"rule", "line", "point", "text"}
    frozen = Results.of(
        replace(
            Record(task="pos", encoder="e", source="en", target=target, metric="accuracy", value=value), **condition
        )
        for target, value in (("en", 90.0), ("fr", 80.0))
        for condition in (Condition().columns, Condition(freeze="0-1").columns)
    )
    assert marks(frozen.plot()) == ["rect", "text"]


def test_a_notebook_shows_a_table_and_hostile_names_as_text(records):
    shown = records.filter(measure=None)._repr_html_()
    assert "<table" in shown
    assert "<img" not in shown
    assert "Δ 1-2" in shown
    assert Results.of([])._repr_html_() == "<p>0 records</p>"


def test_a_missing_package_is_named_with_its_command(records, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(RequestError, match=r"charts need altair \(pip install 'crosslens\[report\]'\)"):
        all_figures(records)


def test_plot_draws_another_measure_where_there_is_no_cka(records):
    similar = records.filter(metric="similarity").to_pandas()
    similar["measure"] = similar["measure"].str.replace("cka", "retrieval")
    renamed = Results.of(
        replace(record, measure=measure)
        for record, measure in zip(records.filter(metric="similarity"), similar["measure"], strict=True)
    )
    for results, measure in ((records.filter(metric="similarity"), "CKA"), (renamed, "retrieval")):
        titles = {
            layer["encoding"]["y"].get("title")
            for layer in results.plot().to_dict()["layer"]
            if "y" in layer["encoding"]
        }
        assert any((title or "").startswith(f"{measure}, mean over") for title in titles), titles


def test_models_tested_in_their_own_language_share_a_map():
    records = [
        Record(task="pos", encoder="e", source=tag, target=tag, metric="accuracy", value=value - change, **condition)
        for tag, value in (("wo", 80.0), ("mt", 90.0))
        for change, condition in ((0.0, {}), (7.0, {"condition": '{"start": "bilstm"}'}))
    ]
    both = all_figures(Results.of(records))["layers-by-target"].to_dict()
    assert [panel["title"] for panel in both["concat"]] == ["POS tagging, accuracy, in-language"]
    (shown,) = [rows for rows in both["datasets"].values() if "difference" in rows[0]]
    assert [(row["row"], row["difference"]) for row in shown] == [("wo", 0.0), ("wo", -7.0), ("mt", 0.0), ("mt", -7.0)]
    other = replace(records[0], target="fr", value=50.0), replace(records[1], target="fr", value=40.0)
    titles = [
        panel["title"] for panel in all_figures(Results.of([*records, *other]))["layers-by-target"].to_dict()["concat"]
    ]
    assert titles == ["POS tagging, accuracy, source wo", "POS tagging, accuracy, in-language"]
