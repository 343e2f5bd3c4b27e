"""Intervals and marks of a study's summary in the tables."""

import pandas as pd
import pytest

from crosslens.errors import RequestError
from crosslens.report.tables import by_target
from crosslens.report.tested import LEVEL, read_tested
from crosslens.report.writing import number, to_latex, to_markdown
from crosslens.runs.store import Store
from crosslens.studies.runner import run_study


@pytest.fixture(scope="module")
def done(study, treebanks, tmp_path_factory):
    """A store of a finished study, and its summary."""
    folder = tmp_path_factory.mktemp("tested")
    run_study(study, folder, executor="serial", data=str(treebanks), device="cpu")
    return folder, pd.read_csv(folder / "studies" / "toy" / "summary.csv")


def test_the_tables_have_the_summarys_intervals_and_marks(done):
    folder, summary = done
    store = Store(folder)
    results = store.collect(store.ids(), study="toy")
    (table,) = by_target(results, tested=read_tested([folder]))
    rows = {row.label: row for row in table.groups["pos, accuracy"]}
    for language, corpus in (("en", "ud/en_pud:test"), ("fr", "ud/fr_pud:test")):
        its = summary[summary["corpus"] == corpus].set_index("condition")
        reference, difference = rows[f"en – {language}"].cells
        assert (reference.found.low, reference.found.high) == tuple(its.loc["reference", ["low", "high"]])
        assert not reference.found.marked
        assert (difference.found.low, difference.found.high) == tuple(its.loc["1-2", ["delta_low", "delta_high"]])
        assert difference.found.marked == (its.loc["1-2", "q"] < LEVEL)
        assert difference.value == pytest.approx(its.loc["1-2", "delta"])
        assert number(difference, spread="interval").endswith("]")
    assert rows["en – x"].cells[0].found is None  # a mean of languages has none
    assert "Intervals of 95" in to_latex(table, spread="interval")
    assert "Intervals of 95" not in to_latex(table)
    assert "**[" not in to_markdown(table, spread="interval").replace(r"\*", "")


def test_without_a_finished_study_there_is_none(tmp_path):
    with pytest.raises(RequestError, match="no finished study here has intervals"):
        read_tested([tmp_path, tmp_path / "results.csv"])
