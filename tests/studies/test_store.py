import hashlib
import json
import os
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from crosslens.data.records import Record, Results
from crosslens.errors import RequestError, StoreError
from crosslens.studies.condition import Condition
from crosslens.studies.run import Comparison, Named, Run, Training
from crosslens.studies.store import Store, is_store, unanswered
from crosslens.training.recipe import RECIPES


def make_run(**changes):
    training = Training(
        "pos", {}, "en", Named("ud/en_ewt:train", "a" * 64), Named("ud/en_ewt:dev", "b" * 64), RECIPES["muller2021.pos"]
    )
    asked = {
        "encoder": "folder", "called": "name", "encoder_digest": "c" * 64, "condition": Condition(), "seed": 1,
        "training": training, "tests": (Named("ud/fr_pud:test", "d" * 64),),
    }  # fmt: skip
    return Run(**{**asked, **changes})


def scores(*tests):
    return Results.of(
        Record(task="pos", metric="accuracy", value=50.0, tags={"corpus": t.name, "digest": t.digest}) for t in tests
    )


def test_identities_stay_what_they_were():
    """Whoever has a store from an older version keeps it: these change only where results change."""
    assert make_run().id == "9ee4d3e8c41fa232"
    assert make_run(condition=Condition(layers="1-2"), seed=3).id == "9d7aac82cc93b12e"
    assert make_run(training=None, condition=Condition(layers="0,all")).id == "36e7aa4c8db99422"


def test_an_identity_is_what_determines_the_weights_and_nothing_else():
    run = make_run()
    assert make_run(encoder="elsewhere", called="other", tests=()).id == run.id
    training = run.training
    for changed in (
        make_run(seed=2), make_run(encoder_digest="e" * 64), make_run(condition=Condition(layers="1")),
        make_run(training=Training(**{**fields(training), "recipe": RECIPES["small"]})),
        make_run(training=Training(**{**fields(training), "train": Named("ud/en_ewt:train", "0" * 64)})),
        make_run(training=Training(**{**fields(training), "dev": None})),
        make_run(training=Training(**{**fields(training), "task": "ner"})),
    ):  # fmt: skip
        assert changed.id != run.id
    renamed = Training(**{**fields(training), "train": Named("mine.conllu", "a" * 64), "source": "english"})
    assert make_run(training=renamed).id == run.id


def fields(training):
    return {name: getattr(training, name) for name in Training.__slots__}


def publish(store, run, results):
    with store.publishing(run.id) as folder:
        results.write(folder / "records.parquet")
        (folder / "run.json").write_text(json.dumps({"run": run.id, "identity": run.identity}))


def test_a_run_is_there_whole_or_not_at_all(tmp_path):
    store, run = Store(tmp_path / "store"), make_run()

    def half():
        with store.publishing(run.id) as folder:
            (folder / "records.parquet").write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half()
    assert store.ids() == []
    assert store.missing(run) == run
    publish(store, run, scores(*run.tests))
    assert store.ids() == [run.id]
    assert store.missing(run) is None
    with pytest.raises(RequestError, match="exists already"):
        publish(store, run, scores())


def test_what_is_not_answered_yet_is_asked(tmp_path):
    store, run = Store(tmp_path), make_run()
    publish(store, run, scores(*run.tests))
    more = make_run(tests=(*run.tests, Named("ud/de_pud:test", "e" * 64)))
    assert store.missing(more).tests == more.tests[1:]
    changed = make_run(tests=(Named("ud/fr_pud:test", "f" * 64),))
    assert store.missing(changed).tests == changed.tests
    store.add_records(run.id, scores(*more.tests[1:]))
    assert store.missing(more) is None


def test_a_comparison_is_answered_by_its_pairs_measures_and_sentences():
    asked = Comparison("ud/pud", ("en-fr", "en-de"), ("cka",), {"en": "1", "fr": "2", "de": "3"}, None)
    run = make_run(tests=(), comparison=asked)

    def compared(target, digest, measure="cka"):
        tags = {"corpus": "ud/pud", "source_digest": "1", "digest": digest}
        return Record(source="en", target=target, measure=measure, layer=0, metric="similarity", value=0.5, tags=tags)

    whole = Results.of([compared("fr", "2"), compared("de", "3")])
    assert unanswered(run, whole) is None
    for part in ([compared("fr", "2")], [compared("fr", "2"), compared("de", "4")],
                 [compared("fr", "2"), compared("de", "3", "rsa")]):  # fmt: skip
        assert unanswered(run, Results.of(part)).comparison == asked


def test_one_process_works_on_a_run_and_its_death_frees_it(tmp_path):
    store = Store(tmp_path)
    code = (
        "import sys, time; from crosslens.studies.store import Store\n"
        "with Store(sys.argv[1]).claim('r') as mine:\n    print(mine, flush=True); time.sleep(60)"
    )
    other = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert other.stdout.readline() == "True\n"
    assert store.claimed("r")
    with store.claim("r") as mine:
        assert not mine
    other.kill()
    other.wait()
    other.stdout.close()
    assert not store.claimed("r")
    with store.claim("r") as mine:
        assert mine
    assert not store.claimed("never")


def test_damage_is_told_with_what_to_do(tmp_path):
    store, run = Store(tmp_path), make_run()
    publish(store, run, scores(*run.tests))
    records = store.path(run.id) / "records.parquet"
    whole = records.read_bytes()
    for damaged in (whole[: len(whole) // 2], whole[:-9], b"", whole[:100] + bytes([whole[100] ^ 1]) + whole[101:]):
        records.write_bytes(damaged)
        with pytest.raises(StoreError, match=r"records.parquet.*remove .*, and the run is done again"):
            store.missing(run)
    (store.path(run.id) / "run.json").write_text('{"run": ')
    with pytest.raises(StoreError, match=r"run.json is damaged"):
        store.describe(run.id)
    (store.path(run.id) / "run.json").unlink()
    with pytest.raises(StoreError, match=r"run.json is missing"):
        store.describe(run.id)


def test_folders_that_are_no_stores(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RequestError, match="is a file, and a store"):
        Store(tmp_path / "file")
    with pytest.raises(RequestError, match="holds something else than runs"):
        Store(tmp_path)
    assert not is_store(tmp_path)
    with pytest.raises(StoreError, match="cannot be written to"):
        Store("/proc/nowhere/store")


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 256 KiB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)]
    if os.getuid() or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("mounting needs root")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_loses_nothing_and_publishes_nothing_half(small_disk):
    store, run, other = Store(small_disk / "store"), make_run(), make_run(seed=2)
    publish(store, run, scores(*run.tests))
    with pytest.raises(StoreError, match=r"cannot be written to: No space left on device \(nothing .* is lost\)"):
        publish(
            store,
            other,
            scores(*(Named(f"n{i}", hashlib.sha256(bytes([i % 256, i // 256])).hexdigest()) for i in range(9000))),
        )
    assert store.ids() == [run.id]
    assert len(store.records(run.id)) == 1
    assert [path.name for path in (small_disk / "store" / "runs").iterdir()] == [run.id]


def test_ten_thousand_records_are_quick_enough_to_read(tmp_path):
    """Not timed here; that every record of 300 runs comes back, in the runs' order."""
    store = Store(tmp_path)
    tests = [Named(f"t{i}", "0" * 64) for i in range(34)]
    runs = [make_run(seed=seed) for seed in range(300)]
    for run in runs:
        publish(store, run, scores(*tests))
    store.keep_plan("s", {"plan.json": json.dumps({"runs": {run.id: run.label for run in runs}, "waiting": 0})})
    began = time.perf_counter()
    results = store.collect([run.id for run in runs], study="s")
    print(f"{len(results)} records in {time.perf_counter() - began:.2f} s")
    assert len(results) == 300 * 34
    assert set(results.records["study"].to_pylist()) == {"s"}


def test_the_name_of_a_recipe_determines_nothing():
    run = make_run()
    training = replace(run.training, recipe=run.training.recipe.model_copy(update={"name": None}))
    assert run.training.recipe.name is not None
    assert make_run(training=training).id == run.id
