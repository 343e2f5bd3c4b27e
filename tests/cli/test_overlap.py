"""``crosslens overlap``."""

from toy_commands import rows_of


def test_the_test_data_are_compared_with_the_training_split(run, tiny_bert):
    words = ("overlap", tiny_bert, "--train", "ud/en_toy", "--test", "ud/en_toy,ud/fr_pud", "--out", "out")
    status, shown, said = run(*words)
    assert status == 0, said
    rows = rows_of("out/results.csv")
    assert {(row["train"], row["corpus"]) for row in rows} == {
        ("ud/en_toy:train", "ud/en_toy:test"),
        ("ud/en_toy:train", "ud/fr_pud:test"),
    }
    values = {(row["target"], row["corpus"], row["measure"]): f"{float(row['value']):.2f}" for row in rows}
    lines = [line.split() for line in shown.splitlines()]
    for names in (["en", "ud/en_toy:test"], ["fr", "ud/fr_pud:test"]):
        assert [*names, *(values[*names, f"overlap_{unit}"] for unit in ("tokens", "types"))] in lines


def test_a_fine_tuned_model_has_the_rows_of_its_encoder(run, tiny_bert):
    corpora = ("--train", "ud/en_toy", "--test", "ud/fr_pud")
    trained = ("--set", "epochs=1", "--keep-model", "--device", "cpu", "--out", "tagger")
    assert run("finetune", "pos", tiny_bert, *corpora, *trained)[0] == 0
    rows = []
    for name, encoder in (("encoder", tiny_bert), ("model", "tagger/model")):
        status, _, said = run("overlap", encoder, *corpora, "--out", name)
        assert status == 0, said
        rows.append([(row["encoder"], row["measure"], row["value"]) for row in rows_of(f"{name}/results.csv")])
    assert rows[0] == rows[1]


def test_a_limit_is_that_of_the_models_training(run, tiny_bert):
    words = ("overlap", tiny_bert, "--train", "ud/en_toy", "--test", "ud/fr_pud")
    status, shown, said = run(*words, "--limit", "2", "--out", "out")
    assert status == 0, said
    assert "occur in 2 sentences of ud/en_toy, in percent" in shown
    assert {row["settings"] for row in rows_of("out/results.csv")} == {"limit=2"}
    assert run(*words, "--limit", "0", "--out", "none")[0] == 2
