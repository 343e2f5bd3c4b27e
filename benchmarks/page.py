"""How fast a page of many records opens and answers in Chromium: python benchmarks/page.py [RECORDS ...].

Needs Debian's chromium and `pip install playwright`. Prints a Markdown table. Answers are timed from the input to the
end of the next frame; first paint and the end of loading from the request.
"""

import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crosslens.encoders.condition import Condition
from crosslens.report.page import make_page
from crosslens.results.record import Record, Results

PAGES = 5
SEEDS = 5
LANGUAGES = 50
DEPTH = 24

LOADED = """() => {
  const [navigation] = performance.getEntriesByType("navigation");
  const paint = performance.getEntriesByType("paint").find((entry) => entry.name === "first-contentful-paint");
  return [paint.startTime, navigation.loadEventEnd];
}"""

ANSWER = """async () => {{
  const start = performance.now();
  {}
  await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)));
  return performance.now() - start;
}}"""

GIVEN = "const field = document.getElementById('{}'); field.value = '{}'; field.dispatchEvent(new Event('{}'));"
ACTS = {
    "follow a language": "document.querySelector('#heat tbody tr:nth-child(7) th button').click();",
    "sort the table": GIVEN.format("sort", "name", "change"),
    "choose an encoder": GIVEN.format("encoder", "encoder 1", "change"),
    "search the table": GIVEN.format("find", "l17", "input"),
    "filter all scores": GIVEN.format("filter", "l17 9-10", "input"),
    "sort all scores": "document.querySelector('#results th:nth-child(8) button').click();",
}
"""What a reader does -> the same as a script."""


def records(count: int) -> Iterator[Record]:
    """Scores of several encoders: 50 languages, 5 seeds, 10 conditions each."""
    conditions = [Condition(), *(Condition(layers=f"{low}-{low + 1}") for low in range(1, 18, 2))]
    for encoder in range(count // (SEEDS * LANGUAGES * len(conditions))):
        for place, condition in enumerate(conditions):
            for seed in range(SEEDS):
                for language in range(LANGUAGES):
                    target = f"l{language}" if language else "en"
                    loss = 10 / place if place and language else 0
                    columns: dict[str, Any] = {
                        "encoder": f"encoder {encoder}",
                        "target": target,
                        "corpus": f"ud/{target}",
                        "value": 90 - language / 3 - loss + seed / 10 + encoder / 4,
                        "seed": seed,
                        "run": f"{encoder}{place}{seed}".ljust(16, "a"),
                        **condition.columns,
                    }
                    yield Record(task="pos", source="en", metric="accuracy", state="fine-tuned", depth=DEPTH, **columns)


def measured(browser: Any, address: str) -> dict[str, float]:
    """Times of one visit."""
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    tab.goto(address)
    tab.wait_for_timeout(500)
    times: dict[str, float] = dict(zip(("first paint", "loaded"), tab.evaluate(LOADED), strict=True))
    for name, act in ACTS.items():
        times[name] = tab.evaluate(ANSWER.format(act))
        tab.wait_for_timeout(100)
    tab.close()
    return times


def main(counts: list[int]) -> None:
    """Measure pages of so many records and print their times as a table."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("chromium is not installed: apt-get install chromium")
    columns = {}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for count in counts:
            results = Results.of(records(count))
            start = time.process_time()
            page = make_page(results, title="Made-up scores")
            made = time.process_time() - start
            path = Path(folder) / f"{len(results)}.html"
            path.write_text(page, "utf-8")
            visits = [measured(browser, path.as_uri()) for _ in range(PAGES)]
            columns[len(results)] = {
                "size, kB": len(page.encode()) / 1000,
                "made in, CPU ms": 1000 * made,
                **{name: statistics.median(visit[name] for visit in visits) for name in visits[0]},
            }
        print(f"Chromium {browser.version}, wall time in ms, median of {PAGES} visits\n")
        browser.close()
    print("| | " + " | ".join(f"{count:,} records" for count in columns) + " |\n|---|" + "--:|" * len(columns))
    for name in next(iter(columns.values())):
        print(f"| {name} | " + " | ".join(f"{column[name]:,.0f}" for column in columns.values()) + " |")


if __name__ == "__main__":
    main([int(text) for text in sys.argv[1:]] or [10_000, 100_000])
