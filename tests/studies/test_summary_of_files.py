"""Test files, which have no split, share means, tables and order with corpora on one split."""

from dataclasses import replace

import pandas as pd
import pytest

from crosslens.report.significance import read_significance
from crosslens.report.tables import all_tables
from crosslens.results.record import Results
from crosslens.runs.store import Store
from crosslens.studies import paired
from crosslens.studies.record_summary import summarise_records
from crosslens.studies.study import Study
from toy_studies import run

MEAN = "mean of 2 languages:test"


@pytest.fixture(scope="module")
def mixed(study, treebanks, tmp_path_factory):
    """Three seeds of a reference and an ablation, on a French corpus and a German file."""
    folder = tmp_path_factory.mktemp("mixed")
    file = folder / "mine.conllu"
    file.write_bytes(next(treebanks.rglob("fr_pud-ud-test.conllu")).read_bytes())
    dumped = study.model_dump()
    dumped["seeds"] = 3
    dumped["data"]["tasks"]["pos"]["en"]["tests"] = ["ud/fr_pud[:4]", f"de={file}"]
    assert not run(Study.model_validate(dumped), folder / "runs", treebanks).failed
    return folder / "runs"


def test_the_mean_of_a_summary_and_of_a_paired_test_is_over_both(mixed):
    summary = pd.read_csv(mixed / "studies" / "toy" / "summary.csv").set_index(["corpus", "label"])
    ablated = summary.xs("1-2", level="label")
    assert len(ablated) == 3
    assert ablated.loc[MEAN, "mean"] == pytest.approx(ablated["mean"].drop(MEAN).mean())
    table = paired.test(mixed, mixed, where_a={"condition": "none"}, where_b={"ablation": "1-2"})
    assert (table["target"].iloc[-1], table["corpus"].iloc[-1]) == ("mean of 2 languages", "test")
    assert table["difference"].iloc[-1] == pytest.approx(ablated.loc[MEAN, "delta"])
    from_records = summarise_records(Store(mixed).collect("toy"))
    assert from_records.set_index(["corpus", "label"]).loc[(MEAN, "1-2"), "mean"] == ablated.loc[MEAN, "mean"]


def test_tables_of_a_report_have_one_mean_with_its_interval(mixed):
    """Also beside a study of files only, whose summary names no split, and one with development sets."""
    results = Store(mixed).collect("toy")
    significance = read_significance([mixed])
    (rows,) = deltas(results, significance)
    assert [row.label for row in rows] == ["en – x, mean of 2 languages"]
    assert rows[0].cells[0].interval is not None
    dev = Results.of(replace(each, split="dev", corpus=f"{each.corpus}-dev") for each in results if each.split)
    assert len(deltas(results + dev, significance)) == 3  # files belong to neither


def deltas(results, significance):
    (table,) = (each for each in all_tables(results, significance=significance) if each.name == "layer-deltas")
    return list(table.groups.values())


def test_rows_are_sorted_together(mixed):
    results = Store(mixed).collect("toy")
    for best in ("de", "fr"):
        ranked = Results.of(replace(each, value=90.0 if each.target == best else 20.0) for each in results)
        assert ranked.table().index.get_level_values("target")[0] == best
