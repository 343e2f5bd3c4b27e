def test_what_there_is(run):
    status, shown, _ = run("list")
    assert status == 0
    for word in ("pos ", "muller2021.pos", "cka_shuffled", "xlm-roberta", "ud/en_toy", "albert (refused"):
        assert word in shown
    status, shown, _ = run("list", "tasks")
    assert shown.startswith("pos ")
    status, shown, _ = run("doctor")
    assert status == 0
    for word in ("torch", "threads", "CROSSLENS_DATA; 10 corpora"):
        assert word in shown


def test_languages_and_tasks_of_a_study(run):
    status, shown, _ = run("list", "corpora", "--study", "smoke")
    assert status == 0
    header, *rows = (line.split() for line in shown.splitlines())
    assert header == ["pos"]
    assert [row[0] for row in rows] == ["adj", "gen", "sov", "src"]
    assert all(row[-1] == "200" for row in rows)
    assert rows[-1][2] == "+"
    _, columns, _ = run("list", "corpora", "--study", "lab:good")
    assert columns.split("\n")[0].split()[:2] == ["pos", "parsing"]
    status, _, error = run("list", "studies", "--study", "smoke")
    assert (status, "--study tabulates corpora" in error) == (2, True)
    assert run("list", "corpora", "--study", "smoek")[0] == 2
