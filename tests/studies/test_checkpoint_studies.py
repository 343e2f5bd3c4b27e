"""Studies of an encoder at several steps of its pretraining: runs, identities, records."""

import pytest

from crosslens.encoders.load import load_encoder, save_encoder
from crosslens.encoders.reinit import random_init
from crosslens.errors import RequestError
from crosslens.lab.export import pretraining_settings
from crosslens.lab.presets import find_laboratory
from crosslens.mlm.pretrain_settings import Pretraining
from crosslens.results.record import read_results
from crosslens.runs.run import EncoderRun, ModelRun, PretrainRun
from crosslens.runs.store import Store
from crosslens.studies.plan import plan
from crosslens.studies.pretrainings import find_pretraining
from crosslens.studies.run_study import run_study
from crosslens.studies.study import read_study
from toys import SENTENCES

STUDY = """
name: steps
encoder: {encoder}
checkpoints: {checkpoints}
data:
  parallel: ud/pud
  recipe: small
  tasks:
    pos:
      en: {{train: ud/en_toy, tests: [ud/en_pud, ud/fr_pud]}}
set: {{batch: 3, epochs: 1}}
similarity: {{of: [pretrained], measures: [cka]}}
seeds: [1, 2]
"""


@pytest.fixture(autouse=True)
def _data(treebanks, monkeypatch):
    monkeypatch.setenv("CROSSLENS_DATA", str(treebanks))


def written(folder, encoder, checkpoints, more=""):
    (folder / "study.yaml").write_text(STUDY.format(encoder=encoder, checkpoints=checkpoints) + more)
    return read_study(folder / "study.yaml")


@pytest.fixture
def walked(encoder, tmp_path):
    """An encoder whose folder keeps three checkpoints."""
    folder = tmp_path / "walked"
    save_encoder(encoder, folder)
    for step in (0, 5, 10):
        save_encoder(random_init(encoder, "1", seed=step), folder / "checkpoints" / str(step))
    return folder


def test_an_encoder_on_disk_is_studied_at_all_steps_that_it_keeps(walked, tmp_path, treebanks):
    study = written(tmp_path, walked, "all")
    report = run_study(study, tmp_path / "runs", executor="serial", data=str(treebanks))
    assert report.failed == ()
    models = [asked.run for asked in report.plan.runs if isinstance(asked.run, ModelRun)]
    assert [run.label for run in models[:3]] == [f"pos en reference step 0 seed {seed}" for seed in (1, 2)] + [
        "pos en reference step 5 seed 1"
    ]
    for run in models:
        step = run.condition.checkpoint.name
        assert run.base.digest == load_encoder(walked / "checkpoints" / step, device="cpu").digest
    records = read_results(tmp_path / "runs" / "studies" / "steps" / "results.csv")
    shown = {(record.condition, record.encoder, record.state) for record in records}
    assert shown == {
        (f'{{"checkpoint": "{step}"}}', str(walked), state)
        for step in (0, 5, 10)
        for state in ("pretrained", "fine-tuned")
    }
    encoders = [asked.run for asked in report.plan.runs if isinstance(asked.run, EncoderRun)]
    assert [run.condition.checkpoint.step for run in encoders] == [0, 5, 10]
    again = run_study(study, tmp_path / "runs", executor="serial", data=str(treebanks))
    assert again.plan.done == len(again.plan.runs) == 9


def test_revisions_of_the_hub_are_found_by_their_whole_names(encoder, tmp_path, monkeypatch):
    cached = tmp_path / "models--owner--name"
    (cached / "refs").mkdir(parents=True)
    revisions = ("main", "step3-tokens4B", "step6-tokens9B")
    for seed, revision in enumerate(revisions):
        (cached / "refs" / revision).write_text(str(seed) * 40)
        save_encoder(random_init(encoder, "1", seed=seed), cached / "snapshots" / (str(seed) * 40))
    for module in ("huggingface_hub.constants", "transformers.utils.hub.constants"):
        monkeypatch.setattr(f"{module}.HF_HUB_CACHE", str(tmp_path))
    study = written(tmp_path, "owner/name", f"[{', '.join(revisions[1:])}]")
    models = [asked.run for asked in plan(study, Store(tmp_path / "runs")).runs if isinstance(asked.run, ModelRun)]
    assert [(run.base.path, run.base.digest, run.condition.checkpoint.step) for run in models[::2]] == [
        (f"owner/name@{name}", load_encoder(f"owner/name@{name}", device="cpu").digest, step)
        for name, step in zip(revisions[1:], (3, 6), strict=True)
    ]


def test_every_condition_is_crossed_with_the_steps_but_not_those_without_the_encoder(walked, tmp_path):
    study = written(tmp_path, walked, "[5, 10]", "conditions: [none, 1-2, {start: bilstm}]\n")
    planned = plan(study, Store(tmp_path / "runs"))
    conditions = list(dict.fromkeys(a.run.condition.text for a in planned.runs if isinstance(a.run, ModelRun)))
    assert conditions == [
        '{"checkpoint": "5"}',
        '{"checkpoint": "5", "layers": "1-2"}',
        '{"start": "bilstm"}',
        '{"checkpoint": "10"}',
        '{"checkpoint": "10", "layers": "1-2"}',
    ]
    reference = next(a.run.condition for a in planned.runs if a.run.condition.text == conditions[1]).reference
    assert reference.text == conditions[0]  # compared within the step


def test_a_study_pretrains_once_for_all_steps_and_the_last_one_is_the_encoder(tmp_path, treebanks):
    (tmp_path / "en.txt").write_text("\n".join(SENTENCES["en"] * 4), "utf-8")
    (tmp_path / "settings.yaml").write_text(
        "corpora: {en: en.txt}\nvocabulary: {size: 200}\nshape: {layers: 2, width: 16, heads: 2, positions: 32}\n"
        "batch: 4\nsteps: 4\n"
    )
    probe = 'probes: [{probe: topic, train: "lab_topics/src:train[:60]", test: "lab_topics/src:test[:20]"}]\n'
    study = written(tmp_path, f"pretrain:{tmp_path / 'settings.yaml'}", "[0, 4]", probe)
    report = run_study(study, tmp_path / "runs", executor="serial", data=str(treebanks))
    assert report.failed == ()
    assert (report.plan.waiting, report.plan.left) == (0, ())
    pretrained = [asked.run for asked in report.plan.runs if isinstance(asked.run, PretrainRun)]
    assert len(pretrained) == 2  # one for each seed
    store = Store(tmp_path / "runs")
    for run in pretrained:
        described = store.describe(run.id)
        assert described["checkpoints"]["4"] == described["encoder_digest"] != described["checkpoints"]["0"]
        assert run.condition.is_reference
    steps = {a.run.condition.checkpoint.step for a in report.plan.runs if isinstance(a.run, EncoderRun)}
    assert steps == {0, 4}
    records = read_results(tmp_path / "runs" / "studies" / "steps" / "results.csv")
    probed = {(record.condition, record.seed) for record in records if record.measure == "probe topic"}
    assert probed == {(f'{{"checkpoint": "{step}"}}', seed) for step in (0, 4) for seed in (1, 2)}
    (tmp_path / "other").mkdir()
    without = written(tmp_path / "other", f"pretrain:{tmp_path / 'settings.yaml'}", "all")
    with pytest.raises(RequestError, match=r"no checkpoint of pretrain:.* is kept"):
        plan(without, store)


@pytest.mark.parametrize(
    ("checkpoints", "reason"),
    [("[]", "checkpoints"), ("[5, 5]", "has duplicates"), ("[main]", "does not name a step"), ("some", "checkpoints")],
)
def test_wrong_checkpoints_are_refused(tmp_path, checkpoints, reason):
    with pytest.raises(RequestError, match=reason):
        written(tmp_path, "somewhere", checkpoints)


def test_the_shipped_settings_are_those_of_the_laboratorys_encoder():
    shipped, _ = find_pretraining("lab-encoder")
    cached = Pretraining.model_validate(pretraining_settings(find_laboratory("good")))
    changed = {"corpora", "seed", "checkpoints"}
    assert shipped.model_dump(exclude=changed) == cached.model_dump(exclude=changed)
    assert list(shipped.corpora) == list(cached.corpora)
    assert (shipped.kept_steps[0], shipped.kept_steps[-1]) == (0, shipped.steps)
