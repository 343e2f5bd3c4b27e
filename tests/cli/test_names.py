"""Names on the command line: encoders of laboratories, and what the shell completes."""

import click
import pytest
from click.testing import CliRunner

import crosslens as xl
from crosslens.cli import cli
from crosslens.cli._names import ENCODER
from crosslens.errors import CrosslensError
from crosslens.lab.laboratory import Laboratory, LaboratorySettings
from crosslens.lab.language import Language
from crosslens.mlm import lab_encoder

TINY = LaboratorySettings(languages={"src": Language(), "vso": Language(order="VSO")}, sentences=40)


def test_commands_take_the_encoder_of_a_laboratory_by_name(tmp_path, monkeypatch):
    monkeypatch.setattr("crosslens.mlm.lab_encoder.find_laboratory", lambda preset: Laboratory(TINY, preset=preset))
    monkeypatch.setattr(lab_encoder, "cache_folder", lambda: tmp_path / "cache" / "data")
    shown = CliRunner().invoke(cli, ["encoders", "show", "lab:tiny", "--device", "cpu"])
    assert shown.exit_code == 0, shown.output
    assert "200,832 of them in layers" in shown.stdout
    (encoder,) = (tmp_path / "cache" / "demo").glob("*/lab-tiny")
    monkeypatch.setattr(lab_encoder, "pretrain", None)
    again = CliRunner().invoke(cli, ["encoders", "show", "lab:tiny", "--device", "cpu"])
    assert again.stdout == shown.stdout
    assert xl.load_encoder(encoder, device="cpu").depth == 6


def test_completion_knows_laboratories_and_folders():
    context = click.Context(cli)
    completed = [item.value for item in ENCODER.shell_complete(context, click.Argument(["encoder"]), "lab:n")]
    assert completed == ["lab:no-anchors"]
    assert [item.type for item in ENCODER.shell_complete(context, click.Argument(["encoder"]), "enc")] == ["file"]


@pytest.mark.parametrize(
    "words",
    [
        ["finetune", "pos", "lab:good", "--test", "lab/src"],  # no --train
        ["encoders", "show", "lab:good", "and", "more"],
        ["align", "sentences", "lab:good", "--against", "lab:good"],
    ],
)
def test_an_incomplete_request_is_refused_before_an_encoder_is_pretrained(words, monkeypatch):
    monkeypatch.setattr(lab_encoder, "pretrained_laboratory", pretrained)
    refused = CliRunner().invoke(cli, words)
    assert refused.exit_code == 2, refused.output
    assert "Missing option" in refused.stderr or "unexpected extra" in refused.stderr


LAB = ["--train", "lab/src", "--test", "lab/adj"]


WRONG = [
    (["finetune", "pos", "lab:good", "--train", "nonexistent", "--test", "lab/adj"], "nonexistent"),
    (["finetune", "pos", "lab:good", "--train", "lab/src", "--test", "nonexistent"], "nonexistent"),
    (["finetune", "pos", "lab:good", *LAB, "--random-init", "1-"], "invalid layers '1-'"),
    (["finetune", "pos", "lab:good", *LAB, "--random-init", "7"], "layer 7 does not exist"),
    (["finetune", "pos", "lab:good", *LAB, "--device", "cudaa"], "no device 'cudaa'"),
    (["finetune", "pos", "lab:god", *LAB], "unknown preset 'god'"),
    (["adapt", "lab:good", "--text", "raw/nonexistent"], "nonexistent"),
    (["adapt", "lab:good", "--text", "lab/src", "--set", "epochs=0"], "epochs"),
    (["probe", "upos", "lab:good", "--train", "lab/src", "--test", "nonexistent"], "nonexistent"),
    (["compare", "lab:good", "--corpus", "nonexistent", "--pairs", "src-adj"], "nonexistent"),
    (["compare", "E", "--against", "lab:good", "--corpus", "lab/all", "--pairs", "src-wo"], "wo"),
    (["align", "words", "lab:good", "--pair", "src-adj", "--train", "lab/src-wo"], "wo"),
    (
        ["align", "sentences", "lab:good", "--pair", "src-adj", "--train", "lab/all", "--test", "nonexistent"],
        "nonexistent",
    ),
    (
        ["align", "transfer", "pos", "lab:good", "--pair", "src-adj", "--train", "lab/src", "--test", "lab/wo"],
        "no language 'wo'",
    ),
    (["overlap", "lab:good", "--train", "nonexistent", "--test", "lab/adj"], "nonexistent"),
    (["overlap", "lab:good", "--train", "lab/src", "--test", "nonexistent"], "nonexistent"),
]


@pytest.mark.parametrize(("words", "reason"), WRONG)
def test_a_wrong_request_is_refused_before_an_encoder_is_pretrained(words, reason, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(lab_encoder, "pretrained_laboratory", pretrained)
    refused = CliRunner().invoke(cli, [*words, "--out", "out"])
    assert isinstance(refused.exception, CrosslensError), refused.exception
    assert reason in str(refused.exception)


def test_advice_with_a_rule_that_is_not_there_pretrains_no_encoder(folder, monkeypatch):
    monkeypatch.setattr(lab_encoder, "pretrained_laboratory", pretrained)
    words = ["advise", "fr", "--text", "fr.txt", "--encoder", "lab:good", "--sources", "src=fr.conllu"]
    refused = CliRunner().invoke(cli, [*words, "--schemes", "none", "--rule", "no.csv"])
    assert "no.csv" in str(refused.exception)


def pretrained(*given, **named):
    raise AssertionError("pretrained")
