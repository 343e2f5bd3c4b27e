import pytest

from crosslens.corpora.catalogue import list_corpora, load_corpus
from crosslens.corpora.wili import MBERT_LANGUAGES
from crosslens.errors import CrosslensError

NOT_IN_WILI = {"hu", "pnb", "nb", "pms"}
"""Wu & Dredze (2019), footnote 5."""


@pytest.fixture
def data(tmp_path):
    """WiLI's own labels: three letters, or the name of a Wikipedia."""
    labels = ["eng", "be-tarask", "zho", "nds-nl", "zh-yue", "azb", "hbs", "kur", "tgl", "not a tag"]
    folder = tmp_path / "wili"
    folder.mkdir()
    for split in ("train", "test"):
        (folder / f"x_{split}.txt").write_text("".join(f"A {label} text.\n" for label in labels), "utf-8")
        (folder / f"y_{split}.txt").write_text("".join(f"{label}\n" for label in labels), "utf-8")
    return tmp_path


def test_multilingual_bert_has_99_of_its_languages():
    assert len(set(MBERT_LANGUAGES)) == len(MBERT_LANGUAGES) == 99 + len(NOT_IN_WILI)
    assert set(MBERT_LANGUAGES) > NOT_IN_WILI


def test_texts_in_other_languages_and_varieties_are_left_out(data):
    whole, kept = (load_corpus(f"wili/{part}:train", data=data) for part in ("all", "mbert"))
    assert len(whole) == 10
    assert [text.label for text in kept.texts] == ["eng", "zho", "azb", "hbs", "tgl"]
    assert (kept.name, kept.language, kept.split) == ("wili/mbert:train", None, "train")
    assert whole.digest != kept.digest


def test_both_are_listed(data):
    assert {"wili/all", "wili/mbert"} <= set(list_corpora(data))


def test_slices_are_of_the_languages_kept(data):
    assert [text.label for text in load_corpus("wili/mbert:test[1:3]", data=data).texts] == ["zho", "azb"]
    with pytest.raises(CrosslensError, match="wili/other"):
        load_corpus("wili/other:test", data=data)
