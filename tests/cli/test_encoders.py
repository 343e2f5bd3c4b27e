"""Encoders as commands name them."""

import pandas as pd


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
