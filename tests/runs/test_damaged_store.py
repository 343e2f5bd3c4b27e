"""Stores with files that no run wrote, or that changed since."""

import json

import numpy as np
import pytest

from crosslens.errors import StoreError
from crosslens.report.page import known_runs
from crosslens.runs.counts import COUNTS, write_counts
from crosslens.runs.store import Store
from made_runs import FRENCH, answers, asked, publish


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "store")
    publish(store, asked(), answers(FRENCH))
    return store


def test_other_files_and_folders_are_no_runs(store):
    (run,) = store.ids()
    (store.folder / "runs" / "README.txt").write_text("notes")
    (store.folder / "runs" / "notes").mkdir()
    (store.folder / "runs" / ("0" * 16)).write_text("a file with the name of a run")
    assert store.ids() == [run]
    assert list(known_runs([store.folder])) == [run]


@pytest.mark.parametrize("text", ["[]", "null", "1", "[" * 100_000, "{", "{}", '{"run": null}'])
def test_a_description_that_is_none_is_damaged(store, text):
    (run,) = store.ids()
    (store.path(run) / "run.json").write_text(text)
    with pytest.raises(StoreError, match=r"run.json is damaged: .*remove .* to repeat the run"):
        store.describe(run)


@pytest.mark.parametrize("change", [{"label": None}, {"facts": []}, {"machine": 1}, {"identity": None}, "seed"])
def test_a_description_that_was_changed_is_damaged(store, change):
    """A seed that was changed by hand is not believed: the run's name is the digest of its identity."""
    (run,) = store.ids()
    file = store.path(run) / "run.json"
    described = json.loads(file.read_text())
    assert store.describe(run) == described
    described |= {"identity": {**described["identity"], "seed": 7}} if change == "seed" else change
    file.write_text(json.dumps(described))
    with pytest.raises(StoreError, match=r"run.json is damaged: .*remove .* to repeat the run"):
        store.describe(run)


@pytest.mark.parametrize(
    "text",
    ["[]", "{}", "null", '{"runs": []}', '{"runs": {}, "waiting": "x"}', '{"runs": {}, "asked": {}}', "{"],
)
def test_a_damaged_plan_is_made_again(store, text):
    store.keep_plan("toy", {"plan.json": text})
    with pytest.raises(StoreError, match=r"plan.json is damaged: .*run `crosslens plan` again; finished runs are kept"):
        store.studies()


def test_damaged_counts_name_their_file(store):
    (run,) = store.ids()
    file = store.path(run) / COUNTS
    write_counts(file, {"a las": np.arange(200).reshape(2, 100)})
    content = file.read_bytes()
    for damaged in (b"", b"garbage", content[: len(content) // 2], content[:60] + b"\x00\xff" * 20 + content[100:]):
        file.write_bytes(damaged)
        with pytest.raises(
            StoreError, match=r"counts.npz: cannot be read as counts per sentence: .*to repeat the run"
        ) as error:
            store.counts(run)
        assert "pickle.load" not in str(error.value)
    file.unlink()
    with pytest.raises(StoreError, match=r"counts.npz is missing .*to repeat the run"):
        store.counts(run)


def test_a_run_that_made_an_encoder_has_no_counts(store):
    (run,) = store.ids()
    (store.path(run) / COUNTS).unlink()
    store.encoder(run).mkdir()
    store.check(run)
    assert store.counts(run) == {}


@pytest.mark.parametrize("name", ["run.json", "records.parquet", COUNTS])
def test_a_run_with_a_file_less_is_not_planned_as_done(store, name):
    assert store.missing(asked()) is None
    (store.path(asked().run.id) / name).unlink()
    with pytest.raises(StoreError, match=rf"{name} is missing \(remove .* to repeat the run"):
        store.missing(asked())
