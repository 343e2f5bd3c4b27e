"""Fixtures: records with hostile names, and their page."""

import shutil

import pytest

from crosslens.encoders.condition import Condition
from crosslens.report.findings import findings
from crosslens.report.page import make_page
from crosslens.results.record import Record, Results
from made_records import HOSTILE

INSTALL = "`make browser` runs these tests (CONTRIBUTING.md)"


@pytest.fixture(scope="module")
def page_records():
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
def page(page_records):
    runs = {"a" * 16: {"repeat": "crosslens run s.yaml --only aaaa", "log": "trained\n</script><b>done"}}
    return make_page(page_records, title=f"A {HOSTILE}", introduction="i", findings=findings(page_records), runs=runs)


@pytest.fixture(scope="module")
def browser():
    sync = pytest.importorskip("playwright.sync_api", reason=f"playwright is not installed; {INSTALL}")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip(f"chromium is not installed; {INSTALL}")
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
    assert set(asked) == {(tmp_path / "index.html").as_uri()}  # once more when reloaded
    tab.close()


@pytest.fixture
def opened_with(browser, tmp_path):
    """Opens the page of records; on leaving it there may have been no error."""
    errors, tabs = [], []

    def opened_with(records):
        (tmp_path / "index.html").write_text(make_page(Results.of(records), title="t"), "utf-8")
        tab = browser.new_page(viewport={"width": 1000, "height": 900})
        tab.on("console", lambda message: errors.append(message.text))
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.goto((tmp_path / "index.html").as_uri())
        tabs.append(tab)
        return tab

    yield opened_with
    assert errors == []
    for tab in tabs:
        tab.close()


@pytest.fixture(scope="session")
def saved():
    """Name and text of the file that a button downloads."""

    def saved(tab, button):
        with tab.expect_download() as download:
            button.click()
        return download.value.suggested_filename, download.value.path().read_text("utf-8")

    return saved
