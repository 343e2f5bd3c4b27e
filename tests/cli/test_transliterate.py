"""``crosslens transliterate``."""

import pytest

from crosslens.corpora.catalogue import load_corpus
from crosslens.data.formats import conllu, iob


def test_transliterate_writes_the_kind_of_file_it_reads(run, folder, treebanks):
    status, _, err = run("transliterate", "fr.conllu", "--scheme", "latin-cyrillic", "--out", "out.conllu")
    assert status == 0, err
    assert "6 sentences of fr.conllu@latin-cyrillic" in err
    assert conllu.read("out.conllu").sentences[0].words[1] == "цхат"
    assert run("transliterate", "fr.txt", "--scheme", "latin-cyrillic", "--out", "out.txt")[0] == 0
    assert len((folder / "out.txt").read_text("utf-8").splitlines()) == 120
    named = ("transliterate", "uner/en_toy", "--data", treebanks, "--scheme", "latin-cyrillic", "--out", "out.iob2")
    assert run(*named)[0] == 0
    assert "B-ANIMAL" in {tag for s in iob.read("out.iob2").sentences for tag in s.entities}
    texts = ("transliterate", "sib200/eng_Latn", "--data", treebanks, "--scheme", "latin-cyrillic", "--out", "out.tsv")
    assert run(*texts)[0] == 0


def test_entities_in_txt_files_stay_entities_and_slices_of_text_stay_text(run, folder):
    (folder / "wo.txt").write_text("Dakar B-LOC\nrafet O\n\nAyda B-PER\n", "utf-8")
    assert run("transliterate", "wo.txt", "--scheme", "latin-cyrillic", "--out", "out.txt")[0] == 0
    assert (folder / "out.txt").read_text("utf-8").split("\n")[0].split("\t")[1:3] == ["Дакар", "B-LOC"]
    assert [sentence.entities for sentence in iob.read("out.txt").sentences] == [("B-LOC", "O"), ("B-PER",)]
    assert run("transliterate", "fr=fr.txt[:2]", "--scheme", "latin-cyrillic", "--out", "cut.txt")[0] == 0
    assert (folder / "cut.txt").read_text("utf-8").splitlines()[1].startswith("ун цхиен дорт")


@pytest.mark.parametrize("out", ["out.csv", "out.jsonl", "out.tsv", "Out.TSV"])
def test_labelled_texts_are_written_as_the_file_is_named(run, folder, out):
    (folder / "ru.csv").write_text("text,label\nПривет мир,a\nДень,b\n", "utf-8")
    assert run("transliterate", "ru.csv", "--scheme", "cyrillic-latin", "--out", out)[0] == 0
    read = load_corpus(out)
    assert [(item.text, item.label) for item in read] == [("Privet mir", "a"), ("Denʹ", "b")]


@pytest.mark.parametrize(
    ("corpus", "out"), [("fr.conllu", "out.tsv"), ("fr.conllu", "out.txt"), ("fr.txt", "out.conllu")]
)
def test_a_file_whose_name_says_another_format_is_refused(run, folder, corpus, out):
    status, _, said = run("transliterate", corpus, "--scheme", "latin-cyrillic", "--out", out)
    assert (status, f"{corpus} is written as" in said, (folder / out).exists()) == (2, True, False), said


def test_layers_that_the_format_lacks_are_named_and_written_in_the_other_format(run, folder):
    asked = ("transliterate", "lab/src", "--scheme", "latin-cyrillic", "--out")
    status, _, said = run(*asked, "out.conllu")
    assert (status, "entities are left out; a file that ends in .iob2 has them" in said) == (0, True), said
    assert conllu.read("out.conllu").layers == {"upos", "heads", "relations"}
    status, _, said = run(*asked, "out.iob2")
    assert (status, "parts of speech and trees are left out" in said) == (0, True), said
    assert iob.read("out.iob2").layers == {"entities"}


def test_letters_without_a_rule_are_named_the_most_frequent_first(run, folder):
    (folder / "words.txt").write_text("qu wa qax\n", "utf-8")
    (folder / "one.tsv").write_text("a\tа\nu\tу\nx\tкс\n", "utf-8")
    run("transliterate", "words.txt", "--scheme", "one.tsv", "--out", "out.txt")
    assert (folder / "out.txt").read_text("utf-8") == "qу wа qакс\n"
    _, _, err = run("transliterate", "words.txt", "--scheme", "one.tsv", "--out", "out.txt", "--overwrite")
    assert "out.txt: one.tsv has no rule for 3 letters, most often q w" in err.splitlines()
    (folder / "all.tsv").write_text("a\tа\nu\tу\nx\tкс\nq\tк\nw\tв\n", "utf-8")
    _, _, err = run("transliterate", "words.txt", "--scheme", "all.tsv", "--out", "out.txt", "--overwrite")
    assert "no rule" not in err
    (folder / "same.tsv").write_text("q\tk\n", "utf-8")  # a spelling, not another script
    _, _, err = run("transliterate", "words.txt", "--scheme", "same.tsv", "--out", "out.txt", "--overwrite")
    assert "1 text of words.txt@same.tsv" in err
    assert "no rule" not in err
