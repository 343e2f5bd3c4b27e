import pytest

from crosslens.errors import WorkError


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
