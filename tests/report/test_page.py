"""The page, as text and in a real browser."""

import html.parser
import json
import re
import shutil

import pytest

from crosslens.encoders.condition import Condition
from crosslens.errors import RequestError
from crosslens.report.findings import findings
from crosslens.report.page import make_page
from crosslens.results.record import Record, Results

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def records():
    scores = [
        Record(
            task=task,
            encoder="e",
            source="en",
            target=target,
            metric=metric,
            seed=seed,
            run=run,
            n=100,
            value=value - (10.0 if layers and target != "en" else 0.0) + seed,
            corpus=f"ud/{target}_pud:test",
            signature=HOSTILE,
            train="ud/en_ewt:train",
            state="fine-tuned",
            **Condition(layers=layers).columns,
        )
        for task, metric in (("pos", "accuracy"), ("parsing", "las"))
        for target, value in (("en", 90.0), ("fr", 85.0), ("العربية", 60.0), (HOSTILE, 50.0))
        for layers, run in ((None, "a" * 16), ("1-2", "b" * 16))
        for seed in (1, 2)
    ]
    similar = [
        Record(
            encoder="e",
            source="en",
            target=target,
            measure=measure,
            layer=layer,
            metric="similarity",
            n=9,
            value=0.2 + layer / 10,
            depth=2,
            state="untrained" if layers else "pretrained",
            **Condition(layers=layers).columns,
        )
        for target in ("fr", HOSTILE)
        for layer in (0, 1, 2)
        for measure in ("cka", "cka_shuffled", "cka_length_matched", "retrieval")
        for layers in (None, "0-2")
    ]
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


class Checker(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.links = [], []

    def handle_starttag(self, tag, attrs):
        self.links += [value for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "line", "rect", "polyline", "input"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_whole_and_stands_alone(records):
    page = make_page(records, title="<good>", introduction="a & b")
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    assert checker.links == []
    assert "&lt;good&gt;" in page
    assert "a &amp; b" in page


def test_the_same_records_give_the_same_page(page, records):
    runs = {"a" * 16: {"repeat": "crosslens run s.yaml --only aaaa", "log": "trained\n</script><b>done"}}
    assert make_page(records, title=f"A {HOSTILE}", introduction="i", findings=findings(records), runs=runs) == page


def test_what_there_is_none_of_has_no_section(records):
    assert 'id="curves"' not in make_page(records.filter(measure=None), title="t")
    assert 'id="heat"' not in make_page(records.filter(metric="similarity"), title="t")
    assert "Provenance" in make_page(Results.of([]), title="t")


def score(value, *, target="fr", seed=1, condition="none", **columns):
    made = {"task": "pos", "encoder": "e", "source": "en", "metric": "accuracy", "corpus": f"ud/{target}_pud:test"}
    return Record(
        target=target, seed=seed, value=value, **{**made, **Condition.model_validate(condition).columns, **columns}
    )


def heads(page):
    return [[column["head"] for column in table["columns"]] for table in embedded(page)["tables"]]


def values(page, place=0):
    table = embedded(page)["tables"][place]
    return {row["name"]: [cell.get("value") for cell in row["cells"]] for row in table["rows"]}


def test_features_stand_beside_the_reference_though_their_settings_differ():
    frame = [
        score(80.0, condition=condition, settings=words)
        for condition, words in (
            ("none", "limit=9"),
            ({"freeze": "0-3"}, "limit=9"),
            ({"use": "features"}, "schedule=plateau"),
        )
    ]
    page = make_page(Results.of(frame), title="t")
    assert heads(page) == [["reference", "Δ features", "Δ frozen 0-3"]]


def test_conditions_are_in_the_order_of_layers_and_each_is_compared_with_its_own_reference():
    layers = ("10-12", "9", "1-2", "1-12", "2", "11-12", "3-4")
    frame = [score(80.0 - place, condition=each) for place, each in enumerate(("none", *layers))]
    page = make_page(Results.of(frame), title="t")
    listed = {row["place"]: row["condition"] for row in rows(embedded(page)["scores"])}
    assert [listed[place] for place in sorted(listed)][:4] == ["reference", "2", "9", "1-2"]
    assert heads(page) == [["reference", *(f"Δ {each}" for each in ("2", "9", "1-2", "3-4", "11-12", "10-12", "1-12"))]]
    others = [score(70.0, train="b"), score(69.0, condition="1-2", train="b"), score(50.0, condition="1-2", train="c")]
    page = make_page(
        Results.of([*(score(r.value, condition=Condition.parse(r.condition), train="a") for r in frame[:1]), *others]),
        title="t",
    )
    assert heads(page) == [["reference, a", "reference, b", "Δ 1-2, b", "1-2, c"]]
    assert values(page)["ud/fr_pud:test"] == [80.0, 70.0, -1.0, 50.0]


def test_no_number_is_a_mean_of_two_records_of_one_seed():
    """Duplicates count once, contradictions are refused, and what differs has a row or a table of its own."""
    page = make_page(Results.of([score(80.0, study="a"), score(80.0, study="b"), score(70.0, seed=2)]), title="t")
    assert values(page) == {"ud/fr_pud:test": [75.0]}
    assert len(rows(embedded(page)["scores"])) == 2
    with pytest.raises(RequestError, match="contradict one another"):
        make_page(Results.of([score(80.0), score(70.0)]), title="t")
    page = make_page(Results.of([score(80.0, partner="fr"), score(70.0, partner="de")]), title="t")
    assert values(page) == {
        "ud/fr_pud:test with de": [70.0],
        "ud/fr_pud:test with fr": [80.0],
        "cross-language mean of 2": [75.0],
    }
    page = make_page(Results.of([score(80.0, encoder_digest="a" * 9), score(70.0, encoder_digest="b" * 9)]), title="t")
    assert [table["encoder"] for table in embedded(page)["tables"]] == ["e (aaaaaaaa)", "e (bbbbbbbb)"]
    page = make_page(Results.of([score(80.0, split="test"), score(70.0, split="dev")]), title="t")
    assert [table["source"] for table in embedded(page)["tables"]] == ["en (test)", "en (dev)"]
    page = make_page(Results.of([score(80.0), score(70.0, translated_from="de")]), title="t")
    assert [table["source"] for table in embedded(page)["tables"]] == ["en", "en (translated from de)"]


def test_similarities_of_a_line_have_one_record_a_pair_layer_and_seed():
    def similarity(value, measure="cka", **columns):
        described = {"encoder": "e", "source": "en", "target": "fr", "metric": "similarity", "layer": 0, "depth": 2}
        return Record(value=value, measure=measure, state="pretrained", **{**described, **columns})

    records = [
        similarity(0.5),
        similarity(0.5, study="b"),
        similarity(0.4, encoder_digest="b" * 9),
        similarity(0.3, encoder_digest="a" * 9),
        similarity(0.2, "cka_shuffled"),
        similarity(1.0, target="en"),
        similarity(0.1, **Condition(layers="0-1").columns),
    ]
    data = embedded(make_page(Results.of(records), title="t"))
    lines = [
        (row["state"], row["sentences"], row["pair"], row["different"], row["value"])
        for row in rows(data["similarities"])
    ]
    assert sorted(lines) == [
        ("e (aaaaaaaa): pretrained", "translations", "en-fr", True, 0.3),
        ("e (bbbbbbbb): pretrained", "translations", "en-fr", True, 0.4),
        ("e: pretrained", "translations", "en-en", False, 1.0),
        ("e: pretrained", "translations", "en-fr", True, 0.5),
        ("e: pretrained", "unrelated", "en-fr", True, 0.2),
        ("e: pretrained, layers 0-1 re-initialised", "translations", "en-fr", True, 0.1),
    ]
    with pytest.raises(RequestError, match="contradict"):
        make_page(Results.of([similarity(0.5), similarity(0.4)]), title="t")


def test_means_are_over_corpora_that_all_have_a_score_and_say_how_many():
    frame = [
        score(80.0),
        score(60.0, target="de"),
        score(50.0, target=None, corpus="unknown"),
        score(70.0, condition="1-2"),
    ]
    page = make_page(Results.of(frame), title="t")
    assert values(page) == {
        "ud/de_pud:test": [60.0, None],
        "ud/fr_pud:test": [80.0, -10.0],
        "cross-language mean of 2": [70.0, None],
        "unknown": [50.0, None],
    }


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
