"""Sections of the page in a real browser: charts, the page's one state, and tables for readers of screens."""

import csv
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from crosslens.report.page import make_page
from crosslens.results.record import Results
from made_records import score
from made_sections import TARGETS, everything, frozen, one_layer, overlaps, typology

pytestmark = pytest.mark.browser

CURVES = ("interventions", "probes", "words", "transfer-by-layer-pos")


@pytest.fixture
def shown(browser, tmp_path):
    """The page with every section; on leaving it there may have been no error."""
    (tmp_path / "index.html").write_text(make_page(everything(), title="t", typology=typology()), "utf-8")
    tab = browser.new_page(viewport={"width": 1000, "height": 900})
    errors = []
    tab.on("console", lambda message: errors.append(message.text))
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.goto((tmp_path / "index.html").as_uri())
    yield tab
    assert errors == []
    tab.close()


def table(tab, name):
    """Row -> cells of the table under charts."""
    rows = tab.locator(f"#{name} details table tr").all()
    return {cells[0]: cells[1:] for cells in (row.locator("th, td").all_text_contents() for row in rows)}


def test_every_chart_has_its_values_as_a_table(shown):
    for name in CURVES:
        assert shown.locator(f"#{name} svg").count() > 0
        assert "the values are in the table below" in shown.locator(f"#{name} svg").first.get_attribute("aria-label")
    assert table(shown, "probes") == {
        "layer (0: embeddings)": ["0", "1", "2"],
        "probe langid, pretrained": ["95.0", "90.0", "80.0"],
        "probe langid, pretrained, shuffled labels": ["3.0", "4.0", "2.0"],
    }
    assert table(shown, "interventions")["frozen, zero-shot, mean"] == ["−1.5", "−4.5", "−9.5"]
    assert table(shown, "interventions")["frozen, hi"] == ["−1.5", "−4.5", "−9.5"]
    assert table(shown, "transfer-by-layer-pos")["en → fr, e and f"] == ["70.0", "60.0"]
    assert shown.locator("#overlap svg").count() == shown.locator("#overlap details table").count() == 2
    rows = shown.locator("#typology tbody tr").all()
    assert [row.locator("th, td").all_text_contents() for row in rows] == [
        ["POS tagging: easy"],
        ["French, Latin", "90.001", "80.00", "+10.00"],
        ["POS tagging: hard"],
        ["Hindi, Devanagari", "60.00", "not run", "−7.00"],
    ]
    assert shown.locator("#typology td.five").all_text_contents() == ["−7.00"]


def test_values_and_charts_can_be_downloaded(shown, saved):
    section = shown.locator("#interventions")
    assert section.get_by_role("button", name="Download").count() == 0
    section.locator("summary").click()
    name, text = saved(shown, section.get_by_role("button", name="Download values (CSV)"))
    assert name == "freezing-and-interventions.csv"
    rows = list(csv.reader(text.splitlines()))
    assert ["frozen, zero-shot, mean", "-1.5", "-4.5", "-9.5"] in rows
    assert len(rows) == section.locator("table tr").count() > 3
    assert {len(row) for row in rows} == {4}
    name, text = saved(shown, section.get_by_role("button", name="Download figure (SVG)"))
    assert name == "freezing-and-interventions.svg"
    root = ElementTree.fromstring(text)
    charts = root.findall("{*}svg")
    assert len(charts) == section.locator("svg").count() > 0
    assert len({(chart.get("x"), chart.get("y")) for chart in charts}) == len(charts)
    texts = [text.text for text in root.findall("{*}text")]
    titles = section.locator("figcaption, figure > .note").all_text_contents()
    assert texts[: len(titles)] == titles
    assert titles[1] == "change, points, by treated layers (0: embeddings)"
    assert " ".join(texts[len(titles) :]) == " ".join(section.locator(".key li").all_text_contents())
    marks = [mark.get("stroke") for mark in root if mark.tag.endswith(("}line", "}circle"))]
    assert len(marks) == section.locator(".key i").count() > 1
    background, ink = shown.evaluate(
        "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
    )
    assert root.find("{*}rect").get("fill") == background != ink
    assert {text.get("fill") for text in root.findall("{*}text")} == {ink}


def test_a_downloaded_chart_says_what_it_shows(shown, saved):
    """Both lines of a caption."""
    shown.locator("#overlap summary").first.click()
    _, text = saved(shown, shown.locator("#overlap").get_by_role("button", name="Download figure (SVG)").first)
    caption = shown.locator("#overlap figcaption").first.inner_text().split("\n")
    assert len(caption) == 2
    assert [text.text for text in ElementTree.fromstring(text).findall("{*}text")] == caption


def test_marks_stand_where_their_values_are(shown):
    heights = [float(circle.get_attribute("cy")) for circle in shown.locator("#probes circle").all()]
    true, shuffled = heights[:3], heights[3:]
    assert true == sorted(true)
    assert (true[2] - true[1]) / (true[1] - true[0]) == pytest.approx(2)  # 95, 90, 80
    assert min(shuffled) > max(true)
    assert shown.locator("#probes polyline.null").count() == 1
    assert shown.locator("#interventions .target").count() == len(TARGETS)
    bars = [bar.get_attribute("x1") for bar in shown.locator("#interventions .whisker").all()]
    assert len(bars) == len(set(bars)) == 6  # those of two lines at one layer are apart


def test_a_mark_names_its_layer(shown):
    assert shown.locator("#probes circle title").first.text_content() == "pretrained, layer 0: 95.0"


def test_scatter_plots_of_two_kinds_of_models_have_different_names(opened_with):
    tab = opened_with([*frozen(), *frozen(settings="lr=1"), *overlaps()])
    names = tab.locator("#overlap svg").evaluate_all("(charts) => charts.map((chart) => chart.ariaLabel)")
    assert len(names) == len(set(names)) == 2


def test_a_key_lists_only_what_is_drawn(opened_with):
    every = opened_with(frozen())
    assert every.locator("#interventions .key li").all_text_contents() == [
        "same language",
        "zero-shot mean",
        "single targets",
    ]
    others = opened_with(record for record in frozen() if record.target != "en")
    assert others.locator("#interventions .key li").all_text_contents() == ["zero-shot mean", "single targets"]


def test_charts_of_one_section_share_a_scale(shown):
    french, hindi = shown.locator("#words figure").all()
    assert french.locator("text").all_text_contents() == hindi.locator("text").all_text_contents()


def test_a_cutoff_is_chosen_and_kept_in_the_address(shown):
    first = table(shown, "words")
    assert first["en–fr, mono-en and mono-fr"] == ["60.0", "50.0", "40.0"]
    shown.select_option("#words select", "precision at 5")
    assert shown.evaluate("location.hash") == "#view=precision+at+5"
    assert table(shown, "words")["en–fr, mono-en and mono-fr"] == ["80.0", "70.0", "60.0"]
    before = shown.inner_html("main")
    shown.reload()
    assert shown.inner_html("main") == before


def test_a_language_is_followed_from_and_into_every_section(shown):
    assert shown.locator("#words figure").count() == 2
    shown.locator("#words figcaption button", has_text="en–hi").press("Enter")  # by the keyboard
    assert shown.evaluate("location.hash") == "#language=hi"
    assert shown.locator("#words figcaption").all_text_contents() == ["en–hi"]
    assert shown.locator("#interventions .target.chosen").count() == 1
    assert shown.locator("#overlap circle.chosen").count() == 2
    assert shown.locator("#typology tr.chosen th").all_text_contents() == ["Hindi, Devanagari"]
    shown.click("#chosen button")
    shown.locator("#overlap circle").first.click()
    assert shown.locator("#overlap circle.chosen").count() == 2
    shown.click("#chosen button")
    shown.locator("#interventions .target .reach").first.dispatch_event("click")
    assert shown.locator("#interventions .target.chosen").count() == 1


def test_filters_hold_in_every_section(shown):
    shown.select_option("#script", "Devanagari")
    assert shown.locator("#words figcaption").all_text_contents() == ["en–hi"]
    assert shown.locator("#overlap circle").count() == 2
    assert shown.locator("#interventions .target").count() == 1
    assert shown.locator("#typology tbody tr:not(.mean)").count() == 1
    assert len(table(shown, "interventions")) == 1 + 1 + 2  # head, Hindi, both means


def test_what_the_filters_leave_nothing_of_is_hidden(shown):
    """No axis is left without a point, and no heading without a row."""
    shown.select_option("#script", "Devanagari")
    shown.select_option("#family", "Uralic")
    for name in ("words", "overlap", "typology"):
        assert not shown.is_visible(f"#{name}")
    shown.select_option("#script", "")
    assert shown.locator("#overlap svg:visible").count() == 2  # Finnish
    assert not shown.is_visible("#typology")
    shown.select_option("#family", "")
    assert shown.locator("#typology tr.mean").count() == 2


def test_labels_of_many_columns_stand_apart(shown):
    chart = "(labels) => lineChart({ label: '', W: 168, H: 190, scale: [0, 1], places: labels.keys().toArray(), labels,"
    read = " lines: [] }).querySelectorAll('[transform]').values().map((text) => +text.getAttribute('x')).toArray()"
    places = shown.evaluate(chart + read, [f"{layer}.output" for layer in range(13)])
    assert len(places) > 4
    assert min(b - a for a, b in pairwise(places)) >= 13


def test_filters_and_followed_languages_need_no_table_of_scores(browser, tmp_path):
    (tmp_path / "index.html").write_text(make_page(Results.of(one_layer()), title="t"), "utf-8")
    tab = browser.new_page()
    tab.goto((tmp_path / "index.html").as_uri())
    assert tab.locator("#transfer-by-layer-pos figure").count() == 2
    tab.locator("#transfer-by-layer-pos figcaption button").click()
    assert tab.inner_text("#chosen").startswith("Following fr")
    assert tab.locator("#transfer-by-layer-pos figure").count() == 1
    tab.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_fault(shown, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="`make browser` runs this test").Axe()
    shown.emulate_media(color_scheme=scheme)
    shown.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
    checked = axe.run(shown).response
    assert len(checked["passes"]) > 10
    assert [(fault["id"], node["html"]) for fault in checked["violations"] for node in fault["nodes"]] == []


def test_no_screen_cuts_a_chart(shown):
    for width in (390, 768, 1400, 2000):
        shown.set_viewport_size({"width": width, "height": 900})
        shown.wait_for_function(f"innerWidth === {width}")
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
        ends = shown.evaluate(
            "[...document.querySelectorAll('svg.chart')].map((svg) => svg.getBoundingClientRect().right)"
        )
        assert max(ends) <= width


def test_the_subject_names_the_task_where_there_is_no_layer_profile(browser, tmp_path):
    records = [score(target, 80.0) for target in ("fr", "de")]
    (tmp_path / "index.html").write_text(make_page(Results.of(records), title="t"), "utf-8")
    tab = browser.new_page()
    tab.goto((tmp_path / "index.html").as_uri())
    assert tab.inner_text("#subject") == "e · POS tagging · source en"
    tab.close()
