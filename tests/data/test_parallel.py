import pytest

from crosslens.data.corpus import Corpus
from crosslens.data.parallel import join
from crosslens.data.sentence import Sentence, Text
from crosslens.errors import DataError, RequestError


def corpus(language, *ids, words=("x",)):
    return Corpus(tuple(Sentence(words, id=i) for i in ids), f"c-{language}", language)


def test_the_order_of_the_first_one_is_taken():
    joined = join([corpus("en", "b", "a", "c"), corpus("fr", "a", "b", "c")], name="p")
    assert [item.id for item in joined["fr"]] == ["b", "a", "c"]


@pytest.mark.parametrize(
    ("corpora", "message"),
    [
        ([], "contains no corpora"),
        ([corpus(None, "a")], "its language is unknown"),
        ([corpus("en", "a"), corpus("en", "a")], "two corpora in 'en'"),
        ([corpus("en", "a", None)], "cannot align an item without an id"),
        ([corpus("en", "a"), corpus("fr", "a", "a")], "cannot align duplicate id 'a'"),
        ([corpus("en", "a", "b", "c"), corpus("fr", "a", "c")], "c-fr has no item 'b'"),
        ([corpus("en", "a"), corpus("fr", "a", "z")], "c-en has no item 'z'"),
    ],
)
def test_what_is_not_aligned_is_refused_with_the_first_that_differs(corpora, message):
    with pytest.raises(DataError, match=message):
        join(corpora, name="p")


def test_translations_share_their_label():
    def texts(language, *labels):
        return Corpus(tuple(Text(("x",), label, str(i)) for i, label in enumerate(labels)), f"c-{language}", language)

    assert len(join([texts("en", "a", None), texts("fr", "a", None)], name="p")) == 2
    for one, other in (("b", "c"), ("b", None), (None, "b")):
        with pytest.raises(DataError, match=f"'1' is labelled {one} in c-en but {other} in c-fr"):
            join([texts("en", "a", one), texts("fr", "a", other)], name="p")


def test_a_parallel_corpus_is_printed_in_one_line():
    joined = join([corpus("en", "a", "b"), corpus("fr", "a", "b")], name="p")
    assert repr(joined) == "Parallel p: 2 items in en, fr"


def test_a_negative_number_of_items_is_refused():
    with pytest.raises(RequestError, match="no first -1 items"):
        join([corpus("en", "a", "b")], name="p").head(-1)
