from pathlib import Path

import pytest

from crosslens.corpora.catalogue import cache_folder
from crosslens.errors import WorkError
from crosslens.report.findings import findings
from crosslens.results.record import Results
from made_records import PLAIN


def test_a_wrong_preset_is_refused_before_the_steps_are_described(run, tmp_path):
    status, _, said = run("demo", "--preset", "goood", "--out", "x")
    assert status == 2
    assert said.startswith("crosslens: unknown preset 'goood'")
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("real", "minutes", "example"),
    [((), "about two minutes", "pos src 1-2 seed 1"), (("--real",), "about ten minutes", "pos en 1-2 seed 1")],
)
def test_the_steps_name_the_time_and_the_source_of_this_demonstration(run, monkeypatch, real, minutes, example):
    def stop(*_, **__):
        raise WorkError("enough")

    monkeypatch.setattr("crosslens.demo.demo.get_e5_small", lambda *_, **__: None)
    monkeypatch.setattr("crosslens.demo.demo.run_demo", stop)
    said = run("demo", *real, "--out", "x", "--cache", "cache")[2]
    assert minutes in said
    assert example in said


@pytest.mark.parametrize(("seeds", "mean"), [("1", "mean of 1 seed"), ("2", "mean of 2 seeds")])
def test_the_page_is_named_at_the_end_and_the_seeds_below_the_tables(run, monkeypatch, seeds, mean):
    def done(demo, out, **_):
        Path(out).mkdir()
        return Results.of(PLAIN)

    monkeypatch.setattr("crosslens.demo.demo.run_demo", done)
    status, shown, said = run("demo", "--seeds", seeds, "--out", "x", "--cache", "cache")
    assert (status, said.splitlines()[-1]) == (0, "open x/index.html"), said
    assert Path("x/index.html").is_file()
    assert mean in shown.splitlines()
    assert all(paragraph in shown.splitlines() for paragraph in findings(Results.of(PLAIN)))


def test_an_interrupted_demonstration_resumes(run, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("crosslens.demo.demo.run_demo", stop)
    status, _, said = run("demo", "--out", "x", "--cache", "cache")
    assert (status, said.splitlines()[-1]) == (1, "stopped; the same command resumes")


def test_real_languages_have_no_preset(run, monkeypatch):
    monkeypatch.setattr("crosslens.demo.demo.real_demo", None)  # which is not asked for
    status, _, said = run("demo", "--real", "--preset", "good", "--out", "x")
    assert (status, "--real and --preset exclude each other" in said) == (2, True)


def test_encoders_are_kept_beside_the_data_of_the_cache(handed):
    _, options = handed("crosslens.demo.demo.run_demo", "demo", "--out", "x")
    assert Path(options["cache"]) == cache_folder().parent / "demo"
    _, options = handed("crosslens.demo.demo.run_demo", "demo", "--out", "x", "--cache", "mine")
    assert options["cache"] == "mine"
