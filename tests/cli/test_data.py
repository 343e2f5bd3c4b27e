from crosslens.corpora.downloads.published import PUBLISHED


def test_the_licence_is_shown_before_the_network_is_used(run, tmp_path, monkeypatch):
    monkeypatch.setenv("CROSSLENS_OFFLINE", "1")
    status, _, said = run("data", "get", "xnli", "--languages", "fr,de", "--into", "data")
    assert status == 1
    assert said.splitlines()[0] == PUBLISHED["xnli"].title
    assert PUBLISHED["xnli"].licence in said
    assert said.index("licence:") < said.index("the network is switched off")
    assert not (tmp_path / "data").exists()


def test_the_help_names_every_collection(run):
    status, shown, _ = run("data", "get", "--help")
    assert status == 0
    assert all(name in shown for name in (*PUBLISHED, "ud"))


def test_the_folder_to_set_is_quoted_for_the_shell(run, tmp_path, monkeypatch):
    monkeypatch.setattr("crosslens.corpora.downloads.get.get", lambda name, folder, **more: tmp_path)
    status, _, said = run("data", "get", "sib200", "--into", "my data")
    assert status == 0, said
    assert "set CROSSLENS_DATA='my data' or pass --data 'my data' to use them" in said


def test_languages_may_have_spaces_between_them(run, tmp_path, monkeypatch):
    asked = []

    def get(*_, languages, **more):
        asked.extend(languages)
        return tmp_path

    monkeypatch.setattr("crosslens.corpora.downloads.get.get", get)
    assert run("data", "get", "muse", "--languages", "en-fr, en-de")[0] == 0
    assert asked == ["en-fr", "en-de"]
    for nothing in (",", ""):
        status, _, said = run("data", "get", "muse", "--languages", nothing)
        assert (status, f"{nothing!r} contains no names" in said) == (2, True), said


def test_a_download_is_asked_for_with_all_that_is_given(handed):
    given = {"release": "2.14", "url": "https://mirror.example/ud.tgz", "sha256": "a" * 64}
    words = [word for name, value in given.items() for word in (f"--{name}", value)]
    arguments, options = handed("crosslens.corpora.downloads.get.get", "data", "get", "ud", *words, "--into", "data")
    assert arguments == ("ud", "data")
    assert {name: options[name] for name in (*given, "languages")} == {**given, "languages": None}
