"""Similarity of fine-tuned models whose states are changed, in a study."""

import pytest

from crosslens.corpora.parallel import load_parallel
from crosslens.encoders.condition import Condition
from crosslens.report.tables import all_tables
from crosslens.results.record import read_results
from crosslens.runs.corpora import Corpora
from crosslens.runs.store import Store
from crosslens.similarity.compare import compare
from crosslens.studies.plan import plan
from crosslens.studies.study import Similarity
from crosslens.training.distributed import threads
from crosslens.training.finetune import finetune
from crosslens.training.intervene import intervene
from crosslens.training.recipe import find_recipe
from toy_studies import results_of, run

NOISE, TURN = {"noise": "2.output", "noise_dose": 1}, {"rotate": "2.output", "degrees": 60}
SHIFT, AFTER = {"erase": "2.output"}, {"layers": "1", "noise": "2.output", "noise_dose": 1}
MEASURES = ("cka", "retrieval")


@pytest.fixture(scope="module")
def asked(study):
    conditions = tuple(Condition.read(value) for value in ("none", "1", NOISE, TURN, SHIFT, AFTER))
    similarity = Similarity(of=("fine-tuned", "changed"), measures=MEASURES)
    return study.model_copy(update={"conditions": conditions, "similarity": similarity, "seeds": (1, 2)})


@pytest.fixture(scope="module")
def folder(asked, treebanks, tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    run(asked, folder, treebanks)
    return folder


@pytest.fixture(scope="module")
def by_layer(folder):
    """Condition -> measure -> similarity by layer, of seed 1."""
    results = read_results(results_of(folder)).filter(metric="similarity", seed=1)
    values = {}
    for record in results:
        values.setdefault((record.condition, record.measure), {})[record.layer] = record.value
    return lambda keys, measure: values[Condition.read(keys).text, measure]


def test_layers_below_the_change_are_as_they_were(by_layer):
    for keys in (NOISE, TURN, SHIFT):
        for measure in MEASURES:
            changed, unchanged = by_layer(keys, measure), by_layer("none", measure)
            assert len(changed) > 3
            assert {layer: changed[layer] for layer in (0, 1)} == {layer: unchanged[layer] for layer in (0, 1)}


def test_noise_moves_cka_and_neither_rotation_nor_a_shift_does(by_layer):
    """CKA of centred states is the same for every rotation and every shift of one side (Kornblith et al. 2019)."""
    unchanged = by_layer("none", "cka")[2]
    assert abs(by_layer(NOISE, "cka")[2] - unchanged) > 0.01  # six sentences: up or down
    for keys in (TURN, SHIFT):
        assert by_layer(keys, "cka")[2] == pytest.approx(unchanged, abs=1e-4)


@pytest.mark.parametrize("keys", [NOISE, SHIFT])
def test_it_is_the_similarity_to_the_unchanged_source_language(folder, encoder, toy, treebanks, keys):
    recipe = find_recipe("small", "pos", {"batch": 2, "epochs": 2})
    parallel = load_parallel("ud/pud", data=str(treebanks))
    with threads(1):  # as the processes of a study
        model = finetune(encoder, "pos", train=toy("train"), recipe=recipe)
        changed = intervene(model, keys, seed=1, reference=toy("train"))
        alone = compare(model.encoder, parallel, pairs=["en-fr"], measures=["cka"], against=changed.encoder)
    recorded = read_results(results_of(folder)).filter(measure="cka", seed=1, condition=Condition.read(keys).text)
    assert len(recorded) == encoder.depth + 1
    assert [record.value for record in recorded] == [record.value for record in alone]
    assert {record.settings for record in recorded} == {record.settings for record in recorded.filter(layer=0)}
    assert not any("against" in (record.settings or "") for record in recorded)


def test_a_condition_before_training_keeps_its_own_reference(by_layer):
    assert by_layer(AFTER, "cka")[1] == by_layer("1", "cka")[1] != by_layer("none", "cka")[1]


def test_exchanged_weights_and_translated_states_are_not_compared(asked, treebanks, tmp_path):
    conditions = tuple(
        Condition.read(keys) for keys in ("none", {"revert": "2"}, {"patch": "2.output", "patch_by": "sentences"})
    )
    planned = plan(
        asked.model_copy(update={"conditions": conditions}), Store(tmp_path), corpora=Corpora(str(treebanks))
    )
    kinds = [question.kind for each in planned.runs for question in each.questions]
    assert "intervened score" in kinds
    assert "intervened similarity" not in kinds
    assert kinds.count("similarity") == 2 * len(MEASURES)


def test_other_tables_and_lines_leave_changed_models_out(folder):
    tables = {table.name: table for table in all_tables(read_results(results_of(folder)))}
    assert len(tables["dose-response"].groups) == 3
    rows = [row.label for group in tables["similarity-cka"].groups.values() for row in group]
    assert rows
    assert not any("noise" in label for label in rows)


@pytest.mark.parametrize(("state", "kind"), [("fine-tuned", "similarity"), ("changed", "intervened similarity")])
def test_similarity_is_that_of_the_models_which_the_study_names(asked, treebanks, tmp_path, state, kind):
    conditions = tuple(Condition.read(keys) for keys in ("none", NOISE))
    changes = {"conditions": conditions, "similarity": Similarity(of=(state,), measures=MEASURES)}
    planned = plan(asked.model_copy(update=changes), Store(tmp_path), corpora=Corpora(str(treebanks)))
    kinds = [question.kind for each in planned.runs for question in each.questions if "similarity" in question.kind]
    assert kinds == [kind] * len(MEASURES) * len(asked.seeds)
