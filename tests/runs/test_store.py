"""The store of runs: what is published, claimed, collected and refused."""

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from crosslens.encoders.condition import Condition
from crosslens.errors import RequestError, StoreError
from crosslens.results.record import Record, Results
from crosslens.runs.counts import key
from crosslens.runs.question import CorpusRef, ProbeQuestion, Score, Similarity
from crosslens.runs.run import Asked, EncoderRef, EncoderRun
from crosslens.runs.store import Store, is_store
from crosslens.training import versions
from made_runs import FRENCH, answers, asked, make_run, publish


def test_a_run_is_there_whole_or_not_at_all(tmp_path):
    store, wanted = Store(tmp_path / "store"), asked()

    def half():
        with store.publishing(wanted.run.id) as folder:
            (folder / "records.parquet").write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half()
    assert store.ids() == []
    assert store.missing(wanted) == wanted
    publish(store, wanted, answers(FRENCH))
    assert store.ids() == [wanted.run.id]
    assert store.missing(wanted) is None
    with pytest.raises(RequestError, match="exists already"):
        publish(store, wanted, answers())


def test_finishing_removes_what_is_left_of_earlier_attempts(tmp_path):
    """The state of the interrupted training, and the log of the one that failed; those of other runs stay."""
    store, wanted, other = Store(tmp_path), asked(), asked(seed=2)
    for each in (wanted, other):
        store.state(each.run.id).write_text("state")
        store.keep_failure(each.run, "it failed")
        assert store.failed(each.run.id)
    publish(store, wanted, answers(FRENCH))
    assert store.log(wanted.run.id) == []
    assert store.state(wanted.run.id).exists()  # other questions may be open
    store.finish(wanted.run.id, ["trained", "done"])
    assert store.log(wanted.run.id) == ["trained", "done"]
    assert [store.state(each.run.id).exists() for each in (wanted, other)] == [False, True]
    assert [store.failed(each.run.id) for each in (wanted, other)] == [False, True]


@pytest.mark.parametrize("open_question", [False, True])
def test_what_a_process_killed_before_it_finished_a_run_left_is_removed(tmp_path, open_question):
    """But the training state stays for the open question of another study, whichever is read last."""
    store, wanted = Store(tmp_path), asked()
    run = wanted.run.id
    for study, questions in (("other", [FRENCH.id, *["other"] * open_question]), ("whole", [FRENCH.id])):
        views = [{"run": run, "questions": [[question, "score"] for question in questions]}]
        store.keep_plan(study, {"plan.json": json.dumps({"runs": {run: run}, "waiting": 0, "asked": views})})
    store.state(run).write_text("state")
    store.keep_failure(wanted.run, "it failed")
    publish(store, wanted, answers(FRENCH))
    for path in (store.path(run) / "log.txt", store.state(run)):
        path.with_name(f".{path.name}.x.unfinished").touch()
    store.tidy([run])
    assert sorted(path.name for path in store.path(run).iterdir()) == ["counts.npz", "records.parquet", "run.json"]
    left = [path.name for path in (*(tmp_path / "tmp").iterdir(), *(tmp_path / "failed").iterdir())]
    assert left == ([store.state(run).name, run] if open_question else [])


def test_what_is_kept_of_a_failure(tmp_path):
    store, wanted = Store(tmp_path), asked()
    for log in ("the first time", "the memory is full\n"):  # the last attempt's
        store.keep_failure(wanted.run, log)
    folder = tmp_path / "failed" / wanted.run.id
    assert (folder / "log.txt").read_text() == "the memory is full\n"
    assert json.loads((folder / "run.json").read_text()) == {
        "run": wanted.run.id,
        "label": wanted.run.label,
        "identity": wanted.run.identity,
    }
    assert not store.failed("another")


def test_only_what_is_not_answered_yet_is_asked_and_an_answer_stays(tmp_path):
    store, german = Store(tmp_path), Score(CorpusRef("ud/de_pud:test", "e" * 64), {})
    publish(store, asked(), answers(FRENCH))
    more = asked(FRENCH, german)
    assert store.missing(more).questions == (german,)
    names = [key(each.id, "accuracy") for each in (FRENCH, german)]
    store.add_answers(more.run.id, answers(FRENCH, value=60.0), {names[0]: np.full((2, 3), 1)})
    store.add_answers(more.run.id, answers(FRENCH, german, value=70.0), {name: np.full((2, 3), 2) for name in names})
    assert store.missing(more) is None
    assert store.answers(more.run.id).records["value"].to_pylist() == [50.0, 70.0]
    kept = {name: counts.tolist() for name, counts in store.counts(more.run.id).items()}
    assert kept == {names[0]: [[1] * 3] * 2, names[1]: [[2] * 3] * 2}


def test_an_encoder_that_is_not_fine_tuned_has_no_model_to_keep(tmp_path):
    store, look = Store(tmp_path), Asked(EncoderRun(EncoderRef("f", "e", "c" * 64), Condition(), 1))
    for each in (look, asked()):
        publish(store, each, answers(FRENCH))
    assert store.missing(look, models=True) is None
    assert store.missing(asked(), models=True) == replace(asked(), questions=())


def test_what_a_question_owns_is_not_renamed_by_the_study(tmp_path):
    """A probe has a seed and training data of its own, a similarity its source; all else is the run's."""
    store = Store(tmp_path)
    probed = ProbeQuestion("langid", {}, CorpusRef("langid/all:train", "1" * 64), FRENCH.corpus, None, "scaled", 7)
    similar = Similarity("ud/pud", "sv", "fr", ("1", "2"), "cka", None)
    own = {"seed": 7, "train": "langid/all:train", "train_digest": "1" * 64, "dev": "langid/all:dev"}
    own["settings"] = "inputs=scaled"
    results = Results.of(
        [
            Record(measure="probe langid", metric="accuracy", value=1.0, question=probed.id, encoder="old", **own),
            Record(
                measure="cka", metric="similarity", value=2.0, question=similar.id, source="sv", target="fr", seed=9
            ),
            Record(metric="accuracy", value=3.0, question=FRENCH.id, source="xx", target="fr", seed=9),
        ]
    )
    wanted = asked(probed, similar, FRENCH)
    publish(store, wanted, results)
    plan = {"runs": {}, "waiting": 0, "versions": versions.current(), "asked": [wanted.view]}
    store.keep_plan("s", {"plan.json": json.dumps(plan)})
    probe, similarity, score = store.collect("s").records.to_pylist()
    assert {name: probe[name] for name in own} == own
    assert (probe["encoder"], probe["source"], probe["study"]) == ("name", "en", "s")
    assert (similarity["source"], similarity["seed"], similarity["train"]) == ("sv", 1, "ud/en_ewt:train")
    assert (score["source"], score["seed"], score["train"]) == ("en", 1, "ud/en_ewt:train")


def test_a_study_has_the_answers_to_its_own_questions_under_its_own_names(tmp_path):
    store, german = Store(tmp_path), Score(CorpusRef("ud/de_pud:test", "e" * 64), {})
    publish(store, asked(), answers(FRENCH, german))
    training = replace(make_run().training, train=CorpusRef("mine.conllu", "a" * 64), language="xx")
    mine = Asked(make_run(base=EncoderRef("f", "mine", "c" * 64), training=training), (german,))
    for name, view in (("theirs", asked().view), ("mine", mine.view)):
        store.keep_plan(
            name, {"plan.json": json.dumps({"runs": {}, "waiting": 0, "versions": versions.current(), "asked": [view]})}
        )
    (record,) = store.collect("mine").records.to_pylist()
    names = ("study", "question", "encoder", "source", "train", "recipe", "selection", "condition")
    assert [record[name] for name in names] == [
        "mine",
        german.id,
        "mine",
        "xx",
        "mine.conllu",
        "muller2021.pos",
        "best",
        "none",
    ]
    (record,) = store.collect("theirs").records.to_pylist()
    assert [record[name] for name in names[:5]] == ["theirs", FRENCH.id, "name", "en", "ud/en_ewt:train"]


def test_the_target_is_in_the_language_that_the_plan_gives_its_file(tmp_path):
    """Plans of earlier versions give none: the records keep theirs."""
    store, mine = Store(tmp_path), Asked(make_run(), (Score(CorpusRef("mine.conllu", "e" * 64, "wo"), {}),))
    publish(store, mine, answers(*mine.questions))
    view = mine.view
    for name, languages, target in (("now", view["languages"], "wo"), ("earlier", None, None)):
        written = {key: value for key, value in view.items() if key != "languages"}
        written |= {"languages": languages} if languages else {}
        plan = {"runs": {}, "waiting": 0, "versions": versions.current(), "asked": [written]}
        store.keep_plan(name, {"plan.json": json.dumps(plan)})
        assert store.collect(name).records["target"].to_pylist() == [target]


def test_one_process_works_on_a_run_and_its_death_frees_it(tmp_path):
    store = Store(tmp_path)
    code = (
        "import sys, time; from crosslens.runs.store import Store\n"
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
    store, wanted = Store(tmp_path), asked()
    run = wanted.run
    publish(store, wanted, answers(FRENCH))
    records = store.path(run.id) / "records.parquet"
    whole = records.read_bytes()
    for damaged in (whole[: len(whole) // 2], whole[:-9], b"", whole[:100] + bytes([whole[100] ^ 1]) + whole[101:]):
        records.write_bytes(damaged)
        with pytest.raises(StoreError, match=r"records.parquet.*remove .* to repeat the run"):
            store.missing(wanted)
    (store.path(run.id) / "run.json").write_text('{"run": ')
    with pytest.raises(StoreError, match=r"run.json is damaged"):
        store.describe(run.id)
    (store.path(run.id) / "run.json").unlink()
    with pytest.raises(StoreError, match=r"run.json is missing .remove .* to repeat the run"):
        store.missing(wanted)
    with pytest.raises(StoreError, match=r"run.json is missing"):
        store.describe(run.id)


def test_folders_that_are_no_stores(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RequestError, match="is a file, not a store of runs"):
        Store(tmp_path / "file")
    with pytest.raises(RequestError, match="is not a store of runs"):
        Store(tmp_path)
    for folder in ("runs", "studies"):  # one of them is in many folders of results
        assert not is_store(tmp_path)
        (tmp_path / folder).mkdir()
    assert is_store(tmp_path)
    with pytest.raises(StoreError, match=r"is not writable: .* \(choose a folder"):  # no run is finished there
        Store("/proc/nowhere/store")
    with pytest.raises(StoreError, match="is not writable: File name too long"):
        Store(tmp_path / ("x" * 300))


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
    store, first, other = Store(small_disk / "store"), asked(), asked(seed=2)
    publish(store, first, answers(FRENCH))
    many = [Score(CorpusRef(f"n{i}", hashlib.sha256(i.to_bytes(3)).hexdigest()), {}) for i in range(60_000)]
    with pytest.raises(StoreError, match=r"is not writable: No space left on device \(finished runs are not lost\)"):
        publish(store, other, answers(*many))
    assert store.ids() == [first.run.id]
    assert len(store.answers(first.run.id)) == 1
    assert [path.name for path in (small_disk / "store" / "runs").iterdir()] == [first.run.id]


def test_records_of_many_runs_come_back_in_the_order_of_the_runs(tmp_path):
    store = Store(tmp_path)
    questions = [Score(CorpusRef(f"t{i}", "0" * 64), {}) for i in range(34)]
    wanted = [asked(*questions, seed=seed) for seed in range(60)]
    for each in wanted:
        publish(store, each, answers(*questions))
    plan = {"runs": {}, "waiting": 0, "versions": versions.current(), "asked": [each.view for each in wanted]}
    store.keep_plan("s", {"plan.json": json.dumps(plan)})
    results = store.collect("s")
    assert results.records["seed"].to_pylist() == [seed for seed in range(60) for _ in questions]
    assert set(results.records["study"].to_pylist()) == {"s"}


def test_results_of_a_plan_of_other_versions_are_told_apart(tmp_path):
    """M11: a report of the whole store must not average weights of the old rule with weights of the new one."""
    store = Store(tmp_path)
    publish(store, asked(), answers(FRENCH))
    before = {**versions.current(), "fine_tuning": versions.FINE_TUNING - 1}
    view = asked().view
    tuned = {**view, "columns": {**view["columns"], "settings": "batch=8"}}
    for name, known, each in (("old", before, view), ("new", versions.current(), view), ("tuned", before, tuned)):
        plan = {"runs": {}, "waiting": 0, "versions": known, "asked": [each]}
        store.keep_plan(name, {"plan.json": json.dumps(plan)})
    version = f"fine_tuning={versions.FINE_TUNING - 1}"
    assert store.collect("new").records["settings"].to_pylist() == [None]
    assert store.collect("old").records["settings"].to_pylist() == [version]
    assert store.collect("tuned").records["settings"].to_pylist() == [f"batch=8 {version}"]


def test_of_a_refused_store_no_new_folder_stays(tmp_path):
    """Nor those above it; what was there, and what another process made meanwhile, stays."""
    for other in ((), ("deep",)):
        store = Store(tmp_path / "new" / "runs")
        for name in other:
            (tmp_path / "new" / name).mkdir()
        with pytest.raises(StoreError, match="refused"), store.removed_if_refused():
            raise StoreError("refused")
        assert [path.name for path in tmp_path.rglob("*")] == ["new", "deep"] * bool(other)
