"""Every shipped study, run and reported on a mock release of its corpora: what its tables and figures show.

A tiny encoder is trained for one epoch on a dozen sentences. By default each study is cut: one source, or two where
sources are compared; one task where conditions are compared. ``-m slow`` runs the files as they are.
"""

import re
from dataclasses import replace
from functools import cache

import pytest
from click.testing import CliRunner

from crosslens.cli import cli
from crosslens.corpora.catalogue import list_corpora
from crosslens.data import transliteration
from crosslens.encoders.interventions.reading import Reading
from crosslens.mlm.factors import FACTORS
from crosslens.report.papers import find_paper
from crosslens.studies.run_study import run_study
from crosslens.studies.study import library, read_study
from crosslens.tasks.titles import as_printed
from mock_release import MockRelease
from tiny_studies import Reported, Romaniser, save_decoder, save_encoder, tiny


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    folder = tmp_path_factory.mktemp("release")
    mock = MockRelease()
    mock.write(folder)
    return mock, folder


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return save_encoder(tmp_path_factory.mktemp("encoders") / "twelve")


@pytest.fixture(scope="module")
def decoder(tmp_path_factory):
    return save_decoder(tmp_path_factory.mktemp("decoders") / "twelve")


@pytest.fixture(scope="module", params=["cut", pytest.param("whole", marks=pytest.mark.slow)])
def reported(request, release, encoder, decoder, tmp_path_factory):
    """A function from the name of a shipped study to its report; each is run once."""
    _, data = release
    folder, cut = tmp_path_factory.mktemp(request.param), request.param == "cut"

    @cache
    def report(name):
        readings = [condition.find(Reading) for condition in read_study(name).conditions]
        causal = any(reading is not None and reading.bidirectional for reading in readings)
        study = tiny(name, decoder if causal else encoder, folder, cut=cut)
        runs, out = folder / "runs" / name, folder / "reports" / name
        out.parent.mkdir(exist_ok=True)
        outcome = run_study(study, runs, executor="serial", device="cpu", data=str(data))
        assert [failed.tail for failed in outcome.failed] == []
        assert (outcome.plan.left, outcome.plan.waiting) == ((), 0)
        reported = Reported(study, cut, out)
        beside = ["--beside", reported.paper] if reported.paper else []
        shown = CliRunner().invoke(cli, ["report", str(runs), "--out", str(out), *beside])
        assert shown.exit_code == 0, (shown.output, shown.exception)
        return replace(reported, said=shown.output)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CROSSLENS_DATA", str(data))
        patch.setattr(transliteration, "_loaded_uroman", cache(Romaniser))
        yield report


def test_the_release_has_what_all_studies_ask_for_and_is_read_as_such(release):
    mock, folder = release
    assert len(mock.names) > 150
    listed = {f"{name}:{split}" for name, splits in list_corpora(folder).items() for split in splits}
    assert mock.names <= listed


@pytest.mark.parametrize("name", library())
def test_every_study_runs_and_its_files_are_whole(reported, name):
    report = reported(name)
    assert report.names, report.said
    assert (report.folder / "index.html").stat().st_size > 1000
    for path in report.folder.iterdir():
        if path.suffix in (".csv", ".md", ".tex", ".svg"):
            assert not re.search(r"\b(nan|NaN|undefined|None|Infinity)\b", path.read_text("utf-8")), path.name
    for path in report.folder.glob("*.csv"):
        head, groups = report.table(path.stem)
        assert groups, path.name
        assert {len(values) for rows in groups.values() for values in rows.values()} == {len(head)}
        assert any(value for rows in groups.values() for values in rows.values() for value in values)
    for path in report.folder.glob("*.svg"):
        assert any(text.strip() for text in report.texts(path.stem)), path.name


COMPARED = [name for name in library() if len({condition.before.text for condition in read_study(name).conditions}) > 1]
SUPERVISED = [name for name in library() if name.startswith("supervision-")]


@pytest.mark.parametrize("name", COMPARED)
def test_conditions_are_columns_and_targets_are_rows(reported, name):
    report = reported(name)
    conditions = [condition for condition in report.study.conditions if not condition.acts_after_training]
    assert len(conditions) > 1
    for table in ("layer-deltas", *(f"by-target-{task}" for task in report.blocks)):
        head, groups = report.table(table)
        shown = [column for column in head if not column.endswith(" std")]
        assert shown[0] == "Ref" or shown[0].startswith("reference, ")  # or all read in some way
        for condition in conditions:
            difference = condition.scaled(written_for=None, depth=12).difference  # `all` is 1-12
            if not difference.is_reference:
                assert any(column.startswith(f"Δ {difference.change}") for column in shown), (difference, shown)
        assert len(shown) == len(conditions)
        assert {group.split(",")[0] for group in groups} <= set(report.blocks)
        assert (len(shown) < len(head)) == (len(report.study.seeds) > 1)  # standard deviations over seeds
    sources = {task: set(sources) & set(report.study.sources or sources) for task, sources in report.blocks.items()}
    texts = report.texts("layers-by-target")
    titles = [text for text in texts if re.fullmatch(r"[\w ]+, \w+, (source .*|in-language)", text)]
    assert len(titles) >= len([task for task in sources if sources[task]])
    assert {title.split(",")[0] for title in titles} == set(map(as_printed, report.blocks))
    assert any(text.endswith("to reference (points)") for text in texts)


def test_interventions_are_rows_and_layers_are_columns(reported):
    report = reported("seven-interventions")
    head, groups = report.table("interventions")
    pairs = ["1-2", "11-12"] if report.cut else ["1-2", "3-4", "5-6", "7-8", "9-10", "11-12"]
    assert [column for column in head if not column.endswith(" std")] == pairs
    kinds = ("re-initialised", "frozen", "revert", "zero", "mean", "resample", "noise=1")
    assert {group.split(",")[0] for group in groups} == set(report.blocks)
    for rows in groups.values():
        assert list(dict.fromkeys(row.split(":")[0] for row in rows)) == list(kinds)


CHANGES = ["add change × 0.5", "add change"]
HEIGHTS = ["0", *(f"{layer}.output" for layer in (2, 4, 6, 8, 10, 12))]


@pytest.mark.parametrize(
    ("name", "columns", "kinds"),
    [
        ("erase-language", HEIGHTS, ["erase", "erase=random"]),
        ("patch-translations", HEIGHTS, ["resample", "patch=sentences"]),
        ("swap-and-revert", ["0", "0-4", "0-8", "0-12"], ["frozen", "revert", "swap", *CHANGES]),
    ],
)
def test_treatments_and_their_controls_are_rows_of_one_table(reported, name, columns, kinds):
    report = reported(name)
    head, groups = report.table("interventions")
    assert [column for column in head if not column.endswith(" std")] == columns
    assert {group.split(",")[0] for group in groups} == set(report.blocks)
    for rows in groups.values():
        assert list(dict.fromkeys(row.split(":")[0] for row in rows)) == kinds


def test_doses_have_similarity_and_slopes(reported):
    _, groups = reported("dose-response").table("dose-response")
    assert [group.rpartition(": ")[2].split()[0] for group in groups][:3] == ["noise", "rotate", "erase"]
    for rows in groups.values():
        assert [list(rows)[place] for place in (0, -2, -1)] == ["none", "slope over CKA", "slope over retrieval"]


@pytest.mark.parametrize("name", ["domains", "first-align-then-predict", "pretraining-domain", "pretraining-factors"])
def test_published_differences_stand_below_ours(reported, name):
    report = reported(name)
    _, groups = report.table("layer-deltas")
    for group, rows in groups.items():
        means = [row for row in rows if isinstance(row, str)]
        beside = {(row[0], row[1].split(",")[0]) for row in rows if isinstance(row, tuple)}
        assert any(" – x, mean of " in row for row in means), group
        for row in (row for row in means if " – x" in row):  # Conneau et al. print no score in English
            assert {(row, report.paper), (row, "ours − theirs")} <= beside, (group, row)


def test_published_scores_stand_below_sets_of_layers(reported):
    head, groups = reported("layer-sets").table("layer-sets")
    published = groups["pos, accuracy, source en"]["en", "muller2021"]
    assert dict(zip(head, published, strict=True))["0-12"] == "87.71"  # trained from scratch: ALL of Table 5
    assert [label for label, score in zip(head, published, strict=True) if not score] == ["1-12"]  # keeps embeddings


@pytest.mark.parametrize("name", ["pretraining-factors", "pretraining-domain"])
def test_factors_of_pretraining_are_rows_with_the_papers_scores(reported, name):
    report = reported(name)
    head, groups = report.table("pretraining-factors")
    shown = [column for column in head if not column.endswith(" std")]
    targets = [*report.study.bilingual, "mean"]
    panels = list(dict.fromkeys(column.partition(": ")[0] for column in shown))
    assert {panel.partition(", ")[0] for panel in panels} == {as_printed(task) for task in report.blocks}
    assert [column.partition(": ")[2] for column in shown] == targets * len(panels)
    rows = {row: cells for group in groups.values() for row, cells in group.items()}
    conditions = FACTORS if name == "pretraining-factors" else ("wiki-cc",)
    ours = [row for row in rows if isinstance(row, str)]
    assert ours == ["reference", *conditions]  # the paper's order
    assert [row for row in ours if (row, report.paper) in rows] == ours
    texts = report.texts("pretraining-factors")
    assert {*ours, *report.study.bilingual} <= set(texts)
    row, accuracy = ("wiki-cc", "74.2") if name == "pretraining-domain" else ("reference", "73.6")  # Table 1
    assert dict(zip(head, rows[row, report.paper], strict=True))["NLI, accuracy: fr"] == accuracy


@pytest.mark.parametrize("name", SUPERVISED)
def test_supervision_has_a_column_for_each_training_set_with_the_papers(reported, name):
    report = reported(name)
    (task, sources), *_ = report.blocks.items()
    named = [table for table in report.names if table.startswith(f"supervision-{task}")]
    assert named
    trained = {"en"} | (set(report.study.sources or sources) & set(sources))
    languages = {name for name in trained if sources[name].translated_from is None}
    translated = ["translate-train"] if trained - languages else []
    printed = 0
    for table in named:
        head, groups = report.table(table)
        systems = [column for column in head if column.endswith(tuple(find_paper("wu2019").systems))]
        assert bool(systems) == ("wu2019" in head)
        distances = [column for column in head if column.startswith("word-order distance")]
        assert bool(distances) == (task == "parsing")
        settings = [column for column in head if column not in ("wu2019", "ours − theirs", *systems, *distances)]
        own = ["in-language"] if len(trained) > 1 else []
        assert settings == own + translated + ["zero-shot from en"]
        assert head.count("wu2019") == head.count("ours − theirs")
        printed += head.count("wu2019")
        (rows,) = groups.values()
        assert list(rows)[-1] == "mean"
        assert languages <= set(rows)
        zero_shot = head.index("zero-shot from en")
        assert all(values[zero_shot] for row, values in rows.items() if row != "mean")
    assert printed >= 1 + len(own) - len(translated)  # the paper trains no inference in-language but in English


def test_gold_tags_stand_beside_the_papers_gold_tags(reported):
    head, groups = reported("gold-tags").table("supervision-parsing-las_nopunct")
    assert head[0] == "word-order distance from en, wu2019"
    assert head[1:] == ["zero-shot from en", "wu2019", "ours − theirs", "zero-shot, Ahmad et al. (2019)"]
    (rows,) = groups.values()
    assert "mean" in rows


def test_similarity_is_shown_by_layer_for_every_state(reported):
    report = reported("similarity")
    head, groups = report.table("similarity-cka")
    assert head == [str(layer) for layer in range(13)]
    (rows,) = [rows for group, rows in groups.items() if group.startswith("mean of ")]
    tagger = "fine-tuned for POS tagging"
    for state in ("pretrained", "untrained", tagger, f"{tagger}, layers 1-2 re-initialised"):
        assert {state, f"{state}, unrelated", f"{state}, unrelated, length-matched"} <= set(rows)
    assert "muller2021" in {row[1] for row in report.table("correlation")[1]["cka"] if isinstance(row, tuple)}
    assert {"layer (0: embeddings)", "pretrained", "untrained", "translations"} <= set(report.texts("similarity"))
    assert "transfer gap, points" in report.texts("gap")
    assert "Spearman's ρ" in report.texts("correlation-by-layer")
    pairs = [text for text in report.texts("similarity-by-pair") if text.startswith("en–")]
    assert len(set(pairs)) >= 16


def test_language_identification_has_a_line_for_each_encoder_and_its_control(reported):
    report = reported("language-identification")
    head, groups = report.table("probes")
    assert head == [str(layer) for layer in range(13)]
    states = ("pretrained", "untrained")
    assert list(groups) == ["probe langid"]
    assert set(groups["probe langid"]) == {
        f"{state}{control}" for state in states for control in ("", ", shuffled labels")
    }
    assert {"layer (0: embeddings)", "accuracy, percent", *states, "shuffled labels"} <= set(report.texts("probes"))


def test_subword_overlap_is_correlated_with_the_gap(reported):
    report = reported("subword-overlap")
    head, groups = report.table("overlap")
    assert head == ["types", "tokens"]
    shown = {row.removesuffix(", source en") for row in groups["Pearson's r"]}
    assert {"POS tagging", "Dependency parsing"} <= shown <= set(map(as_printed, report.blocks))
    texts = report.texts("overlap")
    assert "subwords seen in the source-language training data, percent" in texts
    for task in shown:
        assert f"{task}, source en, types" in texts


def test_each_script_of_a_corpus_is_a_row(reported):
    report = reported("transliteration")
    _, groups = report.table("by-target-pos")
    (rows,) = groups.values()
    rows = [row for row in rows if isinstance(row, str)]
    for scheme in ("@uroman", "@uyghur-latin", "@cyrillic-latin"):
        assert any(scheme in row for row in rows), scheme
    assert len(rows) == len(set(rows))


def test_unseen_languages_are_classified(reported):
    report = reported("unseen-languages")
    head, groups = report.table("typology")
    models = ["encoder", "adapted", "from scratch", "BiLSTM"]
    assert head == [*models, "encoder − BiLSTM", "adapted − BiLSTM"]
    assert {group.split(": ")[0] for group in groups} == set(report.blocks)
    assert {group.split(": ")[1] for group in groups} <= {"easy", "intermediate", "hard", "undecided"}
    assert any(row == "Wolof, Latin, Niger-Congo, ud/wo_wtb:train" for rows in groups.values() for row in rows)
    texts = report.texts("typology")
    assert {"score, points", *models} <= set(texts)
    assert any("Wolof" in text for text in texts)
