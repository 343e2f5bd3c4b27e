"""The keyboard's place on the page, where parts of it are drawn again; and ranges over seeds of several encoders."""

import pytest

from made_records import score

FOCUSED = "document.activeElement"


def of_two_encoders(seeds=(1, 2)):
    """Re-initialising costs the zero-shot mean 4 and 6 points, of two seeds; the source language 2."""
    return [
        score(
            target,
            90.0 - loss * (condition != "none"),
            encoder=encoder,
            depth=6,
            seed=seed,
            condition=condition,
            corpus=f"{target}_pud",
        )
        for encoder in ("deep", "flat")
        for seed in seeds
        for condition in ("none", "1-2", "3-4")
        for target, loss in (("en", 2.0), ("fr", 2.0 + 2.0 * seed), ("de", 2.0 + 2.0 * seed))
    ]


@pytest.mark.browser
def test_values_and_their_downloads_keep_the_keyboard_where_charts_are_drawn_again(opened_with):
    tab = opened_with(of_two_encoders())
    for place, width in ((0, 900), (1, 800)):
        summary = tab.locator("summary", has_text="Show values").nth(place)
        summary.press("Enter")
        label = summary.evaluate("node => node.parentElement.querySelector('[aria-label]').ariaLabel")
        for presses, words in ((0, "Show values"), (2, "Download values (CSV)")):
            for _ in range(presses):
                tab.keyboard.press("Tab")
            tab.set_viewport_size({"width": width - presses, "height": 900})
            tab.wait_for_timeout(100)
            assert tab.evaluate(f"{FOCUSED}.textContent") == words
            assert tab.evaluate(f"{FOCUSED}.closest('details').querySelector('[aria-label]').ariaLabel") == label


@pytest.mark.browser
def test_the_button_of_more_rows_leaves_the_keyboard_at_the_table(opened_with):
    tab = opened_with([*of_two_encoders(range(3, 9)), *of_two_encoders()])
    assert tab.locator("#results tbody tr").count() == 100
    tab.locator("#more").press("Enter")
    assert tab.is_hidden("#more")
    assert tab.evaluate(f"{FOCUSED}.ariaLabel") == "All scores"


@pytest.mark.browser
@pytest.mark.parametrize("seeds", [(1, 2), (1,)])
def test_encoders_have_bars_over_several_seeds_as_in_the_figure(opened_with, seeds):
    tab = opened_with(of_two_encoders(seeds))
    several = len(seeds) > 1
    assert tab.locator("#overlays svg line.whisker").count() == 4 * several  # two encoders, two sets of layers
    assert ("lowest and highest seed of zero-shot means" in tab.inner_text("#encoder-key")) == several
    tab.locator("#overlays summary").click()
    rows = [row.split("\t") for row in tab.locator("#overlays details tbody tr").all_inner_texts()]
    ranges = {tuple(row[:2]): row[3:] for row in rows}
    assert ranges["deep, zero-shot, mean", "1-2 of 6"] == ["−6.0 to −4.0"] * several
    assert ranges["deep, same language", "1-2 of 6"] == ["−2.0 to −2.0"] * several
    bars = tab.locator("#overlays line.whisker")
    heights = bars.evaluate_all("(bars) => bars.map((bar) => bar.y2.baseVal.value - bar.y1.baseVal.value)")
    assert all(abs(height) > 10 for height in heights)
