"""The page, as text and in a real browser."""

import json
import re
import shutil

import pytest

from crosslens.report.finding import findings
from crosslens.report.page import make_page
from crosslens.results.record import Record, Results

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def records():
    scores = [
        Record(
            task=task, encoder="e", source="en", target=target, metric=metric, seed=seed, ablation=ablation, run=run,
            value=value - (10.0 if ablation and target != "en" else 0.0) + seed, n=100,
            tags={"corpus": f"ud/{target}_pud:test", "signature": HOSTILE, "training_train": "ud/en_ewt:train"},
        )
        for task, metric in (("pos", "accuracy"), ("parsing", "las"))
        for target, value in (("en", 90.0), ("fr", 85.0), ("العربية", 60.0), (HOSTILE, 50.0))
        for ablation, run in ((None, "a" * 16), ("1-2", "b" * 16))
        for seed in (1, 2)
    ]  # fmt: skip
    similar = [
        Record(
            encoder="e", source="en", target=target, measure=measure, layer=layer, metric="similarity", n=9,
            ablation=ablation, value=0.2 + layer / 10, tags={"condition": ablation or "reference"},
        )
        for target in ("fr", HOSTILE)
        for layer in (0, 1, 2)
        for measure in ("cka", "cka_shuffled", "cka_length_matched", "retrieval")
        for ablation in (None, "0-2")
    ]  # fmt: skip
    return Results.of([*scores, *similar])


@pytest.fixture(scope="module")
def page(records):
    runs = {"a" * 16: {"repeat": "crosslens run s.yaml --only aaaa", "log": "trained\n</script><b>done"}}
    return make_page(records, title=f"A {HOSTILE}", introduction="i", findings=findings(records), runs=runs)


def embedded(page):
    return json.loads(re.search(r'<script type="application/json" id="records">(.*?)</script>', page, re.S)[1])


def rows(columns):
    names = list(columns)
    cells = zip(*([columns[name]["of"][place] for place in columns[name]["at"]] for name in names), strict=True)
    return [dict(zip(names, row, strict=True)) for row in cells]


def test_the_page_holds_every_record(page, records):
    data = embedded(page)
    frame = records.to_pandas()
    scores = rows(data["scores"])
    assert [row["value"] for row in scores] == frame[frame["measure"].isna()]["value"].tolist()
    assert {row["condition"] for row in scores} == {"reference", "1-2"}
    similar = rows(data["similarities"])
    assert len(similar) == frame["measure"].notna().sum()
    assert {row["state"] for row in similar} == {"pretrained", "untrained"}
    assert data["runs"]["a" * 16]["facts"] == {"train": "ud/en_ewt:train"}


def test_nothing_outside_is_named_and_no_name_is_markup(page):
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "<img" not in page
    assert "<b>done" not in page
    assert page.count("</script>") == 2


def test_the_same_records_give_the_same_page(page, records):
    runs = {"a" * 16: {"repeat": "crosslens run s.yaml --only aaaa", "log": "trained\n</script><b>done"}}
    assert make_page(records, title=f"A {HOSTILE}", introduction="i", findings=findings(records), runs=runs) == page


def test_what_there_is_none_of_has_no_section(records):
    assert 'id="curves"' not in make_page(records.filter(measure=None), title="t")
    assert 'id="heat"' not in make_page(records.filter(metric="similarity"), title="t")
    assert "Made with" in make_page(Results.of([]), title="t")


def test_features_stand_beside_the_reference_though_their_settings_differ(records):
    frame = [
        Record(
            task="pos", encoder="e", source="en", target="fr", metric="accuracy", seed=1, value=80.0,
            tags={"corpus": "ud/fr_pud:test", "condition": condition, "differs_from_usual": settings},
        )
        for condition, settings in (("reference", "limit=9"), ("reference frozen 0-3", "limit=9"),
                                    ("reference features", "schedule=plateau"))
    ]  # fmt: skip
    scores = rows(embedded(make_page(Results.of(frame), title="t"))["scores"])
    assert [row["condition"] for row in scores] == ["reference", "reference frozen 0-3", "reference features"]


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
    cross = opened.locator("#heat tr", has_text="cross-language mean").locator("td")
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
        serious = [(fault["id"], node["html"]) for fault in found for node in fault["nodes"]
                   if fault["impact"] in ("serious", "critical")]  # fmt: skip
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
