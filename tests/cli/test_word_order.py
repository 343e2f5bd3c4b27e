"""``crosslens word-order``."""

from toy_commands import rows_of

OBJECT_LAST = [("dogs", "NOUN", 2, "nsubj"), ("see", "VERB", 0, "root"), ("cats", "NOUN", 2, "obj")]
VERB_LAST = [("dogs", "NOUN", 3, "nsubj"), ("cats", "NOUN", 3, "obj"), ("see", "VERB", 0, "root")]


def test_treebanks_are_compared_with_the_training_split_of_the_source(run):
    status, _, said = run("word-order", "--source", "ud/en_toy", "--test", "ud/fr_pud", "--out", "out")
    assert status == 0, said
    (row,) = rows_of("out/results.csv")
    assert (row["train"], row["corpus"]) == ("ud/en_toy:train", "ud/fr_pud:test")


def test_the_nearest_treebank_stands_first(run, tmp_path):
    for name, tree in (("near", OBJECT_LAST), ("far", VERB_LAST)):
        lines = [
            f"{place}\t{word}\t_\t{tag}\t_\t_\t{head}\t{relation}\t_\t_\n"
            for place, (word, tag, head, relation) in enumerate(tree, start=1)
        ]
        (tmp_path / f"{name}.conllu").write_text("".join([*lines, "\n"]) * 30, "utf-8")
    for names in ("near.conllu,far.conllu", "far.conllu,near.conllu"):
        status, shown, said = run("word-order", "--source", "near.conllu", "--test", names, "--out", names)
        assert status == 0, said
        rows = [line.split() for line in shown.splitlines() if ".conllu " in line]
        assert [row[-2] for row in rows] == ["0.00", "0.50"]
        assert ["near.conllu" in rows[0], "far.conllu" in rows[1]] == [True, True]
