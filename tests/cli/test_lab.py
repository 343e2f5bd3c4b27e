import pytest

from crosslens.data.formats.conllu import read
from crosslens.lab.laboratory import Laboratory
from crosslens.lab.presets import find_laboratory
from toy_commands import FAST


def test_a_laboratory_as_files_and_as_corpora(run, tiny_bert, tmp_path):
    status, _, said = run("lab", "export", "--preset", "no-anchors", "--seed", "3", "--out", "lab")
    assert status == 0
    assert "next: crosslens pretrain lab/pretrain.yaml --out lab/encoder" in said
    made = {str(path.relative_to(tmp_path / "lab")) for path in (tmp_path / "lab").rglob("*") if path.is_file()}
    assert {"src/train.conllu", "sov/test.iob2", "text/gen.txt", "dictionaries/src-adj.txt", "pretrain.yaml"} <= made
    assert len(read("lab/src/train.conllu")) == 2000
    status, shown, said = run(
        "finetune",
        "pos",
        tiny_bert,
        "--train",
        "lab/src[:20]",
        "--test",
        "lab/sov[:10]",
        "--out",
        "o",
        *FAST,
        "--set",
        "select=last",
    )
    assert status == 0, said
    assert "sov lab/sov:test[:10]" in shown
    status, shown, _ = run("list", "presets")
    assert "no-anchors  only the full stop is shared" in shown
    assert run("lab", "export", "--preset", "goood", "--out", "x")[0] == 2
    assert not (tmp_path / "x").exists()


def test_a_laboratory_of_other_shares(run, tmp_path):
    status, _, said = run("lab", "export", "--set", "anchors=1", "--set", "sentences=50", "--seed", "4", "--out", "lab")
    assert status == 0, said
    pairs = [line.split() for line in (tmp_path / "lab/dictionaries/src-sov.txt").read_text("utf-8").splitlines()]
    assert sum(a == b for a, b in pairs) > 0.7 * len(pairs)
    settings = find_laboratory().settings.model_copy(update={"anchors": 1.0, "sentences": 50, "seed": 4})
    assert (tmp_path / "lab/text/src.txt").read_text("utf-8").splitlines() == Laboratory(settings).text("src")


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("anchors=1.5", "anchors=1.5: input should be less than or equal to 1"),
        ("homonyms=-0.1", "homonyms=-0.1: input should be greater than or equal to 0"),
        ("anchor=0.5", "a laboratory has no setting 'anchor'"),
        ("sentences=0", "sentences=0: input should be greater than or equal to 1"),
        ("anchors", "--set anchors: is not key=value"),
    ],
)
def test_shares_that_are_none(run, tmp_path, setting, words):
    status, _, said = run("lab", "export", "--set", setting, "--out", "lab")
    assert status == 2
    assert words in said
    assert len(said.strip().splitlines()) <= 2
    assert not (tmp_path / "lab").exists()


@pytest.mark.parametrize("seed", [0, 5])
def test_a_seed_replaces_that_of_the_preset(run, monkeypatch, seed):
    """Zero is a seed."""
    written = []
    monkeypatch.setattr("crosslens.lab.export.export", lambda laboratory, out: written.append(laboratory))
    status, _, said = run("lab", "export", "--preset", "good-w3", "--seed", seed, "--out", "lab")
    assert status == 0, said
    assert written[0].settings.seed == seed


def test_two_seeds_of_the_world_are_refused(run):
    status, _, said = run("lab", "export", "--seed", "3", "--set", "seed=4", "--out", "lab")
    assert (status, "--seed and --set seed" in said) == (2, True), said
