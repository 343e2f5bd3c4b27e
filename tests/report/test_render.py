"""Tables as text that other programs read."""

import csv
import io
import re
import shutil
import subprocess
from dataclasses import replace

import pytest

from crosslens.report.render import COLOURS, PACKAGES, latex_document, to_csv, to_latex, to_markdown
from crosslens.report.significance import Interval
from crosslens.report.table import Cell, Row, Table
from crosslens.report.tables import all_tables
from crosslens.results.record import Results
from made_sections import everything

HOSTILE = r"a_b%c&d#e{f}g~h^i\j$k<l>m|n"


def table(*, rows=2, columns=3):
    cells = [Cell(12.345, "score", 0.5), Cell(-6.004, "difference", 1.0, note=1)]
    cells += [Cell(value, "difference") for value in (0.0, None, -3.0, -1.0)] + [Cell(-0.84, "coefficient")]
    kinds = ["plain", "beside", "mean"]
    lines = tuple(
        Row(f"{HOSTILE} {number}", tuple(cells[(number + i) % len(cells)] for i in range(columns)), kinds[number % 3])
        for number in range(rows)
    )
    head = tuple(f"Δ {i}_{HOSTILE}" if i else "Ref" for i in range(columns))
    return Table("made-up", f"Caption of {HOSTILE}.", head, {"group_1": lines, "group & 2": lines}, ("a 100 % note_",))


def test_csv_holds_the_numbers_and_the_notes_on_them():
    rows = list(csv.reader(io.StringIO(to_csv(table()))))
    assert rows[0][:3] == ["group", "row", "Ref"]
    assert rows[0][-2].endswith(" std")
    assert rows[0][-1] == "notes"
    assert rows[1][2:] == ["12.345", "-6.004", "0.0", "0.5", "1.0", "", f"Δ 1_{HOSTILE}: a 100 % note_"]
    assert len({len(row) for row in rows}) == 1
    zero = Table("t", "c", ("Δ",), {"g": (Row("r", (Cell(-0.0, "difference"),)),)})
    assert to_csv(zero).splitlines()[1] == "g,r,0.0"
    noted = tuple(Cell(1.0, "score", note=note) for note in (1, 2, None, 1))
    rows = to_csv(Table("t", "c", tuple("abcd"), {"g": (Row("r", noted), Row("s", noted[2:3] * 4))}, ("x", "y")))
    assert [row.split(",", 6)[-1] for row in rows.splitlines()] == ["notes", '"a, d: x; b: y"', ""]


@pytest.mark.parametrize("name", ["=cmd|'/C calc'!A0", "@sum(1)", "+1", "-1", "\t=1"])
def test_csv_has_no_names_that_a_spreadsheet_would_run(name):
    made = Table(
        "t", "Caption.", (name, "Ref"), {name: (Row(name, (Cell(-1.5, "difference"), Cell(2.0, "score"))),)}, ()
    )
    rows = list(csv.reader(io.StringIO(to_csv(made))))
    shown = f"'{name.lstrip()}"
    assert rows == [["group", "row", shown, "Ref"], [shown, shown, "-1.5", "2.0"]]


@pytest.mark.parametrize("write", [to_latex, to_markdown, to_csv])
@pytest.mark.parametrize("between", ["\n\n", "\r\n", "\r", "\t", "\u2028"])
def test_a_line_break_in_a_name_is_a_space_in_every_table(write, between):
    def made(name):
        group = {name: (Row(name, (Cell(-1.5, "difference", note=1), Cell(2.0, "score"))),)}
        return Table("t", f"Caption of {name}.", (name, "Ref"), group, (name,), {name: 2})

    assert write(made(f"my{between}encoder")) == write(made("my encoder"))


def test_markdown_has_one_width_and_shows_hostile_names_as_text():
    text = to_markdown(table(), spread="std")
    lines = [line for line in text.splitlines() if line.startswith("|")]
    bare = [line.replace(r"\|", "") for line in lines]
    assert {line.count("|") for line in bare} == {5}
    assert "12.35 ± 0.50" in text or "12.34 ± 0.50" in text
    assert "**−6.00 ± 1.00** [1]" in text
    assert text.splitlines()[0].endswith(". ±: standard deviation over seeds. Bold: loss of at least 5 points.")
    small = Table("t", "c.", ("Δ",), {"g": (Row("r", (Cell(-4.9, "difference"),)),)}, ())
    assert to_markdown(small).splitlines()[0] == "c."
    assert "[1] a 100 % note_." in text
    assert r"\<l>m\|n" in text


@pytest.mark.parametrize("label", ["[1] a.tsv", "*a"])
def test_latex_reads_no_label_as_an_argument_of_the_line_break_above(label):
    made = Table("t", "c.", ("Ref",), {"g": (Row(label, (Cell(1.0, "score"),)),)}, ())
    assert f"{{}}{label} & 1.00" in to_latex(made)


def test_groups_of_columns_have_their_titles_above_them():
    cells = tuple(Cell(value, "score") for value in (1.0, 2.0, 3.0, 4.0))
    made = Table("t", "c", ("fr", "mean", "fr", "mean"), {"g": (Row("r", cells),)}, panels={"NLI": 2, "NER_F1": 2})
    assert to_markdown(made).splitlines()[2:] == [
        "|  | NLI |  | NER\\_F1 |  |",
        "|---|--:|--:|--:|--:|",
        "|  | *fr* | *mean* | *fr* | *mean* |",
        "| *g* | | | | |",
        "| r | 1.00 | 2.00 | 3.00 | 4.00 |",
    ]
    latex = to_latex(made).splitlines()
    place = latex.index(r"\toprule")
    assert latex[place + 1 : place + 4] == [
        r" & \multicolumn{2}{c}{NLI} & \multicolumn{2}{c}{NER\_F1} \\",
        r"\cmidrule(lr){2-3}\cmidrule(lr){4-5}",
        r" & {fr} & {mean} & {fr} & {mean} \\",
    ]
    assert to_csv(made).splitlines()[0] == "group,row,NLI: fr,NLI: mean,NER_F1: fr,NER_F1: mean"


def test_every_level_that_occurs_is_explained():
    text = to_latex(table())
    assert text.count(r"\definecolor") == len(COLOURS)
    for level, shown in (("five", True), ("above", True), ("below", False)):
        assert (rf"\colorbox{{crosslens{level}}}" in text) is shown


@pytest.mark.parametrize(("rows", "environment", "heads"), [(2, "table", 0), (40, "longtable", 1)])
def test_only_a_table_of_several_pages_repeats_its_head(rows, environment, heads):
    """LaTeX stops at `endhead` outside a longtable."""
    lines = to_latex(table(rows=rows)).splitlines()
    assert any(line.startswith(rf"\begin{{{environment}}}") for line in lines)
    assert lines.count(r"\endhead") == heads


@pytest.mark.parametrize("engine", ["pdflatex", "lualatex", "xelatex"])
def test_names_in_other_scripts_are_safe(tmp_path, engine):
    """Right to left where the engine can; named by their letters where it cannot."""
    if shutil.which(engine) is None:
        pytest.skip(f"no {engine} here")
    row = Row("العربية", (Cell(1.0, "score"),))
    text = to_latex(Table("made-up", "c", ("中文",), {"Ελληνικά русский": (row, row)}))
    assert r"\righttoleft{العربية}{[Arabic 0627 0644" in text
    assert r"\otherscript{Ελληνικά русский}" in text
    (tmp_path / "made-up.tex").write_text(text, "utf-8")
    (tmp_path / "tables.tex").write_text(latex_document(["made-up"]), "utf-8")
    command = [engine, "-interaction=nonstopmode", "-halt-on-error", "tables.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]


def test_every_table_of_a_report_is_free_of_what_latex_reads_or_lacks():
    names = {"fr": "a_b%c&d#e~f^g\\h{i}$j", "de": "العربية → ≤", "fi": "Ɛʋɛgbe −1 | <x>"}
    renamed = [
        replace(record, target=names.get(record.target, record.target), encoder=r"m_5 → \x") for record in everything()
    ]
    for made in all_tables(Results.of(renamed)):
        _, *lines = to_latex(made).splitlines()
        text = re.sub(r"\\(?:otherscript|righttoleft)\{[^{}]*\}", "", "\n".join(lines))
        body = text.split(r"\midrule")[1].split(r"\bottomrule")[0] + text.split(r"\caption")[1]
        assert set(body) <= {chr(code) for code in range(0x180)}, made.name
        words = re.sub(r"\\[%&#_{}$]|\$[^$\n]{1,24}\$|\\\w+", "", body)
        assert not set("%#~^") & set(words), made.name


def test_scripts_that_every_engine_sets_need_no_command():
    text = to_latex(Table("made-up", "naïve – “quoted” Δ …", ("é",), {"ß": (Row("ø ń", (Cell(1.0, "score"),)),)}))
    assert "otherscript" not in text
    assert "righttoleft" not in text


def kpsewhich(name):
    return (
        shutil.which("kpsewhich") is not None
        and not subprocess.run(["kpsewhich", name], stdout=subprocess.DEVNULL).returncode
    )


STYLES = {
    "as it is": None,
    "two columns": r"\documentclass[twocolumn]{article}",
    "IEEE": r"\documentclass[conference]{IEEEtran}",
    "ACL": r"\documentclass[11pt]{article}\usepackage{acl}",
}
"""Name -> first lines of a document; those of a journal are used where its style is installed."""


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX here")
@pytest.mark.parametrize("style", STYLES)
def test_tables_of_every_shape_compile_in_the_styles_of_journals(tmp_path, style):
    needed = {"IEEE": "IEEEtran.cls", "ACL": "acl.sty"}.get(style)
    if not kpsewhich("siunitx.sty") or (needed and not kpsewhich(needed)):
        pytest.skip(f"no {needed or 'siunitx.sty'} here")
    shapes = {"small": table(rows=2), "long": table(rows=40, columns=7), "wide": table(rows=4, columns=14)}
    named = tuple(f"reference, frozen 0-{place}" for place in range(14))
    shapes["long-and-wide"] = replace(table(rows=40, columns=14), head=named)
    for name in ("long", "wide"):
        half = len(shapes[name].head) // 2
        panels = {"first": half, "second": len(shapes[name].head) - half}
        shapes[f"{name}-panels"] = replace(shapes[name], panels=panels)
    for name, shape in shapes.items():
        (tmp_path / f"{name}.tex").write_text(to_latex(shape, spread="std"), "utf-8")
    names = tuple(shapes)
    document = latex_document(names)
    if STYLES[style]:
        packages = "".join(rf"\usepackage{package}" for package in PACKAGES)
        inputs = "".join(rf"Text. \input{{{name}}}" for name in names)
        document = rf"{STYLES[style]}{packages}\begin{{document}}{inputs}\end{{document}}"
    (tmp_path / "tables.tex").write_text(document, "utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "tables.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "tables.pdf").stat().st_size > 1000
    wider = [
        float(points)
        for points in re.findall(r"Overfull \\hbox \((.*?)pt too wide\) (?:in alignment|detected)", done.stdout)
    ]
    assert max(wider, default=0.0) < 2.0, "columns beyond the edge of the page, or numbers over one another"


def test_long_heads_are_broken_and_no_line_is_an_argument_of_the_one_above():
    cells = (Cell(1.0, "score"), Cell(2.0, "difference"))
    text = to_latex(Table("t", "c", ("reference, frozen [0-3] 100 %", "Δ frozen 0-3"), {"g": (Row("r", cells),)}))
    broken = r"{\begin{tabular}[b]{@{}c@{}}reference,\\frozen [0-3] 100\\\%\end{tabular}}"
    assert rf" & {broken} & {{$\Delta$ frozen 0-3}} \\" in text.splitlines()
    text = to_latex(Table("t", "c", ("reference, of seed [1]",), {"g": (Row("r", cells[:1]),)}))
    assert r"\\[" not in text


def test_a_head_of_two_lines_is_set_in_two():
    text = to_latex(Table("t", "c", ("reference, tags=gold",), {"g": (Row("r", (Cell(1.0, "score"),)),)}))
    assert r" & {\begin{tabular}[b]{@{}c@{}}reference,\\tags=gold\end{tabular}} \\" in text.splitlines()


def test_a_long_table_is_measured_by_the_widest_cell_of_each_column():
    """Which stand in different rows; the box that is measured has all of them."""
    rows = [Row(f"row {place:02}", (Cell(1.0, "score"), Cell(2.0, "score"))) for place in range(40)]
    rows[7] = Row("a label that is longer than others", rows[7].cells)
    rows[3] = replace(rows[3], cells=(Cell(1000.0, "score"), rows[3].cells[1]))
    rows[5] = replace(rows[5], cells=(rows[5].cells[0], Cell(2000.0, "score")))
    text = to_latex(Table("t", "c", ("a", "b"), {"g": tuple(rows)}))
    measured, _ = text.split(r"\end{tabular}", 1)
    for widest in (
        "a label that is longer than others & 1.00 & 2.00",
        "row 03 & 1000.00 & 2.00",
        "row 05 & 1.00 & 2000.00",
    ):
        assert widest in measured
    assert "row 39" not in measured


def test_numbers_are_aligned_at_the_decimal_point_with_room_for_the_longest():
    cells = (Cell(9.5, "score", 0.5), Cell(-12.25, "difference", note=1), Cell(None, "score"))
    made = Table("t", "c", ("Ref", "Δ 1", "none"), {"g": (Row("r", cells),)}, ("why",))
    columns = (r"S[table-format=1.2,retain-explicit-plus%s]", r"S[table-format=+2.2,retain-explicit-plus]")
    assert r"\begin{tabular}{l" + columns[0] % "" + columns[1] in to_latex(made)
    text = to_latex(made, spread="std")
    assert r"\begin{tabular}{l" + columns[0] % r",table-space-text-post={ $\pm$ 0.50}" + columns[1] in text
    assert r"r & 9.50{ $\pm$ 0.50} & \cellcolor{crosslensfive}-12.25{\rlap{$^{1}$}} & {--} \\" in text


def test_the_caption_says_what_the_mark_means_where_a_difference_can_have_one():
    both = Interval(1.0, 3.0, marked=True, over="seeds and sentences")
    score, difference = Cell(2.0, "score", interval=both), Cell(2.0, "difference", interval=both)
    made = [
        to_markdown(Table("t", "Caption.", ("Ref",), {"g": (Row("r", (cell,)),)}), spread="interval")
        for cell in (score, difference)
    ]
    assert all("(95 %) are over seeds and sentences" in text for text in made)
    assert ["* marks differences" in text for text in made] == [False, True]


@pytest.mark.parametrize(
    ("over", "words"),
    [
        ([], ""),
        (["seeds"], " Confidence intervals (95 %) are over seeds."),
        (
            ["sentences", "seeds"],
            " Confidence intervals (95 %) are over seeds, or over sentences for single seeds, which are not tested.",
        ),
    ],
)
def test_the_caption_says_over_what_intervals_are(over, words):
    cells = [Cell(2.0, "score", interval=Interval(1.0, 3.0, marked=False, over=each)) for each in over]
    made = Table("t", "Caption.", ("Ref",), {"g": tuple(Row("r", (cell,)) for cell in cells or [Cell(2.0, "score")])})
    assert to_markdown(made, spread="interval").splitlines()[0] == f"Caption.{words}"


@pytest.mark.parametrize(
    ("write", "labels"),
    [(to_latex, ["ours", r"\quad theirs", r"\textbf{mean}"]), (to_markdown, ["ours", "· theirs", "**mean**"])],
)
def test_published_rows_and_means_are_set_apart(write, labels):
    rows = (
        Row("ours", (Cell(87.65, "score"),)),
        Row("theirs", (Cell(87.65, "score"),), "beside"),
        Row("mean", (Cell(87.65, "score"),), "mean"),
    )
    lines = write(Table("t", "Caption.", ("Ref",), {"g": rows})).splitlines()
    assert [re.split(r" [&|] ", line.removeprefix("| "))[0] for line in lines if "87.65" in line] == labels
