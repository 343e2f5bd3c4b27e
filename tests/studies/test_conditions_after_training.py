"""Interventions on trained models as conditions of a study."""

from dataclasses import replace

import pandas as pd
import pytest

from crosslens.encoders.condition import Condition
from crosslens.errors import RequestError
from crosslens.report.tables import all_tables
from crosslens.results.record import read_results
from crosslens.runs.corpora import Corpora
from crosslens.runs.execute import Context, execute
from crosslens.runs.store import Store
from crosslens.studies.plan import merged, plan
from crosslens.studies.study import Study, read_study
from crosslens.training.evaluate import evaluate
from crosslens.training.finetune import finetune
from crosslens.training.intervene import intervene
from crosslens.training.recipe import find_recipe
from toy_studies import results_of, run

ZERO, RESAMPLE, BOTH = {"zero": "1-2"}, {"resample": "1-2"}, {"layers": "1", "mean": "3.ffn"}


@pytest.fixture(scope="module")
def folder(study, treebanks, tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    conditions = tuple(Condition.read(value) for value in ("none", "1", ZERO, RESAMPLE, BOTH))
    run(study.model_copy(update={"conditions": conditions}), folder, treebanks)
    return folder


def test_conditions_after_training_share_the_runs_of_those_before(folder):
    frame = read_results(results_of(folder)).to_pandas()
    assert frame["condition"].nunique() == 5
    assert frame["run"].nunique() == 4  # two seeds, with and without re-initialisation
    runs = {condition: set(rows["run"]) for condition, rows in frame.groupby("condition")}
    assert runs["none"] == runs['{"zero": "1-2"}'] == runs['{"resample": "1-2"}']
    assert runs['{"layers": "1"}'] == runs['{"layers": "1", "mean": "3.ffn"}']
    assert set(frame[frame["condition"] == '{"zero": "1-2"}']["layers"]) == {"1-2"}
    assert set(frame[frame["condition"] == '{"layers": "1", "mean": "3.ffn"}']["ablation"]) == {"1"}


def test_a_score_is_that_of_the_same_model_and_intervention_alone(folder, encoder, toy, treebanks):
    recipe = find_recipe("small", "pos", {"batch": 2, "epochs": 2})
    model = finetune(encoder, "pos", train=toy("train"), recipe=recipe, seed=2)
    tests = [Corpora(str(treebanks)).corpus(name) for name in ("ud/en_pud", "ud/fr_pud")]
    frame = read_results(results_of(folder)).filter(metric="accuracy", seed=2).to_pandas()
    for keys in (ZERO, RESAMPLE):
        alone = evaluate(intervene(model, keys, seed=2), tests).filter(metric="accuracy").to_pandas()
        rows = frame[frame["condition"] == Condition.read(keys).text]
        assert rows["value"].tolist() == alone["value"].tolist()
        assert len(rows) == 2


def test_intervals_and_tests_are_those_of_any_condition(folder):
    summary = pd.read_csv(folder / "studies" / "toy" / "summary.csv")
    zero = summary[summary["condition"] == '{"zero": "1-2"}']
    assert len(zero) == 2
    assert zero[["mean", "low", "high", "delta", "delta_low", "delta_high", "p"]].notna().all().all()
    assert (zero["seeds"] == 2).all()
    reference = summary[summary["condition"] == "none"].set_index("corpus")["mean"]
    for row in zero.to_dict("records"):
        assert row["delta"] == pytest.approx(row["mean"] - reference[row["corpus"]])


def test_an_intervention_more_is_asked_of_the_finished_runs(folder, study, treebanks):
    conditions = tuple(Condition.read(value) for value in ("none", ZERO, {"revert": "2"}))
    more = study.model_copy(update={"conditions": conditions})
    planned = plan(more, Store(folder), corpora=Corpora(str(treebanks)))
    assert [[question.kind for question in left.questions] for left in planned.left] == [["intervened score"] * 2] * 2
    before = {path.name for path in (folder / "runs").iterdir()}
    run(more, folder, treebanks)
    assert {path.name for path in (folder / "runs").iterdir()} == before
    assert read_results(results_of(folder)).filter(condition='{"revert": "2"}').records.num_rows > 0


def test_the_table_has_interventions_as_rows_and_other_tables_leave_them_out(folder, study, treebanks):
    conditions = tuple(Condition.read(value) for value in ("none", "1-2", ZERO, RESAMPLE))
    run(study.model_copy(update={"conditions": conditions}), folder, treebanks)
    tables = {table.name: table for table in all_tables(read_results(results_of(folder)))}
    table = tables["interventions"]
    assert table.head == ("1-2",)
    ((_, rows),) = table.groups.items()
    assert [row.label for row in rows] == [
        f"{treatment}: {name}"
        for treatment in ("re-initialised", "zero", "resample")
        for name in ("same language", "zero-shot")
    ]
    frame = read_results(results_of(folder)).filter(metric="accuracy").to_pandas()
    means = frame.groupby(["condition", "target"])["value"].mean()
    assert rows[3].cells[0].value == pytest.approx(means['{"zero": "1-2"}', "fr"] - means["none", "fr"])
    assert len(tables["layer-deltas"].head) == 2


def test_erasing_moves_states_to_the_mean_of_the_training_corpus(study, encoder, toy, treebanks, tmp_path):
    erase = {"erase": "2.output"}
    conditions = (Condition(), Condition.read(erase))
    short = study.model_copy(update={"conditions": conditions, "seeds": (2,)})
    planned = plan(short, Store(tmp_path), corpora=Corpora(str(treebanks)))
    fitted = [question for asked in planned.asked for question in asked.questions if question.kind == "fitted score"]
    assert {question.reference.digest for question in fitted} == {toy("train").digest}
    run(short, tmp_path, treebanks)
    recipe = find_recipe("small", "pos", {"batch": 2, "epochs": 2})
    model = intervene(
        finetune(encoder, "pos", train=toy("train"), recipe=recipe, seed=2), erase, reference=toy("train")
    )
    alone = evaluate(model, [Corpora(str(treebanks)).corpus(name) for name in ("ud/en_pud", "ud/fr_pud")])
    frame = read_results(results_of(tmp_path)).filter(metric="accuracy", condition=conditions[1].text).to_pandas()
    assert frame["value"].tolist() == alone.filter(metric="accuracy").to_pandas()["value"].tolist()
    assert len(frame) == 2
    path = tmp_path / "erase.yaml"
    path.write_text("name: e\nencoder: e\nconditions: [none, {erase: 1, erase_to: ud/en_pud}]\n", "utf-8")
    with pytest.raises(RequestError, match="leave out erase_to"):
        read_study(path)


def test_one_intervention_that_reads_the_training_corpus_is_enough_for_it_to_be_read(study, toy, treebanks, tmp_path):
    conditions = (Condition(), Condition.read({"zero": "1.ffn", "erase": "2.output"}))
    planned = plan(
        study.model_copy(update={"conditions": conditions}), Store(tmp_path), corpora=Corpora(str(treebanks))
    )
    questions = [question for asked in planned.asked for question in asked.questions if question.kind != "score"]
    assert len(questions) == 2 * 2  # seeds, test corpora
    assert {(question.kind, question.reference.digest) for question in questions} == {
        ("fitted score", toy("train").digest)
    }


def ids_of(study, folder, treebanks):
    asked = plan(study, Store(folder), corpora=Corpora(str(treebanks))).asked
    return {question.id for each in asked for question in each.questions}


def test_patching_takes_the_translations_of_the_parallel_test_corpus(study, encoder, toy, treebanks, tmp_path):
    english, french = (Corpora(str(treebanks)).corpus(f"ud/{name}_pud") for name in ("en", "fr"))
    links = tmp_path / "fr.links"
    links.write_text("0-0 1-1 2-2\n" * len(english), "utf-8")
    by_words = {"patch": "2.output", "patch_links": str(tmp_path / "{language}.links")}
    by_sentences = {"patch": "2.output", "patch_by": "sentences"}
    conditions = (Condition(), Condition.read(by_words), Condition.read(by_sentences))
    short = study.model_copy(update={"conditions": conditions, "seeds": (2,)})
    before = ids_of(short, tmp_path / "a", treebanks)
    run(short, tmp_path / "a", treebanks)
    frame = read_results(results_of(tmp_path / "a")).filter(metric="accuracy").to_pandas()
    recipe = find_recipe("small", "pos", {"batch": 2, "epochs": 2})
    model = finetune(encoder, "pos", train=toy("train"), recipe=recipe, seed=2)
    for keys, condition in zip((by_words, by_sentences), conditions[1:], strict=True):
        alone = evaluate(intervene(model, keys, reference=english), [english, french]).filter(metric="accuracy")
        rows = frame[frame["condition"] == condition.text]
        assert rows["value"].tolist() == alone.to_pandas()["value"].tolist()
        assert len(rows) == 2
    source = frame[frame["target"] == "en"]["value"]
    assert source.nunique() == 1  # own states
    planned = merged(plan(short, Store(tmp_path / "b"), corpora=Corpora(str(treebanks))).asked)
    links.write_text("0-1\n" * len(english), "utf-8")
    assert len(before - ids_of(short, tmp_path / "a", treebanks)) == 1
    (outcome,) = (execute(each, Context(str(tmp_path / "b"), data=str(treebanks), device="cpu")) for each in planned)
    assert "the translation of ud/fr_pud:test has changed since the study was planned" in outcome.tail


def test_corpora_without_translations_are_not_asked_about_a_patch(study, treebanks, tmp_path):
    source = study.data.tasks["pos"]["en"].model_copy(update={"tests": ("ud/en_pud[:2]", "ud/fr_pud")})
    conditions = (Condition(), Condition(patch="2.output", patch_by="sentences"))
    data = study.data.model_copy(update={"tasks": {"pos": {"en": source}}})
    planned = plan(
        study.model_copy(update={"conditions": conditions, "data": data}),
        Store(tmp_path),
        corpora=Corpora(str(treebanks)),
    )
    patched = [question for asked in planned.asked for question in asked.questions if question.kind == "patched score"]
    assert {question.corpus.name for question in patched} == {"ud/en_pud:test[:2]"}
    assert len(patched) == 2
    words = study.model_copy(update={"conditions": (Condition(), Condition(patch="2.output"))})
    with pytest.raises(RequestError, match="patch needs links between the words"):
        plan(words, Store(tmp_path), corpora=Corpora(str(treebanks)))


def test_the_pretrained_encoder_is_found_where_the_run_began(study, treebanks, tmp_path):
    """Names of encoders in records need not be paths."""
    conditions = (Condition(), Condition(revert="0,all"), Condition(layers="0,all"))
    short = study.model_copy(update={"conditions": conditions, "seeds": (1,)})
    asked = plan(short, Store(tmp_path), corpora=Corpora(str(treebanks))).asked
    named = [replace(each, run=replace(each.run, base=replace(each.run.base, name="short"))) for each in asked]
    for each in merged(tuple(named)):
        outcome = execute(each, Context(str(tmp_path), data=str(treebanks), device="cpu"))
        assert outcome.state == "done", outcome.tail
        if not each.run.condition.interventions:
            answers = Store(tmp_path).answers(each.run.id)
            assert answers.filter(condition='{"revert": "0-4"}').records.num_rows > 0


def test_layers_are_scaled_to_the_depth_of_the_encoder(study, treebanks, tmp_path):
    written = study.model_copy(update={"depth": 8, "conditions": (Condition(), Condition(zero="1-4.attention"))})
    planned = plan(written, Store(tmp_path), corpora=Corpora(str(treebanks)))
    conditions = {getattr(question, "condition", None) for asked in planned.asked for question in asked.questions}
    assert '{"zero": "1-2.attention"}' in conditions


def test_a_star_is_a_condition_for_each_layer_or_head_of_the_encoder(study, treebanks, tmp_path):
    """Also where other layers are written for another depth and scaled; toy encoders have four layers of two heads."""
    stars = (Condition(), Condition(zero="*.attention.head.*"), Condition(layers="*"), Condition(layers="1-4"))
    written = study.model_copy(update={"depth": 8, "conditions": stars})
    planned = plan(written, Store(tmp_path), corpora=Corpora(str(treebanks)))
    asked = {getattr(question, "condition", None) for asked in planned.asked for question in asked.questions}
    heads = {f'{{"zero": "{layer}.attention.head.{head}"}}' for layer in (1, 2, 3, 4) for head in (0, 1)}
    assert asked - {None} == heads
    trained = {each.run.condition.text for each in planned.runs}
    assert trained == {"none", *(f'{{"layers": "{layer}"}}' for layer in ("1", "2", "3", "4", "1-2"))}
    assert [note for note in planned.notes if "under-trained" not in note] == [
        "layers 1-4 of 8 are layers 1-2 of this encoder's 4"
    ]


PATCH, ERASE = {"patch": "2.output", "patch_by": "sentences"}, {"erase": "3"}
SWAP = {"swap": "1-2", "swap_from": "adapted"}


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ([PATCH, {"patch": "3.output", "patch_by": "sentences"}], "patch cannot be combined with another"),
        ({**PATCH, **ERASE}, "patch cannot be combined with another"),
        ({**SWAP, **ERASE}, "swap and add cannot be combined"),
    ],
)
def test_interventions_that_would_read_different_corpora_are_refused_together(condition, reason):
    kept = [PATCH, SWAP, [ERASE, {"erase": "4"}], {**PATCH, "mean": "1"}]
    assert len(Study(name="s", encoder="e", conditions=kept).conditions) == 4
    with pytest.raises(RequestError, match=reason):
        Study(name="s", encoder="e", conditions=[*kept, condition])
