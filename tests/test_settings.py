"""Settings as a person writes them, after --set: text, whatever type they are of."""

from itertools import pairwise
from typing import Any, Literal, get_args, get_origin

import pytest
from pydantic import BaseModel, model_validator

from crosslens.errors import RequestError
from crosslens.lab.presets import find_laboratory
from crosslens.mlm.adapt_settings import Adaptation
from crosslens.mlm.pretrain_settings import Masking
from crosslens.probes import PROBES, find_probe
from crosslens.settings import Strict, read_settings, replace_settings
from crosslens.studies.study import Data, Study
from crosslens.tasks import TASKS, find_task
from crosslens.training.recipe import RECIPES

EVERY: dict[str, Any] = {
    **TASKS,
    **PROBES,
    **{f"recipe {name}": recipe for name, recipe in RECIPES.items()},
    "adaptation": Adaptation(),
    "laboratory": find_laboratory().settings,
}


def _choices(annotation: Any) -> list[Any]:
    """The values that a setting's type names one by one."""
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    return [choice for inner in get_args(annotation) for choice in _choices(inner)]


@pytest.mark.parametrize("name", EVERY)
def test_a_setting_written_as_text_is_the_setting(name):
    """Each value that a model has by default, and each that its type names."""
    usual = EVERY[name]
    tried = 0
    for setting, field in type(usual).model_fields.items():
        value = getattr(usual, setting)
        if isinstance(value, dict | BaseModel):
            continue
        written = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
        if written:
            assert replace_settings(usual, {setting: written}, what=name) == usual, setting
            tried += 1
        for choice in _choices(field.annotation):
            try:
                as_value = replace_settings(usual, {setting: choice}, what=name)
            except RequestError:  # it does not go with the other settings
                continue
            assert replace_settings(usual, {setting: str(choice)}, what=name) == as_value, (setting, choice)
            tried += 1
    assert tried or not type(usual).model_fields


@pytest.mark.parametrize("find", [lambda its: find_probe("langid", its), lambda its: find_task("document", its)])
def test_first_sentences_are_one_or_two_or_all(find):
    assert [find({"sentences": its}).sentences for its in ("all", "1", "2", 2)] == ["all", 1, 2, 2]
    for wrong in ("3", "0", "few"):
        with pytest.raises(RequestError, match=f"sentences={wrong}"):
            find({"sentences": wrong})


class Span(Strict):
    """Settings of which one limits the other, as in a plug-in."""

    low: int = 1
    high: int = 2

    @model_validator(mode="after")
    def _ordered(self) -> "Span":
        if self.low > self.high:
            raise ValueError("low is above high")
        return self


def test_settings_that_do_not_go_together_are_named_with_what_they_are_of():
    assert replace_settings(Span(), {"low": "3", "high": "3"}, what="the probe span") == Span(low=3, high=3)
    with pytest.raises(RequestError, match=r"^the probe span: low is above high$"):
        replace_settings(Span(), {"low": "3"}, what="the probe span")


def test_overrides_are_values_or_their_yaml(tmp_path):
    (tmp_path / "s.yaml").write_text("tasks: {pos: {en: {train: a, tests: [b]}}}\n")
    values = {"tasks.pos.en.tests": ["y", "z"], "tasks.pos.fr": {"train": "c", "tests": ("d",)}}
    written = {"tasks.pos.en.tests": "[y, z]", "tasks.pos.fr": "{train: c, tests: [d]}"}
    read = [read_settings(tmp_path / "s.yaml", Data, overrides=overrides) for overrides in (values, written)]
    assert read[0] == read[1]
    assert read[0].tasks["pos"]["fr"].tests == ("d",)


def test_an_override_changes_one_setting_and_no_alias_of_it(tmp_path):
    sources = "{pos: {en: &en {train: a, tests: [b]}}, ner: {en: *en, de: {<<: *en, train: c}}}"
    (tmp_path / "s.yaml").write_text(f"tasks: {sources}\n")
    data = read_settings(tmp_path / "s.yaml", Data, overrides={"tasks.pos.en.train": "x", "tasks.ner.de.tests": "[y]"})
    trained = {(task, name): (each.train, each.tests) for task in data.tasks for name, each in data.tasks[task].items()}
    assert trained == {("pos", "en"): ("x", ("b",)), ("ner", "en"): ("a", ("b",)), ("ner", "de"): ("c", ("y",))}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "a: &a [x, x]\n"
            + "".join(f"{new}: &{new} [{','.join([f'*{old}'] * 10)}]\n" for old, new in pairwise("abcdefghi")),
            "more than 100,000 values",
        ),
        ("name: " + "{a: " * 3000 + "1" + "}" * 3000, "nested too deeply"),
        ("&all\nname: *all\n", "more than 100,000 values"),
    ],
    ids=["aliases of aliases", "deep", "settings inside themselves"],
)
def test_files_that_would_fill_the_memory_are_refused_at_once(tmp_path, text, words):
    (tmp_path / "s.yaml").write_text(text)
    with pytest.raises(RequestError, match=words):
        read_settings(tmp_path / "s.yaml", Adaptation)


def test_a_settings_file_with_a_nearly_equal_name_is_suggested(tmp_path):
    (tmp_path / "pretrain.yaml").write_text("size: 1\n")
    with pytest.raises(RequestError, match=r"did you mean 'pretrain\.yaml'\?"):
        read_settings(tmp_path / "pretrian.yaml", Adaptation)


def test_a_part_of_a_setting_is_replaced_by_its_dotted_name():
    """As in a settings file: what an adaptation masks, the size of a world, the grammar of one language."""
    adaptation = replace_settings(Adaptation(), {"masking.share": "0.3", "epochs": "2"}, what="an adaptation")
    assert adaptation == Adaptation(epochs=2, masking=Masking(share=0.3))
    usual = EVERY["laboratory"]
    changed = replace_settings(usual, {"world.nouns": "40", "languages.sov.order": "VSO"}, what="a laboratory")
    assert (changed.world.nouns, changed.languages["sov"].order) == (40, "VSO")
    assert changed.languages["gen"] == usual.languages["gen"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"masking.shared": "0.3"}, r"an adaptation has no setting 'masking\.shared'.*'masking\.share'"),
        ({"maskin.share": "0.3"}, r"an adaptation has no setting 'maskin\.share'"),
        ({"epochs.share": "0.3"}, r"an adaptation has no setting 'epochs\.share'"),
        ({"masking.share": "2"}, r"^masking\.share=2: input should be less than 1"),
        ({"masking.masked": "1"}, r"^masking: masked and replaced add up to more than 1"),
        ({"masking": "0.3"}, r"^masking=0\.3: expected settings"),
    ],
)
def test_a_wrong_part_of_a_setting_is_named_with_what_it_is_part_of(settings, message):
    with pytest.raises(RequestError, match=message):
        replace_settings(Adaptation(), settings, what="an adaptation")


def test_wrong_settings_in_python_are_refused_in_the_words_of_a_file():
    with pytest.raises(RequestError) as error:
        Study(name="smoke", sedes=3)  # type: ignore[call-arg]
    assert str(error.value) == (
        "invalid settings of Study: encoder: field required; sedes: unknown setting; did you mean 'seeds'?"
    )
    for settings in ("fast", 3, ["epochs"]):
        with pytest.raises(RequestError, match=f"the settings of an adaptation cannot be a {type(settings).__name__}"):
            replace_settings(Adaptation(), settings, what="an adaptation")  # type: ignore[arg-type]
