"""`crosslens plan` on a study some of whose corpora are missing."""

import re

from crosslens.cli._missing import print_missing
from crosslens.corpora.collection import COLLECTIONS
from crosslens.errors import DataError
from crosslens.runs.store import Store
from crosslens.studies.missing import Missing


def test_a_plan_lists_missing_corpora_with_licence_and_how_to_get_them(run, incomplete):
    status, shown, said = run("plan", incomplete, "--out", "runs")
    assert status == 2
    for words in (r"sib200/arb_Arab .*CC BY-SA 4\.0", r"ud/ru_gsd:train .*per treebank.* `crosslens data get ud"):
        assert re.search(words, " ".join(shown.split()))
    assert max(map(len, shown.splitlines())) <= 80
    assert "toy needs 2 corpora that are not in" in said
    assert "--skip-missing leaves them out" in said


def test_a_plan_says_which_sources_share_their_runs(run, file):
    copy = "data.tasks.pos.copy={train: 'ud/en_toy:train', tests: [ud/fr_pud]}"
    status, shown, said = run("plan", file, "--out", "runs", "--set", copy)
    assert status == 0, said
    note = "same training data and share their runs: en (ud/en_toy:train), copy (ud/en_toy:train)"
    assert sum(line.startswith("note: pos:") and line.endswith(note) for line in shown.splitlines()) == 1
    assert shown.splitlines()[-1] == "toy: 0 runs done, 2 to do"
    assert sum("  to do  " in line for line in shown.splitlines()) == 2  # each run once


def test_a_plan_reports_test_corpora_that_are_the_training_corpus(run, file):
    tested = "data.tasks.pos.en={train: 'ud/en_toy:train', tests: ['ud/en_toy:train', ud/fr_pud]}"
    status, shown, said = run("plan", file, "--out", "runs", "--set", tested)
    assert status == 0, said
    warning = "ud/en_toy:train is also the training corpus, so its score says nothing about new sentences"
    assert [line for line in shown.splitlines() if "also the training" in line] == [f"note: {warning}"]


def test_a_plan_reports_test_sentences_of_the_training_data_once_for_all_conditions(run, file, treebanks, tmp_path):
    (copy,) = treebanks.glob("ud/*/en_toy-ud-train.conllu")
    first = copy.read_text("utf-8").partition("\n\n")[0]
    (tmp_path / "one.conllu").write_text(first + "\n\n", "utf-8")
    tested = "data.tasks.pos.en={train: ud/en_toy, tests: [en=one.conllu, ud/fr_pud]}"
    status, shown, said = run("plan", file, "--out", "runs", "--set", tested)
    assert status == 0, said
    warning = (
        "1 sentence of one.conllu (100 %) is also in the training data (ud/en_toy:train), so its score says little"
    )
    lines = [line for line in shown.splitlines() if "training data" in line]
    assert lines == [f"note: {warning} about new sentences"]


def test_a_plan_reports_test_sentences_of_the_development_data_that_select_the_weights(run, file, treebanks, tmp_path):
    (copy,) = treebanks.glob("ud/*/en_toy-ud-dev.conllu")
    (tmp_path / "one.conllu").write_text(copy.read_text("utf-8").partition("\n\n")[0] + "\n\n", "utf-8")
    tested = "data.tasks.pos.en={train: ud/en_toy, tests: [en=one.conllu]}"
    for select, warns in (("best", True), ("last", False)):
        status, shown, said = run("plan", file, "--out", select, "--set", tested, "--set", f"set.select={select}")
        assert status == 0, said
        assert ("of one.conllu (100 %) is also in the development data (ud/en_toy:dev)" in shown) is warns


def test_the_table_of_missing_corpora_is_whole_in_80_columns(capsys):
    corpora = [f"{name}/a_long_treebank_name:{split}" for name in COLLECTIONS for split in ("test", "train", "dev")]
    corpora += ["raw/wol", "my.conllu:test", "ud/en_ugc:test"]
    print_missing([Missing(corpus, (), DataError("missing")) for corpus in corpora])
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    whole = "".join(shown.split())
    for name, collection in COLLECTIONS.items():
        assert name in whole
        assert collection.published.replace(" ", "") in whole
    assert "yourownfile" in whole


def test_the_table_of_missing_corpora_names_the_releases_that_are_asked_for(capsys):
    print_missing([Missing("ud/en_ewt:train", (), DataError("missing"), ("2.4",))])
    assert "`crosslens data get ud --release 2.4`" in capsys.readouterr().out
    corpora = [Missing(f"ud/{split}", (), DataError("missing"), (release,)) for split, release in ("a1", "b2")]
    print_missing(corpora)
    shown = capsys.readouterr().out
    assert ("1` or" in shown, "--release 2`" in shown) == (True, True)


def test_a_corpus_that_is_not_published_with_its_collection_has_a_row_of_its_own(capsys):
    print_missing([Missing(corpus, (), DataError("missing")) for corpus in ("ud/en_ugc:test", "ud/en_ewt:train")])
    rows = re.split(r"\n *\n", capsys.readouterr().out)
    (treebank,) = (row for row in rows if "ud/en_ewt" in row)
    (tweets,) = (row for row in rows if "ud/en_ugc" in row)
    assert ("data get ud" in treebank, "LexNorm" in treebank) == (True, False)
    assert ("data get ud" in tweets, "LexNorm" in tweets) == (False, True)
    assert ("see source" in treebank, "see source" in tweets) == (False, True)


def test_a_plan_names_four_open_evaluations_of_a_finished_run_and_counts_the_others(run, file, uninterrupted):
    tests = ", ".join(f"'ud/fr_pud[:{sentences}]'" for sentences in range(1, 7))
    asked = ("--set", f"data.tasks.pos.en.tests=[{tests}]", "--set", "conditions=[none]")
    status, shown, error = run("plan", file, "--out", uninterrupted, *asked)
    assert status == 0, error
    (line,) = (line for line in shown.splitlines() if "done except for" in line)
    assert [f"ud/fr_pud:test[:{sentences}]" in line for sentences in range(1, 7)] == [True] * 4 + [False] * 2
    assert line.endswith(" and 2 more evaluations")


def test_a_finished_run_whose_model_is_to_be_kept_now_lacks_its_model(run, file, uninterrupted):
    asked = ("--set", "keep=[models]", "--set", "conditions=[none]")
    status, shown, error = run("plan", file, "--out", uninterrupted, *asked)
    assert status == 0, error
    (line,) = (line for line in shown.splitlines() if "done except for" in line)
    assert line.endswith("; done except for its model, which is to be kept")


def test_finished_runs_are_read_as_often_for_many_new_runs_as_for_one(run, file, uninterrupted, monkeypatch):
    read, describe = [], Store.describe
    monkeypatch.setattr(Store, "describe", lambda store, run: read.append(run) or describe(store, run))
    numbers = []
    for seeds in ("[11]", "[11, 12, 13]"):
        read.clear()
        status, shown, error = run("plan", file, "--out", uninterrupted, "--set", f"seeds={seeds}")
        assert status == 0, error
        assert "new: seed: 11 instead of " in shown
        numbers.append(len(read))
    assert numbers[0] == numbers[1] > 0


def test_the_training_time_of_all_runs_that_are_left_is_estimated(run, file, monkeypatch):
    seconds = {"pos": 45.0}
    monkeypatch.setattr("crosslens.cli._study.mean_seconds", lambda store: seconds)
    more = ("--set", "seeds=[1, 2]")  # two conditions of two seeds
    assert "estimated training time: 3 min 0 s on one core" in run("plan", file, "--out", "runs", *more)[2]
    seconds.clear()
    assert "estimated" not in run("plan", file, "--out", "runs", *more)[2]


def test_a_time_is_estimated_only_where_all_runs_have_finished_ones_like_them(run, file, tmp_path, monkeypatch):
    """The time of an adaptation is unknown, and the runs that wait for a search are not counted."""
    monkeypatch.setattr("crosslens.cli._study.mean_seconds", lambda store: {"pos": 45.0})
    (tmp_path / "fr.txt").write_text("the cat sees a dog .\n" * 50, "utf-8")
    text = f"data.tasks.pos.en.text={tmp_path / 'fr.txt'}"
    status, shown, error = run("plan", file, "--out", "a", "--set", text, "--set", "conditions=[{start: adapted}]")
    assert (status, "1 to do, 1 waiting" in shown) == (0, True), error
    assert "estimated" not in error
    search = ("--set", "grid={each: task, batch: [1, 2]}", "--set", "data.tasks.pos.en.dev=ud/en_toy:train")
    status, shown, error = run("plan", file, "--out", "b", *search)
    assert (status, "2 to do, 2 waiting" in shown) == (0, True), (shown, error)
    assert "1 min 30 s on one core, from the finished runs; the waiting runs are not included" in error


def test_an_encoder_that_cannot_be_had_is_refused_with_the_way_to_another(run, file):
    status, _, error = run("plan", file, "--out", "runs", "--set", "encoder=no/such")
    assert (status, "encoder 'no/such' not found" in error, "--set encoder=FOLDER" in error) == (2, True, True), error
    assert "encoders get e5-small" in error  # what is known of the encoder itself is kept


def test_a_refused_plan_or_run_leaves_no_folder_and_keeps_one_that_was_there(run, file, incomplete, tmp_path):
    (tmp_path / "mine").mkdir()
    for words in (("plan", incomplete), ("run", incomplete), ("run", file, "--only", "abc")):
        for out in ("new/runs", "mine"):
            assert run(*words, "--out", out)[0] == 2
    assert not (tmp_path / "new").exists()
    assert not any((tmp_path / "mine").iterdir())


def test_a_plan_says_which_runs_failed_in_the_last_attempt(run, file):
    assert run("run", "broken.yaml", "--out", "runs", "--executor", "serial", "--device", "cpu")[0] == 1
    status, shown, error = run("plan", "broken.yaml", "--out", "runs")
    assert status == 0, error
    (line,) = (line for line in shown.splitlines() if "  to do  " in line)
    assert "pos en 1 embeddings seed 1; failed in the last attempt; new: " in line


def test_a_plan_names_up_to_three_differences_to_the_nearest_run(run, file, uninterrupted):
    changes = [("--set", "seeds=[9]"), ("--set", "set.batch=3"), ("--set", "set.epochs=1"), ("--set", "set.limit=5")]
    for number, named in ((3, True), (4, False)):
        more = (word for change in changes[:number] for word in change)
        status, shown, error = run("plan", file, "--out", uninterrupted, *more)
        assert (status, "; new: " in shown) == (0, named), shown + error
