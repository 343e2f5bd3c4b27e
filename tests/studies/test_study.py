from pathlib import Path

import pytest

from crosslens.encoders.condition import Condition
from crosslens.encoders.layers import parse_layers
from crosslens.errors import RequestError
from crosslens.lab.presets import find_laboratory
from crosslens.studies.data_sets import find_data
from crosslens.studies.study import Study, data_sets, library, read_study
from crosslens.tasks import TASKS
from crosslens.training.recipe import find_recipe

CORPORA = "name: mine\nencoder: e\ndata:\n  tasks:\n    pos:\n      src:\n        train: lab/src\n"
LEAST = "name: mine\nencoder: e\ndata: lab\n"


def write(tmp_path, text):
    path = tmp_path / "study.yaml"
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize("name", [*library(), *(f"{name} on the laboratory" for name in library())])
def test_every_shipped_study_is_valid(name):
    on_the_lab = name.endswith("laboratory")
    name = name.split()[0]
    settings = {}
    if on_the_lab:
        pretrains = read_study(name).pretrains
        settings = {"encoder": "pretrain:lab" if pretrains else "lab:demo", "data": "lab"}
    study = read_study(name, overrides=settings)
    assert study.name == name
    assert study.about.endswith("?") or study.about.endswith(".")
    data = find_data(study.data)
    assert data.tasks or study.probes
    for task, sources in data.tasks.items():
        if study.tasks is None or task in study.tasks:
            for condition in study.conditions:
                find_recipe(condition.recipe or study.recipe or data.recipe, task, study.set)
        assert set(study.sources or ()) <= set(sources)
    for depth in (4, 6, 12, 24):
        for condition in study.conditions:
            for scaled in condition.each(written_for=study.depth, depth=depth, heads=2):
                for intervention in scaled.interventions:
                    if intervention.acts_on:
                        assert parse_layers(intervention.acts_on, depth)


@pytest.mark.parametrize("name", data_sets())
def test_every_shipped_set_of_corpora_is_valid(name):
    data = find_data(name)
    assert set(data.tasks) <= set(TASKS)
    assert data.tasks or data.parallel
    for sources in data.tasks.values():
        for source in sources.values():
            assert source.tests


def test_the_papers_grid_is_seventeen_languages_three_sources_and_seven_conditions():
    study = read_study("first-align-then-predict")
    data = find_data(study.data)
    assert {task: list(its) for task, its in data.tasks.items()} == {
        task: ["en", "ru", "ar"] for task in ("pos", "parsing", "ner")
    }
    assert all(len(set(source.tests)) == 17 for its in data.tasks.values() for source in its.values())
    assert len(study.conditions) * len(study.seeds) * 9 == 315


def test_short_forms(tmp_path):
    study = read_study(
        write(tmp_path, LEAST + "conditions: [none, 1, 1-2, {layers: all, components: ffn}, {freeze: 0-3}]\nseeds: 3\n")
    )
    assert study.seeds == (1, 2, 3)
    assert study.conditions == (
        Condition(),
        Condition(layers="1"),
        Condition(layers="1-2"),
        Condition(layers="all", components="ffn"),
        Condition(freeze="0-3"),
    )


def test_norwegian_is_a_language(tmp_path):
    text = "name: mine\nencoder: e\nsources: [no, en]\ndata:\n  tasks:\n    pos:\n"
    text += "      no: {train: ud/no_bokmaal, tests: [no.conllu]}\n"
    study = read_study(write(tmp_path, text))
    assert study.sources == ("no", "en")
    assert list(study.data.tasks["pos"]) == ["no"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (LEAST + "condtions: [none]\n", "study.yaml:4: condtions: unknown setting; did you mean 'conditions'"),
        (
            LEAST + "grid: {learning_rat: [1]}\n",
            "study.yaml:4: grid.learning_rat: unknown setting; did you mean 'learn",
        ),
        (
            LEAST + "similarity:\n  sentencs: 5\n",
            "study.yaml:5: similarity.sentencs: unknown setting; did you mean 'sen",
        ),
        (LEAST + "select: {rule: last, oracle: x}\n", "select.0: an oracle needs the rule best, not last"),
        (
            LEAST + "select: [best, {rule: average, oracle: x}]\n",
            "study.yaml:4: select.1: an oracle needs the rule best, not average",
        ),
        (
            LEAST + "select: [last, {orcale: x}]\n",
            "study.yaml:4: select.1.orcale: unknown setting; did you mean 'oracle'",
        ),
        (LEAST + "set:\n  epoch: 3\n", "study.yaml:5: set.epoch: unknown setting; did you mean 'epochs'"),
        (LEAST + "tasks: [pos]\nset:\n  tags: gold\n", "study.yaml:6: set.tags: unknown setting"),
        (LEAST + "tasks: [pos]\nset: {epochs: x}\n", "study.yaml:5: set: epochs=x: expected a"),
        (
            LEAST + "recipe: small\ntasks: [pos]\nset: {epoch: 3}\n",
            "study.yaml:6: set.epoch: unknown setting; did you mean 'epochs'",
        ),
        (
            LEAST + "similarity:\n  measures: [cka, ckaa]\n",
            "study.yaml:5: similarity.measures.1: there is no measure 'ckaa' (did you mean 'cka'?)",
        ),
        (LEAST + "seeds: true\n", "study.yaml:4: seeds: expected the number of seeds, or a list of seeds"),
        (LEAST + "probes:\n  - probe: langd\n    train: a\n    test: b\n", "study.yaml:5: probes.0.probe: there is no"),
        (
            CORPORA + "        devv: x\n        tests: [lab/src]\n",
            "study.yaml:8: data.tasks.pos.src.devv: unknown setting;",
        ),
        (CORPORA + "        tests: lab/src\n", "study.yaml:8: data.tasks.pos.src.tests: expected a list"),
        (CORPORA + "        tests: []\n", "study.yaml:8: data.tasks.pos.src.tests: is empty"),
        (CORPORA.replace("pos:", "poss:") + "        tests: [a]\n", "study.yaml:5: data.tasks.poss: there is no task"),
        (
            "name: mine\nencoder: e\ndata: 5\n",
            "study.yaml:3: data: expected settings of the form `name: value` or text",
        ),
        (LEAST + "seeds: [true]\n", "study.yaml:4: seeds.0: expected an integer"),
        (LEAST + "tasks: [pos, poss]\n", "study.yaml:4: tasks.1: there is no task 'poss' (did you mean 'pos'?)"),
        (LEAST + "tasks: [poss]\n", "there is no task 'poss' (did you mean 'pos'?)"),
        (LEAST + "tasks: [pos]\nrecipe: smal\n", "there is no recipe 'smal' for pos (did you mean 'small'?)"),
        (LEAST + "seeds: 0\n", "study.yaml:4: seeds: expected at least one seed"),
        (LEAST + "seeds: -1\n", "study.yaml:4: seeds: expected at least one seed"),
        (LEAST.replace("mine", "My study"), "study.yaml:1: name: expected small letters and digits, joined by hyphens"),
        (LEAST + "seeds: [1, 1, 2]\n", "study.yaml:4: seeds: has duplicates: 1"),
        (
            LEAST + "conditions: [none, {layers: 1-2}, {layers: 1-2}]\n",
            "study.yaml:4: conditions: has duplicates: 1-2",
        ),
        (
            LEAST + "precision: bfloat16\nconditions:\n  - none\n  - {layers: 1-2, precision: float32}\n",
            "conditions.1.precision: the study computes in bfloat16; give bfloat16 to the conditions that need it",
        ),
        (
            LEAST + "precision: bfloat16\nset: {precision: float32}\n",
            "study.yaml:4: precision: the precision is given here and in set; leave it out of set",
        ),
        (
            LEAST + "set: {precision: bfloat16}\nconditions:\n  - none\n  - {layers: 1-2, precision: float32}\n",
            "conditions.1.precision: the precision is given here and in set; leave it out of set",
        ),
        (
            LEAST + "set: {precision: float32}\nconditions: [[{noise: 1}, {noise: 2}, {precision: bfloat16}]]\n",
            "conditions.0.precision: the precision is given here and in set; leave it out of set",
        ),
        (LEAST + "conditions: []\n", "study.yaml:4: conditions: is empty"),
        (LEAST + "depth: 12\nconditions: [none, 1-13]\n", "study.yaml:5: conditions.1: layer 13 does not exist"),
        (
            LEAST + "conditions: [{layer: 1}]\n",
            "study.yaml:4: conditions.0.layer: unknown setting; did you mean 'layers'",
        ),
        (
            LEAST + "conditions: [{random_init: 1-2}]\n",
            "study.yaml:4: conditions.0.random_init: unknown setting; did you mean 'layers'",
        ),
        *(
            (LEAST + f"conditions:\n  - none\n  - {{{keys}}}\n", f"study.yaml:6: conditions.1.{setting}: invalid layer")
            for setting, keys in {
                "mean": "mean: 0-x",
                "layers": "layers: 3-1",
                "lora_layers": "lora: 2, lora_layers: x",
                "swap": "swap: 1-, swap_from: adapted",
            }.items()
        ),
        (LEAST + "grid: {epochs: [1, 2], batch: [8, 9, 8]}\n", "study.yaml:4: grid.batch: has duplicates: 8"),
        (LEAST + "grid: {each: seed}\n", "study.yaml:4: grid.each: input should be 'condition' or 'task'"),
        ("name: My Study\nencoder: e\ndata: lab\n", "study.yaml:1: name: "),
        ("name: mine\ndata: lab\n", "encoder: field required"),
        ("- a\n- b\n", "expected settings"),
        ("name: mine\n\tseeds: 2\n", "study.yaml:2: invalid YAML"),
    ],
)
def test_mistakes_are_named_with_their_place(tmp_path, text, words):
    with pytest.raises(RequestError) as caught:
        read_study(write(tmp_path, text))
    assert words in str(caught.value)
    for word in ("data.data", "data.str", "tuple", "value error", ": :", "none is known"):
        assert word not in str(caught.value).lower()


@pytest.mark.parametrize(
    ("condition", "hint"),
    [
        ("{erase: 1.output, erase_to: ud/en_pud}", "leave out erase_to"),
        ("{patch: 1.output, patch_from: ud/en_pud}", "leave out patch_from"),
        ("{patch: 1.output, patch_by: sentences, patch_digest: '0123'}", "leave out patch_from"),
        ("{erase: 1.output, erase_digest: '0123'}", "leave out erase_to"),
        ("{swap: 1, swap_from: other}", "write swap_from: adapted"),
    ],
)
def test_corpora_and_models_of_interventions_are_those_of_the_study(tmp_path, condition, hint):
    with pytest.raises(RequestError, match=f"in a study, .*{hint}"):
        read_study(write(tmp_path, LEAST + f"conditions: [none, {condition}]\n"))


def test_all_mistakes_at_once(tmp_path):
    with pytest.raises(RequestError) as caught:
        read_study(write(tmp_path, LEAST + "seeds: x\nkeep: [all]\nencodre: f\n"))
    assert len(str(caught.value).splitlines()) == 3


def test_overrides(tmp_path):
    path = write(tmp_path, LEAST)
    study = read_study(path, overrides={"seeds": "[4, 5]", "set.limit": "10", "similarity.sentences": "50"})
    assert study.seeds == (4, 5)
    assert study.set == {"limit": 10}
    assert study.similarity.sentences == 50


def test_what_there_is_not(tmp_path):
    with pytest.raises(RequestError, match="no study 'first-align'"):
        read_study("first-align")
    with pytest.raises(RequestError, match="there is no settings file"):
        read_study(tmp_path / "none.yaml")
    with pytest.raises(RequestError, match=r"a name or a file, not a dict \(xl.Study\(\*\*settings\)"):
        read_study({"name": "mine"})
    with pytest.raises(RequestError, match="no set of corpora 'muller'"):
        find_data("muller")
    with pytest.raises(RequestError, match="muller2021 has no source 'fr'"):
        find_data("muller2021:fr")
    with pytest.raises(RequestError, match="unknown preset 'god'"):
        find_data("lab:god")


@pytest.mark.parametrize(
    ("layers", "depth", "scaled"),
    [
        ("1-2", 12, "1-2"),
        ("1-2", 6, "1"),
        ("3-4", 6, "2"),
        ("11-12", 6, "6"),
        ("1-2", 24, "1-4"),
        ("12", 24, "23-24"),
        ("all", 4, "1-4"),
        ("0", 6, "0"),
        ("0,all", 6, "0-6"),
        ("1-2", 4, "1"),
        ("3-4", 4, "1-2"),
        ("7-9", 4, "3"),
    ],
)
def test_layers_of_another_depth(layers, depth, scaled):
    assert Condition(layers=layers).scaled(written_for=12, depth=depth) == Condition(layers=scaled)


def test_another_world_of_a_preset():
    assert find_laboratory("good-w3").settings.seed == 3
    assert find_laboratory("good-w3").name("sov") == "lab/sov_good_w3"
    assert find_laboratory("demo").settings == find_laboratory("good").settings
    assert find_data("lab:good-w3").tasks["pos"]["src"].train == "lab/src_good_w3"


def test_a_study_is_never_changed():
    study = Study(name="mine", encoder="e", data="lab")
    with pytest.raises(ValueError):
        study.name = "yours"


def test_dev_data_are_read_where_any_rule_of_selection_needs_them():
    small = find_recipe("small", "pos", {})

    def reads(**settings):
        return Study(name="mine", encoder="e", data="lab", **settings).reads_dev(small)

    assert reads(select=[{"rule": "best"}, {"rule": "last"}])
    assert not reads(select=[{"rule": "last"}, {"rule": "best", "oracle": "mean"}])


def test_a_file_is_suggested_for_its_name_without_the_ending(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text(LEAST)
    with pytest.raises(RequestError, match=r"there is no study 'mine' \(did you mean mine\.yaml\?\)"):
        read_study("mine")
    with pytest.raises(RequestError, match=r"there is no study 'smok' \(a file ends in \.yaml; did you mean 'smoke'"):
        read_study("smok")
