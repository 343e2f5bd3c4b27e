"""Parts that other distributions bring: they are found, do all that built-in ones do, and fail in one sentence."""

import subprocess
import sys
from pathlib import Path

import pytest

from crosslens.corpora.catalogue import list_corpora, load_corpus, match_corpora
from crosslens.corpora.parallel import load_parallel
from crosslens.errors import RequestError
from crosslens.plugins import Registry
from crosslens.probes import PROBES, find_probe
from crosslens.report.tables import all_tables
from crosslens.results.record import read_results
from crosslens.runs.executors import EXECUTORS, find_executor
from crosslens.similarity.measures import MEASURES, find_measure
from crosslens.studies.data_sets import find_data
from crosslens.studies.run_study import run_study
from crosslens.studies.study import Data, Source, Study, read_study
from crosslens.tasks import TASKS, find_task
from crosslens.training.checkpoint import load_model, save_model
from crosslens.training.evaluate import evaluate
from crosslens.training.finetune import finetune
from crosslens.training.predict import predict
from crosslens.training.recipe import default_recipe, differing, find_recipe, overrides

REVIEWS = {
    "en": "good: the cat sees a small dog .\nbad: a dog sleeps .\ngood: he reads .\nbad: a small cat sleeps .\n",
    "fr": "good: le chat voit un petit chien .\nbad: un chien dort .\ngood: il lit .\nbad: un petit chat dort .\n",
}


@pytest.fixture
def reviews(tmp_path):
    """A data folder with the foreign collection."""
    folder = tmp_path / "data" / "reviews"
    folder.mkdir(parents=True)
    for language, text in REVIEWS.items():
        for split in ("train", "dev", "test"):
            (folder / f"{language}-{split}.sent").write_text(text, "utf-8")
    return folder.parent


def own_task(called="mine", recipe=None):
    """A task that nothing registers."""
    from foreign.sentiment import Sentiment

    class Mine(Sentiment):
        @property
        def name(self):
            return called

        @property
        def recipe(self):
            return recipe or super().recipe

    return Mine()


def test_they_are_found_by_name_behind_the_built_in_ones(plugins):
    for registry, name in ((TASKS, "sentiment"), (MEASURES, "dot"), (PROBES, "length"), (EXECUTORS, "backwards")):
        assert list(registry) == [*registry.built_in, name]
        assert name in registry
        assert len(registry) == len(registry.built_in) + 1
    assert find_task("sentiment", {"case": "lower"}).settings["case"] == "lower"
    assert find_probe("length", {"short": "2"}).short == 2
    assert find_measure("dot_shuffled").baseline_of == "dot"
    assert find_executor("backwards")
    with pytest.raises(RequestError, match="did you mean 'sentiment'"):
        find_task("sentimnt")
    with pytest.raises(RequestError, match="executor backwards has no options"):
        find_executor("backwards", options={"a": "b"})


def test_without_the_distribution_there_are_none(plugins, monkeypatch):
    monkeypatch.setattr(sys, "path", [folder for folder in sys.path if folder != plugins])
    assert list(TASKS) == list(TASKS.built_in)
    assert "sentiment" not in TASKS
    with pytest.raises(RequestError, match="no task 'sentiment'"):
        find_task("sentiment")


def test_nothing_is_imported_before_it_is_asked_for(plugins):
    code = (
        "import sys; from crosslens.tasks import TASKS, find_task; from crosslens.similarity.measures import MEASURES;"
        "find_task('pos'); assert 'sentiment' in TASKS; print({'foreign', 'torch'} & set(sys.modules));"
        "find_task('sentiment'); print({'foreign', 'torch'} & set(sys.modules))"
    )
    shown = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {plugins!r}); {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.split() == ["set()", "{'foreign'}"]


def write_plugin(folder: Path, group: str, name: str, code: str, *, dist="broken") -> None:
    """A distribution with one module and one entry point, whose object is called PART."""
    (folder / f"{dist}_module.py").write_text(code, "utf-8")
    info = folder / f"{dist}-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {dist}\nVersion: 0.1\n", "utf-8")
    (info / "entry_points.txt").write_text(f"[crosslens.{group}]\n{name} = {dist}_module:PART\n", "utf-8")


@pytest.mark.parametrize(
    ("group", "registry", "code", "reason"),
    [
        ("tasks", TASKS, "import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("tasks", TASKS, "", "AttributeError: .*PART"),
        ("tasks", TASKS, "PART = 3", "it has no name, settings, needs, metric"),
        ("tasks", TASKS, "from crosslens.tasks.pos import PartOfSpeech as PART", "it calls itself 'pos'"),
        ("tasks", TASKS, "from crosslens.tasks.tagging import Tagging as PART", "it has no name, metric, recipe"),
        ("probes", PROBES, "class PART: name = about = unit = pooling = cut = answers = 'odd'", "not a BaseModel"),
        ("measures", MEASURES, "def PART(x, y): return 1.0", "it is not a Measure"),
        ("executors", EXECUTORS, "PART = 'odd'", "it is not a class"),
        ("executors", EXECUTORS, "class PART: pass", "it has no submit"),
    ],
)
def test_a_broken_one_is_a_sentence_with_its_distribution(tmp_path, monkeypatch, group, registry, code, reason):
    dist = f"broken{abs(hash((group, code)))}"
    write_plugin(tmp_path, group, "odd", code, dist=dist)
    monkeypatch.syspath_prepend(tmp_path)
    place = f"the {group[:-1]} 'odd' of the distribution {dist} 0.1 cannot be used: "
    with pytest.raises(RequestError, match=f"{place}.*({reason})"):
        registry["odd"]
    assert registry[next(iter(registry.built_in))]  # the others are as they were


def test_a_built_in_name_and_a_name_of_another_plug_in_cannot_be_taken(tmp_path, monkeypatch, plugins):
    taken = tmp_path / "taken"
    taken.mkdir()
    write_plugin(taken, "tasks", "pos", "PART = 3", dist="thief")
    with monkeypatch.context() as patched:
        patched.syspath_prepend(taken)
        with pytest.raises(RequestError, match=r"distribution thief 0\.1 registers the task 'pos', which is built in"):
            list(TASKS)
        assert find_task("pos") == TASKS.built_in["pos"]
    write_plugin(tmp_path, "tasks", "sentiment", "PART = 3", dist="copycat")
    with monkeypatch.context() as patched:
        patched.syspath_prepend(tmp_path)
        with pytest.raises(RequestError, match=r"both the distribution .* register the task 'sentiment'"):
            find_task("sentiment")


def test_a_registry_is_a_mapping():
    registry = Registry("thing", {"one": 1, "two": 2}, contracts=(int,))
    assert dict(registry) == {"one": 1, "two": 2}
    assert (registry.get("three"), "three" in registry, len(registry)) == (None, False, 2)
    with pytest.raises(KeyError):
        registry["three"]


def test_a_task_goes_all_the_way(plugins, reviews, encoder, tmp_path):
    """Fine-tuned by its own recipe, evaluated, saved, read again, from names in a collection of its own."""
    task = find_task("sentiment")
    assert default_recipe(task).epochs == 3
    train, test = (load_corpus(name, data=reviews) for name in ("reviews/en:train", "reviews/fr"))
    model = finetune(encoder, "sentiment", train=train)
    assert (model.recipe.name, model.recipe.batch) == ("default.sentiment", 2)
    assert differing(model.recipe, task) == overrides(model.recipe, task) == {}
    changed = find_recipe("default", "sentiment", {"epochs": "1", "case": "lower"})
    assert overrides(changed, find_task("sentiment", changed.task)) == {"epochs": 1, "case": "lower"}
    assert find_recipe("muller2021", "sentiment") == default_recipe(task)  # that paper has no such task
    assert find_recipe("bilstm", "sentiment").epochs == 30
    frame = evaluate(model, [test]).to_pandas()
    assert (frame["task"].tolist(), frame["target"].tolist(), frame["n"].tolist()) == (["sentiment"], ["fr"], [4])
    assert "differs_from_usual" not in frame["tags"][0]
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model", device="cpu")
    assert (again.task, again.recipe) == (task, model.recipe)
    assert predict(again, test) == predict(model, test)


def test_a_task_that_nothing_registers_is_given_as_an_object(plugins, encoder, toy, tmp_path):
    task = own_task()
    train = toy(task="sentiment")
    model = finetune(encoder, task, train=train)
    assert model.recipe.name == "default.mine"
    assert evaluate(model, [train]).to_pandas()["task"].tolist() == ["mine"]
    save_model(model, tmp_path / "model")
    with pytest.raises(RequestError, match="no task 'mine'"):
        load_model(tmp_path / "model", device="cpu")
    assert predict(load_model(tmp_path / "model", task=task, device="cpu"), train) == predict(model, train)
    with pytest.raises(RequestError, match="the model was fine-tuned for 'mine', not for 'yours'"):
        load_model(tmp_path / "model", task=own_task("yours"), device="cpu")


def test_recipes_by_name_are_for_tasks_that_nothing_registers_too(plugins):
    task = own_task()
    assert find_recipe("small", task, {"epochs": 5}).epochs == 5
    default = find_recipe("default", task, {"case": "lower", "epochs": 5})
    assert (default.name, default.task, default.epochs) == ("default.mine", {"case": "lower"}, 5)
    with pytest.raises(RequestError, match=r"there is no recipe 'smal' for mine .did you mean 'small'"):
        find_recipe("smal", task)


def test_a_default_recipe_that_is_none_is_a_sentence(plugins):
    with pytest.raises(RequestError, match=r"default recipe of mine does not exist: 'wu2018\.document'.*did you mean"):
        default_recipe(own_task(recipe="wu2018.document"))
    with pytest.raises(RequestError, match="the default recipe of mine has no setting 'epoch'"):
        default_recipe(own_task(recipe={"epoch": 3}))


def test_from_the_command_line(plugins, run, reviews, tiny_bert, tmp_path):
    """With files in the task's own format, and with the corpora of the foreign collection."""
    file = reviews / "reviews" / "en-train.sent"
    data = ("--data", reviews)
    status, said, error = run(
        "finetune",
        "sentiment",
        tiny_bert,
        "--train",
        f"en={file}",
        "--test",
        "reviews/*",
        "--out",
        "out",
        "--keep-model",
        "--predictions",
        "predicted",
        *data,
    )
    assert (status, "sentiment accuracy" in said) == (0, True), error
    assert sorted(path.name for path in Path("predicted").iterdir()) == ["reviews_en-test.sent", "reviews_fr-test.sent"]
    status, said, error = run("evaluate", "out/model", "--test", f"en={file}", "--out", "more", *data)
    assert (status, "en" in said) == (0, True), error
    status, said, error = run("predict", "out/model", file, "--out", "out.sent", *data)
    assert (status, Path("out.sent").read_text().count("\n")) == (0, 4), error
    status, said, error = run("predict", "out/model", file, "--out", "out.tsv", *data)
    assert (status, "sentiment is written as .sent" in error) == (2, True)
    status, said, error = run("score", "sentiment", file, "out.sent")
    assert (status, said.startswith("accuracy ")) == (0, True), error
    for kind, name in (("tasks", "sentiment"), ("measures", "dot"), ("probes", "length"), ("corpora", "reviews/fr")):
        assert name in run("list", kind, *data)[1]


def test_a_collection(plugins, reviews):
    assert list_corpora(reviews)["reviews/en"] == ["train", "dev", "test"]
    assert match_corpora("reviews/*:dev", data=reviews) == ["reviews/en:dev", "reviews/fr:dev"]
    corpus = load_corpus("reviews/fr:dev[:2]", data=reviews)
    assert (corpus.name, corpus.language, corpus.split, len(corpus)) == ("reviews/fr:dev[:2]", "fr", "dev", 2)
    assert load_parallel("reviews/test", data=reviews).languages == ("en", "fr")


def test_a_study_of_a_foreign_task_with_foreign_parts(plugins, reviews, tiny_bert, tmp_path):
    source = Source(train="reviews/en", tests=("reviews/en", "reviews/fr"))
    study = Study(
        name="foreign",
        encoder=str(tiny_bert),
        data=Data(parallel="reviews/test", tasks={"sentiment": {"en": source}}),
        conditions=("none", "1-2"),
        seeds=[1, 2],
        set={"epochs": 1, "case": "lower"},
        similarity={"measures": ["dot", "cka"]},
    )
    report = run_study(study, tmp_path / "runs", executor="backwards", data=str(reviews), device="cpu")
    assert not report.failed
    results = read_results(tmp_path / "runs" / "studies" / "foreign" / "results.csv")
    frame = results.to_pandas()
    assert set(frame["measure"].dropna()) == {"dot", "cka"}
    assert len(results.filter(task="sentiment", metric="accuracy")) == 2 * 2 * 2
    tables = {table.name: table for table in all_tables(results)}
    assert "by-target-sentiment" in tables


def test_a_study_on_the_laboratory_from_the_command_line(plugins, run, tiny_bert, tmp_path):
    """The worker processes find the plug-in too. Without the name of the task the laboratory has the built-in ones."""
    text = (
        f"name: lab-foreign\nencoder: {tiny_bert}\ndata: lab\ntasks: [sentiment]\nseeds: 1\n"
        "set: {limit: 20, epochs: 1}\nprobes:\n  - {probe: length, train: 'lab/src[:20]', test: 'lab/sov[:10]'}\n"
    )
    (tmp_path / "study.yaml").write_text(text, "utf-8")
    status, said, error = run("run", "study.yaml", "--out", "runs", "--workers", "1")
    assert status == 0, said + error
    results = read_results("runs/studies/lab-foreign/results.csv")
    assert set(results.filter(task="sentiment").to_pandas()["target"]) == {"src", "adj", "gen", "sov"}
    assert len(results.filter(measure="probe length", metric="accuracy")) == 5
    assert any(table.name == "by-target-sentiment" for table in all_tables(results))
    assert set(find_data("lab").tasks) == set(TASKS.built_in)
    study = read_study(tmp_path / "study.yaml")
    assert set(find_data("lab", tasks=study.tasks).tasks) == {*TASKS.built_in, "sentiment"}
