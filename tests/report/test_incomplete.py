"""Tables of studies that were run without some of their corpora say so."""

import json

import pytest

from crosslens.report.incomplete import not_evaluated, with_caption
from crosslens.report.render import to_latex, to_markdown
from crosslens.report.table import Cell, Row, Table
from crosslens.runs.store import Store


@pytest.fixture
def store(tmp_path):
    """A store with a study that lacks two corpora, and one that lacks none."""
    store = Store(tmp_path / "all" / "runs")
    missing = [{"corpus": name, "needed_for": []} for name in ("ud/ar_padt:train", "ud/he_htb:test")]
    for name, plan in (("one", {"missing": missing}), ("two", {"missing": []})):
        store.keep_plan(name, {"plan.json": json.dumps({"runs": {}, "asked": [], **plan}), "results.csv": ""})
    return store.folder


SENTENCE = "Not evaluated in one (corpus missing): ud/ar_padt:train, ud/he_htb."


def test_missing_corpora_are_named_wherever_the_results_are_read_from(store):
    home = store / "studies" / "one"
    for path in (store, store.parent, home, home / "results.csv", str(home / "results.csv")):
        assert not_evaluated([path]) == (SENTENCE,), path
    assert not_evaluated([store, home]) == (SENTENCE,)


def test_studies_with_all_corpora_and_other_files_have_no_sentence(store, tmp_path):
    (tmp_path / "results.csv").write_text("")
    others = [store / "studies" / "two", tmp_path / "results.csv"]
    assert not_evaluated([*others, tmp_path / "no-such-folder"]) == ()


def test_a_table_carries_the_sentence_in_every_form_with_a_caption():
    table = Table("t", "A caption.", ("a",), {"g": (Row("r", (Cell(1.0, "score"),)),)})
    noted = with_caption(table, [SENTENCE])
    assert f"A caption. {SENTENCE}" in to_markdown(noted)
    assert r"ud/he\_htb" in to_latex(noted)
    assert with_caption(table, []) == table
