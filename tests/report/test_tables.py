"""The papers' tables from made-up records whose numbers are known, and from the published ones."""

import json

import numpy as np
import pytest

from crosslens.results.record import Record, Results
from crosslens.errors import RequestError
from crosslens.report.cells import Cell
from crosslens.report.published import PAPERS, find_paper, read_published
from crosslens.report.supervision import supervision
from crosslens.report.tables import all_tables, by_target, correlation, layer_deltas, layer_sets


def score(target, value, *, seed=1, ablation=None, task="pos", bank=None, split="test", train="ud/en_ewt:train"):
    tags = {"corpus": f"ud/{bank or target + '_pud'}:{split}", "training_train": train}
    metric = {"pos": "accuracy", "parsing": "las", "ner": "f1"}[task]
    return Record(
        task=task, encoder="e", source="en", target=target, split=split, ablation=ablation, seed=seed, metric=metric,
        value=value, tags=tags,
    )  # fmt: skip


@pytest.fixture
def records():
    values = {  # ablation -> target -> a value a seed
        None: {"en": (96.0, 97.0), "fr": (88.0, 90.0), "sv": (80.0, 82.0)},
        "1-2": {"en": (95.0, 96.5), "fr": (80.0, 81.0), "sv": (70.0, 76.0)},
        "11-12": {"en": (96.5, 97.5), "fr": (87.0, 89.5), "sv": (81.0, 82.0)},
    }
    return Results.of(
        score(target, value, seed=seed, ablation=ablation)
        for ablation, its in values.items()
        for target, two in its.items()
        for seed, value in enumerate(two, start=1)
    )


def values(row):
    return [cell.value for cell in row.cells]


def test_layer_deltas_are_means_over_targets_and_seeds(records):
    (table,) = layer_deltas(records)
    assert table.head == ("Ref", "Δ 1-2", "Δ 11-12")
    same, cross = table.groups["pos, accuracy"]
    assert (same.label, cross.label, cross.kind) == ("en – en", "en – x", "mean")
    assert values(same) == pytest.approx([96.5, -0.75, 0.5])
    by_seed = np.array([[84.0, 75.0 - 84.0, 84.0 - 84.0], [86.0, 78.5 - 86.0, 85.75 - 86.0]])
    assert values(cross) == pytest.approx(by_seed.mean(0))
    assert [cell.std for cell in cross.cells] == pytest.approx(by_seed.std(0, ddof=1))


def test_a_difference_is_coloured_by_the_papers_thresholds():
    levels = [Cell(value, "difference").level for value in (0.0, 0.1, -0.01, -1.99, -2.0, -4.99, -5.0, None)]
    assert levels == ["above", "above", "below", "below", "two", "two", "five", None]
    assert Cell(-9.0, "score").level is None


def test_by_target_names_corpora_where_a_language_has_several(records):
    (table,) = by_target(records + Results.of([score("en", 90.0, bank="en_ewt")]))
    labels = [row.label for row in table.groups["pos, accuracy"]]
    assert labels == ["en – ud/en_ewt:test", "en – ud/en_pud:test", "en – fr", "en – sv", "en – x"]
    assert values(table.groups["pos, accuracy"][0]) == [90.0, None, None]
    assert [table.name for table in by_target(records + Results.of([score("fr", 50.0, task="parsing")]))] == [
        "by-target-pos", "by-target-parsing",
    ]  # fmt: skip


def test_layer_sets_are_scores_themselves_with_the_spread_of_seeds(records):
    (table,) = layer_sets(records + Results.of([score("en", 95.0, split="dev")]))
    rows = table.groups["pos, accuracy, source en"]
    assert [row.label for row in rows] == ["en test", "fr test", "sv test", "en dev"]
    assert values(rows[1]) == [89.0, 80.5, 88.25]
    spread = [cell.std for row in rows for cell in row.cells if cell.std is not None]
    assert f"{min(spread):.2f} to {max(spread):.2f}, median {np.median(spread):.2f}" in table.caption


def test_published_numbers_stand_below_ours(records):
    (table,) = by_target(records, beside=find_paper("muller2021"))
    rows = table.groups["pos, accuracy"]
    french = rows[[row.label for row in rows].index("en – fr") :][:3]
    assert [row.kind for row in french] == ["plain", "beside", "beside"]
    assert values(french[1]) == [89.16, -9.68, 0.59]  # Table 7 of the paper
    assert values(french[2]) == pytest.approx([89.0 - 89.16, -8.5 + 9.68, -0.75 - 0.59])
    swedish = rows[[row.label for row in rows].index("en – sv") + 1]
    assert swedish.kind == "mean"  # the paper has no row for Swedish, so none stands below
    (means,) = layer_deltas(records, beside=find_paper("muller2021"))
    printed = means.groups["pos, accuracy"][4]
    assert printed.cells[0].note == 1
    assert means.notes == ("printed mean; does not follow from the printed rows",)


def test_a_corpus_that_a_paper_trains_on_is_not_taken_for_its_language(records):
    partut = Results.of(
        score("en", 90.0, bank=bank, train="ud/en_partut:train", task="parsing") for bank in ("en_partut", "en_lines")
    )
    (table,) = by_target(partut, beside=find_paper("muller2021"))
    (mine, printed, _, other, below, _) = table.groups["parsing, las"]
    assert (mine.label, other.label) == ("en – ud/en_lines:test", "en – ud/en_partut:test")
    assert values(below) == [90.40]  # Table 2, and not the 88.98 of Table 6
    assert values(printed) == [find_paper("muller2021").find("parsing", ["en_partut"], ["en_lines"], "reference").value]
    other_test = Results.of([score("en", 90.0, bank="en_gum", task="parsing")])
    (table,) = by_target(other_test, beside=find_paper("muller2021"))
    assert len(table.groups["parsing, las"]) == 1  # another test set than the paper's


@pytest.mark.parametrize("file", [file for files in PAPERS.values() for file in files])
def test_published_tables_are_whole(file):
    frame = read_published(file)
    assert set(frame["kind"]) == {"reference", "delta"}
    assert (frame.loc[frame["kind"] == "reference", "layers"] == "").all()
    # What has no value says why.
    empty = frame[frame["value"].isna()]
    assert "note" not in frame or (empty["note"] != "").all()


def test_the_papers_own_means_do_not_follow_from_its_rows():
    """Why the printed mean has a note: fifteen or sixteen rows give another one."""
    frame = read_published("muller2021_tables_6_7_8.csv")
    its = frame[(frame["task"] == "pos") & (frame["source"] == "en") & (frame["kind"] == "reference")]
    rows = its[~its["target"].isin(["en", "x"])]["value"]
    assert rows.mean() == pytest.approx(79.04, abs=0.01)
    assert its[its["target"] == "x"]["value"].item() == 79.37


def test_a_paper_that_there_is_not():
    with pytest.raises(RequestError, match=r"no numbers of 'muler2021'.*did you mean 'muller2021'"):
        find_paper("muler2021")


def test_correlations_have_their_p(records):
    its = {"encoder": "e", "source": "en", "measure": "cka", "layer": 0, "metric": "similarity"}
    similar = [
        Record(**its, target=target, value=value, tags={"condition": "reference"})
        for target, value in (("fr", 0.8), ("sv", 0.5), ("de", 0.6))
    ]
    assert correlation(records) == []
    (table,) = correlation(records + Results.of([*similar, score("de", 84.0), score("de", 84.0, seed=2)]))
    assert table.head == ("pos en",)
    assert table.groups["cka"][0].label == "pretrained"
    assert values(table.groups["cka"][0]) == pytest.approx([-1.0])
    assert table.notes[0].startswith("p ")
    assert table.notes[0].endswith("by permuting 3 languages")


def test_all_tables(records):
    assert [table.name for table in all_tables(records)] == ["layer-deltas", "by-target-pos", "layer-sets"]
    with pytest.raises(RequestError, match="fill no table"):
        all_tables(records.filter(task="parsing"))
    assert json.loads(records.records["tags"][0].as_py())["corpus"] == "ud/en_pud:test"


def test_scores_by_layers_stand_beside_table_5(records):
    ours = Results.of([score("fr", 90.0), score("fr", 80.0, ablation="1-2"), score("sv", 70.0), score("en", 96.0)])
    (table,) = layer_sets(ours, beside=find_paper("muller2021"))
    rows = {row.label: values(row) for row in table.groups["pos, accuracy, source en"]}
    assert rows["fr"] == [90.0, 80.0]
    french = [row for row in table.groups["pos, accuracy, source en"]][2:5]
    assert [row.kind for row in french] != ["plain"] * 3
    printed = next(
        values(row) for row, before in zip(table.groups["pos, accuracy, source en"][1:],
                                           table.groups["pos, accuracy, source en"], strict=False)
        if before.label == "fr"
    )  # fmt: skip
    assert printed == [88.25, 79.84]
    assert "sv" in rows  # Table 5 has no Swedish, and says nothing of it


def test_correlations_stand_beside_table_4(records):
    its = {"encoder": "e", "source": "en", "measure": "cka", "layer": 0, "metric": "similarity"}
    similar = [
        Record(**its, target=target, value=value, tags={"condition": "reference"})
        for target, value in (("fr", 0.8), ("sv", 0.5), ("de", 0.6))
    ]
    both = records + Results.of([*similar, score("de", 84.0), score("de", 84.0, seed=2)])
    (table,) = correlation(both, beside=find_paper("muller2021"))
    ours, theirs, difference = table.groups["cka"]
    assert values(theirs) == [-0.82]  # printed without the sign that the definition of the gap gives it
    assert values(difference) == pytest.approx([values(ours)[0] + 0.82])


# Wu & Dredze 2019, Tables 2 to 6


def trained(source, target, value, *, seed=1, **tags):
    return Record(
        task="document", encoder="e", source=source, target=target, metric="accuracy", value=value, seed=seed,
        tags={"corpus": f"mldoc/{target}:test", "training_train": f"mldoc/{source}:train", **tags},
    )  # fmt: skip


def test_rows_by_what_a_model_was_trained_on():
    scores = [trained("en", "en", 90.0), trained("en", "de", 80.0), trained("en", "fr", 70.0)]
    scores += [trained("de", "de", 92.0), trained("de", "de", 94.0, seed=2)]
    scores += [trained("fr", "fr", 88.0, training_translated_from="en")]
    (table,) = supervision(Results.of(scores))
    assert table.head == ("in-language", "translate-train", "zero-shot from en")
    (rows,) = table.groups.values()
    assert {row.label: values(row) for row in rows} == {
        "de": [93.0, None, 80.0], "en": [90.0, None, 90.0], "fr": [None, 88.0, 70.0],
        "mean": [91.5, 88.0, 75.0],  # of zero-shot without the source
    }  # fmt: skip


def test_published_rows_stand_beside_where_they_are_the_same_setting():
    scores = [trained("en", "en", 90.0), trained("en", "de", 80.0), trained("en", "yo", 50.0)]
    (table,) = supervision(Results.of(scores), beside=find_paper("wu2019"))
    assert table.head == ("zero-shot from en", "wu2019", "ours − theirs")
    assert "MLDoc" in table.caption
    (rows,) = table.groups.values()
    assert {row.label: values(row)[:2] for row in rows} == {
        "de": [80.0, 80.2], "en": [90.0, 94.2], "yo": [50.0, None], "mean": [65.0, None],  # of other languages
    }  # fmt: skip
    assert values(rows[0])[2] == pytest.approx(-0.2)
    (table,) = supervision(Results.of(scores[:2]), beside=find_paper("wu2019"))
    assert values(next(iter(table.groups.values()))[-1])[:2] == [80.0, 80.2]


def test_one_source_and_no_paper_need_no_such_table(records):
    assert supervision(records) == []


def test_published_supervision_is_whole():
    frame = read_published("wu2019_tables_2_to_6.csv")
    assert frame["value"].between(0, 100).all()
    assert not frame.duplicated(["task", "metric", "setting", "target"]).any()
    for (task, metric, setting), its in frame.groupby(["task", "metric", "setting"]):
        printed = its[its["target"] == "average"]["value"]
        if task == "document":  # the paper's mean has English in it
            assert its[its["target"] != "average"]["value"].mean() == pytest.approx(printed.item(), abs=0.06), setting
        assert (task, metric) in {
            ("document", "accuracy"), ("nli", "accuracy"), ("ner", "f1"), ("pos", "accuracy"),
            ("parsing", "las_nopunct"), ("parsing", "uas_nopunct"),
        }  # fmt: skip


def test_frozen_layers_are_headed_by_what_is_frozen():
    scores = [
        trained("en", target, value + worse, condition=condition)
        for target, value in (("en", 90.0), ("de", 80.0))
        for condition, worse in (("reference", 0.0), ("reference frozen 0-3", 1.0), ("reference features", -5.0))
    ]
    scores = [
        record if record.tags["condition"] != "reference features"
        else trained("en", record.target, record.value, condition="reference features", differs_from_usual="batch=32")
        for record in scores
    ]  # fmt: skip
    (table,) = layer_deltas(Results.of(scores))
    assert table.head == ("Ref", "Δ features", "Δ frozen 0-3")
    assert values(table.groups["document, accuracy"][0]) == [90.0, -5.0, 1.0]
