import csv
import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from crosslens import cli
from crosslens.data.formats.conllu import read, write
from crosslens.encoders.condition import Condition
from crosslens.results.record import Record, Results
from toys import SENTENCES


def rows_of(path):
    with open(path, encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


FAST = ("--set", "epochs=1", "--set", "batch=3", "--set", "learning_rate=3e-3", "--device", "cpu")


def finetune(run, encoder, *more, test="ud/en_pud,ud/fr_pud", out="out"):
    return run("finetune", "pos", encoder, "--train", "ud/en_toy", "--test", test, "--out", out, *FAST, *more)


def test_the_main_job(run, tiny_bert, tmp_path):
    status, shown, said = finetune(run, tiny_bert, "--random-init", "1-2", "--seed", "3")
    assert status == 0, said
    assert "same-language mean" in shown
    assert "cross-language mean" in shown
    assert "re-initialised: 32 tensors of layers 1-2" in said
    rows = rows_of(tmp_path / "out" / "results.csv")
    assert [(row["source"], row["target"]) for row in rows] == [("en", "en"), ("en", "fr")]
    assert {(row["task"], row["metric"], row["ablation"], row["components"], row["seed"]) for row in rows} == {
        ("pos", "accuracy", "1-2", "all", "3")
    }
    assert rows[0]["dev"] == "ud/en_toy:dev"  # the source's dev set, unless another is named
    described = json.loads((tmp_path / "out" / "run.json").read_text())
    assert len(described["changed_tensors"]["1-2"]) == 32
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["results.csv", "run.json"]


def test_the_same_command_gives_the_same_file(run, tiny_bert, tmp_path):
    for name in ("a", "b"):
        assert finetune(run, tiny_bert, out=name)[0] == 0
    one, two = ((tmp_path / name / "results.csv").read_text() for name in ("a", "b"))

    def without_seconds(text):
        rows = list(csv.DictReader(text.splitlines()))
        for row in rows:
            row["tags"] = {k: v for k, v in json.loads(row["tags"]).items() if k != "training_seconds"}
        return rows

    assert without_seconds(one) == without_seconds(two)


def test_a_kept_model_is_evaluated_predicts_and_is_scored(run, tiny_bert, treebanks, tmp_path):
    assert finetune(run, tiny_bert, "--keep-model", "--predictions", "kept", "--freeze", "0", test="ud/*_pud")[0] == 0
    assert sorted(p.name for p in (tmp_path / "kept").iterdir()) == [
        "ud_en_pud-test.conllu", "ud_fr_pud-test.conllu"
    ]  # fmt: skip
    status, shown, _ = run("evaluate", "out/model", "--test", "ud/fr_pud", "--out", "again", "--device", "cpu")
    assert status == 0
    assert "ud/fr_pud:test" in shown
    first = [row for row in rows_of("out/results.csv") if row["target"] == "fr"]
    second = rows_of("again/results.csv")
    assert first[0]["value"] == second[0]["value"]

    gold = treebanks / "ud" / "UD_FR-pud" / "fr_pud-ud-test.conllu"
    assert run("predict", "out/model", gold, "--out", "p.conllu", "--device", "cpu")[0] == 0
    assert read("p.conllu")[0].heads == read(gold)[0].heads
    status, shown, _ = run("score", "pos", gold, "p.conllu", "--json")
    assert status == 0
    assert json.loads(shown)["accuracy"] == pytest.approx(float(second[0]["value"]))
    status, shown, _ = run("score", "pos", gold, gold)
    assert shown.startswith("accuracy 100.00  95 % [100.00, 100.00]  n=")


def test_what_is_odd_about_a_corpus_is_said(run, tiny_bert, tmp_path):
    row = "{}\t{}\t_\t{}\t_\t_\t{}\tdep\t_\t_\n"
    words = [("\u200b", "NOUN"), ("cat", "SYM"), ("x", "SYM")]
    text = "".join(row.format(i, word, tag, i - 1) for i, (word, tag) in enumerate(words, start=1))
    (tmp_path / "odd.conllu").write_text(text + "\n", "utf-8")
    status, _, said = finetune(run, tiny_bert, test="odd.conllu")
    assert status == 0
    assert "odd.conllu: gold labels never seen in training, which count as errors: 2" in said
    assert "odd.conllu: words without a subword, read as the unknown token and scored: 1" in said


def test_similarity(run, tiny_bert):
    status, shown, said = run("compare", tiny_bert, "--pairs", "en-*", "--out", "sim", "--device", "cpu")
    assert status == 0, said
    assert "cka_shuffled" in shown
    rows = rows_of("sim/results.csv")
    assert len(rows) == 5 * 4
    assert {row["source"] + row["target"] for row in rows} == {"enfr"}
    assert all(0 <= float(r["value"]) <= 1.0000001 for r in rows if r["measure"] == "cka")
    untrained = ("--random-init", "0,all", "--measures", "cka", "--sentences", "4")
    assert run("compare", tiny_bert, "--pairs", "en-fr", "--out", "null", "--device", "cpu", *untrained)[0] == 0
    rows = rows_of("null/results.csv")
    assert {(row["ablation"], row["n"], row["measure"]) for row in rows} == {("0-4", "4", "cka")}


def test_similarity_with_nulls_intervals_and_vectors(run, tiny_bert):
    asked = ("--measure", "cka,retrieval", "--null", "shuffled,length-matched,untrained", "--intervals")
    words = ("--pairs", "en-fr", "--out", "sim", "--export", "vectors", "--pooling", "first", "--device", "cpu")
    status, shown, said = run("compare", tiny_bert, *asked, *words)
    assert status == 0, said
    assert "0-4 en-fr retrieval_length_matched" in shown
    rows = rows_of("sim/results.csv")
    assert len(rows) == 2 * 5 * 6
    assert all(float(row["low"]) <= float(row["value"]) <= float(row["high"]) for row in rows if row["low"])
    vectors = np.load("vectors/fr.npy")
    assert vectors.shape == (5, 6, 32)
    assert sorted(path.name for path in Path("vectors").iterdir()) == ["en.npy", "fr.npy"]
    status, _, said = run("compare", tiny_bert, *words)
    assert (status, "--out: sim exists already" in said) == (2, True)


def test_an_encoder_against_another_on_files(run, tiny_bert, tmp_path):
    for language, lines in SENTENCES.items():
        (tmp_path / f"dev.{language}").write_text("\n".join(lines) + "\n", "utf-8")
    corpus = ("--corpus", "en=dev.en,fr=dev.fr", "--pairs", "en-en,en-fr", "--measure", "cka", "--device", "cpu")
    words = ("--against", tiny_bert, "--export", "vectors", "--out", "sim")
    status, shown, said = run("compare", tiny_bert, *corpus, *words)
    assert status == 0, said
    assert f"similarity of 6 parallel sentences, {tiny_bert} and {tiny_bert}" in shown
    rows = [row for row in rows_of("sim/results.csv") if row["target"] == "en"]
    assert [float(row["value"]) for row in rows] == pytest.approx([1.0] * 5)


def test_gap_against_similarity(run, tmp_path):
    gaps = {"de": 4, "fr": 5, "hi": 20, "ru": 10, "zh": 22}
    scores = [Record(task="pos", encoder="e", source="en", target="en", metric="accuracy", value=90.0, n=9)]
    for target, gap in gaps.items():
        scores.append(dataclasses.replace(scores[0], target=target, value=90.0 - gap))
        scores.append(
            Record(encoder="e", source="en", target=target, measure="cka", layer=0, metric="similarity", value=1 / gap)
        )
    Results.of(scores).write(tmp_path / "results.csv")
    status, shown, said = run("correlate", "results.csv", "--csv", "table.csv")
    assert status == 0, said
    assert "pos en pretrained cka mean" in shown
    assert "−1.000" in shown
    assert "5 languages are too few to say anything" in said
    assert rows_of("table.csv")[0]["languages"] == "5"
    status, _, said = run("correlate", "results.csv", "--control", "fertility")
    assert (status, "lack the column fertility that fertility needs" in said) == (2, True)
    status, _, said = run("correlate", "results.csv", "--measure", "rsa")
    assert (status, "have no scores and similarities (rsa)" in said) == (2, True)
    assert run("correlate", "none")[0] == 2


def test_records_that_contradict_are_said_and_the_rest_is_shown(run, tmp_path):
    score = Record(task="pos", encoder="e", source="en", target="en", metric="accuracy", value=90.0, seed=1)
    scores = [score, dataclasses.replace(score, value=80.0), dataclasses.replace(score, encoder="f", value=70.0)]
    (tmp_path / "two").mkdir()
    Results.of(scores).write(tmp_path / "two" / "results.parquet")
    status, shown, said = run("results", "two")
    assert status == 0, said
    assert "pos accuracy, source en, e: two records contradict one another" in shown
    assert "70.00" in shown


def test_differences_have_a_sign_and_means_a_line(run, tmp_path):
    score = Record(task="pos", encoder="e", source="en", target="en", metric="accuracy", value=90.0, seed=1)
    better = dataclasses.replace(score, value=91.5, **Condition(layers="1-2").columns)
    Results.of([score, better]).write(tmp_path / "results.csv")
    shown = run("results", "results.csv")[1]
    assert "Δ 1-2" in shown
    assert shown.count("+1.50") == 2
    assert shown.count("90.00") == 2
    assert "same-language mean of 1" in shown


def test_results_files_of_a_folder_are_read_once(run, tmp_path):
    score = Record(task="pos", encoder="e", source="en", target="en", metric="accuracy", value=90.0, seed=1)
    for folder, endings in (("a", ("csv", "parquet")), ("b", ("parquet",))):
        (tmp_path / "all" / folder).mkdir(parents=True)
        for ending in endings:
            Results.of([dataclasses.replace(score, encoder=folder)]).write(
                tmp_path / "all" / folder / f"results.{ending}"
            )
    assert run("results", "all", "--csv", "both.csv")[0] == 0
    assert [row["encoder"] for row in rows_of("both.csv")] == ["a", "b"]
    (tmp_path / "empty").mkdir()
    status, _, said = run("results", "empty")
    assert (status, "no results.csv or results.parquet in empty" in said) == (2, True)


def test_a_report_without_scores_has_a_page_and_figures(run, tmp_path):
    similar = [
        Record(
            encoder="e", source="en", target=target, measure="cka", layer=layer, metric="similarity", value=0.5, n=9,
            state="pretrained",
        )
        for target in ("fr", "de") for layer in (0, 1)
    ]  # fmt: skip
    Results.of(similar).write(tmp_path / "results.parquet")
    status, _, said = run("report", "results.parquet", "--out", "report")
    assert status == 0, said
    assert "contain no scores, so there is no table" in said
    files = {path.name for path in Path("report").iterdir()}
    assert "index.html" in files
    assert not any(name.endswith(".tex") for name in files)


def test_tables_for_a_paper(run, tiny_bert):
    assert finetune(run, tiny_bert, out="all/reference")[0] == 0
    assert finetune(run, tiny_bert, "--random-init", "1-2", out="all/ablated")[0] == 0
    status, shown, said = run("report", "all", "--out", "report", "--beside", "muller2021")
    assert status == 0, said
    assert "Δ 1-2" in shown
    assert "ours − theirs" in shown
    files = sorted(path.name for path in Path("report").iterdir())
    names = ("by-target-pos", "layer-deltas", "layer-sets")
    tables = [f"{name}.{ending}" for name in names for ending in ("csv", "md", "tex")]
    figures = [f"layers-by-target.{ending}" for ending in ("pdf", "png", "svg")]
    assert files == sorted([*tables, *figures, "index.html", "tables.tex"])
    assert run("report", "all", "--out", "again", "--beside", "muller2021")[0] == 0
    for name in set(files) - {"layers-by-target.pdf"}:  # whose objects stand in any order
        assert Path("report", name).read_bytes() == Path("again", name).read_bytes()
    for words, message in (
        (["report", "all", "--out", "report"], "report exists already"),
        (["report", "all", "--out", "x", "--beside", "muler"], "no numbers of 'muler'"),
        (["report", "nothing", "--out", "x"], "no such results file"),
    ):
        status, _, said = run(*words)
        assert (status, message in said) == (2, True)
    assert not Path("x").exists()


def test_results_are_put_together(run, tiny_bert):
    assert finetune(run, tiny_bert, out="all/reference")[0] == 0
    assert finetune(run, tiny_bert, "--random-init", "1-2", out="all/ablated")[0] == 0
    status, shown, _ = run("results", "all", "--csv", "all.csv")
    assert status == 0
    assert "reference" in shown
    assert "Δ 1-2" in shown
    assert len(rows_of("all.csv")) == 4
    assert run("results", "all", "--csv", "all.csv")[0] == 2
    status, _, said = run("results", "nothing")
    assert (status, "no such results file" in said) == (2, True)


def test_pretraining(run, tmp_path):
    (tmp_path / "en.txt").write_text("the cat sees a dog .\n" * 60)
    (tmp_path / "c.yaml").write_text("corpora: {en: en.txt}\nsteps: 9\nvocabulary: {size: 60}\nbatch: 2\n")
    small = ("--set", "shape.layers=1", "--set", "shape.width=16", "--set", "shape.positions=16")
    status, _, said = run("pretrain", "c.yaml", "--out", "made", "--device", "cpu", *small)
    assert status == 0, said
    assert "subwords/s" in said
    status, shown, _ = run("encoders", "show", "made", "--device", "cpu")
    assert status == 0
    assert "layers    1" in shown


def test_what_there_is(run):
    status, shown, _ = run("list")
    assert status == 0
    for word in ("pos ", "muller2021.pos", "cka_shuffled", "xlm-roberta", "ud/en_toy", "albert (refused"):
        assert word in shown
    status, shown, _ = run("list", "tasks")
    assert shown.startswith("pos ")
    status, shown, _ = run("doctor")
    assert status == 0
    for word in ("torch", "threads", "CROSSLENS_DATA; 10 corpora"):
        assert word in shown


WRONG = {
    "an unknown task": (["finetune", "poss", "@", "--train", "ud/en_toy", "--test", "ud/fr_pud"], "did you mean 'pos'"),
    "an unknown corpus": (["finetune", "pos", "@", "--train", "ud/en_tyo", "--test", "ud/fr_pud"], "'ud/en_toy'"),
    "an unknown test corpus": (["finetune", "pos", "@", "--train", "ud/en_toy", "--test", "ud/fr_pdu"], "'ud/fr_pud'"),
    "no dev split": (["finetune", "pos", "@", "--train", "ud/fr_pud:test", "--test", "ud/fr_pud"], "has no dev split"),
    "an unknown layer": (
        ["finetune", "pos", "@", "--train", "ud/en_toy", "--test", "ud/fr_pud", "--random-init", "5"], "layer 5 does not exist",  # noqa: E501
    ),
    "unknown components": (
        ["finetune", "pos", "@", "--train", "ud/en_toy", "--test", "ud/fr_pud"]  # noqa: RUF005
        + ["--random-init", "1", "--components", "x"],
        "components: input should be 'all', 'attention'",
    ),
    "an unknown setting": (
        ["finetune", "pos", "@", "--train", "ud/en_toy", "--test", "ud/fr_pud", "--set", "epoch=1"], "mean 'epochs'",
    ),
    "a setting that is none": (
        ["finetune", "pos", "@", "--train", "ud/en_toy", "--test", "ud/fr_pud", "--set", "epochs"], "not key=value",
    ),
    "an unknown recipe": (
        ["finetune", "pos", "@", "--train", "ud/en_toy", "--test", "ud/fr_pud", "--recipe", "x"], "no recipe 'x'",
    ),
    "an unknown encoder": (
        ["finetune", "pos", "./none", "--train", "ud/en_toy", "--test", "ud/fr_pud"], "folder ./none not found",
    ),
    "an encoder of the hub, offline": (
        ["finetune", "pos", "no/such", "--train", "ud/en_toy", "--test", "ud/fr_pud"], "the network is switched off",
    ),
    "an unknown language": (["compare", "@", "--pairs", "en-xx"], "does not contain language 'xx'"),
    "a pair that is none": (["compare", "@", "--pairs", "enfr"], "is not a language pair"),
    "an unknown measure": (["compare", "@", "--pairs", "en-fr", "--measures", "ckaa"], "did you mean 'cka'"),
    "an unknown null": (["compare", "@", "--pairs", "en-fr", "--null", "shuffle"], "did you mean 'shuffled'"),
    "an unknown pooling": (["compare", "@", "--pairs", "en-fr", "--pooling", "max"], "'max' is not one of 'mean'"),
    "no language of origin": (["compare", "@", "--pairs", "en-fr", "--original", "de"], "written in 'de'"),
    "a parallel corpus that is none": (
        ["compare", "@", "--corpus", "flores/dev", "--pairs", "en-fr"], "is not the name of a parallel corpus",
    ),
    "a model that is none": (["evaluate", "@", "--test", "ud/fr_pud"], "has no crosslens.json"),
    "an unknown encoder to get": (["encoders", "get", "e5-large"], "known: e5-small"),
    "unknown data": (["data", "get", "udd", "--release", "2.14", "--into", "x"], "no data called 'udd'"),
    "a settings file that is not there": (["pretrain", "x.yaml"], "no settings file x.yaml"),
}  # fmt: skip


@pytest.mark.parametrize(("arguments", "message"), WRONG.values(), ids=WRONG.keys())
def test_wrong_requests_are_one_sentence_and_exit_2(run, tiny_bert, tmp_path, arguments, message):
    arguments = [str(tiny_bert) if a == "@" else a for a in arguments]
    out = [] if arguments[0] == "data" else ["--out", "out"]
    status, shown, said = run(*arguments, *out)
    assert status == 2, said
    assert message in said
    assert shown == ""
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []  # nothing half-written


def test_failed_work_exits_1_and_leaves_nothing(run, tiny_bert, tmp_path):
    status, _, said = finetune(run, tiny_bert, "--set", "learning_rate=1e30", "--set", "clip=none")
    assert status == 1
    assert "crosslens: the " in said
    assert "hint: lower the learning rate" in said
    assert list(tmp_path.iterdir()) == []


def test_out_is_never_overwritten(run, tiny_bert, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "precious").write_text("x")
    status, _, said = finetune(run, tiny_bert)
    assert (status, "out exists already" in said) == (2, True)
    assert (tmp_path / "out" / "precious").read_text() == "x"


def test_a_treebank_without_the_annotation(run, tiny_bert, tmp_path):
    (tmp_path / "raw.conllu").write_text("1\ta" + "\t_" * 8 + "\n\n")
    status, _, said = finetune(run, tiny_bert, test="raw.conllu")
    assert status == 2
    assert "raw.conllu:1: raw.conllu has no upos" in said
    (tmp_path / "empty.conllu").write_text("")
    status, _, said = finetune(run, tiny_bert, test="empty.conllu")
    assert (status, "empty.conllu: contains no sentences" in said) == (2, True)


def test_a_prediction_for_other_sentences(run, treebanks, tmp_path):
    gold = treebanks / "ud" / "UD_FR-pud" / "fr_pud-ud-test.conllu"
    corpus = read(gold)
    write(corpus[1:], tmp_path / "less.conllu")
    status, _, said = run("score", "pos", gold, "less.conllu")
    assert status == 2
    assert "less.conllu:1: sentence 1 differs in words from the gold one" in said
    write(corpus[:-1], tmp_path / "fewer.conllu")
    status, _, said = run("score", "pos", gold, "fewer.conllu")
    assert (status, "fewer.conllu: 5 sentences, but the gold" in said) == (2, True)


def test_what_was_long_in_training_is_said_as_it_is_written(run, tiny_bert):
    """``ud/en_toy:train:`` must not become a picture of a train."""
    status, _, said = finetune(run, tiny_bert, "--set", "window=12", "--set", "context=4")
    assert status == 0
    assert "ud/en_toy:train: sentences read in several windows: 4" in said


def test_parsing_end_to_end(run, tiny_bert, treebanks, tmp_path):
    status, shown, said = run(
        "finetune", "parsing", tiny_bert, "--train", "ud/en_toy", "--test", "ud/*_pud", "--out", "out", *FAST,
        "--set", "arc_size=20", "--set", "relation_size=10", "--recipe", "muller2021-ref", "--predictions", "kept",
    )  # fmt: skip
    assert status == 0, said
    assert "parsing las, trained on ud/en_toy:train" in shown
    assert "dev uas" in said
    rows = [row for row in rows_of("out/results.csv") if row["target"] == "fr"]
    assert [row["metric"] for row in rows] == ["las", "uas", "las_nopunct", "uas_nopunct"]
    assert "relations:full" in rows[0]["signature"]
    assert rows[0]["recipe"] == "muller2021-ref.parsing"
    assert "arc_size=20" in rows[0]["settings"]
    gold = treebanks / "ud" / "UD_FR-pud" / "fr_pud-ud-test.conllu"
    kept = gold.read_text().replace("det", "mod")
    (tmp_path / "wrong.conllu").write_text(kept)
    status, shown, _ = run("score", "parsing", "ud/fr_pud", "wrong.conllu", "--json")
    scores = json.loads(shown)
    assert (scores["uas"], scores["las"] < 100, scores["n"]["las"]) == (100.0, True, read(gold).words)


def test_entities_end_to_end(run, tiny_bert, treebanks, tmp_path):
    status, shown, said = run(
        "finetune", "ner", tiny_bert, "--train", "uner/en_toy", "--test", "uner/fr_pud", "--out", "out", *FAST,
        "--predictions", "kept", "--keep-model",
    )  # fmt: skip
    assert status == 0, said
    assert "ner f1, trained on uner/en_toy:train" in shown
    f1 = next(row for row in rows_of("out/results.csv") if row["metric"] == "f1")
    status, shown, _ = run("score", "ner", "uner/fr_pud", "kept/uner_fr_pud-test.iob2", "--json")
    assert status == 0
    assert json.loads(shown)["f1"] == pytest.approx(float(f1["value"]))
    gold = treebanks / "uner" / "UNER_FR-pud" / "fr_pud-ud-test.iob2"
    comments = [line for line in gold.read_text().split("\n") if line.startswith("#")]
    predicted = (tmp_path / "kept" / "uner_fr_pud-test.iob2").read_text().split("\n")
    assert [line for line in predicted if line.startswith("#")] == comments
    (tmp_path / "raw.txt").write_text("the cat sleeps .\n\nhe reads\n")
    assert run("predict", "out/model", "raw.txt", "--out", "p.iob2", "--device", "cpu")[0] == 0
    assert [line.split("\t")[1] for line in (tmp_path / "p.iob2").read_text().split("\n") if line] == [
        "the", "cat", "sleeps", ".", "he", "reads"
    ]  # fmt: skip
    status, _, said = run("predict", "out/model", "raw.txt", "--out", "p.conllu", "--device", "cpu")
    assert (status, "ner is written as .iob2" in said) == (2, True)


def test_a_laboratory_as_files_and_as_corpora(run, tiny_bert, tmp_path):
    status, _, said = run("lab", "export", "--preset", "no-anchors", "--seed", "3", "--out", "lab")
    assert status == 0
    assert "next: crosslens pretrain lab/pretrain.yaml --out lab/encoder" in said
    made = {str(path.relative_to(tmp_path / "lab")) for path in (tmp_path / "lab").rglob("*") if path.is_file()}
    assert {"src/train.conllu", "sov/test.iob2", "text/gen.txt", "dictionaries/src-adj.txt", "pretrain.yaml"} <= made
    assert len(read("lab/src/train.conllu")) == 2000
    status, shown, said = run(
        "finetune", "pos", tiny_bert, "--train", "lab/src[:20]", "--test", "lab/sov[:10]", "--out", "o", *FAST,
        "--set", "select=last",
    )  # fmt: skip
    assert status == 0, said
    assert "sov lab/sov:test[:10]" in shown
    status, shown, _ = run("list", "presets")
    assert "no-anchors  no word is shared but the full stop" in shown
    assert run("lab", "export", "--preset", "goood", "--out", "x")[0] == 2
    assert run("demo", "--preset", "goood", "--out", "x")[0] == 2
    assert not (tmp_path / "x").exists()


TRAIN = ("finetune", "ner", "x", "--out", "o", "--train")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("score", "parsing", "two-roots.conllu", "two-roots.conllu"), "two-roots.conllu:1: the sentence has 2 roots"),
        (("score", "parsing", "uner/fr_pud", "uner/fr_pud"), "iob2:1: uner/fr_pud:test has no heads"),
        (("score", "ner", "uner/fr_pud", "bad.iob2"), "bad.iob2:1: 'B_PER' is not an IOB tag"),
        (("score", "ner", "uner/fr_pud", "short.iob2"), "short.iob2:2: 1 columns, but the first word"),
        (("score", "ner", "uner/fr_pud", "uner/en_pud"), "sentence 1 differs in words from the gold one"),
        (("score", "ner", "uner/fr_pud", "uner/fr_pud", "--set", "repair=lenient"), "repair=lenient"),
        (("score", "pos", "ud/fr_pud", "ud/fr_pud", "--set", "relations=full"), "has no setting 'relations'"),
        ((*TRAIN, "ud/en_toy", "--test", "uner/fr_pud"), "has no entities"),
        ((*TRAIN, "uner/en_toy", "--test", "uner/fr_pud", "--set", "arcs=3"), "nor ner have a setting 'arcs'"),
        ((*TRAIN, "uner/en_toy", "--test", "uner/fr_pud,uner/fr_pud", "--predictions", "p"), "would be one file"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_trees_and_tags_is_one_sentence(run, tmp_path, arguments, message):
    row = "{}\tx\t_\tNOUN\t_\t_\t0\troot\t_\t_\n"
    (tmp_path / "two-roots.conllu").write_text(row.format(1) + row.format(2) + "\n")
    (tmp_path / "bad.iob2").write_text("Paris\tB_PER\n")
    (tmp_path / "short.iob2").write_text("Paris\tB-LOC\nici\n")
    status, _, said = run(*arguments)
    assert status == 2
    assert message in said
    assert "Traceback" not in said
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize("command", [(), *((name,) for name in cli.COMMANDS), ("encoders", "get"), ("data", "get")])
def test_every_command_has_help(run, command):
    status, shown, _ = run(*command, "--help")
    assert status == 0
    assert "Usage: crosslens" in shown


def test_help_imports_nothing_heavy():
    code = (
        "import sys; sys.argv = ['crosslens', '--help']\n"
        "from crosslens.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print({'torch', 'numpy', 'transformers', 'pandas', 'pyarrow', 'rich', 'pydantic'} & set(sys.modules))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.splitlines()[-1] == "set()"
    assert all(name in shown for name in cli.COMMANDS)


@pytest.mark.parametrize(
    ("words", "status"), [(["list"], 0), (["score", "parsing", "lab/sov", "lab/sov"], 0), (["typology", "none"], 2)]
)
def test_what_computes_nothing_does_not_wait_for_torch(tmp_path, words, status):
    """torch and transformers take seconds to be imported. What a refused command would import, it imports here."""
    code = (
        "import importlib, sys\n"
        "from crosslens.cli import main\n"
        f"sys.argv = ['crosslens', *{words}]\n"
        "code = 0\n"
        "try: main()\nexcept SystemExit as end: code = end.code or 0\n"
        "for name in ('report.page', 'studies.typology', 'runs.status', 'runs.explain', 'results.record'):\n"
        "    importlib.import_module(f'crosslens.{name}')\n"
        "print(code, {'torch', 'transformers'} & set(sys.modules))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert ended.stdout.splitlines()[-1] == f"{status} set()", ended.stderr


def test_a_laboratory_of_other_shares(run, tmp_path):
    status, _, said = run("lab", "export", "--set", "anchors=1", "--set", "sentences=50", "--seed", "4", "--out", "lab")
    assert status == 0, said
    pairs = [line.split() for line in (tmp_path / "lab/dictionaries/src-sov.txt").read_text("utf-8").splitlines()]
    assert sum(a == b for a, b in pairs) > 0.7 * len(pairs)
    assert len((tmp_path / "lab/text/src.txt").read_text("utf-8").splitlines()) == 50


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("anchors=1.5", "anchors=1.5: Input should be less than or equal to 1"),
        ("homonyms=-0.1", "homonyms=-0.1: Input should be greater than or equal to 0"),
        ("anchor=0.5", "a laboratory has no setting 'anchor'"),
        ("sentences=0", "sentences=0: Input should be greater than or equal to 1"),
        ("anchors", "--set anchors: is not key=value"),
    ],
)
def test_shares_that_are_none(run, tmp_path, setting, words):
    status, _, said = run("lab", "export", "--set", setting, "--out", "lab")
    assert status == 2
    assert words in said
    assert len(said.strip().splitlines()) <= 2
    assert not (tmp_path / "lab").exists()
