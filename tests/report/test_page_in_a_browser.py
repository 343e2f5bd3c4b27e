"""The page in a real browser."""

import html
import re
import shutil
import subprocess
import urllib.parse

import pytest

from crosslens.formatting import plain, signed
from crosslens.report.page import make_page
from crosslens.results.record import Results
from made_records import HOSTILE, made_up, score, similarity


@pytest.fixture
def seen(page, tmp_path):
    """The page after its script, for a part behind the # of its address, without playwright."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed; `make browser` runs this test (CONTRIBUTING.md)")

    def dumped(**state):
        (tmp_path / "index.html").write_text(page, "utf-8")
        address = (tmp_path / "index.html").as_uri() + "#" + urllib.parse.urlencode(state, doseq=True)
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--dump-dom",
        ]
        done = subprocess.run(
            [chromium, *options, "--virtual-time-budget=2000", address],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        return done.stdout.split('<script type="application/json"')[0]

    return dumped


def element(document, name):
    match = re.search(rf'<(\w+)[^>]*? id="{name}".*?</\1>', document, re.DOTALL)
    assert match, name
    return match[0]


def first_column(document):
    table = element(document, "heat")
    return [
        html.unescape(re.sub("<small>.*|<.*?>", "", cell)) for cell in re.findall(r'<th scope="row">(.*?)</th>', table)
    ]


@pytest.mark.browser
def test_the_address_holds_the_view(seen):
    """Task, order, search and the language that is followed come from the address."""
    document = seen()
    assert first_column(document)[1:] == [f"ud/{name}_pud:test" for name in ("fr", "العربية", HOSTILE)] + [
        "cross-language mean of 3"
    ]
    assert 'class="chosen"' not in element(document, "heat")
    assert "POS tagging" in element(document, "subject")
    document = seen(task="parsing", sort="name", language="العربية", find="ud")
    assert "Dependency parsing" in element(document, "subject")
    assert first_column(document)[1:4] == sorted(first_column(document)[1:4])
    assert re.findall(r'<tr class="chosen">.*?<bdi>(.*?)</bdi>', element(document, "heat")) == ["ud/العربية_pud:test"]
    assert len(re.findall('class="target chosen"', document)) == 1
    assert first_column(seen(find="nothing of the kind")) == ["cross-language mean of 3"]
    assert first_column(seen(task="no such task"))  # an address from another page shows the first table


@pytest.mark.browser
class TestJoinedTrainingData:
    @pytest.fixture
    def page(self):
        return make_page(made_up({"1-2": 10.0}).with_columns(source="en+fr"), title="t", introduction="", findings=[])

    def test_the_same_language_score_is_a_mean_of_several(self, seen):
        shown = re.sub(r"<[^>]*>", " ", seen())
        assert re.search(r"in-language accuracy\s+90\.0\s+± 0\.0\s+mean of 2 corpora, 3 seeds", shown), shown


@pytest.mark.browser
class TestRightToLeftNames:
    NAMES = ("مشفر عربي", "عربي")

    @pytest.fixture
    def page(self):
        lost = made_up({"1-2": 10.0, "3-4": 4.0})
        results = sum(lost.with_columns(encoder=name) for name in (*self.NAMES, "e"))
        similar = Results.of(similarity("cka", 0.5, encoder=name, target="العربية") for name in self.NAMES)
        return make_page(results + similar, title=f"{self.NAMES[0]} (12)", findings=[f"{self.NAMES[1]}: (1-2)"])

    def test_they_are_isolated_from_the_text_around_them(self, seen):
        shown = seen().partition("</head>")[2]
        assert "<bdi>مشفر عربي</bdi> (12 layers; 1-2 and 3-4)" in element(shown, "encoders")
        assert "<h1><bdi>مشفر عربي</bdi> (12)</h1>" in shown
        assert "<p><bdi>عربي</bdi>: (1-2)</p>" in shown
        outside = re.sub(r"<option.*?</option>|<bdi>.*?</bdi>|\u2068.*?\u2069", "", shown)
        assert [letter for letter in outside if "\u0600" <= letter <= "\u06ff"] == []


@pytest.mark.browser
def test_the_controls_change_what_is_shown(opened):
    assert opened.inner_text("#heat tbody tr:nth-child(1) th").splitlines()[0] == "ud/en_pud:test"
    cross = opened.locator("#heat tr", has_text="cross-language mean of 3").locator("td")
    assert [cell.inner_text() for cell in cross.all()] == ["66.50", "−10.00"]
    french = opened.locator("#heat tr", has_text="ud/fr_pud:test").locator("td").nth(1)
    assert french.get_attribute("class") == "cell five"
    assert "standard deviation 0.00 over 2 seeds, n 100" in french.locator("button").get_attribute("title")
    opened.locator("#tabs button", has_text="Dependency parsing").click()
    french.locator("button").click()
    assert opened.inner_text("#count") == "2 of 32 scores"
    before = opened.inner_html("#curves")
    opened.select_option("#measure", "retrieval")
    assert opened.inner_html("#curves") != before
    assert "pretrained: translations, 2 pairs" in opened.locator("#values").text_content()
    opened.select_option("#pair", f"en-{HOSTILE}")
    assert opened.locator("#curves polyline").count() == 2


@pytest.mark.browser
def test_a_language_that_is_clicked_is_followed_everywhere(opened):
    opened.locator("#heat th button", has_text="fr_pud").press("Enter")  # by the keyboard
    assert opened.evaluate("location.hash") == "#language=fr"
    assert opened.evaluate("document.activeElement.textContent") == "ud/fr_pud:test"
    assert opened.locator("#heat tr.chosen").count() == opened.locator("#profiles .target.chosen").count() == 1
    assert opened.inner_text("#chosen").startswith("Following fr")
    assert "1 pair" in opened.locator("#values").text_content()  # curves of that language, no mean
    before = opened.inner_html("main")
    opened.reload()
    assert opened.inner_html("main") == before
    opened.click("#chosen button")
    assert opened.evaluate("location.hash") == ""
    assert opened.locator(".chosen:visible").count() == 0


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
    opened.reload()
    assert opened.input_value("#filter") == "parsing العربية"
    assert opened.inner_text("#count") == "4 of 32 scores"
    opened.fill("#filter", "nothing of the kind")
    assert opened.inner_text("#count") == "0 of 32 scores"


@pytest.mark.browser
def test_unknown_values_in_the_address_are_the_default(opened):
    opened.evaluate("location.hash = 'sort=size&colour=mood&measure=none'")
    opened.wait_for_function("location.hash.includes('mood')")
    opened.wait_for_timeout(100)
    assert [opened.input_value(f"#{name}") for name in ("sort", "colour")] == ["score", ""]
    assert not opened.locator("#colours li").count()


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


@pytest.mark.browser
def test_gap_and_similarity_are_drawn_at_the_chosen_layer(browser, tmp_path):
    languages = ("de", "fi", "fr", "hi", "ru", "zh")
    scores = [score("en", 95.0), *(score(name, 90.0 - 5 * place) for place, name in enumerate(languages))]
    cka = [
        similarity("cka", 0.8 - 0.1 * layer * place, layer=layer, target=name)
        for place, name in enumerate(languages)
        for layer in (1, 2)
    ]
    (tmp_path / "index.html").write_text(make_page(Results.of([*scores, *cka]), title="t"), "utf-8")
    tab = browser.new_page(viewport={"width": 800, "height": 800})
    tab.goto((tmp_path / "index.html").as_uri())
    assert tab.inner_text("#layer-name") == "mean over layers"
    across = [circle.get_attribute("cx") for circle in tab.locator("#gaps circle").all()]
    assert len(set(across)) == len(languages)
    assert {*languages} <= set(tab.locator("#gaps text").all_text_contents())
    tab.focus("#layer")
    tab.keyboard.press("End")
    assert (tab.inner_text("#layer-name"), tab.evaluate("location.hash")) == ("layer 2", "#layer=2")
    assert "ρ −1.00" in tab.inner_text("#gaps figcaption")
    assert tab.evaluate("document.activeElement.id") == "layer"
    tab.locator("#gaps summary").click()
    assert tab.locator("#gaps tbody tr").last.inner_text().split("\t")[1:] == ["30.0", "−0.200"]
    tab.locator("#gaps circle").first.click()
    assert tab.evaluate("location.hash") == "#layer=2&language=de"
    assert tab.locator("#gaps circle.chosen").count() == 1
    tab.reload()
    assert tab.inner_text("#layer-name") == "layer 2"
    tab.close()


@pytest.mark.browser
def test_without_similarities_there_is_no_chart_of_gaps(opened):
    assert not opened.is_visible("#gap")


@pytest.mark.browser
def test_numbers_are_those_of_the_tables(browser, tmp_path):
    """Rounded once, to even digits, and coloured as they are written."""
    losses = {"none": 0.0, "1-2": 1.998, "3-4": 0.002, "5-6": 2.36497}
    records = [
        score(target, value - loss, seed=seed, condition=condition)
        for condition, loss in losses.items()
        for target, value in (("en", 90.0), ("fr", 80.0), ("de", 70.25))
        for seed in (1, 2)
    ]
    (tmp_path / "index.html").write_text(make_page(Results.of(records), title="t"), "utf-8")
    tab = browser.new_page()
    tab.goto((tmp_path / "index.html").as_uri())
    cells = tab.locator("#heat tbody tr", has_text="ud/de").locator("td").all()
    assert [(cell.inner_text(), cell.get_attribute("class").removeprefix("cell ").strip()) for cell in cells] == [
        ("70.25", ""),
        ("−2.00", "two"),
        ("+0.00", "above"),
        ("−2.36", "two"),
    ]
    values = [90.25, 90.75, -0.05, 12.125, 12.375, -0.001, 0.0, -12.125, 1.005, 0.5, 2.5]
    for decimals in (0, 1, 2, 3):
        assert tab.evaluate(f"(all) => all.map((value) => written(value, {decimals}))", values) == [
            plain(value, decimals=decimals) for value in values
        ]
        assert tab.evaluate(f"(all) => all.map((value) => written(value, {decimals}, true))", values) == [
            signed(value, decimals=decimals) for value in values
        ]
    tab.close()


@pytest.mark.browser
def test_a_condition_that_shares_no_seed_with_the_reference_is_said_to_share_none(browser, tmp_path):
    records = [*(score(target, 80.0) for target in ("en", "fr")), score("fr", 70.0, seed=2, condition="1-2")]
    (tmp_path / "index.html").write_text(make_page(Results.of(records), title="t"), "utf-8")
    tab = browser.new_page()
    tab.goto((tmp_path / "index.html").as_uri())
    cells = {name: tab.locator("#heat tbody tr", has_text=f"ud/{name}").locator("td").last for name in ("en", "fr")}
    assert {name: cell.inner_text() for name, cell in cells.items()} == {"en": "not run", "fr": "no shared seed"}
    assert cells["fr"].get_attribute("title") == "ud/fr, 1-2: no seed of the reference"
    tab.close()


@pytest.mark.browser
def test_a_number_of_the_table_lists_its_own_records(browser, tmp_path):
    """None of another encoder, of a condition whose name contains its condition's, or of a mean's other languages."""
    records = [
        score(target, 80.0, seed=seed, condition=condition, encoder=encoder)
        for encoder in ("e", "f")
        for condition in ("none", "2", "1-2", "11-12", {"freeze": "1-2"})
        for target in ("en", "fr", "de")
        for seed in (1, 2)
    ]
    (tmp_path / "index.html").write_text(make_page(Results.of(records), title="t"), "utf-8")
    tab = browser.new_page()
    tab.goto((tmp_path / "index.html").as_uri() + "#encoder=f")
    heads = tab.locator("#heat thead th").all_inner_texts()
    columns = tab.locator("#results thead th").all_inner_texts()

    def listed(row, head):
        """Number of records, and their encoders, conditions and targets."""
        tab.locator("#heat tbody tr", has_text=row).locator("td").nth(heads.index(head) - 1).locator("button").click()
        rows = [row.split("\t") for row in tab.locator("#results tbody tr").all_inner_texts()]
        return len(rows), *({row[columns.index(name)] for row in rows} for name in ("encoder", "condition", "target"))

    assert listed("ud/fr", "Δ 2") == (2, {"f"}, {"2"}, {"fr"})
    assert listed("ud/fr", "Δ 1-2") == (2, {"f"}, {"1-2"}, {"fr"})
    assert listed("cross-language mean", "reference") == (4, {"f"}, {"reference"}, {"fr", "de"})
    tab.fill("#filter", "11-12 fr")
    assert tab.inner_text("#count") == "4 of 60 scores"
    tab.close()
