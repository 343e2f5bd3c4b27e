"""`crosslens plan` on a study some of whose corpora are missing."""

import re


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
