"""Languages that are given with a name, a file or an object."""

import shutil
import warnings
from dataclasses import replace

import pytest

from crosslens.corpora.catalogue import load_corpora, load_corpus, load_text
from crosslens.corpora.parallel import load_parallel
from crosslens.data.formats import TSV, to_complete
from crosslens.errors import CrosslensWarning, DataError, RequestError


@pytest.fixture
def raw(tmp_path):
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "en.txt").write_text("a cat\na dog\n", "utf-8")
    return tmp_path


@pytest.mark.parametrize("part", ["", "[:1]", "@latin-cyrillic"])
def test_raw_text_is_in_the_language_that_is_given(raw, part):
    script = "-Cyrl" if part.startswith("@") else ""
    assert load_text(f"raw/en{part}", data=raw).language == f"en{script}"
    for name in (f"{raw / 'raw' / 'en.txt'}{part}", f"wo={raw / 'raw' / 'en.txt'}{part}"):
        assert load_text(name, language="wo", data=raw).language == f"wo{script}"
    assert load_text(f"raw/en{part}", language="en-GB", data=raw).language == f"en{script}-GB"
    assert load_text(f"lab/sov{part or '[:1]'}", language="sov").language == f"sov{script}"


@pytest.mark.parametrize("name", ["raw/en", "en=raw/en", "raw/en[:1]@latin-cyrillic", "raw/eng_wiki", "lab/src[:1]"])
def test_raw_text_is_not_in_another_language_than_its_name_says(raw, name):
    (raw / "raw" / "eng_wiki.txt").write_text("a cat\n", "utf-8")
    with pytest.raises(RequestError, match=r"is text in (en|src).*, and not in wo \(name another text, or this file"):
        load_text(name, language="wo", data=raw)


def test_raw_text_whose_name_is_no_language(raw):
    (raw / "raw" / "enwiki.txt").write_text("a cat\n", "utf-8")
    assert load_text("raw/enwiki", data=raw).language is None
    assert load_text("raw/enwiki", language="en", data=raw).language == "en"


def test_the_language_before_a_path_counts_more_than_its_name(treebanks):
    (path,) = treebanks.glob("uner/*/fr_pud-ud-test.iob2")
    assert load_corpus(path).language == "fr"
    assert load_corpus(f"wo={path}").language == "wo"


@pytest.mark.parametrize(
    ("code", "tag"), [("eng", "en"), ("myv-Cyrl", "myv"), ("ko-Hang", "ko"), ("zh-Hans-SG", "zh-SG")]
)
def test_another_code_of_a_language_is_reported(treebanks, code, tag):
    """Tables and correlations keep records of ``eng`` and ``en`` apart."""
    (path,) = treebanks.glob("ud/*/en_pud-ud-test.conllu")
    with pytest.warns(CrosslensWarning, match=f"{code}=FILE counts as another language than {tag}.* write {tag}=FILE"):
        assert load_corpus(f"{code}={path}").language == code
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for tag in ("en", "kmr", "prs", "src", "zh-Hant", "sr-Latn", "nb"):
            assert load_corpus(f"{tag}={path}").language == tag


def test_another_code_of_a_language_is_reported_for_raw_and_parallel_text(tmp_path):
    file = tmp_path / "lines.txt"
    file.write_text("one\ntwo\n", "utf-8")

    def sliced(name):
        return load_text(f"{name}[:1]")

    for load in (load_text, load_corpora, sliced, lambda name: load_parallel(f"{name},wo={file}")):
        with pytest.warns(CrosslensWarning, match="write en=FILE") as caught:
            load(f"eng={file}")
        assert {warning.filename for warning in caught} == {__file__}  # the line of the user, not of crosslens
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            load(f"en={file}")


def test_one_file_in_two_languages_is_two_corpora(treebanks):
    (path,) = treebanks.glob("ud/*/fr_pud-ud-test.conllu")
    corpora = load_corpora([f"wo={path}", f"fr={path}", str(path)])
    assert [(corpus.name, corpus.language) for corpus in corpora] == [(str(path), "wo"), (str(path), "fr")]


def test_a_corpus_without_a_language_gets_the_one_that_is_given_and_keeps_the_rest(treebanks):
    french = load_corpus("ud/fr_pud", data=treebanks)
    assert load_corpus(french, language="fr") is french
    assert load_corpus(replace(french, language=None), language="fr") == french
    with pytest.raises(RequestError, match="ud/fr_pud:test has a language of its own"):
        load_corpus(french, language="wo")


def test_a_mapping_of_languages_to_files_is_several_corpora(treebanks):
    (french,), (english,) = (list(treebanks.glob(f"ud/*/{name}-ud-test.conllu")) for name in ("fr_pud", "en_pud"))
    files = {"wo": french, "en": str(english)}
    assert [corpus.language for corpus in load_corpora(files)] == ["wo", "en"]
    with pytest.raises(RequestError, match=r"one corpus.*load_corpus\('.*fr_pud.*', language='wo'\)"):
        load_corpus(files)


def test_an_empty_name_is_no_folder():
    for language in (None, "wo"):
        with pytest.raises(RequestError, match="this name is empty"):
            load_corpus("", language=language)


@pytest.mark.parametrize("language", ["en_US", "EN", "English", "", 1])
def test_a_language_that_is_no_tag_is_named_and_not_taken_for_a_part_of_the_path(raw, language):
    for corpus in (raw / "raw" / "en.txt", [["a", "cat"]], load_corpus([["a", "cat"]])):
        with pytest.raises(RequestError, match=rf"{language!r} is not a language tag \(write for example wo, zh-Hant"):
            load_corpus(corpus, language=language)
    for tag in ("en-US", "zh-Hant", "en+wo"):
        assert load_corpus([["a", "cat"]], language=tag).language == tag


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("no=ud/en_pud", r"ud/en_pud is a corpus with a language of its own: write it without no="),
        ("one.conllu,ud/en_pud", r"join training corpora with \+"),
        ("ud/en_pud[:3],ud/fr_pud", r"join training corpora with \+"),
        ("Le chat dort .", r"to pass text, write a list: \[\['Le', 'chat', …\]\]"),
    ],
)
def test_what_is_no_file_is_refused_with_what_was_meant(treebanks, name, hint):
    with pytest.raises(DataError, match=hint):
        load_corpus(name, data=treebanks)


def test_a_file_named_as_a_treebank_is_in_the_language_of_the_treebank(treebanks, tmp_path):
    (file,) = treebanks.glob("ud/*/fr_pud-ud-test.conllu")
    for name, language in (("fr_pud", "fr"), ("sme_giella", "se")):
        shutil.copy(file, tmp_path / f"{name}-ud-test.conllu")
        assert load_corpus(tmp_path / f"{name}-ud-test.conllu").language == language


def test_a_text_that_is_no_file_is_to_be_listed_as_the_task_reads_it():
    for format in (TSV, to_complete(TSV, ("label",))):
        with pytest.raises(DataError, match=r"to pass text, write a list: \['Un bon film \.'\], or a \.txt file"):
            load_corpus("Un bon film .", format=format)


def test_names_in_a_list_are_not_read_as_texts():
    for names in (["sample/en[:3]", "sample/fr"], ("sample/en",)):
        with pytest.raises(
            RequestError, match=r"'sample/en\S* has names of corpora, not texts \(join training corpora"
        ):
            load_corpus(names)
        assert len(load_corpora(names)) == len(names)
    assert len(load_corpus(["sample/en", "and/or"])) == 2
