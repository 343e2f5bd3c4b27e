"""The command ``probe``."""

from made_corpora import texts, write_texts


def test_from_the_command_line(run, tiny_bert, tmp_path):
    write_texts(tmp_path / "data" / "langid", texts(6, seed=1), texts(6, seed=2))
    asked = ("probe", "langid", tiny_bert, "--train", "langid/all", "--test", "langid/all", "--data", tmp_path / "data")
    status, said, _ = run(*asked, "--out", tmp_path / "out")
    assert (status, "accuracy_shuffled" in said, "3 labels" in said) == (0, True, True)
    confusion = (tmp_path / "out" / "confusion.csv").read_text().splitlines()
    assert confusion[0] == "layer,answer,given,count"
    assert sum(int(line.rsplit(",", 1)[1]) for line in confusion[1:]) == 18 * 5
    status, _, said = run(*asked, "--out", tmp_path / "out")
    assert (status, "exists" in said) == (2, True)
    status, said, _ = run("list", "probes")
    assert "the language of a text" in said
