"""Tables of results for LaTeX compile, whatever things are named."""

import shutil
import subprocess
from dataclasses import replace

import pytest

from crosslens.errors import RequestError
from crosslens.results.record import Results
from made_results import SCORES, by_layer


def test_a_line_break_in_a_name_leaves_the_title_of_a_table_a_comment():
    broken = [replace(each, encoder="my\n\nencoder") for each in (*SCORES, *by_layer("en-fr", (0.25, None)))]
    spaced = [replace(each, encoder="my encoder") for each in broken]
    assert Results.of(broken).to_latex() == Results.of(spaced).to_latex()


def test_tables_for_latex_are_rounded_and_compile(tmp_path):
    text = Results.of([*SCORES, *by_layer("en-fr", (0.25, None))]).to_latex()
    for shown in ("% pos accuracy, source en, e", r"$\Delta$ 1-2", "$-$20.00", r"cka & 0.250 \\", r"\bottomrule"):
        assert shown in text
    assert not set("−Δ–…") & set(text)
    compile_with("pdflatex", text, tmp_path)


@pytest.mark.parametrize("engine", ["pdflatex", "lualatex", "xelatex"])
def test_names_in_tables_for_latex_are_escaped(tmp_path, engine):
    """Also those of files in scripts that pdfLaTeX has no letters for, at which it stops."""
    names = {
        "a|<b>": r"a\textbar{}\textless{}b\textgreater{}",
        "[1]": "{}[1]",
        "*b": "{}*b",
        "50 % & #1^~{}": r"50 \% \& \#1\textasciicircum{}\textasciitilde{}\{\}",
        "مدونة": r"\righttoleft{مدونة}{[Arabic 0645 062F 0648 0646 0629]}",
        "моя_中": r"\otherscript{моя}{[Cyrillic 043C 043E 044F]}\_\otherscript{中}{[Cjk 4E2D]}",
    }
    text = Results.of(replace(SCORES[0], target=name) for name in names).to_latex()
    assert {line.split(" &")[0] for line in text.splitlines()} >= set(names.values())
    compile_with(engine, text, tmp_path)


def compile_with(engine, text, folder):
    if shutil.which(engine) is None:
        pytest.skip(f"no {engine} here")
    whole = rf"\documentclass{{article}}\usepackage{{booktabs}}\begin{{document}}{text}\end{{document}}"
    (folder / "tables.tex").write_text(whole, "utf-8")
    command = [engine, "-halt-on-error", "-interaction=nonstopmode", "tables.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-1500:]


def test_a_caption_and_a_label_put_a_single_table_in_an_environment():
    one = Results.of(SCORES)
    text = one.to_latex(caption="Share in $p<0.05$.", label="tab:pos")
    opened, closed = text.index(r"\begin{table}"), text.index(r"\end{table}")
    assert opened < text.index(r"\caption{Share in $p<0.05$.}") < text.index(r"\label{tab:pos}") < closed
    lines = [line for line in text.splitlines() if not line.startswith((r"\begin{table}", r"\centering", r"\caption"))]
    assert [line for line in lines if line not in (r"\label{tab:pos}", r"\end{table}")] == one.to_latex().splitlines()
    assert r"\caption" not in one.to_latex(label="tab:pos")
    parsing = [replace(row, task="parsing", metric="las") for row in SCORES]
    for several, chosen in (
        ([*SCORES, *by_layer("en-fr", (0.25, None))], "task='pos', metric='accuracy', measure=None"),
        ([*parsing, *SCORES], "task='parsing', metric='las'"),
    ):
        with pytest.raises(RequestError, match="for a single table, and these results fill 2") as refused:
            Results.of(several).to_latex(caption="c")
        assert f"results.filter({chosen}).to_latex(" in str(refused.value)
