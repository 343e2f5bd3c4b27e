import json
import shutil
from pathlib import Path

import pytest

from crosslens.corpora.catalogue import load_corpus
from crosslens.data.formats.conllu import read
from crosslens.training.checkpoint import TRAINED_ON
from toy_commands import finetune, rows_of


def test_a_kept_model_is_evaluated_predicts_and_is_scored(run, tiny_bert, treebanks, tmp_path):
    assert finetune(run, tiny_bert, "--keep-model", "--predictions", "kept", "--freeze", "0", test="ud/*_pud")[0] == 0
    assert sorted(p.name for p in (tmp_path / "kept").iterdir()) == ["ud_en_pud-test.conllu", "ud_fr_pud-test.conllu"]
    status, shown, _ = run("evaluate", "out/model", "--test", "ud/fr_pud", "--out", "again", "--device", "cpu")
    assert status == 0
    assert "ud/fr_pud:test" in shown
    assert shown.splitlines()[-1] == "again/results.csv has intervals and signatures"
    first = [row for row in rows_of("out/results.csv") if row["target"] == "fr"]
    second = rows_of("again/results.csv")
    assert first[0]["value"] == second[0]["value"]

    gold = treebanks / "ud" / "UD_FR-pud" / "fr_pud-ud-test.conllu"
    status, _, err = run("predict", "out/model", gold, "--out", "p.txt", "--device", "cpu")
    assert (status, "name a file that ends in .conllu" in err) == (2, True)
    assert run("predict", "out/model", gold, "--out", "p.conllu", "--device", "cpu")[0] == 0
    assert read("p.conllu")[0].heads == read(gold)[0].heads
    (tmp_path / "half.conllu").write_text(gold.read_text("utf-8").replace("\tNOUN\t", "\t_\t"), "utf-8")
    assert run("predict", "out/model", "half.conllu", "--out", "whole.conllu", "--device", "cpu")[0] == 0
    assert (tmp_path / "whole.conllu").read_bytes() == (tmp_path / "p.conllu").read_bytes()
    status, shown, _ = run("score", "pos", gold, "p.conllu", "--json")
    assert status == 0
    assert json.loads(shown)["accuracy"] == pytest.approx(float(second[0]["value"]))
    status, shown, _ = run("score", "pos", gold, gold)
    assert shown.startswith("accuracy 100.00  95 % [100.00, 100.00]  n=")


def test_running_text_is_split_into_words_when_asked(run, tiny_bert, tmp_path):
    assert finetune(run, tiny_bert, "--keep-model", test="ud/en_pud")[0] == 0
    (tmp_path / "raw.txt").write_text("Le chat dort.\nL'eau, c'est bon!\n", "utf-8")
    words = ("predict", "out/model", "raw.txt", "--device", "cpu", "--out")
    status, _, err = run(*words, "attached.conllu")
    assert status == 0
    assert (
        err.splitlines().count(
            "raw.txt: words must be separated by spaces, punctuation marks too, but 'dort.' is one"
            " word (crosslens predict --split-words splits it)"
        )
        == 1
    )
    status, _, err = run(*words, "split.conllu", "--split-words")
    assert (status, "separated" in err) == (0, False)
    assert [sentence.words for sentence in read("split.conllu")] == [
        ("Le", "chat", "dort", "."),
        ("L'eau", ",", "c'est", "bon", "!"),
    ]
    lines = (tmp_path / "split.conllu").read_text("utf-8").splitlines()
    assert [line for line in lines if line[:1] == "#"] == ["# text = Le chat dort.", "# text = L'eau, c'est bon!"]
    assert [line.split("\t")[1] for line in lines if line.endswith("SpaceAfter=No")] == ["dort", "L'eau", "bon"]
    status, _, err = run("predict", "out/model", "split.conllu", "--split-words", "--out", "lines.conllu")
    assert (status, "split.conllu is not raw text" in err) == (2, True)


def test_labels_of_texts_are_written_as_the_file_is_named(run, tiny_bert, tmp_path):
    rows = [("a good film", "good"), ("a bad film", "bad")]
    (tmp_path / "en.csv").write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in rows))
    named = {"task": "document", "train": "en=en.csv", "test": "en=en.csv"}
    status, shown, _ = finetune(run, tiny_bert, "--recipe", "small", "--keep-model", **named)
    assert status == 0
    assert (
        "always predicting the most frequent label of a corpus: 50.00; also in the training data: 100 % of en.csv; seed"
        in shown
    )
    for ending in ("tsv", "csv", "jsonl"):
        assert run("predict", "out/model", "en.csv", "--out", f"p.{ending}", "--device", "cpu")[0] == 0
        assert [text.text for text in load_corpus(f"p.{ending}").texts] == [text for text, _ in rows]
        assert run("score", "document", "en.csv", f"p.{ending}")[0] == 0
    status, _, error = run("predict", "out/model", "en.csv", "--out", "p.conllu", "--device", "cpu")
    assert status == 2
    assert "document is written as .tsv or .csv or .jsonl" in error


def test_interventions_on_a_model_are_evaluated_and_recorded(run, tiny_bert, tmp_path):
    assert finetune(run, tiny_bert, "--keep-model")[0] == 0
    asked = ("evaluate", "out/model", "--test", "ud/fr_pud", "--device", "cpu")
    status, _, _ = run(*asked, "--out", "ablated", "--intervene", "1-2:mean", "--intervene", "4.output:zero")
    assert status == 0
    assert [row["condition"] for row in rows_of("ablated/results.csv")] == ['{"zero": "4.output", "mean": "1-2"}']
    for text, message in (("9:zero", "layer 9 does not exist"), ("1:noise", "noise takes a value")):
        status, _, err = run(*asked, "--out", "wrong", "--intervene", text)
        assert (status, message in err) == (2, True)
        assert not (tmp_path / "wrong").exists()


@pytest.mark.parametrize("kind", ["revert", "swap=lab:good", "add=lab:good"])
def test_a_model_takes_layers_of_the_cached_encoder_of_a_laboratory(run, tiny_bert, tmp_path, monkeypatch, kind):
    cached = tmp_path / "cache" / "0a1b2c" / "lab-good"
    shutil.copytree(tiny_bert, cached)
    (cached.parent / "lab").mkdir()
    (cached.parent / "lab" / "pretrain.yaml").touch()
    assert finetune(run, cached, "--keep-model")[0] == 0
    monkeypatch.setattr("crosslens.mlm.lab_encoder.pretrained_laboratory", lambda *args, **more: cached)
    asked = ("--test", "ud/fr_pud", "--device", "cpu", "--intervene", f"1-2:{kind}", "--out", "changed")
    status, _, said = run("evaluate", "out/model", *asked)
    assert status == 0, said
    (row,) = rows_of("changed/results.csv")
    assert row["encoder"] == "lab:good"
    assert json.loads(row["condition"]).get("swap_from", "lab:good") == "lab:good"


def test_addresses_of_an_encoder_are_listed(run, tiny_bert):
    status, shown, _ = run("encoders", "show", tiny_bert, "--addresses", "--device", "cpu")
    assert status == 0
    assert shown.splitlines()[0].startswith("0 ")
    assert "1.attention.head.0-" in shown


def test_precision_is_chosen_and_recorded(run, tiny_bert, monkeypatch):
    monkeypatch.setattr("crosslens.encoders.matmul._processor_features", frozenset)
    assert finetune(run, tiny_bert, "--keep-model", "--precision", "auto")[0] == 0
    assert {row["condition"] for row in rows_of("out/results.csv")} == {"none"}
    asked = ("evaluate", "out/model", "--test", "ud/fr_pud", "--device", "cpu", "--precision")
    status, _, said = run(*asked, "bfloat16", "--out", "coarse")
    assert (status, "bfloat16 is slower than float32 on this device" in said) == (0, True)
    assert "UserWarning" not in said
    assert [row["condition"] for row in rows_of("coarse/results.csv")] == ['{"precision": "bfloat16"}']
    assert run(*asked, "half", "--out", "wrong")[0] == 2


def test_a_model_trained_in_bfloat16_is_neither_evaluated_nor_predicts_in_float32(run, tiny_bert):
    assert finetune(run, tiny_bert, "--keep-model", "--set", "precision=bfloat16")[0] == 0
    chosen = ("--precision", "float32", "--device", "cpu")
    for words in (
        ("evaluate", "out/model", "--test", "ud/fr_pud", "--out", "again"),
        ("predict", "out/model", "ud/fr_pud", "--out", "tagged.conllu"),
    ):
        status, _, error = run(*words, *chosen)
        assert (status, "trained with precision=bfloat16, in which it also predicts" in error) == (2, True), error
    assert run("predict", "out/model", "ud/fr_pud", "--out", "tagged.conllu", "--device", "cpu")[0] == 0


def test_a_kept_model_knows_the_language_given_with_its_training_file(run, tiny_bert, treebanks, tmp_path):
    shutil.copy(treebanks / "ud" / "UD_FR-pud" / "fr_pud-ud-test.conllu", tmp_path / "mine.conllu")
    named = {"train": "wo=mine.conllu", "test": "wo=mine.conllu"}
    assert finetune(run, tiny_bert, "--recipe", "small", "--keep-model", **named)[0] == 0
    assert run("evaluate", "out/model", "--test", "wo=mine.conllu", "--out", "again", "--device", "cpu")[0] == 0
    assert {(row["source"], row["target"]) for row in rows_of("again/results.csv")} == {("wo", "wo")}


def test_a_kept_model_knows_the_data_that_it_was_trained_on(run, tiny_bert, treebanks, tmp_path):
    (train,) = treebanks.glob("ud/*/en_toy-ud-train.conllu")
    sentences = train.read_text("utf-8").strip().split("\n\n")
    (tmp_path / "half.conllu").write_text("\n\n".join(sentences[::2]) + "\n\n", "utf-8")
    assert finetune(run, tiny_bert, "--keep-model", test="ud/fr_pud")[0] == 0

    def warnings(test, *more):
        status, _, said = run("evaluate", "out/model", "--test", test, "--out", "again", "--overwrite", *more)
        assert status == 0, said
        return [line for line in said.splitlines() if "training" in line]

    assert warnings("ud/fr_pud") == []
    same = "ud/en_toy:train is also the training corpus, so its score says nothing about new sentences"
    assert warnings("ud/en_toy:train,ud/fr_pud") == [same]
    count = len(sentences[::2])
    shared = (
        f"{count} sentences of half.conllu (100 %) are also in the training data (ud/en_toy:train), so its score says"
        " little about new sentences"
    )
    assert warnings("en=half.conllu") == [shared]
    assert {json.loads(row["tags"])["trained_sentences"] for row in rows_of("again/results.csv")} == {count}
    assert warnings("xx=half.conllu") == [shared]
    for file in (TRAINED_ON, "SHA256SUMS"):
        Path("out/model", file).unlink()
    assert warnings("xx=half.conllu") == []
    assert "trained_sentences" not in rows_of("again/results.csv")[0]["tags"]
