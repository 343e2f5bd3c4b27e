import dataclasses

from crosslens.encoders.condition import Condition
from crosslens.results.record import Record, Results, read_results
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


def test_results_with_other_values_are_left_out(run, tmp_path):
    """Those without a value stay: a similarity has no task."""
    pos = Record(task="pos", encoder="e", source="en", target="en", metric="accuracy", value=91.25, seed=1)
    ner = dataclasses.replace(pos, task="ner", metric="f1", value=82.5)
    other = dataclasses.replace(pos, encoder="f", value=73.75)
    alike = Record(
        encoder="e",
        source="en",
        target="fr",
        measure="cka",
        metric="similarity",
        layer=0,
        value=0.625,
        state="pretrained",
    )
    Results.of([pos, ner, other, alike]).write(tmp_path / "all.csv")

    def values(*options):
        status, shown, said = run("results", "all.csv", *options)
        assert status == 0, said
        return [text for text in ("91.25", "82.50", "73.75", "0.625") if text in shown]

    assert values() == ["91.25", "82.50", "73.75", "0.625"]
    assert values("--where", "task=pos") == ["91.25", "73.75", "0.625"]
    assert values("--where", "task=pos", "--where", "encoder=e") == ["91.25", "0.625"]
    assert values("--where", "task=pos", "--where", "task=ner", "--where", "encoder=e") == ["91.25", "82.50", "0.625"]
    assert run("results", "all.csv", "--where", "task=pos", "--csv", "some.csv")[0] == 0
    assert {row["task"] for row in rows_of("some.csv")} == {"pos", ""}


def test_a_choice_that_no_result_fits_is_refused(run, tmp_path):
    Results.of([Record(task="pos", encoder="e", metric="accuracy", value=9.0, seed=1)]).write(tmp_path / "all.csv")
    for choice, words in {
        "task=poss": "no result has task=poss\n  hint: did you mean 'pos'?",
        "taks=pos": "results have no column 'taks'",
        "seed=one": "seed=one: is not a whole number",
        "task": "task: is not column=value",
    }.items():
        status, _, said = run("results", "all.csv", "--where", choice)
        assert (status, words in said) == (2, True), said


def test_the_main_metric_is_shown_and_the_others_are_named(run, tmp_path):
    las = Record(task="parsing", encoder="e", source="en", target="en", metric="las", value=70.0, seed=1)
    probe = Record(task=None, encoder="e", measure="langid", metric="accuracy", layer=1, value=0.5)
    rows = [las, dataclasses.replace(las, metric="uas", value=80.0), probe]
    Results.of(rows).write(tmp_path / "results.csv")
    shown = run("results", "results.csv")[1]
    assert "70.00" in shown
    assert "80.00" not in shown
    assert "accuracy by layer" in shown
    assert "not shown: uas; see crosslens results --metric NAME, or --metric all" in shown
    every = run("results", "results.csv", "--metric", "all")[1]
    assert "70.00" in every
    assert "80.00" in every
    assert "not shown" not in every
    only = run("results", "results.csv", "--metric", "uas")[1]
    assert "70.00" not in only
    assert "80.00" in only
    assert run("results", "results.csv", "--metric", "uass")[0] == 2
    Results.of(rows[1:]).write(tmp_path / "other.csv")  # without the main metric, nothing is left out
    assert "80.00" in run("results", "other.csv")[1]


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
    status, _, said = run("results", "all", "--json", "all.csv")  # options that do the same
    assert (status, "--csv: all.csv exists already" in said, "add --overwrite" in said) == (2, True, True)
    assert run("results", "all/reference", "--csv", "all.csv", "--overwrite")[0] == 0
    assert len(rows_of("all.csv")) == 2
    status, _, said = run("results", "nothing")
    assert (status, "no such results file" in said) == (2, True)


def test_several_files_are_written(run, tmp_path):
    score = Record(task="pos", encoder="e", source="en", target="en", metric="accuracy", value=90.0, seed=1)
    Results.of([score]).write(tmp_path / "results.csv")
    assert run("results", "results.csv", "--csv", "a.csv", "--parquet", "b.parquet")[0] == 0
    assert read_results(tmp_path / "a.csv").records.equals(read_results(tmp_path / "b.parquet").records)
