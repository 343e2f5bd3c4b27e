"""Similarity on the page in a real browser: by target language, and of two encoders by pair and layer."""

import pytest

from made_records import similarity

pytestmark = pytest.mark.browser

BASES = {"fr": 0.8, "de": 0.7, "hi": 0.5}
"""Target language -> CKA in the embeddings."""

AGAINST = {"settings": "against=f", "encoder": "mono"}


def of_languages():
    """Two states and length-matched sentences for each language; retrieval stands before CKA."""
    return [
        similarity(measure, value + 0.1 * layer, layer=layer, target=target, state=state)
        for measure, factor in (("retrieval", 0.5), ("cka", 1.0), ("cka_length_matched", 0.25), ("cka_shuffled", 0.1))
        for state, loss in (("pretrained", 0.0), ("untrained", 0.2))
        for target, base in BASES.items()
        for layer in (0, 1)
        for value in [factor * base - loss]
    ]


def of_two_encoders(*, apart=False):
    """CKA of two encoders, layer with layer, or each with each."""
    targets = [(0, 0), (0, 1), (1, 0), (1, 1)] if apart else [(0, None), (1, None)]
    return [
        similarity(
            *("cka", base - 0.1 * layer - 0.01 * (other or 0)),
            **{"layer": layer, "target_layer": other, "target": target, **AGAINST},
        )
        for target, base in BASES.items()
        for layer, other in targets
    ]


def cells(rows):
    return [row.locator("th, td").all_text_contents() for row in rows.all()]


def test_each_target_language_has_a_chart_of_all_states_with_its_length_matched_baseline(opened_with):
    tab = opened_with(of_languages())
    assert tab.input_value("#measure") == "cka"  # as in the papers, wherever the records hold it
    assert tab.locator("#languages figcaption").all_text_contents() == list(BASES)
    french = tab.locator("#languages figure", has_text="fr")
    assert french.locator("polyline").count() == 4
    assert french.locator("polyline.matched").count() == 2
    assert french.locator("polyline.null").count() == 0
    assert "Dotted" in tab.inner_text("#matched")
    tab.locator("#by-language summary").click()
    tab.locator("#by-language tbody tr").first.wait_for()  # the table is filled when it is opened
    rows = cells(tab.locator("#by-language tbody tr"))
    assert rows[0] == ["en-fr, pretrained: translations", "0.800", "0.900"]
    assert ["en-hi, untrained: unrelated, length-matched", "−0.075", "0.025"] in rows
    assert len(rows) == 3 * 4
    tab.select_option("#measure", "retrieval")
    assert cells(tab.locator("#by-language tbody tr"))[0] == ["en-fr, pretrained: translations", "0.400", "0.500"]
    assert not tab.is_visible("#matched")


def test_a_mean_over_pairs_is_offered_where_encoders_have_a_pair_in_common(opened_with):
    apart = [similarity("cka", 0.5, encoder=encoder, target=target) for encoder, target in (("e", "fr"), ("f", "de"))]
    tab = opened_with(apart)
    assert tab.locator("#pair option").all_text_contents() == ["en-fr", "en-de"]
    assert tab.locator("#curves circle").count() == 1
    tab = opened_with([record for record in of_languages() if record.target == "fr"])
    assert tab.locator("#pair option").all_text_contents() == ["en-fr"]
    tab = opened_with([*apart, similarity("cka", 0.1, encoder="f", target="fr")])
    assert tab.locator("#pair option").all_text_contents() == ["mean over pairs (1)", "en-fr", "en-de"]
    assert [row[1] for row in cells(tab.locator("#values tbody tr"))] == ["0.500", "0.100"]  # not 0.300 of f


def test_pairs_are_those_that_the_measure_has(opened_with):
    tab = opened_with([record for record in of_languages() if (record.target, record.measure) != ("hi", "retrieval")])
    assert tab.locator("#pair option").all_text_contents() == ["mean over pairs (3)", "en-fr", "en-de", "en-hi"]
    tab.select_option("#pair", "en-hi")
    tab.select_option("#measure", "retrieval")
    assert tab.locator("#pair option").all_text_contents() == ["mean over pairs (2)", "en-fr", "en-de"]
    assert tab.locator("#curves circle").count() == 4  # the mean in two states and layers
    tab.select_option("#measure", "cka")
    tab.select_option("#family", "Indo-European, Germanic")
    assert tab.locator("#pair option").first.inner_text() == "mean over pairs (1)"


def test_charts_of_one_target_language_are_told_apart(opened_with):
    scripts = [similarity("cka", 0.5, source=source, target="en") for source in ("zh-Hant", "zh-Hans", "fr")]
    tab = opened_with(scripts)
    assert tab.locator("#languages figcaption").all_text_contents() == ["zh-Hant-en", "zh-Hans-en", "fr-en"]
    tab = opened_with([similarity("cka", 0.5, partner=partner) for partner in ("de", "hi")])
    assert tab.locator("#languages figcaption").all_text_contents() == ["en-fr with de", "en-fr with hi"]
    tab = opened_with([similarity("cka", 0.5, source="zh-Hant", target=target) for target in ("en", "fr")])
    assert tab.locator("#languages figcaption").all_text_contents() == ["en", "fr"]


def test_sentences_are_named_where_there_are_no_translations(opened_with):
    tab = opened_with([similarity("cka_length_matched", 0.5, layer=layer) for layer in (0, 1)])
    assert tab.locator("#measure option").all_text_contents() == ["CKA"]
    assert tab.locator("#key li").all_text_contents() == ["pretrained", "unrelated, length-matched"]
    assert cells(tab.locator("#values tbody tr")) == [
        ["pretrained: unrelated, length-matched, 1 pair", "0.500", "0.500"]
    ]


def test_marks_name_the_number_of_sentences_only_where_it_is_known(opened_with):
    tab = opened_with([similarity("cka", 0.5, layer=layer, n=number) for layer, number in ((0, None), (1, 9))])
    assert tab.locator("#curves title").all_text_contents() == [
        "pretrained, translations, layer 0: 0.500, 1 pair",
        "pretrained, translations, layer 1: 0.500, 1 pair, n 9",
    ]


def test_a_language_with_itself_is_in_no_mean(opened_with):
    pairs = {("en", "en"): 1.0, ("de", "en"): 0.5, ("fr", "en"): 0.3}
    tab = opened_with(
        [similarity("cka", value, source=source, target=target) for (source, target), value in pairs.items()]
    )
    tab.goto(tab.url + "#language=en")
    assert cells(tab.locator("#values tbody tr")) == [["pretrained: translations, 2 pairs", "0.400"]]
    tab.click("#chosen button")
    tab.select_option("#pair", "en-en")
    assert cells(tab.locator("#values tbody tr")) == [["pretrained: translations, 1 pair", "1.000"]]


def test_more_states_than_colours_are_told_apart_by_the_width_of_lines(opened_with):
    states = [
        similarity("cka", n / 20 + 0.1 * layer, encoder=f"e{n}", layer=layer) for n in range(13) for layer in (0, 1)
    ]
    tab = opened_with(states)
    looks = "(nodes) => nodes.map((node) => getComputedStyle(node)).map((style) => [style.%s, style.%s].join())"
    lines = tab.locator("#curves polyline").evaluate_all(looks % ("stroke", "strokeWidth"))
    marks = tab.locator("#key i").evaluate_all(looks % ("borderTopColor", "borderTopWidth"))
    assert (len(set(lines)), len(set(marks))) == (13, 13)


@pytest.mark.parametrize(
    ("of_target", "colours"),
    [
        ({"fr": "ef", "de": "f", "hi": "fg"}, {"fr": "01", "de": "1", "hi": "12"}),
        ({"fr": "e", "de": "f", "hi": "g"}, {"fr": "0", "de": "0", "hi": "0"}),  # bilingual: one for each language
    ],
)
def test_an_encoder_of_several_charts_has_one_colour(opened_with, of_target, colours):
    records = [
        similarity("cka", 0.5 + 0.1 * layer, encoder=encoder, layer=layer, target=target)
        for target, encoders in of_target.items()
        for encoder in encoders
        for layer in (0, 1)
    ]
    tab = opened_with(records)
    for target, expected in colours.items():
        figure = tab.locator("#languages figure", has_text=target)
        for marks in ("polyline", ".key i"):
            shown = figure.locator(marks).evaluate_all("(nodes) => nodes.map((node) => node.getAttribute('class'))")
            assert [each.strip() for each in shown] == [f"series{number}" for number in expected]


def test_charts_of_languages_share_a_scale(opened_with):
    tab = opened_with(of_languages())
    first = tab.locator("#languages figure").all()
    labels = [figure.locator("text").all_text_contents() for figure in first]
    assert labels[0] == labels[1] == labels[2]
    heights = {
        name: float(figure.locator("circle").first.get_attribute("cy"))
        for name, figure in zip(BASES, first, strict=True)
    }
    assert (heights["hi"] - heights["de"]) / (heights["de"] - heights["fr"]) == pytest.approx(2)  # 0.8, 0.7, 0.5


def test_charts_keep_their_titles_on_paper(opened_with):
    tab = opened_with(of_languages())
    tab.emulate_media(media="print")
    assert tab.locator("#languages figcaption button:visible").all_text_contents() == list(BASES)


def test_a_language_that_is_clicked_leaves_the_large_chart(opened_with):
    tab = opened_with(of_languages())
    tab.locator("#languages figcaption button", has_text="hi").press("Enter")
    assert tab.evaluate("location.hash") == "#language=hi"
    assert not tab.is_visible("#by-language")
    assert "1 pair" in tab.locator("#values").text_content()
    tab.goto(tab.url.partition("#")[0] + "#language=hi&language=fr")
    assert tab.locator("#languages figcaption").all_text_contents() == ["fr", "hi"]
    tab.goto(tab.url.partition("#")[0] + "#family=Indo-European,+Germanic")
    assert not tab.is_visible("#by-language")


def test_two_encoders_have_a_heat_map_of_pairs_and_layers(opened_with):
    tab = opened_with(of_two_encoders() + of_languages())
    assert cells(tab.locator("#pair-map tr")) == [
        ["pair", "0", "1"],
        ["pretrained"],
        ["en-frmono and f", "0.80", "0.70"],
        ["en-demono and f", "0.70", "0.60"],
        ["en-himono and f", "0.50", "0.40"],
    ]
    shades = tab.locator("#pair-map td").evaluate_all("(cells) => cells.map((cell) => cell.style.background)")
    shares = [int(shade.partition("%")[0].rpartition(" ")[2]) for shade in shades]
    assert shares == [round(48 * share) for share in (0.8, 0.7, 0.7, 0.6, 0.5, 0.4)]
    tab.locator("#pair-map th button", has_text="en-de").click()
    assert tab.locator("#pair-map tr.chosen th button").all_text_contents() == ["en-de"]


def test_without_two_encoders_there_is_no_heat_map_and_with_one_language_no_small_charts(opened_with):
    tab = opened_with(of_languages())
    assert not tab.is_visible("#pair-map")
    tab = opened_with([record for record in of_languages() if record.target == "fr"])
    assert not tab.is_visible("#by-language")


def test_layers_of_two_encoders_are_shown_one_pair_at_a_time(opened_with):
    tab = opened_with(of_two_encoders(apart=True))
    name = "#layer-by-layer-cka"
    assert tab.inner_text(f"{name} h2") == "Layer by layer, CKA"
    assert tab.locator(f"{name} option").all_text_contents()[0] == "mean of 3 pairs, pretrained"
    tab.select_option(f"{name} select", "en–de, pretrained")
    assert cells(tab.locator(f"{name} tr")) == [
        ["layers", "0", "1"],
        ["en–de, pretrained"],
        ["layer 0", "0.70", "0.69"],
        ["layer 1", "0.60", "0.59"],
    ]
    assert tab.evaluate("location.hash") == "#view=en%E2%80%93de%2C+pretrained"
    tab.goto(tab.url.partition("#")[0] + "#language=hi")
    assert tab.inner_text(f"{name} tr.mean") == "en–hi, pretrained"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_fault(opened_with, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="`make browser` runs this test").Axe()
    tab = opened_with(of_two_encoders() + of_two_encoders(apart=True) + of_languages())
    tab.emulate_media(color_scheme=scheme)
    tab.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
    checked = axe.run(tab).response
    assert len(checked["passes"]) > 10
    assert [(fault["id"], node["html"]) for fault in checked["violations"] for node in fault["nodes"]] == []


def test_marks_of_notes_stand_behind_the_numbers_of_layers(opened_with):
    """Of two seeds in all other cells, one lacks the last."""
    layers = [(0, 0), (0, 1), (1, 0), (1, 1)]
    tab = opened_with(
        similarity("cka", 0.5, layer=layer, target_layer=other, seed=seed, **AGAINST)
        for layer, other in layers
        for seed in (1, 2)
        if (layer, other, seed) != (1, 1, 2)
    )
    assert tab.locator("#layer-by-layer-cka ol li").all_text_contents() == ["over fewer seeds: 1 of 2"]
    assert tab.locator("#layer-by-layer-cka td").all_text_contents() == ["0.50", "0.50", "0.50", "0.501"]
    assert tab.locator("#layer-by-layer-cka sup").all_text_contents() == ["1"]
    assert tab.get_attribute("#layer-by-layer-cka td:has(sup)", "title") == "over fewer seeds: 1 of 2"


def test_a_mean_over_pairs_is_over_the_seeds_that_all_pairs_have(opened_with):
    """As in tables: of the seeds of French, German lacks one."""
    values = [("fr", 1, 0.8), ("fr", 2, 0.6), ("de", 1, 0.4)]
    tab = opened_with([similarity("cka", value, target=target, seed=seed) for target, seed, value in values])
    ((_, mean),) = cells(tab.locator("#values tbody tr"))
    assert mean == "0.600"
