"""Files of the page's charts: they have the titles and keys of what they show, and no more."""

from xml.etree import ElementTree

import pytest

from made_records import made_up, similarity

pytestmark = pytest.mark.browser


def texts(svg):
    return [text.text for text in ElementTree.fromstring(svg).findall("{*}text")]


def opened_values(tab, part):
    """Open the values of a part of the page, under which its files are offered."""
    tab.locator(f"{part} summary").first.click()
    return tab.locator(part).get_by_role("button", name="Download figure (SVG)").first


def of_languages():
    """CKA of translations and of both kinds of unrelated sentences, in three languages."""
    return [
        similarity(measure, 0.5, layer=layer, target=target)
        for measure in ("cka", "cka_length_matched", "cka_shuffled")
        for target in ("fr", "de", "hi")
        for layer in (0, 1)
    ]


def test_curves_name_their_measure_and_pairs(opened_with, saved):
    """They have no caption: it is what readers of screens are told."""
    tab = opened_with(of_languages())
    _, text = saved(tab, tab.locator("#svg"))
    kinds = ["translations", "unrelated, length-matched", "unrelated"]
    assert texts(text) == ["CKA by layer, mean over pairs", "pretrained", *kinds]


def test_charts_of_languages_have_a_key_of_their_own_lines(opened_with, saved):
    tab = opened_with(of_languages())
    _, text = saved(tab, opened_values(tab, "#by-language"))
    titles = [title for name in ("fr", "de", "hi") for title in (name, "CKA, by layer (0: embeddings)")]
    assert texts(text) == [*titles, "pretrained", "translations", "unrelated, length-matched"]


@pytest.mark.parametrize("seeds", [(1,), (1, 2)])
def test_a_profile_has_the_key_and_the_height_of_the_page(opened_with, saved, seeds):
    tab = opened_with(made_up({"1-2": 10.0, "3-4": 4.0}, seeds=seeds, noise=0.1))
    _, text = saved(tab, opened_values(tab, "#profile"))
    interval = ["95 % confidence interval over seeds"] * (len(seeds) > 1)
    assert texts(text)[1:] == ["same language", "zero-shot mean", "single targets", *interval]
    chart = tab.locator("#profiles svg").bounding_box()
    assert chart["height"] < float(ElementTree.fromstring(text).get("height")) < chart["height"] + 60


def test_a_long_caption_keeps_to_its_chart(opened_with, saved):
    long = "a language whose name has as many words as the one who named it could think of"
    tab = opened_with(similarity("cka", 0.5, target=target) for target in ("fr", long))
    _, text = saved(tab, opened_values(tab, "#by-language"))
    lines = texts(text)[2:-2]
    assert len(lines) > 1
    assert " ".join(lines) == long
    widths = tab.evaluate(
        "(lines) => lines.map((line) => { pen.font = '13px sans-serif'; return pen.measureText(line).width; })", lines
    )
    assert max(widths) <= tab.locator("#languages svg").first.bounding_box()["width"]
