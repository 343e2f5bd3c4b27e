"""Collections of corpora on disk."""

import pytest

from crosslens.corpora.catalogue import load_corpus
from crosslens.errors import DataError
from made_corpora import texts, write_texts


def test_both_formats_are_the_same_corpus(tmp_path):
    for collection in ("langid", "wili"):
        write_texts(tmp_path / collection, texts(3, seed=1), texts(3, seed=2))
    one, other = (load_corpus(f"{name}/all:train", data=tmp_path) for name in ("langid", "wili"))
    assert [(t.text, t.label) for t in one.texts] == [(t.text, t.label) for t in other.texts]
    assert (one.language, other.language, other.split) == (None, None, "train")
    (tmp_path / "wili" / "y_train.txt").write_text("aa\n", "utf-8")
    with pytest.raises(DataError, match=r"y_train.txt: 1 labels, but .*x_train.txt has 9 texts"):
        load_corpus("wili/all:train", data=tmp_path)
