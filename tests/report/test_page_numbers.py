"""Numbers of the page's opening and of its chart of gaps: what they count, and how they are written."""

import random
from itertools import pairwise
from statistics import fmean

import pytest

from crosslens.formatting import plain
from made_records import made_up, score, similarity

pytestmark = pytest.mark.browser

LANGUAGES = ("de", "fi", "fr", "hi", "ru", "zh")


def of_gaps(*, step=5.0, layers=(0,)):
    """Scores that fall and CKA that falls from language to language."""
    return [
        score("en", 95.0),
        *(score(name, 89.9 - step * place) for place, name in enumerate(LANGUAGES)),
        *(
            similarity("cka", 0.8 - 0.01 * step * place, layer=layer, target=name)
            for place, name in enumerate(LANGUAGES)
            for layer in layers
        ),
    ]


def test_a_mean_over_corpora_says_how_many_there_are(opened_with):
    corpora = [score("fr", 80.0), score("fr", 70.0, corpus="ud/fr_gsd"), score("de", 75.0)]
    tiles = opened_with([score("en", 95.0), *corpora]).locator(".tile").all_inner_texts()
    assert tiles[0].split("\n")[-1] == "1 seed, no interval"
    assert tiles[1].split("\n")[-1] == "mean of 3 corpora, 2 target languages, 1 seed, no interval"
    tiles = opened_with([score("en", 95.0), score("fr", 80.0)]).locator(".tile").all_inner_texts()
    assert tiles[1].split("\n")[-1] == "1 target language, 1 seed, no interval"


@pytest.mark.parametrize(("layers", "called"), [("1", "layer 1"), ("1-2", "layers 1-2")])
def test_one_layer_and_several_are_named_as_such(opened_with, layers, called):
    tab = opened_with(made_up({layers: 10.0}))
    assert tab.locator(".tile").last.inner_text().endswith(f"points, {called} re-initialised")
    assert f"same language, {called}: +0.0" in tab.locator("#profiles circle title").first.text_content()


@pytest.mark.parametrize(
    ("layers", "names"), [((0,), ["embeddings"]), ((7,), ["layer 7"]), ((0, 7), ["mean over layers", "layer 7"])]
)
def test_similarities_of_one_layer_are_no_mean_over_layers(opened_with, layers, names):
    tab = opened_with(of_gaps(layers=layers))
    tab.focus("#layer")
    shown = []
    for key in ("Home", "End"):
        tab.keyboard.press(key)
        shown.append(tab.inner_text("#layer-name"))
    assert list(dict.fromkeys(shown)) == names


def test_means_are_written_as_in_tables(opened_with):
    """Of values with three decimals many a mean lies between two of them, where the last bit decides."""
    drawn = random.Random(1)
    samples = [[drawn.randrange(1000) / 1000 for _ in range(20)] for _ in range(400)]
    shown = opened_with(of_gaps()).evaluate("(samples) => samples.map((values) => written(mean(values), 3))", samples)
    assert shown == [plain(fmean(values), decimals=3) for values in samples]


def test_no_chart_of_gaps_is_left_without_points(opened_with):
    tab = opened_with(of_gaps())
    tab.select_option("#family", "Indo-European, Germanic")
    assert tab.locator("#gaps circle").count() == 1
    tab.select_option("#script", "Cyrillic")
    assert not tab.is_visible("#gap")


@pytest.mark.parametrize("step", [5.0, 0.5, 0.05, 0.005])
def test_ticks_have_the_digits_that_tell_them_apart(opened_with, step):
    tab = opened_with(of_gaps(step=step))
    texts = tab.locator("#gaps text").all_text_contents()
    ticks = [text for text in texts if text.replace(".", "").isdigit()]
    across = [float(text) for text in ticks if float(text) < 1]
    up = [float(text) for text in ticks if float(text) >= 1]
    for values in (across, up):
        assert len(values) > 2
        steps = {round(b - a, 6) for a, b in pairwise(values)}
        assert len(steps) == 1
        assert steps != {0}
