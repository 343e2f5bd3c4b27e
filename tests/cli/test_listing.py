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
