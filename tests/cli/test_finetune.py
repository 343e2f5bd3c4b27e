import csv
import json
import shutil

import pytest

from crosslens.data.formats.conllu import read
from crosslens.errors import DataError
from crosslens.runs.finetuning import check_finetuning
from toy_commands import FAST, finetune, rows_of


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
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["counts.npz", "results.csv", "run.json"]


def test_a_test_corpus_that_is_the_training_corpus_is_reported(run, tiny_bert, treebanks):
    (copy,) = treebanks.glob("ud/*/en_toy-ud-train.conllu")
    status, shown, said = finetune(run, tiny_bert, test=f"en={copy},ud/fr_pud")
    assert all(f"trained on ud/en_toy:train, {split}" in shown for split in ("train", "test"))  # a table for each split
    warning = "is also the training corpus, so its score says nothing about new sentences"
    assert status == 0, said
    assert [line for line in said.splitlines() if "training corpus" in line] == [f"{copy} {warning}"]


def test_test_sentences_of_the_training_data_are_counted(run, tiny_bert, treebanks, tmp_path):
    (copy,) = treebanks.glob("ud/*/en_toy-ud-train.conllu")
    sentences = copy.read_text("utf-8").strip().split("\n\n")
    (tmp_path / "half.conllu").write_text("\n\n".join(sentences[::2]) + "\n\n", "utf-8")
    status, _, said = finetune(run, tiny_bert, test="en=half.conllu,ud/fr_pud")
    count = len(sentences[::2])
    assert status == 0, said
    assert [line for line in said.splitlines() if "training data" in line] == [
        "6 sentences of ud/en_toy:dev (100 %) are also in the training data (ud/en_toy:train), so its score says little"
        " about new sentences",
        f"{count} sentences of half.conllu (100 %) are also in the training data (ud/en_toy:train), so its score says"
        " little about new sentences",
    ]


@pytest.mark.parametrize("select", ["best", "last"])
def test_development_data_that_are_training_and_test_data_are_said_where_they_select_the_weights(
    run, tiny_bert, treebanks, tmp_path, select
):
    (train,) = treebanks.glob("ud/*/en_toy-ud-train.conllu")
    (tmp_path / "first.conllu").write_text(train.read_text("utf-8").partition("\n\n")[0] + "\n\n", "utf-8")
    named = ("--train", "ud/en_toy[1:]", "--dev", "en=first.conllu", "--test", "en=first.conllu")
    status, _, said = run(
        *("finetune", "pos", tiny_bert, *named, "--set", f"select={select}", "--device", "cpu", "--out", "out")
    )
    assert status == 0, said
    shared = "1 sentence of first.conllu (100 %) is also in the development data (first.conllu), so its score says"
    assert (shared in said) is (select == "best")


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


def test_what_is_odd_about_a_corpus_is_said(run, tiny_bert, tmp_path):
    row = "{}\t{}\t_\t{}\t_\t_\t{}\tdep\t_\t_\n"
    words = [("\u200b", "NOUN"), ("cat", "SYM"), ("x", "SYM")]
    text = "".join(row.format(i, word, tag, i - 1) for i, (word, tag) in enumerate(words, start=1))
    (tmp_path / "odd.conllu").write_text(text + "\n", "utf-8")
    status, _, said = finetune(run, tiny_bert, test="odd.conllu")
    assert status == 0
    assert "odd.conllu: gold labels absent from the training data, counted as errors: 2" in said
    assert "odd.conllu: words without subwords, encoded as the unknown token and scored: 1" in said
    assert "odd.conllu: language unknown, so the score is in no mean: name it, as in fr=odd.conllu" in said


def test_failed_work_exits_1_and_leaves_nothing(run, tiny_bert, tmp_path):
    status, _, said = finetune(run, tiny_bert, "--set", "learning_rate=1e30", "--set", "clip=none")
    assert status == 1
    assert "crosslens: the " in said
    assert "hint: lower the learning rate" in said
    assert list(tmp_path.iterdir()) == []


def test_out_is_never_overwritten(run, tiny_bert, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "precious").write_text("x")
    for more, refusal in ((["--overwrite"], "out was not written by crosslens"), ([], "out exists already")):
        status, _, said = finetune(run, tiny_bert, *more)
        assert (status, refusal in said) == (2, True), said
    assert (tmp_path / "out" / "precious").read_text() == "x"


def test_a_treebank_without_the_annotation(run, tiny_bert, tmp_path):
    (tmp_path / "raw.conllu").write_text("1\ta" + "\t_" * 8 + "\n\n")
    status, _, said = finetune(run, tiny_bert, test="raw.conllu")
    assert status == 2
    assert "crosslens: raw.conllu has no UPOS tags\n" in said
    (tmp_path / "empty.conllu").write_text("")
    status, _, said = finetune(run, tiny_bert, test="empty.conllu")
    assert (status, "empty.conllu: contains no sentences" in said) == (2, True)


def test_what_was_long_in_training_is_said_as_it_is_written(run, tiny_bert):
    """``ud/en_toy:train:`` must not become a picture of a train."""
    status, _, said = finetune(run, tiny_bert, "--set", "window=12", "--set", "context=4")
    assert status == 0
    assert "ud/en_toy:train: sentences read in several windows: 4" in said


def test_parsing_end_to_end(run, tiny_bert, treebanks, tmp_path):
    status, shown, said = run(
        "finetune",
        "parsing",
        tiny_bert,
        "--train",
        "ud/en_toy",
        "--test",
        "ud/*_pud",
        "--out",
        "out",
        *FAST,
        "--set",
        "arc_size=20",
        "--set",
        "relation_size=10",
        "--recipe",
        "muller2021-ref",
        "--predictions",
        "kept",
    )
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
        "finetune",
        "ner",
        tiny_bert,
        "--train",
        "uner/en_toy",
        "--test",
        "uner/fr_pud",
        "--out",
        "out",
        *FAST,
        "--predictions",
        "kept",
        "--keep-model",
    )
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
        "the",
        "cat",
        "sleeps",
        ".",
        "he",
        "reads",
    ]
    status, _, said = run("predict", "out/model", "raw.txt", "--out", "p.conllu", "--device", "cpu")
    assert (status, "ner is written as .iob2" in said) == (2, True)


@pytest.mark.parametrize("by_name", [True, False])
def test_the_encoder_of_a_laboratory_is_recorded_under_the_name_it_was_given(
    run, tiny_bert, tmp_path, monkeypatch, by_name
):
    cached = tmp_path / "cache" / "0a1b2c" / "lab-good"
    shutil.copytree(tiny_bert, cached)
    (cached.parent / "lab").mkdir()
    (cached.parent / "lab" / "pretrain.yaml").touch()
    monkeypatch.setattr("crosslens.mlm.lab_encoder.pretrained_laboratory", lambda *args, **more: cached)
    assert finetune(run, "lab:good" if by_name else cached)[0] == 0
    assert {row["encoder"] for row in rows_of(tmp_path / "out" / "results.csv")} == {"lab:good"}
    assert json.loads((tmp_path / "out" / "run.json").read_text())["encoder"] == "lab:good"
    assert str(cached) not in (tmp_path / "out" / "results.csv").read_text()


def test_a_development_set_without_labels_is_refused_before_the_encoder_is_loaded(treebanks, tmp_path):
    shutil.copytree(treebanks / "ud", tmp_path / "mine" / "ud")
    (dev,) = (tmp_path / "mine").glob("ud/*/en_toy-ud-dev.conllu")
    cells = [line.split("\t") for line in dev.read_text("utf-8").splitlines()]
    lines = ["\t".join([*row[:3], "_", *row[4:]]) if len(row) == 10 else "\t".join(row) for row in cells]
    dev.write_text("\n".join(lines) + "\n", "utf-8")
    with pytest.raises(DataError, match=r"en_toy.*dev.*UPOS"):
        check_finetuning("pos", train="ud/en_toy", tests=["ud/fr_pud"], data=str(tmp_path / "mine"))
