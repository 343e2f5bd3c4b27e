"""``crosslens word-order``."""

from toy_commands import rows_of


def test_treebanks_are_compared_with_the_training_split_of_the_source(run):
    status, _, said = run("word-order", "--source", "ud/en_toy", "--test", "ud/fr_pud", "--out", "out")
    assert status == 0, said
    (row,) = rows_of("out/results.csv")
    assert (row["train"], row["corpus"]) == ("ud/en_toy:train", "ud/fr_pud:test")
