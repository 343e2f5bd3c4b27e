import shutil
from pathlib import Path

import numpy as np
import pytest

from crosslens.results.record import concatenated
from crosslens.results.record_settings import settings_of
from crosslens.runs.recorded import read_results
from toy_commands import rows_of
from toys import SENTENCES


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
    asked = ("--measure", "cka,retrieval", "--baseline", "shuffled,length-matched,untrained", "--intervals")
    words = ("--pairs", "en-fr", "--out", "sim", "--export", "vectors", "--pooling", "first", "--device", "cpu")
    status, shown, said = run("compare", tiny_bert, *asked, *words)
    assert status == 0, said
    assert "untrained en-fr retrieval_length_matched" in shown
    rows = rows_of("sim/results.csv")
    assert len(rows) == 2 * 5 * 6
    assert all(float(row["low"]) <= float(row["value"]) <= float(row["high"]) for row in rows if row["low"])
    vectors = np.load("vectors/fr.npy")
    assert vectors.shape == (5, 6, 32)
    assert sorted(path.name for path in Path("vectors").iterdir()) == ["en.npy", "fr.npy"]
    status, _, said = run("compare", tiny_bert, *words)
    assert (status, "--out: sim exists already" in said) == (2, True)


def test_too_few_sentences_are_refused_before_the_encoder_is_loaded(run):
    status, _, said = run("compare", "no/such/encoder", "--pairs", "en-fr", "--sentences", "3", "--out", "sim")
    assert (status, "cka_debiased needs at least 4 items, but ud/pud has 3" in said) == (2, True), said


def test_a_fine_tuned_model_is_called_one(run, tiny_bert, treebanks):
    trained = ("--train", "ud/en_toy", "--test", "ud/fr_pud", "--set", "epochs=1", "--random-init", "1-2")
    words = ("--seed", "3", "--keep-model", "--device", "cpu", "--out", "tagger")
    assert run("finetune", "pos", tiny_bert, *trained, *words)[0] == 0
    measured = ("--pairs", "en-fr", "--measures", "cka", "--baseline", "untrained", "--device", "cpu", "--out", "sim")
    status, _, said = run("compare", "tagger/model", *measured)
    assert status == 0, said
    described = {tuple(row[name] for name in ("state", "task", "seed")) for row in rows_of("sim/results.csv")}
    assert described == {("fine-tuned", "pos", "3"), ("untrained", "", "1")}
    (run_id,) = {row["run"] for row in rows_of("tagger/results.csv")}
    assert {row["run"] for row in rows_of("sim/results.csv") if row["state"] == "fine-tuned"} == {run_id}
    status, _, said = run("compare", tiny_bert, "--against", "tagger/model", *measured, "--overwrite")
    assert status == 0, said
    settings = {row["state"]: settings_of(row["settings"]) for row in rows_of("sim/results.csv")}
    assert settings["pretrained"]["against_task"] == "pos"
    assert settings["pretrained"]["against_run"] == run_id
    assert "against_run" not in settings["untrained"]


def test_the_seed_of_a_model_whose_layers_are_re_initialised_is_that_of_these_layers(run, tiny_bert, treebanks):
    recipe = ("--recipe", "small", "--set", "epochs=1", "--device", "cpu", "--random-init", "1", "--seed", "3")
    trained = ("--train", "ud/en_toy", "--test", "ud/fr_pud", "--keep-model", "--out", "tagger")
    assert run("finetune", "pos", tiny_bert, *trained, *recipe)[0] == 0
    words = ("--pairs", "en-fr", "--measures", "cka", "--device", "cpu")
    for more, seed in (((), "3"), (("--random-init", "2", "--seed", "7"), "7")):
        assert run("compare", "tagger/model", *words, *more, "--out", f"sim{seed}")[0] == 0
        rows = rows_of(f"sim{seed}/results.csv")
        assert {(row["state"], row["task"], row["seed"]) for row in rows} == {("fine-tuned", "pos", seed)}


def test_the_similarity_of_a_fine_tuned_model_is_correlated_with_its_scores(run, tiny_bert, treebanks):
    recipe = ("--recipe", "small", "--set", "epochs=1", "--device", "cpu")
    trained = ("--train", "ud/en_toy", "--test", "ud/en_pud,ud/fr_pud", "--keep-model", "--out", "tagger")
    assert run("finetune", "pos", tiny_bert, *trained, *recipe)[0] == 0
    words = ("--pairs", "en-fr", "--measures", "cka", "--device", "cpu", "--out", "sim")
    assert run("compare", "tagger/model", *words)[0] == 0
    own = read_results("tagger/results.csv", "sim/results.csv")
    french = own.filter(target="fr")
    concatenated([own, *(french.with_columns(target=target) for target in ("de", "ru"))]).write("all.csv")
    status, shown, said = run("correlate", "all.csv")
    assert status == 0, said
    assert "pos en fine-tuned cka mean" in shown


def test_the_encoder_of_a_laboratory_is_called_so_in_the_title(run, tiny_bert, tmp_path):
    shutil.copytree(tiny_bert, tmp_path / "lab-good")
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "pretrain.yaml").touch()
    asked = ("--against", tiny_bert, "--pairs", "en-fr", "--measures", "cka", "--out", "sim", "--device", "cpu")
    status, shown, said = run("compare", tmp_path / "lab-good", *asked)
    assert (status, f"parallel sentences, lab:good and {tiny_bert}\n" in shown) == (0, True), said


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


def test_what_the_encoder_cannot_read_stands_below_similarities_and_precisions(run, tiny_bert, tmp_path):
    for language, lines in {"en": SENTENCES["en"], "ja": [f"日 日 日 {word}" for word in "abcdef"]}.items():
        (tmp_path / f"dev.{language}").write_text("\n".join(lines) + "\n", "utf-8")
    note = "subwords that the encoder does not know: ja in en=dev.en,ja=dev.ja (75 %)"
    corpus = "en=dev.en,ja=dev.ja"
    words = ("--corpus", corpus, "--pairs", "en-ja", "--measure", "cka", "--device", "cpu")
    status, shown, said = run("compare", tiny_bert, *words, "--out", "sim")
    assert (status, note in " ".join(shown.split())) == (0, True), said + shown
    halves = ("--train", corpus, "--test", corpus, "--mapping", "identity", "--baseline", "untrained")
    status, shown, said = run("align", "sentences", tiny_bert, "--pair", "en-ja", *halves, "--out", "aligned")
    assert (status, note in " ".join(shown.split())) == (0, True), said + shown
