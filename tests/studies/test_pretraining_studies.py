"""Studies that pretrain their own encoders: what is pretrained first, what waits for it, and what is told."""

import json

import pandas as pd
import pytest

from crosslens.encoders.condition import Condition
from crosslens.encoders.load import load_encoder
from crosslens.errors import RequestError
from crosslens.report.papers import find_paper
from crosslens.results.record import read_results
from crosslens.runs.run import EncoderRun, PretrainRun
from crosslens.runs.store import Store
from crosslens.studies.plan import plan
from crosslens.studies.pretrainings import find_pretraining
from crosslens.studies.run_study import run_study
from crosslens.studies.study import pretrainings, read_study
from toys import SENTENCES

STUDY = """
name: small
encoder: pretrain:{settings}
bilingual: [fr]
data:
  parallel: ud/pud
  recipe: small
  tasks:
    pos:
      en: {{train: ud/en_toy, tests: [ud/en_pud, ud/fr_pud]}}
set: {{batch: 3, epochs: 2}}
conditions: [none, {{factor: no-anchors}}, {{factor: sep-1-3}}, {{factor: mine}}]
factors: {{mine: {{masking.share: 0.5}}}}
similarity: {{of: [pretrained], measures: [cka]}}
seeds: 2
"""
SETTINGS = """
corpora: {en: en.txt, fr: fr.txt, de: de.txt}
vocabulary: {size: 300}
shape: {layers: 2, width: 16, heads: 2, positions: 32}
batch: 4
steps: 4
validation: {lines: 6, every: 2}
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    for language, text in {**SENTENCES, "de": SENTENCES["en"]}.items():
        (folder / f"{language}.txt").write_text("\n".join(text * 4), "utf-8")
    (folder / "settings.yaml").write_text(SETTINGS)
    (folder / "study.yaml").write_text(STUDY.format(settings=folder / "settings.yaml"))
    return read_study(folder / "study.yaml")


@pytest.fixture(scope="module")
def done(study, treebanks, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "store"
    before = plan(study, Store(folder), corpora=None)
    report = run_study(study, folder, executor="serial", data=str(treebanks))
    return folder, before, report


@pytest.fixture(autouse=True)
def _data(treebanks, monkeypatch):
    monkeypatch.setenv("CROSSLENS_DATA", str(treebanks))


@pytest.fixture(scope="module", autouse=True)
def _data_of_the_module(treebanks):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CROSSLENS_DATA", str(treebanks))
        yield


def test_encoders_come_first_and_all_else_waits_for_them(done):
    _, before, report = done
    assert {each.run.label.split()[0] for each in before.runs} == {"pretrain"}
    assert len(before.runs) == 8
    assert before.waiting == 16
    assert not report.failed
    assert not report.plan.left
    assert len(report.plan.runs) == 24


def test_every_seed_has_an_encoder_of_two_languages(done):
    folder, _, report = done
    pretrained = [each.run for each in report.plan.runs if isinstance(each.run, PretrainRun)]
    digests = {load_encoder(folder / "runs" / run.id / "encoder", device="cpu").digest for run in pretrained}
    assert len(digests) == 8
    for run in pretrained:
        assert list(run.settings.corpora) == ["en", "fr"]
        told = json.loads((folder / "runs" / run.id / "run.json").read_text())
        assert told["encoder_digest"] in digests
        assert told["facts"]["steps"] == 4
    assert {each.run.base.digest for each in report.plan.runs if not isinstance(each.run, PretrainRun)} == digests


def test_records_tell_factors_apart_and_tables_show_their_differences(done):
    folder, _, _ = done
    results = read_results(folder / "studies" / "small" / "results.csv")
    frame = results.to_pandas()
    assert set(frame[frame["metric"] == "perplexity"]["target"]) == {"en", "fr"}
    scores = results.filter(metric="accuracy").to_pandas()
    assert set(scores["factor"].dropna()) == {"no-anchors", "sep-1-3", "mine"}
    assert set(scores["partner"]) == {"fr"}
    assert set(scores["target"]) == {"en", "fr"}
    assert {"reference", "Δ no-anchors", "Δ sep-1-3", "Δ mine"} <= set(
        results.filter(metric="accuracy").table().columns
    )
    alike = frame[frame["metric"] == "similarity"]
    assert set(alike["target"]) == {"fr"}
    assert len(alike) == 4 * 2 * 3


def test_the_same_call_again_does_nothing_and_another_factor_only_what_is_new(done, study, treebanks):
    folder, _, report = done
    again = run_study(study, folder, executor="serial", data=str(treebanks))
    assert [each.run.id for each in again.plan.runs] == [each.run.id for each in report.plan.runs]
    more = study.model_copy(
        update={"conditions": (*study.conditions, *read_study("pretraining-factors").conditions[4:5])}
    )
    planned = plan(more, Store(folder))
    assert [each.run.label for each in planned.left] == [f"pretrain en-fr sep-emb seed {seed}" for seed in (1, 2)]


def test_other_text_is_another_encoder(done, study, tmp_path, treebanks):
    folder, _, report = done
    for language in ("en", "fr", "de"):
        text = "\n".join(SENTENCES["en"] * 5)
        (tmp_path / f"{language}.txt").write_text(text, "utf-8")
    (tmp_path / "settings.yaml").write_text(SETTINGS)
    other = study.model_copy(update={"encoder": f"pretrain:{tmp_path / 'settings.yaml'}"})
    assert not {each.run.id for each in plan(other, Store(folder)).runs} & {each.run.id for each in report.plan.runs}


def test_only_encoders_of_the_conditions_are_pretrained(study, tmp_path):
    changed = study.model_copy(update={"conditions": study.conditions[1:2]})
    planned = plan(changed, Store(tmp_path), corpora=None)
    assert {each.run.condition.factor for each in planned.runs} == {"no-anchors"}


def test_one_pretraining_can_serve_all_seeds(study, tmp_path):
    planned = plan(study.model_copy(update={"pretrained": "one"}), Store(tmp_path / "store"))
    assert len(planned.runs) == 4


@pytest.mark.parametrize("pretrained", ["one", "each"])
def test_each_seed_has_its_own_untrained_encoder(done, study, pretrained):
    changed = study.model_dump() | {"similarity": {"of": ["untrained"]}, "conditions": ["none"]}
    asked = type(study).model_validate(changed | {"pretrained": pretrained})
    untrained = [each.run for each in plan(asked, Store(done[0])).runs if isinstance(each.run, EncoderRun)]
    assert [run.label for run in untrained] == ["encoder with fr 0-2 seed 1", "encoder with fr 0-2 seed 2"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("conditions: [{factor: no-anchors}]", "needs a pretraining study"),
        ("encoder: pretrain:lab\nconditions: [{factor: no-such}]", "there is no factor 'no-such'"),
        ("bilingual: [fr]", "bilingual: needs a pretraining study"),
        ("encoder: pretrain:lab\nbilingual: []", "bilingual: is empty"),
    ],
)
def test_studies_that_ask_what_cannot_be(tmp_path, text, reason):
    start = "name: x\ndata: lab\n" + ("" if "encoder" in text else "encoder: e\n")
    (tmp_path / "x.yaml").write_text(start + text + "\n")
    with pytest.raises(RequestError, match=reason):
        read_study(tmp_path / "x.yaml")


def test_settings_that_are_shipped_are_valid_and_others_are_refused(tmp_path):
    for name in [*pretrainings(), "lab", "lab:no-anchors"]:
        settings, _ = find_pretraining(name)
        assert settings.dictionaries or name in ("lab-decoder", "lab-encoder")  # whose text gets no anchors
        if name == "conneau2020":
            shape = settings.shape
            assert (shape.layers, shape.heads, shape.width, shape.positions) == (8, 12, 768, 256)
    with pytest.raises(RequestError, match="no pretraining settings 'conneau'"):
        find_pretraining("conneau")
    with pytest.raises(RequestError, match="no text of 'xx'"):
        plan(
            read_study(
                "pretraining-factors", overrides={"encoder": "pretrain:lab", "bilingual": "[xx]", "data": "lab"}
            ),
            Store(tmp_path / "store"),
        )


def test_the_papers_numbers_stand_beside_as_differences_to_its_default():
    paper = find_paper("conneau2020")
    assert paper.find("nli", ["en"], ["fr"], Condition()).value == 73.6
    assert paper.find("parsing", ["en"], ["zh"], Condition(factor="sep-emb-1-6")).value == pytest.approx(1.5 - 28.8)
    assert paper.find("ner", ["en"], ["x"], Condition(factor="no-anchors")).value == pytest.approx(65.6 - 68.1)
    assert paper.find("ner", ["en"], ["fr"], Condition(factor="wiki-cc")).value == pytest.approx(74.0 - 79.8)


ASKED = """
name: asked
encoder: lab:good
data: lab
tasks: [pos]
probes:
  - {probe: topic, train: "lab_topics/src:train[:200]", test: "lab_topics/src:test[:100]", of: [pretrained, untrained]}
overlap: true
conditions: [none]
set: {limit: 60, epochs: 1}
seeds: 1
"""


def test_probes_and_shared_subwords_are_parts_of_a_study(tmp_path, tiny_bert):
    (tmp_path / "asked.yaml").write_text(ASKED)
    study = read_study(tmp_path / "asked.yaml", overrides={"encoder": str(tiny_bert)})
    report = run_study(study, tmp_path / "store", executor="serial")
    assert not report.failed
    assert [each.run.label for each in report.plan.runs] == [
        "encoder reference seed 1",
        "encoder 0-4 seed 1",
        "pos src reference seed 1",
    ]
    frame = read_results(tmp_path / "store" / "studies" / "asked" / "results.csv").to_pandas()
    probed = frame[frame["measure"] == "probe topic"]
    assert set(probed["metric"]) == {"accuracy", "accuracy_shuffled", "train_accuracy_shuffled", "recall"}
    assert set(probed["layer"]) == set(range(5))
    assert set(probed["ablation"].fillna("")) == {"", "0-4"}
    shared = frame[frame["measure"] == "overlap_tokens"].set_index("target")["value"]
    assert set(shared.index) == {"src", "adj", "gen", "sov"}
    again = run_study(study, tmp_path / "store", executor="serial")
    assert not again.plan.left
    wider = study.model_copy(update={"data": "lab", "tasks": ("pos", "parsing")})
    left = plan(wider, Store(tmp_path / "store")).left
    assert [each.run.label for each in left] == ["parsing src reference seed 1"]  # the subwords are counted already


def test_a_probe_that_there_is_not(tmp_path):
    (tmp_path / "x.yaml").write_text("name: x\nencoder: e\nprobes: [{probe: langit, train: a, test: b}]\n")
    with pytest.raises(RequestError, match=r"no probe 'langit'.*langid"):
        read_study(tmp_path / "x.yaml")


def test_a_pair_is_a_row_of_its_own(study, treebanks, tmp_path):
    wide = study.model_copy(update={"bilingual": ("fr", "de"), "similarity": None, "conditions": study.conditions[:2]})
    run_study(wide, tmp_path / "store", executor="serial", data=str(treebanks))
    home = tmp_path / "store" / "studies" / "small"
    summary = pd.read_csv(home / "summary.csv")
    scores = read_results(home / "results.csv").filter(metric="accuracy").to_pandas()
    means = scores.groupby(["corpus", "partner", "condition"])["value"].mean()
    assert len(scores[(scores["target"] == "en") & (scores["condition"] == "none")]) == 4  # two pairs, two seeds
    assert len(summary) == len(means) == 2 * (1 + 2)  # each condition in fr with fr, and in en with fr and with de
    for _, row in summary.iterrows():
        assert row["mean"] == pytest.approx(means[row["corpus"], row["partner"], row["condition"]])
        assert row["seeds"] == 2


def test_a_search_in_bilingual_encoders_with_a_seed_of_its_own_ends(study, treebanks, tmp_path):
    """The search has encoders of its own seed; similarity is of the encoders of the study's seeds alone."""
    changed = {
        "name": "searched",
        "seeds": [1],
        "conditions": ["none", {"factor": "no-anchors"}],
        "grid": {"each": "condition", "best": 2, "seed": 7, "epochs": [1, 2]},
    }
    searched = type(study).model_validate({**study.model_dump(), **changed})
    report = run_study(searched, tmp_path, executor="serial", data=str(treebanks))
    assert (report.failed, report.plan.waiting, report.plan.left) == ((), 0, ())
    pretrained = [each.run for each in report.plan.runs if isinstance(each.run, PretrainRun)]
    assert sorted(run.settings.seed for run in pretrained) == [1, 1, 7, 7]
    results = Store(tmp_path).collect("searched")
    assert set(results.filter(metric="similarity").records["seed"].to_pylist()) == {1}
    scores = results.filter(metric="accuracy")
    assert set(scores.records["seed"].to_pylist()) == {1}
    assert scores.records["settings"].unique().to_pylist() == ["batch=3 epochs=tuned"]
    assert scores.table().columns.tolist() == ["reference", "Δ no-anchors"]


def test_adapted_encoders_are_as_many_as_the_pretrained_ones_that_they_start_from(study, treebanks, tmp_path):
    """One adaptation for all seeds (`starts: one`) of an encoder that each seed has for itself."""
    (tmp_path / "fr.txt").write_text("\n".join(SENTENCES["fr"] * 20), "utf-8")
    changed = study.model_dump() | {
        "name": "adapted",
        "bilingual": None,
        "similarity": None,
        "conditions": ["none", {"start": "adapted"}],
        "starts": "one",
        "adaptation": {"epochs": 1, "length": 16},
    }
    changed["data"]["tasks"]["pos"]["en"]["text"] = str(tmp_path / "fr.txt")
    for pretrained, encoders in (("each", "each"), ("one", "one")):
        asked = type(study).model_validate(changed | {"pretrained": pretrained})
        report = run_study(asked, tmp_path / pretrained, executor="serial", data=str(treebanks))
        assert (report.failed, report.plan.waiting) == ((), 0)
        assert any("seeds start from" in note for note in report.plan.notes) == (pretrained == "one")
        summary = pd.read_csv(tmp_path / pretrained / "studies" / "adapted" / "summary.csv")
        assert dict(zip(summary["label"], summary["encoders"], strict=True)) == dict.fromkeys(
            ("reference", "adapted"), encoders
        )
