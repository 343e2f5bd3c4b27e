"""The page in a real browser."""

import shutil

import pytest

from made_records import HOSTILE


@pytest.fixture(scope="module")
def browser():
    sync = pytest.importorskip("playwright.sync_api", reason="no playwright here")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium here")
    with sync.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def opened(browser, page, tmp_path):
    """The page, opened; on leaving it nothing may have been complained about or asked for."""
    (tmp_path / "index.html").write_text(page, "utf-8")
    tab = browser.new_page(viewport={"width": 390, "height": 800})
    said, asked = [], []
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.on("dialog", lambda dialog: said.append(dialog.message))
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto((tmp_path / "index.html").as_uri())
    yield tab
    assert said == []
    assert len(asked) == 1
    tab.close()


@pytest.mark.browser
def test_the_controls_change_what_is_shown(opened):
    assert opened.inner_text("#heat tbody tr:nth-child(1) th") == "ud/en_pud:test"
    cross = opened.locator("#heat tr", has_text="cross-language mean of 3").locator("td")
    assert [cell.inner_text() for cell in cross.all()] == ["66.50", "−10.00"]
    french = opened.locator("#heat tr", has_text="ud/fr_pud:test").locator("td").nth(1)
    assert french.get_attribute("class") == "cell five"
    assert "± 0.00 over 2 seeds, n 100" in french.locator("button").get_attribute("title")
    opened.select_option("#task", "parsing")
    french.locator("button").click()
    assert opened.inner_text("#count") == "2 of 32 scores"
    before = opened.inner_html("#curves")
    opened.select_option("#measure", "retrieval")
    assert opened.inner_html("#curves") != before
    assert "pretrained: translations, 2 pairs" in opened.locator("#values").text_content()
    opened.select_option("#pair", f"en-{HOSTILE}")
    assert opened.locator("#curves polyline").count() == 2


@pytest.mark.browser
def test_nobody_is_shut_out(opened):
    """axe-core finds no serious fault, in light and in dark."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe-core here").Axe()
    opened.click("summary")
    for scheme in ("light", "dark"):
        opened.emulate_media(color_scheme=scheme)
        found = axe.run(opened).response["violations"]
        serious = [
            (fault["id"], node["html"])
            for fault in found
            for node in fault["nodes"]
            if fault["impact"] in ("serious", "critical")
        ]
        assert serious == []


@pytest.mark.browser
def test_sorting_sorts_and_filtering_filters(opened):
    values = lambda: [float(cell.inner_text()) for cell in opened.locator("#results tbody td:nth-child(8)").all()]  # noqa: E731
    button = opened.locator("#results th:nth-child(8) button")
    button.press("Enter")  # by the keyboard
    assert values() == sorted(values())
    assert opened.get_attribute("#results th:nth-child(8)", "aria-sort") == "ascending"
    opened.locator("#results th:nth-child(8) button").click()
    assert values() == sorted(values(), reverse=True)
    opened.fill("#filter", "parsing العربية")
    assert opened.inner_text("#count") == "4 of 32 scores"
    opened.fill("#filter", "nothing of the kind")
    assert opened.inner_text("#count") == "0 of 32 scores"


@pytest.mark.browser
def test_a_number_leads_to_its_run_and_hostile_names_stay_text(opened):
    opened.locator("#results button", has_text="aaaaaaaa").first.click()
    shown = opened.inner_text("#run")
    assert "crosslens run s.yaml --only aaaa" in shown
    assert "</script><b>done" in shown
    assert HOSTILE in shown  # the signature
    opened.click("#close")
    assert opened.locator("img").count() == 0
    assert opened.locator("#heat th", has_text=HOSTILE).count() == 1
    assert opened.title() == f"A {HOSTILE}"
    # At a phone's width tables scroll by themselves, and the page does not.
    assert opened.evaluate("document.documentElement.scrollWidth") <= 390
