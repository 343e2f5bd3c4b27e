"""The demonstration in two seconds: few words, few steps, three conditions, one task; in one process."""

from crosslens.demo import demo
from crosslens.encoders.condition import Condition
from crosslens.lab import export
from crosslens.lab.laboratory import LaboratorySettings
from crosslens.lab.presets import LANGUAGES, PRESETS

SETTINGS = LaboratorySettings(languages={name: LANGUAGES[name] for name in ("src", "sov")}, sentences=200)
SHAPE = {"layers": 6, "width": 16, "heads": 2, "feedforward": 16, "positions": 32}
CONDITIONS = (Condition(), Condition(layers="1-2"), Condition(layers="0,all"))
PRETRAINING = {**export.PRETRAINING, "shape": SHAPE, "batch": 8}
STEPS_A_SENTENCE = 0.025


def smaller(made):
    """A demonstration with a smaller study."""
    similarity = made.study.similarity.model_copy(update={"sentences": 20})
    few = {"tasks": ("pos",), "conditions": CONDITIONS, "similarity": similarity, "set": {"limit": 50, "epochs": 1}}
    return demo.Demo(made.study.model_copy(update=few), made.introduction)


def shrink(set_item=lambda mapping, name, value: mapping.update({name: value}), set_name=setattr):
    """Make `crosslens demo` small in this process."""
    set_item(PRESETS, "good", SETTINGS)
    set_name(export, "PRETRAINING", PRETRAINING)
    set_name(export, "STEPS_A_SENTENCE", STEPS_A_SENTENCE)
    whole = demo.lab_demo
    set_name(demo, "lab_demo", lambda preset, *, seeds: smaller(whole(preset, seeds=seeds)))
    study = demo.run_study
    set_name(demo, "run_study", lambda *parts, **more: study(*parts, **{**more, "executor": "serial"}))
