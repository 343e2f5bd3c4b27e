"""Probes of the encoders that a study pretrains."""

from crosslens.runs.question import ProbeQuestion
from crosslens.runs.run import EncoderRun
from crosslens.studies.run_study import run_study
from crosslens.studies.study import read_study

STUDY = """
name: probed
encoder: pretrain:{settings}
bilingual: [adj]
data: lab
tasks: [pos]
sources: [src]
conditions: [none, {{factor: sep-1-3}}]
probes: [{{probe: {probe}, train: '{train}', test: '{test}', of: [pretrained, untrained]}}]
seeds: 1
"""
SETTINGS = """
corpora: {src: 'lab/src[:60]', adj: 'lab/adj[:60]'}
vocabulary: {size: 400}
shape: {layers: 4, width: 16, heads: 2, positions: 64}
batch: 4
steps: 2
validation: {lines: 6}
"""


def study(folder, **words):
    (folder / "settings.yaml").write_text(SETTINGS)
    (folder / "study.yaml").write_text(STUDY.format(settings=folder / "settings.yaml", **words))
    return read_study(folder / "study.yaml")


def probed(planned):
    return [
        each.run.label
        for each in planned.runs
        if isinstance(each.run, EncoderRun) and any(isinstance(asked, ProbeQuestion) for asked in each.questions)
    ]


def test_encoders_with_parameters_for_each_language_are_not_probed_on_texts_whose_language_is_the_label(tmp_path):
    """They cannot read a text without knowing its language; the others are probed, and the study ends."""
    texts = study(tmp_path, probe="langid", train="lab_langid/all:train", test="lab_langid/all:test")
    report = run_study(texts, tmp_path / "store", executor="serial")
    assert report.failed == ()
    assert report.plan.left == ()
    labels = probed(report.plan)
    assert len(labels) == 2  # pretrained and untrained
    assert not any("sep-1-3" in label for label in labels)
    (note,) = (note for note in report.plan.notes if note.startswith("probe "))
    assert note.startswith("probe langid: not of sep-1-3, whose encoders have separate parameters for each language:")
    assert "lab_langid/all:train" in note


def test_encoders_with_parameters_for_each_language_are_probed_on_corpora_of_one(tmp_path):
    words = study(tmp_path, probe="upos", train="lab/src:train[:40]", test="lab/adj:test[:40]")
    report = run_study(words, tmp_path / "store", executor="serial")
    assert (report.failed, report.plan.left) == ((), ())
    labels = probed(report.plan)
    assert len(labels) == 4
    assert sum("sep-1-3" in label for label in labels) == 2
    assert not any(note.startswith("probe ") for note in report.plan.notes)
