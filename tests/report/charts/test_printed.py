"""Figures at the width of a column and of a page: nothing is cut, and no label covers another."""

import re
import shutil
import subprocess

import pytest

from crosslens.report.charts.figures import all_figures, write_figures
from crosslens.report.charts.printed import PIXELS_PER_INCH, TEXT_WIDTH, _draw, _wrapped, printed, svg_width
from crosslens.report.typology import typology_bars
from made_figures import FIGURES, every_figure, typology
from made_records import along_pretraining, made_up

COLUMN = 3.3

NAMES = {
    "long": ["Old Church Slavonic", "Scottish Gaelic", "Northern Kurdish (Kurmanji)", "Classical Chinese", "Naija"],
    "scripts": ["العربية الفصحى", "हिन्दी", "中文（繁體）", "ไทย", "日本語"],
}

MEASURE = """
const quad = (node) => {
  const box = node.getBBox(), matrix = node.getScreenCTM(), cut = box.height * 0.15;
  const corner = (x, y) => new DOMPoint(x, y).matrixTransform(matrix);
  const top = box.y + cut, bottom = box.y + box.height - cut, right = box.x + box.width;
  return [corner(box.x, top), corner(right, top), corner(right, bottom), corner(box.x, bottom)];
};
const apart = (a, b) => a.some((p, i) => {
  const q = a[(i + 1) % 4], axis = { x: q.y - p.y, y: p.x - q.x }, size = Math.hypot(axis.x, axis.y) || 1;
  const on = (points) => points.map((each) => (each.x * axis.x + each.y * axis.y) / size);
  const one = on(a), other = on(b);
  return Math.max(...one) - 0.7 < Math.min(...other) || Math.max(...other) - 0.7 < Math.min(...one);
});
const faults = [];
for (const figure of document.querySelectorAll("figure")) {
  const paper = figure.querySelector("svg").getBoundingClientRect();
  const texts = [...figure.querySelectorAll("text")].filter((node) => node.textContent.trim());
  const quads = texts.map(quad);
  quads.forEach((a, i) => {
    const name = `${figure.id}: ${texts[i].textContent}`;
    const leaves = a.some((p) => p.x < paper.left - 1 || p.x > paper.right + 1 || p.y < paper.top - 1 || p.y > paper.bottom + 1);
    if (leaves) faults.push(`${name} leaves the figure`);
    quads.slice(i + 1).forEach((b, j) => {
      if (!apart(a, b) && !apart(b, a)) faults.push(`${name} covers ${texts[i + 1 + j].textContent}`);
    });
  });
}
document.body.innerHTML = `<pre id="faults">${faults.length} faults\\n</pre>`;
document.getElementById("faults").append(faults.join("\\n"));
"""  # noqa: E501
"""Compare the boxes of all texts of a figure, as they stand, also turned ones."""


def faults(drawings, folder):
    """Labels that leave their figure or cover one another, as Chromium draws them."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium here")
    figures = "".join(f'<figure id="{name}">{svg}</figure>' for name, svg in drawings.items())
    page = f'<meta charset="utf-8"><body>{figures}<script>{MEASURE}</script>'
    (folder / "figures.html").write_text(page, "utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}", "--dump-dom"]
    done = subprocess.run(
        [chromium, *options, (folder / "figures.html").as_uri()], capture_output=True, text=True, timeout=60, check=True
    )
    found = re.search(r'<pre id="faults">(\d+) faults\n(.*?)</pre>', done.stdout, re.DOTALL)
    assert found
    return found[2].splitlines()


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("inches", [COLUMN, TEXT_WIDTH])
@pytest.mark.parametrize("names", NAMES)
def test_no_label_of_any_figure_covers_another_or_is_cut(names, inches, tmp_path):
    charts = all_figures(every_figure(NAMES[names]))
    assert list(charts) == FIGURES
    charts["typology"] = typology_bars(typology(NAMES[names]))
    drawings = {name: printed(chart, inches=inches) for name, chart in charts.items()}
    too_wide = {name: svg_width(svg) for name, svg in drawings.items() if svg_width(svg) > inches * 96}
    assert too_wide == {}
    assert faults(drawings, tmp_path) == []


@pytest.mark.browser
def test_a_label_on_another_is_a_fault(tmp_path):
    text = '<text x="10" y="20">one</text><text x="20" y="22">two</text><text x="95" y="40">three</text>'
    turned = '<text transform="translate(40,80) rotate(-40)">four</text><text transform="translate(68,80) rotate(-40)">'
    svg = f'<svg width="120" height="100">{text}{turned}five</text></svg>'
    assert faults({"f": svg}, tmp_path) == ["f: one covers two", "f: three leaves the figure"]


def figure(name, **options):
    return all_figures(made_up({"1-2": 5.0, "3-4": 1.0, "5-6": 0.0}, **options))[name]


@pytest.mark.parametrize("inches", [2.5, 3.0, COLUMN, TEXT_WIDTH])
def test_a_figure_is_no_wider_than_its_paper_and_keeps_the_size_of_its_letters(inches):
    for name in ("layers-by-target", "seeds"):
        svg = printed(figure(name), inches=inches)
        assert svg_width(svg) <= inches * 96
        assert "11px" in svg


def test_a_narrow_figure_stays_as_it_is():
    assert printed(figure("seeds"), inches=6) == printed(figure("seeds"), inches=8)


@pytest.mark.browser
@pytest.mark.parametrize("losses", [{"1-2": 5.0}, {"1-2": 5.0, "3-4": 1.0, "5-6": 0.0}])
def test_titles_that_are_wider_than_their_panels_are_not_cut(losses, tmp_path):
    assert faults({"seeds": printed(all_figures(made_up(losses))["seeds"], inches=TEXT_WIDTH)}, tmp_path) == []


def test_a_pdf_has_the_size_of_the_paper(tmp_path):
    pikepdf = pytest.importorskip("pikepdf", reason="no pikepdf here")
    write_figures(made_up({"1-2": 5.0, "3-4": 1.0}, seeds=(1, 2)), tmp_path, width=COLUMN)
    svg = svg_width((tmp_path / "seeds.svg").read_text("utf-8"))
    with pikepdf.open(tmp_path / "seeds.pdf") as pdf:
        assert float(pdf.pages[0].MediaBox[2]) == pytest.approx(svg * 72 / 96)


def test_layouts_that_are_the_same_are_drawn_once(monkeypatch):
    """A heat map of too many columns cannot be narrower, whatever the factor."""
    alt = pytest.importorskip("altair")
    rows = [{"x": f"{number:03}", "y": "a", "value": number} for number in range(200)]
    chart = alt.Chart(alt.InlineData(values=rows)).mark_rect().encode(x="x:N", y="y:N", color="value:Q")
    specs = []

    def draw(spec):
        specs.append(spec)
        return _draw(spec)

    monkeypatch.setattr("crosslens.report.charts.printed._draw", draw)
    assert svg_width(printed(chart.properties(width=alt.Step(20)), inches=2)) > 2 * PIXELS_PER_INCH
    laid_out = [{**spec, "datasets": None} for spec in specs[1:]]
    assert len(laid_out) > 1
    assert all(spec not in laid_out[:place] for place, spec in enumerate(laid_out))
    assert all(spec["datasets"] is specs[0]["datasets"] for spec in specs)


def test_long_names_in_a_legend_have_several_lines():
    alt = pytest.importorskip("altair")
    names = ["zero-shot dependency parsing, LAS, source English, mean of 18 languages", "CKA"]
    rows = [{"what": name, "x": x, "y": x} for name in names for x in (0, 1)]
    colour = alt.Color("what:N", scale=alt.Scale(domain=names), legend=alt.Legend(title=None))
    chart = alt.Chart(alt.InlineData(values=rows)).mark_line().encode(x="x:Q", y="y:Q", color=colour)
    svg = printed(chart.properties(width=420), inches=COLUMN)
    lines = re.findall(r">([^<>]+)</(?:text|tspan)>", svg)
    assert "…" not in svg
    assert "CKA" in lines
    assert names[0] not in lines
    assert set(names[0].split()) <= {word for line in lines for word in line.split()}


@pytest.mark.parametrize(
    ("title", "lines"),
    [
        ("POS tagging, accuracy, source en", ["POS tagging,", "accuracy, source", "en"]),
        ("POS tagging, مشفر عربي, 12 layers", ["POS tagging,", "مشفر عربي, 12 layers"]),
        ("POS مشفر", ["POS مشفر"]),
        ("NER, pretrain:mixed-encoder.yaml", ["NER,", "pretrain:mixed-", "encoder.yaml"]),
        ("مشفر عربي كبير جدا، source en", ["مشفر عربي كبير جدا، source en"]),
        ("", [""]),
    ],
)
def test_titles_are_broken_before_right_to_left_words_and_not_within(title, lines):
    assert _wrapped(title, 100, font=10) == lines


def test_a_figure_whose_line_styles_have_no_legend_fits_a_column():
    svg = printed(all_figures(along_pretraining())["pretraining-steps"], inches=COLUMN)
    assert svg_width(svg) <= COLUMN * PIXELS_PER_INCH


@pytest.mark.parametrize(("columns", "angle"), [(8, "320"), (20, "270")])
def test_turned_labels_stand_upright_where_columns_are_narrower_than_a_line(columns, angle):
    alt = pytest.importorskip("altair")
    names = [f"layers {place}" for place in range(columns)]
    rows = [{"x": name, "y": "a", "value": 1.0} for name in names]
    x = alt.X("x:N", sort=names, title=None, axis=alt.Axis(labelAngle=-40))
    chart = alt.Chart(alt.InlineData(values=rows)).mark_rect().encode(x, y="y:N").properties(width=alt.Step(46))
    svg = printed(chart, inches=COLUMN)
    assert re.findall(r"rotate\((\d+)\)[^>]*>layers \d+<", svg) == [angle] * columns


@pytest.mark.parametrize(
    ("columns", "written"), [(8, {("1.4", "10px")}), (12, {("1.4", "8px")}), (16, {("1", "8px")}), (25, set())]
)
def test_numbers_in_boxes_are_smaller_or_shorter_where_boxes_are_narrow_and_absent_where_none_fits(columns, written):
    alt = pytest.importorskip("altair")
    rows = [{"x": f"{place:02}", "y": "a", "value": 1.4} for place in range(columns)]
    base = alt.Chart(alt.InlineData(values=rows)).encode(x="x:N", y="y:N")
    text = base.mark_text(fontSize=10).encode(alt.Text("value:Q", format=".1f"))
    svg = printed((base.mark_rect() + text).properties(width=alt.Step(46)), inches=COLUMN)
    assert {(text, size) for size, text in re.findall(r'font-size="(\w+)"[^>]*>(\d(?:\.\d)?)<', svg)} == written


def test_entries_of_a_legend_stand_below_each_other_where_all_of_them_are_wider_than_the_paper():
    alt = pytest.importorskip("altair")
    names = [f"encoder number {place}" for place in range(6)]
    rows = [{"what": name, "x": x, "y": x} for name in names for x in (0, 1)]
    colour = alt.Color("what:N", scale=alt.Scale(domain=names), legend=alt.Legend(title=None, columns=6))
    chart = alt.Chart(alt.InlineData(values=rows)).mark_line().encode(x="x:Q", y="y:Q", color=colour)
    svg = printed(chart.properties(width=420), inches=COLUMN)
    assert svg_width(svg) <= COLUMN * PIXELS_PER_INCH
    assert all(f">{name}<" in svg for name in names)


def test_titles_of_panels_are_broken_at_the_width_of_a_panel():
    alt = pytest.importorskip("altair")
    title = "dependency parsing, LAS, source English, mean of 18 languages"
    panel = alt.Chart(alt.InlineData(values=[{"x": 0, "y": 0}])).mark_point().encode(x="x:Q", y="y:Q")
    svg = printed(alt.concat(*(panel.properties(title=title, width=300) for _ in range(2))), inches=TEXT_WIDTH)
    lines = [line for line in re.findall(r">([^<>]+)</(?:text|tspan)>", svg) if set(line.split()) & set(title.split())]
    assert " ".join(lines) == f"{title} {title}"
    assert len(lines) == 4


def letters(svg):
    """Role of a text -> its sizes and weights."""
    found = {}
    for role, texts in re.findall(r'role-([\w-]+)"[^>]*>((?:<text.*?</text>)+)', svg, re.DOTALL):
        found.setdefault(role, set()).update(re.findall(r'font-size="([^"]+)"(?: font-weight="([^"]+)")?', texts))
    return found


def test_letters_of_axes_and_legends_have_one_size_at_every_width():
    chart = all_figures(along_pretraining())["pretraining-steps"]
    wide, narrow = (printed(chart, inches=inches) for inches in (2 * TEXT_WIDTH, COLUMN))
    assert svg_width(narrow) < svg_width(wide)
    assert {"axis-label", "axis-title", "legend-label"} <= letters(wide).keys()
    assert letters(narrow) == letters(wide)


def test_titles_and_subtitles_keep_their_style_and_are_broken():
    alt = pytest.importorskip("altair")
    words = "dependency parsing, LAS, source English, mean of 18 languages"
    title = alt.TitleParams(words, subtitle=f"bars: {words}", fontSize=15, subtitleFontStyle="italic")
    panel = alt.Chart(alt.InlineData(values=[{"x": 0, "y": 0}])).mark_point().encode(x="x:Q", y="y:Q")
    svg = printed(panel.properties(title=title, width=420), inches=COLUMN)
    assert set().union(*letters(svg)["title-text"]) >= {"15px"}
    assert 'font-style="italic"' in svg
    assert "…" not in svg
    assert f">{words}<" not in svg


def test_panels_of_many_conditions_are_narrowed_to_a_column():
    chart = all_figures(made_up({f"{layer}": 1.0 for layer in range(1, 11)}))["seeds"]
    assert svg_width(printed(chart, inches=COLUMN)) <= COLUMN * PIXELS_PER_INCH


@pytest.mark.parametrize(("scales", "broken"), [("independent", True), ("shared", False)])
def test_a_legend_is_as_wide_as_its_panel_where_each_panel_has_its_own(scales, broken):
    alt = pytest.importorskip("altair")
    names = ["zero-shot dependency parsing, LAS, source English", "CKA"]
    rows = [{"what": name, "x": x, "y": x} for name in names for x in (0, 1)]
    colour = alt.Color("what:N", scale=alt.Scale(domain=names), legend=alt.Legend(title=None))
    panel = alt.Chart(alt.InlineData(values=rows)).mark_line().encode(x="x:Q", y="y:Q", color=colour)
    chart = alt.concat(*(panel.properties(width=200) for _ in range(2))).resolve_scale(color=scales)
    svg = printed(chart, inches=TEXT_WIDTH)
    assert svg_width(svg) <= TEXT_WIDTH * PIXELS_PER_INCH
    assert (f">{names[0]}<" not in svg) == broken
