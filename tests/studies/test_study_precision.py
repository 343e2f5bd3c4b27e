"""The precision of a study and of its conditions."""

from crosslens.encoders.condition import Condition
from crosslens.studies.study import read_study

LEAST = "name: mine\nencoder: e\ndata: lab\n"


def written(tmp_path, text):
    path = tmp_path / "study.yaml"
    path.write_text(LEAST + text, "utf-8")
    return path


def test_a_condition_may_name_the_precision_that_every_study_has(tmp_path):
    text = "conditions:\n  - none\n  - {layers: 1-2, precision: float32}\n"
    assert read_study(written(tmp_path, text)).conditions == (Condition(), Condition(layers="1-2"))


def test_a_condition_may_name_the_precision_that_its_study_has(tmp_path):
    text = "precision: bfloat16\nconditions:\n  - none\n  - {layers: 1-2, precision: bfloat16}\n"
    study = read_study(written(tmp_path, text))
    assert study.conditions == (Condition(), named := Condition(layers="1-2", precision="bfloat16"))
    assert study.computed(named) == named
