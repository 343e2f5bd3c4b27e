import pytest

from crosslens.data.language_pairs import expand_pairs, split_pair
from crosslens.errors import RequestError


def test_pairs_with_stars():
    languages = ["de", "en", "fr"]
    assert expand_pairs(["en-*"], languages) == ["en-de", "en-fr"]
    assert expand_pairs(["*-en", "en-fr"], languages) == ["de-en", "fr-en", "en-fr"]
    assert len(expand_pairs(["*-*"], languages)) == 6


def test_the_form_of_tags_parts_a_pair_where_no_languages_are_known():
    assert split_pair("zh-Hant-en") == ("zh-Hant", "en")
    assert split_pair("en-zh-Hant") == ("en", "zh-Hant")
    assert split_pair("sr-Latn-RS-pt-BR") == ("sr-Latn-RS", "pt-BR")
    for pair in ("enfr", "en-fr-de", "en-", "Hant-zh-en"):
        with pytest.raises(RequestError, match="is not a language pair"):
            split_pair(pair)


@pytest.mark.parametrize("pair", ["en", "en-", "-fr", "en-fr-de", "", ("en", "fr"), None])
def test_pairs_that_are_none(pair):
    with pytest.raises(RequestError, match="is not a language pair"):
        expand_pairs([pair], ["en"])


def test_tags_with_a_hyphen_are_told_apart_by_the_languages_there_are():
    languages = ["en", "taq-Tfng", "zh-Hant"]
    assert split_pair("en-taq-Tfng", languages) == ("en", "taq-Tfng")
    assert split_pair("zh-Hant-taq-Tfng", languages) == ("zh-Hant", "taq-Tfng")
    assert expand_pairs(["taq-Tfng-*"], languages) == ["taq-Tfng-en", "taq-Tfng-zh-Hant"]
    assert split_pair("en-sr-Latn", languages) == ("en", "sr-Latn")  # which the corpus lacks, as it can say


def test_a_language_is_paired_with_itself_where_it_is_asked_for_alone():
    """As a comparison of two encoders on the same sentences does; each pair comes once."""
    assert expand_pairs(["en-en", "en-*", "*-en", "en-fr"], ["en", "fr"]) == ["en-en", "en-fr", "fr-en"]
