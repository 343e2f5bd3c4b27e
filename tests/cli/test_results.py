import dataclasses

from crosslens.encoders.condition import Condition
from crosslens.results.record import Record, Results
from toy_commands import finetune, rows_of


def test_records_that_contradict_are_said_and_the_rest_is_shown(run, tmp_path):
    score = Record(task="pos", encoder="e", source="en", target="en", metric="accuracy", value=90.0, seed=1)
    scores = [score, dataclasses.replace(score, value=80.0), dataclasses.replace(score, encoder="f", value=70.0)]
    (tmp_path / "two").mkdir()
    Results.of(scores).write(tmp_path / "two" / "results.parquet")
    status, shown, said = run("results", "two")
    assert status == 0, said
    assert "pos accuracy, source en, e: two records contradict one another" in shown
    assert "70.00" in shown


def test_differences_have_a_sign_and_means_a_line(run, tmp_path):
    score = Record(task="pos", encoder="e", source="en", target="en", metric="accuracy", value=90.0, seed=1)
    better = dataclasses.replace(score, value=91.5, **Condition(layers="1-2").columns)
    Results.of([score, better]).write(tmp_path / "results.csv")
    shown = run("results", "results.csv")[1]
    assert "Δ 1-2" in shown
    assert shown.count("+1.50") == 2
    assert shown.count("90.00") == 2
    assert "same-language mean of 1" in shown


def test_results_files_of_a_folder_are_read_once(run, tmp_path):
    score = Record(task="pos", encoder="e", source="en", target="en", metric="accuracy", value=90.0, seed=1)
    for folder, endings in (("a", ("csv", "parquet")), ("b", ("parquet",))):
        (tmp_path / "all" / folder).mkdir(parents=True)
        for ending in endings:
            Results.of([dataclasses.replace(score, encoder=folder)]).write(
                tmp_path / "all" / folder / f"results.{ending}"
            )
    assert run("results", "all", "--csv", "both.csv")[0] == 0
    assert [row["encoder"] for row in rows_of("both.csv")] == ["a", "b"]
    (tmp_path / "empty").mkdir()
    status, _, said = run("results", "empty")
    assert (status, "no results.csv or results.parquet in empty" in said) == (2, True)


def test_results_are_put_together(run, tiny_bert):
    assert finetune(run, tiny_bert, out="all/reference")[0] == 0
    assert finetune(run, tiny_bert, "--random-init", "1-2", out="all/ablated")[0] == 0
    status, shown, _ = run("results", "all", "--csv", "all.csv")
    assert status == 0
    assert "reference" in shown
    assert "Δ 1-2" in shown
    assert len(rows_of("all.csv")) == 4
    assert run("results", "all", "--csv", "all.csv")[0] == 2
    status, _, said = run("results", "nothing")
    assert (status, "no such results file" in said) == (2, True)
