"""The page on any screen, in any colours, by keyboard and on paper, in a real browser."""

import re
from itertools import pairwise

import pytest

from crosslens.report.page import make_page
from crosslens.results.record import Results
from made_records import score, similarity

MEDIA = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "forced colours": {"forced_colors": "active"},
    "reduced motion": {"reduced_motion": "reduce"},
    "paper": {"media": "print"},
}

WIDTHS = (390, 600, 768, 1024, 1280, 1600, 2000)

FOCUSABLE = "button, select, input, summary, [tabindex='0']"

OUTLINED = (
    "document.activeElement === document.body || getComputedStyle(document.activeElement).outlineStyle !== 'none'"
)

OVERLAPPING = """() => {
  const boxes = [...document.querySelectorAll("svg.chart")].flatMap((svg, i) =>
    [...svg.querySelectorAll("text")].map((node) => ({ i, text: node.textContent, box: node.getBoundingClientRect() })));
  const overlaps = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
  return boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) => a.i === b.i && overlaps(a.box, b.box)).map((b) => [a.text, b.text]));
}"""  # noqa: E501
"""Texts of charts that cover one another."""


@pytest.mark.browser
@pytest.mark.parametrize("media", MEDIA)
def test_axe_finds_no_fault(opened, media):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright",
        reason="axe-core is not installed; `make browser` runs this test (CONTRIBUTING.md)",
    ).Axe()
    opened.select_option("#colour", "family")
    opened.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
    opened.emulate_media(**MEDIA[media])
    checked = axe.run(opened).response
    assert len(checked["passes"]) > 10
    assert [(fault["id"], node["html"]) for fault in checked["violations"] for node in fault["nodes"]] == []


@pytest.mark.browser
def test_axe_finds_no_fault_where_models_differ_in_more_than_layers(browser, tmp_path):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="see above").Axe()
    one = Results.of(
        score(target, 80.0, condition=condition) for target in ("en", "fr") for condition in ("none", "1-2")
    )
    results = one.with_columns(train="ud/en_ewt:train") + one.with_columns(train="ud/en_gum:train")
    (tmp_path / "index.html").write_text(make_page(results, title="t"), "utf-8")
    tab = browser.new_page()
    tab.goto((tmp_path / "index.html").as_uri())
    assert tab.locator("#tiles h2").count() == 2
    assert [fault["id"] for fault in axe.run(tab).response["violations"]] == []
    tab.close()


@pytest.mark.browser
def test_no_screen_cuts_the_page_or_covers_a_label(opened):
    for width in WIDTHS:
        opened.set_viewport_size({"width": width, "height": 900})
        opened.wait_for_function(f"innerWidth === {width}")
        assert opened.evaluate("document.documentElement.scrollWidth") <= width
        widths = opened.evaluate(
            "[...document.querySelectorAll('svg.chart')].map((svg) => svg.getBoundingClientRect().width)"
        )
        assert max(widths) <= width
        assert opened.locator("svg.chart text").count() > 10
        assert opened.evaluate(OVERLAPPING) == []


@pytest.mark.browser
@pytest.mark.parametrize("separator", [" ", ""])
@pytest.mark.parametrize("word", ["a-multilingual-encoder", "العربية", "किताब", "中文繁體"])
def test_long_names_in_any_script_fit_a_telephone(browser, tmp_path, word, separator):
    long = separator.join([word] * (200 // len(word)))
    one = Results.of(
        score(target, 80.0, condition=condition, encoder=encoder)
        for target in ("fr", long)
        for condition in ("none", "1-2")
        for encoder in ("e", long)
    )
    records = one + one.with_columns(source=long)
    similar = [similarity("cka", 0.5, layer=layer, target=target) for layer in (0, 1) for target in ("fr", long)]
    (tmp_path / "index.html").write_text(make_page(records + Results.of(similar), title=long), "utf-8")
    tab = browser.new_page(viewport={"width": 390, "height": 800})
    tab.goto((tmp_path / "index.html").as_uri())
    assert [tab.locator(f"#{name} option", has_text=long).count() for name in ("encoder", "source", "pair")] == [
        1,
        1,
        1,
    ]
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    tab.close()


@pytest.mark.browser
def test_every_control_has_a_name_and_changes_something(opened):
    """What can be chosen, filled in or pressed has an effect, and a name to be read out."""
    for control in opened.locator("select:visible, input:visible").all():
        name = control.get_attribute("id")
        assert opened.locator(f"label:has(#{name})").inner_text().strip(), name
        before = opened.inner_html("main") + opened.evaluate("location.hash")
        if control.evaluate("node => node.tagName") == "SELECT":
            values = control.evaluate("node => [...node.options].map((option) => option.value)")
            assert len(values) > 1, name
            control.select_option(values[-1])
        else:
            control.fill("fr")
        after = opened.inner_html("main") + opened.evaluate("location.hash")
        assert after != before, name
    assert opened.locator("button:visible").count() > 10
    for button in opened.locator("button:visible").all():
        assert (button.get_attribute("aria-label") or button.inner_text()).strip()


@pytest.mark.browser
def test_files_can_be_downloaded(opened):
    for button, beginning in (
        ("#scores-csv", "task,encoder,metric"),
        ("#similar-csv", "state,pair"),
        ("#svg", "<svg"),
    ):
        with opened.expect_download() as download:
            opened.click(button)
        with open(download.value.path(), encoding="utf-8") as stream:
            assert stream.read().startswith(beginning)


@pytest.mark.browser
def test_the_keyboard_reaches_everything(opened):
    reached = set()
    for _ in range(3 * opened.locator(FOCUSABLE).count()):
        opened.keyboard.press("Tab")
        name = "[...document.querySelectorAll(selector)].indexOf(document.activeElement)"
        reached.add(opened.evaluate(f"(selector) => {name}", FOCUSABLE))
        assert opened.evaluate(OUTLINED)
    visible = opened.evaluate(
        "(selector) => [...document.querySelectorAll(selector)].map((node, i) => node.checkVisibility()"
        " && !node.closest('details:not([open]) > :not(summary)') && !node.disabled ? i : -1)",
        FOCUSABLE,
    )
    assert {place for place in visible if place >= 0} <= reached
    opened.locator("#results button", has_text="aaaaaaaa").first.press("Enter")
    assert opened.is_visible("#run")
    opened.keyboard.press("Escape")
    assert not opened.is_visible("#run")


@pytest.mark.browser
def test_paper_shows_numbers_and_findings_and_no_controls(opened):
    opened.emulate_media(media="print")
    opened.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert opened.locator("select:visible, input:visible").count() == 0
    assert opened.locator("#heat td.cell:visible", has_text="−10.00").count() > 0
    assert opened.is_visible("details.findings p")
    assert opened.inner_text("#heat tbody tr:nth-child(2) th").startswith("ud/fr_pud:test")


@pytest.mark.browser
def test_nothing_moves_where_motion_is_unwanted(opened):
    opened.emulate_media(reduced_motion="reduce")
    assert opened.evaluate(
        "[...document.querySelectorAll('*')].map(getComputedStyle).every((style) => style.animationName === 'none'"
        " && parseFloat(style.transitionDuration) === 0 && style.scrollBehavior !== 'smooth')"
    )


@pytest.mark.browser
def test_families_and_scripts_filter_and_colour(opened):
    assert opened.inner_text("#family option:nth-child(2)").startswith("Indo-European, ")
    opened.select_option("#colour", "family")
    assert opened.locator("#profiles .target[class*=series]").count() == 1  # French; nothing is known of the others
    assert opened.locator("#profiles .target.other").count() == 2
    opened.select_option("#family", "Indo-European, Romance")
    assert opened.inner_text("#kept") == (
        "Shown: 1 of 4 languages. Curves of mean similarity are over the pairs shown; headline, key numbers and all"
        " other means are over all languages."
    )
    rows = opened.locator("#heat tbody th").all_inner_texts()
    assert [row.splitlines() for row in rows] == [
        ["ud/fr_pud:test", "French, Indo-European, Romance, Latin"],
        ["cross-language mean of 3"],
    ]
    # The mean is over all languages still, as the page says.
    assert opened.locator("#heat tr.mean td").all_inner_texts() == ["66.50", "−10.00"]
    assert "1 pair" in opened.locator("#values").text_content()
    assert opened.inner_text("#count") == "8 of 32 scores"
    before = opened.inner_html("main")
    opened.reload()
    assert opened.inner_html("main") == before
    opened.select_option("#family", "unknown")
    assert opened.locator("#heat tbody th").count() == 3


@pytest.mark.browser
def test_the_names_of_many_followed_languages_stay_in_the_profile(opened_with):
    languages = ("ar", "cs", "de", "es", "fi", "fr", "hi", "id", "it", "ja", "ko", "pl", "pt", "ru", "sv", "th", "tr")
    losses = {"none": {}, "1-2": {name: 50.0 + place / 10 for place, name in enumerate(languages)}}
    tab = opened_with(
        score(target, 90.0 - loss.get(target, 0.0), condition=condition)
        for condition, loss in losses.items()
        for target in ("en", *languages)
    )
    tab.goto(tab.url + "#" + "&".join(f"language={name}" for name in languages))
    names = tab.locator("#profiles svg > text").filter(has_text=re.compile(r"^[a-z]{2}$"))
    places = sorted(names.evaluate_all("(texts) => texts.map((text) => +text.getAttribute('y'))"))
    assert len(places) == len(languages)
    assert min(b - a for a, b in pairwise(places)) >= 14
    assert places[-1] < float(tab.get_attribute("#profiles svg", "height"))


@pytest.mark.browser
def test_encoders_are_overlaid_and_ranked(browser, tmp_path):
    losses = {"deep": (12, {"none": 0, "1-2": 9, "3-4": 1, "11-12": 0}), "flat": (6, {"none": 0, "1-2": 5})}
    results = Results.of(
        score(target, base - loss, encoder=encoder, depth=depth, condition=condition)
        for encoder, (depth, conditions) in losses.items()
        for condition, loss in conditions.items()
        for target, base in (("en", 90.0), ("fr", 80.0))
    )
    (tmp_path / "index.html").write_text(make_page(results, title="t"), "utf-8")
    tab = browser.new_page()
    tab.goto((tmp_path / "index.html").as_uri())
    assert tab.locator("#overlays circle").count() == 2 * (3 + 1)
    assert tab.locator("#encoder-key li").all_inner_texts() == ["deep", "flat", "zero-shot mean", "same language"]
    assert tab.locator("#overlays figcaption").all_inner_texts() == ["POS tagging, accuracy, en to 1 corpus"]
    assert tab.locator("#overlays details tbody tr").all_text_contents() == [
        f"{name}, {line}{layers}{change}"
        for name, line, layers, change in (
            ("deep", "same language", "1-2 of 12", "−9.0"),
            ("deep", "same language", "3-4 of 12", "−1.0"),
            ("deep", "same language", "11-12 of 12", "+0.0"),
            ("deep", "zero-shot, mean", "1-2 of 12", "−9.0"),
            ("deep", "zero-shot, mean", "3-4 of 12", "−1.0"),
            ("deep", "zero-shot, mean", "11-12 of 12", "+0.0"),
            ("flat", "same language", "1-2 of 6", "−5.0"),
            ("flat", "zero-shot, mean", "1-2 of 6", "−5.0"),
        )
    ]
    assert tab.locator("#overlays figure > div tbody tr").all_inner_texts() == [
        "deep (12 layers; 1-2 and 3-4)\t90.00\t80.00\t−5.00",
        "flat (6 layers; 1-2)\t90.00\t80.00\t−5.00",
    ]
    tab.close()


@pytest.mark.browser
def test_the_keyboard_keeps_its_place_and_values_stay_open(opened):
    """Where a button redraws the part of the page in which it stands."""
    focused = "document.activeElement.textContent"
    for button, expected in (
        ("#tabs button:nth-child(2)", "Dependency parsing"),
        ("#results th:nth-child(3) button", "source ↑"),
        ("#heat tbody tr:nth-child(2) th button", "ud/fr_pud:test"),
    ):
        opened.locator(button).press("Enter")
        assert opened.evaluate(focused) == expected
    opened.locator("#profiles summary").click()
    opened.select_option("#sort", "name")
    assert opened.is_visible("#profiles table")
    opened.focus("#heat tbody tr:nth-child(2) th button")
    opened.set_viewport_size({"width": 700, "height": 800})  # a telephone that is turned
    opened.wait_for_function("innerWidth === 700 && document.querySelector('#profiles svg').clientWidth > 390")
    assert opened.is_visible("#profiles table")
    assert opened.locator("#heat th button:focus").count() == 1
    opened.evaluate("location.hash = 'sort=score'")
    opened.wait_for_function("document.querySelector('#sort').value === 'score'")
    assert opened.is_visible("#profiles table")


@pytest.mark.browser
def test_the_slider_is_read_out_as_the_layer_and_its_values_fit_a_telephone(browser, tmp_path):
    languages = ("de", "fi", "fr", "hi", "ru", "zh")
    records = [score("en", 95.0), *(score(name, 90.0 - 5 * place) for place, name in enumerate(languages))]
    records += [
        similarity("cka", 0.8 - 0.1 * place, layer=layer, target=name)
        for place, name in enumerate(languages)
        for layer in (0, 1)
    ]
    (tmp_path / "index.html").write_text(make_page(Results.of(records), title="t"), "utf-8")
    tab = browser.new_page(viewport={"width": 390, "height": 800})
    tab.goto((tmp_path / "index.html").as_uri())
    tab.locator("#gaps summary").click()
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    tab.focus("#layer")
    tab.keyboard.press("End")
    assert tab.get_attribute("#layer", "aria-valuetext") == "layer 1"
    assert tab.is_visible("#gaps table")
    tab.close()
