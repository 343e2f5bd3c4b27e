"""Every option reaches the function that does the work."""

from types import SimpleNamespace

import pytest

from crosslens.probes.softmax import Fit
from crosslens.results.record import Results
from crosslens.tasks import find_task
from made_records import PLAIN


def test_compare(handed, tiny_bert):
    measured = ("compare", tiny_bert, "--pairs", "en-fr", "--out", "out", "--device", "cpu")
    chosen = ("--measure", "cka,rsa", "--baseline", "shuffled", "--pooling", "cls", "--last-layer", "normalised")
    more = ("--layers", "relative", "--intervals", "--seed", "7", "--export", "vectors")
    _, options = handed("crosslens.similarity.compare.compare", *measured, *chosen, *more)
    expected = {
        "pairs": ["en-fr"],
        "measures": ["cka", "rsa"],
        "baselines": ["shuffled"],
        "pooling": "cls",
        "last_layer": "normalised",
        "layers": "relative",
        "interval": "jackknife",
        "seed": 7,
        "export": "vectors",
        "against": None,
    }
    assert {name: options[name] for name in expected} == expected
    _, options = handed("crosslens.similarity.compare.compare", *measured)
    assert (options["interval"], options["seed"], options["last_layer"]) == ("none", 1, "raw")


@pytest.mark.parametrize(
    "words",
    [
        ("compare", "--pairs", "en-fr"),
        ("probe", "upos", "--train", "ud/en_toy", "--test", "ud/fr_pud"),
    ],
    ids=lambda words: words[0],
)
def test_layers_are_reinitialised_with_the_seed(handed, tiny_bert, words):
    place = 2 if words[0] == "probe" else 1
    asked = (*words[:place], tiny_bert, *words[place:], "--random-init", "1-2", "--seed", "7", "--device", "cpu")
    (_, layers), options = handed("crosslens.encoders.reinit.random_init", *asked, "--out", "out")
    assert (layers, options) == ("1-2", {"seed": 7})


def test_probe(handed, tiny_bert):
    asked = (
        "probe",
        "upos",
        tiny_bert,
        "--train",
        "ud/en_toy",
        "--test",
        "ud/fr_pud",
        "--out",
        "out",
        "--device",
        "cpu",
    )
    more = ("--dev", "ud/en_toy", "--inputs", "raw", "--last-layer", "normalised", "--seed", "7")
    _, options = handed("crosslens.probes.probing.probe", *asked, *more)
    assert {name: options[name] for name in ("train", "test", "dev", "how", "last_layer", "seed")} == {
        "train": "ud/en_toy:train",
        "test": "ud/fr_pud:test",
        "dev": "ud/en_toy:dev",
        "how": Fit(inputs="raw"),
        "last_layer": "normalised",
        "seed": 7,
    }
    assert handed("crosslens.probes.probing.probe", *asked)[1]["dev"] is None


def test_evaluate(handed, treebanks, monkeypatch):
    monkeypatch.setattr("crosslens.training.checkpoint.load_model", lambda folder, device: (folder, device))
    asked = ("evaluate", "model", "--test", "ud/fr_pud", "--intervene", "1-2:mean", "--seed", "7", "--out", "out")
    more = ("--device", "cpu", "--precision", "bfloat16", "--data", treebanks)
    assert handed("crosslens.training.model.in_precision", *asked, *more) == ((("model", "cpu"), "bfloat16"), {})
    loaded = SimpleNamespace(task=find_task("pos"))
    monkeypatch.setattr("crosslens.training.model.in_precision", lambda model, precision: loaded)
    (model, condition), options = handed("crosslens.training.intervene.intervene", *asked, *more)
    assert model is loaded
    assert condition.text == '{"mean": "1-2"}'
    assert options == {"seed": 7, "data": str(treebanks), "pretrained": None}


def test_finetune(handed, tiny_bert, treebanks):
    asked = (
        "finetune",
        "pos",
        tiny_bert,
        "--train",
        "ud/en_toy",
        "--test",
        "ud/en_pud,ud/fr_pud",
        "--dev",
        "ud/en_toy",
    )
    more = ("--recipe", "small", "--set", "epochs=1", "--seed", "7", "--out", "out", "--keep-model", "--freeze", "1-2")
    rest = ("--predictions", "p", "--save-every", "9", "--data", treebanks, "--device", "cpu")
    arguments, options = handed("crosslens.runs.finetuning.finetune_and_evaluate", *asked, *more, *rest)
    assert arguments == (str(tiny_bert), "pos")
    options.pop("progress")
    assert options == {
        "train": "ud/en_toy",
        "tests": ["ud/en_pud", "ud/fr_pud"],
        "dev": "ud/en_toy",
        "condition": {"freeze": "1-2"},
        "recipe": "small",
        "settings": {"epochs": "1"},
        "vectors": None,
        "seed": 7,
        "out": "out",
        "keep": "model",
        "predictions": "p",
        "save_every": 9,
        "data": str(treebanks),
        "device": "cpu",
        "track": None,
    }


def test_correlate(handed, tmp_path):
    Results.of(PLAIN).write(tmp_path / "results.csv")
    asked = (
        "correlate",
        "results.csv",
        "--measures",
        "cka,rsa",
        "--layers",
        "each",
        "--control",
        "fertility,test-size",
    )
    _, options = handed("crosslens.similarity.transfer_gap.correlations", *asked, "--coefficient", "pearson")
    options.pop("skipped")
    assert options == {
        "measures": ["cka", "rsa"],
        "layers": "each",
        "control": ["fertility", "test-size"],
        "coefficient": "pearson",
    }


def test_results(handed, tmp_path):
    Results.of(PLAIN).write(tmp_path / "results.csv")
    asked = ("results", "results.csv", "--metric", "accuracy", "--sort", "family")
    _, options = handed("crosslens.cli._display.show_tables", *asked)
    assert (options["metric"], options["sort"]) == ("accuracy", "family")


def test_align_words(handed, tiny_bert, tmp_path):
    (tmp_path / "train.txt").write_text("the le\n", "utf-8")
    (tmp_path / "test.txt").write_text("cat chat\ndog chien\n", "utf-8")
    asked = ("align", "words", tiny_bert, "--pair", "en-fr", "--train", "train.txt", "--test", "test.txt", "--out", "o")
    more = ("--mapping", "procrustes", "--method", "cosine", "--baseline", "shuffled", "--device", "cpu")
    (left, right), options = handed(
        "crosslens.alignment.measure.word_translation", *asked, *more, "--seed", "7", "--baseline-seeds", "2"
    )
    assert (left.language, right.language) == ("en", "fr")
    assert (len(options["train"]), len(options["test"])) == (1, 2)
    chosen = {name: options[name] for name in ("mapping", "method", "baselines", "baseline_seeds")}
    expected = {"mapping": "procrustes", "method": "cosine", "baselines": ("shuffled",), "baseline_seeds": range(7, 9)}
    assert chosen == expected
    _, options = handed("crosslens.alignment.measure.word_translation", *asked, "--device", "cpu")
    assert (options["mapping"], options["method"], options["baseline_seeds"]) == ("identity", "csls", range(1, 2))


def test_align_sentences(handed, tiny_bert):
    parallel = ("--train", "ud/pud", "--test", "ud/pud[:4]", "--pair", "en-fr", "--out", "out", "--device", "cpu")
    asked = ("align", "sentences", tiny_bert, *parallel)
    more = ("--layers", "relative", "--mapping", "procrustes", "--method", "csls", "--baseline", "identity,untrained")
    (source, target), options = handed(
        "crosslens.alignment.measure.sentence_retrieval", *asked, *more, "--seed", "7", "--baseline-seeds", "2"
    )
    assert source is target
    assert (len(options["train"]), len(options["test"])) == (6, 4)
    chosen = {name: options[name] for name in ("pair", "layers", "mapping", "method", "baselines", "baseline_seeds")}
    assert chosen == {
        "pair": ("en", "fr"),
        "layers": "relative",
        "mapping": "procrustes",
        "method": "csls",
        "baselines": ("untrained", "identity"),
        "baseline_seeds": range(7, 9),
    }
    _, options = handed("crosslens.alignment.measure.sentence_retrieval", *asked)
    assert (options["mapping"], options["method"], options["layers"]) == ("identity", "cosine", "same")


def test_align_transfer(handed, tiny_bert, tmp_path):
    (tmp_path / "links").write_text("0-0\n" * 6, "utf-8")
    data = ("--train", "ud/en_toy", "--dev", "ud/en_toy", "--test", "ud/en_pud,ud/fr_pud", "--parallel", "ud/pud")
    asked = ("align", "transfer", "pos", tiny_bert, "--against", tiny_bert, "--pair", "en-fr", *data, "--out", "out")
    more = ("--links", "links", "--layers", "0-2", "--against-layers", "relative", "--set", "epochs=2")
    rest = ("--seed", "7", "--baseline", "shuffled", "--baseline-seeds", "2", "--device", "cpu")
    arguments, options = handed("crosslens.alignment.transplant.transfer_by_layer", *asked, *more, *rest)
    assert arguments[1] == "pos"
    assert options["recipe"].epochs == 2
    assert [corpus.name for corpus in options["tests"]] == ["ud/en_pud:test", "ud/fr_pud:test"]
    expected = {
        "pair": ("en", "fr"),
        "train": "ud/en_toy:train",
        "dev": "ud/en_toy:dev",
        "links": "links",
        "layers": "0-2",
        "against_layers": "relative",
        "seed": 7,
        "baselines": ("shuffled",),
        "baseline_seeds": range(7, 9),
    }
    assert {name: options[name] for name in expected} == expected


def test_pretrain_and_adapt(handed, tiny_bert, treebanks, tmp_path):
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "fr.txt").write_text("le chat\n", "utf-8")
    (tmp_path / "texts" / "small.yaml").write_text("corpora: {fr: fr.txt}\nsteps: 5\n", "utf-8")
    where = ("--save-every", "9", "--data", treebanks, "--device", "cpu", "--out", "out")
    asked = ("pretrain", "texts/small.yaml", "--set", "batch=3")
    (settings, out), options = handed("crosslens.mlm.pretrain.pretrain", *asked, *where)
    assert (settings.steps, settings.batch, out) == (5, 3, "out")
    assert (str(options["base"]), options["data"], options["save_every"]) == ("texts", str(treebanks), 9)
    asked = ("adapt", tiny_bert, "--text", "fr=texts/fr.txt", "--set", "epochs=2")
    (_, corpora, out), options = handed("crosslens.mlm.adapt.adapt", *asked, *where)
    assert ([*corpora], corpora["fr"].language, out) == (["fr"], "fr", "out")
    assert (options["settings"].epochs, options["data"], options["save_every"]) == (2, str(treebanks), 9)


def test_encoders_get(handed):
    asked = ("encoders", "get", "e5-small", "--trim-to", "fr.txt", "--out", "e5")
    for chosen, characters in (((), "seen"), (("--characters", "all"), "all")):
        arguments, options = handed("crosslens.encoders.models.e5.get_e5_small", *asked, *chosen)
        assert (arguments, options) == (("e5",), {"trim_to": ["fr.txt"], "characters": characters})


def test_demo(handed):
    (_, out), options = handed("crosslens.demo.demo.run_demo", "demo", "--processes", "3", "--cache", "c", "--out", "o")
    assert (out, options["cache"], options["workers"]) == ("o", "c", 3)


def test_score(run, tmp_path):
    """Scoring rules are settings of the task."""
    line = "1\tis\t_\tAUX\t_\t_\t0\troot\t_\t_\n2\tfed\t_\tVERB\t_\t_\t1\t{}\t_\t_\n\n"
    (tmp_path / "gold.conllu").write_text(line.format("aux:pass"), "utf-8")
    (tmp_path / "guess.conllu").write_text(line.format("aux"), "utf-8")
    shown = [
        run("score", "parsing", "gold.conllu", "guess.conllu", *more)[1] for more in ((), ("--set", "relations=full"))
    ]
    assert [text.split()[:2] for text in shown] == [["las", "100.00"], ["las", "50.00"]]


def test_status_is_watched_until_no_run_is_left_or_waits(run, monkeypatch, tmp_path):
    for folder in ("runs", "studies"):
        (tmp_path / folder).mkdir()
    progress = [(1, 0), (2, 3), (2, 0), (2, 0)]
    slept = []

    def status(store):
        done, waiting = progress[len(slept)]
        return [SimpleNamespace(ended=done == 2 and not waiting, describe=lambda: f"{done} done, {waiting} waiting")]

    monkeypatch.setattr("crosslens.runs.status.status", status)
    monkeypatch.setattr("time.sleep", slept.append)
    code, shown, said = run("status", ".", "--watch")
    assert code == 0, said
    assert shown.splitlines() == ["1 done, 0 waiting", "2 done, 3 waiting", "2 done, 0 waiting"]
    assert slept == [10, 10]
    slept.clear()
    assert run("status", ".")[1].splitlines() == ["1 done, 0 waiting"]
