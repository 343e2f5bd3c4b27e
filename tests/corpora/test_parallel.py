from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from crosslens.corpora.catalogue import load_corpus
from crosslens.corpora.parallel import list_languages, load_parallel
from crosslens.errors import CrosslensError, DataError, RequestError


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A data folder with a little of every parallel collection."""
    monkeypatch.delenv("CROSSLENS_DATA", raising=False)
    files = {
        "tatoeba/tatoeba.cmn-eng.cmn": "你好。\n再见。\n谢谢。\n",
        "tatoeba/tatoeba.cmn-eng.eng": "Hello.\nBye.\nThanks.\n",
        "sib200/eng_Latn/test.tsv": "index_id\tcategory\ttext\n7\tsports\tBall.\n3\thealth\tMilk.\n",
        "sib200/fra_Latn/test.tsv": "index_id\tcategory\ttext\n3\thealth\tLait.\n7\tsports\tBallon.\n",
        "sib200/taq_Tfng/test.tsv": "index_id\tcategory\ttext\n7\tsports\tⴰⴱⴱ\n3\thealth\tⴰⴳ\n",
        "xnli/dev-en.tsv": "A.\tB.\tneutral\nA.\tC.\tentailment\nA.\tD.\tneutral\n",
        "xnli/dev-fr.tsv": "A.\tBe.\tneutral\nA.\tCe.\tentailment\n",
        "own/dev.en": "one\ntwo\nthree\n",
        "own/dev.wo": "benn\nñaar\nñett\n",
        "own/short.wo": "benn\nñaar\n",
        "own/gap.wo": "benn\n\nñett\n",
        "own/empty.wo": "",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return tmp_path


def texts(parallel, language):
    return [item.text for item in parallel[language]]


def test_tatoeba_by_either_code(data):
    for name in ("tatoeba/zh", "tatoeba/cmn"):
        found = load_parallel(name, data=data)
        assert found.languages == ("en", "zh")
        assert texts(found, "zh") == ["你好。", "再见。", "谢谢。"]
    assert texts(load_parallel("tatoeba/zh[1:]", data=data), "en") == ["Bye.", "Thanks."]


def test_sib200_is_joined_by_id_and_keeps_scripts_that_are_not_the_usual(data):
    found = load_parallel("sib200/test", data=data)
    assert found.languages == ("en", "fr", "taq-Tfng")
    assert texts(found, "fr") == ["Ballon.", "Lait."]
    assert list_languages("sib200/test", data=data) == found.languages


def test_the_order_in_which_languages_are_asked_for_changes_no_item(data):
    """Their files differ in order: one of them decides, whichever is named first."""
    one, other = (load_parallel("sib200/test", languages=asked, data=data) for asked in (["en", "fr"], ["fr", "en"]))
    assert texts(one, "en") == texts(other, "en") == ["Ball.", "Milk."]
    assert texts(one, "fr") == texts(other, "fr") == ["Ballon.", "Lait."]


def test_sib200_in_two_varieties_of_a_language_keeps_both(data):
    for folder in ("pes_Arab", "prs_Arab"):
        (data / "sib200" / folder).mkdir()
        rows = f"index_id\tcategory\ttext\n7\tsports\t{folder}\n3\thealth\tb\n"
        (data / "sib200" / folder / "test.tsv").write_text(rows, "utf-8")
    found = load_parallel("sib200/test", data=data)
    assert found.languages == ("en", "fa", "fr", "prs", "taq-Tfng")
    assert [texts(found, tag)[0] for tag in ("fa", "prs")] == ["pes_Arab", "prs_Arab"]


def test_xnli_is_its_hypotheses_and_a_slice_takes_what_all_have(data):
    found = load_parallel("xnli/dev[:2]", data=data)
    assert (texts(found, "en"), texts(found, "fr")) == (["B.", "C."], ["Be.", "Ce."])
    assert found.name == "xnli/dev[:2]"
    with pytest.raises(DataError, match=r"not parallel: xnli/dev-fr has no item '3'.*\[:100\] takes the first ones"):
        load_parallel("xnli/dev", data=data)


def test_labels_that_differ_show_a_misaligned_file(data):
    (data / "xnli/dev-fr.tsv").write_text("A.\tCe.\tentailment\nA.\tBe.\tneutral\nA.\tD.\tneutral\n", "utf-8")
    with pytest.raises(
        DataError, match=r"not parallel: '1' is labelled neutral in xnli/dev-en but entailment in xnli/dev-fr"
    ):
        load_parallel("xnli/dev", data=data)


def test_files_that_are_aligned_line_by_line(data):
    own = data / "own"
    found = load_parallel(f"en={own}/dev.en,wo={own}/dev.wo")
    assert found.languages == ("en", "wo")
    assert texts(found, "wo") == ["benn", "ñaar", "ñett"]


def test_treebanks_as_files_are_joined_by_their_ids(treebanks):
    banks = {
        language: next((treebanks / "ud").glob(f"UD_{language.upper()}-pud/*.conllu")) for language in ("en", "fr")
    }
    found = load_parallel(",".join(f"{language}={path}" for language, path in banks.items()))
    assert found["fr"].digest == load_parallel("ud/pud", data=treebanks)["fr"].digest


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("en={}/dev.en,wo={}/short.wo", r"not parallel: .*short.wo has no item '3'"),
        ("en={}/dev.en,wo={}/gap.wo", r"gap.wo:2: empty line in text that is aligned line by line"),
        ("en={}/dev.en,wo={}/empty.wo", r"empty.wo: contains no text"),
        ("en={}/dev.en,wo={}/none.wo", r"none.wo: file not found"),
        ("en={}/dev.en,{}/dev.wo", r"does not name a language and a file \(write each side as fr=FILE\)"),
        ("en={}/dev.en,en={}/dev.wo", r"names two files for 'en'"),
        ("tatoeba/xx", r"parallel corpus 'tatoeba/xx' not found in .*\(--data\)"),
        ("sib200/dev", r"parallel corpus 'sib200/dev' not found in"),
        ("lab/sov", r"'lab/sov' is one language"),
        ("flores/dev", r"'flores/dev' is not the name of a parallel corpus \(for example ud/pud"),
        ("tatoeba", r"'tatoeba' is not the name of a parallel corpus"),
    ],
)
def test_what_is_not_there_or_not_aligned(data, name, message):
    with pytest.raises(CrosslensError, match=message):
        load_parallel(name.replace("{}", str(data / "own")), data=data)


def test_a_language_that_is_not_there(data):
    with pytest.raises(DataError, match=r"sib200/test does not contain language 'de'"):
        load_parallel("sib200/test", languages=["en", "de"], data=data)


def test_the_language_of_the_original_is_known_for_pud(treebanks, tmp_path):
    text = "# sent_id = {}\n1\tx\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
    for language in ("en", "fr"):
        folder = tmp_path / "ud" / f"UD_{language}-PUD"
        folder.mkdir(parents=True)
        ids = ("n01001011", "w03002017", "n02001011", "other")
        (folder / f"{language}_pud-ud-test.conllu").write_text("".join(map(text.format, ids)), "utf-8")
    pud = load_parallel("ud/pud", data=tmp_path)
    assert pud.originals == ("en", "fr", "de", None)
    assert [item.id for item in pud.originally("fr")["en"]] == ["w03002017"]
    with pytest.raises(DataError, match="contains no item originally written in 'ru'"):
        pud.originally("ru")


def test_artificial_languages_are_those_of_the_laboratory():
    assert load_parallel("lab/all[:3]", languages=["src", "sov"]).languages == ("sov", "src")
    assert list_languages("lab/all_cognates") == ("adj", "gen", "sov", "src")
    cognates = load_parallel("lab/all_cognates[:2]", languages=["sov"])
    assert cognates["sov"].items == load_corpus("lab/sov_cognates[:2]").items


def test_a_slice_of_nothing_is_refused():
    with pytest.raises(DataError, match=r"^lab/all\[600:\] selects no items: lab/all has 500$"):
        load_parallel("lab/all[600:]", languages=["src", "adj"])


def test_texts_by_language_are_parallel_as_files_of_the_same_lines_are(tmp_path):
    texts = {"en": ["A cat.", "A dog."], "fr": ["Un chat.", "Un chien."]}
    files = {language: tmp_path / f"{language}.txt" for language in texts}
    for language, lines in texts.items():
        files[language].write_text("\n".join(lines) + "\n", "utf-8")
    read = load_parallel(",".join(f"{language}={file}" for language, file in files.items()))
    for given in (
        texts,
        pd.DataFrame(texts),
        pa.table(texts),
        files,
        {"en": files["en"], "fr": load_corpus(texts["fr"], language="fr")},
    ):
        parallel = load_parallel(given)
        assert {language: side.digest for language, side in parallel.corpora.items()} == {
            language: side.digest for language, side in read.corpora.items()
        }
        assert load_parallel(given, languages=["fr"]).languages == ("fr",)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"en": ["a", "b"], "fr": ["x"]}, r"not parallel: the languages differ in items: en 2, fr 1"),
        ({"English": ["a"]}, r"'English' is not a language tag"),
        ({"English": "english.txt"}, r"'English' is not a language tag"),
        ({"en": ["a", None], "fr": ["x", "y"]}, r"item 2 is a NoneType, not a text"),
        (Path("ud/pud"), r"is not a parallel corpus \(give a name such as ud/pud"),
        (None, "None is not a parallel corpus"),
        ([["a", "b"]], r"\[\['a', 'b'\]\] is not a parallel corpus \(give a name such as ud/pud, or texts by language"),
    ],
)
def test_texts_that_are_not_parallel_are_refused(given, message):
    with pytest.raises(RequestError, match=message):
        load_parallel(given)
    with pytest.raises(RequestError, match=r"does not contain language 'de' \(known: en\)"):
        load_parallel({"en": ["a"]}, languages=["de"])
