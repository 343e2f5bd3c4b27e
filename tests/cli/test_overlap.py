"""``crosslens overlap``."""

from toy_commands import rows_of


def test_the_test_data_are_compared_with_the_training_split(run, tiny_bert):
    status, _, said = run("overlap", tiny_bert, "--train", "ud/en_toy", "--test", "ud/en_toy,ud/fr_pud", "--out", "out")
    assert status == 0, said
    rows = rows_of("out/results.csv")
    assert {(row["train"], row["corpus"]) for row in rows} == {
        ("ud/en_toy:train", "ud/en_toy:test"),
        ("ud/en_toy:train", "ud/fr_pud:test"),
    }
