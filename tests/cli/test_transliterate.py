"""``crosslens transliterate``."""

from crosslens.data.formats import conllu, iob


def test_transliterate_writes_the_kind_of_file_it_reads(run, folder, treebanks):
    status, _, err = run("transliterate", "fr.conllu", "--scheme", "latin-cyrillic", "--out", "out.conllu")
    assert status == 0, err
    assert "6 items of fr.conllu@latin-cyrillic" in err
    assert conllu.read("out.conllu").sentences[0].words[1] == "цхат"
    assert run("transliterate", "fr.txt", "--scheme", "latin-cyrillic", "--out", "out.txt")[0] == 0
    assert len((folder / "out.txt").read_text("utf-8").splitlines()) == 120
    named = ("transliterate", "uner/en_toy", "--data", treebanks, "--scheme", "latin-cyrillic", "--out", "out.iob2")
    assert run(*named)[0] == 0
    assert "B-ANIMAL" in {tag for s in iob.read("out.iob2").sentences for tag in s.entities}
    texts = ("transliterate", "sib200/eng_Latn", "--data", treebanks, "--scheme", "latin-cyrillic", "--out", "out.tsv")
    assert run(*texts)[0] == 0
