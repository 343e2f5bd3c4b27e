"""Corpora that are loaded once, by all that tells them apart."""

from crosslens.runs.corpora import Corpora
from crosslens.runs.question import CorpusRef, Score
from toys import conllu_text


def test_each_split_is_a_corpus_of_its_own(treebanks):
    corpora = Corpora(str(treebanks))
    assert [corpora.corpus("ud/en_toy", split=split).split for split in ("train", "dev", "test")] == [
        "train",
        "dev",
        "test",
    ]
    assert corpora.corpus("ud/en_toy", split="train") is corpora.corpus("ud/en_toy", split="train")


def test_one_file_under_two_languages_is_two_corpora_and_under_one_language_is_one(treebanks, tmp_path):
    file = tmp_path / "mine.conllu"
    file.write_text(conllu_text("en"), "utf-8")
    names = [f"en={file}", f"fr={file}"]
    assert Corpora(str(treebanks)).matching([*names, names[0]]) == names
    assert Corpora(str(treebanks)).matching(["ud/en_pud", "ud/en_pud:test", "ud/*_pud"]) == ["ud/en_pud", "ud/fr_pud"]


def test_a_planned_file_keeps_the_language_that_was_given_with_it(treebanks, tmp_path):
    file = tmp_path / "mine.conllu"
    file.write_text(conllu_text("en"), "utf-8")
    refs = [CorpusRef.of(Corpora().corpus(f"{language}={file}")) for language in ("wo", "myv")]
    corpora = Corpora()  # as in another process
    assert [corpora.planned(ref).language for ref in refs] == ["wo", "myv"]
    assert Score(refs[0], {}).id == Score(CorpusRef(str(file), refs[0].digest), {}).id
