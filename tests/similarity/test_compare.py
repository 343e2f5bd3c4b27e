import pytest

from crosslens.encoders.ablation import random_init
from crosslens.encoders.represent import represent
from crosslens.errors import DataError, RequestError
from crosslens.similarity.cka import linear_cka
from crosslens.similarity.compare import compare, expand_pairs
from crosslens.similarity.measures import USUAL
from crosslens.translations import load_parallel


def test_every_layer_pair_and_measure(encoder, treebanks):
    pud = load_parallel("ud/pud", data=treebanks)
    read = []
    table = compare(
        encoder, pud, pairs=["en-fr", "fr-en"], tags={"state": "pretrained"}, done=lambda its: read.append(its.language)
    ).to_pandas()
    assert read == ["en", "fr"]  # each language once, whatever the number of pairs
    assert len(table) == 2 * 5 * len(USUAL)
    vectors = represent(encoder, pud["en"]), represent(encoder, pud["fr"])
    for layer in range(5):
        row = table[(table.layer == layer) & (table.measure == "cka") & (table.source == "en")].iloc[0]
        assert row.value == pytest.approx(linear_cka(vectors[0][layer], vectors[1][layer]), abs=1e-12)
    assert set(table.n) == {6}
    assert '"state": "pretrained"' in table.tags[0]


def test_an_encoder_is_like_itself_and_a_redrawn_one_less(encoder, treebanks):
    pud = load_parallel("ud/pud", data=treebanks)
    same = compare(encoder, pud, pairs=["en-en"], measures=["cka"]).to_pandas()
    assert same.value.tolist() == pytest.approx([1.0] * 5)
    drawn = compare(random_init(encoder, "1", seed=3), pud, pairs=["en-fr"], measures=["cka"]).to_pandas()
    assert set(drawn.ablation) == {"1"}


def test_pairs_with_stars():
    languages = ["de", "en", "fr"]
    assert expand_pairs(["en-*"], languages) == ["en-de", "en-fr"]
    assert expand_pairs(["*-en", "en-fr"], languages) == ["de-en", "fr-en", "en-fr"]
    assert len(expand_pairs(["*-*"], languages)) == 6


@pytest.mark.parametrize("pair", ["en", "en-", "-fr", "en-fr-de", ""])
def test_pairs_that_are_none(pair):
    with pytest.raises(RequestError, match="is no pair of languages"):
        expand_pairs([pair], ["en"])


def test_what_is_not_there(encoder, treebanks):
    pud = load_parallel("ud/pud", data=treebanks)
    with pytest.raises(RequestError, match=r"no measure 'ccka'.*did you mean 'cka'"):
        compare(encoder, pud, pairs=["en-fr"], measures=["ccka"])
    with pytest.raises(DataError, match="has no 'de'"):
        compare(encoder, pud, pairs=["en-de"])
